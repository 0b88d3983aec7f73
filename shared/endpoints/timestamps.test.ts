import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isoTimestamp } from './timestamps.ts'

describe('an ISO 8601 time', () => {
  test.each([
    ['2026-01-31', '2026-01-31T00:00:00.000000Z'],
    ['2026-01-31T12:30', '2026-01-31T12:30:00.000000Z'],
    ['2026-01-31T12:30:15', '2026-01-31T12:30:15.000000Z'],
    ['2026-01-31T12:30:15Z', '2026-01-31T12:30:15.000000Z'],
    ['2026-01-31t12:30:15z', '2026-01-31T12:30:15.000000Z'],
    ['2026-01-31T12:30:15.5Z', '2026-01-31T12:30:15.500000Z'],
    ['2026-01-31T12:30:15,123456Z', '2026-01-31T12:30:15.123456Z'],
    ['2026-01-31T12:30:15.123456789Z', '2026-01-31T12:30:15.123456Z'],
    ['2026-01-31T12:30:15+02:00', '2026-01-31T10:30:15.000000Z'],
    ['2026-01-31T12:30:15-0530', '2026-01-31T18:00:15.000000Z'],
    ['2026-01-31T23:30:00-01', '2026-02-01T00:30:00.000000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000000Z'],
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
    '2026-01-31 12:00:00',
    '2026-01-31T12:00:00 02:00',
    '2026-01-31T12:00:00+19:00',
    '2026-01-31Z',
    '0000-01-01',
    '0001-01-01T00:00:00+01:00',
    '9999-12-31T23:59:59-01:00',
    '1769860800',
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
