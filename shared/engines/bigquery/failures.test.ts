/** BigQuery's messages, and what of them reaches callers. */
import { describe, expect, test } from '@jest/globals'
import { failureOf, misconfiguration, rejection } from './failures.ts'
import { sentStatement } from './statement.ts'
import { TableNames } from './tables.ts'

const sql = `WITH edge_logs AS (
  SELECT id, path FROM \`cloudflare.logs.prod\`
)
SELECT
  pth, -- a slip
  id
FROM edge_logs`
const names = new TableNames({ dataset: 'acme.warehouse', tables: new Map() }, 'acme-jobs')
const sent = sentStatement({ sql, bindings: [] }, names)
const at = (text: string) => `at [1:${sent.sql.indexOf(text) + 1}]`

describe('a message', () => {
  test('about the text is passed on, with its place in the statement as it was written', () => {
    expect(rejection(`Unrecognized name: pth; Did you mean path? ${at('pth')}`, sent)).toEqual({
      message: 'Unrecognized name: pth; Did you mean path?',
      place: { line: 5, column: 3 },
    })
  })

  test('has a place behind the tables’ longer names too', () => {
    const { place } = rejection(`Unrecognized name: id ${at('id FROM edge_logs')}`, sent)
    expect(place).toEqual({ line: 6, column: 3 })
  })

  test('about a field of an array of records shows the UNNEST, not the type', () => {
    const type = 'ARRAY<STRUCT<request ARRAY<STRUCT<path STRING>>>>'
    const { message } = rejection(
      `Cannot access field request on a value with type ${type} ${at('pth')}`,
      sent,
    )
    expect(message).toBe(
      'An array of records has no field request: add CROSS JOIN UNNEST(...) AS x with the array to FROM, and write x.request',
    )
  })

  test.each([
    ['Cannot parse regular expression: missing ): (', 'Bad regular expression: missing )'],
    [
      'Cannot parse regular expression: invalid escape sequence: \\q',
      'Bad regular expression: invalid escape sequence',
    ],
    [
      "Unparseable query parameter `ts_value` in type `TYPE_TIMESTAMP`, Invalid timestamp: '1.4E9' value: '1.4E9'",
      'The value of parameter @ts_value is not a valid TIMESTAMP',
    ],
    ['division by zero: 1 / 0', 'Division by zero'],
    [
      'A recursive CTE has reached the maximum number of iterations: 500',
      'A recursive CTE has reached the maximum number of iterations: 500',
    ],
    ['Array index 9 is out of bounds', 'Array index is out of bounds'],
    ['Scalar subquery produced more than one element', 'A scalar subquery returned more than one row'],
    ['Invalid time zone: secret', 'Unknown time zone'],
    ['Failed to parse input string "secret"', 'A date or time does not have the format given'],
    ['Bad int64 value: secret', 'A value cannot be converted to the type asked for'],
    ["Invalid timestamp: 'secret'", 'A value cannot be converted to the type asked for'],
    ['int64 overflow: 9223372036854775807 + 1', 'A number or date is out of range'],
    [
      'Array cannot have a null element; error in writing field a',
      'An array in the result has a NULL element',
    ],
    ...(
      [
        ['Array index is out of bounds', 'ARRAY_FIRST cannot get the first element of an empty array'],
        ['Division by zero', 'Sequence step cannot be 0.'],
        ['A text is not a number', 'Invalid input to PARSE_NUMERIC: "secret"'],
        ['A JSON path is not valid', 'Invalid token in JSONPath at: [secret]'],
        [
          'A number in JSON has too many digits',
          'Input number: 12345.678 cannot round-trip through string representation',
        ],
        ['Bad value for a cast', 'The provided JSON input is not an integer'],
        ['Bad value for a cast', 'The provided JSON number: -1.5 cannot be converted to an integer'],
        ['A format has an element that is not supported', "Unsupported format element 'Q'"],
        [
          'The values of FORMAT do not go with its format: expected 2, got 1',
          'Too few arguments to FORMAT for pattern "%s secret"; Expected 2; Got 1',
        ],
        [
          'A date or time does not have the format given',
          "Failed to parse input timestamp string at 2 with format element '/'",
        ],
        ['Text is too long for its type', 'STRING(3) has maximum length 3 but got a value with length 6'],
        ['Length must not be negative', 'Third argument in SUBSTR() cannot be negative'],
        ['Text is not an IP address', 'NET.IP_FROM_STRING() encountered an unparseable IP-address: secret'],
        ['Text is not base64', 'Failed to decode invalid base64 string'],
        ['Bytes are not UTF-8', 'Invalid cast of bytes to UTF8 string'],
        ['A number or date is out of range', 'Floating point error in function: LN(0)'],
        ['A number or date is out of range', 'Input calculates to invalid date: 2023-02-29'],
        ['A number or date is out of range', 'Argument to SQRT cannot be negative: -1'],
        ['A value cannot be converted to the type asked for', 'Invalid datetime string "secret"'],
      ] as const
    ).map(([message, words]): [string, string] => [words, message]),
    ['Something new about secret', 'A function refuses a value that it is given'],
  ])('about a value reaches callers without the value: %s', (words, message) => {
    expect(rejection(words, sent)).toEqual({ message, place: null })
  })

  test('about the types of a log row leaves their fields out', () => {
    const row = 'ARRAY<STRUCT<request ARRAY<STRUCT<path STRING>>, n INT64>>'
    const { message } = rejection(
      `No matching signature for function LOWER for argument types: ${row}, INT64 ${at('pth')}`,
      sent,
    )
    expect(message).toBe('No matching signature for function LOWER for argument types: ARRAY<STRUCT>, INT64')
    const { message: field } = rejection(
      `Field name x does not exist in STRUCT<path STRING> ${at('pth')}`,
      sent,
    )
    expect(field).toBe('The record has no field x')
  })

  test('about a time of an answer in SQL says what to write', () => {
    const words = 'No matching signature for operator >= for argument types: TIMESTAMP, INT64'
    const { message } = rejection(`${words}\n  Signature: T1 >= T1 ${at('pth')}`, sent)
    expect(message).toMatch(`${words}; for the INT64 write TIMESTAMP_MICROS(x) for 16 digits`)
  })

  test.each([
    'Table acme.warehouse.cloudflare_logs_prod has no column pth',
    'Unrecognized name: warehouse',
    'Name cloudflare_logs_prod is ambiguous',
    'Something of project acme-jobs',
    'Not found: Routine other.d.f',
    'Not found: Table other:d.t was not found in location US',
    'Access Denied: Table x',
  ])('that names a resource behind the statement is not passed on: %s', words => {
    expect(rejection(`${words} ${at('pth')}`, sent).message).toBe('The query is not valid')
  })

  test('about a table that is missing names it as the statement does', () => {
    const text = `Not found: Table acme:warehouse.cloudflare_logs_prod was not found in location EU ${at('`acme')}`
    expect(misconfiguration(text, sent)).toEqual({
      message: 'The table cloudflare.logs.prod is missing, or may not be used',
      place: { line: 2, column: 24 },
    })
    const denied =
      'Access Denied: Project acme-jobs: User does not have bigquery.jobs.create permission in acme-jobs'
    expect(misconfiguration(denied, sent).message).toBe(
      'What the query needs is missing, or may not be used without bigquery.jobs.create',
    )
    expect(misconfiguration('Not found: Dataset acme:warehouse', sent).message).toBe(
      'What the query needs is missing, or may not be used',
    )
  })
})

