/** Parts of a roll-up, seen through the rows of statements over it. */
import { execFile } from 'node:child_process'
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Column } from '../../sql/types.ts'
import type { QueryEngine, Rollup } from '../engine.ts'
import { addRows } from '../testing/parquet.ts'
import { openDuckDb } from './engine.ts'
import { UsageHistories } from './testing/usage-histories.ts'
import { rounds } from '../../testing/rounds.ts'

const table = 'app.logs'
const columns: Column[] = [
  { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  { name: 'name', type: { kind: 'STRING' } },
  { name: 'size', type: { kind: 'INT64' } },
]
const rollup: Rollup = {
  name: 'app.rollup',
  sql: `SELECT TIMESTAMP_TRUNC(timestamp, MINUTE) AS minute, name, COUNT(*) AS entries, SUM(size) AS total,
    MIN(size) AS least, LOGICAL_AND(size > 1) AS large
    FROM \`app.logs\` GROUP BY minute, name`,
  partition: 'minute',
  cluster: [],
  refreshMinutes: 5,
}
const limits = { maxRows: 1000, timeoutMs: 60_000 }

let logsFolder: string
let engine: QueryEngine

beforeEach(() => {
  logsFolder = mkdtempSync(join(tmpdir(), 'rollups-'))
  engine = open()
})
afterEach(async () => {
  await engine.close()
  rmSync(logsFolder, { recursive: true, force: true })
})

const open = (at = logsFolder) => openDuckDb({ logsFolder: at, tables: new Map([[table, columns]]) })
const folder = () => join(logsFolder, table)
const logFiles = () => readdirSync(folder()).filter(name => name.endsWith('.parquet'))
const partsFolder = () =>
  join(
    folder(),
    readdirSync(folder()).find(name => name.startsWith('rollup-'))!,
  )
const parts = () => readdirSync(partsFolder())
const row = (name: string, size: number | null = 1) => ({ timestamp: '2026-01-07T12:34:01Z', name, size })
const add = (...names: string[]) =>
  addRows(
    logsFolder,
    table,
    columns,
    names.map(name => row(name)),
  )

async function entries(of = engine): Promise<Record<string, unknown>> {
  const sql = 'SELECT name, entries FROM `app.rollup` ORDER BY name'
  const { rows } = await of.run({ sql, bindings: [], rollups: [rollup] }, limits)
  return Object.fromEntries(rows.map(found => [found['name'] as string, found['entries']]))
}

describe('a roll-up', () => {
  test('has the same parts by whatever path its folder is read, and where it has moved', async () => {
    await add('a')
    await add('b')
    await entries()
    const made = parts()
    expect(made).toHaveLength(2)
    const [first, elsewhere] = [logsFolder, `${logsFolder}-elsewhere`]
    const readElsewhere = async () => {
      const other = open(elsewhere)
      expect(await entries(other)).toEqual({ a: 1, b: 1 })
      await other.close()
    }
    symlinkSync(first, elsewhere)
    await readElsewhere()
    expect(parts()).toEqual(made)
    rmSync(elsewhere)
    renameSync(first, elsewhere)
    logsFolder = elsewhere
    await readElsewhere()
    expect(parts()).toEqual(made)
  })

  test('has the rows of its query over all log files, added up', async () => {
    await addRows(logsFolder, table, columns, [row('a', 5), row('a', null), row('b', 2)])
    await addRows(logsFolder, table, columns, [row('a', 0), row('c', null)])
    const over = async (sql: string, more: object) =>
      (await engine.run({ sql: `SELECT * FROM ${sql} ORDER BY name`, bindings: [], ...more }, limits)).rows
    const rows = await over('`app.rollup`', { rollups: [rollup] })
    expect(rows).toEqual(await over(`(${rollup.sql})`, {}))
    expect(rows).toHaveLength(3)
  })

  test('and another one in the same statement are of the same log files, while files come', async () => {
    const hours = { ...rollup, name: 'app.hours.rollup', sql: rollup.sql.replace('MINUTE', 'HOUR') }
    const sums = [rollup, hours].map(({ name }) => `(SELECT SUM(entries) FROM \`${name}\`)`)
    const sql = `SELECT ${sums[0]} AS minutes, ${sums[1]} AS hours`
    await add('a')
    const found: unknown[] = []
    const asking = async () => {
      for (let i = 0; i < 15; i++)
        found.push(...(await engine.run({ sql, bindings: [], rollups: [rollup, hours] }, limits)).rows)
    }
    const adding = async () => {
      for (let i = 0; i < 15; i++) await add('a', 'b')
    }
    await Promise.all([asking(), asking(), adding()])
    for (const row of found as { minutes: number; hours: number }[]) expect(row.hours).toBe(row.minutes)
    expect(new Set(found.map(row => JSON.stringify(row))).size).toBeGreaterThan(3)
  })

  test('of an empty table has none', async () => {
    expect(await entries()).toEqual({})
  })

  test('follows files that come, are replaced and are removed, and keeps no part of those that went', async () => {
    await add('a')
    await add('b')
    expect(await entries()).toEqual({ a: 1, b: 1 })
    const [first, second] = logFiles()
    const before = parts()
    await add('c', 'c')
    const third = logFiles().find(name => name !== first && name !== second)!
    expect(Object.values(await entries())).toEqual([1, 1, 2])
    expect(parts()).toEqual(expect.arrayContaining(before))
    renameSync(join(folder(), third), join(folder(), first!))
    expect(Object.values(await entries())).toEqual([1, 2])
    rmSync(join(folder(), second!))
    expect(await entries()).toEqual({ c: 2 })
    expect(parts()).toHaveLength(1)
  })

  test.each([
    ['cut', (bytes: Buffer) => bytes.subarray(0, 40)],
    ['empty', () => Buffer.alloc(0)],
    ['changed by one bit', (bytes: Buffer) => bytes.with(20, bytes[20]! ^ 1) as Buffer],
    ['no Parquet', () => Buffer.from('no Parquet at all')],
  ])('makes a part again that is %s, in the same process and in the next', async (_, damage) => {
    await add('a', 'a')
    expect(await entries()).toEqual({ a: 2 })
    for (const next of [() => engine, open]) {
      const part = join(partsFolder(), parts()[0]!)
      writeFileSync(part, damage(readFileSync(part)))
      const another = next()
      expect(await entries(another)).toEqual({ a: 2 })
      if (another !== engine) await another.close()
    }
    expect(parts()).toHaveLength(1)
  })

  test('makes a part again that is missing, also all of them', async () => {
    await add('a')
    await entries()
    rmSync(join(partsFolder(), parts()[0]!))
    expect(await entries()).toEqual({ a: 1 })
    rmSync(partsFolder(), { recursive: true })
    expect(await entries()).toEqual({ a: 1 })
  })

  test('removes what a killed process left, and not what another one is making', async () => {
    await add('a')
    await entries()
    for (const name of ['old', 'new']) writeFileSync(join(partsFolder(), `${name}.tmp`), 'half')
    utimesSync(join(partsFolder(), 'old.tmp'), 0, 0)
    expect(await entries()).toEqual({ a: 1 })
    expect(parts().filter(name => name.endsWith('.tmp'))).toEqual(['new.tmp'])
  })

  test('is another one with another query', async () => {
    await add('a', 'b')
    await entries()
    const sql = rollup.sql.replace('COUNT(*)', 'COUNTIF(name > "a")')
    const other = { ...rollup, sql }
    const { rows } = await engine.run(
      { sql: 'SELECT SUM(entries) AS n FROM `app.rollup`', bindings: [], rollups: [other] },
      limits,
    )
    expect(rows).toEqual([{ n: 1 }])
    expect(await entries()).toEqual({ a: 1, b: 1 })
    await engine.rollups.remove(other)
    expect([await engine.rollups.has(other), await engine.rollups.has(rollup)]).toEqual([false, true])
  })

  test('that cannot be made fails with a reason of its own, and at a deadline with that', async () => {
    await add('a')
    await entries()
    rmSync(partsFolder(), { recursive: true })
    writeFileSync(join(folder(), `${'x'.repeat(10)}.parquet`), 'no Parquet')
    const sql = 'SELECT name FROM `app.rollup`'
    await expect(engine.run({ sql, bindings: [], rollups: [rollup] }, limits)).rejects.toMatchObject({
      reason: 'no_rollup',
    })
    const aborted = { ...limits, signal: AbortSignal.abort() }
    await expect(engine.run({ sql, bindings: [], rollups: [rollup] }, aborted)).rejects.toMatchObject({
      reason: 'cancelled',
    })
  })

  test('is described without being made', async () => {
    const { columns: found } = await engine.describe({
      sql: 'SELECT * FROM `app.rollup`',
      bindings: [],
      rollups: [rollup],
    })
    expect(found.map(({ name, type }) => `${name} ${type.kind}`)).toEqual([
      'minute TIMESTAMP',
      'name STRING',
      'entries INT64',
      'total INT64',
      'least INT64',
      'large BOOL',
    ])
    expect(await engine.rollups.has(rollup)).toBe(false)
  })

  test('is not seen by statements without it', async () => {
    await expect(
      engine.run({ sql: 'SELECT 1 FROM `app.rollup`', bindings: [] }, limits),
    ).rejects.toMatchObject({
      reason: 'rejected',
    })
  })
})

test('processes that make parts while files are replaced count every entry once', async () => {
  for (let i = 0; i < 4; i++) await add(`start${i}`)
  const reads = rounds(10, 1_000)
  const reader = `
    const { openDuckDb } = await import(${JSON.stringify(join(import.meta.dirname, 'engine.ts'))})
    const [, logsFolder, tables, rollup] = process.argv
    const engine = openDuckDb({ logsFolder, tables: new Map(JSON.parse(tables)) })
    const sql = 'SELECT COUNT(*) AS names, SUM(entries) AS entries FROM \`app.rollup\`'
    for (let i = 0; i < ${reads}; i++) {
      const { rows } = await engine.run({ sql, bindings: [], rollups: [JSON.parse(rollup)] }, { maxRows: 1, timeoutMs: 60000 })
      console.log(JSON.stringify(rows[0]))
    }
    await engine.close()`
  const args = [
    '--input-type=module',
    '-e',
    reader,
    logsFolder,
    JSON.stringify([[table, columns]]),
    JSON.stringify(rollup),
  ]
  const readers = [0, 1].map(() => promisify(execFile)(process.execPath, args))
  const reading = new AbortController()
  const done = Promise.all(readers).finally(() => reading.abort())
  for (let i = 0; !reading.signal.aborted && i < 20 * reads; i++) {
    // A log file that takes the place of another has as many entries: the sum is 4 at every moment.
    const before = logFiles()
    await addRows(join(logsFolder, 'beside'), table, columns, [row(`n${i}`)])
    const beside = join(logsFolder, 'beside', table)
    const [made] = readdirSync(beside)
    renameSync(join(beside, made!), join(folder(), before[i % before.length]!))
  }
  const lines = (await done).flatMap(({ stdout }) => stdout.trim().split('\n'))
  expect(lines).toHaveLength(2 * reads)
  expect(new Set(lines)).toEqual(new Set(['{"names":4,"entries":4}']))
})

/** The usage chart from its roll-ups, against the endpoint's own query at the same time; 10,000 in `usage-rollup.soak.ts`. */
test.each([
  ['duckdb', 2],
  ['bigquery', 2],
] as const)(
  'on %s, %i random histories have no cell that differs between answer, batch and own query',
  async (engine, count) => {
    const histories = new UsageHistories(engine)
    try {
      for (let seed = 1; seed <= count; seed++) await histories.play(seed)
    } finally {
      await histories.close()
    }
    const { charts, filled, summed } = histories.tally
    expect(filled).toBeGreaterThan(charts / 5)
    expect(summed).toBeGreaterThan(charts / 2)
  },
)
