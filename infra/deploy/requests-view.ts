/**
 * `node infra/deploy/requests-view.ts PROJECT.DATASET FILE`: prints the query of the view `service_requests`, which has the columns
 * of `infra/tables/service.requests.json`, and writes the schema of the table under it to FILE. Cloud Logging appends the lines of
 * the sink to that table, and a column for each field that it has not yet; it would make the table with the first line, too late
 * for the view. Google's own solutions make it beforehand in the same way (github.com/GoogleCloudPlatform/bq-pii-classifier,
 * `terraform/modules/bigquery`).
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { FieldSchema } from '../../shared/engines/schema.ts'

/** Named after the log, `run.googleapis.com/stdout` ("View logs routed to BigQuery"). */
export const routedTable = 'run_googleapis_com_stdout'

/** A column's field of the payload: in small letters, numbers as FLOAT ("BigQuery schema for routed logs"). */
function routed({ name, type }: FieldSchema): FieldSchema {
  return { name: name === 'id' ? 'requestid' : name, type: type === 'INTEGER' ? 'FLOAT' : type }
}

/** @param schema of `service.requests` @returns that of `routedTable`, as BigQuery's API has it */
export function routedSchema(schema: FieldSchema[]): FieldSchema[] {
  const fields = schema.filter(({ name }) => name !== 'timestamp').map(routed)
  return [
    { name: 'timestamp', type: 'TIMESTAMP' },
    { name: 'jsonPayload', type: 'RECORD', fields },
  ]
}

/** @param dataset `project.dataset` of the routed lines */
export function requestsView(schema: FieldSchema[], dataset: string): string {
  const items = schema.map(column => {
    if (column.name === 'timestamp') return 'timestamp'
    const field = `jsonPayload.${routed(column).name}`
    return `${column.type === 'INTEGER' ? `CAST(${field} AS INT64)` : field} AS \`${column.name}\``
  })
  return `SELECT ${items.join(', ')} FROM \`${dataset}.${routedTable}\``
}

if (import.meta.main) {
  const [dataset = '', schemaOut = ''] = process.argv.slice(2)
  const file = new URL('../tables/service.requests.json', import.meta.url)
  const schema = JSON.parse(readFileSync(file, 'utf8')) as FieldSchema[]
  writeFileSync(schemaOut, JSON.stringify(routedSchema(schema)))
  console.log(requestsView(schema, dataset))
}
