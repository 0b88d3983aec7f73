/** Queries of every Store adapter, and calls that it refuses. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Fields, Filter, Search, Store } from './store.ts'
import { freshCollection } from './testing/adapters.ts'
import { describeStores } from './testing/describe-stores.ts'

const refused = (reason: string) => ({ name: 'StoreError', reason })

describeStores('the store', ({ open }) => {
  let store: Store
  const collection = freshCollection()
  beforeAll(async () => {
    store = await open()
    await store.batch(
      Object.entries(documents).map(([id, fields]) => ({ type: 'create', at: { collection, id }, fields })),
    )
  })
  afterAll(() => store.close())

  const idsOf = async (search: Omit<Search, 'collection' | 'limit'>) => {
    const found = await store.query({ collection, limit: 100, ...search })
    return found.documents.map(({ id }) => id).join(' ')
  }

  describe('a query', () => {
    test.each<[Filter, string]>([
      [{ field: 'n', operator: '==', value: 2 }, 'two two-again'],
      [{ field: 'n', operator: '<', value: 2 }, 'minus one-and-a-half'],
      [{ field: 'n', operator: '<=', value: 2 }, 'minus one-and-a-half two two-again'],
      [{ field: 'n', operator: '>', value: 2 }, 'ten'],
      [{ field: 'n', operator: '>=', value: 2 }, 'ten two two-again'],
      [{ field: 'n', operator: '==', value: '2' }, 'text'],
      [{ field: 'n', operator: '>', value: '' }, 'text'],
      [{ field: 'n', operator: '==', value: true }, 'yes'],
      [{ field: 'n', operator: '<', value: true }, ''],
      [{ field: 'n', operator: '==', value: 1 }, ''],
      [{ field: 'n', operator: '>=', value: new Date(0) }, 'date'],
      [{ field: 'n', operator: '<', value: new Date(2) }, ''],
      [{ field: 'unknown', operator: '==', value: 2 }, ''],
    ])('%j compares values of one type only', async (filter, ids) => {
      expect(await idsOf({ where: [filter] })).toBe(ids)
    })

    test('takes several filters together', async () => {
      const where: Filter[] = [
        { field: 'n', operator: '>', value: 0 },
        { field: 'n', operator: '<', value: 10 },
        { field: 's', operator: '==', value: 'a' },
      ]
      expect(await idsOf({ where })).toBe('two')
    })

    test('goes by id if no order is asked for', async () => {
      expect(await idsOf({})).toBe(Object.keys(documents).sort().join(' '))
    })

    test('leaves out what lacks the field it is ordered by, and orders types as Firestore does', async () => {
      expect(await idsOf({ orderBy: { field: 'n', direction: 'asc' } })).toBe(
        'null yes minus one-and-a-half two two-again ten date text',
      )
    })

    test('takes equal values by id, in the direction of the order', async () => {
      expect(await idsOf({ orderBy: { field: 'n', direction: 'desc' } })).toBe(
        'text date ten two-again two one-and-a-half minus yes null',
      )
    })

    test('orders text by its UTF-8 bytes', async () => {
      expect(await idsOf({ orderBy: { field: 's', direction: 'asc' } })).toBe('two text date null ten')
    })

    test('filters, orders and cuts', async () => {
      const where: Filter[] = [{ field: 'n', operator: '>=', value: 1 }]
      const found = await store.query({
        collection,
        where,
        orderBy: { field: 'n', direction: 'desc' },
        limit: 2,
      })
      expect(found.documents.map(({ id }) => id)).toEqual(['ten', 'two-again'])
    })

    test('reads the fields it is asked for, and no others', async () => {
      const where: Filter[] = [{ field: 'n', operator: '==', value: 10 }]
      const found = await store.query({ collection, where, limit: 1, fields: ['s', 'unknown'] })
      const { document } = await store.get({ collection, id: 'ten' })
      expect(found.documents).toEqual([{ ...document, fields: { s: '\u{1F600}' } }])
      expect(found.readAt).toBeGreaterThanOrEqual(document?.writtenAt ?? Infinity)
    })

    test('finds nothing in a collection that is not there', async () => {
      expect((await store.query({ collection: freshCollection(), limit: 1 })).documents).toEqual([])
    })
  })

  describe('what no store takes', () => {
    const at = { collection, id: 'refused' }
    test.each<[string, Fields]>([
      ['bytes', { bytes: new Uint8Array(1_048_576) }],
      ['text', { text: 'ü'.repeat(524_288) }],
      ['a list', { list: Array.from({ length: 131_072 }, () => 0.5) }],
    ])('a document over 1 MiB in %s', async (_, fields) => {
      await expect(store.create(at, fields)).rejects.toMatchObject(refused('too_large'))
      expect((await store.get(at)).document).toBeNull()
    })

    test('a document that an update makes too large', async () => {
      const large = { collection, id: 'large' }
      await store.create(large, { half: new Uint8Array(600_000) })
      const update = store.update(large, { set: { other: new Uint8Array(600_000) } })
      await expect(update).rejects.toMatchObject(refused('too_large'))
      expect(Object.keys((await store.get(large)).document?.fields ?? {})).toEqual(['half'])
      await store.remove(large)
    })

    test.each<[string, unknown]>([
      ['no value', undefined],
      ['not a number', NaN],
      ['infinity', -Infinity],
      ['a function', () => 1],
      ['a big integer', 1n],
      ['an invalid date', new Date(NaN)],
      ['a date in the year 10000', new Date(253_402_300_800_000)],
      ['a date below the top', { at: new Date(0) }],
      ['bytes below the top', [new Uint8Array(1)]],
      ['a list in a list', [[1]]],
      ['half a surrogate pair', '\ud800'],
      ['a reserved key', { __id__: 1 }],
      ['an object of a class', new Map()],
    ])('a field with %s', async (_, value) => {
      await expect(store.create(at, { value } as Fields)).rejects.toMatchObject(refused('invalid'))
    })

    test.each(['', 'a/b', 'ü', ' ', '.', '..', '__id__', 'a'.repeat(1001)])('the id %j', async id => {
      await expect(store.get({ collection, id })).rejects.toMatchObject(refused('invalid'))
    })

    test.each(['', 'a/b', '1a', 'a b', '__all__'])('the collection %j', async name => {
      await expect(store.get({ collection: name, id: 'a' })).rejects.toMatchObject(refused('invalid'))
    })

    test.each(['', 'a.b', 'a b', '`', "a'", '__name__', '_write'])('the field %j', async field => {
      await expect(store.create(at, { [field]: 1 })).rejects.toMatchObject(refused('invalid'))
      await expect(store.get(at, [field])).rejects.toMatchObject(refused('invalid'))
      await expect(store.query({ collection, limit: 1, fields: [field] })).rejects.toMatchObject(
        refused('invalid'),
      )
    })

    test.each([0, 1001, 1.5, NaN])('the limit %d', async limit => {
      await expect(store.query({ collection, limit })).rejects.toMatchObject(refused('invalid'))
    })

    test('an update of nothing, or of one field in two ways', async () => {
      await expect(store.update(at, { set: {} })).rejects.toMatchObject(refused('invalid'))
      await expect(store.update(at, { set: { a: 1 }, unset: ['a'] })).rejects.toMatchObject(
        refused('invalid'),
      )
    })

    test.each<[string, Record<string, unknown>, Fields]>([
      ['nothing', {}, { a: 1 }],
      ['text', { n: '1' }, {}],
      ['infinity', { n: Infinity }, {}],
      ['a field that it sets', { n: 1 }, { n: 2 }],
    ])('an addition of %s', async (_, amounts, set) => {
      const add = { type: 'add', at, amounts: amounts as never, set } as const
      await expect(store.batch([add])).rejects.toMatchObject(refused('invalid'))
    })
  })

  test('a store that was closed is not available', async () => {
    const other = await open()
    await other.close()
    await other.close()
    await expect(other.get({ collection, id: 'a' })).rejects.toMatchObject(refused('unavailable'))
  })
})

const documents: { [id: string]: Fields } = {
  minus: { n: -3 },
  'one-and-a-half': { n: 1.5 },
  two: { n: 2, s: 'a' },
  'two-again': { n: 2 },
  ten: { n: 10, s: '\u{1F600}', payload: new Uint8Array(1000) },
  text: { n: '2', s: 'b' },
  yes: { n: true },
  null: { n: null, s: '\uFFFD' },
  date: { n: new Date(5), s: 'z' },
  without: { m: 1 },
}
