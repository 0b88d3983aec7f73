/** BigQuery's messages, and what of them reaches callers. */
import { describe, expect, test } from '@jest/globals'
import { misconfiguration, rejection } from './failures.ts'
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
      'A recursive table has reached the maximum number of iterations: 500',
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
    ['Something new about secret', 'A function refuses a value that it is given'],
  ])('about a value reaches callers without the value: %s', (words, message) => {
    expect(rejection(words, sent)).toEqual({ message, place: null })
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
