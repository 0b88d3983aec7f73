/** The schema of a log table, guessed from entries. */
import { isDeepStrictEqual } from 'node:util'
import type { FieldSchema } from '../../../shared/engines/schema.ts'
import { columnName, type Json, timeColumn, timeFieldOf } from '../logs/entries.ts'
import { entryTimestamp } from '../logs/times.ts'

type Kind = 'boolean' | 'integer' | 'number' | 'string' | 'object' | 'list'

/** What the values of one field were; nulls leave no trace. */
interface Seen {
  kinds: Set<Kind>
  values: number
  /** In how many objects the field was, also as null. */
  entries: number
  /** How many of them were times. */
  times: number
  /** Of objects. */
  fields: Map<string, Seen>
  /** Of lists. */
  items: Seen | null
}

/** More fields than these are keys of a map, such as headers: the object is a JSON column. */
const mostFields = 100

/** BigQuery nests 15 levels of RECORD at most (https://cloud.google.com/bigquery/quotas#standard_tables). */
const mostLevels = 15

/** Names of fields whose numbers may be times since 1970, with their unit or without: `ts`, `created_at`, `timeMs`. */
const timeName =
  /(?:time|stamp|date|epoch|when|(?:^|_)(?:ts|t|at))(?:_?(?:s|sec|ms|us|ns|millis|micros|nanos))?$/

function isTimeName(field: string): boolean {
  return timeName.test(field.replaceAll(/([a-z])([A-Z])/g, '$1_$2').toLowerCase())
}

/** Gathers entries, and makes a schema of what they had. */
export class Guess {
  readonly #root: Seen = nothingSeen()
  readonly #isText: boolean

  /** @param isText whether all values are texts, as in CSV: a mixture is then text, not JSON */
  constructor(isText = false) {
    this.#isText = isText
  }

  add(entry: { [name: string]: Json }): void {
    look(this.#root, entry, '')
  }

  /** Fields of the entry itself that mostly hold times. */
  get timeFields(): string[] {
    return [...this.#root.fields].filter(([, { values, times }]) => times > values / 2).map(([name]) => name)
  }

  /** The field with an entry's time, by its name; `undefined` where no name tells. */
  get timeField(): string | undefined {
    return timeFieldOf(this.timeFields)
  }

  /**
   * The columns beside `id` and `timestamp`, in the order in which their fields came.
   * @param time the field that becomes `timestamp`
   * @param leftOut gets each field that can have no column
   */
  columns(time: string, leftOut: (field: string) => void): FieldSchema[] {
    const others = new Map(this.#root.fields)
    others.delete(time)
    others.delete('id')
    const taken = new Set(['id', timeColumn, columnName(time).toLowerCase()])
    // As a load does: of several fields of a column the one of its name has it, or the first by name.
    const rank = (field: string) => `${columnName(field) === field ? 0 : 1}${field}`
    const first = new Map<string, string>()
    for (const field of [...others.keys()].toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1))) {
      // GoogleSQL's names of columns are the same in any case of letters.
      const key = columnName(field).toLowerCase()
      if (key !== '' && !taken.has(key) && !first.has(key)) first.set(key, field)
    }
    const columns = new Map<string, FieldSchema & { seen: Seen }>()
    const second: [column: string, seen: Seen][] = []
    for (const [field, seen] of others) {
      const name = columnName(field)
      const key = name.toLowerCase()
      if (first.get(key) === field) columns.set(key, { name, ...this.#typeOf(seen), seen })
      else {
        leftOut(field)
        second.push([key, seen])
      }
    }
    // In an entry without the first field, a load gives the column to the second one.
    for (const [key, seen] of second) {
      const column = columns.get(key)
      if (!column || column.seen.entries === this.#root.values || seen.kinds.size === 0) continue
      const { name, seen: owner, ...type } = column
      if (!isDeepStrictEqual(type, this.#typeOf(seen))) columns.set(key, { name, ...json, seen: owner })
    }
    return [...columns.values()].map(({ seen: _, ...column }) => column)
  }

  #typeOf(seen: Seen): Omit<FieldSchema, 'name'> {
    const type = typeOf(seen, 1)
    return this.#isText && type.type === 'JSON' ? { ...type, type: 'STRING' } : type
  }
}

function nothingSeen(): Seen {
  return { kinds: new Set(), values: 0, entries: 0, times: 0, fields: new Map(), items: null }
}

function look(seen: Seen, value: Json, name: string): void {
  if (value === null) return
  const kind = kindOf(value)
  seen.kinds.add(kind)
  seen.values += 1
  if (isTime(value, name)) seen.times += 1
  if (kind === 'list') for (const item of value as Json[]) look((seen.items ??= nothingSeen()), item, name)
  if (kind !== 'object' || seen.fields.size > mostFields) return
  for (const [field, item] of Object.entries(value as { [name: string]: Json })) {
    const known = seen.fields.get(field) ?? nothingSeen()
    seen.fields.set(field, known)
    known.entries += 1
    look(known, item, field)
  }
}

function kindOf(value: Exclude<Json, null>): Kind {
  if (Array.isArray(value)) return 'list'
  if (typeof value === 'bigint') return BigInt.asIntN(64, value) === value ? 'integer' : 'number'
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'integer' : 'number'
  return typeof value as 'boolean' | 'string' | 'object'
}

/** Numbers, and dates without a time of day, count as times only in a field that is called so. */
function isTime(value: Json, name: string): boolean {
  if (typeof value === 'object' || typeof value === 'boolean') return false
  const text = String(value)
  const isNumber = /^\d+(\.\d+)?$/.test(text)
  if (!isTimeName(name) && (isNumber || !text.includes(':'))) return false
  const time = entryTimestamp(value)
  // Durations are numbers, too, and a time of this century is in none of the units one of another.
  return time !== null && (!isNumber || (time >= '2000' && time < '2101'))
}

/** Kinds that one type holds; any other mixture is JSON. */
const scalars: [type: string, kinds: Kind[]][] = [
  ['BOOL', ['boolean']],
  ['INT64', ['integer']],
  ['FLOAT64', ['integer', 'number']],
  ['STRING', ['string']],
]

const json = { type: 'JSON', mode: 'NULLABLE' } as const

function typeOf({ kinds, values, times, fields, items }: Seen, level: number): Omit<FieldSchema, 'name'> {
  if (kinds.size === 0) return json
  if (times === values) return { type: 'TIMESTAMP', mode: 'NULLABLE' }
  const [kind] = kinds
  if (kinds.size === 1 && kind === 'object') return recordOf(fields, level)
  if (kinds.size === 1 && kind === 'list') {
    const item = items && typeOf(items, level)
    // BigQuery has no lists of lists, and a list of any JSON is JSON itself.
    return item && item.mode !== 'REPEATED' && item.type !== 'JSON' ? { ...item, mode: 'REPEATED' } : json
  }
  const scalar = scalars.find(([, held]) => [...kinds].every(each => held.includes(each)))
  return scalar ? { type: scalar[0], mode: 'NULLABLE' } : json
}

function recordOf(fields: Map<string, Seen>, level: number): Omit<FieldSchema, 'name'> {
  const names = new Set([...fields.keys()].map(name => columnName(name).toLowerCase()))
  const canBeRecord = names.size === fields.size && !names.has('') && names.size > 0
  if (!canBeRecord || fields.size > mostFields || level > mostLevels) return json
  const columns = [...fields].map(([name, seen]) => ({ name: columnName(name), ...typeOf(seen, level + 1) }))
  return { type: 'RECORD', mode: 'NULLABLE', fields: columns }
}
