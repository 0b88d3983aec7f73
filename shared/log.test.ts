import { describe, expect, test } from '@jest/globals'
import { EngineError } from './engines/engine.ts'
import { ApiError } from './errors.ts'
import { describeError, occasionally, traceOf } from './log.ts'
import { StoreError } from './stores/store.ts'

describe('an error in the log', () => {
  test('tells its kind and where it was thrown, and never its message', () => {
    const details = describeError(new TypeError('cannot read secret-value\n  at secret-value (a:1:1)'))
    expect(details).toMatchObject({ error: 'TypeError' })
    expect(details['frames']).toContainEqual(expect.stringContaining('log.test.ts'))
    expect(JSON.stringify(details)).not.toContain('secret-value')
  })

  test('of a caller tells its code and the engine’s reason', () => {
    const cause = new EngineError('rejected', 'secret-value is no regular expression')
    const details = describeError(new ApiError('invalid_query', 'secret-value', { cause }))
    expect(details).toEqual({ error: 'invalid_query', cause: 'EngineError', reason: 'rejected' })
  })

  test('of the store tells its reason and its client’s code', () => {
    const client = Object.assign(new Error('secret-value'), { code: 7 })
    const cause = new StoreError('unavailable', 'Firestore: unavailable', { cause: client })
    const details = describeError(new ApiError('store_unavailable', 'secret-value', { cause }))
    expect(details).toEqual({
      error: 'store_unavailable',
      cause: 'StoreError',
      reason: 'unavailable',
      code: 7,
    })
    expect(describeError(cause)).toMatchObject({ error: 'StoreError', reason: 'unavailable', code: 7 })
  })

  test.each([
    ['misconfigured', 'There is no table postgres.logs.'],
    ['failed', 'A log file is damaged: postgres.logs/a.parquet'],
  ] as const)('that the operator has to correct, as the engine %s, names what is wrong', (reason, words) => {
    const cause = new EngineError(reason, words)
    expect(describeError(new ApiError('internal', 'x', { cause }))['engine']).toBe(words)
  })
})

describe('a trace', () => {
  const header = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

  test('is named as Cloud Logging groups by', () => {
    expect(traceOf(header, 'my-project')).toEqual({
      'logging.googleapis.com/trace': 'projects/my-project/traces/0af7651916cd43dd8448eb211c80319c',
      'logging.googleapis.com/spanId': 'b7ad6b7169203331',
    })
  })

  test.each([undefined, '', 'garbage', `${header}-x`])('of %j is none', text => {
    expect(traceOf(text, 'my-project')).toEqual({})
  })
})

test('a store that is away costs one line a second for each reason', () => {
  let now = 0
  const lines: unknown[] = []
  const write = occasionally((_, __, details) => lines.push(details?.['reason']), { now: () => now })
  const fail = (reason: 'unavailable' | 'invalid') =>
    write('WARNING', 'the store failed', describeError(new StoreError(reason, 'x')))
  for (; now < 3_000; now += 10) fail('unavailable')
  fail('invalid')
  expect(lines).toEqual(['unavailable', 'unavailable', 'unavailable', 'invalid'])
})
