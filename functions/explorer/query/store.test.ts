/** Answers that are late, reordered, refused or stopped: what is on the screen is of one question, or says that it is not. */
import { afterEach, beforeEach, expect, test } from '@jest/globals'
import type { Link } from '../address.ts'
import type { Endpoint } from '../service.ts'
import { QueryStore, redactionHeader } from './store.ts'

const endpoint = {
  name: 'app',
  parameters: [
    { name: 'interval', type: 'string', enum: ['hourly', 'daily'], required: true },
    { name: 'iso_timestamp_start', type: 'string', format: 'iso-timestamp', required: false },
    { name: 'iso_timestamp_end', type: 'string', format: 'iso-timestamp', required: false },
  ],
  sandbox: true,
  redact: false,
  maxRows: 1000,
  limit: null,
} as unknown as Endpoint

interface Asked {
  url: string
  body: string | undefined
  answer(...rows: object[]): void
  refuse(problem: object): void
}

/** Requests that the page has sent and that wait for their answers. */
let waiting: Asked[] = []
/** Addresses that were remembered; a step begins with `+`. */
let visited: string[] = []
const fetchBefore = globalThis.fetch

beforeEach(() => {
  ;[waiting, visited] = [[], []]
  globalThis.fetch = (url, init) =>
    new Promise((resolve, reject) => {
      const respond = (body: unknown, status: number) => resolve(Response.json(body, { status }))
      waiting.push({
        url: url as string,
        body: init!.body as string | undefined,
        answer: (...rows) => respond({ result: rows, meta: { truncated: false, redacted: false } }, 200),
        refuse: problem => respond({ title: 'Refused', detail: 'Refused.', ...problem }, 400),
      })
      init!.signal!.addEventListener('abort', () => reject(new DOMException('', 'AbortError')))
    })
})

afterEach(() => void (globalThis.fetch = fetchBefore))

const settled = () => new Promise(resolve => setTimeout(resolve))

function open(link: Partial<Link> = {}, hasRun = false): QueryStore {
  return new QueryStore({
    key: 'k',
    endpoint,
    link: { endpoint: 'app', values: {}, sql: null, view: [], ...link },
    remember: ({ values, sql }, step) =>
      visited.push(`${step ? '+' : ''}${new URLSearchParams(values).toString()}${sql ? ` ${sql}` : ''}`),
    hasView: true,
    hasRun,
  })
}

/** The rows on the screen, the status, and whether they are old. */
function screenOf({ outcome, status, isOld }: QueryStore) {
  const found = outcome.value
  return [found && 'answer' in found ? found.answer.rows : null, status.value, isOld.value]
}

test('an answer is old from the moment that something else is asked, and no longer when it is taken back', async () => {
  const store = open()
  expect(screenOf(store)).toEqual([null, 'Running …', false])
  waiting[0]!.answer({ n: 1 })
  await settled()
  expect(screenOf(store)).toEqual([[{ n: 1 }], '1 row.', false])
  store.write('interval', 'daily')
  expect(screenOf(store)).toEqual([[{ n: 1 }], 'Not yet run.', true])
  store.write('interval', 'hourly')
  expect(screenOf(store)).toEqual([[{ n: 1 }], '1 row.', false])
  store.isOwn.value = true
  expect(screenOf(store)[1]).toBe('Not yet run.')
})

test('of two runs the last one is shown, whichever answers first, with its own link', async () => {
  const store = open()
  store.write('interval', 'daily')
  void store.run()
  waiting[1]!.answer({ n: 2 })
  await settled()
  waiting[0]!.answer({ n: 1 })
  await settled()
  expect(screenOf(store)).toEqual([[{ n: 2 }], '1 row.', false])
  store.write('interval', 'hourly')
  expect(store.outcome.value!.link).toBe('#app?interval=daily&.view=query')
  expect(store.outcome.value!.query.values['interval']).toBe('daily')
  expect(visited).toEqual([
    'interval=hourly&iso_timestamp_start=&iso_timestamp_end=',
    '+interval=daily&iso_timestamp_start=&iso_timestamp_end=',
  ])
})

