/**
 * The SQL of the logs view, run by the service: in its sandbox, on DuckDB, where planning a statement over a table with so many fields
 * takes tens of milliseconds. So some tables and fields are asked here, and all of them in its soak.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { TableDescription } from '../../query/endpoints.ts'
import { edgeRow } from '../../testing/edges.ts'
import { startService, type TestService } from '../../testing/service.ts'
import { appRow, withAppLogs } from '../testing/app-logs.ts'
import { sampleEntries } from '../../../infra/lqe/logs/sample.ts'
import { tokenize } from '../../../shared/sql/tokens.ts'
import type { Row, Value } from '../../../shared/engines/engine.ts'
import { string } from './values.ts'
import { entryOf, keyOf } from './rows.ts'
import { allOf, fieldAt, measures, type Shape, shapeOf, tableColumn } from './shape.ts'
import { searchFor } from './conditions.ts'
import { chartOf } from './bars.ts'
import type { Range } from './range.ts'
import {
  type After,
  entrySql,
  extentSql,
  histogramSql,
  namesSql,
  rowsSql,
  statisticsSql,
  topSql,
} from './sql.ts'
import { filterText, initial, type Scalar, type State } from './state.ts'
import { anyCharacter } from '../../../shared/testing/characters.ts'
import { rounds } from '../../../shared/testing/rounds.ts'

const now = new Date('2026-03-10T12:30:30.000Z')
const project = 'qhzvnxwtrkdplmcoyaeb'
const tied = 'abcdefghijklmnopqrst'
const all = { from: null, to: null }
const plain: State = { ...initial, values: {}, table: '', redact: false }

const folder = mkdtempSync(join(tmpdir(), 'sql-'))
let service: TestService
let shapes: Shape[]

beforeAll(async () => {
  const tables: Record<string, object[]> = {}
  for (const entries of sampleEntries(300, 1, now))
    for (const { table, entry } of entries) (tables[table] ??= []).push(entry)
  const lists = [
    {
      request: [
        { method: 'GET', path: '/a' },
        { method: 'PUT', path: '/b' },
      ],
    },
    { request: [{ method: 'PUT' }] },
  ]
  for (let i = 0; i < 25; i++) {
    const row = edgeRow(
      `tied-${String(i).padStart(2, '0')}`,
      '2026-03-10T12:00:00.000007Z',
      tied,
      `/it's/\\${i % 3}`,
    )
    tables['cloudflare.logs.prod']!.push(i === 0 ? { ...row, metadata: lists } : row)
  }
  // As two of the edge's: at the same microsecond, with the same ids, where pages of nine end.
  for (const [id, user_name] of Object.entries({ 'tied-00': 'Ann', 'tied-16': 'Bob' })) {
    const entry = { id, timestamp: '2026-03-10T12:00:00.000007Z', project: tied, event_message: 'failed' }
    tables['postgres.logs']!.push({ ...entry, metadata: { parsed: { user_name, error_severity: 'ERROR' } } })
  }
  tables['app.logs'] = Array.from({ length: 12 }, (_, i) => appRow(i, '2026-03-10T12:00:00Z'))
  const { queries, env } = withAppLogs(folder)
  service = await startService({ tables, queries, env: { ...env, FROZEN_NOW: now.toISOString() } })
  const response = await service.fetch('/api/endpoints/logs.all/tables')
  const { result } = (await response.json()) as { result: TableDescription[] }
  shapes = result.map(table => shapeOf(table)!)
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

async function run(sql: string, ref = project, endpoint = 'logs.all', key = service.key): Promise<Row[]> {
  const init = {
    method: 'POST',
    body: JSON.stringify({ sql }),
    headers: { 'Content-Type': 'application/json', 'X-API-KEY': key },
  }
  const response = await service.fetch(`/api/endpoints/query/${endpoint}?project=${ref}`, init)
  const body = (await response.json()) as { result: Row[]; detail?: string }
  expect([response.status, body.detail, response.status === 200 ? '' : sql]).toEqual([200, undefined, ''])
  return body.result
}

const text = (value: Value | undefined) => JSON.stringify(value ?? null).replaceAll('"', '')
const edge = () => shapes.find(({ table }) => table === 'edge_logs')!
const count = async (asked: Partial<State>, ref = tied) =>
  (await run(rowsSql({ ...plain, ...asked }, edge(), all, 100), ref)).length

const tables = [
  ['edge_logs', 'metadata.response.status_code'],
  ['postgres_logs', 'metadata.parsed.error_severity'],
  ['function_edge_logs', 'metadata.response.status_code'],
  ['function_logs', 'metadata.level'],
  ['auth_logs', 'metadata.level'],
  ['realtime_logs', 'metadata.level'],
  ['storage_logs', 'metadata.level'],
  ['postgrest_logs', null],
  ['pgbouncer_logs', null],
] as const

test.each(tables)('time, message and severity of %s are found by their names', (table, severity) => {
  const { time, message, id, severity: found } = shapes.find(other => other.table === table)!
  expect([time.path, message.path, id?.path]).toEqual(['timestamp', 'event_message', 'id'])
  expect(found?.path ?? null).toBe(severity)
})

/** A table with a status, one with levels, one with neither, and the others. */
const [status, level, neither, ...others] = [0, 1, 7, 2, 3, 4, 5, 6, 8].map(i => tables[i]![0])
const askedTables = [status, level, neither, ...others].slice(0, rounds(3, tables.length))
const askedShapes = () => shapes.filter(({ table }) => askedTables.some(asked => asked === table))

