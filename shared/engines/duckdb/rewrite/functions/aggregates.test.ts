import { describe, expect, test } from '@jest/globals'
import type { Value } from '../../../engine.ts'
import { describeDuckDb } from '../../../testing/describe-engines.ts'

/** Over rows x = 1, 2, 2, NULL with s = 'a', 'b', 'b', NULL. */
const aggregates: [expression: string, value: Value][] = [
  ['COUNT(*)', 4],
  ['COUNT(x)', 3],
  ['COUNT(DISTINCT x)', 2],
  ['COUNTIF(x > 1)', 2],
  ['SUM(x)', 5],
  ['SUM(DISTINCT x)', 3],
  ['AVG(x)', 5 / 3],
  ['SUM(x / 2)', 2.5],
  [`SUM(CAST(x AS NUMERIC))`, '5'],
  [`AVG(CAST(x AS NUMERIC))`, '1.666666667'],
  ['MIN(x)', 1],
  ['MAX(s)', 'b'],
  [`MAX(TIMESTAMP_SECONDS(x))`, 2_000_000],
  ['ANY_VALUE(s HAVING MAX x)', 'b'],
  ['ANY_VALUE(s HAVING MIN x)', 'a'],
  ['MAX(s HAVING MIN x)', 'a'],
  ['MAX_BY(s, x)', 'b'],
  ['MIN_BY(s, x)', 'a'],
  ['LOGICAL_AND(x > 1)', false],
  ['LOGICAL_OR(x > 1)', true],
  ['BIT_AND(x)', 0],
  ['BIT_OR(x)', 3],
  ['BIT_XOR(x)', 1],
  ['VAR_POP(x)', 2 / 9],
  ['VAR_SAMP(x)', 1 / 3],
  ['VARIANCE(x)', 1 / 3],
  ['STDDEV_POP(x)', Math.sqrt(2 / 9)],
  ['STDDEV(x)', Math.sqrt(1 / 3)],
  ['STDDEV_SAMP(x)', Math.sqrt(1 / 3)],
  ['APPROX_COUNT_DISTINCT(x)', 2],
  ['APPROX_QUANTILES(x, 2)', [1, 2, 2]],
  ['APPROX_QUANTILES(x, 100)[OFFSET(95)]', 2],
  ['APPROX_TOP_COUNT(s, 1)', [{ value: 'b', count: 2 }]],
  ['ARRAY_AGG(x IGNORE NULLS ORDER BY x DESC)', [2, 2, 1]],
  ['ARRAY_AGG(DISTINCT x IGNORE NULLS ORDER BY x)', [1, 2]],
  ['ARRAY_AGG(x IGNORE NULLS ORDER BY x LIMIT 2)', [1, 2]],
  ['ARRAY_AGG(STRUCT(s, x) ORDER BY x DESC LIMIT 1)', [{ s: 'b', x: 2 }]],
  ['ARRAY_CONCAT_AGG(IF(x = 1, [1, 10], NULL))', [1, 10]],
  [`STRING_AGG(s ORDER BY x)`, 'a,b,b'],
  [`STRING_AGG(DISTINCT s, '-' ORDER BY s DESC)`, 'b-a'],
  [`STRING_AGG(s, '-' ORDER BY x LIMIT 2)`, 'a-b'],
  ['SUM(x) / COUNT(*)', 1.25],
]

