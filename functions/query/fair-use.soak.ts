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

/** Takes minutes: joins ten thousand rows four times over. */
const heavy = `SELECT COUNT(*) AS n FROM ${['a', 'b', 'c', 'd']
  .map(name => `UNNEST(GENERATE_ARRAY(1, 10000)) AS ${name}`)
  .join(' CROSS JOIN ')} WHERE MOD(a * b + c * d + @n, 7) = 3`

let folder: string
let service: TestService

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'fair-use-'))
  const endpoints = { heavy: [heavy, hogSeconds], small: ['SELECT @n AS n', 60] }
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

/** Milliseconds that each of the small queries took, in order, while `keys` run a heavy query each. */
async function waits(keys: string[], queries = smallQueries): Promise<number[]> {
  const key = await service.issue({ name: 'small' })
  const leave = new AbortController()
  const address = (name: string, n: number) => `/api/endpoints/query/${name}?n=${n}`
  const running = keys.map((key, n) =>
    service.fetch(address('heavy', n), { key, signal: leave.signal }).catch(() => {}),
  )
  await sleep(1000)
  const taken: number[] = []
  for (let n = 0; n < queries; n++) {
    const started = performance.now()
    const { status } = await service.fetch(address('small', n), { key })
    expect(status).toBe(200)
    taken.push(performance.now() - started)
  }
  leave.abort()
  await Promise.all(running)
  return taken.toSorted((a, b) => a - b)
}

function told(what: string, taken: number[]): void {
  const [median, last] = [taken[Math.floor(taken.length / 2)]!, taken.at(-1)!]
  console.log(
    `${what}: ${taken.length} small queries, median ${median.toFixed()} ms, longest ${last.toFixed()} ms`,
  )
}

describe(`a small query of a key of its own, while ${hogs} heavy ones run`, () => {
  test('answers within 2 s where they are all of one key', async () => {
    told('nothing else runs', await waits([]))
    const hog = await service.issue({ name: 'hog' })
    const taken = await waits(Array.from({ length: hogs }, () => hog))
    told(`${hogs} heavy queries of one key`, taken)
    expect(taken.at(-1)).toBeLessThan(2000)
  }, 300_000)

  test(`waits for no longer than their limit of ${hogSeconds} s where each is of another key`, async () => {
    const keys = Array.from({ length: hogs }, (_, at) => service.issue({ name: `hog ${at}` }))
    const taken = await waits(await Promise.all(keys), 1)
    told(`${hogs} heavy queries of as many keys`, taken)
    expect(taken.at(-1)).toBeLessThan((hogSeconds + 2) * 1000)
  }, 300_000)
})
