import { SqlError } from '../../sql/error.ts'

/** A name in DuckDB SQL, in double quotes. */
export function quoteName(name: string): string {
  return `"${withoutNul(name).replaceAll('"', '""')}"`
}

/** A string literal in DuckDB SQL: nothing but the quote needs escaping. Throws SqlError on a NUL character. */
export function quoteText(text: string): string {
  return `'${withoutNul(text).replaceAll("'", "''")}'`
}

/** DuckDB's parser ends its input at a NUL. */
function withoutNul(text: string): string {
  if (text.includes('\0')) throw new SqlError('A NUL character is not supported by the local engine')
  return text
}
