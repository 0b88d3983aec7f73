/**
 * Queries such as dashboards send pass the sandbox, run on DuckDB, and give the rows that Google's reference evaluator
 * gives: `testing/dashboards/dashboards.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openDuckDb } from '../engines/duckdb/engine.ts'
import { readTableSchemas } from '../engines/duckdb/tables.ts'
import type { QueryEngine, Row, Value } from '../engines/engine.ts'
import { addRows } from '../engines/testing/parquet.ts'
import { sandbox } from './sandbox.ts'
import { bindings, dashboardsOf, entries, recordedRows, subjects } from './testing/dashboards/dashboards.ts'
import { logs as endpoint } from './testing/endpoints.ts'

const tables = readTableSchemas(join(import.meta.dirname, '../../infra/tables'))
const logsFolder = mkdtempSync(join(tmpdir(), 'dashboards-'))

let engine: QueryEngine

beforeAll(async () => {
  for (const [table, rows] of Object.entries(entries()))
    await addRows(logsFolder, table, tables.get(table)!, rows)
  engine = openDuckDb({ logsFolder, tables })
})

afterAll(async () => {
  await engine.close()
  rmSync(logsFolder, { recursive: true, force: true })
})

async function rowsOf(callerSql: string): Promise<Row[]> {
  const { sql, parameters } = sandbox(endpoint, callerSql)
  const bound = bindings.filter(({ name }) => parameters.includes(name))
  return (await engine.run({ sql, bindings: bound }, { maxRows: 1_000, timeoutMs: 30_000 })).rows
}

/** Sums of FLOAT64s in another order differ in their last digits, and GoogleSQL leaves the order open. */
function rounded(value: Value): Value {
  if (typeof value === 'number') return Number(value.toPrecision(14))
  if (Array.isArray(value)) return value.map(rounded)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, rounded(item)]))
}

describe.each(subjects)('%s', subject => {
  const recorded = recordedRows(subject)
  test.each(dashboardsOf(subject))('$shows', async ({ shows, sql }) => {
    const right = recorded.get(shows)
    if (!right) throw new Error('no recorded rows: see testing/reference/record.ts')
    expect(rounded(await rowsOf(sql))).toEqual(rounded(right))
  })
})

test('there are at least 150 dashboards, and almost all have rows', () => {
  const all = subjects.flatMap(subject => [...recordedRows(subject).values()])
  expect(all.length).toBeGreaterThanOrEqual(150)
  expect(all.filter(rows => rows.length === 0).length).toBeLessThan(5)
})
