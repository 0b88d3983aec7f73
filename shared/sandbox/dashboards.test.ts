/** Queries such as dashboards send pass the sandbox, run, and give the rows that plain arithmetic gives. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadLogs } from '../../infra/lqe/logs/load.ts'
import { typeOf } from '../endpoints/definition.ts'
import type { QueryEngine, Row, Value } from '../engines/engine.ts'
import { openDuckDb } from '../engines/duckdb/engine.ts'
import { readTableSchemas } from '../engines/duckdb/tables.ts'
import { sandbox } from './sandbox.ts'
import { dashboards } from './testing/dashboards/dashboards.ts'
import { entriesOf } from './testing/dashboards/entries.ts'
import { hour, start } from './testing/dashboards/logs.ts'
import { makeLogs } from './testing/dashboards/make-logs.ts'
import { logs as endpoint } from './testing/endpoints.ts'

const tablesFolder = join(import.meta.dirname, '../../infra/tables')
const folder = mkdtempSync(join(tmpdir(), 'dashboards-'))
const acme = makeLogs('acme', 1)

const values: Record<string, string> = {
  project: 'acme',
  iso_timestamp_start: new Date(start / 1000).toISOString(),
  iso_timestamp_end: new Date((start + hour) / 1000).toISOString(),
}

let engine: QueryEngine

/** Entries of another project lie between, so that a missing filter shows in every count. */
beforeAll(async () => {
  const entries = [entriesOf(acme, 'acme'), entriesOf(makeLogs('other', 2), 'other')]
  for (const table of Object.keys(entries[0]!)) {
    const file = join(folder, `${table}.ndjson`)
    const lines = entries.flatMap(project => project[table]!).map(entry => JSON.stringify(entry))
    writeFileSync(file, lines.join('\n'))
    await loadLogs({ logsFolder: join(folder, 'logs'), tablesFolder, table, files: [file], out: fail })
  }
  engine = openDuckDb({ logsFolder: join(folder, 'logs'), tables: readTableSchemas(tablesFolder) })
}, 60_000)

afterAll(async () => {
  await engine.close()
  rmSync(folder, { recursive: true, force: true })
})

function fail(line: string): never {
  throw new Error(line)
}

async function rowsOf(callerSql: string): Promise<Row[]> {
  const { sql, parameters } = sandbox(endpoint, callerSql)
  const bindings = parameters.map(name => ({
    name,
    type: typeOf(endpoint.parameters[name]!),
    value: values[name]!,
  }))
  const { rows } = await engine.run({ sql, bindings }, { maxRows: 1_000, timeoutMs: 30_000 })
  return rows
}

/** Sums taken in another order differ in their last digits. */
function rounded(value: Value): Value {
  if (typeof value === 'number') return Number(value.toPrecision(12))
  if (Array.isArray(value)) return value.map(rounded)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rounded(item)]))
}

for (const [subject, queries] of Object.entries(dashboards)) {
  describe(subject, () => {
    test.each(queries)('%s', async (_, sql, expected) => {
      expect((await rowsOf(sql)).map(rounded)).toEqual(expected(acme).map(rounded))
    })
  })
}

test('there are at least 100 queries, and each has rows', () => {
  const all = Object.values(dashboards).flat()
  expect(all.length).toBeGreaterThanOrEqual(100)
  expect(all.filter(([, , rows]) => rows(acme).length === 0)).toEqual([])
})
