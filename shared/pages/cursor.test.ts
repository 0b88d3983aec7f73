import { afterEach, beforeEach, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { openSqlite } from '../stores/sqlite/store.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { formats } from '../stores/format.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { type Cursor, openCursors, rotateSecret, SecretError } from './cursor.ts'
import { anyCharacter } from '../testing/characters.ts'

const memory = () => openSqlite({ file: ':memory:', log: () => {} })

const cursor: Cursor = {
  endpointId: '0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e10',
  parameters: 'f'.repeat(32),
  direction: 'next',
  after: { time: '1767787200000000', tie: 'tom@example.com' },
  now: null,
}

test('a cursor is read back by every process over one store, and equal ones are equal texts', async () => {
  const store = memory()
  // Both make the key at once.
  const [one, other] = [openCursors(store), openCursors(store)]
  const [text, same] = await Promise.all([one.seal(cursor), other.seal(cursor)])
  expect(same).toBe(text)
  expect(await openCursors(store).open(text)).toEqual(cursor)
  expect(await openCursors(memory()).open(text)).toBeNull()
  await store.close()
})

test('a cursor tells nothing of its row, and no other text is one', async () => {
  const cursors = openCursors(memory())
  const text = await cursors.seal(cursor)
  expect(Buffer.from(text, 'base64url').toString('latin1')).not.toMatch(/tom|example|1767787200/)
  const change = fc.record({
    at: fc.nat(text.length - 1),
    by: fc.constantFrom('A', 'B', 'z', '0', '9', '-', '_'),
  })
  await fc.assert(
    fc.asyncProperty(change, async ({ at, by }) => {
      const changed = text.slice(0, at) + by + text.slice(at + 1)
      expect(await cursors.open(changed)).toEqual(changed === text ? cursor : null)
    }),
  )
  await fc.assert(fc.asyncProperty(fc.string(), async other => expect(await cursors.open(other)).toBeNull()))
})

test('any position survives', async () => {
  const cursors = openCursors(memory())
  const position = fc.record({ time: fc.bigInt().map(String), tie: fc.string({ unit: anyCharacter }) })
  await fc.assert(
    fc.asyncProperty(position, async after => {
      const known = { ...cursor, after, now: 5, direction: 'follow' as const }
      expect(await cursors.open(await cursors.seal(known))).toEqual(known)
    }),
  )
})

test('without the store there is an error that says so, and the next call tries again', async () => {
  const store = memory()
  let isAway = true
  const away: Store = {
    ...store,
    get: async at => {
      if (isAway) throw new StoreError('unavailable', 'away')
      return store.get(at)
    },
    create: (at, fields) => store.create(at, fields),
  }
  const cursors = openCursors(away)
  await expect(cursors.seal(cursor)).rejects.toMatchObject({ code: 'store_unavailable' })
  isAway = false
  expect(await cursors.open(await cursors.seal(cursor))).toEqual(cursor)
})

test('a cursor of a later version is none', async () => {
  const cursors = openCursors(memory())
  const [known] = [formats.cursor]
  formats.cursor = 99
  const later = await cursors.seal(cursor)
  formats.cursor = known
  expect(await cursors.open(later)).toBeNull()
})

const day = 86_400_000

describeStores('a rotated secret', ({ open }) => {
  let store: Store
  beforeEach(async () => void (store = await open()))
  afterEach(() => store.close())

  /** The time that the store's clock would take. */
  async function pass(ms: number): Promise<void> {
    const at = { collection: 'secrets', id: 'cursors' }
    const { usedFrom, previousUntil } = (await store.get(at)).document!.fields
    const earlier = (date: unknown) => new Date((date as Date).getTime() - ms)
    await store.update(at, {
      set: { usedFrom: earlier(usedFrom), previousUntil: earlier(previousUntil) },
    })
  }

  /** By a process that has just started. */
  const seal = () => openCursors(store).seal(cursor)
  const opens = (text: string) => openCursors(store).open(text)

  test('takes cursors of before for the overlap, and no longer', async () => {
    const before = await seal()
    const until = await rotateSecret(store, day)
    expect(Math.abs(until.getTime() - Date.now() - day)).toBeLessThan(60_000)
    await pass(day - 10_000)
    expect(await opens(before)).toEqual(cursor)
    await pass(20_000)
    expect(await opens(before)).toBeNull()
    expect(await opens(await seal())).toEqual(cursor)
  })

  test('seals nothing before every process has it, and is taken by each that has', async () => {
    const early = openCursors(store, { rememberMs: 20_000 })
    const before = await early.seal(cursor)
    await rotateSecret(store, day)
    expect(await seal()).toBe(before)
    await pass(31_000)
    const after = await seal()
    expect(after).not.toBe(before)
    for (const text of [before, after]) expect(await opens(text)).toEqual(cursor)
  })

  test('ends cursors of before in 30 seconds where there is no overlap', async () => {
    const before = await seal()
    await rotateSecret(store, 0)
    expect(await opens(before)).toEqual(cursor)
    await pass(31_000)
    expect(await opens(before)).toBeNull()
  })

  test('is not rotated again within its overlap, unless that is to end', async () => {
    const before = await seal()
    await rotateSecret(store, day)
    await expect(rotateSecret(store, 0)).rejects.toThrow(/Try again in 30 seconds\.$/)
    await pass(31_000)
    await expect(rotateSecret(store, day)).rejects.toThrow(SecretError)
    const between = await seal()
    await rotateSecret(store, 0)
    expect(await opens(before)).toBeNull()
    expect(await opens(between)).toEqual(cursor)
  })

  test('may be the first', async () => {
    await rotateSecret(store, day)
    expect(await opens(await seal())).toEqual(cursor)
  })
})

test('a process goes over to the new secret by itself, though it remembers the old one', async () => {
  let now = Date.now()
  const store = openSqlite({ file: ':memory:', now: () => now })
  const clock = { now: () => now }
  const cursors = openCursors(store, { rememberMs: 20_000, clock })
  const before = await cursors.seal(cursor)
  await rotateSecret(store, 40_000)
  now += 20_001
  expect(await cursors.seal(cursor)).toBe(before)
  now += 10_000
  const after = await cursors.seal(cursor)
  expect(after).not.toBe(before)
  now += 10_000
  expect([await cursors.open(before), await cursors.open(after)]).toEqual([null, cursor])
})
