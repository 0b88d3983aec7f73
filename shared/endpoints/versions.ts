/** Every version of a definition that was applied, in the collection `endpointVersions`. */
import { batchesOf } from '../stores/limits.ts'
import type { Document, Fields, Filter, Reference, Store, Write } from '../stores/store.ts'
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

/** Names of the endpoints of which versions are kept, also of those that were removed. @throws StoreError */
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
  for (const batch of batchesOf(writes)) await store.batch(batch)
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

/** The write that keeps a version. */
export function writeOf({ endpoint, ...times }: EndpointVersion): Write & { type: 'replace' } {
  const at = versionAt(endpoint.id, endpoint.version)
  return { type: 'replace', at, fields: { ...fieldsOf(endpoint), ...times } }
}

async function removeOldest(store: Store, { name, version }: Endpoint): Promise<void> {
  const versions = await listVersions(store, name)
  const old = versions.slice(maxVersions).filter(({ endpoint }) => endpoint.version !== version)
  for (const { endpoint } of old) await store.remove(versionAt(endpoint.id, endpoint.version))
}
