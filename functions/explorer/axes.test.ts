import { expect, test } from '@jest/globals'
import { type Course, geometryOf, missingAt, nextWithValues, ticksOf, timesOf } from './axes.ts'

const day = 86_400_000_000
const at = (number: number) => Date.UTC(2026, 2, number) * 1000
const full = { width: 1000, height: 200, isFull: true }
const open = { from: null, to: null }

/** Days of March with their values. */
function courseOf(values: (number | null)[], more: Partial<Course> = {}): Course {
  const layers = [{ name: 'requests', colour: '1', unit: '', values }]
  return {
    starts: values.map((_, i) => at(i + 1)),
    width: day,
    layers,
    isStacked: false,
    range: open,
    now: 0,
    ...more,
  }
}

const layer = (unit: string, values: number[]) => ({ name: unit, colour: '1', unit, values })

test('a value stands at its height, and a bucket at its width, in all of the range that was asked', () => {
  const geometry = geometryOf(courseOf([0, 50, 100]), full)
  const { left, width, height, y, span } = geometry
  expect([left, left + width, height]).toEqual([52, 1000, 200])
  expect([y(0, ''), y(54, ''), y(108, '')]).toEqual([200, 100, 0].map(place => expect.closeTo(place)))
  expect([span(0), span(2)]).toEqual([
    [52, 52 + width / 3],
    [52 + (2 * width) / 3, 1000],
  ])
  const asked = geometryOf(courseOf([0, 50], { range: { from: at(0), to: at(4) } }), full)
  expect(asked.span(0)).toEqual([52 + width / 4, 52 + width / 2])
})

test('columns of other units have axes of their own, of counts with whole ticks', () => {
  const layers = [layer('', [1, 1]), layer('%', [100.5, 100.5]), layer('ms', [250, 250])]
  const { units, ticks, y, width } = geometryOf(courseOf([1, 1], { layers }), full)
  expect([units, ticks(''), ticks('%'), ticks('ms')]).toEqual([
    ['', '%', 'ms'],
    [0, 1],
    [0, 50, 100],
    [0, 100, 200],
  ])
  expect([y(1, ''), y(100.5, '%'), y(250, 'ms')]).toEqual(
    Array.from({ length: 3 }, () => expect.closeTo(14.8, 1)),
  )
  expect(width).toBe(1000 - 52 - 68 - 68)
})

test('stacked values need the room of their sums, and two round ones are named', () => {
  const layers = [layer('', [3, 1]), layer('', [4, 0])]
  const { y, ticks } = geometryOf(courseOf([], { starts: [at(1), at(2)], layers, isStacked: true }), {
    ...full,
    isFull: false,
  })
  expect([ticks(''), y(7.35, '')]).toEqual([[6, 3], expect.closeTo(0)])
})

test('the period before has its room, too', () => {
  const course = courseOf([1, 2], { ghost: { values: [10, null], unit: '' } })
  expect(geometryOf(course, full).y(10.8, '')).toBeCloseTo(0)
})

test.each([
  [0, 1266, true, [0, 500, 1000]],
  [0, 3, true, [0, 1, 2, 3]],
  [0, 1, true, [0, 1]],
  [-12, 30, false, [-10, 0, 10, 20, 30]],
  [0, 0.4, false, [0, 0.1, 0.2, 0.3, 0.4]],
])('from %d to %d: ticks are round', (low, high, isWhole, ticks) => {
  expect(ticksOf(low, high, isWhole)).toEqual(ticks.map(tick => expect.closeTo(tick)))
})

