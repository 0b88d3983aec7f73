/** What values hold of stored data, and what a name stands for where it is read: `redacted-sql.ts` judges by it. */
import { describes, isPersonal, kindOf, type NameKind } from '../redact/names.ts'
import { nameKey } from '../sql/relations.ts'

/**
 * What a value holds: text or numbers of columns with names of these kinds, or fields (`struct`), or elements that have its
 * name (`list`). Of numbers: what may be negative, so that sums of it may cancel out (`signed`), what is divided by
 * another stored number (`ratio`), what a join may multiply (`summed`), and what was a text, maybe a phone number (`text`). Of what the query makes, and that differs
 * from row to row: a value of a list that it writes (`listed`), a time or a truth, which no text or number equals
 * (`plain`), any other (`made`), and what is that in some rows and stored in others (`mixed`). Empty for a constant.
 */
type Held =
  | NameKind
  | 'struct'
  | 'list'
  | 'signed'
  | 'ratio'
  | 'summed'
  | 'text'
  | 'listed'
  | 'plain'
  | 'made'
  | 'mixed'

export interface Flow extends ReadonlySet<Held> {
  /** By key, of a record that the query makes, and of a row. */
  readonly fields?: ReadonlyMap<string, Flow> | undefined
  /** What it and all its parts hold. */
  readonly inAll?: ReadonlySet<Held>
  /** Whether it may have other fields than these, of stored data. */
  readonly isOpen?: boolean | undefined
}

/** A range variable of FROM, or names without one: those of a select list, or of a WITH expression. */
export interface Source {
  name: string | null
  value: Flow
}

export interface Scope {
  sources: readonly Source[]
  /** By key: common tables, and those of the endpoint. */
  tables: ReadonlyMap<string, Flow>
  outer: Scope | null
}

export const nothing: Flow = new Set()
export const signed: Flow = new Set(['signed'])
export const ratio: Flow = new Set(['ratio'])
export const summed: Flow = new Set(['summed'])
export const ofText: Flow = new Set(['text'])
export const list: Flow = new Set(['list'])
export const listed: Flow = new Set(['listed'])
export const plain: Flow = new Set(['plain'])
export const made: Flow = new Set(['made'])
export const storedRecord: Flow = new Set(['struct', 'other'])

const variations: ReadonlySet<Held> = new Set(['listed', 'plain', 'made', 'mixed'])
const ofNothingStored: ReadonlySet<Held> = new Set([...variations, 'struct', 'list', 'signed', 'summed'])
/** What holds of a record or a text and of all its parts. */
const ofParts: ReadonlySet<Held> = new Set([...variations, 'number', 'signed', 'ratio', 'summed', 'text'])

// ---- names

/**
 * What a name is in the innermost scope that has it. GoogleSQL takes the range variable before a column of its name, and
 * refuses a name that two tables of a FROM have. Where a table only may have it, it may also be one further out.
 */
export function resolve(name: string, scope: Scope | null): Flow {
  if (!scope) return new Set([kindOf(name)])
  const { sources, outer } = scope
  const key = nameKey(name)
  const rows = sources.filter(source => source.name === key)
  const among = rows.length > 0 ? sources.filter(source => source.name === null) : sources
  const columns = among.flatMap(({ value }) => value.fields?.get(key) ?? [])
  const known = [...rows.map(({ value }) => value), ...columns]
  if (known.length > 0) return union(known)
  const possible = among.flatMap(({ value }) => (isOpen(value) ? below(value, name) : []))
  if (possible.length === 0) return resolve(name, outer)
  return without(union([...possible, resolve(name, outer)]), 'list')
}

/** A field of a record or of JSON. */
export function partOf(value: Flow, name: string): Flow {
  const known = value.fields?.get(nameKey(name))
  if (known) return known
  return value.fields ? union([below(value, name), allOf([value])]) : below(value, name)
}

/** A field below a personal name is personal as well, unless it only describes the value; one of a constant is constant. */
function below(value: Flow, name: string): Flow {
  const passed = [...value].filter(
    kind => ofParts.has(kind) || (isPersonalKind(kind) && !describes(name, kind as NameKind)),
  )
  return new Set(isStored(value) ? [...passed, kindOf(name)] : passed)
}

export function isOpen(value: Flow): boolean {
  return value.isOpen ?? (!value.fields && (isStored(value) || value.has('struct')))
}

