/** Calls of any store: within a time, one write alone, all documents of a search, and with their failures in the log. */
import { describeError, type Log } from '../log.ts'
import { type Document, type Filter, type Search, type Store, StoreError, type Writing } from './store.ts'

/** The longest waits for the store, in milliseconds. shared/cache/README.md, "Times". */
export const timeouts = { head: 1000, lease: 1000, publish: 2000, chunks: 1000, chunksPerMegabyte: 500 }

/**
 * Waits for a store call at most `ms` milliseconds: a client in trouble may hang for 20 s whatever its own settings.
 * @throws StoreError `unavailable` after that time; a write may still happen then
 */
export async function withTimeout<T>(ms: number, call: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new StoreError('unavailable', `no answer from the store in ${ms} ms`)),
      ms,
    )
  })
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}

/** A store's writes of one document, as batches of one. */
export function singleWrites(batch: Store['batch']): Pick<Store, 'create' | 'replace' | 'update' | 'remove'> {
  return {
    async create(at, fields) {
      return only(await batch([{ type: 'create', at, fields }]))
    },
    async replace(at, fields, ifVersion) {
      return only(await batch([{ type: 'replace', at, fields, ...condition(ifVersion) }]))
    },
    async update(at, change, ifVersion) {
      return only(await batch([{ type: 'update', at, ...change, ...condition(ifVersion) }]))
    },
    async remove(at, ifVersion) {
      await batch([{ type: 'remove', at, ...condition(ifVersion) }])
    },
  }
}

function condition(ifVersion: string | undefined): { ifVersion?: string } {
  return ifVersion === undefined ? {} : { ifVersion }
}

function only(writings: Writing[]): Writing {
  const [writing] = writings
  if (!writing) throw new TypeError('a write without its writing')
  return writing
}

/** The most that a search may ask for. */
const pageSize = 1_000

/**
 * All documents of a search, in its order, page by page. A page begins at the value at which the one before ended, as several
 * documents may have that value (fewer than a page). One that is written meanwhile may be missing, and none comes twice.
 * @throws StoreError
 */
export async function* everyDocument(
  store: Store,
  search: Omit<Search, 'limit'> & { orderBy: NonNullable<Search['orderBy']> },
): AsyncGenerator<Document> {
  const { where = [], orderBy } = search
  const seen = new Set<string>()
  for (let from: Filter[] = []; ;) {
    const page = { ...search, where: [...where, ...from], limit: pageSize }
    const { documents } = await store.query(page)
    const unseen = documents.filter(({ id }) => !seen.has(id))
    for (const document of unseen) seen.add(document.id)
    yield* unseen
    if (unseen.length === 0 || documents.length < pageSize) return
    const value = documents.at(-1)!.fields[orderBy.field] as Filter['value']
    from = [{ field: orderBy.field, operator: orderBy.direction === 'asc' ? '>=' : '<=', value }]
  }
}

/**
 * The same store, which logs why a call failed: many callers go on without the store, and say nothing. A conflict is no
 * failure: another process was faster.
 */
export function withLog(store: Store, log: Log): Store {
  const note = (error: unknown): never => {
    if (error instanceof StoreError && error.reason !== 'conflict')
      log('WARNING', 'the store failed', describeError(error))
    throw error
  }
  return {
    get: (...call) => store.get(...call).catch(note),
    create: (...call) => store.create(...call).catch(note),
    replace: (...call) => store.replace(...call).catch(note),
    update: (...call) => store.update(...call).catch(note),
    remove: (...call) => store.remove(...call).catch(note),
    query: (...call) => store.query(...call).catch(note),
    batch: (...call) => store.batch(...call).catch(note),
    close: () => store.close(),
  }
}
