import { describe, expect, test } from '@jest/globals'
import { measuring, namesOf, sharesOf, slowestOf, spreadOf, titleOf } from './measure.ts'
import { type Field, shapeOf } from './shape.ts'
import { type Filter, initial, type State } from './state.ts'

const column = (name: string, type: string) => ({ name, type, repeated: false })
const shapeWith = (...columns: [name: string, type: string][]) =>
  shapeOf({
    name: 't',
    columns: [['time', 'TIMESTAMP'], ['message', 'STRING'], ...columns].map(([name, type]) =>
      column(name!, type!),
    ),
  })!

describe('a field', () => {
  test('is told apart from others of its name by as few of the names above it as do', () => {
    const fields = ['m.a.host', 'm.b.host', 'm.a.c.id', 'm.b.c.id', 'm.path', 'host'].map(
      path => ({ path }) as Field,
    )
    expect(namesOf(fields).map(({ above }) => above)).toEqual(['a', 'b', 'a.c', 'b.c', 'm', ''])
    expect(namesOf(fields).map(({ label }) => label)).toEqual([
      'host (a)',
      'host (b)',
      'id (a.c)',
      'id (b.c)',
      'path',
      'host',
    ])
  })
})

describe('the slowest paths', () => {
  test('are those with the highest average of the first time', () => {
    const shape = shapeWith(['path', 'STRING'], ['bytes', 'INT64'], ['origin_time', 'INT64'])
    expect(slowestOf(shape)).toEqual({ measure: 'average:origin_time', by: 'path' })
  })

  test('are not offered without paths or without times', () => {
    expect(slowestOf(shapeWith(['path', 'STRING'], ['bytes', 'INT64']))).toBeNull()
    expect(slowestOf(shapeWith(['duration', 'INT64']))).toBeNull()
  })
})

describe('shares', () => {
  const shape = shapeWith(['path', 'STRING'], ['status', 'INT64'])
  const filter: Filter = { path: 'status', operator: '>=', value: 404 }
  const state: State = {
    ...initial,
    values: {},
    table: 't',
    redact: false,
    severity: ['error'],
    filters: [filter],
  }

  test('are offered of failures and of what a filter lets pass', () => {
    expect(sharesOf(shape, state)).toEqual([
      ['share:error', 'share of 5xx'],
      ['share:warning', 'share of 4xx'],
      ['share:status>=404', 'share of status >= 404'],
    ])
    expect(sharesOf(shapeWith(), { ...state, filters: [] })).toEqual([])
    expect(titleOf({ measure: 'share:path="/a"', by: 'path' }, shape)).toBe('Share of path = /a by path')
  })

  test('are of all rows: what is counted does not narrow them any more', () => {
    expect(measuring(state, 'share:status>=404')).toMatchObject({ filters: [], severity: ['error'] })
    expect(measuring(state, 'share:error')).toMatchObject({ filters: [filter], severity: [] })
    expect(measuring(state, 'rows')).toMatchObject({ filters: [filter], severity: ['error'] })
  })
})

test('values are spread between the least and the 99th percentile', () => {
  const even = Array.from({ length: 101 }, (_, i) => i)
  expect(spreadOf(even, 4)).toEqual([25, 25, 25, 25])
  expect(spreadOf(even.with(100, 1e9), 4)).toEqual([25, 25, 25, 25])
  expect(
    spreadOf(
      even.map(() => 7),
      3,
    ),
  ).toEqual([100, 0, 0])
})
