/** Values of the type JSON: parsed strictly, changed, and written as GoogleSQL does, with keys in order and numbers normalised. */
import { Broken, JsonReader, type Maker, type Step, stepsOf } from './json-text.ts'
import { type Arguments, type ColumnType, scalar, type ScalarFunction, ValueError } from './udf.ts'

/** A number keeps its text in canonical form: an integer of 64 bits, or the shortest digits of a FLOAT64. */
class JsonNumber {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Json = null | boolean | string | JsonNumber | Json[] | JsonObject
type JsonObject = Map<string, Json>

/** How deep BigQuery's JSON values nest. */
const deepest = 500

/** @param rounds as of `canonicalNumber` */
const valuesOf = (rounds: boolean): Maker<Json> => ({
  word(text) {
    if (text === 'null') return null
    return /^[tf]/.test(text) ? text === 'true' : new JsonNumber(canonicalNumber(text, rounds))
  },
  string: wellFormed,
  array: items => items,
  object(all) {
    const fields: JsonObject = new Map()
    // Of two equal keys the first counts.
    for (const [key, value] of all) if (!fields.has(wellFormed(key))) fields.set(key, value)
    return fields
  },
})

function wellFormed(text: string): string {
  if (text.isWellFormed()) return text
  throw notJson()
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
  try {
    return new JsonReader(text, valuesOf(rounds), deepest).value()
  } catch (error) {
    throw error instanceof Broken ? new ValueError('A JSON value is too deep') : error
  }
}

function stringify(value: Json): string {
  if (value === null || typeof value === 'boolean') return String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (value instanceof JsonNumber) return value.text
  if (Array.isArray(value)) return `[${value.map(stringify).join(',')}]`
  return `{${entries(value)
    .map(([key, field]) => `${JSON.stringify(key)}:${stringify(field)}`)
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
  if (!(value instanceof Map) || value.size === 0) return stringify(value)
  const fields = [...value].map(([key, field]) => `${JSON.stringify(key)}: ${pretty(field, inner, room)}`)
  return `{${inner}${fields.join(`,${inner}`)}${margin}}`
}

/** In the order of the keys' bytes. */
function entries(fields: JsonObject): [string, Json][] {
  return [...fields].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
}

/** The canonical text of JSON text, with the nearest FLOAT64s. Throws ValueError for text that is not JSON. */
export function canonicalJson(text: string): string {
  return stringify(parse(text))
}

/** The value at a step; undefined where there is none. A key of digits is an index where there is an array. */
function child(of: Json | undefined, step: Step): Json | undefined {
  if (Array.isArray(of)) return typeof step === 'number' || /^\d+$/.test(step) ? of[Number(step)] : undefined
  return of instanceof Map && typeof step === 'string' ? of.get(step) : undefined
}

/** An index that JSON_SET and JSON_ARRAY_INSERT fill up to. */
const mostElements = 1_000_000

function fill(items: Json[], size: number): Json[] {
  if (size > mostElements) throw new ValueError('Array is too large')
  while (items.length < size) items.push(null)
  return items
}

/**
 * A value in which another one stands at a path: what `change` makes of the one there, nothing for `undefined`. Where the path
 * leads through a scalar or the wrong kind of container nothing changes.
 * @param creates containers where there are none; a null becomes whatever the path asks for
 */
function changeAt(
  value: Json | undefined,
  [step, ...rest]: Step[],
  change: (found: Json | undefined) => Json | undefined,
  creates = false,
): Json | undefined {
  if (step === undefined) return change(value)
  const of = creates ? (value ?? (typeof step === 'number' ? [] : new Map())) : value
  if (Array.isArray(of) && typeof step === 'number') {
    const next = changeAt(of[step], rest, change, creates)
    if (next === undefined) of.splice(step, 1)
    else fill(of, step)[step] = next
  } else if (of instanceof Map && typeof step === 'string') {
    const next = changeAt(of.get(step), rest, change, creates)
    if (next === undefined) of.delete(step)
    else of.set(step, next)
  } else return value
  return of
}

/** Without nulls; `empty` drops what holds nothing as well. Undefined for a value that goes. */
function strip(value: Json, arrays: boolean, empty: boolean): Json | undefined {
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
          const left = strip(item, arrays, empty)
          return left === undefined ? [] : [left]
        })
      : value.map(item => strippedInside(item, arrays, empty))
  if (!(value instanceof Map)) return value
  return new Map(
    [...value].flatMap(([key, field]) => {
      const left = strip(field, arrays, empty)
      return left === undefined ? [] : [[key, left] as const]
    }),
  )
}

/** Changes an array; a null is an empty one, and anything else stays as it is. */
const inArray = (change: (items: Json[]) => void) => (found: Json | undefined) => {
  const items = found === null ? [] : found
  if (Array.isArray(items)) change(items)
  return items
}

const added = (value: Json, each: boolean) => (each && Array.isArray(value) ? value : [value])

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

const changing = <const Types extends ColumnType[]>(
  types: Types,
  change: (root: Json, steps: Step[], ...more: Arguments<Types>) => Json | undefined,
) =>
  scalar(['VARCHAR', 'VARCHAR', ...types], 'VARCHAR', (json, path, ...more) =>
    stringify(change(parse(json), stepsOf(path), ...(more as Arguments<Types>)) ?? null),
  )

export const jsonFunctions: Record<string, ScalarFunction> = {
  gsql_json_parsed: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (text, mode) => {
    if (mode !== 'exact' && mode !== 'round') throw new ValueError('wide_number_mode is exact or round')
    return stringify(parse(text, mode === 'round'))
  }),
  gsql_json_at: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (json, path) => {
    const value = stepsOf(path).reduce<Json | undefined>(child, parse(json))
    return value === undefined ? null : stringify(value)
  }),
  gsql_json_keys: scalar(['VARCHAR', 'BIGINT', 'VARCHAR'], 'VARCHAR[]', (json, depth, mode) =>
    keysOf(parse(json), Number(depth), mode.toLowerCase()),
  ),
  gsql_json_of_lists: scalar(['VARCHAR', 'VARCHAR'], 'VARCHAR', (keys, values) =>
    stringify(objectOf(parse(keys), parse(values))),
  ),
  gsql_json_rounded: scalar(['VARCHAR'], 'VARCHAR', canonicalJson),
  gsql_json_pretty: scalar(['VARCHAR'], 'VARCHAR', text => pretty(parse(text))),
  gsql_json_set: changing(['VARCHAR', 'BOOLEAN'], (root, steps, value, creates) =>
    changeAt(root, steps, found => (found === undefined && !creates ? found : parse(value)), creates),
  ),
  gsql_json_remove: changing([], (root, steps) => changeAt(root, steps, () => undefined)),
  gsql_json_strip: changing(['BOOLEAN', 'BOOLEAN'], (root, steps, arrays, empty) =>
    changeAt(root, steps, found => found && (strip(found, arrays, empty) ?? null)),
  ),
  gsql_json_append: changing(['VARCHAR', 'BOOLEAN'], (root, steps, value, each) =>
    changeAt(
      root,
      steps,
      inArray(items => items.push(...added(parse(value), each))),
    ),
  ),
  gsql_json_insert: changing(['VARCHAR', 'BOOLEAN'], (root, steps, value, each) => {
    const index = steps.at(-1)
    if (typeof index !== 'number') return root
    const insert = (items: Json[]) => fill(items, index).splice(index, 0, ...added(parse(value), each))
    return changeAt(root, steps.slice(0, -1), inArray(insert))
  }),
}
