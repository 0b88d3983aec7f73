/** The form of every type of value in a result, the same from every engine (`Value` in engine.ts). */
import { describe, expect, test } from '@jest/globals'
import type { Value } from './engine.ts'
import { describeEngines } from './testing/describe-engines.ts'

const forms: Record<string, [expression: string, value: Value][]> = {
  'INT64 is a number, or digits where a number is not exact': [
    ['42', 42],
    ['9007199254740991', 9007199254740991],
    ['9007199254740992', '9007199254740992'],
    ['-9007199254740992', '-9007199254740992'],
    ['-9223372036854775808', '-9223372036854775808'],
    ['CAST(NULL AS INT64)', null],
  ],
  'a sum of integers is an INT64': [['(SELECT SUM(x) FROM UNNEST([1, 2]) AS x)', 3]],
  'FLOAT64 is a number, or its name where JSON has no number': [
    ['0.1 + 0.2', 0.30000000000000004],
    ['1e300', 1e300],
    [`CAST('NaN' AS FLOAT64)`, 'NaN'],
    [`CAST('inf' AS FLOAT64)`, 'Infinity'],
    [`CAST('-inf' AS FLOAT64)`, '-Infinity'],
  ],
  'NUMERIC is a decimal string without zeros at its end': [
    [`NUMERIC '1.500'`, '1.5'],
    [`NUMERIC '100'`, '100'],
    [`NUMERIC '-0.000000001'`, '-0.000000001'],
    [`NUMERIC '0'`, '0'],
    [`BIGNUMERIC '12345678901234567890.5'`, '12345678901234567890.5'],
  ],
  'BOOL and STRING are themselves': [
    ['TRUE', true],
    ['FALSE', false],
    [`'añ🌍"\\\\'`, 'añ🌍"\\'],
    [`''`, ''],
    ['CAST(NULL AS STRING)', null],
  ],
  'BYTES is base64': [
    [`b'\\x00\\xff\\x80'`, 'AP+A'],
    [`b''`, ''],
  ],
  'TIMESTAMP is microseconds since 1970 UTC': [
    [`TIMESTAMP '1970-01-01 00:00:00.000001+00'`, 1],
    [`TIMESTAMP '1969-12-31 23:59:59.999999+00'`, -1],
    [`TIMESTAMP '2026-01-01 02:00:00+02'`, 1767225600000000],
    [`TIMESTAMP '0001-01-01 00:00:00+00'`, '-62135596800000000'],
    [`TIMESTAMP '9999-12-31 23:59:59.999999+00'`, '253402300799999999'],
  ],
  'DATETIME, DATE and TIME are ISO text, with a fraction only where there is one': [
    [`DATETIME '2026-01-01 00:00:00'`, '2026-01-01T00:00:00'],
    [`DATETIME '2026-01-01 00:00:00.120'`, '2026-01-01T00:00:00.12'],
    [`DATETIME '1969-12-31 23:59:59.999999'`, '1969-12-31T23:59:59.999999'],
    [`DATETIME '0001-01-01 00:00:00'`, '0001-01-01T00:00:00'],
    [`DATE '2026-02-28'`, '2026-02-28'],
    [`DATE '0001-01-01'`, '0001-01-01'],
    [`DATE '9999-12-31'`, '9999-12-31'],
    [`TIME '00:00:00'`, '00:00:00'],
    [`TIME '23:59:59.999999'`, '23:59:59.999999'],
  ],
  'JSON is parsed, and keeps large integers': [
    [`JSON '{"a": [1, 1.5, null, true, "x"]}'`, { a: [1, 1.5, null, true, 'x'] }],
    [
      `JSON '{"n": 12345678901234567890, "s": "12345678901234567890"}'`,
      { n: '12345678901234567890', s: '12345678901234567890' },
    ],
    [`JSON '{"f": 0.1234567890123456}'`, { f: 0.1234567890123456 }],
    [`JSON 'null'`, null],
  ],
  'a RECORD is an object': [
    [`STRUCT(1 AS a, 'x' AS b)`, { a: 1, b: 'x' }],
    ['STRUCT(STRUCT(CAST(NULL AS INT64) AS c) AS b)', { b: { c: null } }],
    ['CAST(NULL AS STRUCT<a INT64>)', null],
    [`STRUCT(TIMESTAMP '1970-01-01 00:00:00.000001+00' AS t, b'a' AS b)`, { t: 1, b: 'YQ==' }],
  ],
  'REPEATED is an array, empty where it is NULL, at every level': [
    ['[1, 2]', [1, 2]],
    ['CAST([] AS ARRAY<INT64>)', []],
    ['CAST(NULL AS ARRAY<INT64>)', []],
    ['STRUCT(CAST(NULL AS ARRAY<INT64>) AS a)', { a: [] }],
    ['[STRUCT([STRUCT(CAST(NULL AS ARRAY<STRING>) AS b)] AS a)]', [{ a: [{ b: [] }] }]],
    [`[DATE '2026-01-01']`, ['2026-01-01']],
    [`[JSON '{"n": 12345678901234567890}']`, [{ n: '12345678901234567890' }]],
  ],
}

describeEngines('a value', {}, ({ value, rows, failure }) => {
  for (const [claim, cases] of Object.entries(forms))
    describe(claim, () => {
      test.each(cases)('%s is %j', async (expression, expected) => {
        expect(await value(expression)).toEqual(expected)
      })
    })

  test('a column without a name is f0_, f1_, ... counted among those without a name', async () => {
    expect(await rows('SELECT 1, 2 AS a, 3')).toEqual([{ f0_: 1, a: 2, f1_: 3 }])
  })

  test('a column named __proto__ is a column', async () => {
    const [row] = await rows('SELECT 1 AS `__proto__`, STRUCT(2 AS `__proto__`) AS b')
    expect(JSON.stringify(row)).toBe('{"__proto__":1,"b":{"__proto__":2}}')
  })

  test('a NULL in an array of the result is refused', async () => {
    expect(await failure('SELECT [1, NULL] AS a')).toMatchObject({ reason: 'rejected' })
  })
})
