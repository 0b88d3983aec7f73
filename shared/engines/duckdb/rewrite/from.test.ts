import { describe, expect, test } from '@jest/globals'
import type { Column, SqlType } from '../../../sql/types.ts'
import { describeDuckDb } from '../../testing/describe-engines.ts'
import { rewrite } from './rewrite.ts'

const list = (fields: Record<string, SqlType>): SqlType => ({
  kind: 'ARRAY',
  element: { kind: 'STRUCT', fields: Object.entries(fields).map(([name, type]) => ({ name, type })) },
})
const string: SqlType = { kind: 'STRING' }

const logs: Column[] = [
  { name: 'id', type: string },
  {
    name: 'metadata',
    type: list({
      project: string,
      request: list({ path: string, tags: { kind: 'ARRAY', element: string } }),
      response: list({ status: { kind: 'INT64' } }),
    }),
  },
]

/** a: one request and response; b: two requests, no response; c: no metadata. */
const rows = [
  {
    id: 'a',
    metadata: [{ project: 'p', request: [{ path: '/a', tags: ['x', 'y'] }], response: [{ status: 200 }] }],
  },
  {
    id: 'b',
    metadata: [
      {
        project: 'q',
        request: [
          { path: '/b1', tags: [] },
          { path: '/b2', tags: null },
        ],
        response: null,
      },
    ],
  },
  { id: 'c', metadata: [] },
]

