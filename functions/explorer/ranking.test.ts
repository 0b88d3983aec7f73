import { expect, test } from '@jest/globals'
import { rankingOf, topOf } from './ranking.ts'

const paths = [
  { path: '/a', requests: 3, bytes: '12.5' },
  { path: '/b', requests: 9, bytes: null },
  { path: null, requests: 5, bytes: '1' },
]

test('a text and numbers are bars, the largest first, by any of the numbers', () => {
  const ranking = rankingOf(paths)!
  expect(ranking.measures).toEqual(['requests', 'bytes'])
  expect(topOf(ranking, 'requests', 2)).toEqual([
    { name: '/b', value: 9 },
    { name: '(none)', value: 5 },
  ])
  expect(topOf(ranking, 'bytes', 9).map(({ value }) => value)).toEqual([12.5, 1, 0])
})

test('two texts name a bar together, and of two numbers the first does', () => {
  const named = rankingOf(paths.map(({ path, requests }) => ({ method: 'GET', path, requests })))
  expect(named?.bars.map(({ name }) => name)).toEqual(['GET · /a', 'GET · /b', 'GET · (none)'])
  const statuses = [
    { status: 200, n: 7 },
    { status: 404, n: 2 },
  ]
  expect(topOf(rankingOf(statuses)!, 'n', 9)[1]).toEqual({ name: '404', value: 2 })
})

test.each([
  ['there is no number', [{ a: 'x' }, { a: 'y' }]],
  [
    'there is a time',
    [
      { t: '2026-03-10T00:00:00', n: 1 },
      { t: '2026-03-11T00:00:00', n: 2 },
    ],
  ],
  [
    'a value is nested',
    [
      { a: 'x', n: 1, b: [1] },
      { a: 'y', n: 2, b: [1] },
    ],
  ],
  [
    'a name comes twice',
    [
      { a: 'x', n: 1 },
      { a: 'x', n: 2 },
    ],
  ],
  [
    'texts are many, as in a log',
    [
      { a: 'x', b: 'y', c: 'z', n: 1 },
      { a: 'u', b: 'v', c: 'w', n: 1 },
    ],
  ],
  ['there is one row', [{ a: 'x', n: 1 }]],
  ['there are no rows', []],
])('are a table alone where %s', (_, rows) => {
  expect(rankingOf(rows)).toBeNull()
})