test('an answer that has come but is not yet read when the next run begins is not shown', async () => {
  const store = open()
  waiting[0]!.answer({ n: 1 })
  void store.run()
  await settled()
  expect(screenOf(store)).toEqual([null, 'Running …', false])
})

test('rows that come after the form was changed are not what it asks', async () => {
  const store = open()
  store.write('iso_timestamp_end', '2026-03-09')
  waiting[0]!.answer({ n: 1 })
  await settled()
  expect([...screenOf(store), store.isFolded.value]).toEqual([[{ n: 1 }], 'Not yet run.', true, false])
})

test('a run that is stopped leaves the rows before it, as old ones', async () => {
  const store = open()
  waiting[0]!.answer({ n: 1 }, { n: 2 })
  await settled()
  void store.run()
  expect(screenOf(store)).toEqual([[{ n: 1 }, { n: 2 }], 'Running …', true])
  store.stop()
  await settled()
  expect(screenOf(store)).toEqual([[{ n: 1 }, { n: 2 }], 'Stopped.', true])
  void store.run()
  waiting[2]!.answer({ n: 3 })
  await settled()
  expect(screenOf(store)).toEqual([[{ n: 3 }], '1 row.', false])
})

test('what may show too much goes before the answer without it comes', async () => {
  const store = open()
  waiting[0]!.answer({ ip: '203.0.113.7' })
  await settled()
  store.setRedact(true)
  expect(screenOf(store)).toEqual([null, 'Running …', false])
  waiting[1]!.refuse({ errors: [{ header: 'SVC-ENDPOINT-REDACT-PII', detail: 'not yours' }] })
  await settled()
  expect(store.problemOf(redactionHeader)).toBe('not yours')
})

test('a problem stands beside its field as long as its value does, others and those of the SQL apart', async () => {
  const store = open({ values: { iso_timestamp_start: 'yesterday' }, sql: 'SELECT x' }, true)
  const ofField = { parameter: 'iso_timestamp_start', detail: 'must be a time' }
  const ofText = { line: 1, column: 8, detail: 'x is no column' }
  waiting[0]!.refuse({ errors: [ofField, ofText] })
  await settled()
  expect([store.problemOf('iso_timestamp_start'), store.firstWrong.value]).toEqual([
    'must be a time',
    'iso_timestamp_start',
  ])
  expect([store.otherProblems.value, store.sqlProblems.value]).toEqual([[ofText], [ofText]])
  store.text.value = 'SELECT y'
  expect(store.sqlProblems.value).toEqual([])
  store.write('iso_timestamp_start', '-1d')
  expect(store.problemOf('iso_timestamp_start')).toBe('')
})

test('that the service cannot be reached is an outcome, too', async () => {
  globalThis.fetch = () => Promise.reject(new TypeError('no'))
  const store = open()
  await settled()
  const found = store.outcome.value!
  expect('error' in found && found.error.problem.title).toBe('The service could not be reached')
  expect([store.isRunning.value, store.status.value]).toEqual([false, ''])
})

test('a link with SQL waits to be run, and runs where it has run', () => {
  const store = open({ sql: 'SELECT 1' })
  expect([waiting.length, store.isIdle.value, store.isOwn.value]).toEqual([0, true, true])
  void store.run()
  expect(JSON.parse(waiting[0]!.body!)).toEqual({ sql: 'SELECT 1' })
  open({ sql: 'SELECT 1' }, true)
  expect(waiting).toHaveLength(2)
})

test('a value that its parameter does not take is said; one that is not declared is sent, as the service says so', () => {
  const store = open({ values: { interval: 'yearly', colour: 'red' } })
  expect([store.problemOf('interval'), store.missing.map(({ name }) => name), waiting.length]).toEqual([
    'there is no interval yearly',
    ['interval'],
    0,
  ])
  store.write('interval', 'daily')
  expect(store.problemOf('interval')).toBe('')
  void store.run()
  expect(waiting[0]!.url).toBe('api/endpoints/query/app?interval=daily&colour=red')
})

test('a quick range takes the place of both bounds', () => {
  const store = open({ values: { iso_timestamp_end: '2026-03-09' } })
  store.runFrom('-1d')
  expect(visited.at(-1)).toBe('+interval=hourly&iso_timestamp_start=-1d&iso_timestamp_end=')
})
