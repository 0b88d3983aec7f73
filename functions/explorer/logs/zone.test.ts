import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { isZone, momentAt, offsetAt, offsetText, zoneChoices, zoneText } from './zone.ts'

const at = (text: string) => Date.parse(text) * 1000
const hour = 3.6e9

test('a zone is ahead of UTC by what its clocks are then', () => {
  expect(offsetAt(at('2026-07-01T00:00Z'), 'Europe/Berlin')).toBe(2 * hour)
  expect(offsetAt(at('2026-01-01T00:00Z'), 'Europe/Berlin')).toBe(hour)
  expect(offsetAt(at('2026-01-01T00:00Z'), 'America/St_Johns')).toBe(-3.5 * hour)
  expect(offsetAt(at('2026-01-01T00:00Z'), 'UTC')).toBe(0)
  expect(offsetText(at('2026-01-01T00:00Z'), 'Europe/London')).toBe('+00:00')
  expect(zoneText('Asia/Kathmandu', at('2026-01-01T00:00Z'))).toBe('Asia/Kathmandu +05:45')
})

test('a time on a clock is the moment that shows it: the first of two, and one that is skipped an hour later', () => {
  const berlin = (text: string) => new Date(momentAt(at(`${text}Z`), 'Europe/Berlin') / 1000).toISOString()
  expect(berlin('2026-03-29T01:59')).toBe('2026-03-29T00:59:00.000Z')
  expect(berlin('2026-03-29T02:30')).toBe('2026-03-29T01:30:00.000Z') // shown as 03:30
  expect(berlin('2026-03-29T03:00')).toBe('2026-03-29T01:00:00.000Z')
  expect(berlin('2026-10-25T02:30')).toBe('2026-10-25T00:30:00.000Z')
  expect(berlin('2026-10-25T03:00')).toBe('2026-10-25T02:00:00.000Z')
})

test('any moment of any zone is found by what its clock shows, but for the second one of an hour that comes twice', () => {
  const zones = zoneChoices(0).map(([zone]) => zone)
  expect(zones.length).toBeGreaterThan(300)
  const moments = fc.integer({ min: at('1990-01-01T00:00Z'), max: at('2037-01-01T00:00Z') })
  fc.assert(
    fc.property(moments, fc.constantFrom(...zones), (moment, zone) => {
      const found = momentAt(moment + offsetAt(moment, zone), zone)
      expect(found + offsetAt(found, zone)).toBe(moment + offsetAt(moment, zone))
      expect(found).toBeLessThanOrEqual(moment)
    }),
  )
})

test('a text that names no zone is none', () => {
  expect(['Europe/Berlin', 'UTC', 'local', 'Mars/Olympus', '', 'Berlin'].map(isZone)).toEqual([
    true,
    true,
    true,
    false,
    false,
    false,
  ])
})