describe.each(askedTables)('%s', table => {
  const shape = () => shapes.find(other => other.table === table)!
  /** The last field, and one of so many. */
  const oneOf = (many: number) => {
    const { fields } = shape()
    return fields.filter((_, i) => i % many === 0 || i === fields.length - 1)
  }

  test('every field can be a column, and its values filter for and out what they count', async () => {
    const columns = oneOf(rounds(6, 1)).map(({ path }) => path)
    const rows = await run(rowsSql({ ...plain, columns }, shape(), all, 1000))
    expect(rows.length).toBeGreaterThan(0)
    for (const field of oneOf(rounds(120, 1))) {
      const [top] = await run(topSql(plain, shape(), all, field, 1))
      const [value, entries] = Object.values(top!) as [string, number]
      const filter = { path: field.path, value }
      const filtered = (operator: '=' | '!=') =>
        run(rowsSql({ ...plain, filters: [{ ...filter, operator }] }, shape(), all, 1000))
      const [kept, left] = [await filtered('='), await filtered('!=')]
      expect([field.path, kept.length + left.length]).toEqual([field.path, rows.length])
      expect(kept.length).toBeLessThanOrEqual(entries)
      expect(kept.length).toBeGreaterThan(0)
    }
  })

  test('its histogram counts every row once, in buckets of its severity', async () => {
    const rows = await run(rowsSql(plain, shape(), all, 1000))
    const buckets = await run(histogramSql(plain, shape(), all, { width: 3.6e9, values: [] }))
    expect(buckets.reduce((sum, { entries }) => sum + Number(entries), 0)).toBe(rows.length)
    expect(buckets.every(({ bucket }) => Number(bucket) % 3.6e9 === 0)).toBe(true)
    const [extent] = await run(extentSql(plain, shape(), all))
    expect([extent!['last'], extent!['first']]).toEqual([rows[0]!['timestamp'], rows.at(-1)!['timestamp']])
  })

  test('an entry is found by its time and id', async () => {
    const [row] = await run(rowsSql(plain, shape(), all, 1))
    const key = { time: Number(row!['timestamp']), id: text(row!['id']) }
    expect(await run(entrySql(shape(), key))).toMatchObject([
      { id: key.id, event_message: row!['event_message'] },
    ])
  })
})

