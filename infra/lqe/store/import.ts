/** What an export changes in a store: it adds, puts in force and ends, and removes nothing. */
import { type Endpoint, endpointIn } from '../../../shared/endpoints/definition.ts'
import { endpointsCollection, maxEndpoints } from '../../../shared/endpoints/lookup.ts'
import { recordVersions, documentAt, listVersions, writeOf } from '../../../shared/endpoints/versions.ts'
import { documentOf, everyView, type StoredView } from '../../../shared/endpoints/views.ts'
import {
  documentOf as documentOfIssuer,
  type KnownIssuer,
  storedIssuers,
} from '../../../shared/keys/issuers.ts'
import { everyKey, fieldsOfKey, keyReference, type KeyRecord } from '../../../shared/keys/records.ts'
import { batchesOf } from '../../../shared/stores/limits.ts'
import type { Document, Store, Write } from '../../../shared/stores/store.ts'
import { planChannels } from '../apply/channels.ts'
import { type Step, stepFor } from '../apply/plan.ts'
import { type Contents, type Definition, ExportError } from './contents.ts'

export interface ImportPlan {
  /** Definitions last: what is in force has its versions. */
  writes: Write[]
  /** Of endpoints that are put in force. */
  steps: Step[]
  /** Ids of keys that the store does not have. */
  newKeys: string[]
  /** For the operator, a line for each change. */
  lines: string[]
}

/**
 * @returns what is to be done, of which nothing is done yet
 * @throws ExportError where the export does not go with the store; StoreError
 */
export async function planImport(
  store: Store,
  { definitions, keys, views, channels, issuers }: Contents,
): Promise<ImportPlan> {
  const steps = await stepsFor(store, definitions)
  const versions = await versionWrites(store, definitions)
  const ofKeys = await keyChanges(store, keys)
  const newIssuers = await missingIssuers(store, issuers)
  const ofViews = await viewWrites(store, views)
  const ofChannels = (await planChannels(channels, store, { keepsOthers: true })).filter(isChange)
  const inForce = [...steps, ...ofChannels].map(({ name, change, diff }) => {
    const lines = diff === null ? '' : `\n${diff.replaceAll(/^/gm, '    ')}`
    return `${change === 'created' ? '+' : '~'} ${name} ${change}${lines}`
  })
  return {
    writes: [
      ...versions,
      ...ofKeys.map(({ write }) => write),
      ...ofViews,
      ...newIssuers.map((issuer): Write => ({ type: 'create', ...documentOfIssuer(issuer) })),
      ...[...ofChannels, ...steps].flatMap(({ write }) => write ?? []),
    ],
    steps,
    newKeys: ofKeys.filter(({ write }) => write.type === 'create').map(({ write }) => write.at.id),
    lines: [
      ...inForce,
      ...(versions.length > 0 ? [`+ versions: ${versions.length}`] : []),
      ...ofKeys.map(({ line }) => line),
      ...(ofViews.length > 0 ? [`+ views: ${ofViews.length}`] : []),
      ...newIssuers.map(({ name }) => `+ issuer ${name}`),
    ],
  }
}

/**
 * Up to 500 documents and 1 MB are one step, all or nothing; more are several, which may be repeated.
 * @param by who does it, for the list of versions
 * @throws StoreError `conflict` where another process changed the store since the plan was made
 */
export async function carryOutImport(store: Store, plan: ImportPlan, by: string | null): Promise<void> {
  for (const batch of batchesOf(plan.writes)) await store.batch(batch)
  // One that takes the place of another was put in force now; one of an empty store when the export says.
  const replaced = plan.steps.filter(({ change }) => change === 'changed')
  await recordVersions(store, replaced, by)
}

/** Of endpoints that the export has in force, those that the store has not so. */
async function stepsFor(store: Store, definitions: Definition[]): Promise<Step[]> {
  const { documents } = await store.query({ collection: endpointsCollection, limit: maxEndpoints })
  const wanted = definitions.filter(({ inForce }) => inForce).map(({ endpoint }) => endpoint)
  assertOneEach(wanted, documents)
  return wanted
    .map(endpoint =>
      stepFor(
        endpoint,
        documents.find(({ id }) => id === endpoint.id),
      ),
    )
    .filter(isChange)
}

