/** Values of the type JSON: parsed strictly, changed, and written as GoogleSQL does, with keys in order and numbers normalised. */
import { remembered, scalar, type ScalarFunction, ValueError } from './udf.ts'

/** A number keeps its text in canonical form: an integer of 64 bits, or the shortest digits of a FLOAT64. */
class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Json = null | boolean | string | JsonNumber | Json[] | JsonObject
type JsonObject = Map<string, Json>

/** A key or an index. */
type Step = string | number

/** How deep BigQuery's JSON values nest. */
const deepest = 500

const between = /[ \t\n\r,:]*/y
const word = /[\w.+-]*/y

/** Reads text that is JSON: where the next value begins is never in doubt. */
class Reader {
  private readonly text: string
  private readonly rounds: boolean
  private at = 0

  constructor(text: string, rounds: boolean) {
    this.text = text
    this.rounds = rounds
  }

  value(depth = 0): Json {
    if (depth > deepest) throw new ValueError('A JSON value is too deep')
    const sign = this.next()
    if (sign === '[') return [...this.until(']', () => this.value(depth + 1))]
    if (sign === '{') return this.object(depth)
    if (sign === '"') return this.string()
    const text = this.take(word)
    if (/^[tfn]/.test(text)) return text === 'null' ? null : text === 'true'
    return new JsonNumber(canonicalNumber(text, this.rounds))
  }

  /** Of two equal keys the first counts. */
  private object(depth: number): JsonObject {
    const fields: JsonObject = new Map()
    const all = this.until('}', () => [this.string(), this.value(depth + 1)] as const)
    for (const [name, value] of all) if (!fields.has(name)) fields.set(name, value)
    return fields
  }

  private *until<Item>(end: string, item: () => Item): Generator<Item> {
    this.at++
    while (this.next() !== end) yield item()
    this.at++
  }

  /** Not by a pattern: a long string would take as much of the stack. */
  private string(): string {
    const start = this.at
    for (let end = this.text.indexOf('"', start + 1); ; end = this.text.indexOf('"', end + 1)) {
      let escapes = 0
      while (this.text[end - 1 - escapes] === '\\') escapes++
      if (escapes % 2 > 0) continue
      this.at = end + 1
      const value = JSON.parse(this.text.slice(start, this.at)) as string
      if (value.isWellFormed()) return value
      throw notJson()
    }
  }

  /** The sign with which the next value, key or end begins. */
  private next(): string | undefined {
    this.take(between)
    return this.text[this.at]
  }

  private take(pattern: RegExp): string {
    pattern.lastIndex = this.at
    const [text] = pattern.exec(this.text)!
    this.at = pattern.lastIndex
    return text
  }
}

const notJson = () => new ValueError('A value is not JSON')

/** Throws ValueError for a number beyond FLOAT64, and unless `rounds` for one that a FLOAT64 does not hold exactly. */
function canonicalNumber(text: string, rounds: boolean): string {
  if (/^-?\d+$/.test(text)) {
    const value = BigInt(text)
    if (value >= -(2n ** 63n) && value < 2n ** 64n) return String(value)
  }
  const value = Number(text)
  if (!Number.isFinite(value)) throw notJson()
  const canonical = floatText(value)
  if (!rounds && significant(canonical) !== significant(text))
    throw new ValueError('A number in JSON has too many digits')
  return canonical
}

/** Digits without zeros around them, and the power of ten of the last one: equal for equal numbers. */
function significant(text: string): string {
  const [, sign, whole, fraction = '', exponent = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(
    text,
  )!
  const digits = `${whole}${fraction}`.replace(/^0+/, '')
  const kept = digits.replace(/0+$/, '')
  if (kept === '') return '0'
  return `${sign}${kept}e${Number(exponent) - fraction.length + digits.length - kept.length}`
}

/** As the reference writes it: with a point or an exponent, which has two digits at least. */
function floatText(value: number): string {
  if (Object.is(value, -0)) return '-0.0'
  const [, sign, first, rest = '', power] = /^(-?)(\d)(?:\.(\d+))?e([+-]\d+)$/.exec(value.toExponential())!
  const digits = `${first}${rest === '0' ? '' : rest}`
  const point = Number(power) + 1
  if (value === 0) return '0.0'
  if (point > 15 || point <= -4) {
    const exponent = String(Math.abs(point - 1)).padStart(2, '0')
    return `${sign}${first}${rest ? `.${rest}` : ''}e${point > 0 ? '+' : '-'}${exponent}`
  }
  if (point <= 0) return `${sign}0.${'0'.repeat(-point)}${digits}`
  return `${sign}${digits.slice(0, point).padEnd(point, '0')}.${digits.slice(point) || '0'}`
}

/** Throws ValueError for text that is not JSON. */
function parse(text: string, rounds = true): Json {
  try {
    JSON.parse(text)
  } catch {
    throw notJson()
  }
  return new Reader(text, rounds).value()
}

function written(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof JsonNumber) return value.text
  if (Array.isArray(value)) return `[${value.map(written).join(',')}]`
  return `{${entries(value)
    .map(([key, field]) => `${JSON.stringify(key)}:${written(field)}`)
    .join(',')}}`
}

