/** One document in every Store adapter. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { StoreError, type Fields, type Reference, type Store } from './store.ts'
import { freshCollection } from './testing/adapters.ts'
import { describeStores } from './testing/describe-stores.ts'

const refused = (reason: string) => ({ name: 'StoreError', reason })

const everyType: Fields = {
  nothing: null,
  yes: true,
  no: false,
  text: 'Grüße, 世界 🌍\u0000\n"\\',
  noText: '',
  numbers: [0, -1, 0.1, 1e300, 5e-324, Number.MAX_SAFE_INTEGER, 2 ** 60, -(2 ** 53) - 2],
  whole: 7,
  huge: Number.MAX_VALUE,
  bytes: new Uint8Array([0, 255, 128]),
  noBytes: new Uint8Array(0),
  time: new Date('2026-02-28T23:59:59.999Z'),
  longAgo: new Date('0001-01-01T00:00:00.000Z'),
  list: [null, 'a', { b: [1, { c: [] }] }],
  noList: [],
  map: { 'any key: ü.`"': { deep: { deeper: [false] } } },
  noMap: {},
}

describeStores('the store', ({ open }) => {
  let store: Store
  beforeAll(async () => {
    store = await open()
  })
  afterAll(() => store.close())

  const freshReference = (): Reference => ({ collection: freshCollection(), id: 'one' })
  const fieldsAt = async (at: Reference) => (await store.get(at)).document?.fields

  describe('one document', () => {
    test('an unknown one reads as null, with the time of the read', async () => {
      const { document, readAt } = await store.get(freshReference())
      expect(document).toBeNull()
      expect(Math.abs(readAt - Date.now())).toBeLessThan(60_000)
    })

    test('comes back as it was written, whatever its fields', async () => {
      const at = freshReference()
      await store.create(at, everyType)
      expect(await fieldsAt(at)).toEqual(everyType)
    })

    test('reads only the fields that are asked for', async () => {
      const at = freshReference()
      await store.create(at, { a: 1, b: new Uint8Array(10), c: null })
      expect((await store.get(at, ['a', 'c', 'unknown'])).document?.fields).toEqual({ a: 1, c: null })
    })

    test('is created by one of 50 at once', async () => {
      const at = freshReference()
      const attempts = Array.from({ length: 50 }, (_, attempt) => store.create(at, { attempt }))
      const results = await Promise.allSettled(attempts)
      const won = results.flatMap(({ status }, attempt) => (status === 'fulfilled' ? [attempt] : []))
      expect(won).toHaveLength(1)
      expect(await fieldsAt(at)).toEqual({ attempt: won[0] })
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject(refused('conflict'))
    })

    test('loses no update of many at once that compare and set', async () => {
      const at = freshReference()
      await store.create(at, { count: 0 })
      await Promise.all(Array.from({ length: 5 }, () => increment(store, at, 6)))
      expect(await fieldsAt(at)).toEqual({ count: 30 })
    })

    test('is replaced as a whole, and made where it is missing', async () => {
      const at = freshReference()
      await store.replace(at, { a: 1, b: 1 })
      await store.replace(at, { b: 2 })
      expect(await fieldsAt(at)).toEqual({ b: 2 })
    })

    test('is updated field by field', async () => {
      const at = freshReference()
      await store.create(at, { a: 1, b: { x: 1, y: 2 }, c: new Uint8Array(100) })
      await store.update(at, { set: { b: { x: 3 }, d: true }, unset: ['a', 'unknown'] })
      expect(await fieldsAt(at)).toEqual({ b: { x: 3 }, c: new Uint8Array(100), d: true })
    })

    test('counts every one of 50 additions at once, and is made by the first', async () => {
      const at = freshReference()
      const adding = (n: number) =>
        store.batch([{ type: 'add', at, amounts: { n, half: 0.5 }, set: { latest: { n } } }])
      await Promise.all(Array.from({ length: 50 }, (_, i) => adding(i + 1)))
      expect(await fieldsAt(at)).toEqual({ n: 1275, half: 25, latest: { n: expect.any(Number) } })
    })

    test('cannot be updated where it is missing', async () => {
      const at = freshReference()
      await expect(store.update(at, { set: { a: 1 } })).rejects.toMatchObject(refused('conflict'))
      expect(await fieldsAt(at)).toBeUndefined()
    })

    test('is not written under the version of an earlier write', async () => {
      const at = freshReference()
      const { version } = await store.create(at, { a: 1 })
      await store.replace(at, { a: 2 })
      for (const write of [
        store.replace(at, { a: 3 }, version),
        store.update(at, { set: { a: 3 } }, version),
        store.remove(at, version),
      ])
        await expect(write).rejects.toMatchObject(refused('conflict'))
      expect(await fieldsAt(at)).toEqual({ a: 2 })
    })

    test('is not written under a version when it is gone', async () => {
      const at = freshReference()
      const { version } = await store.create(at, {})
      await store.remove(at, version)
      await expect(store.replace(at, {}, version)).rejects.toMatchObject(refused('conflict'))
      await expect(store.remove(at, version)).rejects.toMatchObject(refused('conflict'))
      await store.remove(at)
    })

    test('never has a version again, not even after it was removed and created again', async () => {
      const at = freshReference()
      const versions: string[] = []
      for (let round = 0; round < 5; round++) {
        versions.push((await store.create(at, { round })).version)
        versions.push((await store.replace(at, { round: -1 - round })).version)
        versions.push((await store.update(at, { set: { more: round } })).version)
        expect((await store.get(at)).document?.version).toBe(versions.at(-1))
        await store.remove(at)
      }
      expect(new Set(versions).size).toBe(15)
    })

    test('is never read before it was written, and time never runs backwards', async () => {
      const at = freshReference()
      const times: number[] = []
      for (let n = 0; n < 20; n++) {
        const { writtenAt } = await store.replace(at, { n })
        const { document, readAt } = await store.get(at)
        expect(document?.writtenAt).toBe(writtenAt)
        times.push(writtenAt, readAt)
      }
      expect(times).toEqual([...times].sort((a, b) => a - b))
    })
  })
})

async function increment(store: Store, at: Reference, times: number): Promise<void> {
  for (let done = 0; done < times;) {
    const { document } = await store.get(at)
    try {
      await store.replace(at, { count: Number(document?.fields['count']) + 1 }, document?.version)
      done++
    } catch (error) {
      if (!(error instanceof StoreError) || error.reason !== 'conflict') throw error
    }
  }
}
