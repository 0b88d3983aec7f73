/** Patterns as the service counts them, in its sandbox, on DuckDB: of some tables and shapes, and of all of them in its soak. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { TableDescription } from '../../query/endpoints.ts'
import { startService, type TestService } from '../../testing/service.ts'
import { sampleEntries } from '../../../infra/lqe/logs/sample.ts'
import { patternOfShape, shapeAsFilter, shapeOfMessage } from '../../../shared/sandbox/message-patterns.ts'
import type { Row } from '../../../shared/engines/engine.ts'
import { rounds } from '../../../shared/testing/rounds.ts'
import { withAppLogs } from '../testing/app-logs.ts'
import { type Comparison, periodsOf } from './compare.ts'
import { type Patterns, patternsIn, patternsSql } from './patterns.ts'
import type { Range } from './range.ts'
import { allOf, type Shape, shapeOf } from './shape.ts'
import { rowsSql } from './sql.ts'
import { initial, type State } from './state.ts'

const now = new Date('2026-03-10T12:30:30.000Z')
const micros = (time: string) => Date.parse(`2026-03-10T${time}Z`) * 1000
const plain: State = { ...initial, values: {}, table: '', redact: false }
const project = 'qhzvnxwtrkdplmcoyaeb'
const own = 'abcdefghijklmnopqrst'

const messages = [
  'GET | 500 | 203.0.113.7 | /rest/v1/items/17',
  'connection received: host=10.0.0.5 port=53122',
  'duplicate key value violates unique constraint "users_email_key"',
  'at 2026-03-10T11:59:59.123Z user 123e4567-e89b-12d3-a456-426614174000 took 12.5ms of 3%',
  '{"level":"info","msg":"hello world","pid":657,"time":1531171074631}',
  "it's Bob's, tom@example.com said (twice) 'no', sha 9fceb02a to [fe80::1]:443",
  'a[b]{2}|c\\d+ ^$ .*? (x',
  'naïve ünïcode 字 7',
  '"GET /a HTTP/1.1" 200 5 "" "Mozilla/5.0 (X11; Linux x86_64; rv:1) Gecko/2 Firefox/3" | Mozilla/5.0 (X11) A/1 (KHTML, b) C/2.3',
  '',
]

/** Alike but for who asked, or for a version. */
const alike = [
  ...['curl/8.4.0', 'Dart/3.9 (dart:io)', 'node', 'Mozilla/5.0 (X11; rv:1) Gecko/2 Firefox/128.0'].map(
    agent => `GET | 200 | 203.0.113.7 | 8f3ab0c1d2e3f4a5 | https://a.example.co/v1/items/17 | ${agent}`,
  ),
  ...[
    'okhttp/4.12.0',
    'Deno/1.45.2 (variant; SupabaseEdgeRuntime/1.58.3)',
    'supabase-js/2.39.0-rc.1 b/2',
  ].map(agent => `ua=${agent}, asked by HTTP/1.1`),
  ...['v1.2.3', 'v2.40.0-beta.11', '3.1'].map(version => `updated to ${version} of /rest/v1`),
  ...['tom%40example.com', 'ann@b.example'].map(mail => `/users?mail=eq.${mail}&limit=1`),
]

/** Its first 1,000 characters end within `<n>`. */
const long = (i: number) => `${'x'.repeat(998).replaceAll('xx', 'y ')}${i} ${'and so on '.repeat(600)}`

const folder = mkdtempSync(join(tmpdir(), 'patterns-'))
let service: TestService
let shapes: Shape[]

