/** Rows of `service.requests` that are still lines of logs, as `shared/request-log.ts` writes them. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Column } from '../../sql/types.ts'
import { duckType, quoteName, quoteText } from './syntax.ts'

/** What columns are called in a line, where it is not their name. */
const fields: Record<string, string> = { id: 'requestId', timestamp: 'time' }

/**
 * DuckDB SQL that selects the columns from the lines in a table's folder; `null` where there are none. Lines of something else than a request
 * have no `how`, and neither has one that is cut short, at the end of a file that is being written.
 */
export function rowsOfLines(folder: string, columns: Column[]): string | null {
  const files = readdirSync(folder).filter(name => name.endsWith('.ndjson'))
  if (files.length === 0) return null
  const fieldOf = ({ name }: Column) => fields[name] ?? name
  const types = columns.map(column => `${quoteName(fieldOf(column))}: ${quoteText(duckType(column.type))}`)
  const items = columns.map(column => `${quoteName(fieldOf(column))} AS ${quoteName(column.name)}`)
  const paths = files.sort().map(name => quoteText(join(folder, name)))
  const read = [
    `[${paths.join(', ')}]`,
    "format = 'newline_delimited'",
    'ignore_errors = true',
    `columns = {${types.join(', ')}}`,
  ]
  return `SELECT ${items.join(', ')} FROM read_json(${read.join(', ')}) WHERE "how" IS NOT NULL`
}
