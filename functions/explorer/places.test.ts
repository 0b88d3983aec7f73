/** What one takes along from an endpoint or view to the next. */
import { expect, test } from '@jest/globals'
import type { Link } from './address.ts'
import { linkTo, Places } from './places.ts'
import type { Endpoint, Opening } from './service.ts'

const endpointOf = (name: string, ...parameters: string[]) =>
  ({
    name,
    parameters: parameters.map(each => ({
      name: each,
      ...(/start|end/.test(each) ? { format: 'iso-timestamp' } : {}),
    })),
  }) as unknown as Endpoint

const logs = endpointOf('logs', 'project', 'iso_timestamp_start')
const at = (endpoint: string, view: Link['view'] = []): Link => ({ endpoint, values: {}, sql: null, view })
const plain = { values: {}, before: undefined, fresh: [] }

test('parameters that both have, and the zone; of redaction that it is on', () => {
  const now = at('usage', [
    ['zone', 'local'],
    ['redact', 'false'],
    ['table', 'x'],
  ])
  const values = { project: 'p', interval: 'daily', iso_timestamp_start: '' }
  expect(linkTo(logs, { ...plain, now, values })).toEqual({
    ...at('logs', [['zone', 'local']]),
    values: { project: 'p' },
  })
  const redacted = at('usage', [['redact', 'true']])
  expect(linkTo(logs, { ...plain, now: redacted }).view).toEqual([['redact', 'true']])
})

test('another view of the same endpoint shows as much or as little', () => {
  const now = at('logs', [['redact', 'false']])
  expect(linkTo(logs, { ...plain, now, fresh: [['view', 'query']] }).view).toEqual([
    ['view', 'query'],
    ['redact', 'false'],
  ])
})

test('a view is as it was left, at the time that was chosen since', () => {
  const left = {
    ...at('logs', [
      ['from', 'now-7d'],
      ['search', 'x'],
      ['redact', 'true'],
    ]),
    sql: 'SELECT 1',
  }
  const before = { link: left, values: { iso_timestamp_start: '-7d' } }
  const back = (start: string) =>
    linkTo(logs, { ...plain, before, now: at('usage'), values: { iso_timestamp_start: start } })
  expect([back('now-7d').view, back('now-7d').sql]).toEqual([
    [
      ['from', 'now-7d'],
      ['search', 'x'],
    ],
    'SELECT 1',
  ])
  expect(back('-1h')).toMatchObject({ view: [['search', 'x']], values: { iso_timestamp_start: '-1h' } })
})

test('a range goes along whole: with its end, and without the one of before where it goes on until now', () => {
  const counts = endpointOf('counts', 'iso_timestamp_start', 'iso_timestamp_end')
  const day = { iso_timestamp_start: '2026-11-21T23:00:00Z', iso_timestamp_end: '2026-11-22T23:00:00Z' }
  expect(linkTo(counts, { ...plain, now: at('logs'), values: day }).values).toEqual(day)
  const before = { link: { ...at('counts', [['from', 'x']]), values: day }, values: day }
  const untilNow = { iso_timestamp_start: '2026-11-21T23:00:00Z', iso_timestamp_end: '' }
  const { view, values } = linkTo(counts, { ...plain, before, now: at('logs'), values: untilNow })
  expect([view, values]).toEqual([[], { iso_timestamp_start: '2026-11-21T23:00:00Z' }])
})

test('while the next endpoint is still being read, its address stays, and the view that is left is noted as it was', async () => {
  const before = { location: globalThis.location, history: globalThis.history, document: globalThis.document }
  const at = { hash: '' }
  const go = (_: unknown, __: string, hash: string) => void (at.hash = hash)
  Object.assign(globalThis, { location: at, history: { pushState: go, replaceState: go }, document: {} })
  try {
    const openings: Opening[] = []
    const waiting: (() => void)[] = []
    const open = (opening: Opening) => {
      openings.push(opening)
      return { body: null, values: () => ({}), close() {} }
    }
    const places = new Places({
      key: 'k',
      endpoints: [logs, endpointOf('usage'), endpointOf('counts')],
      firstOf: () => new Promise(found => waiting.push(() => found({ name: 'Logs', open }))),
      openForm: open,
      alerts: async () => ({ name: 'Alerts', open }),
    })
    const arrive = async () => {
      waiting.splice(0).forEach(found => found())
      await new Promise(resolve => setTimeout(resolve))
    }
    at.hash = '#logs?.severity=error'
    void places.visit()
    await arrive()
    places.choose('usage')
    const [asked] = openings
    asked!.remember(asked!.link, false) // rows that are late
    expect([at.hash, places.isLeaving.value]).toEqual(['#usage', true])
    places.choose('counts')
    await arrive()
    expect([at.hash, places.isLeaving.value, places.open.value?.endpoint.name]).toEqual([
      '#counts',
      false,
      'counts',
    ])
    places.choose('logs')
    expect(at.hash).toBe('#logs?.severity=error')
  } finally {
    Object.assign(globalThis, before)
  }
})
