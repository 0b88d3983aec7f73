import type { Document, Filter, Search, Store } from './store.ts'

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
