/**
 * Redacts the strings of values and rows. Under a personal name (see `names.ts`) every string and number is replaced, also
 * in a list and in a record there, but for what describes the value (`token.type`). Other numbers stay, except those of payment cards. Keys
 * are redacted as text, since JSON may hold data in them.
 */
import type { Row, Value } from '../engines/engine.ts'
import { nameKey } from '../sql/relations.ts'
import { isCard } from './accounts.ts'
import { replacement } from './personal-class.ts'
import { countsParts, describes, isCounting, isPersonal, kindOf, type NameKind, namesNext } from './names.ts'

export interface Policy {
  redact: (text: string) => string
  kindOf: (name: string) => NameKind
  /** By key, of names that a caller's SQL gives: the kinds of their values. */
  given?: ReadonlyMap<string, NameKind>
  /** How many names may yet be read that were not at their places in the value before. */
  names: number
}
type Fields = Record<string, Value>

/**
 * A place in the structure: a field below a field, in any row and any element of a list. Rows are much alike, so the
 * fields of the last value are tried first, in their order.
 */
export interface Place {
  name: string
  redactedName: string
  kind: NameKind
  personal: boolean
  /** Under a personal name, the numbers up to this only count: `{"tokens":{"input":1200},"token":5}`. */
  countLimit: number
  /** Whether its numbers are computed, and shown in part. */
  inPart: boolean
  /** Redacted texts by the texts of the place: most have few. `null` once many come that do not repeat. */
  known: Map<string, string> | null
  /** How many texts were known. */
  repeated: number
  fields: Place[]
  /** Whether a name among `fields` is or was personal. */
  renames: boolean
  /** Whether its fields are the columns of the answer. */
  isRow?: boolean
}

/**
 * The rows' own keys are the columns that the query names: `redactNames` redacts those.
 * @returns what redacts one row after the other; a row shares with the given one the parts in which nothing was found
 */
export function rowWalk(
  redact: (text: string) => string,
  given: ReadonlyMap<string, NameKind> = new Map(),
): (row: Row) => Row {
  let left = mostOfRow
  const bounded = (text: string) => ((left -= text.length) < 0 ? replacement : redact(text))
  const policy = { redact: bounded, kindOf, given, names: 0 }
  const whole = () => ({ ...placeOf('', policy), isRow: true })
  let place = whole()
  return row => {
    // The last row was too large: texts that were replaced for that alone must not be remembered.
    if (left < 0) place = whole()
    left = mostOfRow
    policy.names = mostNames
    return redactFields(place, row, policy)
  }
}

/** Texts of a row beyond so many characters are replaced whole, the worst of which take some 3 us each, and records beyond so many names, some 6 us. */
const [mostOfRow, mostNames] = [250_000, 50_000]

export function placeOf(name: string, policy: Policy, above?: Place): Place {
  // Of a column alone; a field of the same name is the table's. It lifts nothing that the name says; of a secret, less describes it.
  const given = above?.isRow && policy.given?.size ? policy.given.get(nameKey(name)) : undefined
  const named = policy.kindOf(name)
  const own = given === undefined || (isPersonal(named) && given !== 'secret') ? named : given
  const kind = above?.personal && !isPersonal(own) && !describes(name, above.kind) ? above.kind : own
  const personal = isPersonal(kind)
  const redactedName = policy.redact(name)
  return {
    name,
    redactedName,
    kind,
    personal,
    // Under a name that the query gives, nothing says that a number counts.
    countLimit: given && isPersonal(given) ? -1 : countLimit(name, own, above),
    inPart: given === 'number',
    known: new Map(),
    repeated: 0,
    fields: [],
    renames: false,
  }
}

/** BigQuery's JSON nests at most 500 deep; what goes deeper goes as a whole. */
const deepest = 1000

function redactAt(place: Place, value: Value, policy: Policy, depth: number): Value {
  if (typeof value === 'string') return redactString(place, value, policy)
  if (typeof value === 'number') return redactNumber(place, value)
  if (value === null || typeof value === 'boolean') return value
  if (depth > deepest) return replacement
  if (Array.isArray(value)) return redactList(place, value, policy, depth)
  const redacted = redactFields(place, value, policy, depth)
  return policy.names < 0 ? replacement : renameFields(place, redacted)
}

export function redactString(place: Place, text: string, policy: Policy): string {
  const { known } = place
  if (known === null) return redactedText(place, text, policy)
  const same = known.get(text)
  if (same !== undefined) {
    place.repeated++
    return same
  }
  const redacted = redactedText(place, text, policy)
  if (known.size < few + perRepeated * place.repeated) known.set(text, redacted)
  else place.known = null
  return redacted
}

/** The names of cities, hosts and agents in a log are about so many; ids and messages are known to differ soon. */
const few = 32
/** Users, sessions and paths are many, and recur: the cache grows by so many for each hit. */
const perRepeated = 4