describe('rows', () => {
  test('pages by time and id show each of several rows of one microsecond once', async () => {
    for (const ascending of [false, true]) {
      const seen: string[] = []
      let after: After = null
      for (let page = 0; page < 4; page++) {
        const rows: Row[] = await run(rowsSql({ ...plain, ascending }, edge(), all, 10, after), tied)
        seen.push(...rows.map(({ id }) => text(id)))
        const last = rows.at(-1)
        if (last) after = entryOf(last, edge())
      }
      expect(seen.length).toBe(25)
      expect(seen).toEqual(ascending ? seen.toSorted() : seen.toSorted().toReversed())
    }
  })

  test('a row that has several elements in a list is shown once, is found by any, and shows its first', async () => {
    const path = 'metadata.request.method'
    expect(await count({ filters: [{ path, operator: '=', value: 'PUT' }] })).toBe(1)
    expect(await count({ filters: [{ path, operator: '!=', value: 'PUT' }] })).toBe(24)
    const filters = ['PUT', 'GET'].map(value => ({ path, operator: '=' as const, value }))
    const rows = await run(rowsSql({ ...plain, filters, columns: [path] }, edge(), all, 100), tied)
    expect([rows.length, rows.at(-1)!['method']]).toEqual([25, 'GET'])
  })

  test('a range has the rows of its first microsecond, and none of its end', async () => {
    const time = Date.UTC(2026, 2, 10, 12) * 1000 + 7
    const within = async (from: number, to: number) =>
      (await run(rowsSql(plain, edge(), { from, to }, 100), tied)).length
    expect(await within(time, time + 1)).toBe(25)
    expect(await within(time + 1, time + 5)).toBe(0)
    expect(await within(time - 5, time)).toBe(0)
  })

  test('a filter compares by the type of its field, and null means that there is none', async () => {
    const status = 'metadata.response.status_code'
    expect(await count({ filters: [{ path: status, operator: '>=', value: 200 }] })).toBe(24)
    expect(await count({ filters: [{ path: status, operator: '>', value: 200 }] })).toBe(0)
    expect(await count({ filters: [{ path: status, operator: '<=', value: 200 }] })).toBe(24)
    expect(await count({ filters: [{ path: status, operator: '<=', value: 199.5 }] })).toBe(0)
    expect(await count({ filters: [{ path: status, operator: '>=', value: 199.5 }] })).toBe(24)
    expect(await count({ filters: [{ path: status, operator: '=', value: null }] })).toBe(1)
    expect(await count({ filters: [{ path: status, operator: '!=', value: null }] })).toBe(24)
    expect(
      await count({
        filters: [{ path: 'timestamp', operator: '=', value: Date.UTC(2026, 2, 10, 12) * 1000 + 7 }],
      }),
    ).toBe(25)
    expect(await count({ filters: [{ path: 'not.there', operator: '=', value: 1 }] })).toBe(25)
  })

  test('search is for text in any case, or for a regular expression between slashes', async () => {
    expect(await count({ search: "IT'S/\\1" })).toBe(8)
    expect(await count({ search: '/\\\\[12]$/' })).toBe(16)
    expect(await count({ search: '/IT.S/' })).toBe(0)
    expect(await count({ search: '/IT.S/i' })).toBe(25)
  })

  test('severity keeps what it names, and sorting by a column goes through the pages', async () => {
    expect(await count({ severity: ['error'] })).toBe(0)
    expect(await count({ severity: ['info', 'other'] })).toBe(25)
    const sort = 'metadata.request.path'
    const pages = [0, 1, 2].map(page =>
      run(rowsSql({ ...plain, sort, columns: [sort] }, edge(), all, 10, { offset: page * 10 }), tied),
    )
    const paths = (await Promise.all(pages)).flat().map(({ path }) => text(path))
    expect(paths).toEqual(paths.toSorted().toReversed())
    expect(paths.length).toBe(25)
  })
})

