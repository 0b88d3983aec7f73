/** What an export changes in a store: it adds, puts in force and ends, and removes nothing. */
import { isDeepStrictEqual } from 'node:util'
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
import { linesOf, type Step, stepFor } from '../apply/plan.ts'
import { CommandError } from '../command.ts'
import type { Contents, Definition } from './contents.ts'

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
 * @throws CommandError where the export does not go with the store; StoreError
 */
export async function planImport(
  store: Store,
  { definitions, keys, views, channels, issuers }: Contents,
): Promise<ImportPlan> {
  const steps = await stepsFor(store, definitions)
  const ofChannels = (await planChannels(channels, store, { keepsOthers: true })).filter(isChange)
  const inForce = [...steps, ...ofChannels].map(step => ({
    write: step.write!,
    line: linesOf(step).join('\n'),
  }))
  const versions = counted('versions', await versionWrites(store, definitions))
  const ofKeys = await keyChanges(store, keys)
  const others = [
    ...ofKeys,
    ...counted('views', await viewWrites(store, views)),
    ...(await missingIssuers(store, issuers)).map((issuer): Change => ({
      write: { type: 'create', ...documentOfIssuer(issuer) },
      line: `+ issuer ${issuer.name}`,
    })),
  ]
  return {
    // Channels before the alerts that tell them.
    writes: [...versions, ...others, ...inForce.slice(steps.length), ...inForce.slice(0, steps.length)].map(
      ({ write }) => write,
    ),
    steps,
    newKeys: ofKeys.flatMap(({ write }) => (write.type === 'create' ? write.at.id : [])),
    lines: [...inForce, ...versions, ...others].flatMap(({ line }) => line ?? []),
  }
}

/** A write, and what the operator reads of it. */
interface Change {
  write: Write
  line?: string
}

/** Of many, the number alone is said. */
function counted(what: string, writes: Write[]): Change[] {
  return writes.map((write, at) => (at > 0 ? { write } : { write, line: `+ ${what}: ${writes.length}` }))
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
  const stored = new Map(documents.map(document => [document.id, document]))
  return wanted.map(endpoint => stepFor(endpoint, stored.get(endpoint.id))).filter(isChange)
}

function isChange({ change }: Pick<Step, 'change'>): boolean {
  return change !== 'unchanged'
}

/** @throws CommandError for two endpoints of one id or name, and for more than a service takes */
function assertOneEach(wanted: Endpoint[], documents: Document[]): void {
  const ids = new Set(wanted.map(({ id }) => id))
  const others = documents.filter(({ id }) => !ids.has(id)).map(({ fields }) => endpointIn(fields))
  const names = new Set<string>()
  for (const { name, id } of [...others, ...wanted]) {
    if (names.has(name))
      throw new CommandError(
        `${name}: two endpoints would have this name, one with the id ${id}. Remove one of them first.`,
      )
    names.add(name)
  }
  if (ids.size < wanted.length) throw new CommandError('The export has an endpoint in force twice.')
  if (names.size > maxEndpoints)
    throw new CommandError(`That makes ${names.size} endpoints; a service takes ${maxEndpoints}.`)
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
async function keyChanges(store: Store, keys: Contents['keys']): Promise<Change[]> {
  const known = new Map<string, { version: string; record: KeyRecord | null }>()
  for await (const { id, ...key } of everyKey(store)) known.set(id, key)
  return keys.flatMap(({ id, record }): Change[] => {
    const at = keyReference(id)
    const { record: before, version: ifVersion } = known.get(id) ?? {}
    if (ifVersion === undefined)
      return [
        { write: { type: 'create', at, fields: fieldsOfKey(record) }, line: `+ key ${id} ${record.name}` },
      ]
    if (before?.hash !== record.hash)
      throw new CommandError(`The store has another key with the id ${id}. Revoke one of them first.`)
    const set = {
      revokedAt: earlier(before.revokedAt, record.revokedAt),
      expiresAt: earlier(before.expiresAt, record.expiresAt),
    }
    const { revokedAt, expiresAt } = before
    if (isDeepStrictEqual(set, { revokedAt, expiresAt })) return []
    const line = `~ key ${id} ${record.name} ${set.revokedAt ? 'is revoked' : 'ends earlier'}`
    return [{ write: { type: 'update', at, set, ifVersion }, line }]
  })
}

/** Views that the store lacks; one that it has under the name stays as it is. */
async function viewWrites(store: Store, views: StoredView[]): Promise<Write[]> {
  const known = new Set((await everyView(store)).map(view => documentOf(view).at.id))
  const lacking = views.map(documentOf).filter(({ at }) => !known.has(at.id))
  return lacking.map(({ at, fields }) => ({ type: 'create', at, fields }))
}

/** @throws CommandError for one that the store has otherwise */
async function missingIssuers(store: Store, issuers: KnownIssuer[]): Promise<KnownIssuer[]> {
  const known = await storedIssuers(store)
  return issuers.filter(({ name, issuer, text }) => {
    const before = known.find(one => one.name === name || one.issuer === issuer)
    if (before && before.text !== text)
      throw new CommandError(`The store has the issuer ${before.name} otherwise. Remove one of them first.`)
    return !before
  })
}

function earlier(a: Date | null, b: Date | null): Date | null {
  return a && b ? new Date(Math.min(a.getTime(), b.getTime())) : (a ?? b)
}
