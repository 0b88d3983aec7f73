/** What a store has of definitions, keys, views, channels and issuers, and the text of it, which git can hold: the same contents are the same text. */
import { type Channels, readChannels } from '../../../shared/alerts/channels.ts'
import { type Endpoint, endpointIn } from '../../../shared/endpoints/definition.ts'
import { endpointsCollection, maxEndpoints } from '../../../shared/endpoints/lookup.ts'
import { type EndpointVersion, listVersions, namesOfVersions } from '../../../shared/endpoints/versions.ts'
import { everyView, type StoredView, storedView } from '../../../shared/endpoints/views.ts'
import { issuerIn, type KnownIssuer, storedIssuers } from '../../../shared/keys/issuers.ts'
import { everyKey, fieldsOfKey, type KeyRecord, readRecord } from '../../../shared/keys/records.ts'
import { assertReadable, formats } from '../../../shared/stores/format.ts'
import type { Fields, Store } from '../../../shared/stores/store.ts'
import { visibleJson } from '../../../shared/visible-text.ts'
import { channelsFrom } from '../apply/channels.ts'
import { atPlaces, problemsIn } from '../apply/yaml.ts'
import { CommandError } from '../command.ts'

export interface Contents {
  definitions: Definition[]
  keys: { id: string; record: KeyRecord }[]
  views: StoredView[]
  channels: Channels
  issuers: KnownIssuer[]
}

export interface Definition {
  /** Whether it answers calls that name no version. */
  inForce: boolean
  /** `null` for one that is in force and not kept as a version, from before versions were kept. */
  kept: Omit<EndpointVersion, 'endpoint'> | null
  endpoint: Endpoint
}

/** @throws StoreError, and ApiError for what a later version stored; a document that is no key is left out */
export async function readContents(store: Store): Promise<Contents> {
  const { documents } = await store.query({ collection: endpointsCollection, limit: maxEndpoints })
  const inForce = new Map(documents.map(({ id, fields }) => [id, endpointIn(fields)]))
  const definitions: Definition[] = []
  for (const name of await namesOfVersions(store))
    for (const { endpoint, ...kept } of await listVersions(store, name)) {
      const current = inForce.get(endpoint.id)
      const isInForce = current !== undefined && JSON.stringify(current) === JSON.stringify(endpoint)
      if (isInForce) inForce.delete(endpoint.id)
      definitions.push({ inForce: isInForce, kept, endpoint })
    }
  for (const endpoint of inForce.values()) definitions.push({ inForce: true, kept: null, endpoint })
  const keys: Contents['keys'] = []
  for await (const { id, record } of everyKey(store)) if (record) keys.push({ id, record })
  const views = await everyView(store)
  const { channels } = await readChannels(store)
  const issuers = await storedIssuers(store)
  return { definitions: definitions.toSorted(byNameAndAge), keys: keys.reverse(), views, channels, issuers }
}

/** New versions come behind the older ones, so that a diff shows them alone. */
function byNameAndAge(a: Definition, b: Definition): number {
  const keys = [a, b].map(({ kept, endpoint: { name, id, version } }) =>
    [name, id, kept?.createdAt.toISOString() ?? '', version].join('\n'),
  )
  return keys[0]! < keys[1]! ? -1 : 1
}

/** A text of several lines is `{"\n": [lines]}`: no field of a definition, a key or a view is called so. */
const lines = '\n'

export function textOf({ definitions, keys, views, channels, issuers }: Contents): string {
  const exported = {
    format: formats.export,
    definitions: definitions.map(({ inForce, kept, endpoint }) => ({ inForce, ...kept, endpoint })),
    keys: keys.map(({ id, record }) => {
      const { format: _, pins, ...fields } = fieldsOfKey(record)
      // A map of Firestore has no order of its own.
      const sorted = Object.entries(pins as object).toSorted(([a], [b]) => (a < b ? -1 : 1))
      const { callsPerMinute, bytesPerDay } = record.limits ?? {}
      const limits = record.limits && { callsPerMinute, bytesPerDay }
      return { id, ...fields, pins: Object.fromEntries(sorted), limits }
    }),
    views,
    ...(Object.keys(channels).length > 0 ? { channels } : {}),
    ...(issuers.length > 0 ? { issuers: issuers.map(({ text: _, ...issuer }) => issuer) } : {}),
  }
  const inLines = (_: string, value: unknown) =>
    typeof value === 'string' && value.includes('\n') ? { [lines]: value.split('\n') } : value
  return visibleJson(JSON.stringify(exported, inLines, 2))
}

