/** Invented rows for a table of the user's own, by the names and types of its columns. */
import type { Column, SqlType } from '../../../shared/sql/types.ts'
import { type Json, timeColumn } from './entries.ts'
import type { Random } from './sample-requests.ts'

/** What columns of usual names hold; the first far more often than the last. */
const values: [name: RegExp, choices: (string | number)[]][] = [
  [/level|severity/, ['info', 'info', 'debug', 'warning', 'error']],
  [/message|msg/, ['request served', 'request served', 'cache refreshed', 'slow query', 'connection lost']],
  [/service|app|component/, ['web', 'api', 'worker']],
  [/method/, ['GET', 'POST', 'DELETE']],
  [/path|url/, ['/', '/orders', '/orders/42', '/login', '/missing']],
  [/status|code/, [200, 200, 201, 404, 500]],
  [/host/, ['www.example.com', 'api.example.com']],
  [/agent/, ['Mozilla/5.0', 'curl/8.5']],
  [/(^|_)ip$|client|address/, ['192.0.2.7', '198.51.100.23', '203.0.113.9']],
  [/country/, ['DE', 'FR', 'US', 'JP']],
]

/** @param time microseconds since 1970 */
export function inventRow(columns: Column[], time: number, random: Random): { [name: string]: Json } {
  return Object.fromEntries(columns.map(({ name, type }) => [name, inventValue(name, type, time, random)]))
}

function inventValue(name: string, type: SqlType, time: number, random: Random): Json {
  if (type.kind === 'ARRAY') return [inventValue(name, type.element, time, random)]
  if (type.kind === 'STRUCT')
    return inventRow(
      type.fields.map(field => ({ ...field, name: field.name ?? '' })),
      time,
      random,
    )
  if (type.kind === 'TIMESTAMP') return name === timeColumn || random.chance(0.5) ? time : null
  if (type.kind === 'BOOL') return random.chance(0.5)
  if (type.kind === 'JSON') return {}
  if (name === 'id' && type.kind === 'STRING') return random.uuid()
  const [, usual] = values.find(([pattern]) => pattern.test(name.toLowerCase())) ?? []
  const value = usual && random.favourite(usual)
  if (type.kind === 'STRING') return String(value ?? `${name} ${random.integer(1, 5)}`)
  return typeof value === 'number' ? value : random.longTail(1, 2000)
}
