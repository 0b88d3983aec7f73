import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { claim } from '../cache/claim.ts'
import { headAt } from '../cache/head.ts'
import { keyOf, type Question } from '../cache/key.ts'
import { EngineError } from '../engine.ts'
import type { Endpoint } from '../endpoint.ts'
import type { Details } from '../log.ts'
import { type Store, StoreError } from '../store.ts'
import { type Faults, withFaults } from '../stores/faults.ts'
import { openSqlite } from '../stores/sqlite.ts'
import {
  bodyOf,
  countingEngine,
  type CountingEngine,
  endpointWith,
  questionFor,
  redacted,
  use,
} from './testing/fixture.ts'
import { Budget } from './budget.ts'
import { findDue } from './due.ts'
import { inLanes } from './lanes.ts'
import { refreshAlone } from './refresh.ts'
import { Tally } from './tally.ts'
import { warm } from './warm.ts'

let store: Store
let faults: Faults
let engine: CountingEngine
let logged: [message: string, details: Details][]

const plenty = { ms: 60_000, bytes: 1e12 }
const names = (count: number) => Array.from({ length: count }, (_, i) => `p${i}`)

beforeEach(() => {
  faults = {}
  logged = []
  engine = countingEngine()
  store = withFaults(openSqlite({ file: ':memory:' }), {
    before: (...call) => faults.before?.(...call),
    after: (...call) => faults.after?.(...call),
  })
})

afterEach(() => store.close())

function run(endpoints: Endpoint[], allowance = plenty) {
  const log = (_: unknown, message: string, details: Details = {}) => void logged.push([message, details])
  return warm({ engine, store, log }, endpoints, allowance)
}

const own = endpointWith()
const batched = endpointWith({ companion: true })
const long = (project: string) => ({
  parameters: JSON.stringify([
    ['project', project],
    ['span', 'long'],
  ]),
})

describe('what is made anew', () => {
  const cases: [string, Parameters<typeof use>[2], boolean][] = [
    ['is asked for again and older than the interval', { question: questionFor(own, 'a') }, true],
    ['is older than the interval less its margin', { question: questionFor(own, 'a'), ageMs: 241_000 }, true],
    ['is younger', { question: questionFor(own, 'a'), ageMs: 239_000 }, false],
    ['was asked for once', { question: questionFor(own, 'a'), uses: 1 }, false],
    ['was asked for too long ago', { question: questionFor(own, 'a'), usedMs: 901_000 }, false],
    ['is of a caller’s own SQL', { question: questionFor(own, 'a', { sql: 'select 1' }) }, false],
    ['is of another version', { question: questionFor(own, 'a', { version: 'old' }) }, false],
    ['is of another redaction', { question: questionFor(own, 'a', { variant: 'old' }) }, false],
    ['is redacted', { question: questionFor(own, 'a', redacted) }, true],
    [
      'is of parameters that the endpoint has not',
      { question: questionFor(own, 'a', { parameters: '[["x",1]]' }) },
      false,
    ],
  ]
  test.each(cases)('an answer that %s', async (_, usage, expected) => {
    await use(store, own, usage)
    expect((await run([own])).refreshed).toBe(expected ? 1 : 0)
    expect(engine.ran).toHaveLength(expected ? 1 : 0)
  })

  test('is stored as a reader’s run would have stored it', async () => {
    const question = questionFor(own, 'a')
    await use(store, own, { question })
    await run([own])
    expect(JSON.parse((await bodyOf(store, question))!)).toEqual({
      result: [{ made: 'now', of: 'a' }],
      meta: { endpoint: 'a.counts', version: own.version, rows: 1, truncated: false, redacted: false },
    })
  })

  test('is the clear answer and the redacted one out of one run', async () => {
    const [clear, hidden] = [questionFor(own, '10.1.2.3'), questionFor(own, '10.1.2.3', redacted)]
    for (const question of [clear, hidden]) await use(store, own, { question })
    expect(await run([own])).toMatchObject({ refreshed: 2, runs: 1 })
    expect(await bodyOf(store, clear)).toContain('"of":"10.1.2.3"')
    expect(await bodyOf(store, hidden)).toContain('"of":"REDACTED"')
  })

  test('is never the clear answer of an endpoint that redacts', async () => {
    const endpoint = endpointWith({ redact: true })
    await use(store, endpoint, { question: questionFor(endpoint, 'a') })
    expect((await run([endpoint])).refreshed).toBe(0)
  })

  test('are the answers used last, at most so many as the definition says', async () => {
    const endpoint = endpointWith({ warm: { seconds: 300, maxSets: 3 } })
    for (const [i, name] of names(6).entries())
      await use(store, endpoint, { question: questionFor(endpoint, name), usedMs: 60_000 - i * 1000 })
    await run([endpoint])
    expect(engine.ran.flat().sort()).toEqual(['p3', 'p4', 'p5'])
  })

  test('is nothing of an endpoint without warming or without a cache', async () => {
    for (const endpoint of [endpointWith({ warm: undefined }), endpointWith({ cache: { seconds: 0 } })])
      expect((await run([endpoint])).endpoints).toEqual([])
  })
})

