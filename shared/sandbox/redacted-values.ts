/** What the values of a caller's query hold of stored data, as `redacted-sql.ts` judges them. */
import { describes, isPersonal, kindOf, type NameKind } from '../redact/names.ts'
import { nameKey } from '../sql/relations.ts'
import type { Violation } from './caller-rules.ts'

/**
 * `constant`: literals, parameters, and what is computed of those alone. `listed`: one of several constants, by row. `time`: a time or
 * a truth, which no stored text or number equals. `made`: computed, but of nothing stored. `number`: computed of stored numbers. `stored`:
 * a column, a field or an element.
 */
type Held = 'constant' | 'listed' | 'time' | 'made' | 'number' | 'stored'

export interface Value {
  holds: Held
  /** Of the names that it came by. */
  kinds: ReadonlySet<NameKind>
  /** The key of its own name, under which redaction knows it; `null` where it counts as something above it, or is computed. */
  name: string | null
  /** No record, no list. */
  scalar?: boolean
  /** A constant, but NULL and 0, may stand in its place. */
  mixed?: boolean
  /** An aggregate that lists single values. */
  list?: boolean
  literal?: 'NULL' | '0' | undefined
  /** Of numbers: a sum, or what is shown like one; divided by another; may count rows that the query makes; may be of a text. */
  sum?: boolean
  ratio?: boolean
  repeated?: boolean
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
  columns: readonly Column[]
  /** What has columns that only the engine knows. */
  rest: Value | null
}

export interface Column {
  name: string | null
  value: Value
}

/** A range variable of FROM, or names without one. */
export interface Source {
  name: string | null
  value: Value
}

export interface Scope {
  sources: readonly Source[]
  outer: Scope | null
}

const none: ReadonlySet<NameKind> = new Set()
const of = (holds: Held): Value => ({ holds, kinds: none, name: null })

export const constant: Value = of('constant')
export const listed: Value = of('listed')
export const time: Value = { ...of('time'), scalar: true }
export const made: Value = { ...of('made'), scalar: true }
export const storedRow: Row = { columns: [], rest: { ...of('stored'), kinds: new Set(['other']) } }

export function isStored({ holds }: Value): boolean {
  return holds === 'stored' || holds === 'number'
}

export function isConstant({ holds }: Value): boolean {
  return holds === 'constant'
}

export function isPersonalValue({ kinds }: Value): boolean {
  return [...kinds].some(isPersonal)
}

export function stored(name: string): Value {
  return { holds: 'stored', kinds: new Set([kindOf(name)]), name: nameKey(name) }
}

/** What is computed of a stored number. */
export function numberOf(value: Value, more: Partial<Value> = {}): Value {
  const { mixed = false, sum = false, ratio = false, repeated = false, ofText = false, problem } = value
  const kinds = new Set([...value.kinds].filter(isPersonal))
  const number = { kinds, name: null, scalar: true, mixed, sum, ratio, repeated, ofText, problem }
  return { holds: 'number', ...number, ...more }
}

/** What is made of nothing stored. */
export function computed(values: readonly Value[]): Value {
  return values.every(isConstant) ? constant : made
}

/** One of these: which, only the rows know. */
export function union(values: readonly Value[]): Value {
  const [first] = values
  if (values.length === 1) return first!
  const order: Held[] = ['constant', 'listed', 'time', 'made', 'stored', 'number']
  const holds = order.findLast(held => values.some(value => value.holds === held)) ?? 'constant'
  const some = (flag: 'mixed' | 'ratio' | 'repeated' | 'ofText' | 'doubtful') =>
    values.some(value => value[flag])
  return {
    holds,
    kinds: new Set(values.flatMap(({ kinds }) => [...kinds])),
    name: values.every(({ name }) => name === first?.name) ? (first?.name ?? null) : null,
    scalar: values.every(({ scalar }) => scalar),
    literal: values.every(({ literal }) => literal === first?.literal) ? first?.literal : undefined,
    mixed: some('mixed'),
    list: values.filter(isStored).every(({ list }) => list),
    sum: values.filter(isStored).every(({ sum }) => sum),
    ratio: some('ratio'),
    repeated: some('repeated'),
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

/** A field of a record or of JSON, or a column of a row. */
export function part(value: Value, name: string): Value {
  if (value.problem && !value.opens) return value
  const key = nameKey(name)
  const columns = value.row?.columns.filter(column => column.name !== null && nameKey(column.name) === key)
  if (columns && columns.length > 0) return either(columns.map(column => column.value))
  if (value.row) return value.row.rest ? part(value.row.rest, name) : value
  if (!isStored(value)) return value
  const above = [...value.kinds].filter(kind => isPersonal(kind) && !describes(name, kind))
  return {
    holds: value.holds,
    kinds: new Set([...above, kindOf(name)]),
    name: above.length > 0 ? null : key,
    mixed: value.mixed ?? false,
  }
}

/** `null` where no row in sight has it. GoogleSQL takes the range variable before a column of its name. */
export function resolve(name: string, scope: Scope | null): Value | null {
  if (!scope) return null
  const key = nameKey(name)
  const rows = scope.sources.filter(source => source.name === key).map(({ value }) => value)
  const among = rows.length > 0 ? scope.sources.filter(source => source.name === null) : scope.sources
  const hasColumn = ({ value }: Source) =>
    value.row?.columns.some(column => column.name !== null && nameKey(column.name) === key)
  const known = [...rows, ...among.filter(hasColumn).map(({ value }) => part(value, name))]
  if (known.length > 0) return either(known)
  const open = among.filter(({ value }) => (value.row ? value.row.rest : !value.scalar))
  const outer = resolve(name, scope.outer)
  const possible = [...open.map(({ value }) => part(value, name)), ...(outer ? [outer] : [])]
  return possible.length > 0 ? either(possible) : null
}
