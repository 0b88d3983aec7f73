import { describe, expect, test } from '@jest/globals'
import { nearestName } from './hints.ts'

describe('the nearest name', () => {
  const names = ['status_code', 'statusText', 'path', 'id', 'event_message']

  test.each([
    ['statuscode', 'status_code'],
    ['STATUS_CODE', 'status_code'],
    ['satus_code', 'status_code'],
    ['paht', 'path'],
    ['pat', 'path'],
    ['eventmesage', 'event_message'],
    ['ids', 'id'],
    ['nothing', null],
    ['', null],
  ])('to %j is %j', (name, near) => {
    expect(nearestName(name, names)).toBe(near)
  })

  test('is the one with the fewest changes', () => {
    expect(nearestName('timestamp', ['timestamps_x', 'timestamps', 'timestam_'])).toBe('timestamps')
  })

  test('of an endless name is found in no time', () => {
    expect(nearestName('x'.repeat(60_000), ['y'.repeat(60_000)])).toBeNull()
  })
})
