import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { iso } from '../../../shared/answers/times.ts'
import {
  buckets,
  bucketWidth,
  inAddress,
  inBar,
  inService,
  missingOf,
  momentOf,
  rangeBeside,
  rangeOf,
  shown,
  widthText,
  writtenOf,
} from './range.ts'

const now = Date.UTC(2026, 10, 21, 12) * 1000
const micros = fc.integer({ min: 0, max: 4e15 })

describe('times', () => {
  test('a time that is shown can be used as a bound, to the microsecond, in either zone', () => {
    fc.assert(
      fc.property(micros, time => {
        expect(momentOf(shown(time, 'UTC'), now)).toBe(time)
        expect(momentOf(iso(time), now)).toBe(time)
        expect(inAddress(shown(time, 'UTC'), 'UTC')).toBe(iso(time))
      }),
    )
    const time = Date.UTC(2026, 5, 1, 10) * 1000 + 37
    expect(momentOf(shown(time, 'local'), now, 'local')).toBe(time)
  })

  test('relative times count back from now, and stay as written', () => {
    expect(momentOf('now-15m', now)).toBe(now - 9e8)
    expect(momentOf('-1h', now)).toBe(now - 3.6e9)
    expect(momentOf('now', now)).toBe(now)
    expect(inAddress('now-15m', 'local')).toBe('now-15m')
    expect(rangeOf({ from: '', to: 'now' }, now)).toEqual({ from: null, to: now })
    expect(rangeOf({ from: 'someday', to: 'now' }, now)).toMatchObject({ wrong: 'from' })
  })

  test('an end is exclusive, and that of an entry’s time, which has all six digits, keeps the entry', () => {
    const end = (to: string) => rangeOf({ from: '', to }, now)
    expect(end('2026-11-21 12:00')).toEqual({ from: null, to: now })
    expect(end('2026-11-21T12:00:00.000Z')).toEqual({ from: null, to: now })
    expect(end('2026-11-21 12:00:00.000000')).toEqual({ from: null, to: now + 1 })
    fc.assert(
      fc.property(micros, fc.integer({ min: 1, max: 1e14 }), (from, length) => {
        const to = from + length
        expect(rangeOf(writtenOf({ from, to }), now)).toEqual({ from, to })
      }),
      { examples: [[0, 1]] },
    )
    const written = { from: '2026-11-21T12:00:00Z', to: '2026-11-21T12:00:30.500Z' }
    expect(writtenOf({ from: now, to: now + 30_500_000 })).toEqual(written)
    expect(writtenOf({ from: null, to: null })).toEqual({ from: '', to: '' })
  })

  test('an end that is not after the beginning is refused, and so is a day that its month does not have', () => {
    for (const to of ['2026-11-21 11:00', '2026-11-21 10:59', 'now-2h'])
      expect(rangeOf({ from: '2026-11-21 11:00', to }, now)).toMatchObject({ wrong: 'to' })
    for (const day of ['2026-02-31', '2025-02-29', '2026-11-31', '2026-13-01', '2026-00-10'])
      expect(momentOf(`${day} 10:00`, now)).toBeUndefined()
    expect(momentOf('2024-02-29 23:30-02:00', now)).toBe(Date.UTC(2024, 2, 1, 1, 30) * 1000)
  })

  test('a bound is shown with the digits that it was written with', () => {
    for (const text of ['2026-11-21 12:00:00', '2026-11-21 12:00:00.5', '2026-11-21 12:00:00.000000'])
      expect(inBar(inAddress(text, 'local'), 'local')).toBe(text)
    expect(inBar('now-1h', 'UTC')).toBe('now-1h')
  })

  test('a zone in the text is followed', () => {
    expect(momentOf('2026-11-21T13:00:00+01:00', now)).toBe(now)
    expect(momentOf('2026-11-21 12:00', now)).toBe(now)
  })
})