describe('all tables', () => {
  let every: Shape
  const found = async (asked: Partial<State>, ref = tied) =>
    (await run(rowsSql({ ...plain, ...asked }, every, all, 1000), ref)).map(row => [
      row[tableColumn],
      text(row['id']),
    ])
  const names = async (asked: Partial<State>) => [...new Set((await found(asked)).map(([table]) => table))]

  beforeAll(() => {
    every = allOf(askedShapes() as [Shape, ...Shape[]])
  })

  test('have the rows of each, the newest first, in pages that show each once', async () => {
    const each = await Promise.all(askedShapes().map(shape => run(rowsSql(plain, shape, all, 1000))))
    const rows = await run(rowsSql(plain, every, all, 1000))
    const times = rows.map(({ timestamp }) => Number(timestamp))
    expect(times).toEqual(times.toSorted((a, b) => b - a))
    expect(Map.groupBy(rows, row => row[tableColumn]).size).toBe(askedTables.length)
    expect(rows.map(({ id }) => text(id)).toSorted()).toEqual(
      each
        .flat()
        .map(({ id }) => text(id))
        .toSorted(),
    )
    const orders = [
      ['', false],
      ['metadata.request.path', true],
      ['', true],
    ] as const
    for (const [sort, ascending] of orders.slice(0, rounds(1, 3))) {
      const state = { ...plain, sort, ascending }
      const pages: Row[] = []
      for (let after: After = null; pages.length < 27;) {
        pages.push(...(await run(rowsSql(state, every, all, 9, after), tied)))
        after = sort ? { offset: pages.length } : entryOf(pages.at(-1)!, every)
      }
      expect(pages).toEqual(await run(rowsSql(state, every, all, 100), tied))
      expect(new Set(pages.map(row => keyOf(row, every))).size).toBe(27)
    }
  })

  test('are searched in messages or in every value, as text or as a regular expression', async () => {
    expect(await found({ search: 'ann' })).toEqual([])
    expect(await found({ search: 'ann', scope: 'entry' })).toEqual([['postgres_logs', 'tied-00']])
    expect(await found({ search: '/"user_name":"[AB]/', scope: 'entry' })).toHaveLength(2)
    expect(await found({ search: 'user_name', scope: 'entry' })).toEqual([]) // a name, not a value
    const path = "/it's/\\1"
    expect(await found({ search: path, scope: 'entry' })).toHaveLength(8)
  })

  test('are searched for a value as it is, also where it looks like a regular expression', async () => {
    const counts = ["/it's/", '/it.s/'].flatMap(value =>
      [value, searchFor(value)].map(search => count({ search })),
    )
    expect(await Promise.all(counts)).toEqual([25, 25, 25, 0])
  })

  test('are filtered by what some of them have: the others are as if it were NULL there', async () => {
    const name = { path: 'metadata.parsed.user_name', operator: '=' as const, value: 'Ann' }
    expect(await found({ filters: [name] })).toEqual([['postgres_logs', 'tied-00']])
    expect(await found({ filters: [{ ...name, operator: '!=' }] })).toHaveLength(26)
    expect(await found({ filters: [{ ...name, value: null }] })).toHaveLength(25)
    expect(await found({ filters: [{ ...name, operator: '!=', value: null }] })).toHaveLength(2)
    expect(await found({ filters: [{ ...name, operator: '>', value: '' }] })).toHaveLength(2)
    const table = { path: tableColumn, operator: '=' as const, value: 'edge_logs' }
    expect(await names({ filters: [table] })).toEqual(['edge_logs'])
    expect(await names({ filters: [{ ...table, operator: '!=' }] })).toEqual(['postgres_logs'])
    expect(await found({ filters: [table, name] })).toEqual([])
    expect(await names({ severity: ['error'] })).toEqual(['postgres_logs'])
    expect((await found({ severity: ['other'] }, project)).length).toBeGreaterThan(0)
  })

  test('have columns, values and a histogram, of which each counts every row once', async () => {
    const paths = ['metadata.parsed.user_name', 'metadata.request.path']
    const [row] = await run(rowsSql({ ...plain, columns: paths, sort: paths[0]! }, every, all, 1), tied)
    expect(row).toMatchObject({ user_name: 'Bob', path: null, severity: 'ERROR' })
    const counts = async (sql: string) =>
      new Map((await run(sql, tied)).map(row => [row['severity'] ?? row[tableColumn], row['entries']]))
    const width = 8.64e10
    const bySeverity = await counts(histogramSql(plain, every, all, { width, values: [] }))
    expect(bySeverity).toEqual(
      new Map([
        ['error', 2],
        ['info', 24],
        ['other', 1],
      ]),
    )
    const source = fieldAt(every, tableColumn)!
    const byTable = new Map([
      ['edge_logs', 25],
      ['postgres_logs', 2],
    ])
    expect(await counts(topSql(plain, every, all, source, 10))).toEqual(byTable)
    const highest = { ...plain, measure: 'highest:metadata.response.status_code' }
    const [top] = await run(topSql(highest, every, all, source, 1), tied)
    expect(top).toMatchObject({ entries: 200, counted: 24 }) // one has no status
    const [extent] = await run(extentSql(plain, every, all), tied)
    expect(extent!['first']).toBe(extent!['last'])
  })

  test('are filtered by their messages, in whatever column each has them', async () => {
    const postgres = shapes.find(({ table }) => table === 'postgres_logs')!
    const every = allOf([edge(), { ...postgres, message: postgres.id! }])
    const filters = [{ path: 'event_message', operator: '=~' as const, value: 'tied-<n>' }]
    const rows = await run(rowsSql({ ...plain, filters }, every, all, 10), tied)
    expect(rows.map(({ table_name, event_message }) => [table_name, event_message])).toEqual([
      ['postgres_logs', 'tied-16'],
      ['postgres_logs', 'tied-00'],
    ])
  })

  test('are there for keys whose answers are redacted', async () => {
    const key = await service.issue({ redacted: true })
    const state = { ...plain, search: 'ann', scope: 'entry' as const, columns: ['metadata.request.path'] }
    const rows = await run(rowsSql(state, every, all, 10), tied, 'logs.all', key)
    expect(rows).toMatchObject([{ table_name: 'postgres_logs', path: null }])
    const sql = histogramSql({ ...plain, by: tableColumn }, every, all, { width: 6e7, values: ['edge_logs'] })
    expect(await run(sql, tied, 'logs.all', key)).toHaveLength(2)
  })
})

