/** Ten minutes of `npm start` with charts that are looked at: none is ever older than its warm interval. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, expect, test } from '@jest/globals'
import { apply } from '../lqe/apply/apply.ts'
import { loadConfig } from '../../shared/config.ts'
import { openServices } from '../../shared/services.ts'
import { freePort } from '../../shared/testing/free-port.ts'

const folder = mkdtempSync(join(tmpdir(), 'warm-'))
const env = { DATA_DIR: join(folder, 'data'), EXPLORER_DIR: 'off', PORT: String(await freePort()) }
const child = spawn(process.execPath, ['infra/lqe.ts', 'start'], {
  env: { PATH: process.env['PATH'], ...env },
  stdio: ['ignore', 'pipe', 'inherit'],
})
let printed = ''
child.stdout.on('data', text => (printed += String(text)))

afterAll(async () => {
  child.kill()
  await once(child, 'exit')
  rmSync(folder, { recursive: true, force: true })
})

/** The shipped chart under another name, with an interval of a minute: what someone applies while the service runs. */
async function applyAnother(): Promise<void> {
  const queries = join(folder, 'queries')
  cpSync('queries', queries, { recursive: true })
  const [name, id] = ['usage.api-counts.yaml', '5d2e8a94-0c7b-4b1d-8e3f-62a9d1c4b720']
  const text = readFileSync(join(queries, name), 'utf8').replace(id, '5d2e8a94-0c7b-4b1d-8e3f-62a9d1c4b721')
  writeFileSync(join(queries, 'minute.yaml'), text.replace('seconds: 300', 'seconds: 60'))
  writeFileSync(join(queries, 'minute.sql'), readFileSync(join(queries, 'usage.api-counts.sql')))
  const services = await openServices(loadConfig(env))
  await apply(services, { queries, dryRun: false, out: () => {} })
  await services.close()
}

/** One that looks at a chart every so many seconds. @returns its ages in seconds, by Age */
async function look(chart: string, key: string, everyS: number, until: number): Promise<number[]> {
  const ages: number[] = []
  while (Date.now() < until) {
    const response = await fetch(`http://localhost:${env.PORT}/api/endpoints/query/${chart}`, {
      headers: { 'X-API-KEY': key },
    })
    await response.arrayBuffer()
    expect(response.status).toBe(200)
    ages.push(Number(response.headers.get('age')))
    await sleep(everyS * 1000)
  }
  return ages
}

test('a chart in use is never older than its warm interval', async () => {
  while (!printed.includes('Serving at')) await sleep(100)
  const [, key] = /^API key: (\S+)$/m.exec(printed)!
  const until = Date.now() + 600_000
  await applyAnother()
  const lookers = ['usage.api-counts', 'minute'].flatMap((endpoint, of) =>
    [1, 3, 7, 11, 15, 20].map(async (everyS, n) => {
      await sleep(n * 17_000)
      const chart = `${endpoint}?interval=${n % 2 ? 'daily' : 'minutely'}&project=p${n}`
      return { endpoint, interval: of === 0 ? 300 : 60, ages: await look(chart, key!, everyS, until) }
    }),
  )
  for (const { endpoint, interval, ages } of await Promise.all(lookers)) {
    process.stdout.write(
      `${endpoint}: ${ages.length} looks, at most ${Math.max(...ages)} s old of ${interval}\n`,
    )
    expect(Math.max(...ages)).toBeLessThanOrEqual(interval)
    expect(ages.filter((age, n) => age < (ages[n - 1] ?? 0)).length).toBeGreaterThan(0)
  }
  const calls = printed.split('\n').filter(line => line.includes('"message":"warm"'))
  const lines = calls.map(line => JSON.parse(line) as { endpoint: string; refreshed: number; status: number })
  for (const endpoint of ['usage.api-counts', 'minute']) {
    const own = lines.filter(line => line.endpoint === endpoint)
    const refreshed = own.reduce((sum, line) => sum + line.refreshed, 0)
    process.stdout.write(`${endpoint}: ${own.length} calls of warm, ${refreshed} answers refreshed\n`)
    expect(own.map(({ status }) => status)).toEqual(own.map(() => 200))
  }
}, 700_000)
