/**
 * Versions over four processes, also of what an endpoint reads of another: interleaved calls, and how soon a restored one
 * is the current one in all of them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { type FunctionProcess, startFunction } from '../testing/framework.ts'
import { type Body, interleave, path, restore, startVersions, type Versions } from '../testing/versions.ts'

const makers = ['a', 'b', 'c', 'd']
const readers = ['p', 'q', 'r', 's']
let versions: Versions
let processes: FunctionProcess[]

async function startFour(rememberMs: number): Promise<void> {
  versions = await startVersions(makers, rememberMs, readers)
  const env = versions.service.env as Record<string, string>
  processes = await Promise.all([1, 2, 3, 4].map(() => startFunction('query', { env })))
}

afterEach(async () => {
  for (const { child } of processes) child.kill('SIGKILL')
  await versions.service.stop()
})

test('10,000 interleaved calls are each answered by the versions that they are for', async () => {
  const seed = Number(process.env['SEED'] ?? Date.now() % 2 ** 31)
  const rememberMs = 500
  await startFour(rememberMs)
  const urls = processes.map(({ url }) => url)
  const counts = await interleave(versions, { urls, calls: 10_000, restoreEvery: 200, rememberMs, seed })
  process.stdout.write(`seed ${seed}: calls answered by each version ${JSON.stringify(counts)}\n`)
  expect(Object.keys(counts)).toHaveLength(4 + 4 * 4)
}, 900_000)

test('a restored version is current in every process within 30 seconds, also for what reads it', async () => {
  await startFour(loadConfig({}).rememberMs)
  const ask = async ({ url }: FunctionProcess, endpoint: string) => {
    const headers = { 'X-API-KEY': versions.service.key }
    const response = await fetch(`${url}${path.replace('versioned', endpoint)}?which=1`, { headers })
    return ((await response.json()) as Body).result[0]!.made_by
  }
  for (const name of ['a', 'c', 'b']) {
    for (const one of processes) for (const endpoint of ['versioned', 'reading']) await ask(one, endpoint)
    const began = performance.now()
    await restore(versions, versions.all.get(name)!)
    const seen = async (endpoint: string) => {
      const times = processes.map(async one => {
        while ((await ask(one, endpoint)) !== name) await sleep(100)
        return Math.round(performance.now() - began)
      })
      return Promise.all(times)
    }
    const [made, read] = await Promise.all([seen('versioned'), seen('reading')])
    process.stdout.write(
      `current in four processes after ${made.join(', ')} ms, and read after ${read.join(', ')} ms\n`,
    )
    expect(Math.max(...made, ...read)).toBeLessThan(30_000)
  }
}, 300_000)
