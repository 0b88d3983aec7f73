/**
 * FORMAT_* and PARSE_* of dates and times, by the elements of
 * https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements#format_elements_date_time.
 * Dates and times travel as the microseconds since 1970 that clocks show (`civil`).
 */
import { dateOf } from '../../calendar.ts'
import { memoize, scalar, type ScalarFunction, ValueError } from './udf.ts'
import { civilInZone, utcOf } from './time-zones.ts'

export const microsPerDay = 86_400_000_000n

/** The parts of a civil time. */
export interface Civil {
  year: number
  month: number
  day: number
  /** Sunday is 0. */
  weekday: number
  /** From 1. */
  dayOfYear: number
  hour: number
  minute: number
  second: number
  micros: number
  /** Microseconds since 1970. */
  civil: bigint
}

/** @param civil microseconds since 1970 as clocks show them, negative before */
export function civilOf(civil: bigint): Civil {
  const inDay = ((civil % microsPerDay) + microsPerDay) % microsPerDay
  const days = Number((civil - inDay) / microsPerDay)
  const date = new Date(days * 86_400_000)
  const micros = Number(inDay)
  const year = date.getUTCFullYear()
  return {
    year,
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    dayOfYear: days - daysSince1970(year, 1, 1) + 1,
    hour: Math.floor(micros / 3_600e6),
    minute: Math.floor(micros / 60e6) % 60,
    second: Math.floor(micros / 1e6) % 60,
    micros: micros % 1e6,
    civil,
  }
}

export function daysSince1970(year: number, month: number, day: number): number {
  return Math.floor(dateOf(year, month, day).getTime() / 86_400_000)
}

const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = 'January February March April May June July August September October November December'.split(
  ' ',
)

const two = (value: number) => String(value).padStart(2, '0')
const spaced = (value: number) => String(value).padStart(2, ' ')

/** The week of the year, which begins on Sunday or Monday; days before the first one are in week 0. */
const weekOf = ({ dayOfYear, weekday }: Civil, start: 0 | 1) =>
  Math.floor((dayOfYear + 6 - ((weekday - start + 7) % 7)) / 7)

/** The ISO year and week: those of the week's Thursday. */
function isoWeek({ year, dayOfYear, weekday, civil }: Civil): { year: number; week: number } {
  const thursday = civilOf(civil + BigInt(3 - ((weekday + 6) % 7)) * microsPerDay)
  return thursday.year === year && weekday === 4
    ? { year, week: Math.floor((dayOfYear - 1) / 7) + 1 }
    : { year: thursday.year, week: Math.floor((thursday.dayOfYear - 1) / 7) + 1 }
}

/** An hour of 0 to 23 on a clock with 12: 12, 1, ... 11. */
const hour12 = (hour: number) => ((hour + 11) % 12) + 1

// ---- from text, by a list of pieces

/** What a text is expected to have next: these characters, or a sticky pattern, whose groups are these parts of a time. */
export type Piece = string | { pattern: RegExp; parts: string[] }