describe('ranges in words', () => {
  const said = (from: string, to: string, at: string, zone = 'Europe/Berlin') => {
    const range = rangeOf({ from, to, zone }, Date.parse(at) * 1000)
    return 'wrong' in range ? range.wrong : [iso(range.from!, 0), iso(range.to!, 0)]
  }
  const hours = (from: string, to: string, at: string) => {
    const [first, last] = said(from, to, at) as [string, string]
    return (Date.parse(last) - Date.parse(first)) / 3_600_000
  }

  test('are whole days, weeks, months of the zone: an end that is rounded is that of its unit', () => {
    const at = '2026-11-23T15:30:00Z' // a Monday
    expect(said('now/d', 'now', at)).toEqual(['2026-11-22T23:00:00Z', '2026-11-23T15:30:00Z'])
    expect(said('now-1d/d', 'now-1d/d', at)).toEqual(['2026-11-21T23:00:00Z', '2026-11-22T23:00:00Z'])
    expect(said('now-1d/d', 'now-1d/d', at, 'UTC')).toEqual(['2026-11-22T00:00:00Z', '2026-11-23T00:00:00Z'])
    expect(said('now/w', 'now', at)).toEqual(['2026-11-22T23:00:00Z', '2026-11-23T15:30:00Z'])
    expect(said('now-1w/w', 'now-1w/w', at)).toEqual(['2026-11-15T23:00:00Z', '2026-11-22T23:00:00Z'])
    expect(said('now-1M/M', 'now-1M/M', at, 'UTC')).toEqual(['2026-10-01T00:00:00Z', '2026-11-01T00:00:00Z'])
    expect(said('now/y', 'now/h', at, 'UTC')).toEqual(['2026-01-01T00:00:00Z', '2026-11-23T16:00:00Z'])
    expect(said('now-1d/d+8h', 'now/d', at, 'UTC')).toEqual(['2026-11-22T08:00:00Z', '2026-11-24T00:00:00Z'])
    expect(said('now-1M', 'now', '2026-03-31T10:00:00Z', 'UTC')).toEqual([
      '2026-02-28T10:00:00Z',
      '2026-03-31T10:00:00Z',
    ])
  })

  test('a day has 23 or 25 hours where the clocks change, whatever the time of the day after', () => {
    for (const time of ['00:10', '01:30', '12:00', '22:50']) {
      expect([time, hours('yesterday', 'yesterday', `2026-03-30T${time}:00+02:00`)]).toEqual([time, 23])
      expect([time, hours('yesterday', 'yesterday', `2026-10-26T${time}:00+01:00`)]).toEqual([time, 25])
      expect([time, hours('today', 'today', `2026-10-25T${time}:00+02:00`)]).toEqual([time, 25])
    }
    expect(hours('last week', 'last week', '2026-10-26T00:10:00+01:00')).toBe(169)
    expect(hours('now-1d', 'now', '2026-10-26T00:10:00+01:00')).toBe(24) // without a rounding
  })

  test('are kept as Grafana writes them, for the service as a time, and another text is refused with what it may be', () => {
    expect(inAddress(' Yesterday ', 'UTC')).toBe('now-1d/d')
    expect(inService('now/d', 'UTC', now)).toBe('2026-11-21T00:00:00Z')
    expect(inService('now-1h', 'UTC', now)).toBe('now-1h')
    expect(inService('now-1d/d', 'UTC', now, true)).toBe('2026-11-21T00:00:00Z')
    expect(inService('now', 'UTC', now, true)).toBe('')
    for (const from of ['now/x', 'now-d', '/d', 'now-1d/', 'constructor'])
      expect(rangeOf({ from, to: '' }, now)).toMatchObject({
        wrong: 'from',
        detail: expect.stringContaining('now-1d/d'),
      })
  })

  test('move by their own length, days by days, and not beyond now', () => {
    const moved = (from: string, to: string, by: 1 | -1) => {
      const range = rangeOf({ from, to }, now)
      return 'wrong' in range ? null : rangeBeside({ from, to }, range, by, now)
    }
    expect(moved('now/d', 'now', -1)).toEqual({ from: 'now-1d/d', to: 'now-1d/d' })
    expect(moved('now-9d/d', 'now-9d/d', -1)).toEqual({ from: 'now-10d/d', to: 'now-10d/d' })
    expect(moved('now-1w/w', 'now-1w/w', 1)).toEqual({ from: 'now/w', to: 'now' })
    expect([moved('now/d', 'now', 1), moved('now-1h', 'now', 1), moved('', '', -1)]).toEqual([
      null,
      null,
      null,
    ])
    const hour = { from: '2026-11-21T11:00:00Z', to: '2026-11-21T12:00:00Z' }
    expect(moved('now-1h', 'now', -1)).toEqual({ from: '2026-11-21T10:00:00Z', to: hour.from })
    expect(moved('2026-11-21T10:00:00Z', '2026-11-21T11:00:00Z', 1)).toEqual(hour)
  })
})

describe('buckets', () => {
  test('cover the range without a gap, and are no more than wanted and one', () => {
    fc.assert(
      fc.property(micros, fc.integer({ min: 1, max: 1e14 }), (from, length) => {
        const to = from + length
        const width = bucketWidth(from, to, 80)
        const all = buckets(from, to, width)
        expect([all[0]! <= from, all.at(-1)! < to, all.at(-1)! + width >= to]).toEqual([true, true, true])
        expect(all.every((at, i) => i === 0 || at - width === all[i - 1])).toBe(true)
        expect(all.length).toBeLessThanOrEqual(82)
      }),
    )
  })

  test('that the range or the present cuts are there in part', () => {
    const missing = (from: number | null, to: number | null) =>
      missingOf(now - 60, now, { from, to }, now + 30)
    expect(missing(null, null)).toBe('')
    expect(missing(now - 60, now)).toBe('')
    expect(missing(now - 59, now)).toBe('in part')
    expect(missing(now - 60, now - 1)).toBe('in part')
    expect(missingOf(now, now + 60, { from: null, to: null }, now + 30)).toBe('not finished')
  })

  test('have widths that a clock has', () => {
    expect(widthText(bucketWidth(0, 3.6e9, 80))).toBe('minute')
    expect(widthText(bucketWidth(0, 8.64e10, 80))).toBe('30 minutes')
    expect(widthText(bucketWidth(0, 7 * 8.64e10, 80))).toBe('3 hours')
  })
})