beforeAll(async () => {
  const tables: Record<string, object[]> = {}
  for (const entries of sampleEntries(300, 1, now))
    for (const { table, entry } of entries) (tables[table] ??= []).push(entry)
  const row = (time: string, event_message: string | null, i: number, error_severity = 'LOG') => ({
    id: `own-${time}-${i}`,
    timestamp: `2026-03-10T${time}Z`,
    project: own,
    event_message,
    metadata: { parsed: { error_severity } },
  })
  tables['postgres.logs']!.push(
    ...messages.flatMap((message, i) =>
      Array.from({ length: i + 1 }, (_, j) => row('11:00:00', message, i * 10 + j)),
    ),
    row('11:20:00', messages[0]!.replace('17', '18'), 100, 'ERROR'),
    row('10:40:00', messages[0]!.replace('17', '9'), 101),
    row('10:40:00', 'gone since', 102),
    row('11:10:00', null, 103),
    ...alike.map((message, i) => row('08:00:00', message, 200 + i)),
    row('09:00:00', long(1), 104),
    row('09:00:00', long(22), 105),
  )
  const { queries, env } = withAppLogs(folder)
  service = await startService({ tables, queries, env: { ...env, FROZEN_NOW: now.toISOString() } })
  const response = await service.fetch('/api/endpoints/logs.all/tables')
  const { result } = (await response.json()) as { result: TableDescription[] }
  shapes = result.map(table => shapeOf(table)!)
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

async function run(sql: string, ref: string, key = service.key): Promise<Row[]> {
  const init = {
    method: 'POST',
    body: JSON.stringify({ sql }),
    headers: { 'Content-Type': 'application/json', 'X-API-KEY': key },
  }
  const response = await service.fetch(`/api/endpoints/query/logs.all?project=${ref}`, init)
  const body = (await response.json()) as { result: Row[]; detail?: string }
  expect([response.status, body.detail, response.status === 200 ? '' : sql]).toEqual([200, undefined, ''])
  return body.result
}

const postgres = () => shapes.find(({ table }) => table === 'postgres_logs')!
const hour = { from: micros('10:50:00'), to: micros('11:30:00') }

interface Asked {
  asked?: Partial<State>
  shape?: Shape
  range?: Range
  comparison?: Comparison
  isNew?: boolean
  limit?: number
  ref?: string
  key?: string
}

async function patterns({
  asked = {},
  shape = postgres(),
  range = hour,
  comparison = 'before',
  isNew = false,
  limit = 100,
  ref = own,
  key = service.key,
}: Asked = {}): Promise<Omit<Patterns, 'cost'>> {
  const periods = periodsOf(range, comparison, now.valueOf() * 1000)
  const sql = patternsSql({ ...plain, ...asked }, shape, range, periods, { limit, parts: 4, isNew })
  return patternsIn(await run(sql, ref, key))
}

test('the engine groups messages as their shapes are made', async () => {
  const some = shapes.slice(0, rounds(2, shapes.length)) as [Shape, ...Shape[]]
  for (const shape of [...some, allOf(some)]) {
    const range = { from: null, to: null }
    const rows = await run(rowsSql(plain, shape, range, 1000), project)
    const found = await patterns({ shape, range, limit: 1000, ref: project })
    expect(new Set(found.list.map(each => each.shape))).toEqual(
      new Set(rows.map(({ event_message }) => shapeOfMessage(event_message as string))),
    )
    expect(found.entries).toBe(rows.length)
    expect(found.list.reduce((sum, { entries }) => sum + entries, 0)).toBe(rows.length)
    expect(found.list.length).toBe(found.count)
  }
})

test('each shape has its count, when it was first and last there, its trend, and what was there before', async () => {
  const found = await patterns()
  expect(found.list.map(({ shape, entries }) => [entries, shape])).toEqual([
    [10, ''],
    [9, '<text> <n> <n> <text> | <agent>'],
    [8, 'naïve ünïcode 字 <n>'],
    [7, 'a[b]{<n>}|c\\d+ ^$ .*? (x'],
    [6, "it's Bob's, <email> said (twice) <text>, sha <id> to [<ip>]:<n>"],
    [5, '{"level":"info","msg":"hello world","pid":<n>,"time":<n>}'],
    [4, 'at <time> user <id> took <n> of <n>%'],
    [3, 'duplicate key value violates unique constraint <text>'],
    [2, 'connection received: host=<ip> port=<n>'],
    [1, null],
    [1, 'GET | <n> | <ip> | /rest/v1/items/<n>'],
    [1, 'GET | <n> | <ip> | /rest/v1/items/<n>'],
  ])
  expect(found).toMatchObject({ entries: 57, count: 12, fresh: 11 })
  const [failed, passed] = ['error', 'info'].map(severity =>
    found.list.find(each => each.severity === severity && each.shape?.startsWith('GET')),
  )
  expect(passed).toMatchObject({ before: 1, first: micros('11:00:00'), trend: [0, 1, 0, 0] })
  expect(failed).toMatchObject({ before: 0, last: micros('11:20:00'), trend: [0, 0, 0, 1] })
})

test('who asked, and by which version, makes no other pattern, and its filter finds all of them', async () => {
  const range = { from: micros('07:50:00'), to: micros('08:10:00') }
  const { list } = await patterns({ range })
  expect(list.map(({ shape, entries }) => [entries, shape])).toEqual([
    [4, 'GET | <n> | <ip> | <id> | https://a.example.co/v1/items/<n> | <client>'],
    [3, 'ua=<agent>, asked by HTTP/<n>'],
    [3, 'updated to <n> of /rest/v1'],
    [2, '/users?mail=<email>&limit=<n>'],
  ])
  for (const { shape, entries } of list) {
    const filters = [{ path: 'event_message', operator: '=~' as const, value: shape }]
    expect(await run(rowsSql({ ...plain, filters }, postgres(), range, 100), own)).toHaveLength(entries)
  }
})

test('what is new is asked for alone, and against a day before too', async () => {
  const fresh = await patterns({ isNew: true, limit: 2 })
  expect([fresh.list.length, fresh.fresh, fresh.list[0]!.entries]).toEqual([2, 11, 10])
  const range = { from: micros('10:35:00'), to: micros('10:45:00') }
  expect((await patterns({ range })).fresh).toBe(2)
  const later = { from: range.from + 8.64e10, to: range.to + 8.64e10 }
  expect(await patterns({ range: later, comparison: 'day' })).toMatchObject({ entries: 0, list: [] })
  const both = { from: hour.from, to: hour.to + 8.64e10 }
  expect(await patterns({ range: both, comparison: 'day', asked: { search: 'gone' } })).toMatchObject({
    list: [],
  })
})

test('a shape finds the entries that it counts, and its opposite the others', async () => {
  const { list } = await patterns()
  const found = [...new Set(list.flatMap(each => each.shape ?? []))]
  for (const shape of found.filter((_, i) => i % rounds(3, 1) === 0)) {
    const expected = list.filter(each => each.shape === shape).reduce((sum, { entries }) => sum + entries, 0)
    const count = async (operator: '=~' | '!~') => {
      const filters = [{ path: 'event_message', operator, value: shape }]
      return (await run(rowsSql({ ...plain, filters }, postgres(), hour, 1000), own)).length
    }
    expect([shape, await count('=~'), await count('!~')]).toEqual([shape, expected, 57 - expected])
  }
})

test('of a long message its beginning is what is filtered for', async () => {
  const shape = shapeOfMessage(long(5))
  const value = shapeAsFilter(shape)
  expect([shape.length > 5000, value.length <= 1001, value.endsWith(' …')]).toEqual([true, true, true])
  const filters = [{ path: 'event_message', operator: '=~' as const, value }]
  expect(
    await run(rowsSql({ ...plain, filters }, postgres(), { from: null, to: null }, 1000), own),
  ).toHaveLength(2)
})

test('a redacted caller gets the same patterns, each by a message that redaction has seen whole', async () => {
  const key = await service.issue({ endpoints: ['logs.all'], redacted: true })
  const found = await patterns({ key })
  expect(found).toMatchObject({ entries: 57, count: 12, fresh: 11 })
  const shape = found.list.find(each => each.shape?.startsWith('GET'))!.shape!
  expect(shape).toBe('GET | <n> | REDACTED | /rest/v1/items/<n>')
  expect(new RegExp(patternOfShape(shape).slice(4), 's').test(messages[0]!)).toBe(true)
  expect(JSON.stringify(found)).not.toMatch(/203\.0|10\.0\.0|tom@/)
})