/** @param rest what has further fields, which only the engine knows */
export function record(fields: ReadonlyMap<string, Flow>, rest: Flow = nothing): Flow {
  const held = [...fields.values()].flatMap(flow => [...flow])
  const kinds = held.filter(kind => variations.has(kind))
  const others = isStored(new Set(held)) || rest.size > 0 ? storedRecord : (['struct'] as const)
  const own = new Set<Held>([...kinds, ...others, ...rest])
  return Object.assign(own, { fields, isOpen: rest.size > 0, inAll: allOf([own, ...fields.values()]) })
}

/** A value of any of these. Its fields are known where those of all are; those of nested records cost nothing until they are read. */
export function union(flows: readonly Flow[]): Flow {
  const each = [...new Set(flows)]
  if (each.length === 1) return each[0]!
  const all = new Set(each.flatMap(flow => [...flow]))
  const records = each.filter(flow => flow.fields)
  const others = each.filter(flow => !flow.fields)
  if (records.length === 0) return all
  if (others.some(flow => isStored(flow) || flow.has('struct'))) return allOf(each)
  let known: ReadonlyMap<string, Flow> | null = null
  return Object.defineProperty(
    Object.assign(all, { isOpen: records.some(flow => flow.isOpen), inAll: allOf(each) }),
    'fields',
    { get: () => (known ??= fieldsOf(records, others)) },
  )
}

function fieldsOf(records: Flow[], others: Flow[]): Map<string, Flow> {
  const more = others.map(flow => new Set([...flow].filter(kind => variations.has(kind))))
  const names = new Set(records.flatMap(({ fields }) => [...fields!.keys()]))
  return new Map([...names].map(name => [name, union([...records.map(flow => partOf(flow, name)), ...more])]))
}

function allOf(flows: readonly Flow[]): Flow {
  return new Set(flows.flatMap(flow => [...(flow.inAll ?? flow)]))
}

// ---- values

/** Whether more than constants, and what is made of them, is in it. */
export function isStored(flow: Flow): boolean {
  return [...flow].some(kind => !ofNothingStored.has(kind))
}

/** Whether it may differ from row to row. */
export function varies(flow: Flow): boolean {
  return [...flow].some(kind => variations.has(kind) || !ofNothingStored.has(kind))
}

/** One of these values, as the rows have it. */
export function chosen(flow: Flow, by: readonly Flow[]): Flow {
  return !isStored(flow) && by.some(varies) ? union([flow, listed]) : flow
}

/** What a function or an operator makes, where that holds nothing stored. */
export function computed(flows: readonly Flow[]): Flow {
  return flows.some(varies) ? made : nothing
}

/** Whether the query can have made this to be equal to a stored value. */
function isMade(flow: Flow): boolean {
  return flow.has('made') || flow.has('summed')
}

/** Whether a value that the query makes meets another, which is stored. */
export function meets(flows: readonly Flow[]): boolean {
  return flows.some(
    (flow, at) => isMade(flow) && flows.some((other, place) => place !== at && isStored(other)),
  )
}

/** Of values that become one column or value. */
export function together(flows: readonly Flow[]): Flow {
  return meets(flows) ? union([...flows, new Set(['mixed'] as const)]) : union(flows)
}

/** A number that is computed from what is stored in `flow`. */
export function numeric(flow: Flow, isSigned: boolean): Flow {
  const kinds = [...flow].flatMap((kind): Held[] => {
    if (variations.has(kind)) return kind === 'mixed' ? [kind, 'made'] : ['made']
    return kind === 'ratio' || kind === 'summed' || kind === 'text' ? [kind] : []
  })
  return new Set<Held>(['number', ...(isSigned ? signed : nothing), ...kinds])
}

export function elementOf(flow: Flow): Flow {
  return without(flow, 'list')
}

export function without(flow: Flow, kind: Held): Flow {
  if (!flow.has(kind)) return flow
  const others = new Set([...flow].filter(other => other !== kind))
  const { fields, isOpen, inAll } = flow
  return fields ? Object.assign(others, { fields, isOpen, inAll: inAll! }) : others
}

export function hasSign(flow: Flow): boolean {
  return flow.has('signed') || !isStored(flow)
}

export function personalOf(flow: Flow): Flow {
  return new Set([...flow].filter(isPersonalKind))
}

export function isPersonalFlow(flow: Flow): boolean {
  return [...flow].some(isPersonalKind)
}

function isPersonalKind(kind: Held): boolean {
  return isPersonal(kind as NameKind)
}