describe('the period before', () => {
  const micros = now.valueOf() * 1000
  const range = { from: micros - 1.8e9, to: micros }
  let statements = 0
  const chart = (asked: Partial<State>, shape: Shape, of: Range, key = service.key) =>
    chartOf({
      state: { ...plain, ...asked },
      shape,
      range: of,
      now: micros,
      maxRows: 1000,
      run: async sql => {
        statements++
        const rows = await run(sql, project, 'logs.all', key)
        return { rows, truncated: false, redacted: false, headers: new Headers(), took: 0 }
      },
    })
  const path = 'metadata.request.path'
  const time = 'metadata.response.origin_time'

  test.each([
    ['rows by severity', {}],
    ['rows by a field', { by: path }],
    ['what is measured', { measure: `average:${time}` }],
    ['what is measured by a field', { measure: `p95:${time}`, by: path }],
  ])('is as it is by itself, in the buckets of the present one: %s', async (_, asked: Partial<State>) => {
    const periods = [
      [edge(), 'before', 1.8e9],
      [allOf([edge(), shapes[1]!]), 'day', 8.64e10],
    ] as const
    for (const [shape, compare, shift] of periods.slice(0, rounds(1, 2))) {
      const both = await chart({ ...asked, compare }, shape, range)
      const earlier = { from: range.from - shift, to: range.to - shift }
      const alone = await chart(asked, shape, earlier)
      expect(both.before!.total).toBe(alone.total)
      const valueOf = (value: Scalar) => alone.top?.find(other => other.value === value)?.entries
      const none = asked.measure ? undefined : 0
      for (const { value, before } of both.top ?? [])
        expect([value, before]).toEqual([value, valueOf(value) ?? none])
      const sums = alone.bars!.starts.map((_, i) =>
        alone.bars!.layers.reduce<number | null>(
          (sum, { values }) => (values[i] === null ? sum : (sum ?? 0) + values[i]!),
          null,
        ),
      )
      const isOne = alone.bars!.layers.length === 1 || !asked.measure
      if (isOne) expect(both.before!.values).toEqual(asked.measure ? sums : sums.map(sum => sum ?? 0))
      for (const { name, before } of both.bars!.layers) {
        const other = alone.bars!.layers.find(layer => layer.name === name)
        const sum = other?.values.reduce<number>((all, value) => all + (value ?? 0), 0)
        if (!asked.measure && before !== undefined) expect([name, before]).toEqual([name, sum ?? 0])
      }
    }
  })

  test('is asked for by one statement more, of redacted callers too, and not where the range has no beginning', async () => {
    const key = await service.issue({ redacted: true })
    statements = 0
    await chart({ by: path }, edge(), range, key)
    const without = statements
    const { before } = await chart({ by: path, compare: 'before' }, edge(), range, key)
    expect([before!.total > 0, statements - without]).toEqual([true, without + 1])
    expect((await chart({ compare: 'week' }, edge(), all)).before).toBeNull()
  })
})