/**
 * What `textOf` has written.
 * @param file for the error
 * @throws CommandError and QueriesError for anything else, and ApiError for an export of a later version
 */
export function contentsIn(text: string, file: string): Contents {
  const exported = parse(text)
  if (typeof exported?.format !== 'number')
    throw new CommandError(`${file} is no export: lqe store export writes one.`)
  assertReadable('export', exported, file)
  /** Of a list, each entry as `read` has it; an export of before there was the kind has none. */
  const all = <T>(kind: keyof Contents, read: (entry: Fields) => T | null | undefined): T[] => {
    const entries = exported[kind] ?? (kind === 'definitions' || kind === 'keys' ? null : [])
    if (!Array.isArray(entries)) throw new CommandError(`${file} is damaged.`)
    return entries.map((entry: Fields, n) => {
      const found = read(entry)
      if (!found) throw new CommandError(`${file}: ${kind}[${n}] is damaged.`)
      return found
    })
  }
  return {
    definitions: all('definitions', definitionIn),
    keys: all('keys', keyIn),
    views: all('views', entry => storedView({ ...entry, at: date(entry['at']) } as Fields)),
    issuers: all('issuers', issuerOf),
    channels: atPlaces(
      problemsIn(file, () => ({ line: 1, column: 1 })),
      () => channelsFrom(exported.channels ?? {}),
    ),
  }
}

function issuerOf(entry: Fields): KnownIssuer | null {
  try {
    return issuerIn(entry)
  } catch {
    return null
  }
}

function keyIn({ id, ...entry }: Fields): Contents['keys'][0] | null {
  const dates = ['createdAt', 'expiresAt', 'revokedAt'].map(name => [name, date(entry[name])])
  const record = readRecord({ ...entry, ...(Object.fromEntries(dates) as Fields) })
  return record && typeof id === 'string' && /^[0-9A-Za-z]{11}$/.test(id) ? { id, record } : null
}

type Exported = { [Kind in keyof Contents | 'format']?: unknown }

function parse(text: string): Exported | null {
  const joined = (_: string, value: unknown) => {
    const parts = (value as { [lines]?: unknown } | null)?.[lines]
    return Array.isArray(parts) ? parts.join('\n') : value
  }
  try {
    return JSON.parse(text, joined) as Exported | null
  } catch {
    return null
  }
}

function definitionIn(entry: Fields): Definition | null {
  const { inForce, createdAt, createdBy, appliedAt, appliedBy, ended, endpoint } = entry
  const times = [date(createdAt), date(appliedAt)]
  if (typeof inForce !== 'boolean' || !isEndpoint(endpoint)) return null
  const found = endpointIn({ name: endpoint.name, definition: JSON.stringify(endpoint) })
  if (inForce && createdAt === undefined) return { inForce, kept: null, endpoint: found }
  if (!times.every(time => time instanceof Date)) return null
  const by = [createdBy, appliedBy].map(name => (typeof name === 'string' ? name : null))
  const kept = { createdAt: times[0]!, createdBy: by[0]!, appliedAt: times[1]!, appliedBy: by[1]! }
  return { inForce, kept: { ...kept, ...(ended === true ? { ended } : {}) }, endpoint: found }
}

/** As far as a hand may have changed it; `apply` alone checks what a definition says. */
function isEndpoint(value: unknown): value is Endpoint {
  const { id, name, version, sql, parameters } = (value ?? {}) as Partial<Endpoint>
  const texts = [
    [id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
    [name, /^[A-Za-z0-9._-]{1,100}$/],
    [version, /^[0-9a-f]{16}$/],
    [sql, /\S/],
  ] as const
  return texts.every(([text, form]) => form.test(String(text))) && typeof parameters === 'object'
}

/** A date that is written as JSON has it; anything else as it is. */
function date(value: unknown): unknown {
  const time = new Date(typeof value === 'string' ? value : Number.NaN)
  return Number.isNaN(time.getTime()) ? value : time
}
