/**
 * A hundred thousand random and hostile queries through the public face: no fault of the service, no end later than a second
 * past the time limit. The seed is new each time and printed; `SEED=1` repeats
 * one, `HOSTILE=20000` tries fewer.
 */
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
/** As many as DuckDB runs at once, so that none waits for another. */
const atOnce = 2

let service: HostileService

beforeAll(async () => {
  service = await startHostileService(3)
}, 60_000)

afterAll(() => service.stop())

/** On a busy machine anything may be late: what is late is tried again, alone. */
async function judged(sql: string): Promise<Outcome | null> {
  const outcome = await service.send(sql)
  tally(outcome)
  if (!isFault(outcome, service.limitMs)) return null
  const again = await service.send(sql)
  if (!isFault(again, service.limitMs)) return null
  console.error(JSON.stringify(again))
  return again
}

const counts: Record<string, number> = {}
let slowest: Outcome[] = []
let memory = 0

function tally(outcome: Outcome): void {
  const what = `${outcome.status} ${outcome.code}`
  counts[what] = (counts[what] ?? 0) + 1
  slowest = [...slowest, outcome].toSorted((a, b) => b.ms - a.ms).slice(0, 5)
  memory = Math.max(memory, process.memoryUsage.rss())
}

function told(): void {
  const shown = slowest.map(({ sql, ms, code }) => `${ms.toFixed()} ms ${code}: ${sql.slice(0, 120)}`)
  console.log(JSON.stringify({ seed, counts, megabytes: Math.round(memory / 1e6), shown }, null, 1))
}

test('every hostile query ends in time, and the service goes on', async () => {
  const faults = []
  for (const [name, sql] of Object.entries(hostileQueries)) {
    const fault = await judged(sql)
    if (fault) faults.push({ name, ...fault, sql: sql.slice(0, 200) })
    expect((await service.send('SELECT 1 AS one')).status).toBe(200)
  }
  told()
  expect(faults).toEqual([])
}, 1_800_000)

test(`${count} random queries from seed ${seed} on find no fault`, async () => {
  const random = new Random(seed)
  const mutated = mutations(random)
  const faults: Outcome[] = []
  let left = count
  const worker = async () => {
    while (left-- > 0) {
      const fault = await judged(randomQuery(random, mutated))
      if (fault) faults.push(fault)
      if (left % 10_000 === 0) told()
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  told()
  expect(faults).toEqual([])
}, 14_400_000)
