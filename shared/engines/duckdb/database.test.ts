/** The database refuses what the rewriting should never let through. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openDatabase } from './database.ts'
import { LogViews } from './tables.ts'

const columns = ['id', 'message'].map(name => ({ name, type: { kind: 'STRING' } as const }))
const folder = mkdtempSync(join(tmpdir(), 'database-'))
const outside = join(folder, 'outside.csv')
let instance: DuckDBInstance
let connection: DuckDBConnection
const marked = `SELECT chr(65279) || 'text'`
let byItself: unknown

beforeAll(async () => {
  const client = await DuckDBInstance.create(':memory:')
  byItself = (await (await client.connect()).runAndReadAll(marked)).getRows()
  client.closeSync()
  writeFileSync(outside, 'a\n1\n')
  const logs = join(folder, 'logs')
  const tables = new Map([['app.logs', columns]])
  instance = await openDatabase(logs, tables)
  connection = await instance.connect()
  await new LogViews(connection, logs, tables).refresh(['app.logs'])
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
  rmSync(folder, { recursive: true, force: true })
})

describe('the database', () => {
  test.each([100, 1000])(
    'finds the first %d rows by number, and fetches their columns after',
    async limit => {
      const plan = await connection.runAndReadAll(
        `EXPLAIN SELECT id, message FROM "app.logs" WHERE id > $1 ORDER BY id DESC LIMIT ${limit}`,
        ['a'],
      )
      expect(JSON.stringify(plan.getRows())).toMatch(/SEMI.*file_row_number/)
    },
  )

  test.each([
    [`SELECT * FROM '${outside}'`],
    [`SELECT * FROM read_text('${outside}')`],
    [`SELECT * FROM read_parquet('${join(folder, 'logs-of-others')}/*.parquet')`],
    [`SELECT * FROM glob('${join(folder, 'logs')}/../*')`],
    [`COPY (SELECT 1) TO '${join(folder, 'out.csv')}'`],
    [`ATTACH '${join(folder, 'new.db')}'`],
    ['INSTALL httpfs'],
    ['LOAD httpfs'],
    ['SET enable_external_access = true'],
    ['SET GLOBAL lock_configuration = false'],
    [`SET allowed_directories = ['/']`],
    [`SET TimeZone = 'Asia/Tokyo'`],
  ])('refuses %s', async statement => {
    await expect(connection.run(statement)).rejects.toMatchObject({ message: expect.any(String) })
  })

  test('a byte order mark: lost by itself, kept with the patch', async () => {
    expect(byItself).toEqual([['text']])
    expect((await connection.runAndReadAll(marked)).getRows()).toEqual([['\uFEFFtext']])
  })

  test('has time zones and JSON built in', async () => {
    const sql = `SELECT timezone('America/New_York', TIMESTAMPTZ '2026-01-01 00:00:00+00')::VARCHAR, json_valid('{}')`
    expect((await connection.runAndReadAll(sql)).getRows()).toEqual([['2025-12-31 19:00:00', true]])
  })
})
