/** The tables over real files: those that come, go, or are damaged. Whatever is wrong with one, no caller is blamed. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Column } from '../../sql/types.ts'
import { EngineError, type QueryEngine } from '../engine.ts'
import { addRows } from '../testing/parquet.ts'
import { openDuckDb } from './engine.ts'
import { commitLoads, readLoads } from './loads.ts'
import { rounds } from '../../testing/rounds.ts'

const detail: Column['type'] = { kind: 'STRUCT', fields: [{ name: 'level', type: { kind: 'STRING' } }] }
const columns: Column[] = [
  { name: 'id', type: { kind: 'STRING' } },
  { name: 'made', type: { kind: 'TIMESTAMP' } },
  { name: 'detail', type: { kind: 'ARRAY', element: detail } },
]
const tables = new Map([
  ['app.logs', columns],
  ['other.logs', columns],
])
const row = { id: 'a', made: '2026-01-01T00:00:00Z', detail: [{ level: 'info' }] }

const base = mkdtempSync(join(tmpdir(), 'views-'))
let folder: string
let logs: string
let engine: QueryEngine

beforeEach(() => {
  folder = mkdtempSync(join(base, 'logs-'))
  logs = join(folder, 'app.logs')
  engine = openDuckDb({ logsFolder: folder, tables })
})
afterEach(() => engine.close())
afterAll(() => rmSync(base, { recursive: true, force: true }))

const limits = { maxRows: 100, timeoutMs: 30_000 }

async function ids(table = 'app.logs'): Promise<unknown[]> {
  const sql = `SELECT id, made, d.level FROM \`${table}\` AS t LEFT JOIN UNNEST(t.detail) AS d ORDER BY id`
  return (await engine.run({ sql, bindings: [] }, limits)).rows.map(({ id }) => id)
}

const outcome = () => ids().catch((error: EngineError) => error.reason)
const add = (id: string, to = 'app.logs') => addRows(folder, to, columns, [{ ...row, id }])

function onlyFile(): string {
  const [name] = readdirSync(logs).filter(file => file.endsWith('.parquet') && file !== 'empty.parquet')
  return join(logs, name!)
}

describe('a table', () => {
  test('has no rows where it has no folder, and those that come later', async () => {
    expect(await ids()).toEqual([])
    await add('a')
    expect(await ids()).toEqual(['a'])
    await add('b')
    expect(await ids()).toEqual(['a', 'b'])
    rmSync(onlyFile())
    expect(await ids()).toHaveLength(1)
  })

  test('has the rows of loads that its record names, at once and all together', async () => {
    expect(await ids()).toEqual([])
    for (const id of ['x', 'y']) await add(id, 'made')
    renameSync(join(folder, 'made'), join(logs, 'load'))
    expect(await ids()).toEqual([])
    const files = readdirSync(join(logs, 'load')).map(file => join('load', file))
    const record = join(folder, 'record.json')
    writeFileSync(record, JSON.stringify({ sources: [{ files }], replaced: [] }))
    expect(commitLoads(logs, record, 0)).toBe(true)
    expect(await ids()).toEqual(['x', 'y'])
    expect(commitLoads(logs, record, 0)).toBe(false)
    expect(readLoads(logs).number).toBe(1)
  })

  test('is refused, with its name, where a later version wrote its record of loads', async () => {
    await add('x')
    writeFileSync(join(logs, 'loads.1.json'), '{"format":99,"sources":[]}')
    await expect(ids()).rejects.toMatchObject({
      reason: 'misconfigured',
      message: expect.stringMatching(/loads\.1\.json was written by a later version/),
    })
  })

  test('loses no rows of files that stay, while others come and go', async () => {
    await add('stays')
    await add('x', 'made')
    const made = join(folder, 'made', readdirSync(join(folder, 'made'))[0]!)
    const spare = readFileSync(made)
    const over = new AbortController()
    const moving = (async () => {
      for (let turn = 0; !over.signal.aborted; turn++) {
        const file = join(logs, `turn-${turn}.parquet`)
        writeFileSync(`${file}.tmp`, spare)
        renameSync(`${file}.tmp`, file)
        await sleep(20)
        rmSync(file)
        await sleep(20)
      }
    })()
    const seen = new Set<string>()
    for (let run = 0; run < 100; run++) seen.add(String(await outcome()))
    over.abort()
    await moving
    // A file may go while each of the two tries of a run reads it.
    seen.delete('failed')
    expect(seen).toEqual(new Set(['stays', 'stays,x']))
  })
})

/** Ways to spoil the files of a table that has one row in one file. */
const damages: Record<string, () => void | Promise<void>> = {
  'is empty': () => writeFileSync(onlyFile(), ''),
  'was cut short': () => writeFileSync(onlyFile(), readFileSync(onlyFile()).subarray(0, 100)),
  'is half written': () => {
    const whole = readFileSync(onlyFile())
    writeFileSync(onlyFile(), whole.subarray(0, whole.length / 2))
  },
  'is no Parquet file': () => writeFileSync(join(logs, '0.parquet'), 'no Parquet at all'),
  'is a folder': () => mkdirSync(join(logs, 'folder.parquet')),
  'points to nothing': () => symlinkSync('/nothing/here', join(logs, 'link.parquet')),
  'is gone, of a load': () => {
    const record = join(folder, 'record.json')
    writeFileSync(record, JSON.stringify({ sources: [{ files: ['load/0001.parquet'] }], replaced: [] }))
    commitLoads(logs, record, 0)
  },
  'is a damaged record of loads': () => writeFileSync(join(logs, 'loads.1.json'), '['),
  'is gone, like all others': () => readdirSync(logs).forEach(file => rmSync(join(logs, file))),
  'is gone with its folder': () => rmSync(logs, { recursive: true }),
  'has other columns, and is read first': () =>
    foreign('zzz', [{ name: 'colour', type: { kind: 'STRING' } }], { colour: 'red' }),
  'has other columns, and is read last': () =>
    foreign('000', [{ name: 'colour', type: { kind: 'STRING' } }], { colour: 'red' }),
  'has a column of another type': () =>
    foreign(
      'zzz',
      columns.map(column => ({ ...column, type: { kind: 'STRING' } })),
      { id: 'b', made: 'noon', detail: '' },
    ),
  'lacks a field, and is read first': () => {
    const fields: Column[] = [{ name: 'size', type: { kind: 'INT64' } }]
    const other: Column = {
      name: 'detail',
      type: { kind: 'ARRAY', element: { kind: 'STRUCT', fields } },
    }
    return foreign('zzz', [...columns.slice(0, 2), other], { ...row, detail: [{ size: 1 }] })
  },
}

