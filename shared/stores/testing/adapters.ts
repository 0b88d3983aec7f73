/** For tests: every Store adapter there is to test. */
import { createHash } from 'node:crypto'
import type { Store } from '../store.ts'
import { openFirestore } from '../firestore/store.ts'
import { openSqlite } from '../sqlite/store.ts'
import { cacheTimes } from '../../cache/durations.ts'
import { timeouts } from '../calls.ts'
import { missingEmulator, useEmulator } from '../../../infra/google/firestore-emulator.ts'

export interface Adapter {
  name: string
  /** Why it cannot be tested on this machine; `null` where it can. */
  missing(): string | null
  /** How many rounds of a random test do not take too long. */
  rounds: number
  /** Starts what it needs, before a suite. */
  start(): Promise<unknown>
  /**
   * A new, empty store. With a `place`, the path of a file that need not exist, all stores of all processes that are
   * opened with the same place share their documents.
   */
  open(place?: string): Promise<Store>
}

const sqlite: Adapter = {
  name: 'SQLite',
  missing: () => null,
  rounds: 50,
  start: async () => {},
  open: async (place = ':memory:') => openSqlite({ file: place }),
}

/** On a busy machine the emulator takes seconds for what takes Firestore milliseconds. */
function allowForEmulator(): void {
  cacheTimes.writeMs = 20_000
  Object.assign(timeouts, { head: 10_000, lease: 10_000, publish: 20_000, chunks: 10_000 })
}

const firestore: Adapter = {
  name: 'Firestore',
  missing: missingEmulator,
  rounds: 15,
  start: useEmulator,
  /** Each place is a project; the emulator creates any project on demand. */
  async open(place = crypto.randomUUID()) {
    allowForEmulator()
    const project = `test-${createHash('md5').update(place).digest('hex').slice(0, 20)}`
    const patient = { get: 30_000, query: 30_000, write: 30_000, close: 2_000 }
    return answering(openFirestore({ project, database: '(default)', timeouts: patient }))
  },
}

/** The first answers of a new process and a new emulator take longer than the adapter and the cache would wait. */
async function answering(store: Store): Promise<Store> {
  const at = { collection: 'first', id: crypto.randomUUID() }
  for (let attempts = 20; ; attempts--)
    try {
      await store.replace(at, {})
      await store.get(at)
      return store
    } catch (error) {
      if (attempts === 0) throw error
    }
}

export const adapters = [sqlite, firestore]

/** A collection that no other test uses; its documents stay behind. */
export function freshCollection(): string {
  return `test_${crypto.randomUUID().replaceAll('-', '')}`
}
