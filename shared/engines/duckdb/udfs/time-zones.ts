/** Time zones: names of the IANA database, and offsets such as `+05:30` and `UTC-3`. */
import { remembered, scalar, type ScalarFunction, ValueError } from './udf.ts'

/** The names without a region; ICU has more, such as PST, which BigQuery does not know. */
const withoutRegion = new Set(
  `CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel
  Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC
  Universal W-SU WET Zulu`.split(/\s+/),
)

/** How the database writes the others, such as `America/Port_of_Spain` and `Etc/GMT+5`: to ICU, letter case means nothing. */
const word = String.raw`(?:(?:[A-Z][a-z]+|D(?=U))+|[A-Z]{2,3}|GMT[+-]?\d+|of|es|au)`
const withRegion = new RegExp(`^(?:US|[A-Z][a-z]+)(?:/${word}(?:[_-]${word})*)+$`)
const onlyOfIcu = /^(SystemV\/.*|US\/Pacific-New|Etc\/Unknown)$/

const unknown = () => new ValueError('Unknown time zone')

const formatOf = remembered((zone: string) => {
  if (!withoutRegion.has(zone) && (!withRegion.test(zone) || onlyOfIcu.test(zone))) throw unknown()
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
  } catch {
    throw unknown()
  }
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

/** Seconds of `UTC`, `+5`, `+05:30`, `UTC-3` and the like; null for the name of a zone. Throws ValueError for any other text. */
export function fixedOffset(zone: string): number | null {
  if (zone === 'UTC') return 0
  const [, sign, hours, minutes = '0'] = /^(?:UTC)?([+-])(\d{1,2})(?::?(\d{1,2}))?$/.exec(zone) ?? []
  if (hours === undefined) return formatOf(zone) && null
  const seconds = Number(hours) * 3600 + Number(minutes) * 60
  if (seconds > 14 * 3600 || Number(minutes) > 59) throw unknown()
  return sign === '-' ? -seconds : seconds
}

export function isZone(text: string): boolean {
  try {
    fixedOffset(text)
    return true
  } catch {
    return false
  }
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

export const timeZoneFunctions: Record<string, ScalarFunction> = {
  /** Microseconds ahead of UTC; NULL for the name of a zone, whose clocks change. */
  gsql_zone_offset: scalar(['VARCHAR'], 'BIGINT', zone => {
    const seconds = fixedOffset(zone)
    return seconds === null ? null : BigInt(seconds) * 1_000_000n
  }),
  gsql_utc: scalar(['BIGINT', 'VARCHAR'], 'BIGINT', utcOf),
}