async function foreign(name: string, its: Column[], content: Parameters<typeof addRows>[3][number]) {
  await addRows(folder, 'foreign', its, [content])
  const [file] = readdirSync(join(folder, 'foreign'))
  renameSync(join(folder, 'foreign', file!), join(logs, `${name}.parquet`))
}

describe('a log file that', () => {
  for (const open of [true, false])
    test.each(Object.keys(damages))(
      `%s fails the run, ${open ? 'also where it was whole before' : 'from the start'}; other tables answer`,
      async how => {
        await add('a')
        await add('o', 'other.logs')
        if (open) expect(await ids()).toEqual(['a'])
        await damages[how]!()
        // An engine that opens finds no table too few: it makes the folders.
        const expected = !open && /^is gone(,| with) (like|its)/.test(how) ? [] : 'failed'
        expect(await outcome()).toEqual(expected)
        expect(await ids('other.logs')).toEqual(['o'])
        const description = engine.describe({ sql: 'SELECT id FROM `other.logs`', bindings: [] })
        expect((await description).tables).toEqual(['other.logs'])
      },
    )

  test('is damaged in any byte never fails as a query would', async () => {
    await add('a')
    expect(await ids()).toEqual(['a'])
    const whole = readFileSync(onlyFile())
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(whole.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 }),
        fc.nat(whole.length),
        async (bytes, length) => {
          const spoiled = Buffer.from(whole)
          for (const [at, byte] of bytes) spoiled[at] = byte
          writeFileSync(onlyFile(), spoiled.subarray(0, length === 0 ? whole.length : length))
          const result = await ids().catch((error: EngineError) => error)
          // A spoiled time past the year 9999 cannot be told from one that the query computes.
          if (result instanceof EngineError && result.message !== 'A date or time is out of range')
            expect(result.reason).toBe('failed')
        },
      ),
      { numRuns: rounds(20, 5_000) },
    )
  })
})

test('an error of the query is the query’s, whatever files there are', async () => {
  await add('a')
  const failure = (sql: string) =>
    engine.run({ sql, bindings: [] }, limits).catch((error: EngineError) => error.reason)
  expect(await failure('SELECT CAST(id AS INT64) FROM `app.logs`')).toBe('rejected')
  expect(await failure("SELECT REGEXP_CONTAINS(id, '(') FROM `app.logs`")).toBe('rejected')
  expect(await failure('SELECT colour FROM `app.logs`')).toBe('rejected')
})