/**
 * With a line for each value, and two spaces for each level; fields stay in their order, which a STRUCT's have.
 * @param room characters that margins may still take: those of deep values are long
 */
function pretty(value: Json, margin = '\n', room = { left: 4_194_304 }): string {
  const inner = `${margin}  `
  room.left -= margin.length
  if (room.left < 0) throw new ValueError('A JSON value is too deep')
  if (Array.isArray(value) && value.length > 0)
    return `[${inner}${value.map(item => pretty(item, inner, room)).join(`,${inner}`)}${margin}]`
  if (!(value instanceof Map) || value.size === 0) return written(value)
  const fields = [...value].map(([key, field]) => `${JSON.stringify(key)}: ${pretty(field, inner, room)}`)
  return `{${inner}${fields.join(`,${inner}`)}${margin}}`
}

/** In the order of the keys' bytes. */
function entries(fields: JsonObject): [string, Json][] {
  return [...fields].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
}

/** The canonical text of JSON text, with the nearest FLOAT64s. Throws ValueError for text that is not JSON. */
export function canonicalJson(text: string): string {
  return written(parse(text))
}

/** The value at a step; undefined where there is none. A key of digits is an index where there is an array. */
function child(of: Json | undefined, step: Step): Json | undefined {
  if (Array.isArray(of)) return typeof step === 'number' || /^\d+$/.test(step) ? of[Number(step)] : undefined
  return of instanceof Map && typeof step === 'string' ? of.get(step) : undefined
}

function put(into: Json, step: Step, value: Json): void {
  if (into instanceof Map && typeof step === 'string') into.set(step, value)
  if (!Array.isArray(into) || typeof step !== 'number') return
  if (step > mostElements) throw new ValueError('Array is too large')
  while (into.length < step) into.push(null)
  into[step] = value
}

/** An index that JSON_SET and JSON_ARRAY_INSERT fill up to. */
const mostElements = 1_000_000

/** What stands for a path's missing rest: an array for an index, an object for a key. */
function madeFor(steps: Step[], value: Json): Json {
  const elements = steps.reduce<number>((sum, step) => sum + (typeof step === 'number' ? step : 0), 0)
  if (elements > mostElements) throw new ValueError('Array is too large')
  return steps.reduceRight<Json>((inner, step) => {
    const outer: Json = typeof step === 'number' ? [] : new Map()
    put(outer, step, inner)
    return outer
  }, value)
}

/** Sets the value at a path. Where the path leads through a scalar or the wrong kind of container nothing changes. */
function set(root: Json, steps: Step[], value: Json, creates: boolean): Json {
  if (steps.length === 0) return value
  let at = root
  for (const [depth, step] of steps.entries()) {
    const rest = steps.slice(depth + 1)
    const next = child(at, step)
    const fits = typeof step === 'number' ? Array.isArray(at) : at instanceof Map
    // A null becomes whatever the path asks for.
    if (at === null && depth === 0) return creates ? madeFor(steps, value) : root
    if (!fits) return root
    if (rest.length === 0 || next === undefined || next === null) {
      if (next === undefined && !creates) return root
      if (next === null && rest.length > 0 && !creates) return root
      put(at, step, madeFor(rest, value))
      return root
    }
    at = next
  }
  return root
}

function remove(root: Json, steps: Step[]): Json {
  const last = steps.at(-1)!
  const at = steps.slice(0, -1).reduce<Json | undefined>(child, root)
  if (at instanceof Map && typeof last === 'string') at.delete(last)
  if (Array.isArray(at) && typeof last === 'number') at.splice(last, 1)
  return root
}

/** Without nulls; `empty` drops what holds nothing as well. Undefined for a value that goes. */
function stripped(value: Json, arrays: boolean, empty: boolean): Json | undefined {
  if (value === null) return undefined
  const left = strippedInside(value, arrays, empty)
  const size = Array.isArray(left) ? left.length : left instanceof Map ? left.size : 1
  return empty && size === 0 ? undefined : left
}

/** Without the nulls below; in arrays only if `arrays`, which then keep their length. */
function strippedInside(value: Json, arrays: boolean, empty: boolean): Json {
  if (Array.isArray(value))
    return arrays
      ? value.flatMap(item => {
          const left = stripped(item, arrays, empty)
          return left === undefined ? [] : [left]
        })
      : value.map(item => strippedInside(item, arrays, empty))
  if (!(value instanceof Map)) return value
  return new Map(
    [...value].flatMap(([key, field]) => {
      const left = stripped(field, arrays, empty)
      return left === undefined ? [] : [[key, left] as const]
    }),
  )
}