describe('calls that overlap or come again', () => {
  const sets200 = { warm: { seconds: 300, maxSets: 200, query: 'a.warm.sql', apart: { span: ['long'] } } }

  test.each([
    ['200 runs', endpointWith({ warm: { seconds: 300, maxSets: 200 } }), 200],
    ['2 runs where there is a companion query', endpointWith(sets200), 2],
  ])(
    '4 at once over 200 sets cost %s',
    async (_, endpoint, runs) => {
      for (const [i, name] of names(200).entries())
        await use(store, endpoint, { question: questionFor(endpoint, name, i % 2 ? long(name) : {}) })
      const reports = await Promise.all([1, 2, 3, 4].map(() => run([endpoint])))
      expect(reports.reduce((sum, { refreshed }) => sum + refreshed, 0)).toBe(200)
      expect(engine.ran).toHaveLength(runs)
      expect(new Set(engine.ran.flat()).size).toBe(200)
      expect(reports.filter(({ endpoints }) => endpoints[0]!.skipped['another_call'])).toHaveLength(3)
    },
    30_000,
  )

  test('two that both have the turn still run each set once', async () => {
    for (const name of names(10)) await use(store, own, { question: questionFor(own, name) })
    const { readAt } = await store.get({ collection: 'warming', id: own.id })
    const due = await findDue(store, own, readAt)
    const budget = new Budget(plenty)
    const work = { engine, store, endpoint: own, budget, tally: new Tally(own.name, () => {}) }
    await Promise.all([1, 2].map(() => inLanes(due.sets, 4, set => refreshAlone(work, set))))
    budget.end()
    expect(engine.ran.flat().toSorted()).toEqual(names(10))
  })

  test('a second call finds nothing to do', async () => {
    await use(store, own, { question: questionFor(own, 'a') })
    await run([own])
    expect(await run([own])).toMatchObject({ refreshed: 0, skipped: 1, runs: 0 })
  })

  test('a turn that nobody gives back is over after its lease', async () => {
    await use(store, own, { question: questionFor(own, 'a') })
    await store.create({ collection: 'warming', id: own.id }, { lease: { nonce: 'dead', ms: 200 } })
    expect((await run([own])).endpoints[0]).toMatchObject({ skipped: { another_call: 1 } })
    await sleep(250)
    expect((await run([own])).refreshed).toBe(1)
  })

  test('what a reader is making anew is left to the reader, and a claim keeps readers from running it', async () => {
    const question = questionFor(own, 'a')
    await use(store, own, { question, fields: { lease: { nonce: 'reader', ms: 6000 } } })
    expect((await run([own])).endpoints[0]).toMatchObject({ skipped: { leased: 1 } })
    expect(engine.ran).toEqual([])
    const wanted = { question, freshMs: 900_000, olderThanMs: 0 }
    await store.update(headAt(keyOf(question)), { set: {}, unset: ['lease'] })
    const first = await claim(store, wanted)
    expect(typeof first).toBe('object')
    expect(await claim(store, wanted)).toBe('leased')
    if (typeof first === 'object') await first.release()
    expect(typeof (await claim(store, wanted))).toBe('object')
  })
})

describe('a companion query', () => {
  test('is run once for the sets that are dear and once for the others', async () => {
    for (const name of names(3)) {
      await use(store, batched, { question: questionFor(batched, name) })
      await use(store, batched, { question: questionFor(batched, `long-${name}`, long(`long-${name}`)) })
    }
    expect(await run([batched])).toMatchObject({ refreshed: 6, runs: 2, bytes: 200 })
    expect(engine.ran.map(projects => projects.toSorted())).toEqual([
      ['long-p0', 'long-p1', 'long-p2'],
      names(3),
    ])
  })

  test('is not run for a single set, which the endpoint’s own query answers sooner', async () => {
    let sql = ''
    engine.before = (_, statement) => void (sql = statement.sql)
    await use(store, batched, { question: questionFor(batched, 'a') })
    await run([batched])
    expect(sql).toBe('own query')
  })

  test('gives bodies that are those of the single query, byte for byte', async () => {
    const bodies: (string | null)[] = []
    for (const endpoint of [own, batched]) {
      const questions = ['a', 'b'].map(name => questionFor(endpoint, name))
      for (const question of questions) await use(store, endpoint, { question })
      await run([endpoint])
      for (const question of questions)
        bodies.push(((await bodyOf(store, question)) ?? '').replaceAll(endpoint.version, ''))
    }
    expect(bodies.slice(0, 2)).toEqual(bodies.slice(2))
  })

  test('that fails costs the sets nothing: each is tried alone', async () => {
    engine.before = projects => {
      if (projects.length > 1) throw new EngineError('rejected', 'no')
    }
    for (const name of names(5)) await use(store, batched, { question: questionFor(batched, name) })
    expect(await run([batched])).toMatchObject({ refreshed: 5, failed: 0, runs: 6 })
    expect(logged.map(([message]) => message)).toEqual(['the companion query failed'])
  })

  test('that fails with the engine is not followed by more runs', async () => {
    engine.before = () => {
      throw new EngineError('unavailable', 'down')
    }
    for (const name of names(5)) await use(store, batched, { question: questionFor(batched, name) })
    expect(await run([batched])).toMatchObject({ refreshed: 0, failed: 5, runs: 1 })
  })
})