/** A pattern with the names of its groups, which match in a third of the time without them. */
export function pieceOf(source: string, flags = ''): Piece {
  const parts = Array.from(source.matchAll(/\(\?<(\w+)>/g), ([, name]) => name!)
  return { pattern: new RegExp(source.replaceAll(/\?<\w+>/g, ''), `${flags}y`), parts }
}

/** Texts by the name of the part, such as `month`. */
export type Parts = Record<string, string | undefined>

/** Names as they are, or their first three letters. */
const oneOf = (names: string[]) => names.map(name => `${name}|${name.slice(0, 3)}`).join('|')
export const monthName = `(?<monthName>${oneOf(months)})`

const failed = () => new ValueError('A date or time does not have the format given')

/** What a part may be; a day is one of the month. */
const bounds: Record<string, [least: number, most: number]> = {
  month: [1, 12],
  quarter: [1, 4],
  day: [1, 31],
  dayOfYear: [1, 366],
  week0: [0, 53],
  week1: [0, 53],
  hour: [0, 23],
  hour12: [1, 12],
  minute: [0, 59],
  second: [0, 60],
  secondOfDay: [0, 86_399],
  zoneMinutes: [0, 59],
}

/** Of these parts the one that stands last counts. */
const instead: Record<string, string[]> = {
  year: ['shortYear', 'century'],
  shortYear: ['year'],
  century: ['year'],
  week0: ['week1'],
  week1: ['week0'],
  hour: ['hour12'],
  hour12: ['hour'],
  month: ['monthName', 'quarter'],
  monthName: ['month', 'quarter'],
  quarter: ['month', 'monthName'],
}

/** Reads a text from the left. Throws ValueError where it does not go on as the pieces do, or does not end with them. */
export function partsOf(pieces: Piece[], text: string): Parts {
  const found: Parts = {}
  let at = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      if (!text.startsWith(piece, at)) throw failed()
      at += piece.length
      continue
    }
    const { pattern, parts } = piece
    pattern.lastIndex = at
    const match = pattern.exec(text)
    if (!match) throw failed()
    at = pattern.lastIndex
    for (let group = 1; group < match.length; group++) {
      const [name, value] = [parts[group - 1]!, match[group]]
      const range = bounds[name]
      if (range && (Number(value) < range[0] || Number(value) > range[1])) throw failed()
      for (const other of instead[name] ?? []) if (found[other] !== undefined) found[other] = undefined
      found[name] = value
    }
  }
  if (at < text.length) throw failed()
  return found
}

/** Seconds ahead of UTC; null where the text has no zone, or has its name. */
function offsetOf({ utc, zoneSign, zoneHours, zoneMinutes = '0' }: Parts): number | null {
  if (utc !== undefined) return 0
  if (zoneHours === undefined) return null
  const size = Number(zoneHours) * 3600 + Number(zoneMinutes) * 60
  if (size > 14 * 3600) throw failed()
  return zoneSign === '-' ? -size : size
}

/**
 * The civil time, in microseconds since 1970; what is not in the text is as in `today`, the first day, midnight. Throws
 * ValueError for one that is on no calendar.
 */
export function civilFrom(parts: Parts, today: { year: number; month: number }): bigint {
  const part = (name: string, otherwise: number) =>
    parts[name] === undefined ? otherwise : Number(parts[name])
  if (parts['epoch'] !== undefined) return BigInt(parts['epoch']) * 1_000_000n
  const named = parts['monthName']?.slice(0, 3).toLowerCase()
  const ofYear = named ? months.findIndex(name => name.toLowerCase().startsWith(named)) + 1 : today.month
  const month = part('month', parts['quarter'] === undefined ? ofYear : 3 * part('quarter', 1) - 2)
  const day = part('day', 1)
  const year = part('year', yearOf(parts, today.year))
  const first = daysSince1970(year, 1, 1)
  let days = daysSince1970(year, month, day)
  if (new Date(days * 86_400_000).getUTCDate() !== day) throw new ValueError('A date is out of range')
  if (parts['dayOfYear'] !== undefined) {
    days = first + part('dayOfYear', 1) - 1
    if (days >= daysSince1970(year + 1, 1, 1)) throw new ValueError('A date is out of range')
  }
  for (const start of [0, 1]) {
    // 1970 began on a Thursday.
    const week = parts[`week${start}`]
    if (week) days = first + ((start - ((((first + 4) % 7) + 7) % 7) + 7) % 7) + 7 * (Number(week) - 1)
  }
  const afternoon = /^p/i.test(parts['half'] ?? '') ? 12 : 0
  const hour = parts['hour12'] === undefined ? part('hour', 0) : (part('hour12', 0) % 12) + afternoon
  const seconds = part('secondOfDay', hour * 3600 + part('minute', 0) * 60 + part('second', 0))
  const fraction = part('second', 0) === 60 ? '' : (parts['fraction'] ?? '')
  const micros = BigInt(fraction.padEnd(6, '0').slice(0, 6))
  return BigInt(days) * microsPerDay + BigInt(seconds) * 1_000_000n + micros
}

