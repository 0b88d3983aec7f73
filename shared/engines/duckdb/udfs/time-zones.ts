/** Time zones: names of the IANA database, and offsets such as `+05:30` and `UTC-3`. */
import { ValueError } from './udf.ts'

const formats = new Map<string, Intl.DateTimeFormat>()

/** Seconds that the clocks of a zone are ahead of UTC, in whole minutes. Throws ValueError for an unknown zone. */
function offsetAt(micros: bigint, zone: string): number {
  const fixed = fixedOffset(zone)
  if (fixed !== null) return fixed
  const ms = Number(micros / 1000n)
  const name = formatOf(zone)
    .formatToParts(new Date(ms))
    .find(({ type }) => type === 'timeZoneName')!.value
  const [, sign, hours = '0', minutes = '0'] = /^GMT(?:([+-])(\d\d):(\d\d))?/.exec(name) ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60)
}

/** Of `UTC`, `Z`, `+5`, `+05:30`, `UTC-3` and the like; null for a name. */
function fixedOffset(zone: string): number | null {
  if (/^(utc|z)$/i.test(zone)) return 0
  const [, sign, hours, minutes = '0'] = /^(?:UTC)?([+-])(\d{1,2})(?::?(\d\d))?$/i.exec(zone) ?? []
  if (hours === undefined) return null
  const seconds = Number(hours) * 3600 + Number(minutes) * 60
  if (seconds > 14 * 3600 || Number(minutes) > 59) throw unknown()
  return sign === '-' ? -seconds : seconds
}

const unknown = () => new ValueError('Unknown time zone')

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone)
  if (known) return known
  try {
    const made = new Intl.DateTimeFormat('en-US', { timeZone: zone, timeZoneName: 'longOffset' })
    formats.set(zone, made)
    return made
  } catch {
    throw unknown()
  }
}

/** What the clocks of a zone show at a UTC time, and how many seconds they are ahead. All in microseconds since 1970. */
export function civilInZone(micros: bigint, zone: string): { civil: bigint; offset: number } {
  const offset = offsetAt(micros, zone)
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
