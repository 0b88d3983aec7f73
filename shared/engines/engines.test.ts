/** Runs and dry runs on every engine adapter: parameters, limits, refusals, descriptions. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from '@jest/globals'
import type { Column, SqlType } from '../sql/types.ts'
import { type Binding, EngineError, type Value } from './engine.ts'
import { describeEngines, plenty } from './testing/describe-engines.ts'

const string: SqlType = { kind: 'STRING' }
const whole: SqlType = { kind: 'INT64' }
const array = (element: SqlType): SqlType => ({ kind: 'ARRAY', element })
const pair: SqlType = {
  kind: 'STRUCT',
  fields: [
    { name: 'interval', type: string },
    { name: 'at', type: { kind: 'TIMESTAMP' } },
  ],
}

const bound = (type: SqlType, value: Value): Binding[] => [{ name: 'x', type, value }]

const logs: Column[] = [
  { name: 'id', type: string },
  { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
  {
    name: 'metadata',
    type: array({ kind: 'STRUCT', fields: [{ name: 'status', type: whole }] }),
  },
]

/** To DuckDB, which has all tables, an unknown name is a fault in the SQL; to BigQuery it may be a missing right. */
const noTable: unknown = expect.stringMatching(/^(rejected|misconfigured)$/)

/** Takes minutes on any engine: joins ten thousand rows four times over. */
const endless = `SELECT COUNT(*) FROM ${['a', 'b', 'c', 'd']
  .map(name => `UNNEST(GENERATE_ARRAY(1, 10000)) AS ${name}`)
  .join(' CROSS JOIN ')} WHERE MOD(a * b + c * d, 7) = 3`

