import { expect, test } from '@jest/globals'
import { timeFormatOf, timeText } from './rows.ts'

const at = (text: string) => Date.parse(text) * 1000
const [morning, evening] = [at('2026-11-21T08:00:00Z'), at('2026-11-21T23:30:00Z')]

test('a list has the day where its range goes over midnight, in the zone that it is shown in', () => {
  const hasDay = (from: number | null, to: number | null, zone: string) =>
    timeFormatOf([], { from, to }, zone, evening).hasDay
  expect(hasDay(morning, evening, 'UTC')).toBe(false)
  expect(hasDay(morning, evening, 'Europe/Berlin')).toBe(true)
  expect(hasDay(at('2026-11-21T00:00:00Z'), at('2026-11-22T00:00:00Z'), 'UTC')).toBe(false) // its end is exclusive
  expect(hasDay(morning, null, 'UTC')).toBe(false)
  expect(hasDay(morning, at('2026-12-01T00:00:00Z'), 'UTC')).toBe(false) // no row is later than now
  expect(hasDay(null, evening, 'UTC')).toBe(true)
})

test('a fraction is shown where it tells two times apart, and no digit more', () => {
  const digits = (...times: number[]) => timeFormatOf(times, { from: null, to: null }, 'UTC', evening).digits
  expect(digits()).toBe(0)
  expect(digits(morning + 2_000_000, morning + 999_999, morning)).toBe(3)
  expect(digits(morning + 1_000_000, morning)).toBe(0)
  expect(digits(morning + 1, morning)).toBe(6)
  expect(digits(morning, morning)).toBe(0) // the same in any case
})

test('a time has what its list shows', () => {
  expect(timeText(morning + 671_250, 'Europe/Berlin', { hasDay: false, digits: 3 })).toBe('09:00:00.671')
  expect(timeText(morning, 'UTC', { hasDay: true, digits: 0 })).toBe('2026-11-21 08:00:00')
})
