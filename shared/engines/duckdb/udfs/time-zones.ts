/** What clocks show in time zones. */
import { fixedOffset, isZoneName, zoneOffset, zonesWithoutRegion, zoneWithRegion } from '../../calendar.ts'
import { memoize, ValueError } from './udf.ts'

const formatOf = memoize((zone: string) => {
  if (!isZoneName(zone)) throw new ValueError('Unknown time zone')
  return new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
})

/** Seconds that the clocks of a zone are ahead of UTC. Throws ValueError for an unknown zone. */
function offsetAt(micros: bigint, zone: string): number {
  const fixed = fixedOffset(zone)
  if (fixed !== null) return fixed
  const name = formatOf(zone)
    .formatToParts(new Date(Number(micros / 1000n)))
    .find(({ type }) => type === 'timeZoneName')!.value
  const [, sign, ...parts] = /^GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?/.exec(name) ?? []
  const [hours, minutes, seconds] = parts.map(part => Number(part ?? 0)) as [number, number, number]
  return (sign === '-' ? -1 : 1) * (hours * 3600 + minutes * 60 + seconds)
}

/**
 * What the clocks of a zone show at a UTC time, and how many seconds they are ahead, in whole minutes as texts have them.
 * All in microseconds since 1970.
 */
export function civilInZone(micros: bigint, zone: string): { civil: bigint; offset: number } {
  const offset = Math.trunc(offsetAt(micros, zone) / 60) * 60
  return { civil: micros + BigInt(offset) * 1_000_000n, offset }
}

const day = 86_400_000_000n

/** The UTC time at which the clocks of a zone show a time: the first of two, and within a gap by the offset before it. */
export function utcOf(civil: bigint, zone: string): bigint {
  const [before, after] = [offsetAt(civil - day, zone), offsetAt(civil + day, zone)]
  const times = [before, after].map(offset => ({ offset, at: civil - BigInt(offset) * 1_000_000n }))
  const shown = times.filter(({ offset, at }) => offsetAt(at, zone) === offset)
  return shown.length > 1
    ? shown[0]!.at < shown[1]!.at
      ? shown[0]!.at
      : shown[1]!.at
    : (shown[0] ?? times[0]!).at
}

/**
 * Microseconds that a zone is ahead of UTC; NULL for a name, whose clocks change. In DuckDB's SQL, which computes it once
 * for a parameter.
 */
export const zoneOffsetMacro = `CREATE MACRO gsql_zone_offset(zone) AS (CASE
  WHEN zone = 'UTC' THEN 0
  WHEN regexp_matches(zone, '${zoneOffset}') THEN (CASE
    WHEN ${part(2)} * 60 + ${part(3)} > 840 OR ${part(3)} > 59 THEN CAST('Unknown time zone' AS BIGINT)
    ELSE (CASE WHEN contains(zone, '-') THEN -60000000 ELSE 60000000 END) * (${part(2)} * 60 + ${part(3)}) END)
  WHEN regexp_matches(zone, '${zoneWithRegion}') OR zone IN (${[...zonesWithoutRegion].map(name => `'${name}'`).join(', ')}) THEN NULL
  WHEN zone IS NOT NULL THEN CAST('Unknown time zone' AS BIGINT) END)`

function part(group: 2 | 3): string {
  return `COALESCE(TRY_CAST(regexp_extract(zone, '${zoneOffset}', ${group}) AS BIGINT), 0)`
}
