import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { entryTimestamp, fromMicros, toMicros } from './timestamp.ts'

describe('the time of an entry', () => {
  test.each([
    ['2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123456Z'],
    ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000000Z'],
    ['2026-01-31 12:00:00.5 UTC', '2026-01-31T12:00:00.500000Z'],
    [1769860800123456, '2026-01-31T12:00:00.123456Z'],
    ['1769860800123456', '2026-01-31T12:00:00.123456Z'],
    [-1, '1969-12-31T23:59:59.999999Z'],
    [253402300799999999n, '9999-12-31T23:59:59.999999Z'],
    ['-62135596800000000', '0001-01-01T00:00:00.000000Z'],
  ])('%s is %s', (value, expected) => expect(entryTimestamp(value)).toBe(expected))

  test.each([null, true, '', 'yesterday', '2026-02-30', 1.5, 253402300800000000n, '9'.repeat(30), {}, []])(
    '%p is none',
    value => expect(entryTimestamp(value)).toBeNull(),
  )

  test('keeps every microsecond, there and back', () => {
    const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    fc.assert(fc.property(micros, value => toMicros(fromMicros(value)!) === value))
  })

  test('earlier is a smaller text', () => {
    const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    fc.assert(fc.property(micros, micros, (a, b) => a < b === fromMicros(a)! < fromMicros(b)!))
  })
})
