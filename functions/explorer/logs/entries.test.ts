/** The entries around one, and the way back from them. */
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Row } from '../../../shared/engines/engine.ts'
import type { Endpoint } from '../service.ts'
import { backText, Entries } from './entries.ts'
import { allOf, shapeOf } from './shape.ts'
import { initial, type State } from './state.ts'
import { Store } from './store.ts'

const columns = [
  { name: 'id', type: 'STRING', repeated: false },
  { name: 'timestamp', type: 'TIMESTAMP', repeated: false },
  { name: 'message', type: 'STRING', repeated: false },
]
const endpoint = { name: 'app', parameters: [], redact: false, maxRows: 1000 } as unknown as Endpoint
/** 2026-03-10T12:00:00Z */
const time = 1_773_144_000_000_000
const key = `${time},jobs,own`

/** What the page has asked. */
let asked: string[] = []
/** Of `web`, in microseconds: how far they are apart. */
let apart = 1000
const fetchBefore = globalThis.fetch

/** Rows of `web` on both sides of the entry, which is the only one of `jobs`. */
function rowsFor(sql: string): Row[] {
  const count = Number(/LIMIT (48)$/.exec(sql)?.[1] ?? 0)
  const isAfter = !sql.includes('DESC')
  const reach = apart > 1e9 ? 0 : count
  return Array.from({ length: reach }, (_, i) => ({
    id: `w${i}`,
    timestamp: time + (isAfter ? 1 : -1) * (i + 1) * apart,
    table_name: 'web',
    message: 'm',
  }))
}

beforeEach(() => {
  ;[asked, apart] = [[], 1000]
  globalThis.fetch = (_, init) => {
    const { sql } = JSON.parse(init!.body as string) as { sql: string }
    asked.push(sql)
    const body = { result: rowsFor(sql), meta: { truncated: false, redacted: false } }
    return Promise.resolve(Response.json(body))
  }
})

afterEach(() => void (globalThis.fetch = fetchBefore))

const settled = () => new Promise(resolve => setTimeout(resolve, 20))

function open(view: [string, string][]) {
  const parts = ['web', 'jobs'].map(name => shapeOf({ name, columns })!) as [never, never]
  const link = { endpoint: 'app', values: {}, sql: null, view: [['table', '*'], ['row', key], ...view] }
  const opening = { key: 'k', endpoint, shapes: [allOf(parts), ...parts], remember() {}, continueInSql() {} }
  const store = new Store({ ...opening, link: link as never }, () => {})
  return { store, entries: new Entries(store) }
}

test('the entries around one are of all tables that were looked at, as many as have room, also where its own has none near', async () => {
  const { store, entries } = open([['search', 'timeout']])
  entries.around()
  await settled()
  expect(store.state.value).toMatchObject({ table: '*', search: '', filters: [], row: key })
  expect(store.state.value.from).toBe('2026-03-10T11:59:59.952Z')
  expect(store.state.value.to).toBe('2026-03-10T12:00:00.048000Z')
  expect(store.notices.value).toEqual([
    'These are all entries around it, without the search and the filters.',
    'Many entries of other tables stand between it and its neighbours in jobs: filter for that table to see these.',
  ])
  entries.end()
})

test('tables that were chosen by a filter stay chosen, and a table without others is looked through to its ends', async () => {
  apart = Infinity
  const { store, entries } = open([
    ['where', 'table_name!="web"'],
    ['where', 'message="m"'],
  ])
  entries.around()
  await settled()
  const chosen = [{ path: 'table_name', operator: '!=', value: 'web' }]
  expect(store.state.value).toMatchObject({ filters: chosen, from: '2026-03-03T12:00:00Z' })
  expect(asked.some(sql => sql.includes("'web'"))).toBe(false)
  expect(store.notices.value).toHaveLength(1)
  entries.end()
})

test('one step leads back to exactly what was asked before, but for what is redacted since', async () => {
  const view: [string, string][] = [
    ['search', 'timeout'],
    ['from', 'now-6h'],
    ['columns', 'id'],
    ['sort', 'id'],
    ['by', 'message'],
  ]
  const { store, entries } = open(view)
  const before = store.state.value
  expect(entries.before.value).toBeNull()
  entries.around()
  await settled()
  expect(entries.before.value).toBe(before)
  store.change({ row: `${time - 1000},web,w0`, redact: true, search: 'x' }) // still around it
  entries.back()
  expect(store.state.value).toEqual({ ...before, redact: true })
  expect(entries.before.value).toBeNull()
  entries.around()
  await settled()
  store.change({ from: 'now-1h', to: 'now' })
  expect(entries.before.value).toBeNull()
  entries.end()
})

test('the way back says where to', () => {
  const plain: State = { ...initial, values: {}, table: '*', redact: false }
  const said = (patch: Partial<State>) => backText({ ...plain, ...patch })
  expect([said({}), said({ severity: ['error'] }), said({ search: 'a b' })]).toEqual([
    'Back to Last hour',
    'Back to the filters',
    'Back to “a b”',
  ])
  expect(said({ from: '2026-03-10T12:00Z' })).toBe('Back to the range before')
})
