/** How long a small query of one key waits while others run twenty heavy ones, through the public face. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startService, type TestService } from '../testing/service.ts'

const hogs = 20
const smallQueries = 40
const hogSeconds = 5
const promisedMs = 2000

/** Counts the pairs of 1 to 10,000 and 1 to `rows` whose product leaves the rest 3. */
const pairs = (rows: number, others = '') => `SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 10000)) AS a
  CROSS JOIN UNNEST(GENERATE_ARRAY(1, ${rows})) AS b ${others} WHERE MOD(a * b + @n, 7) = 3`
/** Takes minutes. */
const endless = pairs(10_000, 'CROSS JOIN UNNEST(GENERATE_ARRAY(1, 100000000)) AS c')
/** Takes about a quarter of a second. */
const middling = pairs(2500)

let folder: string
let service: TestService

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fair-use-'))
  const endpoints = {
    endless: [endless, hogSeconds],
    middling: [middling, 300],
    small: ['SELECT @n AS n', 60],
  }
  for (const [at, [name, [sql, seconds]]] of Object.entries(endpoints).entries()) {
    writeFileSync(join(folder, `${name}.sql`), String(sql))
    writeFileSync(
      join(folder, `${name}.yaml`),
      `id: 00000000-0000-4000-8000-00000000020${at}
description: d
timeoutSeconds: ${seconds}
parameters: {properties: {n: {type: integer, default: 0}}}
`,
    )
  }
  service = await startService({ tables: {}, queries: folder, bundle: null })
}, 60_000)

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** Milliseconds that each of the small queries took, in order, while `keys` run a query each. */
async function waits(keys: string[], endpoint = 'endless'): Promise<{ taken: number[]; answers: unknown[] }> {
  const key = await service.issue({ name: 'small' })
  const leave = new AbortController()
  const ask = (name: string, n: number, options: { key: string; signal?: AbortSignal }) =>
    service.fetch(`/api/endpoints/query/${name}?n=${n}`, options)
  const { signal } = leave
  const running = keys.map(async (key, n) =>
    ask(endpoint, n, { key, ...(endpoint === 'endless' && { signal }) }).then(
      async response => ((await response.json()) as { rows?: unknown }).rows,
      () => null,
    ),
  )
  await sleep(50) // they come first, and few have given way yet
  const taken: number[] = []
  const ends = performance.now() + (hogSeconds - 1) * 1000
  for (let n = 0; n < smallQueries && performance.now() < ends; n++) {
    const started = performance.now()
    const { status } = await ask('small', n, { key })
    expect(status).toBe(200)
    taken.push(performance.now() - started)
    await sleep(50)
  }
  leave.abort()
  return { taken, answers: await Promise.all(running) }
}

function told(what: string, taken: number[]): void {
  const sorted = taken.toSorted((a, b) => a - b)
  const [median, last] = [sorted[Math.floor(taken.length / 2)]!, sorted.at(-1)!]
  console.log(
    `${what}: ${taken.length} small queries, first ${taken[0]!.toFixed()} ms, median ${median.toFixed()} ms, longest ${last.toFixed()} ms`,
  )
  expect(last).toBeLessThan(promisedMs)
}

async function hogKeys(count: number): Promise<string[]> {
  const owners = Array.from({ length: count }, (_, at) => service.issue({ name: `hog ${at}` }))
  const keys = await Promise.all(owners)
  return Array.from({ length: hogs }, (_, at) => keys[at % count]!)
}

describe(`a small query of a key of its own answers within ${promisedMs} ms`, () => {
  test.each([1, 3, 20])(
    `while ${hogs} endless ones of %d keys run`,
    async count => {
      told('nothing else runs', (await waits([])).taken)
      const { taken } = await waits(await hogKeys(count))
      told(`${hogs} endless queries of ${count} keys`, taken)
    },
    300_000,
  )

  test('while three times as many middling ones run, and each of those gets its answer', async () => {
    const keys = await hogKeys(20)
    const { taken, answers } = await waits(Array.from({ length: 3 }, () => keys).flat(), 'middling')
    told(`${answers.length} middling queries of 20 keys`, taken)
    const counted = answers.map(rows => (rows as [{ n: number }])[0].n)
    for (const n of counted) expect(Math.abs(n - (2500 * 10_000) / 7)).toBeLessThan(5_000_000)
    console.log(`${counted.length} answers, ${new Set(counted).size} different counts`)
  }, 300_000)
})
