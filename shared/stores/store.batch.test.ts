/** Batches of writes in every Store adapter. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { batchesOf } from './limits.ts'
import type { Store, Write } from './store.ts'
import { freshCollection } from './testing/adapters.ts'
import { describeStores } from './testing/describe-stores.ts'

const refused = (reason: string) => ({ name: 'StoreError', reason })

describeStores('a batch for the store', ({ open }) => {
  let store: Store
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  test('writes all of its documents at one time', async () => {
    const collection = freshCollection()
    const at = (id: string) => ({ collection, id })
    const { version } = await store.create(at('old'), { a: 1 })
    await store.create(at('spare'), {})
    const writings = await store.batch([
      { type: 'create', at: at('new'), fields: { b: 1 } },
      { type: 'replace', at: at('other'), fields: { c: 1 } },
      { type: 'update', at: at('old'), set: { d: 1 }, ifVersion: version },
      { type: 'remove', at: at('spare') },
    ])
    expect(writings).toHaveLength(4)
    expect(new Set(writings.map(({ writtenAt }) => writtenAt)).size).toBe(1)
    const { documents } = await store.query({ collection, limit: 10 })
    expect(documents.map(({ id, fields }) => [id, fields])).toEqual([
      ['new', { b: 1 }],
      ['old', { a: 1, d: 1 }],
      ['other', { c: 1 }],
    ])
    expect(documents[0]?.version).toBe(writings[0]?.version)
  })

  test('is one of up to 500 writes and 1 MB, for any writes in their order', async () => {
    const collection = freshCollection()
    const create = (id: string, bytes: number): Write => ({
      type: 'create',
      at: { collection, id },
      fields: { a: 'x'.repeat(bytes) },
    })
    const large = Array.from({ length: 5 }, (_, n) => create(`large${n}`, 900_000))
    const small = Array.from({ length: 600 }, (_, n) => create(`small${n}`, 10))
    const batches = batchesOf([...large, ...small])
    expect(batches.map(({ length }) => length)).toEqual([1, 1, 1, 1, 500, 101])
    expect(batches.flat()).toEqual([...large, ...small])
    for (const batch of batches) await store.batch(batch)
    expect(batchesOf([])).toEqual([])
  })

  test('changes nothing if one of its writes is refused', async () => {
    const collection = freshCollection()
    const at = (id: string) => ({ collection, id })
    for (const id of ['changed', 'removed', 'taken']) await store.create(at(id), { a: 1 })
    const before = await store.query({ collection, limit: 10 })
    const attempt = store.batch([
      { type: 'create', at: at('first'), fields: {} },
      { type: 'replace', at: at('changed'), fields: { a: 2 } },
      { type: 'remove', at: at('removed') },
      { type: 'create', at: at('taken'), fields: {} },
    ])
    await expect(attempt).rejects.toMatchObject(refused('conflict'))
    expect((await store.query({ collection, limit: 10 })).documents).toEqual(before.documents)
  })

  test('takes 500 writes and no more', async () => {
    const collection = freshCollection()
    const creates = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        type: 'create' as const,
        at: { collection, id: `n${n}` },
        fields: { n },
      }))
    await expect(store.batch(creates(501))).rejects.toMatchObject(refused('too_large'))
    expect(await store.batch(creates(500))).toHaveLength(500)
  })

  test('takes 3.6 MB and no more', async () => {
    const collection = freshCollection()
    const chunks = (count: number) =>
      Array.from({ length: count }, (_, n) => ({
        type: 'create' as const,
        at: { collection, id: `n${n}` },
        fields: { bytes: new Uint8Array(899_000) },
      }))
    await expect(store.batch(chunks(5))).rejects.toMatchObject(refused('too_large'))
    expect(await store.batch(chunks(4))).toHaveLength(4)
  })

  test('does not write one document twice', async () => {
    const at = { collection: freshCollection(), id: 'one' }
    const write = { type: 'replace', at, fields: {} } as const
    await expect(store.batch([write, write])).rejects.toMatchObject(refused('invalid'))
  })

  test('of nothing is nothing', async () => {
    expect(await store.batch([])).toEqual([])
  })
})
