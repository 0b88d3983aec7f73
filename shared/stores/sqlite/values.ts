/** How SQLite holds a field's value: its kind, and the value in a type of SQLite that loses nothing. */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Fields } from '../store.ts'

type Value = Fields[string]

/** In Firestore's order of types. https://firebase.google.com/docs/firestore/manage-data/data-types */
const kinds = ['null', 'boolean', 'number', 'date', 'string', 'bytes', 'array', 'map'] as const

type Kind = (typeof kinds)[number]

/** Other kinds are stored as they are: SQLite takes every number as a 64-bit float, as in JavaScript. */
const encoders: Partial<Record<Kind, (value: Value) => SQLInputValue>> = {
  boolean: value => Number(value),
  date: value => (value as Date).getTime(),
  array: value => JSON.stringify(value),
  map: value => JSON.stringify(value),
}

const decoders: Partial<Record<Kind, (stored: SQLOutputValue) => Value>> = {
  boolean: stored => stored === 1,
  date: stored => new Date(stored as number),
  array: stored => JSON.parse(stored as string) as Value,
  map: stored => JSON.parse(stored as string) as Value,
}

/** @param value one that `checkWrites` or `checkSearch` has accepted */
export function encode(value: Value): { kind: number; stored: SQLInputValue } {
  const kind = kindOf(value)
  return { kind: kinds.indexOf(kind), stored: encoders[kind]?.(value) ?? (value as SQLInputValue) }
}

/** The value that `encode` was given. */
export function decode(kind: SQLOutputValue | undefined, stored: SQLOutputValue | undefined): Value {
  const name = kinds[Number(kind)]
  if (name === undefined || stored === undefined) throw new TypeError('not a value of this store')
  const decoder = decoders[name]
  return decoder ? decoder(stored) : (stored as Value)
}

function kindOf(value: Value): Kind {
  if (value === null) return 'null'
  if (value instanceof Date) return 'date'
  if (value instanceof Uint8Array) return 'bytes'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'object' ? 'map' : (typeof value as 'boolean' | 'number' | 'string')
}
