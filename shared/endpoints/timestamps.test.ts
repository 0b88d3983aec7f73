import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { fromMicros, isoTimestamp, relativeTime, toMicros } from './timestamps.ts'

describe('an ISO 8601 time', () => {
  test.each([
    ['2026-01-31', '2026-01-31T00:00:00.000000Z'],
    ['2026-01-31T12:30', '2026-01-31T12:30:00.000000Z'],
    ['2026-01-31T12:30:15', '2026-01-31T12:30:15.000000Z'],
    ['2026-01-31T12:30:15Z', '2026-01-31T12:30:15.000000Z'],
    ['2026-01-31t12:30:15z', '2026-01-31T12:30:15.000000Z'],
    ['2026-01-31 12:30:15.123456', '2026-01-31T12:30:15.123456Z'],
    ['2026-01-31T12:30:15.5Z', '2026-01-31T12:30:15.500000Z'],
    ['2026-01-31T12:30:15,123456Z', '2026-01-31T12:30:15.123456Z'],
    ['2026-01-31T12:30:15.123456789Z', '2026-01-31T12:30:15.123456Z'],
    ['2026-01-31T12:30:15+02:00', '2026-01-31T10:30:15.000000Z'],
    ['2026-01-31T12:30:15-0530', '2026-01-31T18:00:15.000000Z'],
    ['2026-01-31T23:30:00-01', '2026-02-01T00:30:00.000000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000000Z'],
    ['1769862615123456', '2026-01-31T12:30:15.123456Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59.999999Z', '9999-12-31T23:59:59.999999Z'],
  ])('%s is %s', (text, canonical) => {
    expect(isoTimestamp(text)).toBe(canonical)
  })

  test.each([
    'yesterday',
    '2026',
    '2026-1-1',
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-01-31T24:00',
    '2026-01-31T12:60',
    '2026-01-31T12:00:60Z',
    '2026-01-31  12:00:00',
    '2026-01-31 ',
    '2026-01-31T12:00:00 02:00',
    '2026-01-31 12:00:00 02:00',
    '2026-01-31T12:00:00+19:00',
    '2026-01-31Z',
    '0000-01-01',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '1769860800',
    '17698608000000000',
    '0769860800000000',
    ' OR 1=1 --',
  ])('%s is none', text => {
    expect(isoTimestamp(text)).toBeNull()
  })

  test('every instant has one canonical form, whatever zone it is written in', () => {
    fc.assert(
      fc.property(
        fc.date({ min: new Date('1000-01-01'), max: new Date('9000-01-01'), noInvalidDate: true }),
        fc.integer({ min: -720, max: 720 }),
        (instant, offset) => {
          const local = new Date(instant.getTime() + offset * 60_000).toISOString().slice(0, 23)
          const hours = String(Math.floor(Math.abs(offset) / 60)).padStart(2, '0')
          const minutes = String(Math.abs(offset) % 60).padStart(2, '0')
          const written = `${local}${offset < 0 ? '-' : '+'}${hours}:${minutes}`
          expect(isoTimestamp(written)).toBe(instant.toISOString().replace('Z', '000Z'))
        },
      ),
    )
  })
})

describe('a relative time', () => {
  const now = new Date('2026-03-01T00:00:00.500Z')

  test.each([
    ['now', '2026-03-01T00:00:00.500000Z'],
    ['-90s', '2026-02-28T23:58:30.500000Z'],
    ['-15m', '2026-02-28T23:45:00.500000Z'],
    ['now-1h', '2026-02-28T23:00:00.500000Z'],
    ['-1d', '2026-02-28T00:00:00.500000Z'],
    ['now-2w', '2026-02-15T00:00:00.500000Z'],
  ])('%s is %s', (text, canonical) => {
    expect(relativeTime(text, now)).toBe(canonical)
  })

  test.each(['', 'now-', '-1', '1h', '+1h', '-1H', '-1y', 'now -1h', '-1.5h', '-999999w', '-1234567s'])(
    '%j is none',
    text => {
      expect(relativeTime(text, now)).toBeNull()
    },
  )
})

test('microseconds and the canonical form stand for each other', () => {
  const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
  fc.assert(fc.property(micros, value => toMicros(fromMicros(value)!) === value))
})
