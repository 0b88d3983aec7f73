import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { BadEntry } from './error.ts'
import { parseJson } from './json.ts'

describe('a line of JSON', () => {
  test('keeps the digits of integers that a double cannot hold', () => {
    expect(
      parseJson('{"a":9223372036854775807,"b":[-9007199254740993,1.5,12],"c":"9223372036854775807"}'),
    ).toEqual({
      a: 9223372036854775807n,
      b: [-9007199254740993n, 1.5, 12],
      c: '9223372036854775807',
    })
  })

  test('may be any JSON', () => {
    const written = (value: unknown) =>
      JSON.stringify(value, (_name, item: unknown) => (typeof item === 'bigint' ? Number(item) : item))
    fc.assert(
      fc.property(fc.json(), text => expect(written(parseJson(text))).toBe(written(JSON.parse(text)))),
    )
  })

  test.each([
    '',
    '{',
    '{"a":}',
    'nope',
    '[1,]',
    '{"a":1}{"b":2}',
    '['.repeat(200_000),
    '['.repeat(200_000) + '1234567890123456',
  ])('is bad where it is none', text => expect(() => parseJson(text)).toThrow(BadEntry))
})
