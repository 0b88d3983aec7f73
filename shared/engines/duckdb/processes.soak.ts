/** Processes of the local engine killed 200 times under load: each caller gets its rows, or may come back, in its time. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { EngineError } from '../engine.ts'
import { writeSchemas } from '../testing/adapters.ts'
import { openDuckDbProcesses } from './processes.ts'

const kills = 200
const callers = 12
const timeoutMs = 5000

test(`${kills} kills under load`, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'kills-'))
  const tablesFolder = writeSchemas(join(folder, 'tables'), {})
  const engine = openDuckDbProcesses({
    logsFolder: join(folder, 'logs'),
    tablesFolder,
    memoryBytes: 300e6,
    atOnce: 3,
  })
  const counts: Record<string, number> = {}
  const wrong: string[] = []
  const ended = new AbortController()
  const caller = async (n: number) => {
    for (let call = 0; !ended.signal.aborted; call++) {
      const size = call % 3 === 0 ? 2000 : 20
      const sql = `SELECT COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(1, ${size})) AS a, UNNEST(GENERATE_ARRAY(1, 1000)) AS b WHERE a * b > 0`
      const started = performance.now()
      const limits = { maxRows: 1, timeoutMs, labels: { endpoint: 'e', key: String(n % 4) } }
      const outcome = await engine.run({ sql, bindings: [] }, limits).then(
        ({ rows }) => (rows[0]!['n'] === size * 1000 ? 'rows' : `wrong rows ${JSON.stringify(rows)}`),
        (error: EngineError) => error.reason,
      )
      counts[outcome] = (counts[outcome] ?? 0) + 1
      const late = performance.now() - started > timeoutMs + 1000
      if (late || !['rows', 'unavailable', 'overloaded', 'timeout'].includes(outcome)) wrong.push(outcome)
    }
  }
  const all = Array.from({ length: callers }, (_, n) => caller(n))
  for (let killed = 0; killed < kills; await sleep(500)) {
    const running = processes(folder)
    const pid = running[killed % Math.max(running.length, 1)]
    if (pid === undefined) continue
    process.kill(pid, 'SIGKILL')
    killed++
  }
  ended.abort()
  await Promise.all(all)
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
  console.log(JSON.stringify({ kills, counts }))
  expect(wrong).toEqual([])
  expect(counts['rows']).toBeGreaterThan(kills / 2)
}, 300_000)

/** Those of this engine that are there now. */
function processes(folder: string): number[] {
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
    .filter(pid => {
      try {
        const line = readFileSync(`/proc/${pid}/cmdline`, 'latin1')
        return line.includes('duckdb/process.ts') && line.includes(folder)
      } catch {
        return false
      }
    })
}