describe('what goes wrong', () => {
  const three = () => names(3).map(name => questionFor(own, name))

  test('with one set does not stop the others, and that one backs off', async () => {
    for (const question of three()) await use(store, own, { question })
    engine.before = ([project]) => {
      if (project === 'p1') throw new EngineError('failed', 'poison 10.1.2.3')
    }
    expect(await run([own])).toMatchObject({ refreshed: 2, failed: 1 })
    const again = await run([own])
    expect(again.endpoints[0]).toMatchObject({ refreshed: 0, skipped: { failing: 1, fresh: 2 } })
    expect(engine.ran).toHaveLength(3)
    expect(JSON.stringify(logged)).not.toMatch(/poison|p1/)
  })

  test('again and again is tried ever more seldom', async () => {
    const question = questionFor(own, 'a')
    const failure = { ms: 8000, code: 'engine_error', detail: '', problems: [] }
    const tries: boolean[] = []
    for (const [count, minutes] of [
      [1, 3],
      [1, 5],
      [2, 5],
      [2, 9],
      [9, 59],
      [9, 61],
      [0, 59],
      [0, 61],
    ] as const) {
      await use(store, own, {
        question,
        fields: { failure: { ...failure, at: Date.now() - minutes * 60_000, count } },
      })
      const before = engine.ran.length
      await run([own])
      tries.push(engine.ran.length > before)
    }
    expect(tries).toEqual([false, true, false, true, false, true, false, true])
  })

  test('with one set’s document does not stop the others', async () => {
    for (const question of three()) await use(store, own, { question })
    const bad = keyOf(three()[1]!)
    faults.before = (operation, [at]) => {
      if (operation === 'update' && (at as { id: string }).id === bad)
        throw new StoreError('unavailable', 'lost')
    }
    expect((await run([own])).endpoints[0]).toMatchObject({ refreshed: 2, failed: { StoreError: 1 } })
  })

  test('with one endpoint’s search does not stop the other endpoints', async () => {
    const other = endpointWith({ id: '00000000-0000-4000-8000-00000000000b' })
    for (const endpoint of [own, other]) await use(store, endpoint, { question: questionFor(endpoint, 'a') })
    let searches = 0
    faults.before = operation => {
      if (operation === 'query' && searches++ === 0) throw new StoreError('unavailable', 'away')
    }
    const { endpoints } = await run([own, other])
    expect(endpoints.map(({ error, refreshed }) => [error, refreshed])).toEqual([
      ['StoreError', 0],
      [null, 1],
    ])
  })

  test('in the middle of a set gives its leases back', async () => {
    const questions: Question[] = [questionFor(own, 'a'), questionFor(own, 'a', redacted)]
    for (const question of questions) await use(store, own, { question })
    engine.before = () => {
      throw new TypeError('a bug')
    }
    expect((await run([own])).endpoints[0]).toMatchObject({ failed: { TypeError: 2 } })
    for (const question of questions)
      expect((await store.get(headAt(keyOf(question)))).document!.fields).not.toHaveProperty('lease')
  })
})

describe('the budget', () => {
  test('of bytes ends the call before the next run', async () => {
    for (const name of names(20)) await use(store, own, { question: questionFor(own, name) })
    const report = await run([own], { ...plenty, bytes: 350 })
    expect(report.runs).toBeGreaterThanOrEqual(4)
    expect(report.runs).toBeLessThanOrEqual(8)
    expect(report.endpoints[0]!.skipped).toEqual({ out_of_bytes: 20 - report.runs })
  })

  test('of time ends runs under way too, and no set is held to have failed', async () => {
    for (const name of names(6)) await use(store, own, { question: questionFor(own, name) })
    engine.before = (_, __, signal) =>
      new Promise((_resolve, reject) => {
        signal!.addEventListener('abort', () => reject(new EngineError('cancelled', 'time is up')))
      })
    const started = performance.now()
    expect((await run([own], { ...plenty, ms: 200 })).endpoints[0]).toMatchObject({
      failed: {},
      skipped: { out_of_time: 6 },
    })
    expect(performance.now() - started).toBeLessThan(2000)
    engine.before = () => {}
    expect((await run([own])).refreshed).toBe(6)
  })

  test('bounds the runs at a time', async () => {
    for (const name of names(20)) await use(store, own, { question: questionFor(own, name) })
    let [now, most] = [0, 0]
    engine.before = async () => {
      most = Math.max(most, ++now)
      await sleep(10)
      now--
    }
    await run([own])
    expect(most).toBe(4)
  })
})
