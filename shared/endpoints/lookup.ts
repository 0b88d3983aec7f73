/** Finds an endpoint in the store by the name or id in a request. */
import { LRUCache } from 'lru-cache'
import { type Endpoint, endpointOf } from './definition.ts'
import { ApiError } from '../errors.ts'
import type { Document, Store } from '../stores/store.ts'

export const endpointsCollection = 'endpoints'

/** Most endpoints of one service: `apply` refuses more, and the list ends there. */
export const maxEndpoints = 400

export interface Endpoints {
  /** By id (a UUID, in any case) or by name. `null` where there is none. */
  find(idOrName: string): Promise<Endpoint | null>
  /** All of them, by name. */
  all(): Promise<Endpoint[]>
}

/**
 * Reads endpoints through a memory, with the settings where a definition leaves something to them; a changed definition is in force everywhere after `rememberMs` milliseconds.
 * Its calls throw ApiError `store_unavailable` where the store fails and nothing is remembered.
 */
export function openEndpoints(
  store: Store,
  { rememberMs, maxResultBytes }: { rememberMs: number; maxResultBytes: number },
): Endpoints {
  const endpointIn = (document: Document): Endpoint => {
    const endpoint = endpointOf(document)
    return { ...endpoint, maxResultBytes: endpoint.maxResultBytes ?? maxResultBytes }
  }
  const remembered = new LRUCache<string, { endpoint: Endpoint | null }>({
    max: 1000,
    ttl: rememberMs,
    // An entry that is pushed out while it is read would fail the request that waits for it.
    ignoreFetchAbort: true,
    fetchMethod: async idOrName => {
      const document = await read(store, idOrName)
      return { endpoint: document && endpointIn(document) }
    },
  })
  return {
    async find(idOrName) {
      const key = uuidPattern.test(idOrName) ? idOrName.toLowerCase() : idOrName
      if (!uuidPattern.test(key) && !namePattern.test(key)) return null
      return (await remembered.forceFetch(key)).endpoint
    },
    async all() {
      const search = {
        collection: endpointsCollection,
        orderBy: { field: 'name', direction: 'asc' },
        limit: maxEndpoints,
      } as const
      const { documents } = await store.query(search).catch(unavailable)
      return documents.map(endpointIn)
    },
  }
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const namePattern = /^[A-Za-z0-9._-]{1,100}$/

async function read(store: Store, idOrName: string): Promise<Document | null> {
  if (uuidPattern.test(idOrName)) {
    const { document } = await store.get({ collection: endpointsCollection, id: idOrName }).catch(unavailable)
    return document
  }
  const search = {
    collection: endpointsCollection,
    where: [{ field: 'name', operator: '==' as const, value: idOrName }],
    limit: 1,
  }
  const { documents } = await store.query(search).catch(unavailable)
  return documents[0] ?? null
}

function unavailable(cause: unknown): never {
  throw new ApiError('store_unavailable', 'The service cannot read its definitions at the moment.', {
    headers: { 'Retry-After': '2' },
    cause,
  })
}
