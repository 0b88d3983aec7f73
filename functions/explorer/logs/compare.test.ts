import { expect, test } from '@jest/globals'
import { byRise, differenceText, periodsOf, riseText, shareText } from './compare.ts'

test('the period before is as long, right before, or the same time of another day', () => {
  const range = { from: 9e11, to: 9.5e11 }
  expect(periodsOf(range, 'before', 0)!.before).toEqual({ from: 8.5e11, to: 9e11 })
  expect(periodsOf(range, 'day', 0)!.before).toEqual({ from: 9e11 - 8.64e10, to: 9.5e11 - 8.64e10 })
  expect(periodsOf({ from: 9e11, to: null }, 'week', 9.2e11)!.before.to).toBe(9.2e11 - 6.048e11)
  expect(periodsOf({ from: null, to: 9e11 }, 'before', 0)).toBeNull()
})

test.each([
  [141, 100, '+41 %'],
  [97, 100, '-3 %'],
  [0, 100, '-100 %'],
  [100, 100, '0 %'],
  [1200, 100, '12 times'],
  [5, 0, 'new'],
  [0, 0, ''],
  [5, null, ''],
])('%d after %s is %s', (now, before, text) => {
  expect(differenceText(now, before)).toBe(text)
})

test('shares differ by points', () => {
  expect([differenceText(14.1, 10, '%'), differenceText(0, 2.5, '%'), differenceText(5, null, '%')]).toEqual([
    '+4.1 points',
    '-2.5 points',
    '',
  ])
})

test('what rose by the most rows comes first, what fell behind it, and what cannot be compared last', () => {
  const compared = [
    { name: 'unknown', entries: 900 },
    { name: 'fell', entries: 100, before: 300 },
    { name: 'doubled', entries: 2, before: 1 },
    { name: 'redacted', entries: 5, before: undefined },
    { name: 'new', entries: 70, before: 0 },
    { name: 'rose', entries: 500, before: 400 },
    { name: 'same', entries: 9, before: 9 },
  ]
  expect(byRise(compared).map(({ name }) => name)).toEqual([
    'rose',
    'new',
    'doubled',
    'same',
    'fell',
    'unknown',
    'redacted',
  ])
})

test('beside what is ranked by its rise stands the rise', () => {
  expect([riseText(500, 400), riseText(70, 0), riseText(100, 300), riseText(9, null)]).toEqual([
    '+100 (+25 %)',
    '+70 (new)',
    '-200 (-67 %)',
    '',
  ])
  expect([riseText(12.5, 10, 'ms'), riseText(14.1, 10, '%')]).toEqual(['+2.5 ms (+25 %)', '+4.1 points'])
})

test.each([
  [1, 3, '33.3 %'],
  [1, 5000, '<0.1 %'],
  [4999, 5000, '100 %'],
  [0, 0, '0.0 %'],
])('%d of %d is %s', (part, all, text) => {
  expect(shareText(part, all)).toBe(text)
})
