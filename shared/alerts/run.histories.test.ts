/** A short form of `run.histories.soak.ts`, with new seeds each day: a failure names its seed. */
import { randomUUID } from 'node:crypto'
import { expect, test } from '@jest/globals'
import type { Store } from '../stores/store.ts'
import { alertsCollection } from './record.ts'
import { type Mutant, playHistories } from './testing/histories.ts'

const from = 100 * Math.floor(Date.now() / 86_400_000)

test('in 100 random histories each transition is told at least once, under one id, in order, and none is false', async () => {
  const counts = await playHistories({ from, count: 100 })
  expect(counts.told).toBeGreaterThan(300)
  expect(counts.kills).toBeGreaterThan(50)
  expect(counts.pauses).toBeGreaterThan(50)
  expect(counts.faults).toBeGreaterThan(100)
  expect(counts.givenUp).toBeGreaterThan(10)
})

/** What is written last is held back until the next write, so after it was sent. */
function afterSending(store: Store): Store {
  const held = new Map<string, () => Promise<{ version: string; writtenAt: number }>>()
  const write: Store['replace'] = async (at, fields, version) => {
    const before = held.get(at.id)
    held.delete(at.id)
    const stored = before ? await before() : null
    return store.replace(at, fields, stored?.version ?? version)
  }
  const hold =
    (write: () => Promise<{ version: string; writtenAt: number }>) => async (id: string, fields: object) => {
      if (!JSON.stringify(fields).includes('msg_') || held.has(id)) return null
      held.set(id, write)
      return { version: 'held', writtenAt: 0 }
    }
  return {
    ...store,
    create: async (at, fields) =>
      (at.collection === alertsCollection && (await hold(() => store.create(at, fields))(at.id, fields))) ||
      store.create(at, fields),
    replace: async (at, fields, version) =>
      (at.collection === alertsCollection &&
        (await hold(() => store.replace(at, fields, version))(at.id, fields))) ||
      write(at, fields, version),
  }
}

const withoutLeases = (store: Store): Store => ({
  ...store,
  async get(at, fields) {
    const { document, readAt } = await store.get(at, fields)
    if (at.collection !== 'warming' || !document) return { document, readAt }
    const { lease: _, ...rest } = document.fields
    return { document: { ...document, fields: rest }, readAt }
  },
})

test.each<[string, Mutant, RegExp]>([
  ['stores after it has sent', { store: afterSending }, /got/],
  ['takes no lease', { store: withoutLeases }, /two at once/],
  [
    'sends another id with each try',
    {
      deliver: deliver => (channel, message, signal) =>
        deliver(channel, { ...message, id: randomUUID() }, signal),
    },
    /got/,
  ],
  ['does not see that other channels are applied', { appliedChannels: async () => 'the same' }, /got/],
  [
    'forgets what a channel refused',
    {
      deliver:
        deliver =>
        (...message) =>
          deliver(...message).catch(() => {}),
    },
    /got/,
  ],
])('a program that %s is found out', async (_, mutant, words) => {
  await expect(playHistories({ from: 1, count: 100 }, mutant)).rejects.toThrow(words)
})
