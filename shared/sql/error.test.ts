import { describe, expect, test } from '@jest/globals'
import { offsetOf, placeOf } from './error.ts'

describe('a place in a text', () => {
  test('is counted from line 1, column 1', () => {
    expect(placeOf('select 1', 0)).toEqual({ line: 1, column: 1 })
  })

  test('LF, CRLF and CR each end one line', () => {
    expect(placeOf('a\nb\r\nc\rd', 7)).toEqual({ line: 4, column: 1 })
  })

  test('leads back to its offset', () => {
    const text = 'a\nb\r\nc\rd'
    for (const at of [0, 1, 2, 3, 5, 6, 7]) expect(offsetOf(text, placeOf(text, at))).toBe(at)
  })
})