describe('the statistics of a number field', () => {
  test('are those of its values, also of redacted callers where it is one table', async () => {
    const key = await service.issue({ redacted: true })
    const path = 'metadata.response.origin_time'
    for (const shape of [edge(), allOf([edge(), shapes[1]!])]) {
      const rows = await run(rowsSql({ ...plain, columns: [path] }, shape, all, 1000))
      const name = Object.keys(rows[0]!).at(-1)!
      const values = rows
        .flatMap(row => row[name] ?? [])
        .map(Number)
        .toSorted((a, b) => a - b)
      const sql = statisticsSql(plain, shape, all, fieldAt(shape, path)!)
      const [row] = await run(sql, project, 'logs.all', shape.parts ? service.key : key)
      const average = values.reduce((sum, value) => sum + value, 0) / values.length
      expect(row).toMatchObject({ counted: values.length, least: values[0], most: values.at(-1) })
      expect(Number(row!['average'])).toBeCloseTo(average, 3)
      const percentiles = row!['percentiles'] as number[]
      expect([percentiles.length, percentiles[0], percentiles[100]]).toEqual([101, values[0], values.at(-1)])
      const below = values.filter(value => value <= percentiles[50]!).length
      expect(Math.abs(below / values.length - 0.5)).toBeLessThan(0.05)
    }
  })

  test('come with when each value was first and last there', async () => {
    const method = fieldAt(edge(), 'metadata.request.method')!
    const columns = ['metadata.request.method']
    const rows = await run(rowsSql({ ...plain, columns }, edge(), all, 1000))
    for (const { method: value, first, last } of await run(topSql(plain, edge(), all, method, 10))) {
      const times = rows.filter(row => row['method'] === value).map(({ timestamp }) => timestamp)
      expect([value, last, first]).toEqual([value, times[0], times.at(-1)])
    }
  })
})

describe('a share', () => {
  const path = 'metadata.request.path'
  const status = { path: 'metadata.response.status_code', operator: '>=', value: 400 } as const
  const method = { path: 'metadata.request.method', operator: '=', value: 'GET' } as const

  const cases: [what: string, of: string, narrowed: Partial<State>][] = [
    ['a severity', 'error', { severity: ['error'] }],
    ['a filter', filterText(status), { filters: [status] }],
    ['a filter on what stands in a list', filterText(method), { filters: [method] }],
  ]

  test.each(cases)(
    'of %s is what a filter counts of all, for each bucket and each value',
    async (_, of, narrowed) => {
      const key = await service.issue({ redacted: true })
      for (const shape of [allOf([edge(), shapes[1]!]), edge()].slice(0, rounds(1, 2))) {
        const field = fieldAt(shape, path)!
        const counts = async (asked: Partial<State>) => {
          const rows = await run(topSql({ ...plain, ...asked }, shape, all, field, 1000))
          return new Map(rows.map(row => [Object.values(row)[0] as Scalar, Number(row['entries'])]))
        }
        const [every, some] = [await counts({}), await counts(narrowed)]
        const measure = `share:${of}`
        const shares = await run(
          topSql({ ...plain, measure }, shape, all, field, 1000),
          project,
          'logs.all',
          key,
        )
        expect(shares.length).toBe(every.size)
        for (const row of shares) {
          const [value, share, counted] = Object.values(row) as [Scalar, number, number]
          expect([value, counted]).toEqual([value, every.get(value)])
          expect(share).toBeCloseTo((100 * (some.get(value) ?? 0)) / counted, 6)
        }
        const width = 3e15
        const [bucket] = await run(histogramSql({ ...plain, measure }, shape, all, { width, values: [] }))
        const total = await run(rowsSql(plain, shape, all, 1000))
        const found = await run(rowsSql({ ...plain, ...narrowed }, shape, all, 1000))
        expect(bucket).toMatchObject({ all_rows: total.length, counted: total.length })
        expect(Number(bucket!['entries'])).toBeCloseTo((100 * found.length) / total.length, 6)
      }
    },
  )
})

