/** A key as the store has it, in the collection `keys` under the key's id. The secret is not there, only its hash. */
import type { Fields, Reference } from '../stores/store.ts'

export const rights = ['pii:read', 'cache:bypass'] as const

/** `pii:read`: may turn redaction off. `cache:bypass`: may ask for a fresh run. */
export type Right = (typeof rights)[number]

/** What a key may use up; `null` = as much as it likes. */
export interface Limits {
  /** In each process that serves it. */
  callsPerMinute: number | null
  /** Bytes that its runs may read in a day. */
  bytesPerDay: number | null
}

export interface Grant {
  /** Who or what the key is for. */
  name: string
  /** Names of the endpoints it may call, or all of them. */
  endpoints: string[] | '*'
  /** Parameters that are fixed for it, by name. */
  pins: Record<string, string>
  rights: Right[]
  /** `null` = it does not expire. */
  expiresAt: Date | null
  /** None, where it is left out. */
  limits?: Limits | null
}

export interface KeyRecord extends Grant {
  /** SHA-256 of the secret, hexadecimal. */
  hash: string
  createdAt: Date
  revokedAt: Date | null
}

export type KeyState = 'active' | 'expired' | 'revoked'

export function keyReference(id: string): Reference {
  return { collection: 'keys', id }
}

const isText = (value: unknown) => typeof value === 'string'
const isDate = (value: unknown) => value instanceof Date && !Number.isNaN(value.getTime())
const isDateOrNull = (value: unknown) => value === null || isDate(value)

/** The field is `expiresAt`: Firestore deletes a document after its `expireAt`, and the key could not be listed any more. */
const shape: { [field in keyof KeyRecord]-?: (value: unknown) => boolean } = {
  name: value => isText(value) && value !== '',
  endpoints: value => value === '*' || (Array.isArray(value) && value.every(isText)),
  pins: value => isMap(value) && Object.values(value).every(isText),
  rights: value => Array.isArray(value) && value.every(right => rights.includes(right)),
  expiresAt: isDateOrNull,
  limits: value => value === undefined || value === null || isLimits(value),
  hash: value => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value),
  createdAt: isDate,
  revokedAt: isDateOrNull,
}

const isCountOrNull = (value: unknown) => value === null || (Number.isSafeInteger(value) && Number(value) > 0)

function isLimits(value: unknown): boolean {
  if (!isMap(value)) return false
  const { callsPerMinute, bytesPerDay } = value as Partial<Limits>
  return isCountOrNull(callsPerMinute) && isCountOrNull(bytesPerDay)
}

function isMap(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}

/** `undefined` for a document that is not a key as this version writes it: then nobody has that key. */
export function readRecord(fields: Fields): KeyRecord | undefined {
  const entries = Object.entries(shape).map(([field, accepts]) => ({ field, value: fields[field], accepts }))
  if (!entries.every(({ value, accepts }) => accepts(value))) return undefined
  return Object.fromEntries(entries.map(({ field, value }) => [field, value])) as unknown as KeyRecord
}

/** @param time the store's, milliseconds since 1970 UTC */
export function stateOf({ revokedAt, expiresAt }: KeyRecord, time: number): KeyState {
  if (revokedAt) return 'revoked'
  return expiresAt && expiresAt.getTime() <= time ? 'expired' : 'active'
}
