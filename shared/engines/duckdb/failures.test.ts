import { describe, expect, test } from '@jest/globals'
import { SqlError } from '../../sql/error.ts'
import { EngineError } from '../engine.ts'
import { engineError, mayBeOfFiles } from './failures.ts'
import { UnsupportedError } from './rewrite/context.ts'

describe('an error of DuckDB', () => {
  test.each([
    [`Conversion Error: Could not convert string 'alice@example.com' to INT64`, 'rejected'],
    [`Conversion Error: Could not convert string 'Division by zero in my data' to INT64`, 'rejected'],
    ['Invalid Input Error: secret', 'rejected'],
    ['Out of Range Error: Overflow in addition of INT64 (92 + 1)!', 'rejected'],
    ['Binder Error: Referenced column "alice" not found', 'unsupported'],
    ['Catalog Error: Table with name alice does not exist!', 'unsupported'],
    ['Failed to extract statements: Parser Error: alice', 'unsupported'],
    ['Out of Memory Error: failed to allocate /home/alice', 'result_too_large'],
    ['something else about alice', 'failed'],
  ])('%s is %s, and nothing of its text is passed on', (message, reason) => {
    const error = engineError(new Error(message))
    expect(error).toMatchObject({ name: 'EngineError', reason })
    expect(error.message).not.toMatch(/alice|secret|data|92|\//)
  })

  test.each([
    ['IO Error: Cannot open file "/home/alice/logs/app.logs/x.parquet"'],
    [`Invalid Input Error: File '/home/alice/app.logs/x.parquet' too small to be a Parquet file`],
    [`Invalid Input Error: No magic bytes found at end of file '/alice/app.logs/x.parquet'`],
    ['Invalid Input Error: Failed to read file "/alice/app.logs/x.parquet": schema mismatch: "alice"'],
    ['Invalid Input Error: Failed to read Parquet file "/alice/app.logs/x.parquet": negative'],
    ['Invalid Input Error: Invalid string encoding found in Parquet file "/app.logs/x.parquet": "alice"'],
    ['Conversion Error: Error while reading file "/alice/app.logs/x.parquet": failed to cast "alice"'],
    ["Invalid Error: Prefetch registered for bytes outside file: '/alice/app.logs/x.parquet'"],
  ])('%s is of a log file: it names the file for operators, and blames no caller', message => {
    const error = engineError(new Error(message))
    expect(error.reason).toBe('failed')
    expect(error.message).toMatch(/^A log file .*: app\.logs\/x\.parquet$/)
  })

  test('that fails is in its own words for operators, without what it quotes', () => {
    const error = new Error(
      `INTERNAL Error: Assertion failed for 'alice' in "id" of /home/alice/x\nStack: alice`,
    )
    expect(engineError(error)).toMatchObject({
      reason: 'failed',
      message: 'The local engine failed: INTERNAL Error: Assertion failed for ... in ... of ...',
    })
  })

  test('of a regular expression names the fault, without the expression', () => {
    expect(engineError(new Error('Invalid Input Error: missing ): alice('))).toMatchObject({
      reason: 'rejected',
      message: 'Bad regular expression: missing )',
    })
  })

  test('that a rewriting raises keeps its message', () => {
    const message = `Conversion Error: Could not convert string 'Division by zero' to DOUBLE`
    expect(engineError(new Error(message))).toMatchObject({ reason: 'rejected', message: 'Division by zero' })
  })
})

test('what DuckDB lacks may be in the damaged footer of a log file', () => {
  const footer = 'Not implemented Error: Unimplemented TIMESTAMP encoding - missing UNIT'
  expect(
    [footer, 'Binder Error: x', 'Conversion Error: x'].map(text => mayBeOfFiles(new Error(text))),
  ).toEqual([true, true, false])
})

describe('an error of the rewriting', () => {
  const place = { line: 2, column: 3 }

  test('is rejected, and unsupported where GoogleSQL is right, with its place', () => {
    expect(engineError(new SqlError('no', place))).toMatchObject({ reason: 'rejected', message: 'no', place })
    expect(engineError(new UnsupportedError('no', place))).toMatchObject({ reason: 'unsupported', place })
  })

  test('that is one of the port goes on as it is', () => {
    const error = new EngineError('timeout', 'late')
    expect(engineError(error)).toBe(error)
  })
})
