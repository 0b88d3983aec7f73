import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { fromMicros } from '../../../shared/endpoints/timestamps.ts'
import { entryTimestamp } from './times.ts'

/** Microseconds since 1970 of a canonical text. */
function toMicros(timestamp: string): bigint {
  return BigInt(Date.parse(`${timestamp.slice(0, 23)}Z`)) * 1000n + BigInt(timestamp.slice(23, 26))
}

describe('the time of an entry', () => {
  test.each([
    ['2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123456Z'],
    ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000000Z'],
    ['2026-01-31 12:00:00.5 UTC', '2026-01-31T12:00:00.500000Z'],
    ['2026-01-31 12:00:00,123', '2026-01-31T12:00:00.123000Z'],
    ['2026-01-31 13:00:00 +0100 CET', '2026-01-31T12:00:00.000000Z'],
    ['2026-01-31 12:00:00.123456789 +0000 UTC', '2026-01-31T12:00:00.123456Z'],
    ['2026/01/31 12:00:00', '2026-01-31T12:00:00.000000Z'],
    ['20260131T120000Z', '2026-01-31T12:00:00.000000Z'],
    ['20260131T1200', '2026-01-31T12:00:00.000000Z'],
    ['31/Jan/2026:13:00:00 +0100', '2026-01-31T12:00:00.000000Z'],
    ['Sat, 31 Jan 2026 12:00:00 GMT', '2026-01-31T12:00:00.000000Z'],
    ['31 Jan 2026 07:00 -0500', '2026-01-31T12:00:00.000000Z'],
    ['Sat Jan 31 12:00:00.123456 2026', '2026-01-31T12:00:00.123456Z'],
    ['Mon Jun  1 12:00:00 2026', '2026-06-01T12:00:00.000000Z'],
    [1769860800123456, '2026-01-31T12:00:00.123456Z'],
    ['1769860800123456', '2026-01-31T12:00:00.123456Z'],
    [1769860800, '2026-01-31T12:00:00.000000Z'],
    ['1769860800', '2026-01-31T12:00:00.000000Z'],
    [1769860800.123, '2026-01-31T12:00:00.123000Z'],
    ['1769860800.1234567', '2026-01-31T12:00:00.123456Z'],
    [1769860800123, '2026-01-31T12:00:00.123000Z'],
    [1769860800123.25, '2026-01-31T12:00:00.123250Z'],
    [1769860800123456789n, '2026-01-31T12:00:00.123456Z'],
    [0, '1970-01-01T00:00:00.000000Z'],
    [-1.5, '1969-12-31T23:59:58.500000Z'],
    [99_999_999_999, '5138-11-16T09:46:39.000000Z'],
    [100_000_000_000, '1973-03-03T09:46:40.000000Z'],
    [99_999_999_999_999, '5138-11-16T09:46:39.999000Z'],
    [100_000_000_000_000, '1973-03-03T09:46:40.000000Z'],
    [253402300800000000n, '1978-01-11T21:31:40.800000Z'],
    [253402300799999999n, '9999-12-31T23:59:59.999999Z'],
    ['-62135596800000000', '0001-01-01T00:00:00.000000Z'],
  ])('%s is %s', (value, expected) => expect(entryTimestamp(value)).toBe(expected))

  test.each([
    null,
    true,
    '',
    'yesterday',
    '2026-02-30',
    1e21,
    9n ** 30n,
    '9'.repeat(30),
    '1.',
    '.5',
    '1769860800s',
    '2026-01-31 12:00:00 EST',
    '31/Foo/2026:12:00:00 +0000',
    '30/Feb/2026:12:00:00 +0000',
    'Jan 31 12:00:00',
    {},
    [],
  ])('%p is no time', value => expect(entryTimestamp(value)).toBeNull())

  test('is the same in seconds, milliseconds, microseconds and nanoseconds, from 1978 on', () => {
    const seconds = fc.bigInt({ min: 260_000_000n, max: 9_223_372_035n })
    fc.assert(
      fc.property(seconds, value => {
        const expected = fromMicros(value * 1_000_000n)
        for (const unit of [1n, 1_000n, 1_000_000n, 1_000_000_000n])
          expect(entryTimestamp(value * unit)).toBe(expected)
        expect(entryTimestamp(Number(value))).toBe(expected)
      }),
    )
  })

  test('keeps every microsecond, there and back', () => {
    const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    fc.assert(fc.property(micros, value => toMicros(fromMicros(value)!) === value))
  })

  test('earlier is a smaller text', () => {
    const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    fc.assert(fc.property(micros, micros, (a, b) => a < b === fromMicros(a)! < fromMicros(b)!))
  })
})