/** Changes the array at a path; a path to anything else changes nothing. A null becomes an array. */
function inArray(root: Json, steps: Step[], change: (items: Json[]) => void): Json {
  const found = steps.reduce<Json | undefined>(child, root)
  if (found === null) {
    const items: Json[] = []
    change(items)
    return set(root, steps, items, false)
  }
  if (Array.isArray(found)) change(found)
  return root
}

/** The values to add: one, or each element of an array. */
const added = (value: Json, each: boolean) => (each && Array.isArray(value) ? value : [value])

const stepsOf = remembered(path => JSON.parse(path) as Step[])

/** A copy, which may be taken apart. */
const pathOf = (path: string) => [...stepsOf(path)]

/** A number as text without a fraction that is zero, as LAX_STRING writes it. */
function numberText(text: string): string {
  if (/^-?\d+$/.test(text)) return text
  const value = Number(text)
  for (const digits of [15, 17]) {
    const short = generalText(value, digits)
    if (Number(short) === value) return short
  }
  return text
}

/** C's `%.{digits}g`. */
function generalText(value: number, digits: number): string {
  if (value === 0) return '0'
  const [mantissa, power] = value.toExponential(digits - 1).split('e') as [string, string]
  const short = (text: string) => (text.includes('.') ? text.replace(/\.?0+$/, '') : text)
  const exponent = Number(power)
  if (exponent < -4 || exponent >= digits)
    return `${short(mantissa)}e${exponent < 0 ? '-' : '+'}${String(Math.abs(exponent)).padStart(2, '0')}`
  return short(value.toFixed(Math.max(0, digits - 1 - exponent)))
}

/** The nearest integer, halves away from zero, if an INT64 holds it. */
function rounded(value: number): bigint | null {
  if (!Number.isFinite(value)) return null
  const whole = BigInt(Math.sign(value) * Math.round(Math.abs(value)))
  return whole >= -(2n ** 63n) && whole < 2n ** 63n ? whole : null
}

const floatShape = /^\s*[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?|nan|inf|infinity)\s*$/i

function floatOf(text: string): number | null {
  if (!floatShape.test(text)) return null
  const plain = text.trim().toLowerCase()
  if (plain.endsWith('nan')) return Number.NaN
  if (/inf/.test(plain)) return plain.startsWith('-') ? -Infinity : Infinity
  return Number(plain)
}

function laxInteger(value: Json): bigint | null {
  if (typeof value === 'boolean') return value ? 1n : 0n
  const text = value instanceof JsonNumber ? value.text : typeof value === 'string' ? value.trim() : null
  if (text === null) return null
  if (/^[+-]?\d+$/.test(text)) {
    const whole = BigInt(text.replace(/^\+/, ''))
    return whole >= -(2n ** 63n) && whole < 2n ** 63n ? whole : null
  }
  const number = floatOf(text)
  return number === null ? null : rounded(number)
}

function laxBool(value: Json): boolean | null {
  if (typeof value === 'boolean') return value
  if (value instanceof JsonNumber) return Number(value.text) !== 0
  if (typeof value !== 'string') return null
  const text = value.toLowerCase()
  return text === 'true' ? true : text === 'false' ? false : null
}

function laxFloat(value: Json): number | null {
  if (value instanceof JsonNumber) return Number(value.text)
  return typeof value === 'string' ? floatOf(value) : null
}

function laxString(value: Json): string | null {
  if (value instanceof JsonNumber) return numberText(value.text)
  return typeof value === 'string' ? value : typeof value === 'boolean' ? String(value) : null
}

/** INT64(json): a whole number, also one written with a fraction of zeros or an exponent. */
function strictInteger(value: Json): bigint {
  const whole = value instanceof JsonNumber && Number.isInteger(Number(value.text)) ? laxInteger(value) : null
  if (whole === null) throw new ValueError('Bad value for a cast')
  return whole
}

/** FLOAT64(json) that holds the number exactly. */
function exactFloat(value: Json): number {
  const number = value instanceof JsonNumber ? Number(value.text) : Number.NaN
  if (!(value instanceof JsonNumber) || significant(floatText(number)) !== significant(value.text))
    throw new ValueError('Bad value for a cast')
  return number
}

/** Of all paths together: that of a deep key has the keys around it. */
const mostKeyCharacters = 4_194_304

/**
 * The keys as paths, in order: `a`, `a.b`, with quotes around those that are no plain names. Arrays are looked into
 * if the mode is lax, and arrays in arrays if it is `lax recursive`.
 */
