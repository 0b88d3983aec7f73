/** Rows of an answer as a Parquet file. */
import type { Column, SqlType } from '../../sql/types.ts'
import { writeWhole } from '../../whole-file.ts'
import type { Value } from '../engine.ts'
import { loadDuckDb } from './database.ts'
import { boundValue } from './rewrite/literals.ts'
import { quoteText } from './syntax.ts'
import { boundText } from './values.ts'

/**
 * Writes rows with the types of their columns. The file appears whole, in place of one of before: it is written beside and renamed.
 * @param rows an array of structs with a field for each column, as a binding holds it
 * @throws an error of DuckDB or of the file system; there is no file then but one of before
 */
export async function writeParquet(file: string, columns: Column[], rows: Value): Promise<void> {
  const { DuckDBInstance } = await loadDuckDb()
  const type = { kind: 'ARRAY', element: stored({ kind: 'STRUCT', fields: columns }) } as const
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run(`SET TimeZone = 'UTC'`)
    const text = boundText({ name: 'rows', type, value: rows })
    const list = boundValue('$1', type)
    await connection.run(`CREATE TABLE result AS SELECT UNNEST(${list}, max_depth := 2)`, [text])
    await writeWhole(file, beside => connection.run(`COPY result TO ${quoteText(beside)} (FORMAT parquet)`))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The type with text for what Parquet or DuckDB would round, or not take. */
function stored(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return { kind: 'ARRAY', element: stored(type.element) }
  if (type.kind === 'STRUCT')
    return { kind: 'STRUCT', fields: type.fields.map(field => ({ ...field, type: stored(field.type) })) }
  return type.kind === 'BIGNUMERIC' || type.kind === 'INTERVAL' ? { kind: 'STRING' } : type
}
