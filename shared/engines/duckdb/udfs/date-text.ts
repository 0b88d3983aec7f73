/**
 * FORMAT_* and PARSE_* of dates and times, by the elements of
 * https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements#format_elements_date_time.
 * Dates and times travel as the microseconds since 1970 that clocks show (`civil`).
 */
import { dateOf } from '../../calendar.ts'
import { remembered, scalar, type ScalarFunction, ValueError } from './udf.ts'
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

export const weekdays = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
export const months =
  'January February March April May June July August September October November December'.split(' ')

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
export const hour12 = (hour: number) => ((hour + 11) % 12) + 1

/** Seconds that a civil time is ahead of UTC; null for one without a zone. */
type Offset = number | null

/** Which types have an element: those with a date, with a time of day, with a zone. */
type Has = 'date' | 'time' | 'both' | 'zone' | 'any'

const types: Record<string, Has[]> = {
  DATE: ['date', 'any'],
  TIME: ['time', 'any'],
  DATETIME: ['date', 'time', 'both', 'any'],
  TIMESTAMP: ['date', 'time', 'both', 'zone', 'any'],
}

type Writer = (time: Civil, offset: Offset) => string

const written: Record<string, [Has, Writer | string]> = {
  A: ['date', ({ weekday }) => weekdays[weekday]!],
  a: ['date', ({ weekday }) => weekdays[weekday]!.slice(0, 3)],
  B: ['date', ({ month }) => months[month - 1]!],
  b: ['date', ({ month }) => months[month - 1]!.slice(0, 3)],
  C: ['date', ({ year }) => String(Math.floor(year / 100))],
  c: ['both', '%a %b %e %H:%M:%S %Y'],
  D: ['date', '%m/%d/%y'],
  d: ['date', ({ day }) => two(day)],
  e: ['date', ({ day }) => spaced(day)],
  F: ['date', '%Y-%m-%d'],
  G: ['date', time => String(isoWeek(time).year)],
  g: ['date', time => two(isoWeek(time).year % 100)],
  H: ['time', ({ hour }) => two(hour)],
  h: ['date', '%b'],
  I: ['time', ({ hour }) => two(hour12(hour))],
  j: ['date', ({ dayOfYear }) => String(dayOfYear).padStart(3, '0')],
  k: ['time', ({ hour }) => spaced(hour)],
  l: ['time', ({ hour }) => spaced(hour12(hour))],
  M: ['time', ({ minute }) => two(minute)],
  m: ['date', ({ month }) => two(month)],
  n: ['any', () => '\n'],
  P: ['time', ({ hour }) => (hour < 12 ? 'am' : 'pm')],
  p: ['time', ({ hour }) => (hour < 12 ? 'AM' : 'PM')],
  Q: ['date', ({ month }) => String(Math.ceil(month / 3))],
  R: ['time', '%H:%M'],
  r: ['time', '%I:%M:%S %p'],
  S: ['time', ({ second }) => two(second)],
  s: ['both', ({ civil }, offset) => String(floored(civil, 1_000_000n) - BigInt(offset ?? 0))],
  T: ['time', '%H:%M:%S'],
  t: ['any', () => '\t'],
  U: ['date', time => two(weekOf(time, 0))],
  u: ['date', ({ weekday }) => String(weekday || 7)],
  V: ['date', time => two(isoWeek(time).week)],
  W: ['date', time => two(weekOf(time, 1))],
  w: ['date', ({ weekday }) => String(weekday)],
  X: ['time', '%H:%M:%S'],
  x: ['date', '%m/%d/%y'],
  Y: ['date', ({ year }) => String(year)],
  y: ['date', ({ year }) => two(year % 100)],
  Z: ['zone', (_, offset) => zoneName(offset!)],
  z: ['zone', (_, offset) => zoneOffset(offset!, '')],
  ':z': ['zone', (_, offset) => zoneOffset(offset!, ':')],
  E4Y: ['date', ({ year }) => String(year).padStart(4, '0')],
  Ez: ['zone', (_, offset) => zoneOffset(offset!, ':')],
  EZ: ['zone', () => 'UTC'],
  '%': ['any', () => '%'],
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

/** Most digits of a fraction that are written. */
const mostDigits = 18

/** A civil time in a format of GoogleSQL; elements that the type does not have stay as they are. */
function formatted(type: string, format: string, time: Civil, offset: Offset): string {
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
    const [has, write] = (Object.hasOwn(written, name!) && written[name!]) || []
    if (has === undefined || !types[type]!.includes(has)) return all
    const flags = groups['flags'] ?? ''
    if (typeof write !== 'string') return withFlags(write!(time, offset), flags)
    return withFlags(formatted(type, write, time, offset), flags.replace(/[-_0]/g, ''))
  })
}

