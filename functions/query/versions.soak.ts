/** Versions over four processes: interleaved calls, and how soon a restored one is in force in all of them. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { type FunctionProcess, startFunction } from '../testing/framework.ts'
import { type Body, interleave, path, restore, startVersions, type Versions } from '../testing/versions.ts'

const rememberMs = 30_000
let versions: Versions
let processes: FunctionProcess[]

beforeAll(async () => {
  versions = await startVersions(['a', 'b', 'c', 'd'], rememberMs)
  const env = versions.service.env as Record<string, string>
  processes = await Promise.all([1, 2, 3, 4].map(() => startFunction('query', { env })))
}, 180_000)

afterAll(async () => {
  for (const { child } of processes) child.kill('SIGKILL')
  await versions.service.stop()
})

test('10,000 interleaved calls are each answered by the version that they are for', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  const urls = processes.map(({ url }) => url)
  const counts = await interleave(versions, { urls, calls: 10_000, restoreEvery: 1_000, rememberMs, seed })
  process.stdout.write(`seed ${seed}: calls answered by each version ${JSON.stringify(counts)}\n`)
  expect(Object.keys(counts)).toHaveLength(4)
}, 900_000)

test('a restored version is in force in every process within 30 seconds', async () => {
  const ask = async ({ url }: FunctionProcess) => {
    const response = await fetch(`${url}${path}?which=1`, { headers: { 'X-API-KEY': versions.service.key } })
    return ((await response.json()) as Body).meta.version
  }
  for (const name of ['a', 'c', 'b']) {
    const version = versions.all.get(name)!
    if ((await ask(processes[0]!)) === version) continue
    await Promise.all(processes.map(ask))
    const began = performance.now()
    await restore(versions, version)
    const seen = await Promise.all(
      processes.map(async one => {
        while ((await ask(one)) !== version) await sleep(100)
        return Math.round(performance.now() - began)
      }),
    )
    process.stdout.write(`in force in four processes after ${seen.join(', ')} ms\n`)
    expect(Math.max(...seen)).toBeLessThan(30_000 + 2_000)
  }
}, 300_000)
