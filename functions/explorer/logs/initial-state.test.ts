import { expect, test } from '@jest/globals'
import type { Endpoint } from '../service.ts'
import { inTable, stateFrom } from './initial-state.ts'
import { allOf, shapeOf, type Shape } from './shape.ts'
import { initial } from './state.ts'

const columns = (...names: [string, string][]) =>
  [['timestamp', 'TIMESTAMP'], ['message', 'STRING'], ...names].map(([name, type]) => ({
    name: name!,
    type: type!,
    repeated: false,
  }))
const shapes = [
  shapeOf({ name: 'web', columns: columns(['status', 'INT64'], ['path', 'STRING'], ['took', 'INT64']) })!,
  shapeOf({ name: 'jobs', columns: columns(['path', 'STRING'], ['took', 'INT64']) })!,
]
const endpoint = { name: 'app', parameters: [], redact: false } as unknown as Endpoint

const state = {
  ...initial,
  values: {},
  table: 'web',
  redact: false,
  filters: [
    { path: 'status', operator: '=', value: 500 },
    { path: 'path', operator: '=', value: '/a' },
  ] as const,
  sort: 'took',
  columns: ['took', 'status'],
  by: 'status',
  measure: 'average:took',
}

test('another table keeps what it has of the view, and says what it does not have', () => {
  const to = inTable(
    { ...state, filters: [...state.filters], severity: ['error'] },
    shapes[0]!,
    shapes[1]!,
    endpoint,
  )
  expect(to.state).toMatchObject({
    table: 'jobs',
    filters: [state.filters[1]],
    sort: 'took',
    columns: ['took'],
    by: '',
    measure: 'average:took',
    severity: [],
  })
  expect(to.notices).toEqual([
    'status is not in jobs: filter and grouping removed.',
    'severity is not in jobs: filter removed.',
  ])
})

test('all tables have what any table has, and are searched in all values, as is a table that is chosen of them', () => {
  const every = allOf(shapes as [Shape, ...Shape[]])
  const asked = { ...state, filters: [...state.filters], search: 'x' }
  const to = inTable(asked, shapes[0]!, every, endpoint)
  expect(to).toEqual({
    state: { ...asked, table: '*', scope: 'entry', columns: ['took'], row: '' },
    notices: [],
  })
  expect(inTable(to.state, every, shapes[0]!, endpoint).state.scope).toBe('entry')
  expect(inTable({ ...to.state, search: '' }, every, shapes[0]!, endpoint).state.scope).toBe('message')
  const failed = inTable({ ...asked, severity: ['error'] }, shapes[0]!, every, endpoint)
  expect([failed.state.severity, failed.notices]).toEqual([['error'], ['5xx is error in All tables.']])
  const traced = inTable({ ...failed.state, severity: ['debug'] }, every, shapes[0]!, endpoint)
  expect([traced.state.severity, traced.notices]).toEqual([[], ['severity is not in web: filter removed.']])
})

test('so does a link to fields that its table does not have', () => {
  const view: [string, string][] = [
    ['table', 'jobs'],
    ['where', 'status=500'],
    ['sort', 'status'],
    ['columns', 'path,gone'],
    ['by', 'path'],
    ['measure', 'average:length'],
  ]
  const { state: opened, notices } = stateFrom(
    { endpoint: 'app', values: {}, sql: null, view },
    { endpoint, shapes },
  )
  expect(opened).toMatchObject({ filters: [], sort: '', columns: ['path'], by: 'path', measure: 'rows' })
  expect(notices).toEqual([
    'status is not in jobs: filter and sorting removed.',
    'gone is not in jobs: column removed.',
    'length is not in jobs: measure removed.',
  ])
})
