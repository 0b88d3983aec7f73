import { describe, expect, test } from '@jest/globals'
import { StoreError } from '../store.ts'
import { readError, writeError } from './documents.ts'

/** As the client throws it. */
const grpc = (code: number, message = 'refused') => Object.assign(new Error(`${code} ${message}`), { code })

const unavailable: [string, number][] = [
  ['CANCELLED', 1],
  ['UNKNOWN', 2],
  ['DEADLINE_EXCEEDED', 4],
  ['PERMISSION_DENIED', 7],
  ['RESOURCE_EXHAUSTED', 8],
  ['INTERNAL', 13],
  ['UNAVAILABLE', 14],
  ['UNAUTHENTICATED', 16],
]

test.each(unavailable)('%s means that the store is not available, and the cause says why', (_, code) => {
  const cause = grpc(code)
  for (const map of [readError, writeError])
    expect(map(cause)).toMatchObject({ name: 'StoreError', reason: 'unavailable', cause })
})

test('so does a failure before anything was sent, such as credentials that are not there', () => {
  expect(readError(new Error('Could not load the default credentials'))).toMatchObject({
    reason: 'unavailable',
  })
})

describe('a write', () => {
  test.each([
    ['NOT_FOUND', 5],
    ['ALREADY_EXISTS', 6],
    ['FAILED_PRECONDITION', 9],
    ['ABORTED', 10],
  ])('that ends with %s is a conflict', (_, code) => {
    expect(writeError(grpc(code))).toMatchObject({ reason: 'conflict' })
  })

  test('that is refused for its size is too large, for anything else it is invalid', () => {
    const message = 'Document cannot be written because its size (1,200,058 bytes) exceeds the maximum'
    expect(writeError(grpc(3, message))).toMatchObject({ reason: 'too_large' })
    expect(writeError(grpc(3, 'Property is a reserved word'))).toMatchObject({ reason: 'invalid' })
  })
})

describe('a read', () => {
  test('for which there is no index is a mistake of ours, not a conflict', () => {
    expect(readError(grpc(9, 'The query requires an index.'))).toMatchObject({ reason: 'invalid' })
  })

  test('of a database that is not there finds no store', () => {
    expect(readError(grpc(5))).toMatchObject({ reason: 'unavailable' })
  })
})

test('what is no failure of the store stays as it is', () => {
  for (const error of [new StoreError('conflict', 'known'), new TypeError('a bug')])
    expect([readError(error), writeError(error)]).toEqual([error, error])
})
