/** What the processes of the local engine keep from one another, and from the service: memory, time, crashes. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { EngineError, type QueryEngine, type RunLimits } from '../engine.ts'
import { writeSchemas } from '../testing/adapters.ts'
import { plenty } from '../testing/describe-engines.ts'
import { openDuckDbProcesses } from './processes.ts'

const megabytes = 1_000_000
const memoryBytes = 150 * megabytes

let folder: string
let engine: QueryEngine

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'processes-'))
  const tablesFolder = writeSchemas(join(folder, 'tables'), {})
  engine = openDuckDbProcesses({ logsFolder: join(folder, 'logs'), tablesFolder, memoryBytes, atOnce: 3 })
})
afterEach(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

const run = (sql: string, limits: Partial<RunLimits> = {}) =>
  engine.run({ sql, bindings: [] }, { ...plenty, ...limits }).then(
    ({ rows }) => rows,
    (error: EngineError) => error,
  )

/** Processes of this one that run `process.ts`. */
function processes(): number[] {
  return childrenOf(process.pid).filter(pid => {
    const args = fileOf(pid, 'cmdline')
    return args.includes('duckdb/process.ts') && args.includes(folder)
  })
}

function childrenOf(pid: number | undefined): number[] {
  return fileOf(pid, `task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

function residentMegabytes(pid: number): number {
  return Number(/^VmRSS:\s*(\d+)/m.exec(fileOf(pid, 'status'))?.[1] ?? 0) / 1000
}

/** What the system says of a process; nothing of one that is no more. */
function fileOf(pid: number | undefined, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}

async function began(count: number): Promise<number[]> {
  while (processes().length < count) await sleep(20)
  return processes()
}

/** The memory of lists is not in DuckDB's count until they are whole. */
const greedy = `SELECT ARRAY_LENGTH(ARRAY_AGG(CONCAT(CAST(n AS STRING), '-', CAST(m AS STRING)))) AS n
  FROM UNNEST(GENERATE_ARRAY(1, 1000000)) AS n, UNNEST(GENERATE_ARRAY(1, 60)) AS m`
/** Takes minutes. */
const endless = `SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 10000)) AS a, UNNEST(GENERATE_ARRAY(1, 10000)) AS b,
  UNNEST(GENERATE_ARRAY(1, 10000)) AS c WHERE MOD(a * b + c, 7) = 3`

test('a query that takes more memory than it may ends by it alone, and others have their rows meanwhile', async () => {
  expect(await run('SELECT 1 AS a')).toEqual([{ a: 1 }])
  const peaks: number[] = []
  const watching = setInterval(() => peaks.push(...processes().map(residentMegabytes)), 10)
  const ended = run(greedy, { labels: { endpoint: 'e', key: 'greedy' } })
  const over = new AbortController()
  void ended.then(() => over.abort())
  for (let n = 0; !over.signal.aborted; n++, await sleep(50))
    expect(await run(`SELECT ${n} AS a`)).toEqual([{ a: n }])
  clearInterval(watching)
  expect(await ended).toMatchObject({ reason: 'result_too_large' })
  expect(Math.max(...peaks)).toBeGreaterThan(150)
  // What is taken between two looks is small beside it.
  expect(Math.max(...peaks)).toBeLessThan(200 + 5 * 150)
})

test('a query ends soon after its time, also where it heeds no interruption', async () => {
  const stuck = run(endless, { timeoutMs: 3_000 })
  const [pid] = await began(1) // the first: a spare one may come after it
  process.kill(pid!, 'SIGSTOP')
  expect(await stuck).toMatchObject({ reason: 'timeout' })
  while (processes().includes(pid!)) await sleep(20) // it has been killed
  expect(await run('SELECT 1 AS a')).toEqual([{ a: 1 }])
})

test('a query that waits for others is told so at its time', async () => {
  const abort = new AbortController()
  const others = Array.from({ length: 4 }, (_, n) =>
    run(endless, { signal: abort.signal, labels: { endpoint: 'e', key: String(n) } }),
  )
  await began(1)
  expect(await run('SELECT 1', { timeoutMs: 1 })).toMatchObject({ reason: 'overloaded' })
  abort.abort()
  expect(await Promise.all(others)).toMatchObject(others.map(() => ({ reason: 'cancelled' })))
})

test('a run whose process crashes is run again; after three crashes its caller may come back', async () => {
  const count = `SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, 4000)) AS a, UNNEST(GENERATE_ARRAY(1, 15000)) AS b WHERE MOD(a * b, 7) = 3`
  const counted = run(count)
  process.kill((await began(1))[0]!, 'SIGKILL')
  expect(await counted).toMatchObject([{ n: expect.any(Number) }])
  const lost = run(endless)
  const crashing = setInterval(() => processes().forEach(pid => process.kill(pid, 'SIGSEGV')), 200)
  expect(await lost).toMatchObject({ reason: 'unavailable' })
  clearInterval(crashing)
})

test('none is left after the engine, nor after a service that is killed', async () => {
  const waiting = run(endless)
  await began(1)
  await engine.close()
  expect(await waiting).toMatchObject({ reason: 'cancelled' })
  const program = `
    const { openDuckDbProcesses } = await import(${JSON.stringify(join(import.meta.dirname, 'processes.ts'))})
    const engine = openDuckDbProcesses(JSON.parse(process.argv[1]))
    await engine.run({ sql: 'SELECT 1 AS a', bindings: [] }, { maxRows: 1, timeoutMs: 20000 })
    console.log(process.pid)
    setInterval(() => {}, 1000)`
  const options = JSON.stringify({
    logsFolder: join(folder, 'logs'),
    tablesFolder: join(folder, 'tables'),
    memoryBytes,
    atOnce: 3,
  })
  const service = spawn(process.execPath, ['--input-type=module', '-e', program, options], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  await once(service.stdout, 'data')
  const [child] = childrenOf(service.pid)
  service.kill('SIGKILL')
  await once(service, 'exit')
  while (residentMegabytes(child!) > 0) await sleep(50)
})
