/**
 * Queries such as dashboards send pass the sandbox, run on DuckDB, and give the rows that Google's reference evaluator
 * gives, but for the known differences: `testing/dashboards/dashboards.ts`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { ApiError } from '../errors.ts'
import { openDuckDb } from '../engines/duckdb/engine.ts'
import { readTableSchemas } from '../engines/duckdb/tables.ts'
import { EngineError, type QueryEngine, type Value } from '../engines/engine.ts'
import { addRows } from '../engines/testing/parquet.ts'
import { sandbox } from './sandbox.ts'
import { bindings, dashboardsOf, entries, recordedRows, subjects } from './testing/dashboards/dashboards.ts'
import { logs as endpoint } from './testing/endpoints.ts'

/** Dashboards that are refused today, with the code of the refusal; those with other rows, with the rows. */
const knownDifferences: Record<string, Value> = {
  // SELECT * in a caller's query.
  'all columns of an entry': 'sandbox_violation',
  'one list of all services': 'sandbox_violation',
  // The path of an array after a comma.
  'a comma before the path of an array': 'sandbox_violation',
}

const tables = readTableSchemas(join(import.meta.dirname, '../../infra/tables'))
const logsFolder = mkdtempSync(join(tmpdir(), 'dashboards-'))

let engine: QueryEngine

beforeAll(async () => {
  for (const [table, rows] of Object.entries(entries()))
    await addRows(logsFolder, table, tables.get(table)!, rows)
  engine = openDuckDb({ logsFolder, tables })
}, 60_000)

afterAll(async () => {
  await engine.close()
  rmSync(logsFolder, { recursive: true, force: true })
})

/** The rows, or the code of the refusal. */
async function answer(callerSql: string): Promise<Value> {
  try {
    const { sql, parameters } = sandbox(endpoint, callerSql)
    const bound = bindings.filter(({ name }) => parameters.includes(name))
    const { rows } = await engine.run({ sql, bindings: bound }, { maxRows: 1_000, timeoutMs: 30_000 })
    return rows
  } catch (error) {
    if (error instanceof ApiError) return error.code
    if (error instanceof EngineError) return error.reason
    throw error
  }
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
    const given = rounded(await answer(sql))
    const known = knownDifferences[shows]
    if (known === undefined) expect(given).toEqual(rounded(right))
    else {
      expect(given).not.toEqual(rounded(right))
      expect(given).toEqual(known)
    }
  })
})

test('there are at least 150 dashboards, and almost all have rows', () => {
  const all = subjects.flatMap(subject => [...recordedRows(subject).values()])
  expect(all.length).toBeGreaterThanOrEqual(150)
  expect(all.filter(rows => rows.length === 0).length).toBeLessThan(5)
})
