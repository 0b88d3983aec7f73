/** How SQLite holds a field's value: its kind, and the value in a type of SQLite that loses nothing. */
import type { SQLInputValue, SQLOutputValue } from 'node:sqlite'
import type { Fields, Plain } from '../store.ts'

type Value = Fields[string]

/** Numbered in Firestore's order of types. https://firebase.google.com/docs/firestore/manage-data/data-types */
const kinds = { null: 0, boolean: 1, number: 2, date: 3, string: 4, bytes: 5, array: 6, map: 7 } as const

type Kind = keyof typeof kinds

const kindNames = Object.keys(kinds) as Kind[]

/** @param value one that `checkWrites` or `checkSearch` has accepted */
export function encode(value: Value): { kind: number; stored: SQLInputValue } {
  const kind = kindOf(value)
  return { kind: kinds[kind], stored: encoders[kind](value) }
}

/** The value that `encode` was given. */
export function decode(kind: SQLOutputValue | undefined, stored: SQLOutputValue | undefined): Value {
  const name = kindNames[Number(kind)]
  if (name === undefined || stored === undefined) throw new TypeError('not a value of this store')
  return decoders[name](stored)
}

function kindOf(value: Value): Kind {
  if (value === null) return 'null'
  if (value instanceof Date) return 'date'
  if (value instanceof Uint8Array) return 'bytes'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'object' ? 'map' : (typeof value as 'boolean' | 'number' | 'string')
}

/** SQLite takes every number as a 64-bit float, as in JavaScript. */
const asItIs = (value: Value) => value as SQLInputValue
const asJson = (value: Value) => JSON.stringify(value)

const encoders: Record<Kind, (value: Value) => SQLInputValue> = {
  null: asItIs,
  boolean: value => Number(value),
  number: asItIs,
  date: value => (value as Date).getTime(),
  string: asItIs,
  bytes: asItIs,
  array: asJson,
  map: asJson,
}

const fromJson = (stored: SQLOutputValue) => JSON.parse(stored as string) as Plain

const decoders: Record<Kind, (stored: SQLOutputValue) => Value> = {
  null: () => null,
  boolean: stored => stored === 1,
  number: stored => stored as number,
  date: stored => new Date(stored as number),
  string: stored => stored as string,
  bytes: stored => stored as Uint8Array,
  array: fromJson,
  map: fromJson,
}
