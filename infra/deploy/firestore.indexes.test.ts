/** The indexes are those of the service's searches, and no others: each costs with every write. */
import { afterAll, describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { alertsCollection } from '../../shared/alerts/record.ts'
import { answersCollection, chunksCollection } from '../../shared/cache/head.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { openEndpoints } from '../../shared/endpoints/lookup.ts'
import { listVersions } from '../../shared/endpoints/versions.ts'
import { everyView, listViews } from '../../shared/endpoints/views.ts'
import type { Search } from '../../shared/stores/store.ts'
import { withFaults } from '../../shared/stores/testing/faults.ts'
import { openSqlite } from '../../shared/stores/sqlite/store.ts'
import { listKeys } from '../../shared/keys/records.ts'
import { findDue } from '../../shared/warm/due.ts'

interface Indexes {
  indexes: { collectionGroup: string; queryScope: string; fields: { fieldPath: string; order: string }[] }[]
  fieldOverrides: {
    collectionGroup: string
    fieldPath: string
    ttl?: boolean
    indexes: { order: string; queryScope: string }[]
  }[]
}

const { indexes, fieldOverrides } = JSON.parse(
  readFileSync(new URL('firestore.indexes.json', import.meta.url), 'utf8'),
) as Indexes

/** Every index, as text: `collection: field ASCENDING, ...`. Nothing else is indexed. */
const defined = [
  ...indexes.map(({ collectionGroup, fields }) => ({ collectionGroup, fields })),
  ...fieldOverrides.flatMap(({ collectionGroup, fieldPath, indexes }) =>
    indexes.map(({ order }) => ({ collectionGroup, fields: [{ fieldPath, order }] })),
  ),
].map(
  ({ collectionGroup, fields }) =>
    `${collectionGroup}: ${fields.map(({ fieldPath, order }) => `${fieldPath} ${order}`).join(', ')}`,
)

/** The index that a search needs: fields that must be equal, then the one that it is ordered by. */
function needed({ collection, where = [], orderBy }: Search): string[] {
  const equal = where.filter(({ operator }) => operator === '==').map(({ field }) => `${field} ASCENDING`)
  const ordered = orderBy
    ? [`${orderBy.field} ${orderBy.direction === 'asc' ? 'ASCENDING' : 'DESCENDING'}`]
    : []
  const fields = [...equal, ...ordered]
  return fields.length > 0 ? [`${collection}: ${fields.join(', ')}`] : []
}

describe('the indexes of Firestore', () => {
  const searches: Search[] = []
  const sqlite = openSqlite({ file: ':memory:' })
  const store = withFaults(sqlite, {
    before: (operation, [search]) => {
      if (operation === 'query') searches.push(search as Search)
    },
  })
  afterAll(() => store.close())

  test('are what the searches of the service need', async () => {
    const endpoints = openEndpoints(store, { rememberMs: 0, maxResultBytes: 0 })
    await endpoints.all()
    await endpoints.find('a-name')
    await listVersions(store, 'a-name')
    await listKeys(store)
    await listViews(store, 'shelf')
    await everyView(store)
    await findDue(store, { id: 'e', cacheSeconds: 60, warm: { maxSets: 1 } } as Endpoint, 0)
    expect([...new Set(searches.flatMap(needed))].sort()).toEqual(defined.toSorted())
  })

  test('leave all other fields of each collection out', () => {
    const collections = [...new Set(fieldOverrides.map(({ collectionGroup }) => collectionGroup))]
    const exempt = fieldOverrides.filter(({ fieldPath }) => fieldPath === '*')
    expect(exempt.map(({ collectionGroup }) => collectionGroup)).toEqual(collections)
    for (const { indexes } of exempt) expect(indexes).toEqual([])
  })

  test('go with the deletion of what has expired', () => {
    const expiring = fieldOverrides.filter(({ ttl }) => ttl)
    expect(expiring.map(({ collectionGroup, fieldPath }) => [collectionGroup, fieldPath])).toEqual([
      [alertsCollection, 'expireAt'],
      [answersCollection, 'expireAt'],
      [chunksCollection, 'expireAt'],
      ['silences', 'expireAt'],
      ['spending', 'expireAt'],
      ['warming', 'expireAt'],
    ])
  })
})