function redactedText({ kind, personal }: Place, text: string, policy: Policy): string {
  if (personal) return text === '' ? text : replacement
  if (kind === 'number' && text.replaceAll(/\D/g, '').length > digitsShown)
    return isNumber.test(text) ? String(inPart(Number(text))) : replacement
  return harmless[kind]?.test(text) ? text : policy.redact(text)
}

/** Texts that are what their name says, though they look like an address or a card. */
const harmless: Partial<Record<NameKind, RegExp>> = { version: /^\d+(?:\.\d+)+$/, id: /^-?\d+$/ }

export function redactNumber(place: Place, value: number): Value {
  if (place.kind === 'number') return inPart(value)
  if (isPersonalNumber(place, value)) return replacement
  return place.inPart ? inPart(value) : value
}

/** Of the digits of a card, the first eight name its issuer (ISO/IEC 7812) and may be shown (PCI DSS 4, 3.4.1). */
const digitsShown = 8

function inPart(value: number): number {
  return Number(value.toPrecision(digitsShown))
}

const isNumber = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

function countLimit(name: string, own: NameKind, above: Place | undefined): number {
  if (isPersonal(own) && isCounting(name)) return 9_999_999
  if (above?.personal) return isPersonal(own) || !countsParts.test(above.name) ? -1 : above.countLimit
  return own === 'datum' ? 99 : -1
}

/** A card has 13 digits at least. */
function isPersonalNumber({ kind, personal, countLimit }: Place, value: number): boolean {
  if (personal) return !(value >= 0 && value <= countLimit)
  return value >= 1e12 && kind !== 'id' && Number.isSafeInteger(value) && isCard(String(value))
}

function redactList(place: Place, list: Value[], policy: Policy, depth: number): Value[] {
  let copy = list
  for (let at = 0; at < list.length; at++) {
    // At 0 without placeInList: V8 takes the index -1 for a name, which is slow.
    const own = at === 0 ? place : placeInList(place, list[at - 1], list[at], list.length === 2, policy)
    const redacted = redactAt(own, list[at]!, policy, depth + 1)
    if (redacted === list[at]) continue
    if (copy === list) copy = [...list]
    copy[at] = redacted
  }
  return copy
}

/** The place of an element, which the one before may name: `["--token", "x"]`, `["Cookie", "a=b"]`, `["password", "x"]` alone. */
export function placeInList(
  list: Place,
  before: Value | undefined,
  element: Value | undefined,
  isPair: boolean,
  policy: Policy,
): Place {
  if (typeof before !== 'string' || typeof element !== 'string') return list
  const [, option, header] = naming.exec(before) ?? []
  const kind = kindOf(option ?? header ?? '')
  const isValue = header === undefined ? !element.startsWith('-') : namesNext(header, element, isPair)
  return isPersonal(kind) && isValue ? placeOf(option ?? header!, policy, list) : list
}
const naming = /^(?:--?([A-Za-z][\w./-]{1,60})|([A-Za-z][\w.:/-]{1,60}))$/

function redactFields(place: Place, fields: Fields, policy: Policy, depth = 0): Fields {
  let copy = fields
  let at = 0
  for (const name in fields) {
    if (policy.names < 0 && depth > 0) break
    const value = fields[name]!
    const below = placeBelow(place, at++, name, policy)
    if (value === null) continue
    const redacted = redactAt(below, value, policy, depth + 1)
    if (redacted === value) continue
    if (copy === fields) copy = { ...fields }
    copy[name] = redacted
  }
  return copy
}

export function placeBelow(place: Place, at: number, name: string, policy: Policy): Place {
  const known = at < place.fields.length ? place.fields[at] : undefined
  if (known?.name === name) return known
  policy.names--
  const below = (place.fields[at] = placeOf(name, policy, place))
  if (below.redactedName !== name) place.renames = true
  return below
}

/** `fields`, which were just walked at `place`, under their redacted names. */
function renameFields(place: Place, fields: Fields): Fields {
  if (!place.renames) return fields
  const free = freeNames(place.fields.slice(0, Object.keys(fields).length))
  return Object.fromEntries(Object.values(fields).map((value, at) => [free[at]!, value]))
}

/** The redacted names, in their order; equal ones get numbers: `REDACTED_2`. */
export function freeNames(names: Pick<Place, 'name' | 'redactedName'>[]): string[] {
  const unchanged = names.filter(({ name, redactedName }) => name === redactedName).map(({ name }) => name)
  // With the count that was tried last, so that many equal names take a step each.
  const taken = new Map(unchanged.map(name => [name, 1]))
  return names.map(({ name, redactedName }) => (taken.has(name) ? name : freeName(redactedName, taken)))
}

function freeName(name: string, taken: Map<string, number>): string {
  let free = name
  let count = taken.get(name) ?? 1
  while (taken.has(free)) free = `${name}_${++count}`
  taken.set(name, count).set(free, 1)
  return free
}