/** Of a year with fewer digits than four: a `shortYear` is from 1969 on, `rounded` is near the current one. */
function yearOf({ century, shortYear, year3, year2, year1, rounded }: Parts, current: number): number {
  if (century !== undefined) return Number(century) * 100 + Number(shortYear ?? 0)
  if (shortYear !== undefined) return Number(shortYear) + (Number(shortYear) < 69 ? 2000 : 1900)
  const written = year3 ?? year2 ?? year1
  const place = year3 ? 1000 : year2 ? 100 : 10
  if (written !== undefined) return Math.floor(current / place) * place + Number(written)
  if (rounded === undefined) return current
  const [short, now] = [Number(rounded), current % 100]
  const later = short < 50 && now >= 50 ? 1 : short >= 50 && now < 50 ? -1 : 0
  return (Math.floor(current / 100) + later) * 100 + short
}

// ---- the elements of FORMAT_* and PARSE_*

/** Which types have an element: those with a date, with a time of day, with a zone. */
type Has = 'date' | 'time' | 'both' | 'zone' | 'any'

const types: Record<string, Has[]> = {
  DATE: ['date', 'any'],
  TIME: ['time', 'any'],
  DATETIME: ['date', 'time', 'both', 'any'],
  TIMESTAMP: ['date', 'time', 'both', 'zone', 'any'],
}

/** @param offset seconds that the time is ahead of UTC; null for one without a zone */
type Writer = (time: Civil, offset: number | null) => string

const monthIs = new RegExp(monthName, 'i')
const weekdayIs = new RegExp(`(?<weekday>${oneOf(weekdays)})`, 'i')
const year = /(?<year>\d{1,4})/
const shortYear = /(?<shortYear>\d{1,2})/
const day = /(?<day>\d{1,2})/
const hour = /(?<hour>\d{1,2})/
const hourOf12 = /(?<hour12>\d{1,2})/
const half = /(?<half>[ap]m)/i
const nothing = /(?:)/

