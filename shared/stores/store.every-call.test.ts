/**
 * Every call of the store port fails once, one after the other: before it does anything, and after it, as when an
 * acknowledgement is lost. What is done then has an outcome that a caller can understand, and can be done again.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { AnswerCache } from '../cache/cache.ts'
import { cacheKey, headAt } from '../cache/head.ts'
import { engine as countingEngine, keyFields, quick, request, textOf } from '../cache/testing/requests.ts'
import { openDuckDb } from '../engines/duckdb/engine.ts'
import type { QueryEngine } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import { openEndpoints } from '../endpoints/lookup.ts'
import { createAuthenticator } from '../keys/authenticate.ts'
import { openByteLimits } from '../keys/limits.ts'
import { issueKey, revokeKey, rotateKey } from '../keys/records.ts'
import { endpointWith, keyFieldsFor, use } from '../warm/testing/fixture.ts'
import { Budget } from '../warm/turn.ts'
import { warm } from '../warm/warm.ts'
import { openSqlite } from './sqlite/store.ts'
import { type Store, StoreError } from './store.ts'
import { withFaults } from './testing/faults.ts'

/** Something that the service does, from an empty store to a checked outcome. */
interface Deed {
  /** Whether one failure of the store is no failure of the deed. */
  covered: boolean
  /** Before there are faults. */
  prepare?(store: Store): Promise<unknown>
  act(store: Store): Promise<unknown>
  /** After it was done, if need be again. */
  check(store: Store): Promise<void>
}

let folder: string
let engine: QueryEngine
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'every-call-'))
  mkdirSync(join(folder, 'queries'))
  for (const [i, name] of ['one', 'two'].entries()) {
    const id = `00000000-0000-4000-8000-00000000000${i}`
    writeFileSync(
      join(folder, 'queries', `${name}.yaml`),
      `id: ${id}\ndescription: d\nparameters: {properties: {}}\n`,
    )
    writeFileSync(join(folder, 'queries', `${name}.sql`), `SELECT ${i} AS n`)
  }
  engine = openDuckDb({ logsFolder: join(folder, 'logs'), tables: new Map() })
})
afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true })
})

const runs = countingEngine()
const times = { ...quick, leaseMs: 40, renewMs: 15, storeDownMs: 5, backOffMs: 5 }
const read = (store: Store, freshMs = 60_000) =>
  new AnswerCache(store, times).read(request(runs.make, { freshMs, noteUse: true }))
const own = endpointWith()
const batch = endpointWith({ batch: true })
const warmAll = (store: Store) =>
  warm({ engine: instant, store, log: () => {} }, [own, batch], new Budget({ ms: 5000, bytes: 1e9 }))
const instant = {
  ...({} as QueryEngine),
  describe: () => Promise.reject(new Error('no columns')),
  run: async () => ({ columns: [], rows: [], truncated: false, bytes: 1, slotMs: null, jobId: null }),
} as QueryEngine
const grant = { name: 'a', endpoints: '*' as const, pins: {}, rights: [], expiresAt: null }
const limits = { callsPerMinute: null, bytesPerDay: 1000 }

/** As they would run out. */
async function endLeases(store: Store): Promise<void> {
  for (const collection of ['answers', 'warming'])
    for (const { id, fields } of (await store.query({ collection, limit: 10 })).documents)
      if ('lease' in fields) await store.update({ collection, id }, { set: {}, unset: ['lease'] })
}

async function expectWhole(store: Store): Promise<void> {
  const { document } = await store.get(headAt(cacheKey(keyFields)))
  expect(document?.fields).toMatchObject({ stored: {}, expireAt: expect.any(Date) })
  expect(await textOf(await read(store))).toMatch(/^run \d+$/)
}

const deeds: Record<string, Deed> = {
  'a miss': { covered: true, act: store => read(store), check: expectWhole },
  'a hit with its use': {
    covered: true,
    async prepare(store) {
      await read(store)
      await store.update(headAt(cacheKey(keyFields)), { set: { usedAt: 0 } })
    },
    act: store => read(store),
    check: expectWhole,
  },
  'a refresh': {
    covered: true,
    prepare: store => read(store, 0),
    act: store => read(store, 0),
    check: expectWhole,
  },
  warming: {
    covered: false,
    async prepare(store) {
      for (const endpoint of [own, batch])
        for (const project of ['a', 'b'])
          await use(store, endpoint, { keyFields: keyFieldsFor(endpoint, project) })
    },
    async act(store) {
      const { endpoints, failed } = await warmAll(store)
      const failures = endpoints.filter(({ error }) => error !== null).length + failed
      if (failures > 0) throw new StoreError('unavailable', `${failures} failures, each reported`)
    },
    async check(store) {
      for (const { fields } of (await store.query({ collection: 'answers', limit: 10 })).documents)
        expect(fields).toMatchObject({ stored: { rows: 0 }, expireAt: expect.any(Date) })
    },
  },
  apply: {
    covered: false,
    act: store =>
      apply({ engine, store }, { queries: join(folder, 'queries'), dryRun: false, out: () => {} }),
    async check(store) {
      const all = await openEndpoints(store, { rememberMs: 1, maxResultBytes: 1000 }).all()
      expect(all.map(({ name }) => name)).toEqual(['one', 'two'])
    },
  },
  'the issue, rotation and revocation of a key': {
    covered: false,
    async act(store) {
      const { id } = await issueKey(store, grant)
      const { id: next } = await rotateKey(store, id, 0)
      await revokeKey(store, next)
      await revokeKey(store, next)
    },
    async check(store) {
      const { key } = await issueKey(store, grant)
      const authenticate = createAuthenticator(store, { rememberMs: 1 })
      expect(await authenticate(key)).toMatchObject({ name: 'a' })
    },
  },
  spending: {
    covered: true,
    async act(store) {
      await (await openByteLimits(store)({ keyId: 'k', limits })!.today()).spend(10)
    },
    async check(store) {
      expect((await openByteLimits(store)({ keyId: 'k', limits })!.today()).left % 10).toBe(0)
    },
  },
}

test.each(Object.entries(deeds))('%s', async (_, { covered, prepare, act, check }) => {
  for (const moment of ['before', 'after'] as const)
    for (let failing = 1, calls = Infinity; failing <= calls; failing++) {
      const plain = openSqlite({ file: ':memory:' })
      await prepare?.(plain)
      let count = 0
      const fail = () => {
        if (++count === failing) throw new StoreError('unavailable', `call ${failing} failed`)
      }
      const outcome = await act(withFaults(plain, { [moment]: fail })).catch((error: unknown) => error)
      if (covered) expect(outcome).not.toBeInstanceOf(Error)
      if (outcome instanceof Error && !(outcome instanceof StoreError || outcome instanceof ApiError))
        throw outcome
      if (count < failing) calls = count
      await endLeases(plain)
      for (let tries = 0; tries < 2; tries++) await act(plain).catch((error: unknown) => error)
      await check(plain)
      await plain.close()
    }
})
