/** What the values of a caller's query hold of stored data, as `redacted-sql.ts` judges them. */
import { describes, isPersonal, kindOf, type NameKind } from '../redact/names.ts'
import { nameKey } from '../sql/relations.ts'
import type { Type } from '../sql/resolve/types.ts'
import type { Violation } from './caller-rules.ts'

/**
 * `constant`: literals, parameters, and what is computed of those alone. `chosen`: a condition, or one of the query's constants, which
 * a condition or a row says. `time`: a time, which no stored text or number equals. `made`: computed,
 * but of nothing stored. `number`: computed of stored numbers. `stored`: a column, a field or an element.
 */
type Held = 'constant' | 'chosen' | 'time' | 'made' | 'number' | 'stored'

export interface Value {
  holds: Held
  /** Of the names that it came by. */
  kinds: ReadonlySet<NameKind>
  /** The key of its own name, under which redaction knows it; `null` where it counts as something above it, or is computed. */
  name: string | null
  /** Of what is stored: which column of which range variable. What is of several, or of several rows, has none. */
  origin?: string | undefined
  /** How many counts, times and choices among them are put together in it. */
  asks?: number | undefined
  /** The kind of its type, where that is known. */
  type?: Type['kind'] | undefined
  /** No record, no list. */
  scalar?: boolean
  /** A constant, but NULL and 0, may stand in its place. */
  mixed?: boolean
  /** A list of values of several rows. */
  list?: boolean
  literal?: 'NULL' | '0' | undefined
  /** Of several columns: one of them, by row, or a sum or a ratio of them. */
  several?: boolean
  /** Of numbers: a sum, or what is shown like one; may be of a text. */
  sum?: boolean
  ofText?: boolean
  /** It may be made as well: two columns have the name. */
  doubtful?: boolean
  /** Why it may be compared with constants, and nothing else. */
  problem?: Violation | undefined
  /** The problem is not that of its fields. */
  opens?: boolean
  row?: Row
}

export interface Row {
  columns: readonly Named[]
  /** What has columns that only the engine knows. */
  rest: Value | null
}

export interface Named {
  name: string | null
  value: Value
}

const none: ReadonlySet<NameKind> = new Set()
const of = (holds: Held): Value => ({ holds, kinds: none, name: null })

export const constant: Value = of('constant')
export const chosen: Value = { ...of('chosen'), asks: 1, scalar: true }
export const time: Value = { ...of('time'), scalar: true }
export const made: Value = { ...of('made'), asks: 1, scalar: true }
/** Columns that only the engine knows. */
export const restOfStored: Value = { ...of('stored'), kinds: new Set(['other']) }

export function isStored({ holds }: Value): boolean {
  return holds === 'stored' || holds === 'number'
}

export function isConstant({ holds }: Value): boolean {
  return holds === 'constant'
}

export function isPersonalValue({ kinds }: Value): boolean {
  return [...kinds].some(isPersonal)
}

export function storedValue(name: string): Value {
  return { holds: 'stored', kinds: new Set([kindOf(name)]), name: nameKey(name) }
}

/** A stored value of a known type: a scalar is no record and no list. */
export function withType(value: Value, type: Type | null): Value {
  if (!isStored(value) || !type) return value
  if (type.kind === 'UNKNOWN') return { ...value, type: undefined, scalar: value.scalar || type.scalar }
  const isScalar = type.kind !== 'ARRAY' && type.kind !== 'STRUCT' && type.kind !== 'JSON'
  return { ...value, type: type.kind, scalar: value.scalar || isScalar }
}

/** Whether it is a time as it is stored, under no name that redacts it, and no constant in its place. */
export function isTime(value: Value): boolean {
  const { holds, type = '', problem, mixed } = value
  return holds === 'stored' && /^(?:DATE|TIME)/.test(type) && !problem && !mixed && !isPersonalValue(value)
}

/** What is computed of a stored number. */
export function numberOf(value: Value, more: Partial<Value> = {}): Value {
  const { mixed = false, several = false, sum = false, ofText = false, origin, problem } = value
  const kinds = new Set([...value.kinds].filter(isPersonal))
  const number = { kinds, name: null, origin, scalar: true, mixed, several, sum, ofText, problem }
  return { holds: 'number', ...number, ...more }
}

/** Which of several it is, the rows or what they hold say. */
export function vary(value: Value): Value {
  if (isStored(value)) return value
  const asks = Math.max(1, value.asks ?? 0)
  return { ...value, holds: isConstant(value) ? 'chosen' : value.holds, asks, literal: undefined }
}

/** One of these: which, only the rows know. */
export function union(values: readonly Value[]): Value {
  const [first] = values
  if (values.length === 1) return first!
  const order: Held[] = ['constant', 'chosen', 'time', 'made', 'stored', 'number']
  const holds = order.findLast(held => values.some(value => value.holds === held)) ?? 'constant'
  const some = (flag: 'mixed' | 'ofText' | 'doubtful') => values.some(value => value[flag])
  const held = values.filter(isStored)
  const origins = new Set(held.map(value => value.origin ?? value))
  return {
    holds,
    kinds: new Set(values.flatMap(({ kinds }) => [...kinds])),
    name: values.every(({ name }) => name === first?.name) ? (first?.name ?? null) : null,
    origin: origins.size > 1 ? undefined : held[0]?.origin,
    several: origins.size > 1 || held.some(({ several }) => several),
    asks: Math.max(...values.map(({ asks }) => asks ?? 0)),
    type: values.every(({ type }) => type === first?.type) ? first?.type : undefined,
    scalar: values.every(({ scalar }) => scalar),
    literal: values.every(({ literal }) => literal === first?.literal) ? first?.literal : undefined,
    mixed: some('mixed'),
    list: held.length > 0 && held.every(({ list }) => list),
    sum: held.length > 0 && held.every(({ sum }) => sum),
    ofText: some('ofText'),
    doubtful: some('doubtful'),
    problem: values.find(({ problem }) => problem)?.problem,
  }
}

/** As the name of several: `made` and `stored` may be either. */
export function either(values: readonly Value[]): Value {
  const both = values.some(isStored) && values.some(({ holds }) => holds === 'made')
  return both ? { ...union(values), doubtful: true } : union(values)
}

/** The columns of a row by the keys of their names: a query may name thousands of columns. */
const byKey = new WeakMap<Row, ReadonlyMap<string | null, readonly Named[]>>()

function findColumns(row: Row, key: string): readonly Named[] {
  const known = byKey.get(row) ?? Map.groupBy(row.columns, ({ name }) => name && nameKey(name))
  byKey.set(row, known)
  return known.get(key) ?? []
}

/** A field of a record or of JSON, or a column of a row. */
export function part(value: Value, name: string): Value {
  if (value.problem && !value.opens) return value
  const key = nameKey(name)
  const origin = value.origin && `${value.origin}.${key}`
  const columns = value.row ? findColumns(value.row, key) : []
  if (columns.length > 0) {
    const column = either(columns.map(each => each.value))
    return origin ? { ...column, origin } : column
  }
  if (value.row) return value.row.rest ? part({ ...value.row.rest, origin: value.origin }, name) : value
  if (!isStored(value)) return value
  const above = [...value.kinds].filter(kind => isPersonal(kind) && !describes(name, kind))
  return {
    holds: value.holds,
    kinds: new Set([...above, kindOf(name)]),
    name: above.length > 0 ? null : key,
    origin,
    mixed: value.mixed ?? false,
  }
}
