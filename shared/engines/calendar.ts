/** Which days and time zones there are. */

/** Whether the month has that day; `Date.UTC` takes years below 100 for those of the last century. */
export function isDay(year: number, month: number, day: number): boolean {
  const date = dateOf(year, month, day)
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day
}

export function dateOf(year: number, month: number, day: number): Date {
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  return date
}

/** The names of zones without a region; ICU has more, such as PST, which BigQuery does not know. */
export const zonesWithoutRegion: ReadonlySet<string> = new Set(
  `CET CST6CDT Cuba EET EST EST5EDT Egypt Eire GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong Iceland Iran Israel
  Jamaica Japan Kwajalein Libya MET MST MST7MDT NZ NZ-CHAT Navajo PRC PST8PDT Poland Portugal ROC ROK Singapore Turkey UCT UTC
  Universal W-SU WET Zulu`.split(/\s+/),
)

/** How the IANA database writes the others, as `America/Port_of_Spain` and `Etc/GMT+5`: to ICU, letter case means nothing. */
const word = String.raw`(?:(?:[A-Z][a-z]+|DU[a-z]+)+|[A-Z]{2,3}|GMT[+-]?\d+|of|es|au)`
export const zoneWithRegion = `^(?:US|[A-Z][a-z]+)(?:/${word}(?:[_-]${word})*)+$`
const withRegion = new RegExp(zoneWithRegion)
const onlyOfIcu = /^(SystemV\/.*|US\/Pacific-New|Etc\/Unknown)$/

/** Whether text is `Europe/Berlin`, `+05:30` or the like. */
export function isZone(text: string): boolean {
  return fixedOffset(text) !== null || isZoneName(text)
}

export function isZoneName(text: string): boolean {
  if (!zonesWithoutRegion.has(text) && (!withRegion.test(text) || onlyOfIcu.test(text))) return false
  try {
    return Boolean(new Intl.DateTimeFormat('en-US', { timeZone: text }))
  } catch {
    return false
  }
}

/** Hours and minutes of an offset. */
export const zoneOffset = String.raw`^(?:UTC)?([+-])(\d{1,2})(?::?(\d{1,2}))?$`
const offset = new RegExp(zoneOffset)

/** Seconds ahead of UTC, of `UTC`, `+5`, `+05:30`, `UTC-3` and the like; null for any other text. */
export function fixedOffset(zone: string): number | null {
  if (zone === 'UTC') return 0
  const [, sign, hours, minutes = '0'] = offset.exec(zone) ?? []
  const seconds = Number(hours) * 3600 + Number(minutes) * 60
  if (!(seconds <= 14 * 3600) || Number(minutes) > 59) return null
  return sign === '-' ? -seconds : seconds
}