/** A civil time with all its digits. */
export const datetimeText = (civil: bigint) =>
  formatted('DATETIME', '%E4Y-%m-%d %H:%M:%E6S', civilOf(civil), null)

/** As many digits as asked for; with `*` no zeros at the end. */
function fraction(micros: number, digits: string): string {
  const text = String(micros).padStart(6, '0')
  if (digits === '*') return text.replace(/0+$/, '')
  const size = Math.min(Number(digits), mostDigits)
  return text.padEnd(size, '0').slice(0, size)
}

// ---- from text

/** What the elements of a format found. */
interface Parsed {
  year: number
  month: number
  day: number
  hour: number
  halfDay: boolean
  afternoon: boolean
  minute: number
  second: number
  micros: number
  century: number | null
  shortYear: number | null
  dayOfYear: number | null
  week: { number: number; start: 0 | 1 } | null
  weekday: boolean
  epoch: bigint | null
  offset: number | null
  zone: string | null
}

const failed = () => new ValueError('A date or time does not have the format given')

/** Reads a text from the left. */
class Reader {
  readonly text: string
  at = 0

  constructor(text: string) {
    this.text = text
  }

  blanks(): void {
    for (; this.at < this.text.length; this.at++) {
      const sign = this.text[this.at]!
      if ((sign > ' ' && sign < '\u007f') || !/\s/.test(sign)) return
    }
  }

  /** What a sticky pattern matches here. Throws ValueError if it does not. */
  take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [found] = pattern.exec(this.text) ?? []
    if (found === undefined) throw failed()
    this.at += found.length
    return found
  }

  number(pattern: RegExp, least: number, most: number): number {
    this.blanks()
    const value = Number(this.take(pattern))
    if (value < least || value > most) throw failed()
    return value
  }

  /** Which of some names stands here, whole or as its first three letters. */
  name(names: string[]): number {
    this.blanks()
    const rest = this.text.slice(this.at, this.at + 12).toLowerCase()
    const at = names.findIndex(name => rest.startsWith(name.slice(0, 3).toLowerCase()))
    if (at < 0) throw failed()
    this.at += rest.startsWith(names[at]!.toLowerCase()) ? names[at]!.length : 3
    return at
  }
}

const one = /\d/y
const upTo2 = /\d{1,2}/y
const upTo3 = /\d{1,3}/y
const upTo4 = /\d{1,4}/y
const exactly4 = /\d{4}/y

type Rule = (reader: Reader, parsed: Parsed) => void

const shortYear: Rule = (reader, parsed) => {
  parsed.shortYear = reader.number(upTo2, 0, 99)
}
const wholeYear: Rule = (reader, parsed) => {
  parsed.year = reader.number(upTo4, 0, 9999)
  parsed.shortYear = null
  parsed.century = null
}
const dayOfMonth: Rule = (reader, parsed) => {
  parsed.day = reader.number(upTo2, 1, 31)
}
const hourOf24: Rule = (reader, parsed) => {
  parsed.hour = reader.number(upTo2, 0, 23)
  parsed.halfDay = false
}
const hourOf12: Rule = (reader, parsed) => {
  parsed.hour = reader.number(upTo2, 1, 12) % 12
  parsed.halfDay = true
}
const halfOfDay: Rule = (reader, parsed) => {
  reader.blanks()
  parsed.afternoon = /p/i.test(reader.take(/[ap]m/iy))
}
const monthName: Rule = (reader, parsed) => {
  parsed.month = reader.name(months) + 1
}
const weekdayName: Rule = (reader, parsed) => {
  reader.name(weekdays)
  parsed.weekday = true
}
const week =
  (start: 0 | 1): Rule =>
  (reader, parsed) => {
    parsed.week = { number: reader.number(upTo2, 0, 53), start }
  }
const zone =
  (pattern: RegExp): Rule =>
  (reader, parsed) => {
    reader.blanks()
    parsed.offset = offsetOf(reader.take(pattern))
  }

/** Seconds of `+0530`, `+05:30`, `+05` or `Z`. */
function offsetOf(text: string): number {
  if (text === 'Z') return 0
  const [, sign, hours, minutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(text)!
  if (60 * Number(hours) + Number(minutes) > 14 * 60 || Number(minutes) > 59) throw failed()
  return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60)
}

