/** A minute without an engine, and one without a store, with the times of production. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { ApiError } from '../errors.ts'
import { Answer } from '../answers/answer.ts'
import { type Store, StoreError } from '../stores/store.ts'
import { type Faults, withFaults } from '../stores/testing/faults.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import { AnswerCache, type CacheRequest } from './cache.ts'

let sqlite: Store
let faults: Faults
let cache: AnswerCache

beforeEach(() => {
  sqlite = openSqlite({ file: ':memory:' })
  faults = {}
  const store = withFaults(sqlite, { before: (operation, args) => faults.before?.(operation, args) })
  cache = new AnswerCache(store)
})

afterEach(async () => {
  delete faults.before
  await cache.close()
  await sqlite.close()
})

function request(parameters: string, freshMs: number, make: () => Answer): CacheRequest {
  const keyFields = { endpointId: 'e', version: 'v', parameters, sql: null, variant: 'clear' }
  return {
    keyFields,
    freshMs,
    timeoutMs: 30_000,
    noteUse: false,
    bypass: false,
    make: async () => ({ answer: make() }),
  }
}

const body = () =>
  Answer.fromJson({ rows: 0, truncated: false, redacted: false, columns: [] }, Buffer.from('{}'))

describe('an outage of a minute', () => {
  test('of the engine is covered by a stale copy: every call is answered, and few runs are tried', async () => {
    let runs = 0
    let failing = false
    const make = () => {
      runs++
      if (failing) throw new ApiError('engine_error', 'The query engine failed.')
      return body()
    }
    await cache.read(request('stale', 1000, make))
    await sleep(1100)
    failing = true
    runs = 0
    let calls = 0
    const until = performance.now() + 60_000
    const caller = async () => {
      for (; performance.now() < until; calls++) {
        expect((await cache.read(request('stale', 1000, make))).status).toBe('stale')
        await sleep(1)
      }
    }
    await Promise.all(Array.from({ length: 8 }, caller))
    process.stdout.write(`${calls} calls answered, ${runs} runs tried\n`)
    expect(runs).toBeLessThan(15)
  }, 90_000)

  test('of the store leaves hot answers as they are, turns the many others away, and is over within 2 s', async () => {
    const slow: CacheRequest = {
      ...request('', 900_000, body),
      make: async () => (await sleep(500), { answer: body() }),
    }
    await cache.read(request('hot', 900_000, body))
    await cache.close()
    faults.before = () => {
      throw new StoreError('unavailable', 'down')
    }
    const counts = { hot: 0, refused: 0, run: 0 }
    const until = performance.now() + 60_000
    for (let i = 0; performance.now() < until; i++) {
      expect((await cache.read(request('hot', 900_000, body))).status).toBe('hit')
      counts.hot++
      const others = Array.from({ length: 10 }, (_, j) =>
        cache.read({ ...slow, keyFields: { ...slow.keyFields, parameters: `${i}-${j}` } }),
      )
      for (const outcome of await Promise.allSettled(others)) {
        if (outcome.status === 'fulfilled') counts.run++
        else {
          expect(outcome.reason).toMatchObject({
            code: 'store_unavailable',
            headers: { 'Retry-After': '2' },
          })
          counts.refused++
        }
      }
    }
    delete faults.before
    const healed = performance.now()
    while (!(await cache.read(request(`new-${Math.random()}`, 900_000, body))).stored) await sleep(20)
    process.stdout.write(
      `${JSON.stringify(counts)}, whole again after ${Math.round(performance.now() - healed)} ms\n`,
    )
    expect(performance.now() - healed).toBeLessThan(2000)
  }, 90_000)
})
