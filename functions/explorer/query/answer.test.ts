import { expect, test } from '@jest/globals'
import type { Answer, Query } from '../service.ts'
import { axisOf, boundsOf, countOf, factsOf, timingsOf } from './answer.ts'

const parameters = [
  { name: 'interval', type: 'string', default: 'daily' },
  { name: 'iso_timestamp_start', format: 'iso-timestamp' },
  { name: 'iso_timestamp_end', format: 'iso-timestamp' },
]
const chart = { interval: { daily: { bucket: 86_400_000, last: 3 * 86_400_000, whole: true } } }

function queryOf(more: Partial<Query> = {}): Query {
  return {
    endpoint: { parameters, chart, limit: 100 },
    values: {},
    sql: null,
    redact: false,
    ...more,
  } as unknown as Query
}

function answerOf(count: number, headers: Record<string, string> = {}): Answer {
  const rows = Array.from({ length: count }, (_, i) => ({ n: i }))
  return { rows, truncated: false, redacted: true, headers: new Headers(headers), took: 12.4 }
}

test.each([
  ['1 row.', null, 1],
  ['100 rows: the LIMIT, so there may be more.', null, 100],
  ['5 rows: the LIMIT, so there may be more.', 'SELECT 1 LIMIT 5 -- LIMIT 9', 5],
  ['5 rows: the LIMIT, so there may be more.', 'SELECT 1 LIMIT 5 OFFSET 10;', 5],
  ['9 rows.', 'SELECT 1 LIMIT 5 /* LIMIT 9 */', 9],
  ['100 rows.', "SELECT 'LIMIT 100'", 100],
])('%s for %s', (words, sql, count) => {
  expect(countOf(queryOf({ sql }), answerOf(count))).toBe(words)
})

test('where there is another page, it says so', () => {
  expect(countOf(queryOf(), answerOf(100, { link: '<x>; rel="next"' }))).toBe('100 rows, and there are more.')
})

test('buckets are those that the endpoint says, as of the answer, and those of no other SQL', () => {
  const made = { 'last-modified': 'Tue, 10 Mar 2026 12:30:00 GMT' }
  const day = (number: number) => Date.UTC(2026, 2, number) * 1000
  const answer = { ...answerOf(1, made), rows: [{ day: day(8) }] }
  const { range, starts } = axisOf(queryOf(), answer)
  expect([range, starts]).toEqual([
    { from: day(7), to: Date.UTC(2026, 2, 10, 12, 30) * 1000 },
    [7, 8, 9, 10].map(day),
  ])
  const asked = { iso_timestamp_start: '2026-03-01', iso_timestamp_end: '2026-03-10' }
  const own = axisOf(queryOf({ sql: 'SELECT 1', values: asked }), answer)
  expect(own).toEqual({ range: { from: day(1), to: day(10) }, starts: [] })
  expect(axisOf(queryOf(), { ...answer, rows: [{ day: day(1) }] }).starts).toEqual([]) // of another clock
})

test('the form cuts the tables of SQL alone', () => {
  const values = { interval: 'daily', iso_timestamp_start: '-1d', iso_timestamp_end: '' }
  expect(boundsOf(queryOf({ values, sql: 'SELECT 1' })).map(({ name }) => name)).toEqual([
    'iso_timestamp_start',
  ])
  expect(boundsOf(queryOf({ values }))).toEqual([])
})

test('facts are in words', () => {
  const headers = {
    'last-modified': 'Tue, 10 Mar 2026 12:30:00 GMT',
    age: '200',
    'cache-status': 'lqe; hit; ttl=-5',
    'x-bytes-read': '2048',
    'server-timing': 'auth;dur=0.44, cache;dur=20.4, new;dur=1',
  }
  const answer = answerOf(2, headers)
  const all = [...factsOf(answer, 'UTC'), ...timingsOf(answer)]
  const said = all.map(({ name, value }) => `${name}: ${value}`)
  expect(said).toEqual([
    'Rows: 2',
    'From: cache, being refreshed',
    'As of: 2026-03-10 12:30:00 UTC',
    'Age: 3 min',
    'Personal data: redacted',
    expect.stringMatching(/^Read: 2/),
    'In all: 12 ms',
    'Key: 0.4 ms',
    'Cache and run: 20 ms',
    'new: 1.0 ms',
  ])
})

test.each([
  ['lqe; hit; ttl=50', 'cache'],
  ['lqe; fwd=stale; fwd-status=502', 'an old copy, as the query failed'],
  ['lqe; fwd=miss; collapsed', 'a run shared with others'],
  ['lqe; fwd=bypass', 'a run, not cached'],
  ['lqe; fwd=miss; stored', 'a run, now cached'],
  ['', 'a run'],
])('%s: from %s', (status, words) => {
  expect(factsOf(answerOf(0, { 'cache-status': status }), 'UTC')[1]?.value).toBe(words)
})