/** How an element is written, or the elements that it stands for; and how it is read, behind white space, where it is. */
const elements: Record<string, [has: Has, write: Writer | string, read?: RegExp]> = {
  A: ['date', ({ weekday }) => weekdays[weekday]!, weekdayIs],
  a: ['date', ({ weekday }) => weekdays[weekday]!.slice(0, 3), weekdayIs],
  B: ['date', ({ month }) => months[month - 1]!, monthIs],
  b: ['date', ({ month }) => months[month - 1]!.slice(0, 3), monthIs],
  C: ['date', ({ year }) => String(Math.floor(year / 100)), /(?<century>\d{1,2})/],
  c: ['both', '%a %b %e %H:%M:%S %Y'],
  D: ['date', '%m/%d/%y'],
  d: ['date', ({ day }) => two(day), day],
  e: ['date', ({ day }) => spaced(day), day],
  F: ['date', '%Y-%m-%d'],
  G: ['date', time => String(isoWeek(time).year), year],
  g: ['date', time => two(isoWeek(time).year % 100), shortYear],
  H: ['time', ({ hour }) => two(hour), hour],
  h: ['date', '%b'],
  I: ['time', ({ hour }) => two(hour12(hour)), hourOf12],
  j: ['date', ({ dayOfYear }) => String(dayOfYear).padStart(3, '0'), /(?<dayOfYear>\d{1,3})/],
  k: ['time', ({ hour }) => spaced(hour), hour],
  l: ['time', ({ hour }) => spaced(hour12(hour)), hourOf12],
  M: ['time', ({ minute }) => two(minute), /(?<minute>\d{1,2})/],
  m: ['date', ({ month }) => two(month), /(?<month>\d{1,2})/],
  n: ['any', () => '\n', nothing],
  P: ['time', ({ hour }) => (hour < 12 ? 'am' : 'pm'), half],
  p: ['time', ({ hour }) => (hour < 12 ? 'AM' : 'PM'), half],
  Q: ['date', ({ month }) => String(Math.ceil(month / 3)), /(?<quarter>\d)/],
  R: ['time', '%H:%M'],
  r: ['time', '%I:%M:%S %p'],
  S: ['time', ({ second }) => two(second), /(?<second>\d{1,2})/],
  s: [
    'both',
    ({ civil }, offset) => String(floored(civil, 1_000_000n) - BigInt(offset ?? 0)),
    /(?<epoch>-?\d{1,18})/,
  ],
  T: ['time', '%H:%M:%S'],
  t: ['any', () => '\t', nothing],
  U: ['date', time => two(weekOf(time, 0)), /(?<week0>\d{1,2})/],
  u: ['date', ({ weekday }) => String(weekday || 7), /(?<weekday>[1-7])/],
  V: ['date', time => two(isoWeek(time).week)],
  W: ['date', time => two(weekOf(time, 1)), /(?<week1>\d{1,2})/],
  w: ['date', ({ weekday }) => String(weekday), /(?<weekday>[0-6])/],
  X: ['time', '%H:%M:%S'],
  x: ['date', '%m/%d/%y'],
  Y: ['date', ({ year }) => String(year), year],
  y: ['date', ({ year }) => two(year % 100), shortYear],
  Z: ['zone', (_, offset) => zoneName(offset!), /(?<zone>[A-Za-z0-9_/+:-]+)/],
  z: [
    'zone',
    (_, offset) => zoneOffset(offset!, ''),
    /(?<zoneSign>[+-])(?<zoneHours>\d\d)(?<zoneMinutes>\d\d)?/,
  ],
  ':z': ['zone', (_, offset) => zoneOffset(offset!, ':')],
  E4Y: ['date', ({ year }) => String(year).padStart(4, '0'), /(?<year>\d{4})/],
  Ez: [
    'zone',
    (_, offset) => zoneOffset(offset!, ':'),
    /(?<zoneSign>[+-])(?<zoneHours>\d\d)(?::?(?<zoneMinutes>\d\d))?|(?<utc>Z)/,
  ],
  EZ: ['zone', () => 'UTC'],
  '%': ['any', () => '%', /%/],
}

/** How an element that stands for no others is written. */
export const writer = (name: string) => elements[name]![1] as Writer

/** Elements that DuckDB writes in the same way. */
const ofStrftime = 'AaBbdjmUuVWwYyHIMpS%'
const fractionsOfStrftime: Record<string, string> = { E3S: '%S.%g', E6S: '%S.%f' }

/** The format of DuckDB's strftime that writes the same in years of four digits; `null` where there is none. */
export function strftimeOf(type: string, format: string): string | null {
  const pieces = format.match(/%E\dS|%[^]|[^%]+|%/gu) ?? []
  const parts = pieces.map(piece => {
    if (!piece.startsWith('%')) return piece
    const name = piece.slice(1)
    const [has, write] = elements[name in fractionsOfStrftime ? 'S' : name] ?? []
    if (has === undefined || !types[type]!.includes(has)) return null
    if (typeof write === 'string') return strftimeOf(type, write)
    return fractionsOfStrftime[name] ?? (ofStrftime.includes(name) ? piece : null)
  })
  return parts.length === 0 || parts.includes(null) ? null : parts.join('')
}

const floored = (value: bigint, by: bigint) => (value - (((value % by) + by) % by)) / by

/** `UTC`, `UTC+1` or `UTC+0530`. */
function zoneName(offset: number): string {
  if (offset === 0) return 'UTC'
  const digits = zoneOffset(offset, '')
  return `UTC${digits[0]}${digits.slice(1).replace(/^0?(\d+)00$/, '$1')}`
}

