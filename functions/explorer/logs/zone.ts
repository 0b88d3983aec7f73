/** Time zones: how far they are from UTC at a time, with the hours that a change of the clocks skips or repeats. */

/** `UTC`, `local` for that of this device, or a name of the IANA: `Europe/Berlin`. */
export type Zone = string

/** As it is shown. */
export function zoneName(zone: Zone): string {
  return zone === 'local' ? new Intl.DateTimeFormat().resolvedOptions().timeZone : zone
}

export function isZone(text: string): boolean {
  try {
    return formatOf(text) !== null
  } catch {
    return false
  }
}

const formats = new Map<Zone, Intl.DateTimeFormat>()

/** @throws RangeError where there is no such zone */
function formatOf(zone: Zone): Intl.DateTimeFormat {
  const own = { timeZone: zoneName(zone), timeZoneName: 'longOffset' } as const
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('en', own)
  formats.set(zone, format)
  return format
}

/** `+01:00`, as it is then. @param micros since 1970 UTC */
export function offsetText(micros: number, zone: Zone): string {
  return /GMT(.+)$/.exec(formatOf(zone).format(micros / 1000))?.[1] ?? '+00:00'
}

/** By how many microseconds the zone is ahead of UTC then. */
export function offsetAt(micros: number, zone: Zone): number {
  if (zone === 'UTC') return 0
  const [hours, minutes, seconds = 0] = offsetText(micros, zone).slice(1).split(':').map(Number)
  const size = (hours! * 3600 + minutes! * 60 + seconds) * 1e6
  return offsetText(micros, zone).startsWith('-') ? -size : size
}

const day = 8.64e10

/**
 * The moment at which clocks of the zone show a time. Of two it is the first; one that they skip is as if they had not been
 * changed (as `Date` and Temporal have it). @param wall microseconds, as if the clocks were those of UTC
 */
export function momentAt(wall: number, zone: Zone): number {
  const [before, after] = [offsetAt(wall - day, zone), offsetAt(wall + day, zone)]
  return offsetAt(wall - before, zone) !== before && offsetAt(wall - after, zone) === after
    ? wall - after
    : wall - before
}

/** All zones that the browser knows, with what they are ahead of UTC now. @param now in microseconds */
export function zoneChoices(now: number): (readonly [zone: Zone, text: string])[] {
  const named = Intl.supportedValuesOf('timeZone').filter(name => name !== 'UTC')
  return [
    ['UTC', 'UTC'],
    ['local', `This device: ${zoneText('local', now)}`],
    ...named.map(name => [name, zoneText(name, now)] as const),
  ]
}

/** `Europe/Berlin +01:00` */
export function zoneText(zone: Zone, now: number): string {
  return zone === 'UTC' ? 'UTC' : `${zoneName(zone)} ${offsetText(now, zone)}`
}
