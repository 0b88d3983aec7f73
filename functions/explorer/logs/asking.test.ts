/** Answers that are late, reordered, refused or cut: what is on the screen is of one question, or says that it is not. */
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals'
import type { Endpoint } from '../service.ts'
import { Asking } from './asking.ts'
import { LiveTail } from './live-tail.ts'
import { Entries } from './entries.ts'
import { keyOf } from './rows.ts'
import { shapeOf } from './shape.ts'
import { askedOf } from './state.ts'
import { Store } from './store.ts'

const columns = [
  { name: 'id', type: 'STRING', repeated: false },
  { name: 'timestamp', type: 'TIMESTAMP', repeated: false },
  { name: 'message', type: 'STRING', repeated: false },
]
const endpoint = {
  name: 'app',
  parameters: [],
  redact: false,
  maxRows: 1000,
  cacheSeconds: 60,
} as unknown as Endpoint

interface Asked {
  sql: string
  answer(rows: object[], redacted?: boolean): void
  refuse(status: number, detail: string): void
  /** Its body ends too early. */
  cut(): void
}

/** Requests that the page has sent and that wait for their answers. */
let waiting: Asked[] = []
const fetchBefore = globalThis.fetch

beforeEach(() => {
  waiting = []
  globalThis.fetch = (_, init) =>
    new Promise((resolve, reject) => {
      const { sql } = JSON.parse(init!.body as string) as { sql: string }
      const respond = (body: unknown, status = 200) => resolve(Response.json(body, { status }))
      waiting.push({
        sql,
        answer: (rows, redacted = false) => respond({ result: rows, meta: { truncated: false, redacted } }),
        refuse: (status, detail) => respond({ title: 'Refused', detail }, status),
        cut: () => resolve(new Response('{"result":[{"id":')),
      })
      const end = () => reject(new DOMException('', 'AbortError'))
      if (init!.signal!.aborted) end()
      else init!.signal!.addEventListener('abort', end)
    })
})

afterEach(() => void (globalThis.fetch = fetchBefore))

function open() {
  const shapes = [shapeOf({ name: 'web', columns })!]
  const link = { endpoint: 'app', values: {}, sql: null, view: [['from', 'now-6h']] as [string, string][] }
  const store = new Store({ key: 'k', endpoint, shapes, link, remember() {}, continueInSql() {} }, () =>
    asking.run(),
  )
  const asking = new Asking(store, false)
  asking.run()
  return { store, asking }
}

const rowsOf = (count: number, from = 0) =>
  Array.from({ length: count }, (_, i) => ({ id: `r${from + i}`, timestamp: 9e15 - from - i, message: 'm' }))
const isOfRows = ({ sql }: Asked) => sql.endsWith('LIMIT 100')
/** The last question of rows. */
const ofRows = () => waiting.findLast(isOfRows)!
const settled = () => new Promise(resolve => setTimeout(resolve))

test('rows are old from the moment that something else is asked, also by a text that is not yet run', async () => {
  const { store } = open()
  expect([store.isOld.value, store.isCurrent.value]).toEqual([false, false])
  ofRows().answer(rowsOf(3))
  await settled()
  expect([store.rows.value.length, store.isOld.value, store.isCurrent.value]).toEqual([3, false, true])
  store.written.value = { search: 'x' }
  expect([store.isEdited.value, store.isOld.value, store.isCurrent.value]).toEqual([true, true, false])
  store.written.value = { search: '  ' }
  expect([store.isEdited.value, store.isOld.value]).toEqual([false, false])
  store.change({ search: 'y' })
  expect([store.isOld.value, askedOf(store.found.value!.state) === askedOf(store.state.value)]).toEqual([
    true,
    false,
  ])
  ofRows().answer(rowsOf(1))
  await settled()
  expect([store.rows.value.length, store.isOld.value, store.isCurrent.value]).toEqual([1, false, true])
})

test('an answer that comes after another question was asked is not shown', async () => {
  const { store } = open()
  const first = ofRows()
  store.change({ search: 'y' })
  const second = ofRows()
  second.answer(rowsOf(2))
  await settled()
  first.answer(rowsOf(5))
  await settled()
  expect([store.rows.value.length, store.found.value!.state.search, store.isOld.value]).toEqual([
    2,
    'y',
    false,
  ])
})

test('a refusal takes the rows away and says why; a stop keeps them, and says that they are of the run before', async () => {
  const { store, asking } = open()
  ofRows().answer(rowsOf(2))
  await settled()
  store.change({ search: 'y' })
  asking.stop()
  await settled()
  expect([store.problem.value, store.rows.value.length, store.isOld.value]).toEqual(['stopped', 2, true])
  store.change({ search: 'z' })
  ofRows().refuse(503, 'Later.')
  await settled()
  expect([store.found.value, store.problem.value]).toEqual([
    null,
    expect.objectContaining({ message: 'Later.' }),
  ])
  store.change({ search: '' })
  expect(store.problem.value).toBeNull()
})

test('an answer that is cut is a failure, of the rows, the chart and the patterns', async () => {
  const { store } = open()
  store.change({ list: 'patterns' })
  await settled()
  for (const each of waiting) each.cut()
  await settled()
  const cut = expect.objectContaining({ message: expect.stringMatching(/^It was cut/) })
  expect([store.isRunning.value, store.problem.value]).toEqual([false, cut])
  expect([store.chart.answer.value!.problem, store.patterns.answer.value!.problem]).toEqual([cut, cut])
})

