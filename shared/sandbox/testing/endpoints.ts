import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../../endpoints/definition.ts'

type Sandboxable = Pick<Endpoint, 'sql' | 'parameters'>

/** The saved endpoint with nine tables. */
export const logs: Sandboxable = {
  sql: savedQuery('logs.all'),
  parameters: {
    project: { type: 'string' },
    iso_timestamp_start: { type: 'string', format: 'iso-timestamp' },
    iso_timestamp_end: { type: 'string', format: 'iso-timestamp' },
  },
}

export function savedQuery(name: string): string {
  return readFileSync(join(import.meta.dirname, '../../../queries', `${name}.sql`), 'utf8')
}

/** An endpoint made of its SQL, with string parameters. */
export function endpoint(sql: string, ...parameters: string[]): Sandboxable {
  return { sql, parameters: Object.fromEntries(parameters.map(name => [name, { type: 'string' as const }])) }
}
