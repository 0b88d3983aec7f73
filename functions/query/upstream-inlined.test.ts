/** An answer that reads the rows of others is that of one query with theirs in it, for random queries and parameters. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type Reading, startReading } from '../testing/upstream.ts'
import { rounds } from '../../shared/testing/rounds.ts'

const part = `SELECT x, 9007199254740992 + x AS big, TIMESTAMP_MICROS(x * 1000003) AS ts, CAST(x AS NUMERIC) / 7 AS num,
  CONCAT('té', CAST(x AS STRING)) AS txt, CAST(CAST(x AS STRING) AS BYTES) AS bin, [x, x + 1] AS list,
  STRUCT(x AS a, [STRUCT(DATE_ADD(DATE '2026-01-01', INTERVAL x DAY) AS day)] AS days) AS st,
  IF(MOD(x, 3) = 0, NULL, x) AS hole, IF(x = 2, CAST('nan' AS FLOAT64), x / 3) AS f
  FROM UNNEST(GENERATE_ARRAY(1, @n)) AS x WHERE MOD(x, @m) = 0`
const whole = (name: string) => `${name}: { type: integer, minimum: 0 }`
const parameters = `parameters: { required: [n, m], properties: { ${whole('n')}, ${whole('m')} } }`
const of = (m: string) => `{ endpoint: part, parameters: { n: "@n", m: ${m} } }`

const values = [
  'x',
  'big',
  'ts',
  'num',
  'txt',
  'bin',
  'list',
  'st',
  'hole',
  'f',
  'TO_HEX(bin)',
  'st.days[OFFSET(0)].day',
  'big * 2',
  'UNIX_MICROS(ts)',
]
const sums = [
  'COUNT(hole)',
  'SUM(big)',
  'MAX(ts)',
  'SUM(num)',
  'COUNT(DISTINCT txt)',
  'STRING_AGG(txt, "," ORDER BY x)',
  'MIN(bin)',
]
const picked = (from: string[]) =>
  fc.subarray(from, { minLength: 1 }).map(list => list.map((value, at) => `${value} AS c${at}`).join(', '))

const queries = fc.oneof(
  fc
    .tuple(picked(values), fc.nat(20))
    .map(([list, k]) => `SELECT ${list} FROM p WHERE x > ${k} OR hole IS NULL ORDER BY x`),
  fc
    .tuple(picked(sums), fc.integer({ min: 1, max: 4 }))
    .map(([list, g]) => `SELECT MOD(x, ${g}) AS k, ${list} FROM p GROUP BY k ORDER BY k`),
  fc
    .nat(3)
    .map(
      d => `SELECT p.x, q.txt, p.big - q.big AS apart FROM p LEFT JOIN q ON p.x = q.x + ${d} ORDER BY p.x`,
    ),
  fc.constant(
    'SELECT x, item FROM p, UNNEST(p.list) AS item WHERE EXISTS (SELECT 1 FROM q WHERE q.x = item) ORDER BY x, item',
  ),
)

describe.each(['duckdb', 'bigquery'] as const)('on %s', engine => {
  let it: Reading
  beforeAll(async () => {
    it = await startReading(engine, {
      part: { yaml: `${parameters}\ncache: { seconds: 60 }`, sql: part },
      reader: {
        yaml: `${parameters}\ncache: { seconds: 60 }\nsandbox: true\nupstream: { p: ${of('"@m"')}, q: ${of('1')} }`,
        sql: 'SELECT COUNT(*) AS n FROM p CROSS JOIN q',
      },
    })
  })
  afterAll(() => it.stop())

  test('random queries over the rows of others answer as one query with theirs in it', async () => {
    const sizes = fc.record({ n: fc.nat(30), m: fc.integer({ min: 1, max: 4 }) })
    await fc.assert(
      fc.asyncProperty(queries, sizes, async (sql, { n, m }) => {
        const { result } = await it.call(`reader?n=${n}&m=${m}&sql=${encodeURIComponent(sql)}`)
        const bindings = Object.entries({ n, m }).map(([name, value]) => ({
          name,
          type: { kind: 'INT64' as const },
          value,
        }))
        const inlined = `WITH p AS (${part}), q AS (${part.replace('@m', '1')}) ${sql}`
        const { rows } = await it.service.services.engine.run(
          { sql: inlined, bindings },
          { maxRows: 1000, timeoutMs: 30_000 },
        )
        expect(result).toEqual(JSON.parse(JSON.stringify(rows)))
      }),
      { numRuns: rounds(8, 500) },
    )
  })
})
