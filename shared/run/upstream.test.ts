/** Every value keeps its type and its last digit on the way from an answer into a query that reads it as a table. */
import { describe, expect, test } from '@jest/globals'
import { describeEngines, plenty } from '../engines/testing/describe-engines.ts'
import type { Row } from '../engines/engine.ts'
import { rowsAsTable } from './upstream.ts'

const scalars = [
  '9223372036854775807',
  '-9223372036854775808',
  '9007199254740993',
  '0',
  'CAST(NULL AS INT64)',
  '0.1 + 0.2',
  '1e300',
  "CAST('inf' AS FLOAT64)",
  "CAST('-inf' AS FLOAT64)",
  'CAST(NULL AS FLOAT64)',
  "NUMERIC '99999999999999999999999999999.999999999'",
  "NUMERIC '-0.000000001'",
  "BIGNUMERIC '12345678901234567890.5'",
  'TRUE',
  'CAST(NULL AS BOOL)',
  "''",
  "'añ🌍\"\\\\\\n\\u0001'",
  'CAST(NULL AS STRING)',
  "b'\\x00\\xff\\x80\\\\x41'",
  "b''",
  'CAST(NULL AS BYTES)',
  "TIMESTAMP '1969-12-31 23:59:59.999999+00'",
  "TIMESTAMP '0001-01-01 00:00:00+00'",
  "TIMESTAMP '9999-12-31 23:59:59.999999+00'",
  'CAST(NULL AS TIMESTAMP)',
  "DATETIME '1969-12-31 23:59:59.999999'",
  "DATE '0001-01-01'",
  "TIME '23:59:59.999999'",
]
const others = [
  "CAST('NaN' AS FLOAT64)",
  'JSON \'{"a": [1, 1.5, null, true, "x"], "n": 9007199254740991}\'',
  'CAST(NULL AS JSON)',
  "STRUCT(9223372036854775807 AS n, b'\\xff' AS b, TIMESTAMP '2026-01-01 00:00:00.000001+00' AS t)",
  'CAST(NULL AS STRUCT<a INT64>)',
  "[b'\\xff', b'']",
  "[STRUCT([STRUCT(TIMESTAMP '2026-01-01 00:00:00.000001+00' AS t, JSON '[1]' AS j)] AS a)]",
  'CAST([] AS ARRAY<STRING>)',
  "STRUCT(NUMERIC '0.1', DATE '2026-01-01')",
]

describeEngines('rows that are read as a table', {}, ({ engine }) => {
  /** The column `v` of an answer, bound as another query gets it. */
  const answered = async (expression: string) => {
    const { columns, rows } = await engine().run({ sql: `SELECT ${expression} AS v`, bindings: [] }, plenty)
    const sent = JSON.parse(JSON.stringify(rows)) as Row[]
    const type = { kind: 'ARRAY', element: { kind: 'STRUCT', fields: columns } } as const
    return { rows, columns, binding: { name: 't', type, value: rowsAsTable(columns, sent, false) } }
  }

  test.each([...scalars, ...others])('%s comes out as it went in, with its type', async expression => {
    const { rows, columns, binding } = await answered(expression)
    const sql = 'WITH t AS (SELECT r.v FROM UNNEST(@t) AS r) SELECT v FROM t'
    const read = await engine().run({ sql, bindings: [binding] }, plenty)
    expect({ rows: read.rows, columns: read.columns }).toEqual({ rows, columns })
  })

  test.each(scalars)('%s is the same value to the query', async expression => {
    const { binding } = await answered(expression)
    const sql = `SELECT r.v IS NOT DISTINCT FROM (${expression}) AS same FROM UNNEST(@t) AS r`
    expect((await engine().run({ sql, bindings: [binding] }, plenty)).rows).toEqual([{ same: true }])
  })

  test('no rows are an empty table, with its columns', async () => {
    const { columns } = await answered("b'x'")
    const type = { kind: 'ARRAY', element: { kind: 'STRUCT', fields: columns } } as const
    const bindings = [{ name: 't', type, value: rowsAsTable(columns, [], false) }]
    const sql = 'SELECT COUNT(r.v) AS n FROM UNNEST(@t) AS r'
    expect((await engine().run({ sql, bindings }, plenty)).rows).toEqual([{ n: 0 }])
  })
})

describe('a redacted value', () => {
  test('is its text in a STRING or JSON, and NULL where the type has no texts', () => {
    const kinds = ['STRING', 'JSON', 'INT64', 'BYTES', 'NUMERIC'] as const
    const columns = kinds.map(kind => ({ name: kind, type: { kind } }))
    const row = Object.fromEntries(kinds.map(kind => [kind, 'REDACTED']))
    const bound = { STRING: 'REDACTED', JSON: 'REDACTED', INT64: null, BYTES: null, NUMERIC: null }
    expect(rowsAsTable(columns, [row], true)).toEqual([bound])
  })
})
