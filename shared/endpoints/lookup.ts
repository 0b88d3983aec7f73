/** Finds an endpoint in the store by the name or id in a request. */
import { type Endpoint, endpointOf } from './definition.ts'
import { rememberReads } from '../stores/memory.ts'
import type { Document, Store } from '../stores/store.ts'

export const endpointsCollection = 'endpoints'

/** Most endpoints of one service: `apply` refuses more, and the list ends there. */
export const maxEndpoints = 400

export interface Endpoints {
  /** By id (a UUID, in any case) or by name. `null` where there is none. */
  find(idOrName: string): Promise<Endpoint | null>
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
 * Reads endpoints through a memory (`../stores/memory.ts`, also for what holds while the store does not answer); a
 * changed definition is in force everywhere after `rememberMs` milliseconds.
 * @returns throws ApiError `store_unavailable`
 */
export function openEndpoints(
  store: Store,
  { rememberMs, maxResultBytes, clock = performance }: Options,
): Endpoints {
  const endpointIn = (document: Document): Endpoint => {
    const endpoint = endpointOf(document)
    return { ...endpoint, maxResultBytes: endpoint.maxResultBytes ?? maxResultBytes }
  }
  const common = { clock, unavailable: 'The service cannot read its definitions at the moment.' }
  const one = rememberReads({
    ...common,
    max: 1000,
    rememberMs,
    async read(idOrName) {
      const document = await read(store, idOrName)
      return { value: document && endpointIn(document) }
    },
  })
  const list = (listMs: number) =>
    rememberReads({
      ...common,
      max: 1,
      rememberMs: listMs,
      read: async () => ({ value: (await readAll(store)).map(endpointIn) }),
    })
  const [all, remembered] = [list(0), list(rememberMs)]
  return {
    async find(idOrName) {
      const key = uuidPattern.test(idOrName) ? idOrName.toLowerCase() : idOrName
      if (!uuidPattern.test(key) && !namePattern.test(key)) return null
      return one(key, undefined)
    },
    all: () => all('all', undefined),
    remembered: () => remembered('all', undefined),
  }
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const namePattern = /^[A-Za-z0-9._-]{1,100}$/

async function read(store: Store, idOrName: string): Promise<Document | null> {
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