/** Over rows x = 1, 2, 4 in this order. */
const windows: [expression: string, values: Value[]][] = [
  ['ROW_NUMBER() OVER (ORDER BY x DESC)', [3, 2, 1]],
  ['RANK() OVER (ORDER BY x > 1)', [1, 2, 2]],
  ['DENSE_RANK() OVER (ORDER BY x > 1)', [1, 2, 2]],
  ['PERCENT_RANK() OVER (ORDER BY x)', [0, 0.5, 1]],
  ['CUME_DIST() OVER (ORDER BY x > 1)', [1 / 3, 1, 1]],
  ['NTILE(2) OVER (ORDER BY x)', [1, 1, 2]],
  ['LAG(x) OVER (ORDER BY x)', [null, 1, 2]],
  ['LEAD(x, 1, 0) OVER (ORDER BY x)', [2, 4, 0]],
  ['FIRST_VALUE(x) OVER (ORDER BY x DESC)', [4, 4, 4]],
  ['LAST_VALUE(x) OVER (ORDER BY x)', [1, 2, 4]],
  ['NTH_VALUE(x, 2) OVER (ORDER BY x)', [null, 2, 2]],
  [
    'FIRST_VALUE(NULLIF(x, 1) IGNORE NULLS) OVER (ORDER BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)',
    [2, 2, 2],
  ],
  ['PERCENTILE_CONT(x, 0.5) OVER ()', [2, 2, 2]],
  ['PERCENTILE_DISC(x, 0.5) OVER ()', [2, 2, 2]],
  ['SUM(x) OVER (ORDER BY x ROWS BETWEEN 1 PRECEDING AND CURRENT ROW)', [1, 3, 6]],
  ['SUM(x) OVER (PARTITION BY x > 1)', [1, 6, 6]],
  ['COUNT(*) OVER ()', [3, 3, 3]],
  ['COUNT(DISTINCT x > 1) OVER ()', [2, 2, 2]],
  ['COUNTIF(x > 1) OVER (ORDER BY x)', [0, 1, 2]],
  [`STRING_AGG(CAST(x AS STRING), '') OVER (ORDER BY x DESC)`, ['421', '42', '4']],
  [`STRING_AGG(CAST(x AS STRING), '') OVER (PARTITION BY x > 1 ORDER BY x)`, ['1', '2', '24']],
  ['ARRAY_LENGTH(ARRAY_AGG(x) OVER (ORDER BY x > 1))', [1, 3, 3]],
  ['ARRAY_LENGTH(ARRAY_AGG(NULLIF(x, 1) IGNORE NULLS) OVER (ORDER BY x))', [null, 1, 2]],
  ['ARRAY_LENGTH(ARRAY_AGG(x) OVER (ORDER BY x ROWS 1 PRECEDING))', [1, 2, 2]],
  ['ARRAY_LENGTH(ARRAY_CONCAT_AGG([x, x]) OVER (ORDER BY x))', [2, 4, 6]],
  ['SUM(x) OVER w', [1, 3, 7]],
  ['SUM(x) OVER (w ROWS UNBOUNDED PRECEDING)', [1, 3, 7]],
  ['x / SUM(x) OVER ()', [1 / 7, 2 / 7, 4 / 7]],
]

const from = `FROM UNNEST([STRUCT(1 AS x, 'a' AS s), (2, 'b'), (2, 'b'), (NULL, NULL)])`

