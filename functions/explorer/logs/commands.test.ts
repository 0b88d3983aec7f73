import { signal } from '@preact/signals'
import { expect, test } from '@jest/globals'
import type { Endpoint } from '../service.ts'
import { commandsOf } from './commands.ts'
import { allOf, shapeOf } from './shape.ts'
import { Store } from './store.ts'

const columns = [
  { name: 'id', type: 'STRING', repeated: false },
  { name: 'timestamp', type: 'TIMESTAMP', repeated: false },
  { name: 'message', type: 'STRING', repeated: false },
  { name: 'path', type: 'STRING', repeated: false },
  { name: 'level', type: 'STRING', repeated: false },
]
const endpoint = {
  name: 'app',
  parameters: [],
  redact: false,
  maxRows: 1000,
  cacheSeconds: 60,
  mayRunFresh: true,
}

function open() {
  const parts = ['web', 'jobs'].map(name => shapeOf({ name, columns })!) as [never, never]
  const link = { endpoint: 'app', values: {}, sql: null, view: [] }
  const opening = {
    key: 'k',
    endpoint: endpoint as unknown as Endpoint,
    link,
    remember() {},
    continueInSql() {},
  }
  const store = new Store({ ...opening, shapes: [allOf(parts), ...parts] }, () => {})
  const said: string[] = []
  const say = (name: string) => (text?: string) => said.push([name, text].filter(Boolean).join(' '))
  const names = ['stop', 'fresh', 'follow', 'toTable', 'values', 'editSql'] as const
  const acts = Object.fromEntries(names.map(name => [name, say(name)])) as Record<
    (typeof names)[number],
    never
  >
  const shown = { fields: signal(false), chart: signal(true), wrap: signal(false) }
  return { store, said, commands: () => commandsOf(store, acts, shown) }
}

test('every place and action of the logs has a name, without what is so already', () => {
  const { commands } = open()
  const names = Object.keys(commands())
  expect(names).toEqual(
    expect.arrayContaining([
      'Run fresh',
      'Follow new rows',
      'Redact personal data',
      'Show the fields',
      'Hide the chart',
      'List: patterns',
      'Table: jobs',
      'Table: All tables',
      'Range: Yesterday',
      'Compare with: the day before',
      'Show the column: path',
      'Values of: path',
      'Continue in SQL',
    ]),
  )
  for (const name of [
    'Table: web',
    'Range: Last hour',
    'List: entries',
    'Stop',
    'Clear all',
    'Compare with: nothing',
  ])
    expect(names).not.toContain(name)
})

test('a command is the change that its name says, and is then offered no more', () => {
  const { store, commands, said } = open()
  commands()['Range: Yesterday']!()
  commands()['Show the column: path']!()
  commands()['List: new patterns']!()
  expect(store.state.value).toMatchObject({
    from: 'now-1d/d',
    to: 'now-1d/d',
    columns: ['path'],
    list: 'new',
  })
  const names = Object.keys(commands())
  expect(names).toEqual(expect.arrayContaining(['Remove the column: path', 'Clear all', 'Range: Last hour']))
  expect(names).not.toContain('Range: Yesterday')
  commands()['Table: jobs']!()
  commands()['Values of: path']!()
  expect(said).toEqual(['toTable jobs', 'values path'])
})

test('values and patterns that are compared can be ordered by what rose most', () => {
  const { store, commands } = open()
  const name = 'Order of values and patterns: what rose most first'
  expect(commands()).not.toHaveProperty(name)
  store.change({ by: 'path', compare: 'day' })
  commands()[name]!()
  expect(store.state.value.rank).toBe('rise')
  expect(commands()).not.toHaveProperty(name)
  expect(commands()).toHaveProperty('Order of values and patterns: the most first')
})

test('what the chart shows is a command', () => {
  const { store, commands } = open()
  expect(commands()).not.toHaveProperty('Show in the chart: number of rows')
  store.change({ filters: [{ path: 'path', operator: '=', value: '/a' }] })
  commands()['Show in the chart: share of path = /a']!()
  expect(store.state.value).toMatchObject({ measure: 'share:path="/a"', filters: [] })
  commands()['Show in the chart: number of rows']!()
  expect(store.state.value.measure).toBe('rows')
})

test('from one table the errors of all are a press away, by table, and counted only then', () => {
  const { store, commands } = open()
  store.change({ from: 'now-6h', search: 'x', severity: ['debug'], list: 'patterns', compare: 'day' })
  commands()['Errors in all tables']!()
  expect(store.state.value).toMatchObject({
    table: '*',
    from: 'now-6h',
    search: '',
    severity: ['error'],
    by: 'table_name',
    list: '',
    compare: 'day',
  })
  expect(commands()).not.toHaveProperty('Errors in all tables')
})

test('rows leave the page only where they answer what is asked', () => {
  const { store, commands } = open()
  expect(Object.keys(commands())).toContain('CSV of rows shown')
  store.reading.value = 'run'
  expect(Object.keys(commands())).not.toContain('CSV of rows shown')
})
