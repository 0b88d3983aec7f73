/**
 * CAST ... FORMAT, by the elements of
 * https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements#format_clause: dates and times to and from
 * text, and numbers to text.
 */
import {
  allow,
  type Civil,
  civilOf,
  civilFrom,
  inRange,
  monthName,
  partsOf,
  type Piece as DatePiece,
  pieceOf,
  timestampOf,
  writer,
  zoneOffset,
} from './date-text.ts'
import { fixedDecimal, fixedFloat } from './numeric.ts'
import { memoize, scalar, type ScalarFunction, ValueError } from './udf.ts'
import { civilInZone } from './time-zones.ts'

// ---- dates and times

const dateElement =
  /(YYYY|YYY|YY|Y(?!,YYY)|RRRR|RR|MONTH|MON|MM|MI|DAY|DDD|DD|DY|D|HH24|HH12|HH|SSSSS|SS|FF[1-9]|[AP]M|[AP]\.M\.|TZH|TZM)|"((?:[^"\\]|\\["\\])*)"|([-./,';:])|( +)/iy

interface Piece {
  /** In capitals; empty for plain text. */
  element: string
  /** As written, or the text itself. */
  text: string
}

/** Throws ValueError for an element that there is not, or that the type does not have. */
function pieces(type: string, model: string): Piece[] {
  const found: Piece[] = []
  for (let at = 0; at < model.length; at = dateElement.lastIndex) {
    dateElement.lastIndex = at
    const match = dateElement.exec(model)
    if (!match) throw new ValueError('A format has an element that is not supported')
    const [, element, quoted, sign, blanks] = match
    if (element !== undefined) {
      const name = element.toUpperCase()
      allow(type, kindOf(name))
      found.push({ element: name, text: element })
    } else found.push({ element: '', text: quoted?.replace(/\\(.)/g, '$1') ?? sign ?? blanks! })
  }
  return found
}

function kindOf(element: string) {
  if (element.startsWith('TZ')) return 'zone'
  return /^(HH|MI$|SS|FF|[AP]\.?M)/.test(element) ? 'time' : 'date'
}

const padded = (value: number, digits: number) => String(value).padStart(digits, '0')

/** In capitals, or with one, or in small letters, as the element is written. */
function applyCase(text: string, element: string): string {
  if (/^[a-z]/.test(element)) return text.toLowerCase()
  return /^.[a-z]/.test(element) ? text : text.toUpperCase()
}

/** How an element is written, as one of FORMAT_* or by itself, and how it is read, where it is. */
const elements: Record<string, [write: (time: Civil, offset: number) => string, read?: string]> = {
  YYYY: [writer('E4Y'), '(?<year>\\d{1,4})'],
  RRRR: [writer('E4Y'), '(?<year>\\d{1,4})'],
  YYY: [({ year }) => padded(year % 1000, 3), '(?<year3>\\d{1,3})'],
  YY: [writer('y'), '(?<year2>\\d{1,2})'],
  RR: [writer('y'), '(?<rounded>\\d{1,2})'],
  Y: [({ year }) => String(year % 10), '(?<year1>\\d)'],
  MM: [writer('m'), '(?<month>\\d{1,2})'],
  MON: [writer('b'), monthName],
  MONTH: [writer('B'), monthName],
  DDD: [writer('j')],
  DD: [writer('d'), '(?<day>\\d{1,2})'],
  D: [({ weekday }) => String(weekday + 1)],
  DAY: [writer('A')],
  DY: [writer('a')],
  HH: [writer('I'), '(?<hour12>\\d{1,2})'],
  HH12: [writer('I'), '(?<hour12>\\d{1,2})'],
  HH24: [writer('H'), '(?<hour>\\d{1,2})'],
  MI: [writer('M'), '(?<minute>\\d{1,2})'],
  SS: [writer('S'), '(?<second>[0-5]\\d|\\d(?!\\d))'],
  SSSSS: [
    ({ hour, minute, second }) => padded(hour * 3600 + minute * 60 + second, 5),
    '(?<secondOfDay>\\d{1,5})',
  ],
  AM: [writer('p'), '(?<half>[ap]m)'],
  PM: [writer('p'), '(?<half>[ap]m)'],
  'A.M.': [({ hour }) => (hour < 12 ? 'A.M.' : 'P.M.'), '(?<half>[ap]\\.m\\.)'],
  'P.M.': [({ hour }) => (hour < 12 ? 'A.M.' : 'P.M.'), '(?<half>[ap]\\.m\\.)'],
  TZH: [(_, offset) => zoneOffset(offset, ':').slice(0, 3), '(?<zoneSign>[ +-])(?<zoneHours>\\d{1,2})'],
  TZM: [(_, offset) => zoneOffset(offset, ':').slice(4), '(?<zoneMinutes>\\d{1,2})'],
}
for (let digits = 1; digits <= 9; digits++)
  elements[`FF${digits}`] = [
    ({ micros }) => padded(micros, 6).padEnd(9, '0').slice(0, digits),
    `(?<fraction>\\d{1,${digits}})`,
  ]

function timeText(type: string, model: string, time: Civil, offset: number): string {
  return pieces(type, model)
    .map(({ element, text }) =>
      element === '' ? text : applyCase(elements[element]![0](time, offset), text),
    )
    .join('')
}

/** What a text in small letters is expected to have. Throws ValueError for elements that are not read. */
const piecesOf = memoize((typeAndModel): DatePiece[] => {
  const [, type, model] = /^(\w+) (.*)$/s.exec(typeAndModel) as unknown as [string, string, string]
  return pieces(type, model).map(({ element, text }) => {
    if (element === '') return /^ +$/.test(text) ? blanks : text.toLowerCase()
    const read = elements[element]![1]
    if (read === undefined)
      throw new ValueError('A format has an element that only dates and times to text have')
    return reader(read)
  })
})

const blanks = pieceOf(' +')
const reader = memoize(read => pieceOf(read, 'i'))

const read = (type: string, model: string, text: string) =>
  partsOf(piecesOf(`${type} ${model}`), text.trim().toLowerCase())

// ---- numbers

const numberModel =
  /^(?<compact>FM)?(?<front>B?S?B?[$LC]?B?)(?<whole>[09X,G]*)(?<point>[.DV]?)(?<fraction>[09]*)(?<middle>[$LC]?)(?<exponent>EEEE)?(?<end>[$LC]?)(?<sign>S|MI|PR)?(?<last>B?)$/

const currencies: Record<string, string> = { $: '$', L: '$', C: 'USD' }

type NumberModel = ReturnType<typeof numberModelOf>

/** A model of a number, taken apart. Throws ValueError for an invalid model. */
function numberModelOf(text: string) {
  const groups = numberModel.exec(text.toUpperCase())?.groups
  const { front = '', whole = '', point = '', fraction = '', exponent, sign } = groups ?? {}
  const currency = `${front}${groups?.['middle']}${groups?.['end']}`.replaceAll(/[^$LC]/g, '')
  const isFirst = front.includes('S')
  const isHex = whole.includes('X')
  const faults = [
    !/[09X]/.test(whole + fraction),
    currency.length > 1,
    isFirst && sign,
    isHex && (whole.includes('9') || point || exponent),
    exponent && /[,G]/.test(whole),
  ]
  if (!groups || faults.some(Boolean))
    throw new ValueError('A format of numbers has an element that is not supported in its place')
  const multiplied = point === 'V'
  return {
    /** `X`, `0` and `9` before the point, with its commas. */
    whole: whole.replaceAll('G', ',') + (multiplied ? fraction : ''),
    /** Digits after the point. */
    fraction: multiplied ? '' : fraction,
    point: point && !multiplied ? '.' : '',
    /** The number times ten to this power is written. */
    shift: multiplied ? fraction.length : 0,
    currency: currencies[currency] ?? '',
    sign: isFirst ? 'S first' : sign === 'S' ? 'S last' : (sign ?? 'leading'),
    compact: Boolean(groups['compact']),
    blank: `${front}${groups['last']}`.includes('B'),
    exponent: Boolean(exponent),
    hex: isHex ? (text.includes('x') ? 'x' : 'X') : null,
  }
}

/** A number that can be written with any number of digits after the point. */
interface Digits {
  negative: boolean
  /** `NAN` or `INF`. */
  special: string | null
  /** The absolute value times ten to the power of `shift`, rounded. */
  fixed(digits: number, shift: number): string
}

function numberText(text: string, number: Digits): string {
  const model = numberModelOf(text)
  const body = number.special
    ? specialText(model, number.special)
    : model.exponent
      ? scientific(model, number)
      : placeDigits(model, number)
  const width = model.whole.length + model.fraction.length + model.point.length + (model.exponent ? 4 : 0)
  const empty = model.blank && number.special === null && /^[0,]*([.]|$)/.test(body)
  return addSign(model, empty ? '' : body, width, number, empty)
}

function specialText(model: NumberModel, special: string): string {
  if (model.exponent) return special
  const places = model.whole.replaceAll(/[^,]/g, '#')
  const behind = model.point.length + model.fraction.length
  if (places.length < special.length) return `${places}${model.point}${'#'.repeat(model.fraction.length)}`
  return special + ' '.repeat(model.compact ? 0 : behind)
}

/** The digits in their places, without spaces before them; `#` in each place where the number is too large. */
function placeDigits(model: NumberModel, number: Digits): string {
  const decimal = number.fixed(model.fraction.length, model.shift)
  const [wholePart, fraction = ''] = decimal.split('.') as [string, string?]
  const hex = model.hex && BigInt(wholePart).toString(16)
  let digits = hex ? (model.hex === 'X' ? hex.toUpperCase() : hex) : wholePart
  const places = model.whole.replaceAll(',', '')
  if (digits === '0' && (places === '' || (model.point && fraction !== '' && !places.includes('0'))))
    digits = ''
  if (digits.length > places.length) {
    return `${model.whole.replaceAll(/[^,]/g, '#')}${model.point}${'#'.repeat(model.fraction.length)}`
  }
  const zeros = places.includes('0') ? places.length - places.indexOf('0') : 0
  const shown = model.compact ? fraction.replace(/0+$/, '') : fraction
  const filled = digits === '' && shown === '' && places !== '' ? '0' : digits.padStart(zeros, '0')
  return withCommas(model.whole, filled) + model.point + shown
}

/** Commas stand where the model has them, if a digit stands before. */
function withCommas(whole: string, digits: string): string {
  let left = digits
  let text = ''
  for (const place of whole.split('').reverse()) {
    if (left === '') break
    text = (place === ',' ? ',' : left.at(-1)!) + text
    if (place !== ',') left = left.slice(0, -1)
  }
  return text
}

/** One digit before the point, and an exponent of two digits at least. */
function scientific(model: NumberModel, number: Digits): string {
  const digits = model.fraction.length
  let exponent = leadingPower(number)
  let mantissa = number.fixed(digits, -exponent)
  if (mantissa.startsWith('10')) mantissa = number.fixed(digits, -++exponent)
  const point = model.point && !mantissa.includes('.') ? '.' : ''
  const size = String(Math.abs(exponent)).padStart(2, '0')
  return `${mantissa}${point}E${exponent < 0 ? '-' : '+'}${size}`
}

/** The power of ten of the first digit that is not zero; 0 for zero. */
function leadingPower(number: Digits): number {
  const text = number.fixed(400, 0)
  const [whole, fraction] = text.split('.') as [string, string]
  if (whole !== '0') return whole.length - 1
  const at = fraction.search(/[1-9]/)
  return at < 0 ? 0 : -at - 1
}

/** The sign at its place, and spaces up to the width of the model. */
function addSign(model: NumberModel, body: string, width: number, number: Digits, empty: boolean): string {
  const { negative } = number
  const plus = number.special === 'NAN' ? ' ' : '+'
  const marks: Record<string, [before: string, behind: string]> = {
    leading: [negative ? '-' : ' ', ''],
    'S first': [negative ? '-' : plus, ''],
    'S last': ['', negative ? '-' : plus],
    MI: ['', negative ? '-' : ' '],
    PR: negative ? ['<', '>'] : [' ', ' '],
  }
  const [mark, end] = marks[model.sign]!
  const total = width + model.currency.length + mark.length
  if (empty) return ' '.repeat(total + end.length)
  const text = `${mark}${model.currency}${body}`
  return model.compact ? `${text.trimStart()}${end.trimEnd()}` : `${text.padStart(total, ' ')}${end}`
}

function ofFloat(value: number): Digits {
  const special = Number.isNaN(value) ? 'NAN' : Number.isFinite(value) ? null : 'INF'
  const size = Math.abs(value)
  return { negative: value < 0, special, fixed: (digits, shift) => fixedFloat(size, digits, shift) }
}

function ofDecimal(text: string): Digits {
  const size = text.replace(/^-/, '')
  return {
    negative: text.startsWith('-'),
    special: null,
    fixed: (digits, shift) => fixedDecimal(size, digits, shift),
  }
}

// ---- bytes

/** Of the last four letters one or two may be left out, or stand as `=`. */
const base64 =
  /^\s*(?:(?:[A-Za-z\d+/]\s*){4})*(?:(?:[A-Za-z\d+/]\s*){2}(?:(?:=\s*){2})?|(?:[A-Za-z\d+/]\s*){3}(?:=\s*)?)?$/
/** By the format: the texts that have it, and how Node names it. */
const encodings: Record<string, [shape: RegExp, encoding: BufferEncoding]> = {
  ...Object.fromEntries(['HEX', 'BASE16'].map(name => [name, [/^[\da-f]*$/i, 'hex']])),
  ...Object.fromEntries(['BASE64', 'BASE64M'].map(name => [name, [base64, 'base64']])),
  ...Object.fromEntries(['UTF-8', 'UTF8'].map(name => [name, [/^/, 'utf8']])),
  // oxlint-disable-next-line no-control-regex -- that is ASCII
  ASCII: [/^[\0-\u007f]*$/, 'utf8'],
  BASE2: [/^[01]*$/, 'binary'],
}

function encodingOf(format: string): [shape: RegExp, encoding: BufferEncoding] {
  const name = format.toUpperCase()
  if (Object.hasOwn(encodings, name)) return encodings[name]!
  throw new ValueError('Bytes have the formats HEX, BASE2, BASE64, ASCII and UTF-8')
}

/** Throws ValueError for a format that bytes do not have, and for bytes that are not of it. */
function bytesText(format: string, bytes: Uint8Array): string {
  const [shape, encoding] = encodingOf(format)
  if (encoding === 'binary') return [...bytes].map(byte => byte.toString(2).padStart(8, '0')).join('')
  const text = Buffer.from(bytes).toString(encoding)
  const isText = encoding !== 'utf8' || Buffer.from(text).equals(bytes)
  if (!isText || !shape.test(text)) throw new ValueError(`Bytes are not ${format.toUpperCase()}`)
  return text
}

function bytesOf(format: string, text: string): Uint8Array {
  const [shape, encoding] = encodingOf(format)
  if (!shape.test(text)) throw new ValueError(`Text is not ${format.toUpperCase()}`)
  if (encoding === 'hex') return Buffer.from(text.length % 2 ? `0${text}` : text, encoding)
  if (encoding !== 'binary') return Buffer.from(text, encoding)
  const bits = text.padStart(Math.ceil(text.length / 8) * 8, '0')
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], byte => parseInt(byte, 2))
}

export const formatModelFunctions: Record<string, ScalarFunction> = {
  gsql_format_model: scalar(
    ['VARCHAR', 'VARCHAR', 'BIGINT', 'VARCHAR'],
    'VARCHAR',
    (type, model, micros, zone) => {
      const { civil, offset } = civilInZone(micros, zone)
      return timeText(type, model, civilOf(civil), offset)
    },
  ),
  gsql_parse_model: scalar(
    ['VARCHAR', 'VARCHAR', 'VARCHAR', 'BIGINT', 'VARCHAR'],
    'BIGINT',
    (type, model, text, now, zone) => {
      const parts = read(type, model, text)
      return timestampOf(parts, inRange(civilFrom(parts, civilOf(civilInZone(now, zone).civil))), zone)
    },
  ),
  gsql_cast_float_text: scalar(['VARCHAR', 'DOUBLE'], 'VARCHAR', (model, value) =>
    numberText(model, ofFloat(value)),
  ),
  gsql_cast_decimal_text: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (model, text) =>
    numberText(model, ofDecimal(text)),
  ),
  gsql_cast_bytes_text: scalar(['VARCHAR', 'BLOB'], 'VARCHAR', bytesText),
  gsql_cast_text_bytes: scalar(['VARCHAR', 'VARCHAR'], 'BLOB', bytesOf),
}