const read: Record<string, [Has, Rule | string]> = {
  A: ['date', weekdayName],
  a: ['date', weekdayName],
  B: ['date', monthName],
  b: ['date', monthName],
  C: ['date', (reader, parsed) => (parsed.century = reader.number(upTo2, 0, 99))],
  c: ['both', '%a %b %e %H:%M:%S %Y'],
  D: ['date', '%m/%d/%y'],
  d: ['date', dayOfMonth],
  e: ['date', dayOfMonth],
  F: ['date', '%Y-%m-%d'],
  G: ['date', wholeYear],
  g: ['date', shortYear],
  H: ['time', hourOf24],
  h: ['date', monthName],
  I: ['time', hourOf12],
  j: ['date', (reader, parsed) => (parsed.dayOfYear = reader.number(upTo3, 1, 366))],
  k: ['time', hourOf24],
  l: ['time', hourOf12],
  M: ['time', (reader, parsed) => (parsed.minute = reader.number(upTo2, 0, 59))],
  m: ['date', (reader, parsed) => (parsed.month = reader.number(upTo2, 1, 12))],
  n: ['any', reader => reader.blanks()],
  P: ['time', halfOfDay],
  p: ['time', halfOfDay],
  Q: ['date', (reader, parsed) => (parsed.month = 3 * reader.number(one, 1, 4) - 2)],
  R: ['time', '%H:%M'],
  r: ['time', '%I:%M:%S %p'],
  S: ['time', (reader, parsed) => (parsed.second = reader.number(upTo2, 0, 60))],
  s: [
    'both',
    (reader, parsed) => {
      reader.blanks()
      parsed.epoch = BigInt(reader.take(/-?\d{1,18}/y))
    },
  ],
  T: ['time', '%H:%M:%S'],
  t: ['any', reader => reader.blanks()],
  U: ['date', week(0)],
  u: [
    'date',
    (reader, parsed) => {
      reader.number(one, 1, 7)
      parsed.weekday = true
    },
  ],
  W: ['date', week(1)],
  w: [
    'date',
    (reader, parsed) => {
      reader.number(one, 0, 6)
      parsed.weekday = true
    },
  ],
  X: ['time', '%H:%M:%S'],
  x: ['date', '%m/%d/%y'],
  Y: ['date', wholeYear],
  y: ['date', shortYear],
  Z: [
    'zone',
    (reader, parsed) => {
      reader.blanks()
      parsed.zone = reader.take(/[A-Za-z0-9_/+:-]+/y)
    },
  ],
  z: ['zone', zone(/[+-]\d\d(?:\d\d)?/y)],
  E4Y: [
    'date',
    (reader, parsed) => {
      reader.blanks()
      parsed.year = Number(reader.take(exactly4))
    },
  ],
  Ez: ['zone', zone(/[+-]\d\d(?::?\d\d)?|Z/y)],
  '%': ['any', reader => void reader.take(/%/y)],
}

/** Reads a text by a format. Throws ValueError where they do not agree, or the type has no such element. */
function parsed(type: string, format: string, text: string): Parsed {
  const reader = new Reader(text)
  const found: Parsed = {
    year: 1970,
    month: 1,
    day: 1,
    hour: 0,
    halfDay: false,
    afternoon: false,
    minute: 0,
    second: 0,
    micros: 0,
    century: null,
    shortYear: null,
    dayOfYear: null,
    week: null,
    weekday: false,
    epoch: null,
    offset: null,
    zone: null,
  }
  reader.blanks()
  apply(type, format, reader, found)
  reader.blanks()
  if (reader.at < text.length) throw failed()
  if (found.week && found.weekday) throw new ValueError('A format with a week and a weekday is not supported')
  return found
}

/** A part of a format: an element, white space, or a character that stands for itself. */
type Piece = Record<string, string | undefined> | string

const piecesOf = remembered((format): Piece[] => {
  const pieces: Piece[] = []
  for (let at = 0; at < format.length;) {
    elementPattern.lastIndex = at
    const match = format[at] === '%' ? elementPattern.exec(format) : null
    const sign = String.fromCodePoint(format.codePointAt(at)!)
    const element = match?.index === at ? match : null
    pieces.push(element ? element.groups! : /^\s$/.test(sign) ? ' ' : sign)
    at += element ? element[0].length : sign.length
  }
  return pieces
})

function apply(type: string, format: string, reader: Reader, found: Parsed): void {
  for (const piece of piecesOf(format)) {
    if (typeof piece !== 'string') applyElement(type, piece, reader, found)
    else if (piece === ' ') reader.blanks()
    else if (piece !== '%' && reader.text.startsWith(piece, reader.at)) reader.at += piece.length
    else throw failed()
  }
}

