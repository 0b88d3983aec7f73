/** Every version of a definition that was applied, in the collection `endpointVersions`. */
import type { Document, Fields, Reference, Store, Write } from '../stores/store.ts'
import { type Endpoint, endpointIn, fieldsOf } from './definition.ts'

const versionsCollection = 'endpointVersions'

/** A version, and when and by whom it was first and last applied. */
export interface EndpointVersion {
  endpoint: Endpoint
  createdAt: Date
  /** `null` for what was applied before versions were kept. */
  createdBy: string | null
  appliedAt: Date
  appliedBy: string | null
  /** Whether a definition that was applied later has ended it: only operators have it. */
  ended?: true
}

/** Most versions of one endpoint: with a new one more, the one that was applied longest ago goes. */
const maxVersions = 200

/** Where a version of an endpoint is. */
export function versionAt(id: string, version: string): Reference {
  return { collection: versionsCollection, id: `${id}.${version}` }
}

/**
 * The versions of an endpoint, the last applied first.
 * @param name of its files; those of an endpoint that was removed are found, too
 * @throws StoreError
 */
export async function listVersions(store: Store, name: string): Promise<EndpointVersion[]> {
  const where = [{ field: 'name', operator: '==' as const, value: name }]
  const { documents } = await store.query({ collection: versionsCollection, where, limit: 1_000 })
  return documents.map(versionIn).toSorted((a, b) => b.appliedAt.getTime() - a.appliedAt.getTime())
}

function versionIn({ fields }: Document): EndpointVersion {
  return {
    endpoint: endpointIn(fields),
    createdAt: fields['createdAt'] as Date,
    createdBy: fields['createdBy'] as string | null,
    appliedAt: fields['appliedAt'] as Date,
    appliedBy: fields['appliedBy'] as string | null,
    ...(isEnded(fields) ? { ended: true } : {}),
  }
}

/** Of the document of a version. */
export function isEnded({ ended }: Fields): boolean {
  return ended === true
}

/** What `apply` has done with an endpoint. */
interface Applied {
  /** As it was in force before; `null` for a new one. */
  before: { endpoint: Endpoint; since: Date } | null
  /** `null` where it is as before, or removed. */
  after: Endpoint | null
}

/** Writes of one batch: a store takes 500, and at most a few megabytes. */
const batchSize = 50

/**
 * Keeps what is in force now, and what was before and is not kept yet, and ends earlier ones where the definition says so.
 * Every call may be repeated.
 * @param by who applies it
 * @throws StoreError
 */
export async function keepVersions(
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
  for (let at = 0; at < writes.length; at += batchSize) await store.batch(writes.slice(at, at + batchSize))
}

/** For good: a later definition, or one that is restored, does not make them callable again. */
async function endEarlier(store: Store, { before, after }: Applied): Promise<void> {
  const current = after ?? before?.endpoint
  if (!current?.endEarlierVersions) return
  const names = new Set([current.name, before?.endpoint.name ?? current.name])
  const versions = (await Promise.all([...names].map(name => listVersions(store, name)))).flat()
  const others = versions.filter(({ endpoint, ended }) => endpoint.version !== current.version && !ended)
  const at = others.map(({ endpoint: { id, version } }) => versionAt(id, version))
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
  if (before && before.endpoint.version !== after?.version) {
    const { endpoint, since } = before
    const { document } = await store.get(versionAt(endpoint.id, endpoint.version), [])
    const times = { createdAt: since, createdBy: null, appliedAt: since, appliedBy: null }
    if (!document) writes.push(writeOf({ endpoint, ...times }))
  }
  if (after) {
    const { document } = await store.get(versionAt(after.id, after.version))
    const { createdAt, createdBy } = document ? versionIn(document) : { createdAt: now, createdBy: by }
    writes.push(writeOf({ endpoint: after, createdAt, createdBy, appliedAt: now, appliedBy: by }))
  }
  return writes
}

function writeOf({ endpoint, ...times }: EndpointVersion): Write {
  const at = versionAt(endpoint.id, endpoint.version)
  return { type: 'replace', at, fields: { ...fieldsOf(endpoint), ...times } }
}

async function removeOldest(store: Store, { name, version }: Endpoint): Promise<void> {
  const versions = await listVersions(store, name)
  const old = versions.slice(maxVersions).filter(({ endpoint }) => endpoint.version !== version)
  for (const { endpoint } of old) await store.remove(versionAt(endpoint.id, endpoint.version))
}
