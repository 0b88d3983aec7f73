/**
 * Dates and times from text as casts and literals take it
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types#timestamp_type). DuckDB's casts read the common
 * forms (`quickShapes`), these functions all.
 */
import { isDay } from '../../calendar.ts'
import { daysSince1970, inRange, microsPerDay } from './date-text.ts'
import { utcOf } from './time-zones.ts'
import { scalar, type ScalarFunction, ValueError } from './udf.ts'

type TimeType = 'DATE' | 'DATETIME' | 'TIME' | 'TIMESTAMP'

const date = String.raw`\d{4}-\d{1,2}-\d{1,2}`
const time = String.raw`([01]?\d|2[0-3]):[0-5]?\d:[0-5]?\d(\.\d{1,6})?`
const offset = String.raw`Z|[+-]((0\d|1[0-3])(:?[0-5]\d)?|14(:?00)?)`

/** What DuckDB's casts read as GoogleSQL does: they also read `infinity`. */
export const quickShapes: Record<TimeType, string> = {
  DATE: date,
  DATETIME: `${date}([ T]${time})?`,
  TIME: time,
  TIMESTAMP: `${date}([ T]${time}(${offset})?)?`,
}

const whole =
  /^(?:(\d{4})-(\d{1,2})-(\d{1,2})(?:[ Tt](?=\d)|$))?(?:(\d{1,2}):(\d{1,2}):(\d{1,2})(?:\.(\d{1,6}))?(Z|z|[+-]\S+| [A-Za-z]\S*)?)?$/

/**
 * Microseconds since 1970, of a TIMESTAMP in UTC and of the others as clocks show them; a TIME is one of the first day. The
 * second 60 is the next minute, and has a fraction only in a TIMESTAMP. Throws ValueError for other text.
 */
export function microsOf(type: TimeType, text: string): bigint {
  const [, year, month = '1', day = '1', hour, minute = '0', second = '0', fraction = '', zone = 'UTC'] =
    whole.exec(text) ?? []
  const dated = year !== undefined
  const timed = hour !== undefined
  const numbers = [year ?? '1970', month, day, hour ?? '0', minute, second].map(Number)
  const [y, m, d, h, min, s] = numbers as [number, number, number, number, number, number]
  const fits = type === 'TIME' ? timed && !dated : dated && (type !== 'DATE' || !timed)
  const zoned = zone !== 'UTC' && type !== 'TIMESTAMP'
  if (!fits || zoned || !isDay(y, m, d) || h > 23 || min > 59 || s > 60)
    throw new ValueError('A value cannot be converted to the type asked for')
  const seconds = BigInt(h * 3600 + min * 60 + s)
  const micros = s === 60 && type !== 'TIMESTAMP' ? 0n : BigInt(fraction.padEnd(6, '0'))
  const civil = BigInt(daysSince1970(y, m, d)) * microsPerDay + seconds * 1_000_000n + micros
  if (type === 'TIME') return civil % microsPerDay
  return inRange(/^z$/i.test(zone) ? civil : utcOf(civil, zone.trim()))
}

export const dateCastFunctions: Record<string, ScalarFunction> = {
  gsql_time: scalar(['VARCHAR', 'VARCHAR'], 'BIGINT', (type, text) => microsOf(type as TimeType, text)),
}