describeDuckDb('aggregates and windows', {}, ({ rows, failure }) => {
  test.each(aggregates)('%s is %j', async (expression, expected) => {
    const [row] = await rows(`SELECT ${expression} AS v ${from}`)
    expect(row!['v']).toEqual(typeof expected === 'number' ? expect.closeTo(expected, 12) : expected)
  })

  test('over no rows, counts are 0 and others NULL', async () => {
    const sql = `SELECT COUNT(*) AS c, COUNTIF(x > 1) AS i, SUM(x) AS s, ARRAY_AGG(x) AS a, STRING_AGG(s) AS t ${from} WHERE FALSE`
    expect(await rows(sql)).toEqual([{ c: 0, i: 0, s: null, a: [], t: null }])
  })

  test.each(windows)('%s is %j', async (expression, expected) => {
    const sql = `SELECT ${expression} AS v FROM UNNEST([1, 2, 4]) AS x WINDOW w AS (ORDER BY x)  ORDER BY x`
    expect((await rows(sql)).map(row => row['v'])).toEqual(expected)
  })

  test('a named window is extended by others, step by step', async () => {
    const sql = `SELECT SUM(x) OVER two AS v FROM UNNEST([1, 2, 4, 8]) AS x
      WINDOW halves AS (PARTITION BY x > 2), sorted AS (halves ORDER BY x), same AS sorted, two AS (same ROWS 1 PRECEDING) ORDER BY x`
    expect((await rows(sql)).map(row => row['v'])).toEqual([1, 3, 4, 12])
  })

  test.each([
    ['SUM(x) OVER (base ORDER BY x)', 'If a window extends one with ORDER BY, it cannot have its own'],
    ['SUM(x) OVER (base PARTITION BY x)', 'If a window has a PARTITION BY, it cannot extend a named window'],
    ['SUM(x) OVER (framed ROWS 1 PRECEDING)', 'If a window extends one with a frame, it cannot add to it'],
    ['SUM(x) OVER other', 'Unrecognized window alias other'],
    ['ROW_NUMBER() OVER framed', 'ROW_NUMBER takes no frame in its window'],
    ['PERCENTILE_CONT(x, 0.5) OVER base', 'PERCENTILE_CONT takes no ORDER BY in its window'],
    ['LAG(x, 1, x) OVER base', 'The default of LAG must be constant: write IFNULL around the call'],
  ])('%s: %s', async (call, message) => {
    const windows = 'base AS (ORDER BY x), framed AS (base ROWS 2 PRECEDING)'
    const error = await failure(`SELECT ${call} FROM UNNEST([1]) AS x WINDOW ${windows}`)
    expect(error.message).toContain(message)
  })

  describe('refusals', () => {
    test.each([
      [
        'SUM(s)',
        'No matching signature for function SUM for argument types: STRING; it takes SUM(NUMBER) or SUM(INTERVAL); for the STRING write SAFE_CAST(x AS FLOAT64)',
      ],
      ['COUNTIF(x)', 'No matching signature for function COUNTIF'],
      ['STRING_AGG(x)', 'for the INT64 write CAST(x AS STRING)'],
      ['ROW_NUMBER()', 'ROW_NUMBER needs an OVER clause'],
      ['SUM(9223372036854775807)', 'out of range'],
      // What is in a call beside its arguments, by the table of GoogleSQL's documentation.
      ['SUM(x ORDER BY x)', 'SUM does not support ORDER BY in its arguments'],
      ['MAX(DISTINCT x ORDER BY x)', 'MAX does not support ORDER BY in its arguments'],
      ['COUNT(x LIMIT 2)', 'COUNT does not support LIMIT in its arguments'],
      ['STRING_AGG(s IGNORE NULLS)', 'STRING_AGG does not support IGNORE or RESPECT NULLS'],
      ['LAG(x IGNORE NULLS) OVER (ORDER BY x)', 'LAG does not support IGNORE or RESPECT NULLS'],
      ['MAX_BY(DISTINCT x, s)', 'MAX_BY does not support DISTINCT in its arguments'],
      ['SUM(*)', 'SUM does not support * in its arguments'],
      ['UPPER(DISTINCT s)', 'UPPER does not support DISTINCT in its arguments'],
      ['ARRAY_AGG(x ORDER BY x) OVER ()', 'ARRAY_AGG does not support ORDER BY in its arguments with OVER'],
      ['ARRAY_AGG(x LIMIT 2) OVER ()', 'ARRAY_AGG does not support LIMIT in its arguments with OVER'],
      [
        'ANY_VALUE(x HAVING MAX x) OVER ()',
        'ANY_VALUE does not support HAVING MAX or MIN in its arguments with',
      ],
      ['GROUPING(x) OVER ()', 'Function GROUPING does not support an OVER clause'],
      ['LAG(x, x) OVER (ORDER BY x)', 'The number of LAG must be a literal or a parameter'],
      ['RANK(x) OVER (ORDER BY x)', 'it takes 0, not 1'],
      ['NTILE(1.5) OVER (ORDER BY x)', 'it takes NTILE(INT64)'],
      ['APPROX_TOP_COUNT(x, s)', 'it takes APPROX_TOP_COUNT(ANY, INT64)'],
    ])('%s: %s', async (expression, message) => {
      const error = await failure(`SELECT ${expression} ${from}`)
      expect(error.message).toContain(message)
      expect(error.reason).toBe('rejected')
    })
  })
})