describe('values and their histogram', () => {
  test('a measure takes the place of the count', async () => {
    const field = fieldAt(edge(), 'metadata.request.path')!
    const measure = 'highest:metadata.response.origin_time'
    const top = await run(topSql({ ...plain, measure }, edge(), all, field, 5))
    const highest = top.map(({ entries }) => Number(entries))
    expect(highest).toEqual(highest.toSorted((a, b) => b - a))
    const buckets = await run(
      histogramSql({ ...plain, measure, by: field.path }, edge(), all, { width: 8.64e10, values: [] }),
    )
    expect(Math.max(...buckets.map(({ entries }) => Number(entries)))).toBe(highest[0])
    const rows = await run(rowsSql(plain, edge(), all, 1000))
    expect(buckets.reduce((sum, { all_rows }) => sum + Number(all_rows), 0)).toBe(rows.length)
  })

  test('a number of a field is measured for each of the listed values, and for the others together', async () => {
    const [by, of] = ['metadata.request.method', 'metadata.response.origin_time']
    const rows = await run(rowsSql({ ...plain, columns: [by, of] }, edge(), all, 1000))
    const isListed = ({ method }: Row) => method === 'GET' || method === 'POST'
    const times = Map.groupBy(rows, row => (isListed(row) ? text(row['method']) : 'null'))
    const measuredBy = async (kind: string) => {
      const asked = { ...plain, by, measure: `${kind}:${of}` }
      const answer = await run(histogramSql(asked, edge(), all, { width: 3e15, values: ['GET', 'POST'] }))
      return new Map(answer.map(({ method, entries }) => [text(method), Number(entries)]))
    }
    const kinds = await Promise.all(measures.map(measuredBy))
    expect(times.size).toBe(3)
    for (const [method, own] of times) {
      const sorted = own.map(({ origin_time }) => Number(origin_time)).toSorted((a, b) => a - b)
      const [average, p50, p95, highest] = kinds.map(kind => kind.get(method)!)
      expect(average).toBeCloseTo(sorted.reduce((sum, time) => sum + time, 0) / own.length)
      expect(highest).toBe(sorted.at(-1))
      const share = (limit: number) => sorted.filter(time => time <= limit).length / own.length
      expect([share(p50!) >= 0.5, share(p95!) >= 0.95, p50! <= p95!, p95! <= highest!]).toEqual(
        Array.from({ length: 4 }, () => true),
      )
    }
  })

  test('a histogram by a field has the listed values, the others together, and those without it', async () => {
    const by = 'metadata.request.path'
    const sql = histogramSql({ ...plain, by }, edge(), all, { width: 3.6e9, values: ["/it's/\\1"] })
    const rows = await run(sql, tied)
    const counts = rows.map(({ path, absent, entries }) => [path, absent, entries])
    expect(counts).toHaveLength(2)
    expect(counts).toEqual(
      expect.arrayContaining([
        [null, false, 17],
        ["/it's/\\1", false, 8],
      ]),
    )
    const sign = 'metadata.request.headers.cf_connecting_ip'
    const lacking = await run(
      histogramSql({ ...plain, by: sign }, edge(), all, { width: 3.6e9, values: [] }),
      tied,
    )
    expect(new Map(lacking.map(({ absent, entries }) => [absent, entries]))).toEqual(
      new Map([
        [false, 24],
        [true, 1],
      ]),
    )
    const filters = [{ path: sign, operator: '=', value: null } as const]
    expect(await run(rowsSql({ ...plain, filters }, edge(), all, 100), tied)).toHaveLength(1)
  })
})