describeDuckDb('UNNEST', { logs }, ({ append, rows: query, failure }) => {
  test('the table gets its rows', async () => {
    await append('logs', rows)
    expect(await query('SELECT COUNT(*) AS n FROM logs')).toEqual([{ n: 3 }])
  })

  describe('joined to a row', () => {
    test('gives one row for each element, and none for an empty array', async () => {
      const sql = `SELECT t.id, r.path FROM logs AS t
        CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r ORDER BY r.path`
      expect(await query(sql)).toEqual([
        { id: 'a', path: '/a' },
        { id: 'b', path: '/b1' },
        { id: 'b', path: '/b2' },
      ])
    })

    test('is the same with a comma, with JOIN, and as a path', async () => {
      const froms = [
        'logs AS t, UNNEST(t.metadata) AS m, UNNEST(m.request) AS r',
        'logs AS t JOIN UNNEST(t.metadata) AS m ON TRUE INNER JOIN UNNEST(m.request) AS r ON TRUE',
        'logs AS t, t.metadata AS m, m.request AS r',
        'logs, UNNEST(metadata) AS metadata, UNNEST(metadata.request) AS r',
      ]
      for (const from of froms)
        expect(await query(`SELECT r.path FROM ${from} ORDER BY path`)).toEqual([
          { path: '/a' },
          { path: '/b1' },
          { path: '/b2' },
        ])
    })

    test('an empty array under LEFT JOIN UNNEST keeps its row, at each level', async () => {
      const sql = `SELECT id, path, status FROM logs
        LEFT JOIN UNNEST(metadata) AS m ON TRUE
        LEFT JOIN UNNEST(m.request) AS r ON TRUE
        LEFT JOIN UNNEST(m.response) AS s
        ORDER BY id, path`
      expect(await query(sql)).toEqual([
        { id: 'a', path: '/a', status: 200 },
        { id: 'b', path: '/b1', status: null },
        { id: 'b', path: '/b2', status: null },
        { id: 'c', path: null, status: null },
      ])
    })

    test('a condition drops elements; under LEFT JOIN their row stays', async () => {
      const joined = (kind: string) =>
        query(
          `SELECT id, path FROM logs, UNNEST(metadata) AS m ${kind} JOIN UNNEST(m.request) AS r ON r.path = '/b2' ORDER BY id`,
        )
      expect(await joined('INNER')).toEqual([{ id: 'b', path: '/b2' }])
      expect(await joined('LEFT')).toEqual([
        { id: 'a', path: null },
        { id: 'b', path: '/b2' },
      ])
    })

    test('WITH OFFSET counts from 0 in each array, and is NULL where an outer join found nothing', async () => {
      const sql = `SELECT id, tag, offset, o FROM logs, UNNEST(metadata) AS m, UNNEST(m.request) AS r WITH OFFSET AS o
        LEFT JOIN UNNEST(r.tags) AS tag WITH OFFSET ORDER BY id, o, offset`
      expect(await query(sql)).toEqual([
        { id: 'a', tag: 'x', offset: 0, o: 0 },
        { id: 'a', tag: 'y', offset: 1, o: 0 },
        { id: 'b', tag: null, offset: null, o: 0 },
        { id: 'b', tag: null, offset: null, o: 1 },
      ])
    })

    test('arrays are put side by side by their offsets, which have one name', async () => {
      const zip = (from: string) =>
        query(`SELECT offset, x, y FROM ${from} USING (offset) ORDER BY offset, x`)
      const both = [
        { offset: 0, x: 1, y: 4 },
        { offset: 1, x: 2, y: 5 },
      ]
      expect(await zip('UNNEST([1, 2]) AS x WITH OFFSET JOIN UNNEST([4, 5]) AS y WITH OFFSET')).toEqual(both)
      const rows =
        '(SELECT [1, 2] AS a, [4, 5] AS b), UNNEST(a) AS x WITH OFFSET JOIN UNNEST(b) AS y WITH OFFSET'
      expect(await zip(rows)).toEqual(both)
      expect(await zip('UNNEST([1]) AS x WITH OFFSET RIGHT JOIN UNNEST([4, 5]) AS y WITH OFFSET')).toEqual([
        { offset: 0, x: 1, y: 4 },
        { offset: 1, x: null, y: 5 },
      ])
    })

    test('fields of elements are in sight without their name', async () => {
      const sql = `SELECT project, path FROM logs, UNNEST(metadata), UNNEST(request) ORDER BY path LIMIT 1`
      expect(await query(sql)).toEqual([{ project: 'p', path: '/a' }])
    })

    test('other tables of FROM and USING columns stay in sight', async () => {
      const sql = `SELECT id, l.id AS again, n, path FROM logs AS l JOIN (SELECT 'a' AS id, 7 AS n) AS j USING (id),
        UNNEST(metadata) AS m, UNNEST(m.request)`
      expect(await query(sql)).toEqual([{ id: 'a', again: 'a', n: 7, path: '/a' }])
    })

    test('a row can still be taken as a whole', async () => {
      const sql = `SELECT TO_JSON_STRING(l) AS j FROM (SELECT 1 AS a, [2] AS b) AS l, UNNEST(l.b)`
      expect(await query(sql)).toEqual([{ j: '{"a":1,"b":[2]}' }])
    })

    test('becomes a SELECT around the table, not a join', () => {
      const tables = new Map([['logs', logs]])
      const { sql } = rewrite(
        'SELECT r.path FROM logs, UNNEST(metadata) AS m LEFT JOIN UNNEST(m.request) AS r',
        tables,
        new Map(),
      )
      expect(sql).not.toContain('JOIN')
    })
  })

  describe('in a subquery', () => {
    test('reads the arrays of the row around it', async () => {
      const sql = `SELECT id,
          (SELECT COUNT(*) FROM UNNEST(t.metadata) AS m, UNNEST(m.request)) AS requests,
          ARRAY(SELECT r.path FROM UNNEST(t.metadata) AS m, m.request AS r ORDER BY r.path DESC) AS paths
        FROM logs AS t ORDER BY id`
      expect(await query(sql)).toEqual([
        { id: 'a', requests: 1, paths: ['/a'] },
        { id: 'b', requests: 2, paths: ['/b2', '/b1'] },
        { id: 'c', requests: 0, paths: [] },
      ])
    })

    test('EXISTS is a filter of the array, also by a call without parentheses', () => {
      const day = 'SELECT 1 FROM UNNEST(t.metadata) AS m WHERE DATE(m.project) < CURRENT_DATE'
      const { sql } = rewrite(
        `SELECT id FROM logs AS t WHERE EXISTS (${day})`,
        new Map([['logs', logs]]),
        new Map(),
      )
      expect(sql).toContain('list_filter')
    })

    // Also by the name of the array.
    test.each(['m', 'metadata'])('EXISTS finds an element: %s', async name => {
      const sql = `SELECT id FROM logs AS t WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS ${name} WHERE ${name}.project = 'q')`
      expect(await query(sql)).toEqual([{ id: 'b' }])
    })

    test('NOT EXISTS is true of an empty and of a NULL array', async () => {
      const sql = `SELECT id FROM logs AS t WHERE NOT EXISTS (
        SELECT r.status FROM UNNEST(t.metadata[SAFE_OFFSET(0)].response) AS r WHERE r.status = 200) ORDER BY id`
      expect(await query(sql)).toEqual([{ id: 'b' }, { id: 'c' }])
    })

    test.each([
      'SELECT 1 FROM UNNEST(t.metadata) AS m, UNNEST(m.request) AS r WHERE r.path = "/b2"',
      'SELECT 1 FROM UNNEST(t.metadata) AS m WHERE EXISTS (SELECT 1 FROM UNNEST(m.request) AS r WHERE r.path = "/b2")',
      'SELECT m.project FROM UNNEST(t.metadata) AS m GROUP BY m.project HAVING m.project = "q"',
      'SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project IN (SELECT "q")',
      'SELECT 1 FROM UNNEST(t.metadata) AS m WITH OFFSET AS o WHERE m.project = "q" AND o = 0',
    ])('EXISTS (%s) is true of b alone', async subquery => {
      expect(await query(`SELECT id FROM logs AS t WHERE EXISTS (${subquery})`)).toEqual([{ id: 'b' }])
    })
  })

  test.each([
    ['SELECT 1 FROM UNNEST(5)', 'rejected', 'must be arrays'],
    ['SELECT 1 FROM logs, UNNEST(id)', 'rejected', 'expression of type STRING'],
    ['SELECT m.path FROM logs, UNNEST(metadata) AS m', 'rejected', 'Field name path does not exist'],
    [
      'SELECT metadata.request.path FROM logs',
      'rejected',
      'metadata is an array of records: add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.request) AS r to FROM, and write r.path',
    ],
    [
      "SELECT metadata['request'] FROM logs",
      'rejected',
      'metadata is an array of records: add CROSS JOIN UNNEST(metadata) AS m to FROM, and write m.request',
    ],
    [
      'SELECT path FROM logs',
      'rejected',
      'Unrecognized name: path, a field inside metadata: add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.request) AS r to FROM, and write r.path',
    ],
    [
      'SELECT request.path FROM logs AS t',
      'rejected',
      'Unrecognized name: request, a field inside metadata: add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN UNNEST(m.request) AS r to FROM, and write r.path',
    ],
    [
      'SELECT path FROM logs CROSS JOIN UNNEST(metadata) AS m',
      'rejected',
      'Unrecognized name: path, a field inside m.request: add CROSS JOIN UNNEST(m.request) AS r to FROM, and write r.path',
    ],
    [
      'SELECT t.metadata.project FROM logs AS t',
      'rejected',
      'add CROSS JOIN UNNEST(t.metadata) AS m to FROM, and write m.project',
    ],
    [
      'SELECT m.response.status FROM logs, UNNEST(metadata) AS m',
      'rejected',
      'add CROSS JOIN UNNEST(m.response) AS r to FROM, and write r.status',
    ],
    ['SELECT 1 FROM logs WITH OFFSET', 'rejected', 'WITH OFFSET is for arrays'],
    ['SELECT 1 FROM logs FULL JOIN UNNEST(metadata) ON TRUE', 'rejected', 'Unrecognized name: metadata'],
    [
      'SELECT 1 FROM logs LEFT JOIN UNNEST(metadata) AS m ON m.project IN (SELECT "a")',
      'unsupported',
      'LEFT JOIN UNNEST on a subquery',
    ],
  ])('%s is %s: %s', async (sql, reason, message) => {
    const error = await failure(sql)
    expect(error.message).toContain(message)
    expect(error.reason).toBe(reason)
  })
})