function isChange({ change }: Pick<Step, 'change'>): boolean {
  return change !== 'unchanged'
}

/** @throws ExportError for two endpoints of one id or name, and for more than a service takes */
function assertOneEach(wanted: Endpoint[], documents: Document[]): void {
  const ids = new Set(wanted.map(({ id }) => id))
  const others = documents.filter(({ id }) => !ids.has(id)).map(({ fields }) => endpointIn(fields))
  const names = new Set<string>()
  for (const { name, id } of [...others, ...wanted]) {
    if (names.has(name))
      throw new ExportError(
        `${name}: two endpoints would have this name, one with the id ${id}. Remove one of them first.`,
      )
    names.add(name)
  }
  if (ids.size < wanted.length) throw new ExportError('The export has an endpoint in force twice.')
  if (names.size > maxEndpoints)
    throw new ExportError(`That makes ${names.size} endpoints; a service takes ${maxEndpoints}.`)
}

/** Versions that the store lacks; one that either has ended stays so. */
async function versionWrites(store: Store, definitions: Definition[]): Promise<Write[]> {
  const names = new Set(definitions.map(({ endpoint }) => endpoint.name))
  const known = new Map<string, { ended?: true }>()
  for (const name of names)
    for (const version of await listVersions(store, name)) known.set(documentAt(version.endpoint).id, version)
  return definitions.flatMap(({ kept, endpoint }): Write[] => {
    if (!kept) return []
    const before = known.get(documentAt(endpoint).id)
    const { at, fields } = writeOf({ endpoint, ...kept })
    if (!before) return [{ type: 'create', at, fields }]
    return kept.ended && !before.ended ? [{ type: 'update', at, set: { ended: true } }] : []
  })
}

/** Keys that the store lacks, as they are; one that it has keeps its grant, and ends as early as either says. */
async function keyChanges(store: Store, keys: Contents['keys']): Promise<{ write: Write; line: string }[]> {
  const known = new Map<string, { version: string; record: KeyRecord | null }>()
  for await (const { id, ...key } of everyKey(store)) known.set(id, key)
  return keys.flatMap(({ id, record }): { write: Write; line: string }[] => {
    const at = keyReference(id)
    const before = known.get(id)
    if (!before)
      return [
        { write: { type: 'create', at, fields: fieldsOfKey(record) }, line: `+ key ${id} ${record.name}` },
      ]
    if (before.record?.hash !== record.hash)
      throw new ExportError(`The store has another key with the id ${id}. Revoke one of them first.`)
    const set = {
      revokedAt: earlier(before.record.revokedAt, record.revokedAt),
      expiresAt: earlier(before.record.expiresAt, record.expiresAt),
    }
    if (isSame(set.revokedAt, before.record.revokedAt) && isSame(set.expiresAt, before.record.expiresAt))
      return []
    const line = `~ key ${id} ${record.name} ${set.revokedAt ? 'is revoked' : 'ends earlier'}`
    return [{ write: { type: 'update', at, set, ifVersion: before.version }, line }]
  })
}

/** Views that the store lacks; one that it has under the name stays as it is. */
async function viewWrites(store: Store, views: StoredView[]): Promise<Write[]> {
  const known = new Set((await everyView(store)).map(view => documentOf(view).at.id))
  const lacking = views.map(documentOf).filter(({ at }) => !known.has(at.id))
  return lacking.map(({ at, fields }) => ({ type: 'create', at, fields }))
}

/** @throws ExportError for one that the store has otherwise */
async function missingIssuers(store: Store, issuers: KnownIssuer[]): Promise<KnownIssuer[]> {
  const known = await storedIssuers(store)
  return issuers.filter(({ name, issuer, text }) => {
    const before = known.find(one => one.name === name || one.issuer === issuer)
    if (before && before.text !== text)
      throw new ExportError(`The store has the issuer ${before.name} otherwise. Remove one of them first.`)
    return !before
  })
}

function earlier(a: Date | null, b: Date | null): Date | null {
  return a && b ? new Date(Math.min(a.getTime(), b.getTime())) : (a ?? b)
}

function isSame(a: Date | null, b: Date | null): boolean {
  return a?.getTime() === b?.getTime()
}