describe('a JSON column', () => {
  let app: Shape
  const ask = (sql: string) => run(sql, '', 'app')
  const found = async (path: string, operator: '=' | '!=' | '>', value: string | number | null) =>
    (await ask(rowsSql({ ...plain, filters: [{ path, operator, value }] }, app, all, 100))).length

  beforeAll(async () => {
    const response = await service.fetch('/api/endpoints/app/tables')
    app = shapeOf(((await response.json()) as { result: [TableDescription] }).result[0])!
  })

  test('is filtered by the values inside it, in lists by their place', async () => {
    expect(await found('payload.user.name', '=', 'Ann')).toBe(4)
    expect(await found('payload.user.name', '!=', 'Ann')).toBe(8)
    expect(await found('payload.user.sign-in', '=', 7)).toBe(1)
    expect(await found('payload.took', '=', 70)).toBe(1)
    expect(await found('payload.tags[0]', '=', 't1')).toBe(6)
    expect(await found('payload.user.gone', '=', null)).toBe(12)
    expect(await found('payload.user.name', '!=', null)).toBe(12)
  })

  test('has columns, sorting, values and a histogram of what is inside it', async () => {
    const paths = ['payload.user.name', 'payload.user.sign-in', 'payload.tags[1]']
    const [row] = await ask(rowsSql({ ...plain, columns: paths, sort: paths[0]! }, app, all, 1))
    expect(row).toMatchObject({ name: 'Bob', sign_in: '8', tags: 'all' })
    const field = fieldAt(app, paths[0]!)!
    const top = await ask(topSql(plain, app, all, field, 5))
    expect(top).toMatchObject([
      { name: 'Bob', entries: 8 },
      { name: 'Ann', entries: 4 },
    ])
    const width = 3.6e9
    const buckets = await ask(histogramSql({ ...plain, by: paths[0]! }, app, all, { width, values: ['Ann'] }))
    expect(new Map(buckets.map(({ name, entries }) => [name, entries]))).toEqual(
      new Map([
        ['Ann', 4],
        [null, 8],
      ]),
    )
  })

  test('is searched with columns of types that CONTAINS_SUBSTR does not take, which are searched as JSON', async () => {
    const fields = app.fields.map(field => (field.path === 'grade' ? { ...field, type: 'BYTES' } : field))
    const search = (text: string, shape: Shape) =>
      rowsSql({ ...plain, search: text, scope: 'entry' }, shape, all, 100)
    expect(search('fatal', app)).toContain("CONTAINS_SUBSTR(t, 'fatal')")
    const sql = search('fatal', { ...app, fields })
    expect(sql).toContain(
      'CONTAINS_SUBSTR((t.happened, t.id, t.words, TO_JSON_STRING(t.grade), t.payload, t.code), ',
    )
    expect(await ask(sql)).toHaveLength(3)
    expect(await ask(search('ann', { ...app, fields }))).toHaveLength(4)
  })

  test('is in all tables as in one', async () => {
    const twice = allOf([app, app])
    const [name, took] = ['payload.user.name', 'payload.took']
    const state = { ...plain, columns: [name, took], sort: name, filters: [] }
    const [row] = await ask(rowsSql(state, twice, all, 1))
    expect(row).toMatchObject({
      id: 'app-8',
      words: 'step 8 done',
      severity: 'notice',
      name: 'Bob',
      took: '80',
    })
    const filters = [{ path: name, operator: '=' as const, value: 'Ann' }]
    expect(await ask(rowsSql({ ...plain, filters }, twice, all, 100))).toHaveLength(8)
    expect(await ask(rowsSql({ ...plain, search: 'ann', scope: 'entry' }, twice, all, 100))).toHaveLength(8)
    const [most] = await ask(topSql(plain, twice, all, fieldAt(twice, name)!, 5))
    expect(most).toMatchObject({ name: 'Bob', entries: 16 })
    const names = await ask(namesSql(plain, twice, all, fieldAt(twice, 'payload')!, 10))
    expect(names).toContainEqual({ path: 'user.name', entries: 24 })
  })

  test('of single values has no names inside, and is split and counted by their texts', async () => {
    const code = fieldAt(app, 'code')!
    expect(await ask(namesSql(plain, app, all, code, 10))).toEqual([])
    const top = await ask(topSql(plain, app, all, code, 10))
    expect(new Map(top.map(({ code, entries }) => [code, entries]))).toEqual(
      new Map([
        ['200', 10],
        ['"n/a"', 1],
        [null, 1],
      ]),
    )
    const by = { ...plain, by: 'code' }
    const buckets = await ask(histogramSql(by, app, all, { width: 3.6e9, values: ['200'] }))
    const split = buckets.map(({ code, absent, entries }) => JSON.stringify([code, absent, entries]))
    expect(split.toSorted()).toEqual(['["200",false,10]', '[null,false,1]', '[null,true,1]'])
    expect([await found('code', '=', '"n/a"'), await found('code', '=', null)]).toEqual([1, 1])
  })

  test('names what is inside it, the most frequent first', async () => {
    const rows = await ask(namesSql(plain, app, all, fieldAt(app, 'payload')!, 10))
    const names = rows.map(({ path }) => text(path))
    expect(names).toEqual(expect.arrayContaining(['user.name', 'took', 'tags']))
    expect(rows.every(({ entries }) => entries === 12)).toBe(true)
  })
})

test('any text is one literal', () => {
  fc.assert(
    fc.property(fc.string({ unit: anyCharacter }), text => {
      const [token, end] = tokenize(string(text))
      expect([token?.kind, token?.value, end?.kind]).toEqual([
        'string',
        text.toWellFormed().replaceAll('\0', '\ufffd'),
        'end',
      ])
    }),
  )
})
