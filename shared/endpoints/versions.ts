/** Every version of a definition that was applied, in the collection `endpointVersions`. */
import { hash } from 'node:crypto'
import { batchesOf } from '../stores/limits.ts'
import type { Document, Filter, Reference, Store, Write } from '../stores/store.ts'
import { type Endpoint, endpointIn, fieldsOf } from './definition.ts'

const versionsCollection = 'endpointVersions'

/** A version, and when and by whom it was first and last applied. */
export interface EndpointVersion {
  endpoint: Endpoint
  createdAt: Date
  /** `null` for what was applied before versions were stored. */
  createdBy: string | null
  appliedAt: Date
  appliedBy: string | null
  /** Whether a definition that was applied later has ended it: only operators have it. */
  ended?: true
}

/** Most versions of one endpoint: with a new one more, the one that was applied longest ago goes. */
const maxVersions = 200

/** Where a version of an endpoint without alerts is. */
export function versionAt(id: string, version: string): Reference {
  return { collection: versionsCollection, id: `${id}.${version}` }
}

/** The id of a version. Other alerts change no answer, but make a version, too. */
export function nameOfVersion({ version, alerts }: Endpoint): string {
  return alerts ? `${version}-${hash('sha256', JSON.stringify(alerts)).slice(0, 8)}` : version
}

/** The document of this version. */
export function documentAt(endpoint: Endpoint): Reference {
  return versionAt(endpoint.id, nameOfVersion(endpoint))
}

/**
 * A version by its hash, as callers name it, whatever alerts it had. `null` where there is none, or it is ended.
 * @throws StoreError
 */
export async function callableVersion(
  store: Store,
  { id, name }: Pick<Endpoint, 'id' | 'name'>,
  version: string,
): Promise<Document | null> {
  const { document } = await store.get(versionAt(id, version))
  const all = document
    ? [document]
    : (await versionDocuments(store, name)).filter(one => one.id.startsWith(`${id}.${version}-`))
  return all.find(({ fields }) => fields['ended'] !== true) ?? null
}

/**
 * The versions of an endpoint, the last applied first.
 * @param name of its files; those of an endpoint that was removed are found, too
 * @throws StoreError
 */
export async function listVersions(store: Store, name: string): Promise<EndpointVersion[]> {
  const documents = await versionDocuments(store, name)
  return documents.map(versionIn).toSorted((a, b) => b.appliedAt.getTime() - a.appliedAt.getTime())
}

async function versionDocuments(store: Store, name: string): Promise<Document[]> {
  const where = [{ field: 'name', operator: '==' as const, value: name }]
  return (await store.query({ collection: versionsCollection, where, limit: 1_000 })).documents
}

/** Names of the endpoints with stored versions, also of those that were removed. @throws StoreError */
export async function namesOfVersions(store: Store): Promise<string[]> {
  const names = new Set<string>()
  const orderBy = { field: 'name', direction: 'asc' } as const
  const search = { collection: versionsCollection, orderBy, fields: ['name'], limit: 1_000 }
  for (let after: Filter[] = []; ;) {
    const { documents } = await store.query({ ...search, where: after })
    for (const { fields } of documents) names.add(fields['name'] as string)
    if (documents.length < search.limit) return [...names]
    after = [{ field: 'name', operator: '>', value: documents.at(-1)!.fields['name'] as string }]
  }
}

function versionIn({ fields }: Document): EndpointVersion {
  return {
    endpoint: endpointIn(fields),
    createdAt: fields['createdAt'] as Date,
    createdBy: fields['createdBy'] as string | null,
    appliedAt: fields['appliedAt'] as Date,
    appliedBy: fields['appliedBy'] as string | null,
    ...(fields['ended'] === true ? { ended: true } : {}),
  }
}

/** What `apply` has done with an endpoint. */
interface Applied {
  /** The current version before; `null` for a new endpoint. */
  before: { endpoint: Endpoint; since: Date } | null
  /** `null` where it is as before, or removed. */
  after: Endpoint | null
}

/**
 * Stores the current version, and the one before if it is missing, and ends earlier ones where the definition says so.
 * Every call may be repeated.
 * @param by who applies it
 * @throws StoreError
 */
export async function recordVersions(
  store: Store,
  applied: Applied[],
  by: string | null,
  now = new Date(),
): Promise<void> {
  const writes = (await Promise.all(applied.map(one => writesFor(store, one, by, now)))).flat()
  await inBatches(store, writes)
  for (const { after } of applied) if (after) await removeOldest(store, after)
  for (const one of applied) await endEarlier(store, one)
}

async function inBatches(store: Store, writes: Write[]): Promise<void> {
  for (const batch of batchesOf(writes)) await store.batch(batch)
}

/** For good: a later definition, or one that is restored, does not make them callable again. */
async function endEarlier(store: Store, { before, after }: Applied): Promise<void> {
  const current = after ?? before?.endpoint
  if (!current?.endEarlierVersions) return
  const names = new Set([current.name, before?.endpoint.name ?? current.name])
  const versions = (await Promise.all([...names].map(name => listVersions(store, name)))).flat()
  const others = versions.filter(({ endpoint, ended }) => endpoint.version !== current.version && !ended)
  const at = others.map(({ endpoint }) => documentAt(endpoint))
  await inBatches(
    store,
    at.map(at => ({ type: 'update', at, set: { ended: true } })),
  )
}

async function writesFor(
  store: Store,
  { before, after }: Applied,
  by: string | null,
  now: Date,
): Promise<Write[]> {
  const writes: Write[] = []
  if (before && (!after || nameOfVersion(before.endpoint) !== nameOfVersion(after))) {
    const { endpoint, since } = before
    const { document } = await store.get(documentAt(endpoint), [])
    const times = { createdAt: since, createdBy: null, appliedAt: since, appliedBy: null }
    if (!document) writes.push(writeOf({ endpoint, ...times }))
  }
  if (after) {
    const { document } = await store.get(documentAt(after))
    const { createdAt, createdBy } = document ? versionIn(document) : { createdAt: now, createdBy: by }
    writes.push(writeOf({ endpoint: after, createdAt, createdBy, appliedAt: now, appliedBy: by }))
  }
  return writes
}

/** The write that stores a version. */
export function writeOf({ endpoint, ...times }: EndpointVersion): Write & { type: 'replace' } {
  const at = documentAt(endpoint)
  return { type: 'replace', at, fields: { ...fieldsOf(endpoint), ...times } }
}

async function removeOldest(store: Store, current: Endpoint): Promise<void> {
  const versions = await listVersions(store, current.name)
  const name = nameOfVersion(current)
  const old = versions.slice(maxVersions).filter(({ endpoint }) => nameOfVersion(endpoint) !== name)
  for (const { endpoint } of old) await store.remove(documentAt(endpoint))
}