/** Hours and minutes of an offset in seconds, such as `+05:30`; `between` stands for the colon. */
export function zoneOffset(offset: number, between: string): string {
  const minutes = Math.floor(Math.abs(offset) / 60)
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${between}${two(minutes % 60)}`
}

/** An element; `%E` and `%O` stand before a few of them, and change nothing there. Flags and a width are those of strftime. */
const elementPattern =
  /%(?:E(?<digits>\*|\d+)(?<part>[Sf])|(?<flags>[-_0^#]*\d*)(?<name>E4Y|E[zZ]|:z|[^EO])|E(?<alternative>[cCxXyY])|O(?<ordinal>[deHImMSuUVwWy]))/gsu

/** A flag's way to write an element; behind the flags stands the width, filled with zeros before a number. */
const flagged: Record<string, (text: string) => string> = {
  '-': text => text.replace(/^[0 ]+(?=\d)/, ''),
  _: text => text.replace(/^0+(?=\d)/, zeros => ' '.repeat(zeros.length)),
  '0': text => text.replace(/^ +(?=\d)/, spaces => '0'.repeat(spaces.length)),
  '^': text => text.toUpperCase(),
  '#': text => (text === text.toUpperCase() ? text.toLowerCase() : text.toUpperCase()),
}

function withFlags(text: string, all: string): string {
  if (all === '') return text
  const [, flags = '', width = ''] = /^([-_0^#]*)(\d*)$/.exec(all)!
  const written = flags.split('').reduce((text, flag) => flagged[flag]!(text), text)
  return written.padStart(Number(width), /^ ?\d/.test(text) && !flags.includes('_') ? '0' : ' ')
}

const mostDigits = 18

/** A civil time in a format of GoogleSQL; elements that the type does not have stay as they are. */
function formatTime(type: string, format: string, time: Civil, offset: number | null): string {
  return format.replace(elementPattern, (all, ...rest) => {
    const groups = rest.at(-1) as Record<string, string | undefined>
    const { digits, part } = groups
    if (part !== undefined) {
      if (!types[type]!.includes('time')) return all
      const text = fraction(time.micros, digits!)
      return part === 'f' ? text : two(time.second) + (text && `.${text}`)
    }
    const name = groups['name'] ?? groups['alternative'] ?? groups['ordinal']
    if (name === 'J') throw new ValueError('The format element %J is not supported')
    const [has, write] = (Object.hasOwn(elements, name!) && elements[name!]) || []
    if (has === undefined || !types[type]!.includes(has)) return all
    const flags = groups['flags'] ?? ''
    if (typeof write !== 'string') return withFlags(write!(time, offset), flags)
    return withFlags(formatTime(type, write, time, offset), flags.replace(/[-_0]/g, ''))
  })
}

/** A civil time with all its digits. */
export const datetimeText = (civil: bigint) =>
  formatTime('DATETIME', '%E4Y-%m-%d %H:%M:%E6S', civilOf(civil), null)

/** As many digits as asked for; with `*` no zeros at the end. */
function fraction(micros: number, digits: string): string {
  const text = String(micros).padStart(6, '0')
  if (digits === '*') return text.replace(/0+$/, '')
  const size = Math.min(Number(digits), mostDigits)
  return text.padEnd(size, '0').slice(0, size)
}

/** The patterns of elements: each stands there once, however often a format has it. */
const readers: Record<string, Piece> = Object.fromEntries(
  Object.entries(elements).flatMap(([name, [, , read]]) => {
    const before = name === '%' ? '' : '\\s*'
    return read ? [[name, pieceOf(`${before}(?:${read.source})`, read.flags)] as const] : []
  }),
)
const blanks = pieceOf('\\s*')

/** The pieces of texts in a format. Throws ValueError for elements that are not read, or that the type does not have. */
const piecesOf = memoize((typeAndFormat): Piece[] => {
  const [, type, format] = /^(\w+) (.*)$/s.exec(typeAndFormat) as unknown as [string, string, string]
  return [...piecesIn(type, format), blanks]
})

const piecePattern = new RegExp(`${elementPattern.source}|(?<blank>\\s+)|(?<sign>[^%\\s]+|%)`, 'gsu')

function piecesIn(type: string, format: string): Piece[] {
  return [...format.matchAll(piecePattern)].flatMap(({ groups }) => {
    const { digits, part, flags, name, alternative, ordinal, blank, sign } = groups as Parts
    if (blank) return [blanks]
    if (sign === '%') throw failed()
    if (sign) return [sign]
    if (part !== undefined) return [secondsWithFraction(type, digits!, part)]
    if (flags) throw failed()
    if (name === 'V') throw new ValueError('A format with a week of the ISO year is not supported')
    const key = name ?? alternative ?? ordinal
    const [has, write] = (Object.hasOwn(elements, key!) && elements[key!]) || []
    if (has === undefined) throw failed()
    allow(type, has)
    if (typeof write === 'string') return piecesIn(type, write)
    if (!readers[key!]) throw failed()
    return [readers[key!]!]
  })
}

/** Throws ValueError for an element that the type does not have. */
export function allow(type: string, has: Has): void {
  if (!types[type]!.includes(has))
    throw new ValueError(`A format for ${type} has an element that a ${type} does not have`)
}

function secondsWithFraction(type: string, digits: string, part: string): Piece {
  if (part === 'f' || Number(digits) > 6) throw failed()
  allow(type, 'time')
  return fractions(digits)
}

/** `%E*S` takes any number of digits, `%E3S` up to three; more than microseconds are cut off. */
const fractions = memoize(digits => {
  const some = digits === '*' ? '+' : `{1,${Number(digits)}}`
  const fraction = Number(digits) === 0 ? '' : `(?:\\.(?<fraction>\\d${some})|(?!\\.))`
  return pieceOf(`\\s*(?<second>\\d{1,2})${fraction}`)
})

/** Reads a text by a format. Throws ValueError where they do not agree, or the type has no such element. */
function parseTime(type: string, format: string, text: string): Parts {
  const parts = partsOf(piecesOf(`${type} ${format}`), text.trimStart())
  if (parts['weekday'] && (parts['week0'] ?? parts['week1']))
    throw new ValueError('A format with a week and a weekday is not supported')
  return parts
}

const epoch = { year: 1970, month: 1 }

const earliest = BigInt(daysSince1970(1, 1, 1)) * microsPerDay
const latest = BigInt(daysSince1970(10_000, 1, 1)) * microsPerDay - 1n

/** The same microseconds since 1970. Throws ValueError outside the years 1 to 9999, as GoogleSQL has them. */
export function inRange(micros: bigint): bigint {
  if (micros < earliest || micros > latest) throw new ValueError('A date or time is out of range')
  return micros
}

/** The UTC time, in microseconds since 1970, of a civil one in the zone that its text has, or else in this one. */
export function timestampOf(parts: Parts, civil: bigint, zone: string): bigint {
  const offset = offsetOf(parts)
  return inRange(offset === null ? utcOf(civil, parts['zone'] ?? zone) : civil - BigInt(offset) * 1_000_000n)
}

export const dateTextFunctions: Record<string, ScalarFunction> = {
  gsql_format: scalar(
    ['VARCHAR', 'VARCHAR', 'BIGINT', 'VARCHAR'],
    'VARCHAR',
    (type, pattern, micros, zone) => {
      const { civil, offset } = civilInZone(inRange(micros), zone)
      return formatTime(type, pattern, civilOf(civil), offset)
    },
  ),
  gsql_parse: scalar(['VARCHAR', 'VARCHAR', 'VARCHAR', 'VARCHAR'], 'BIGINT', (type, pattern, text, zone) => {
    const parts = parseTime(type, pattern, text)
    const civil = civilFrom(parts, epoch)
    return parts['epoch'] === undefined ? timestampOf(parts, civil, zone) : inRange(civil)
  }),
}