test('times are round, and say their day where it is another one', () => {
  const textsOf = (course: Course) => timesOf(course, geometryOf(course, full), 'UTC').map(({ text }) => text)
  expect(textsOf(courseOf([1, 2, 3, 4]))).toEqual(['1 Mar', '2 Mar', '3 Mar', '4 Mar'])
  const course = courseOf([1, 2, 3, 4])
  const geometry = geometryOf(course, full)
  const [from, to] = geometry.span(1)
  expect(timesOf(course, geometry, 'UTC')[1]!.x).toBeCloseTo((from + to) / 2) // of the only bucket that it names
  const gap = courseOf([1, 2, 4], { starts: [1, 2, 4].map(at) })
  expect(textsOf(gap)).toEqual(['1 Mar', '2 Mar', '3 Mar', '4 Mar'])
  const narrow = geometryOf(course, { ...full, width: 200 })
  expect(timesOf(course, narrow, 'UTC')[0]!).toEqual({
    x: (narrow.span(1)[0] + narrow.span(1)[1]) / 2,
    text: '2 Mar',
  })
  const hours = courseOf([1, 2, 3], {
    starts: [18, 24, 30].map(hour => at(1) + hour * 3.6e9),
    width: 6 * 3.6e9,
  })
  expect(textsOf(hours)).toEqual(['18:00 1 Mar', '00:00 2 Mar', '06:00'])
})

test('of a zone, times are round on its clocks, also where they change', () => {
  const textsOf = (from: number, hours: number, width: number, zone: string) => {
    const range = { from, to: from + hours * 3.6e9 }
    const course = courseOf([1], { starts: [from], width: 1.8e9, range })
    return timesOf(course, geometryOf(course, { width, height: 80, isFull: false }), zone).map(
      ({ text }) => text,
    )
  }
  const march = (number: number, hour: number) => at(number) + hour * 3.6e9
  expect(textsOf(march(9, 23), 24, 600, 'Europe/Berlin')).toEqual([
    '00:00 10 Mar',
    '06:00',
    '12:00',
    '18:00',
    '00:00 11 Mar',
  ])
  expect(textsOf(march(28, 23), 23, 600, 'Europe/Berlin')).toEqual([
    '00:00 29 Mar',
    '06:00',
    '12:00',
    '18:00',
    '00:00 30 Mar',
  ])
  expect(textsOf(march(2, 3), 4 * 24, 300, 'America/Argentina/Buenos_Aires')).toEqual([
    '2 Mar',
    '3 Mar',
    '4 Mar',
    '5 Mar',
    '6 Mar',
  ])
  expect(textsOf(march(9, 18.5), 24, 600, 'Asia/Kolkata')[0]).toBe('00:00 10 Mar')
  expect(textsOf(march(2, 0), 7 * 24, 200, 'UTC')).toEqual(['4 Mar', '8 Mar'])
})

test('a time whose text would lie over what stands at the end is left out', () => {
  const course = courseOf([1, 2, 3, 4])
  const geometry = geometryOf(course, full)
  const marks = timesOf(course, geometry, 'UTC')
  const last = marks.at(-1)!
  const within = (end: number, share: number) => timesOf(course, geometry, 'UTC', { end, share }).length
  expect([within(last.x + 40, 1), within(last.x + 20, 1), within(last.x + 20, 0.5)]).toEqual([4, 3, 4])
})

test('around a single time there is something to see', () => {
  const { span } = geometryOf(courseOf([1], { width: null }), full)
  expect(span(0)).toEqual([526, 526])
})

test('the nearest point is pointed at, and the keys leave out those without values', () => {
  const course = courseOf([1, null, null, 4])
  const { indexAt, span } = geometryOf(course, full)
  expect([indexAt(0), indexAt(span(2)[0] + 1), indexAt(5000)]).toEqual([0, 2, 3])
  expect([
    nextWithValues(course, -1, 1),
    nextWithValues(course, 0, 1),
    nextWithValues(course, -1, -1),
  ]).toEqual([0, 3, 3])
  expect([nextWithValues(course, 3, 1), nextWithValues(course, 3, -1)]).toEqual([3, 0])
})

test('a bucket that the range cuts is there in part, and one that goes on is not finished', () => {
  const course = courseOf([1, 2, 3], { range: { from: at(1) + 1, to: null }, now: at(3) + 1 })
  expect([0, 1, 2].map(index => missingAt(course, index))).toEqual(['in part', '', 'not finished'])
  expect(missingAt({ ...course, width: null }, 0)).toBe('')
})
