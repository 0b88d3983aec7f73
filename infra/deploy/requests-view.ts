/**
 * `node infra/deploy/requests-view.ts [PROJECT.DATASET]`: prints the query of the view `service_requests`, which has the columns
 * of `infra/tables/service.requests.json`. With a dataset it reads the table that Cloud Logging makes there of the lines that the
 * sink routes; without, it is empty, as there is no such table before the first line.
 */
import { readFileSync } from 'node:fs'
import type { FieldSchema } from '../../shared/engines/schema.ts'

/** Named after the log, `run.googleapis.com/stdout` ("View logs routed to BigQuery"). */
export const routedTable = 'run_googleapis_com_stdout'

/**
 * Type of a column, and what reads its value from a line: numbers of a payload are FLOAT64, and a field that no line has had yet
 * is no column of the table, but NULL in the payload's JSON.
 */
const types: Record<string, [name: string, reader: string]> = {
  STRING: ['STRING', 'LAX_STRING'],
  INTEGER: ['INT64', 'LAX_INT64'],
  FLOAT: ['FLOAT64', 'LAX_FLOAT64'],
  BOOLEAN: ['BOOL', 'LAX_BOOL'],
}

/** What columns are called in a line, in small letters as the table has them ("BigQuery schema for routed logs"). */
const fields: Record<string, string> = { id: 'requestid' }

/** @param dataset `project.dataset` of the routed lines, or `null` */
export function requestsView(schema: FieldSchema[], dataset: string | null): string {
  const items = schema.map(({ name, type }) => {
    const [standard, reader] = types[type] ?? [type, null]
    const routed = reader ? `${reader}(t.line['${fields[name] ?? name}'])` : `t.${name}`
    return `${dataset === null ? `CAST(NULL AS ${standard})` : routed} AS \`${name}\``
  })
  const select = `SELECT ${items.join(', ')}`
  if (dataset === null) return `${select} LIMIT 0`
  return `${select} FROM (SELECT timestamp, TO_JSON(jsonPayload) AS line FROM \`${dataset}.${routedTable}\`) AS t`
}

if (import.meta.main) {
  const file = new URL('../tables/service.requests.json', import.meta.url)
  const schema = JSON.parse(readFileSync(file, 'utf8')) as FieldSchema[]
  console.log(requestsView(schema, process.argv[2] ?? null))
}
