/**
 * A hundred thousand random and hostile queries through the public face: no fault of the service, no end later than a second
 * past the time limit, no process of the engine past its memory, and another key's small queries are answered meanwhile. The
 * seed is new each time and printed; `SEED=1` repeats one, `HOSTILE=20000` tries fewer, `MINUTES=25` as many as it can.
 */
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { mutations } from '../../shared/sandbox/testing/fuzz.ts'
import { Random } from '../../shared/sandbox/testing/random.ts'
import { hostileQueries, randomQuery } from '../testing/hostile-queries.ts'
import {
  type HostileService,
  isFault,
  type Outcome,
  startHostileService,
} from '../testing/hostile-service.ts'

const count = Number(process.env['HOSTILE'] ?? 100_000)
const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000_000)
const endsAt = Date.now() + Number(process.env['MINUTES'] ?? 230) * 60_000
/** As many as the engine runs of one key at once, so that none waits for another. */
const atOnce = 2
/** Of a process of the engine: its limit of 2 GB, a quarter more, what it has when idle, and what it takes between two looks. */
const mostBytes = 2e9 * 1.25 + 0.2e9 + 0.3e9

let service: HostileService

beforeAll(async () => {
  service = await startHostileService(3)
}, 60_000)

afterAll(() => service.stop())

/** On a busy machine anything may be late: the clock goes as fast as it has a processor free, and what is late is tried again. */
async function judged(sql: string): Promise<Outcome | null> {
  for (let tries = 1; ; tries++) {
    const outcome = await service.send(sql)
    if (tries === 1) tally(outcome)
    const isLate = (outcome.ms - service.limitMs) / slowness > 1000
    if (!isLate && !isFault(outcome, service.limitMs)) return null
    console.error(JSON.stringify({ ...outcome, sql: sql.slice(0, 200), slowness }))
    if (tries === 3) return outcome
  }
}

const counts: Record<string, number> = {}
let slowest: Outcome[] = []
let memory = 0
/** The most that a process of the engine had, in bytes. */
let engineBytes = 0
/** Another key's small queries, in milliseconds. */
const small: number[] = []
/** Those that took more than a second by the machine's clock, or were not answered while it was not slow. */
const late: object[] = []
/** As many were late by the wall's clock alone. */
let starved = 0
/** What ended last, of the hostile ones. */
let last: string[] = []

/** Milliseconds of a processor that are worked off beside each small query: what they take tells how busy the machine is. */
const controlCpuMs = 200
/** How many times longer they took last. */
let slowness = 1
const control = new Worker(
  `const { parentPort } = require('node:worker_threads')
  parentPort.on('message', () => {
    const before = process.threadCpuUsage().user
    while (process.threadCpuUsage().user < before + ${controlCpuMs * 1000});
    parentPort.postMessage(performance.timeOrigin + performance.now())
  })`,
  { eval: true },
)
control.unref()

/** Looks at the engine's processes, and asks a small query with another key, until `stop`. */
async function meanwhile(stop: AbortSignal): Promise<void> {
  const key = await service.issue()
  const looking = setInterval(() => (engineBytes = Math.max(engineBytes, ...peaks())), 100)
  for (let n = 0; !stop.aborted; n++) {
    const worked = once(control, 'message')
    const started = performance.timeOrigin + performance.now()
    control.postMessage('work', [])
    const outcome = await service.send(`SELECT ${n} AS n`, key)
    slowness = Math.max((((await worked) as [number])[0] - started) / controlCpuMs, 1)
    small.push(Math.round(outcome.ms))
    const hasFailed = outcome.status !== 200
    if (outcome.ms / slowness > 1000 || (hasFailed && slowness < 2)) late.push({ ...outcome, slowness, last })
    else if (outcome.ms > 1000 || hasFailed) starved++
    await sleep(1000)
  }
  clearInterval(looking)
}

/** The most resident memory that each process which this one has started had so far. */
function peaks(): number[] {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'latin1')
    .split(' ')
    .filter(Boolean)
    .map(pid => {
      try {
        const status = readFileSync(`/proc/${pid}/status`, 'latin1')
        return Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1] ?? 0) * 1024
      } catch {
        return 0
      }
    })
}

function tally(outcome: Outcome): void {
  const what = `${outcome.status} ${outcome.code}`
  counts[what] = (counts[what] ?? 0) + 1
  slowest = [...slowest, outcome].toSorted((a, b) => b.ms - a.ms).slice(0, 5)
  last = [`${Math.round(outcome.ms)} ms ${what}: ${outcome.sql.slice(0, 200)}`, ...last].slice(0, 6)
  memory = Math.max(memory, process.memoryUsage.rss())
}

function told(): void {
  const shown = slowest.map(({ sql, ms, code }) => `${ms.toFixed()} ms ${code}: ${sql.slice(0, 120)}`)
  const sorted = small.toSorted((a, b) => a - b)
  const others = {
    count: small.length,
    half: sorted[Math.floor(small.length / 2)],
    '99 of 100': sorted[Math.floor(small.length * 0.99)],
    longest: sorted.at(-1),
    late: late.length,
    starved,
  }
  const megabytes = { service: Math.round(memory / 1e6), engine: Math.round(engineBytes / 1e6) }
  console.log(JSON.stringify({ seed, counts, megabytes, others, shown }, null, 1))
}

/** Neither memory nor others suffer while `work` is done. */
async function besideOthers(work: () => Promise<void>): Promise<void> {
  const stop = new AbortController()
  const others = meanwhile(stop.signal)
  await work().finally(() => stop.abort())
  await others
  told()
  expect(engineBytes).toBeLessThan(mostBytes)
  expect(late).toEqual([])
}

test('every hostile query ends in time, and the service goes on', async () => {
  const faults: object[] = []
  await besideOthers(async () => {
    for (const [name, sql] of Object.entries(hostileQueries)) {
      const fault = await judged(sql)
      if (fault) faults.push({ name, ...fault, sql: sql.slice(0, 200) })
    }
  })
  expect(faults).toEqual([])
}, 1_800_000)

test(`${count} random queries from seed ${seed} on find no fault`, async () => {
  const random = new Random(seed)
  const mutated = mutations(random)
  const faults: Outcome[] = []
  let left = count
  const worker = async () => {
    while (left-- > 0 && Date.now() < endsAt) {
      const fault = await judged(randomQuery(random, mutated))
      if (fault) faults.push(fault)
      if (left % 5000 === 0) told()
    }
  }
  await besideOthers(() => Promise.all(Array.from({ length: atOnce }, worker)).then(() => {}))
  expect(faults).toEqual([])
}, 14_400_000)