test('an entry that does not come leaves none of another in its place, and can be read again', async () => {
  const { store } = open()
  const entries = new Entries(store)
  ofRows().answer(rowsOf(2))
  await settled()
  const last = () => waiting.findLast(({ sql }) => /'r\d'/.test(sql))!
  store.change({ row: keyOf(rowsOf(2)[0]!, store.shape.value) })
  last().answer(rowsOf(1))
  await settled()
  expect(entries.opened.value!.entry).toMatchObject({ id: 'r0' })
  store.change({ row: keyOf(rowsOf(2)[1]!, store.shape.value) })
  last().refuse(503, 'Later.')
  await settled()
  expect([entries.opened.value, entries.problem.value!.message]).toEqual([null, 'Later.'])
  entries.read()
  entries.stop()
  await settled()
  expect([entries.opened.value, entries.problem.value, entries.isReading.value]).toEqual([null, null, false])
  entries.read()
  last().answer(rowsOf(1, 1))
  await settled()
  expect(entries.opened.value!.entry).toMatchObject({ id: 'r1' })
  entries.end()
})

test('what cannot be asked says why, also where rows were on their way', async () => {
  const { store } = open()
  store.change({ from: 'now', to: 'now-1h' })
  await settled()
  expect([store.isRunning.value, store.problem.value]).toEqual([
    false,
    expect.objectContaining({ message: 'The end is not after the beginning.' }),
  ])
})

test('a press in the legend of an old chart changes what is asked now', () => {
  const { store } = open()
  const filter = (value: string) => ({ path: 'message', operator: '=' as const, value })
  store.filter({ ...filter('x'), operator: '!=' }) // the chart is not there yet
  store.press({ filters: [filter('y')] })
  expect(store.state.value.filters.map(({ value }) => value)).toEqual(['x', 'y'])
})

test('who follows, stops and follows again has one row of looks, and none after a stop', async () => {
  jest.useFakeTimers()
  try {
    const { store, asking } = open()
    const following = new LiveTail(store, asking)
    asking.stop()
    await jest.advanceTimersByTimeAsync(10)
    const asked = waiting.length
    following.start()
    await jest.advanceTimersByTimeAsync(3000)
    expect(waiting.length).toBe(asked + 1)
    following.stop() // while a look is on its way
    following.start()
    await jest.advanceTimersByTimeAsync(0)
    following.stop()
    await jest.advanceTimersByTimeAsync(10_000)
    expect([waiting.length, store.following.value]).toEqual([asked + 1, null])
  } finally {
    jest.useRealTimers()
  }
})

test('older rows are added once, and what fails to come takes nothing away', async () => {
  const { store, asking } = open()
  ofRows().answer(rowsOf(100))
  await settled()
  asking.older()
  asking.older()
  const [older, ...more] = waiting.filter(isOfRows).slice(1)
  expect(more).toEqual([])
  older!.answer(rowsOf(100, 100))
  await settled()
  expect([store.rows.value.length, new Set(store.rows.value.map(({ id }) => id)).size]).toEqual([200, 200])
  asking.older()
  ofRows().refuse(503, 'Later.')
  await settled()
  expect([store.rows.value.length, store.olderProblem.value]).toEqual([
    200,
    'Older rows could not be read: Later.',
  ])
  expect(store.reading.value).toBeNull()
})

test('what is redacted from now on goes at once, with what is on its way', async () => {
  const { store, asking } = open()
  ofRows().answer(rowsOf(2))
  await settled()
  asking.clear()
  expect([store.found.value, store.chart.answer.value, store.rows.value]).toEqual([null, null, []])
})

test('new rows come at the top, and those that leave the range go', async () => {
  const { store, asking } = open()
  ofRows().answer(rowsOf(60, 10))
  await settled()
  const following = new LiveTail(store, asking)
  following.add(rowsOf(10), false)
  expect(store.rows.value.map(({ id }) => id)).toEqual(rowsOf(70).map(({ id }) => id))
  expect(store.found.value!.blocks.map(({ rows, isNew }) => [rows.length, isNew])).toEqual([
    [10, true],
    [50, false],
    [10, false],
  ])
  store.range.value = { from: 9e15 - 29, to: null }
  following.moved()
  expect(store.rows.value.length).toBe(30)
})

test('patterns are asked for where they are listed, with the period before, and are old as soon as anything else is asked', async () => {
  const { store } = open()
  const ofPatterns = () => waiting.filter(({ sql }) => sql.includes('AS example'))
  expect(ofPatterns()).toEqual([])
  store.change({ list: 'patterns' })
  const [first] = ofPatterns()
  const row = { example: 'took 5 ms', entries: 3, earlier: 0, first: 1, last: 2, part_0: 3 }
  first!.answer([{ ...row, all_entries: 4, all_patterns: 2, new_patterns: 1 }])
  await settled()
  expect(store.patterns.answer.value!.data).toMatchObject({
    list: [{ shape: 'took <n> ms', entries: 3, before: 0, trend: [3] }],
    count: 2,
    fresh: 1,
  })
  expect(store.arePatternsOld.value).toBe(false)
  store.written.value = { search: 'x' }
  expect(store.arePatternsOld.value).toBe(true)
  store.change({})
  store.change({ list: 'new' })
  const [second, third] = ofPatterns().slice(1)
  third!.answer([])
  await settled()
  second!.answer([{ ...row, all_entries: 9 }])
  await settled()
  expect(store.patterns.answer.value!.data).toMatchObject({ list: [], count: 0 })
  expect([store.arePatternsOld.value, third!.sql.includes('earlier = 0\n')]).toEqual([false, true])
  store.change({ search: 'z' })
  ofPatterns().at(-1)!.refuse(503, 'Later.')
  await settled()
  expect(store.patterns.answer.value).toMatchObject({ data: null, problem: { message: 'Later.' } })
})