function applyElement(
  type: string,
  { digits, part, flags, name, alternative, ordinal }: Record<string, string | undefined>,
  reader: Reader,
  found: Parsed,
): void {
  if (part !== undefined) {
    if (part === 'f') throw failed()
    allow(type, 'time')
    return secondsWithFraction(digits!, reader, found)
  }
  if (flags) throw failed()
  if (name === 'V') throw new ValueError('A format with a week of the ISO year is not supported')
  const key = name ?? alternative ?? ordinal
  const [has, rule] = (Object.hasOwn(read, key!) && read[key!]) || []
  if (rule === undefined) throw failed()
  allow(type, has!)
  if (typeof rule === 'string') apply(type, rule, reader, found)
  else rule(reader, found)
}

function allow(type: string, has: Has): void {
  if (!types[type]!.includes(has))
    throw new ValueError(`A format for ${type} has an element that a ${type} does not have`)
}

/** `%E*S` takes any number of digits, `%E3S` up to three; more than microseconds are cut off. */
function secondsWithFraction(digits: string, reader: Reader, found: Parsed): void {
  if (digits !== '*' && Number(digits) > 6) throw failed()
  found.second = reader.number(upTo2, 0, 60)
  const some = digits === '*' ? '+' : `{1,${digits}}`
  if (digits === '0' || reader.text[reader.at] !== '.') return
  const text = reader.take(new RegExp(`\\.\\d${some}`, 'y'))
  found.micros = found.second === 60 ? 0 : Number(text.slice(1, 7).padEnd(6, '0'))
}

/** The civil time, in microseconds since 1970. Throws ValueError for one that is on no calendar. */
function civilTime(found: Parsed): bigint {
  if (found.epoch !== null) return found.epoch * 1_000_000n
  const { century, shortYear, dayOfYear, week, month, day } = found
  const inCentury = shortYear ?? 0
  const assumed = shortYear === null ? found.year : shortYear + (shortYear < 69 ? 2000 : 1900)
  const year = century === null ? assumed : century * 100 + inCentury
  const first = daysSince1970(year, 1, 1)
  let days = daysSince1970(year, month, day)
  if (new Date(days * 86_400_000).getUTCDate() !== day) throw new ValueError('A date is out of range')
  if (dayOfYear !== null) {
    if (dayOfYear > daysSince1970(year + 1, 1, 1) - first) throw new ValueError('A date is out of range')
    days = first + dayOfYear - 1
  }
  // 1970 began on a Thursday.
  if (week) days = first + ((week.start - ((((first + 4) % 7) + 7) % 7) + 7) % 7) + 7 * (week.number - 1)
  const hour = found.hour + (found.halfDay && found.afternoon ? 12 : 0)
  const seconds = hour * 3600 + found.minute * 60 + found.second
  return BigInt(days) * microsPerDay + BigInt(seconds) * 1_000_000n + BigInt(found.micros)
}

const earliest = BigInt(daysSince1970(1, 1, 1)) * microsPerDay
const latest = BigInt(daysSince1970(10_000, 1, 1)) * microsPerDay - 1n

/** The same microseconds since 1970. Throws ValueError outside the years 1 to 9999, as GoogleSQL has them. */
export function inRange(micros: bigint): bigint {
  if (micros < earliest || micros > latest) throw new ValueError('A date or time is out of range')
  return micros
}

/** A UTC time in microseconds since 1970. */
function timestamp(format: string, text: string, zone: string): bigint {
  const found = parsed('TIMESTAMP', format, text)
  const civil = civilTime(found)
  if (found.epoch !== null) return inRange(civil)
  if (found.offset !== null) return inRange(civil - BigInt(found.offset) * 1_000_000n)
  return inRange(utcOf(civil, found.zone ?? zone))
}

const formatting = (type: string) =>
  scalar(['VARCHAR', 'BIGINT'], 'VARCHAR', (pattern, civil) =>
    formatted(type, pattern, civilOf(inRange(civil)), null),
  )

const parsing = (type: string) =>
  scalar(['VARCHAR', 'VARCHAR'], 'BIGINT', (pattern, text) => inRange(civilTime(parsed(type, pattern, text))))

export const dateTextFunctions: Record<string, ScalarFunction> = {
  gsql_format_date: formatting('DATE'),
  gsql_format_datetime: formatting('DATETIME'),
  gsql_format_time: formatting('TIME'),
  gsql_format_timestamp: scalar(['VARCHAR', 'BIGINT', 'VARCHAR'], 'VARCHAR', (pattern, micros, zone) => {
    const { civil, offset } = civilInZone(micros, zone)
    return formatted('TIMESTAMP', pattern, civilOf(civil), offset)
  }),
  gsql_parse_date: parsing('DATE'),
  gsql_parse_datetime: parsing('DATETIME'),
  gsql_parse_time: parsing('TIME'),
  gsql_parse_timestamp: scalar(['VARCHAR', 'VARCHAR', 'VARCHAR'], 'BIGINT', timestamp),
}
