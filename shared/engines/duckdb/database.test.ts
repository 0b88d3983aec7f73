/** The database refuses what the rewriting should never let through. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { addRows } from '../testing/parquet.ts'
import { openDatabase } from './database.ts'
import { engineError } from './failures.ts'

const columns = ['id', 'message'].map(name => ({ name, type: { kind: 'STRING' } as const }))
const folder = mkdtempSync(join(tmpdir(), 'database-'))
const outside = join(folder, 'outside.csv')
let instance: DuckDBInstance
let connection: DuckDBConnection

beforeAll(async () => {
  writeFileSync(outside, 'a\n1\n')
  instance = await openDatabase(join(folder, 'logs'), new Map([['app.logs', columns]]))
  connection = await instance.connect()
})
afterAll(() => {
  connection.closeSync()
  instance.closeSync()
  rmSync(folder, { recursive: true, force: true })
})

describe('the database', () => {
  test('reads a table that had no folder, and rows that come later', async () => {
    const count = async () =>
      (await connection.runAndReadAll('SELECT count(*)::INT FROM "app.logs"')).getRows()
    expect(await count()).toEqual([[0]])
    await addRows(join(folder, 'logs'), 'app.logs', columns, [{ id: 'a' }, { id: 'b' }])
    expect(await count()).toEqual([[2]])
  })

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

  test.each(['empty', 'cut', 'changed'])('fails, and blames no caller, where a file is %s', async how => {
    await addRows(join(folder, 'logs'), 'app.logs', columns, [{ id: 'x'.repeat(10_000) }])
    const files = readdirSync(join(folder, 'logs', 'app.logs')).map(name =>
      join(folder, 'logs', 'app.logs', name),
    )
    const file = files.find(name => name.endsWith('.parquet'))!
    const whole = readFileSync(file)
    const damage = {
      empty: [],
      cut: [...whole.subarray(0, 60)],
      changed: [...Buffer.from('no Parquet at all')],
    }
    writeFileSync(file, Buffer.from(damage[how as keyof typeof damage]))
    const outcome = await connection.run('SELECT id FROM "app.logs"').catch(engineError)
    writeFileSync(file, whole)
    expect(outcome).toMatchObject({ reason: 'failed', message: 'A log file is damaged' })
  })

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

  test('has time zones and JSON built in', async () => {
    const sql = `SELECT timezone('America/New_York', TIMESTAMPTZ '2026-01-01 00:00:00+00')::VARCHAR, json_valid('{}')`
    expect((await connection.runAndReadAll(sql)).getRows()).toEqual([['2025-12-31 19:00:00', true]])
  })
})
