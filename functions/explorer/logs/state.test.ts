import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readLink, writeLink } from '../address.ts'
import { comparisons } from './compare.ts'
import {
  addressOf,
  askedOf,
  cleared,
  type Filter,
  filterText,
  initial,
  lists,
  operators,
  patternsAskedOf,
  ranks,
  readFilter,
  severities,
  type State,
  stateOf,
  withFilter,
} from './state.ts'

const before: State = { ...initial, values: {}, table: 'edge_logs', redact: false }

const path = fc
  .array(fc.stringMatching(/^[a-z_]\w{0,8}$/), { minLength: 1, maxLength: 4 })
  .map(names => names.join('.'))
const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const filter = fc.record({
  path,
  operator: fc.constantFrom(...operators),
  value: fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)),
})
const states: fc.Arbitrary<State> = fc.record({
  values: fc.dictionary(
    fc.stringMatching(/^[a-z]\w{0,8}$/).filter(name => name !== 'sql'),
    text.filter(Boolean),
  ),
  table: fc.constantFrom('edge_logs', 'auth_logs'),
  from: fc.constantFrom('', 'now-1h', 'now-1d/d', 'now-7d', '2026-11-14T12:00:03.671250Z'),
  to: fc.constantFrom('', 'now', '2026-11-15T00:00:00.000000Z'),
  zone: fc.constantFrom('UTC', 'local', 'Europe/Berlin'),
  search: text,
  scope: fc.constantFrom('message', 'entry'),
  severity: fc.subarray([...severities]),
  filters: fc.array(filter, { maxLength: 4 }),
  columns: fc.uniqueArray(path, { maxLength: 4 }),
  sort: fc.oneof(fc.constant(''), path),
  ascending: fc.boolean(),
  by: fc.oneof(fc.constant(''), path),
  measure: fc.oneof(
    fc.constant('rows'),
    path.map(name => `highest:${name}`),
  ),
  redact: fc.boolean(),
  compare: fc.constantFrom('', ...comparisons.map(([name]) => name)),
  list: fc.constantFrom(...lists),
  rank: fc.constantFrom(...ranks),
  row: fc.oneof(fc.constant(''), fc.constant('1795287628037397,5d3543ba-2f59-4945-8f62-31856ead689f')),
})

test('another order of values and patterns asks for nothing', () => {
  const ranked: State = { ...before, rank: 'rise' }
  expect([askedOf(ranked), patternsAskedOf(ranked)]).toEqual([askedOf(before), patternsAskedOf(before)])
})

test('a filter takes the place of one of the same value, a bound that of the bound on its side', () => {
  const of = (operator: Filter['operator'], value: number, path = 'time') => ({ path, operator, value })
  const after = (added: Filter, ...filters: Filter[]) => withFilter({ ...before, filters }, added).filters
  expect(after(of('!=', 3), of('=', 3), of('=', 4))).toEqual([of('=', 4), of('!=', 3)])
  expect(after(of('>=', 5), of('>=', 3), of('<=', 9))).toEqual([of('<=', 9), of('>=', 5)])
  expect(after(of('>=', 5), of('>', 3))).toEqual([of('>=', 5)])
  const others = [of('>=', 3, 'size'), of('!=', 4)]
  expect(after(of('>=', 5), ...others)).toEqual([...others, of('>=', 5)])
})

describe('the address', () => {
  test('holds the whole state', () => {
    fc.assert(
      fc.property(states, states, (state, other) => {
        const start = { ...other, values: {}, filters: [], severity: [] }
        const link = { endpoint: 'logs.all', sql: null, ...addressOf(state, start) }
        expect(stateOf(readLink(writeLink(link))!, start)).toEqual({ ...state, values: { ...state.values } })
      }),
      { numRuns: 300 },
    )
  })

  test('keeps relative times as written, and is short where nothing is chosen', () => {
    const link = (state: State) => writeLink({ endpoint: 'logs.all', sql: null, ...addressOf(state, before) })
    expect(link({ ...before, values: { project: 'a' } })).toBe('#logs.all?project=a')
    expect(link({ ...before, from: 'now-7d', redact: true })).toBe('#logs.all?.from=now-7d&.redact=true')
  })

  test('once cleared keeps the table, the range, the zone, the parameters, redaction and what is listed alone', () => {
    fc.assert(
      fc.property(states, state => {
        const { values, table, from, to, zone, redact, list, row } = state
        expect(cleared(state)).toEqual({ ...before, values, table, from, to, zone, redact, list, row })
      }),
      { numRuns: 30 },
    )
    expect(cleared({ ...before, table: '*', search: 'x' })).toEqual({ ...before, table: '*', scope: 'entry' })
    expect(cleared({ ...before, table: '*' })).toEqual({ ...before, table: '*' })
  })

  test('a filter is its path, its operator and its value as JSON', () => {
    fc.assert(fc.property(filter, made => expect(readFilter(filterText(made))).toEqual(made)))
    expect(readFilter('metadata.response.status_code>=500')).toEqual({
      path: 'metadata.response.status_code',
      operator: '>=',
      value: 500,
    })
    expect(readFilter('path=[1]')).toBeNull()
    expect(readFilter('nonsense')).toBeNull()
  })
})
