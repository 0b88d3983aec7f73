import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { openSqlite } from '../stores/sqlite/store.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { type Cursor, openCursors } from './cursor.ts'
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