function keysOf(root: Json, depth: number, mode: string): string[] {
  const found = new Set<string>()
  let together = 0
  const lax = mode !== 'strict'
  const visit = (value: Json, path: string, left: number, inArray: boolean): void => {
    if (Array.isArray(value) && lax && (!inArray || mode === 'lax recursive'))
      for (const item of value) visit(item, path, left, true)
    if (!(value instanceof Map) || left === 0) return
    for (const [key, field] of value) {
      const name = /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key)
      const at = path === '' ? name : `${path}.${name}`
      together += at.length
      if (together > mostKeyCharacters) throw new ValueError('The keys of a JSON value are too long')
      found.add(at)
      visit(field, at, left - 1, false)
    }
  }
  if (depth < 1) throw new ValueError('A number is out of range')
  if (!['strict', 'lax', 'lax recursive'].includes(mode))
    throw new ValueError('JSON_KEYS has the modes strict, lax and lax recursive')
  visit(root, '', depth, false)
  return [...found].sort((one, other) => (one < other ? -1 : 1))
}

function objectOf(keys: Json, values: Json): JsonObject {
  const [names, items] = [keys as Json[], values as Json[]]
  if (names.length !== items.length) throw new ValueError('JSON_OBJECT needs as many keys as values')
  const fields: JsonObject = new Map()
  for (const [at, name] of names.entries()) {
    if (typeof name !== 'string') throw new ValueError('A key of JSON_OBJECT is NULL')
    if (!fields.has(name)) fields.set(name, items[at]!)
  }
  return fields
}

export const jsonFunctions: Record<string, ScalarFunction> = {
  gsql_json_parsed: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (text, mode) => {
    if (mode !== 'exact' && mode !== 'round') throw new ValueError('wide_number_mode is exact or round')
    return written(parse(text, mode === 'round'))
  }),
  gsql_json_at: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (json, path) => {
    const value = pathOf(path).reduce<Json | undefined>(child, parse(json))
    return value === undefined ? null : written(value)
  }),
  gsql_json_exact_float: scalar(['VARCHAR'], 'DOUBLE', json => exactFloat(parse(json))),
  gsql_json_keys: scalar(['VARCHAR', 'BIGINT', 'VARCHAR'], 'VARCHAR[]', (json, depth, mode) =>
    keysOf(parse(json), Number(depth), mode.toLowerCase()),
  ),
  gsql_json_of_lists: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (keys, values) =>
    written(objectOf(parse(keys), parse(values))),
  ),
  gsql_json_rounded: scalar(['VARCHAR'], 'VARCHAR', canonicalJson),
  gsql_json_pretty: scalar(['VARCHAR'], 'VARCHAR', text => pretty(parse(text))),
  gsql_json_set: scalar(
    ['VARCHAR', 'VARCHAR', 'VARCHAR', 'BOOLEAN'],
    'VARCHAR',
    (json, path, value, creates) => written(set(parse(json), pathOf(path), parse(value), creates)),
  ),
  gsql_json_remove: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (json, path) =>
    written(remove(parse(json), pathOf(path))),
  ),
  gsql_json_strip: scalar(
    ['VARCHAR', 'VARCHAR', 'BOOLEAN', 'BOOLEAN'],
    'VARCHAR',
    (json, path, arrays, empty) => {
      const root = parse(json)
      const steps = pathOf(path)
      const found = steps.reduce<Json | undefined>(child, root)
      if (found === undefined) return written(root)
      return written(set(root, steps, stripped(found, arrays, empty) ?? null, false))
    },
  ),
  gsql_json_append: scalar(
    ['VARCHAR', 'VARCHAR', 'VARCHAR', 'BOOLEAN'],
    'VARCHAR',
    (json, path, value, each) =>
      written(inArray(parse(json), pathOf(path), items => items.push(...added(parse(value), each)))),
  ),
  gsql_json_insert: scalar(
    ['VARCHAR', 'VARCHAR', 'VARCHAR', 'BOOLEAN'],
    'VARCHAR',
    (json, path, value, each) => {
      const steps = pathOf(path)
      const index = steps.pop()
      if (typeof index !== 'number') return written(parse(json))
      const insert = (items: Json[]) => {
        if (index > mostElements) throw new ValueError('Array is too large')
        while (items.length < index) items.push(null)
        items.splice(index, 0, ...added(parse(value), each))
      }
      return written(inArray(parse(json), steps, insert))
    },
  ),
  gsql_json_int64: scalar(['VARCHAR'], 'BIGINT', json => strictInteger(parse(json))),
  gsql_lax_bool: scalar(['VARCHAR'], 'BOOLEAN', json => laxBool(parse(json))),
  gsql_lax_float64: scalar(['VARCHAR'], 'DOUBLE', json => laxFloat(parse(json))),
  gsql_lax_int64: scalar(['VARCHAR'], 'BIGINT', json => laxInteger(parse(json))),
  gsql_lax_string: scalar(['VARCHAR'], 'VARCHAR', json => laxString(parse(json))),
}
