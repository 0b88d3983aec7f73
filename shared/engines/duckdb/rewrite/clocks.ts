/**
 * Between moments (TIMESTAMP) and wall clocks (DATETIME) in a time zone.
 * For UTC plain arithmetic on microseconds stands in for DuckDB's calendar library, which takes ten times as long.
 */

/** DuckDB SQL of a time zone; `null` is UTC. */
type Zone = string | null

export function wallClock(moment: string, zone: Zone = null): string {
  if (zone === null) return `make_timestamp(epoch_us(${moment}))`
  const offset = offsetMicros(zone)
  return offset === null ? `timezone(${zone}, ${moment})` : `make_timestamp(epoch_us(${moment}) + ${offset})`
}

export function momentOf(wallClock: string, zone: Zone = null): string {
  if (zone === null) return `make_timestamptz(epoch_us(${wallClock}))`
  const offset = offsetMicros(zone)
  return offset === null
    ? `timezone(${zone}, ${wallClock})`
    : `make_timestamptz(epoch_us(${wallClock}) - ${offset})`
}

/** The offset of a zone literal such as `'+05:30'` or `'UTC'`, else `null`: it is a name for DuckDB to look up. */
function offsetMicros(zone: string): number | null {
  if (/^'(utc|z)'$/i.test(zone)) return 0
  const match = /^'([+-])(\d{1,2})(?::?(\d\d))?'$/.exec(zone)
  if (!match) return null
  const minutes = Number(match[2]) * 60 + Number(match[3] ?? 0)
  return (match[1] === '-' ? -minutes : minutes) * 60e6
}

export const asDate = (sql: string) => `CAST(${sql} AS DATE)`
export const asTime = (sql: string) => `CAST(${sql} AS TIME)`
export const asClock = (sql: string) => `CAST(${sql} AS TIMESTAMP)`

/** A TIME on an arbitrary day, for what wants a whole clock. */
export const onSomeDay = (time: string) => `(DATE '1970-01-01' + ${time})`

/** A clock as text, with no fraction of a second, or 3 digits, or 6, as few as hold it. */
export function clockText(clock: string, format: string): string {
  const fraction = `(epoch_us(${clock}) % 1000000)`
  return `(CASE WHEN ${fraction} = 0 THEN strftime(${clock}, '${format}') WHEN ${fraction} % 1000 = 0 THEN strftime(${clock}, '${format}.%g') ELSE strftime(${clock}, '${format}.%f') END)`
}
