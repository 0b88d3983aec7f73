/** Finds an endpoint in the store by the name or id in a request. */
import { type Endpoint, endpointIn } from './definition.ts'
import { rememberRead, rememberReads } from '../stores/remember-reads.ts'
import type { Document, Store } from '../stores/store.ts'
import { callableVersion } from './versions.ts'

export const endpointsCollection = 'endpoints'

/** Most endpoints of one service: `apply` refuses more, and the list ends there. */
export const maxEndpoints = 400

export interface Endpoints {
  /** The current version, by id (a UUID, in any case), name or alias; `null` if unknown. */
  find(idOrName: string): Promise<Endpoint | null>
  /** The same of those that are public alone: calls that know none cost no read of their own. */
  findPublic(idOrName: string): Promise<Endpoint | null>
  /** An earlier version, as callers may have it now; `null` if unknown. */
  version(current: Endpoint, version: string): Promise<Endpoint | null>
  /** All of them, by name. */
  all(): Promise<Endpoint[]>
  /** The same, as they were at most `rememberMs` ago. */
  remembered(): Promise<Endpoint[]>
}

interface Options {
  rememberMs: number
  /** Where a definition leaves it to the settings. */
  maxResultBytes: number
  clock?: { now(): number }
}

/**
 * Reads endpoints through a memory (`../stores/remember-reads.ts`, also for what holds while the store does not answer); a
 * changed definition is current everywhere after `rememberMs` milliseconds.
 * @returns throws ApiError `store_unavailable`
 */
export function openEndpoints(
  store: Store,
  { rememberMs, maxResultBytes, clock = performance }: Options,
): Endpoints {
  const read = ({ fields }: Document): Endpoint => {
    const endpoint = endpointIn(fields)
    return { ...endpoint, maxResultBytes: endpoint.maxResultBytes ?? maxResultBytes }
  }
  const common = { clock, unavailable: 'The service cannot read its definitions at the moment.' }
  const one = rememberReads({
    ...common,
    max: 1000,
    rememberMs,
    async read(idOrName) {
      const document = await findOne(store, idOrName)
      return { value: document && read(document) }
    },
  })
  const past = rememberReads({
    ...common,
    max: 1000,
    rememberMs,
    async read(key) {
      const [id, name, version] = JSON.parse(key) as [string, string, string]
      const document = await callableVersion(store, { id, name }, version)
      return document ? { value: read(document) } : { value: null, validMs: unknownMs }
    },
  })
  const list = (listMs: number) =>
    rememberRead({
      ...common,
      rememberMs: listMs,
      read: async () => ({ value: index((await readAll(store)).map(read)) }),
    })
  const [all, remembered] = [list(0), list(rememberMs)]
  return {
    async find(idOrName) {
      const key = keyOf(idOrName)
      const found = uuidPattern.test(key) || namePattern.test(key) ? await one(key) : null
      if (found) return found
      const id = (await remembered()).byAlias.get(idOrName)
      return id === undefined ? null : one(id)
    },
    findPublic: async idOrName => (await remembered()).open.get(keyOf(idOrName)) ?? null,
    async version(current, version) {
      const { id, name, endEarlierVersions } = current
      if (endEarlierVersions && version !== current.version) return null
      const found = await past(JSON.stringify([id, name, version]))
      return found && withGuardsOf(current, found)
    },
    all: async () => (await all()).endpoints,
    remembered: async () => (await remembered()).endpoints,
  }
}

function keyOf(idOrName: string): string {
  return uuidPattern.test(idOrName) ? idOrName.toLowerCase() : idOrName
}

/** All endpoints, the ids by alias, and the public ones by each name that they have. */
function index(endpoints: Endpoint[]) {
  const open = endpoints.filter(({ publicCallsPerMinute }) => publicCallsPerMinute !== undefined)
  return {
    endpoints,
    byAlias: new Map(endpoints.flatMap(({ id, aliases = [] }) => aliases.map(alias => [alias, id]))),
    open: new Map(
      open.flatMap(endpoint =>
        [endpoint.id, endpoint.name, ...(endpoint.aliases ?? [])].map(name => [name, endpoint] as const),
      ),
    ),
  }
}

/** How long an unknown version is remembered: one that is named before it is applied is found so much later. */
const unknownMs = 2_000

/** An earlier version lifts no redaction, and opens no sandbox. */
function withGuardsOf(current: Endpoint, past: Endpoint): Endpoint {
  return {
    ...past,
    redact: past.redact || current.redact,
    sandbox: past.sandbox && current.sandbox,
    sandboxDespiteRedaction: past.sandboxDespiteRedaction && current.sandboxDespiteRedaction,
  }
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const namePattern = /^[A-Za-z0-9._-]{1,100}$/

async function findOne(store: Store, idOrName: string): Promise<Document | null> {
  if (uuidPattern.test(idOrName)) {
    const { document } = await store.get({ collection: endpointsCollection, id: idOrName })
    return document
  }
  const search = {
    collection: endpointsCollection,
    where: [{ field: 'name', operator: '==' as const, value: idOrName }],
    limit: 1,
  }
  const { documents } = await store.query(search)
  return documents[0] ?? null
}

async function readAll(store: Store): Promise<Document[]> {
  const { documents } = await store.query({
    collection: endpointsCollection,
    orderBy: { field: 'name', direction: 'asc' },
    limit: maxEndpoints,
  })
  return documents
}