describeEngines('a run', { 'app.logs': logs, 'other.logs': logs }, bench => {
  const { value, rows, failure, engine } = bench

  describe('parameters', () => {
    const forms: [type: SqlType, given: Value, seen: Value][] = [
      [string, `it's "x" \\ \n $1 @y`, `it's "x" \\ \n $1 @y`],
      [string, '', ''],
      [whole, 7, 7],
      [whole, '9223372036854775807', '9223372036854775807'],
      [{ kind: 'FLOAT64' }, 0.1, 0.1],
      [{ kind: 'FLOAT64' }, 'NaN', 'NaN'],
      [{ kind: 'BOOL' }, true, true],
      [{ kind: 'NUMERIC' }, '12345678901234567890.123456789', '12345678901234567890.123456789'],
      [{ kind: 'BYTES' }, 'AP+A', 'AP+A'],
      [{ kind: 'DATE' }, '2026-02-28', '2026-02-28'],
      [{ kind: 'TIME' }, '12:34:56.5', '12:34:56.5'],
      [{ kind: 'DATETIME' }, '2026-02-28T12:34:56', '2026-02-28T12:34:56'],
      [{ kind: 'TIMESTAMP' }, '1970-01-01T01:00:00.000001+01:00', 1],
      [{ kind: 'JSON' }, { a: [1, null, 'x'] }, { a: [1, null, 'x'] }],
      [array(string), ['a', '', 'c'], ['a', '', 'c']],
      [array(whole), ['9223372036854775807', 1], ['9223372036854775807', 1]],
      [array(whole), [], []],
      [pair, { interval: 'daily', at: '1970-01-01T00:00:01Z' }, { interval: 'daily', at: 1_000_000 }],
      [array(pair), [{ interval: 'daily', at: null }], [{ interval: 'daily', at: null }]],
    ]
    test.each(forms)('a %j given as %j is %j', async (type, given, seen) => {
      expect(await value('@x', bound(type, given))).toEqual(seen)
    })

    test.each([[string], [whole], [{ kind: 'TIMESTAMP' } as const], [pair]])(
      'a NULL %j is NULL',
      async type => {
        expect(await value('@x IS NULL', bound(type, null))).toBe(true)
      },
    )

    test('a name means the same in any case of letters, and as often as it stands', async () => {
      expect(await value('@x + @X + @x', bound(whole, 2))).toBe(6)
    })

    test.each<[SqlType, Value]>([
      [whole, 'abc'],
      [whole, 1.5],
      [{ kind: 'TIMESTAMP' }, 'infinity'],
      [{ kind: 'TIMESTAMP' }, 'yesterday'],
      [{ kind: 'BOOL' }, 'yes'],
      [array(whole), 'no array'],
      [{ kind: 'DATE' }, '2026-02-30'],
    ])('a %j cannot be given as %j', async (type, given) => {
      const error = await failure('SELECT @x', bound(type, given))
      expect(error).toMatchObject({ name: 'EngineError', reason: 'rejected' })
      expect(error.message).not.toContain(JSON.stringify(given))
    })

    test('one that the query names and the call does not bind is refused, with its place', async () => {
      expect(await failure('SELECT\n  @missing')).toMatchObject({
        reason: 'rejected',
        place: { line: 2, column: 3 },
      })
    })
  })

  describe('rows', () => {
    test('come back in order, by column', async () => {
      const sql = `SELECT x, 'a' AS a FROM UNNEST([3, 1, 2]) AS x ORDER BY x`
      const { columns, rows, truncated } = await engine().run({ sql, bindings: [] }, plenty)
      expect({ columns, rows, truncated }).toEqual({
        columns: [
          { name: 'x', type: whole },
          { name: 'a', type: string },
        ],
        rows: [
          { x: 1, a: 'a' },
          { x: 2, a: 'a' },
          { x: 3, a: 'a' },
        ],
        truncated: false,
      })
    })

    test.each([
      [2, 2, true],
      [3, 3, false],
      [4, 3, false],
      [0, 0, true],
    ])('with a limit of %i, of three rows %i come back; truncated: %j', async (maxRows, count, truncated) => {
      const sql = 'SELECT x FROM UNNEST([1, 2, 3]) AS x'
      const result = await engine().run({ sql, bindings: [] }, { ...plenty, maxRows })
      expect(result).toMatchObject({ truncated })
      expect(result.rows).toHaveLength(count)
    })

    test('a huge result costs no more than its limit', async () => {
      const sql = `SELECT a, b FROM UNNEST(GENERATE_ARRAY(1, 100000)) AS a CROSS JOIN UNNEST(GENERATE_ARRAY(1, 100000)) AS b`
      const result = await engine().run({ sql, bindings: [] }, { maxRows: 10, timeoutMs: 10_000 })
      expect(result.rows).toHaveLength(10)
    })

    test('of more JSON than the limit fail while they are read, and the message says where', async () => {
      const sql = `SELECT REPEAT('a', 100000) AS a FROM UNNEST(GENERATE_ARRAY(1, 60))`
      const counted: number[] = []
      const onBytes = (bytes: number) => void counted.push(bytes)
      const error = await failure(sql, [], { maxResultBytes: 1_000_000, onBytes })
      expect(error).toMatchObject({
        reason: 'result_too_large',
        message: 'The result passes 1,000,000 bytes of JSON with row 10',
      })
      const read = counted.filter(bytes => bytes > 0).reduce((sum, bytes) => sum + bytes, 0)
      expect(read).toBe(9 * `{"a":"${'a'.repeat(100_000)}"},`.length)
    })

    test('are counted as JSON in UTF-8, with escapes, and as many as fit come back', async () => {
      const sql = `SELECT 'ä"' AS a FROM UNNEST([1, 2])`
      const bytes = Buffer.byteLength('{"a":"ä\\""},') * 2
      const run = (maxResultBytes: number) =>
        engine().run({ sql, bindings: [] }, { ...plenty, maxResultBytes })
      expect((await run(bytes)).rows).toHaveLength(2)
      await expect(run(bytes - 1)).rejects.toMatchObject({ reason: 'result_too_large' })
    })

    test('beyond the limit of rows do not count', async () => {
      const sql = `SELECT REPEAT('a', 1000) AS a FROM UNNEST([1, 2, 3])`
      const result = await engine().run(
        { sql, bindings: [] },
        { ...plenty, maxRows: 2, maxResultBytes: 2500 },
      )
      expect(result).toMatchObject({ truncated: true, rows: { length: 2 } })
    })

    test('come as the text of their JSON where the limits ask for it', async () => {
      const sql = `SELECT n, 'ä"' AS a, [STRUCT(n AS b)] AS list FROM UNNEST([1, 2, 3]) AS n ORDER BY n`
      const [asRows, asText] = await Promise.all(
        [false, true].map(asText => engine().run({ sql, bindings: [] }, { ...plenty, maxRows: 2, asText })),
      )
      expect(asText).toMatchObject({
        truncated: true,
        rows: [],
        text: { ndjson: asRows!.rows.map(row => JSON.stringify(row)).join('\n'), count: 2 },
      })
      expect(asRows!.rows).toHaveLength(2)
    })

    test('for which there is no room end the run with the error of the one that counts', async () => {
      const full = new EngineError('overloaded', 'no room')
      const onBytes = () => {
        throw full
      }
      expect(await failure('SELECT 1', [], { onBytes })).toBe(full)
      expect(await value('1')).toBe(1)
    })

    test('that arrive while the engine runs are seen by the next run', async () => {
      const count = async () => (await rows('SELECT COUNT(*) AS n FROM `app.logs`'))[0]!['n']
      expect(await count()).toBe(0)
      await bench.append('app.logs', [
        { id: 'a', timestamp: '2026-01-01T00:00:00Z', metadata: [{ status: 200 }] },
        { id: 'b', timestamp: '2026-01-02T00:00:00Z', metadata: [] },
      ])
      expect(await count()).toBe(2)
      await bench.append('app.logs', [{ id: 'c', timestamp: '2026-01-03T00:00:00Z', metadata: null }])
      expect(await count()).toBe(3)
      expect(await rows('SELECT id, timestamp, metadata FROM `app.logs` ORDER BY id')).toEqual([
        { id: 'a', timestamp: 1767225600000000, metadata: [{ status: 200 }] },
        { id: 'b', timestamp: 1767312000000000, metadata: [] },
        { id: 'c', timestamp: 1767398400000000, metadata: [] },
      ])
    })

    test.each<[form: string, sql: string, answer: object[]]>([
      [
        'PIVOT of a table',
        "SELECT * FROM `app.logs` AS l PIVOT (COUNT(l.metadata) AS n, MIN(l.timestamp) AS first FOR l.id IN ('a', 'z' AS none))",
        [{ n_a: 1, first_a: 1767225600000000, n_none: 0, first_none: null }],
      ],
      [
        'UNPIVOT of a subquery',
        "SELECT * FROM (SELECT id, CONCAT(id, '2') AS other FROM `app.logs`) UNPIVOT (v FOR k IN (id, other AS 'o')) WHERE v < 'b' ORDER BY v",
        [
          { v: 'a', k: 'id' },
          { v: 'a2', k: 'o' },
        ],
      ],
      [
        'a union by name',
        "SELECT id, 1 AS n FROM `app.logs` WHERE id = 'a' FULL OUTER UNION ALL BY NAME SELECT 'x' AS more, id FROM `app.logs` WHERE id = 'b' ORDER BY id",
        [
          { id: 'a', n: 1, more: null },
          { id: 'b', n: null, more: 'x' },
        ],
      ],
      [
        'a pipe',
        "FROM `app.logs` |> WHERE id < 'c' |> AGGREGATE COUNT(*) AS n GROUP BY ARRAY_LENGTH(metadata) AS size |> ORDER BY size",
        [
          { size: 0, n: 1 },
          { size: 1, n: 1 },
        ],
      ],
    ])('of %s are those of its columns', async (_, sql, answer) => {
      expect(await rows(sql)).toEqual(answer)
    })

    test('of many runs at once do not mix', async () => {
      const runs = Array.from({ length: 20 }, (_, n) => value('@x * 2', bound(whole, n)))
      expect(await Promise.all(runs)).toEqual(Array.from({ length: 20 }, (_, n) => n * 2))
    })
  })

  describe('stopping', () => {
    test('a run past its time fails with timeout, soon', async () => {
      expect(await failure(endless, [], { timeoutMs: 200 })).toMatchObject({ reason: 'timeout' })
    })

    test('an aborted run fails with cancelled, soon, and others go on', async () => {
      const abort = new AbortController()
      const other = value('@x', bound(whole, 1))
      const stopped = failure(endless, [], { signal: abort.signal })
      await sleep(100)
      abort.abort()
      expect(await stopped).toMatchObject({ reason: 'cancelled' })
      expect(await other).toBe(1)
      expect(await value('2')).toBe(2)
    })

    test('a run that is aborted before it begins does not begin', async () => {
      const signal = AbortSignal.abort()
      expect(await failure('SELECT 1', [], { signal })).toMatchObject({ reason: 'cancelled' })
    })

    test('a run that has to wait for others can still be stopped', async () => {
      const aborts = Array.from({ length: 6 }, () => new AbortController())
      const runs = aborts.map(abort => failure(endless, [], { signal: abort.signal }))
      await sleep(100)
      for (const abort of aborts.toReversed()) abort.abort()
      const reasons = (await Promise.all(runs)).map(error => error.reason)
      expect(new Set(reasons)).toEqual(new Set(['cancelled']))
    })
  })

  describe('refusals', () => {
    test.each([
      'SELECT 1; SELECT 2',
      'CREATE TABLE t AS SELECT 1',
      'INSERT INTO `app.logs` (id) VALUES (1)',
      'DROP TABLE `app.logs`',
      `COPY (SELECT 1) TO 'x'`,
      `ATTACH 'x'`,
      'PRAGMA version',
      'SET threads = 1',
      'CALL f()',
      `SELECT * FROM read_csv('/etc/passwd')`,
      `SELECT * FROM '/etc/passwd'`,
      'SELECT',
      '',
    ])('%j is no query', async sql => {
      expect(await failure(sql)).toMatchObject({ name: 'EngineError', reason: 'rejected' })
    })

    test.each([
      '/etc/passwd',
      'information_schema.tables',
      'duckdb_settings',
      'sqlite_master',
      'main.app.logs',
    ])('no table %s is found', async name => {
      expect(await failure(`SELECT 1 FROM \`${name}\``)).toMatchObject({
        reason: noTable,
        place: { line: 1, column: 15 },
      })
    })

    test('an unknown column is refused with its place', async () => {
      const error = await failure('SELECT id,\n  nothing FROM `app.logs`')
      expect(error).toMatchObject({ reason: 'rejected', place: { line: 2, column: 3 } })
      expect(error.message).toContain('nothing')
    })

    test('two columns of one name in the result are refused', async () => {
      expect(await failure('SELECT 1 AS a, 2 AS A')).toMatchObject({ reason: 'rejected' })
    })

    test.each([
      ['a bad regular expression', `REGEXP_CONTAINS('abc', @x)`, '('],
      ['a division by zero', '1 / LENGTH(@x)', ''],
      ['text that is no number', 'CAST(@x AS INT64)', 'secret value'],
      ['text that is no date', `PARSE_DATE('%Y-%m-%d', @x)`, 'secret value'],
      ['an unknown time zone', `DATETIME(CURRENT_TIMESTAMP(), @x)`, 'secret/value'],
      ['an index beyond an array', 'SPLIT(@x)[OFFSET(9)]', 'secret value'],
    ])('%s is rejected, in words that quote no value', async (_, expression, given) => {
      const error = await failure(`SELECT ${expression}`, bound(string, given))
      expect(error).toMatchObject({ name: 'EngineError', reason: 'rejected' })
      expect(error.message).toMatch(/^[A-Z][\w ():,.[\]]{5,100}$/)
      expect(error.message).not.toContain('secret')
    })

    test('GoogleSQL that is correct and not supported says so', async () => {
      const error = await failure('SELECT APPROX_TOP_SUM(id, 1, 2) FROM `app.logs`')
      expect(error).toMatchObject({ reason: 'unsupported', place: { line: 1, column: 8 } })
      expect(error.message).toContain('APPROX_TOP_SUM is not supported')
    })
  })

  describe('a dry run', () => {
    test('lists the tables by name, sorted and once, and the columns', async () => {
      const sql = `WITH l AS (SELECT * FROM \`other.logs\`)
        SELECT l.id, m.status, COUNT(*), @x AS x
        FROM l JOIN \`app.logs\` AS a ON a.id = l.id CROSS JOIN UNNEST(a.metadata) AS m
        GROUP BY l.id, m.status`
      const { bytes: _, ...described } = await engine().describe({
        sql,
        bindings: bound(array(string), null),
      })
      expect(described).toEqual({
        kind: 'SELECT',
        tables: ['app.logs', 'other.logs'],
        columns: [
          { name: 'id', type: string },
          { name: 'status', type: whole },
          { name: 'f0_', type: whole },
          { name: 'x', type: array(string) },
        ],
      })
    })

    test('refuses what a run would refuse', async () => {
      const statement = { sql: 'SELECT 1 FROM `nowhere`', bindings: [] }
      await expect(engine().describe(statement)).rejects.toMatchObject({
        name: 'EngineError',
        reason: noTable,
        place: { line: 1, column: 15 },
      })
    })

    test('reads nothing', async () => {
      const statement = { sql: 'SELECT 1 / 0 AS a', bindings: [] }
      expect(await engine().describe(statement)).toMatchObject({ tables: [] })
    })
  })
})

describeEngines('closing', {}, bench => {
  test('ends an engine that ran, and again does no harm', async () => {
    expect(await bench.value('1')).toBe(1)
    await bench.engine().close()
    await bench.engine().close()
  })
})