describe('an error without a place', () => {
  const divided = sentStatement(
    { sql: 'SELECT id,\n  1 / n AS share\nFROM `cloudflare.logs.prod`', bindings: [] },
    names,
  )
  const failed = (reason: string, message: string) =>
    failureOf({ errors: [{ reason, message }] }, divided).error

  test('gets the one of the part of the query that can have caused it, and what to write', () => {
    expect(failed('invalidQuery', 'division by zero: 1 / 0')).toMatchObject({
      reason: 'rejected',
      message: 'Division by zero: SAFE_DIVIDE(a, b) gives NULL',
      place: { line: 2, column: 3 },
    })
  })

  test.each([
    [
      'resourcesExceeded',
      'Resources exceeded during query execution: Not enough resources for query planning - too many subqueries or query is too complex.',
      'too complex for BigQuery',
    ],
    [
      'resourcesExceeded',
      'Resources exceeded during query execution: The query could not be executed in the allotted memory. Peak usage: 120% of limit.',
      'filter before it sorts',
    ],
    [
      'billingTierLimitExceeded',
      'Query exceeded resource limits. This query used 74811 CPU seconds but would charge only 30M Analysis bytes.',
      'computes too much for what it reads',
    ],
  ])('of resources says which are used up: %s', (reason, words, told) => {
    expect(failed(reason, words).message).toContain(told)
  })
})
