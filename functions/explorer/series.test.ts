import { describe, expect, test } from '@jest/globals'
import { coloursOf, rankingOf, series, shortened, topOf, unitOf } from './series.ts'

const at = (minute: number) => (Date.UTC(2026, 2, 10, 12, minute) / 1000) * 1_000_000
const seconds = (minute: number) => at(minute) / 1_000_000

test.each([
  ['columns', ['ok', 'client_errors', 'server_errors'], [1, 2, 6]],
  ['words', ['info', 'log', 'ERROR', 'fatal', 'warning'], [1, 3, 6, 2, 7]],
  ['statuses', ['200', '201', '400', '404', '500', '503'], [1, 3, 7, 4, 6, 2]],
  ['classes of statuses', ['2xx', 'status_404', '5xx'], [1, 2, 6]],
  ['numbers and paths', ['512', '1024', '/v1/errors'], [1, 2, 3]],
])('no error or warning has the green of success: %s', (_, names, colours) => {
  expect(coloursOf(names)).toEqual(colours)
})

describe('rows as lines', () => {
  test('a column of numbers is a line, in the order of time', () => {
    const rows = [
      { t: at(1), a: 2, b: null },
      { t: at(0), a: 1, b: '2.5' },
    ]
    expect(series(rows)).toEqual({
      times: [seconds(0), seconds(1)],
      lines: [
        { name: 'a', values: [1, 2] },
        { name: 'b', values: [2.5, null] },
      ],
      hidden: 0,
      step: 60,
    })
  })

  test('a bucket without a row breaks the line', () => {
    const rows = [0, 1, 5, 6].map(minute => ({ t: at(minute), n: minute }))
    expect(series(rows)?.times).toEqual([0, 1, 2, 5, 6].map(seconds))
    expect(series(rows)?.lines[0]?.values).toEqual([0, 1, null, 5, 6])
  })

  test('few buckets of many are points, without a line across what is not there', () => {
    const rows = [0, 7, 10, 19].map(hour => ({ t: at(0) + hour * 3.6e9, n: 1 }))
    expect(series(rows)?.lines[0]?.values).toEqual([1, null, 1, null, 1, null, 1])
    expect(series(rows)?.step).toBe(3600)
  })

  test('where the buckets are known, one without a row is a zero', () => {
    const starts = [0, 1, 2, 3].map(at)
    const made = series([{ t: at(1), a: 5, b: 1 }], starts)
    expect(made).toMatchObject({ times: [0, 1, 2, 3].map(seconds), step: 60 })
    expect(made?.lines.map(({ values }) => values)).toEqual([
      [0, 5, 0, 0],
      [0, 1, 0, 0],
    ])
    const kinds = [
      { t: at(1), kind: 'a', n: 5 },
      { t: at(1), kind: 'b', n: 1 },
      { t: at(3), kind: 'b', n: 2 },
    ]
    expect(series(kinds, starts)?.lines[0]).toEqual({ name: 'a', values: [0, 5, 0, 0] })
  })

  test('columns of other units are told by their names', () => {
    const names = ['requests', 'error_percent', 'wait_time', 'origin_time', 'p95_ms', 'response_bytes']
    expect(names.map(unitOf)).toEqual(['', '%', 'time', 'ms', 'ms', 'bytes'])
  })

  test('a name that is cut keeps both ends, by which paths differ', () => {
    const paths = ['/storage/v1/object/public/covers', '/storage/v1/object/list/invoices', '/rest/v1/books']
    expect(paths.map(path => shortened(path))).toEqual([
      '/storage/…lic/covers',
      '/storage/…t/invoices',
      '/rest/v1/books',
    ])
  })

  test('rows of time, kind, number are a line for each kind, the largest eight', () => {
    const rows = Array.from({ length: 10 }, (_, i) => ({
      t: '2026-03-10T00:00:00',
      status: 200 + i,
      n: i + 1,
    }))
    const made = series([...rows, { t: '2026-03-11T00:00:00', status: 200, n: 100 }])
    expect(made?.lines).toHaveLength(8)
    expect(made?.hidden).toBe(2)
    expect(made?.lines[0]).toEqual({ name: '200', values: [1, 100] })
  })

  test.each([
    ['the first column is no time', [{ n: 1, t: at(0) }]],
    ['others are text', [{ t: at(0), path: '/rest' }]],
    ['there is nothing but a time', [{ t: at(0) }]],
    ['there are no rows', []],
    [
      'a time and kind come twice',
      [
        { t: at(0), kind: 'a', n: 1 },
        { t: at(0), kind: 'a', n: 2 },
      ],
    ],
  ])('are a table where %s', (_, rows) => {
    expect(series(rows)).toBeNull()
  })
})

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
