/** A time that moves, such as the beginning of yesterday, as SQL: what an endpoint says of it holds tomorrow, too. */
import { type Step, stepsOf } from './range.ts'
import { string } from './values.ts'
import { type Zone, zoneName } from './zone.ts'

/** As units are truncated to: https://cloud.google.com/bigquery/docs/reference/standard-sql/datetime_functions#datetime_trunc */
const parts: Record<string, string> = {
  s: 'SECOND',
  m: 'MINUTE',
  h: 'HOUR',
  d: 'DAY',
  w: 'ISOWEEK',
  M: 'MONTH',
  y: 'YEAR',
}

/** What steps have made so far: a moment, or the time on a clock of the zone, by whose calendar days are counted. */
interface Made {
  type: 'TIMESTAMP' | 'DATETIME'
  sql: string
}

/**
 * A TIMESTAMP as `momentOf` reads the text. It depends on nothing of a row, so that BigQuery prunes partitions by it.
 * @param isEnd whether a rounded one is the end of its unit
 * @returns `null` for what is not relative to now
 */
export function momentSql(written: string, zone: Zone, isEnd = false): string | null {
  const steps = stepsOf(written)
  if (!steps) return null
  const named = string(zoneName(zone))
  const start: Made = { type: 'TIMESTAMP', sql: 'CURRENT_TIMESTAMP()' }
  return as(
    'TIMESTAMP',
    steps.reduce((at, step) => stepped(at, step, named, isEnd), start),
    named,
  )
}

function stepped(at: Made, { kind, unit, count }: Step, zone: string, isEnd: boolean): Made {
  const type = kind === 'exact' ? 'TIMESTAMP' : 'DATETIME'
  const sql = as(type, at, zone)
  if (kind !== 'round') return { type, sql: movedBy(count, unit, { type, sql }) }
  const first = `DATETIME_TRUNC(${sql}, ${parts[unit]})`
  return { type, sql: isEnd ? movedBy(1, unit, { type, sql: first }) : first }
}

/** A week is seven days, as TIMESTAMP_ADD takes no weeks. */
function movedBy(count: number, unit: string, { type, sql }: Made): string {
  const [size, part] = unit === 'w' ? [7, 'DAY'] : [1, parts[unit]]
  return `${type}_${count < 0 ? 'SUB' : 'ADD'}(${sql}, INTERVAL ${Math.abs(count) * size} ${part})`
}

function as(type: Made['type'], at: Made, zone: string): string {
  if (at.type === type) return at.sql
  return at.sql === 'CURRENT_TIMESTAMP()' ? `CURRENT_DATETIME(${zone})` : `${type}(${at.sql}, ${zone})`
}

/** In hours, the longest of each: of days, 25 where the clocks change. */
const longest: Record<string, number> = {
  s: 1 / 3600,
  m: 1 / 60,
  h: 1,
  d: 25,
  w: 169,
  M: 745,
  y: 8785,
}

/** A time relative to now, as the service reads it, that is never behind what is written. */
export function reachOf(written: string): string {
  const hours = (stepsOf(written) ?? []).map(
    ({ kind, unit, count }) => longest[unit]! * (kind === 'round' ? 1 : -count),
  )
  const all = hours.reduce((sum, each) => sum + each, 0)
  return `-${Math.max(1, Math.ceil(all))}h`
}
