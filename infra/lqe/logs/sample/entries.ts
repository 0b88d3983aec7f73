/** What the sample's logs are made of. */
import type { Json } from '../entries.ts'
import type { Random } from './random.ts'

/** An entry as a log shipper has it before it is sent: objects are plain, not lists of one. */
export interface Invented {
  table: string
  entry: { id: string; timestamp: number; event_message: string; metadata: Json; project?: string }
}

/** @param time in microseconds since 1970 */
export function invented(
  table: string,
  time: number,
  random: Random,
  content: { message: string; metadata: Json; project?: string },
): Invented {
  const { message: event_message, ...rest } = content
  return { table, entry: { id: random.uuid(), timestamp: time, event_message, ...rest } }
}

/** ISO 8601 in UTC, with milliseconds. @param time in microseconds since 1970 */
export function isoTime(time: number): string {
  return new Date(time / 1000).toISOString()
}
