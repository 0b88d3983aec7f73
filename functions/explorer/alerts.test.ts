/** What the page says of alerts, and what it makes of what is chosen for a new one. */
import { describe, expect, test } from '@jest/globals'
import type { AlertStatus } from '../../shared/alerts/list.ts'
import {
  alertOf,
  Alerts,
  type Chosen,
  conditionText,
  distance,
  firstChoice,
  nextOf,
  rowsOf,
  rowsWatched,
  stateOf,
  summaryOf,
  type Watched,
} from './alerts.ts'
import type { Endpoint, Opening } from './service.ts'

const at = Date.parse('2026-03-10T12:30:00Z')
const parameters = ['since', 'until'].map(name => ({ name, format: 'iso-timestamp' }))
const endpoint = { name: 'busy', parameters, redact: false } as unknown as Endpoint
const watched: Watched = {
  ...rowsWatched(endpoint, { project: 'p', empty: '' }, null),
  title: 'Entries',
  value: 'entries',
}
const chosen: Chosen = { ...firstChoice, title: 'Entries', name: ' busy ' }

test('what was told and is over is calm, and what was never evaluated is new', () => {
  const states: AlertStatus['state'][] = [null, 'ok', 'resolved', 'pending', 'firing', 'no data', 'failing']
  expect(states.map(state => stateOf({ state }))).toEqual([
    'new',
    'calm',
    'calm',
    'pending',
    'firing',
    'no data',
    'failing',
  ])
  const all = ['firing', 'ok', 'resolved', null].map(state => ({ state }) as AlertStatus)
  expect(summaryOf(all)).toBe('4 alerts: 1 firing, 2 calm, 1 not evaluated yet')
  expect(summaryOf(all.slice(0, 1))).toBe('1 alert: 1 firing')
})

test.each([
  ['2026-03-10T12:29:30Z', '30 s'],
  ['2026-03-10T12:20:00Z', '10 min'],
  ['2026-03-10T15:30:00Z', '3 h'],
  ['2026-03-08T00:00:00Z', '3 days'],
])('%s is %s away', (time, words) => {
  expect(distance(time, at)).toBe(words)
})

test.each([
  [{ value: 'entries', above: 600 }, 'entries more than 600'],
  [{ value: 'rows', below: 1 }, 'rows less than 1'],
  [{ value: 'failed', of: 'calls', above: 0.1 }, 'failed / calls more than 0.1'],
  [{ value: 'entries', above: 2, beforeMs: 86_400_000 }, 'entries more than 2 times 24 h before'],
])('a condition is said in words: %j', (condition, words) => {
  expect(conditionText(condition)).toBe(words)
})

test('what is due is evaluated with the next call, and all else at its time', () => {
  expect(nextOf({ nextAt: null }, at)).toBe('with the next call of the warm function')
  expect(nextOf({ nextAt: '2026-03-10T12:29:59Z' }, at)).toBe('with the next call of the warm function')
  expect(nextOf({ nextAt: '2026-03-10T12:31:00Z' }, at)).toBe('in 60 s')
})

test('rows are shown by the parameters of the alert, where redaction has left them', () => {
  const parameters = { project: 'p', since: '-15m' }
  expect(rowsOf({ endpoint: 'e', parameters })).toEqual({
    endpoint: 'e',
    values: parameters,
    sql: null,
    view: [],
  })
  expect(rowsOf({ endpoint: 'e', parameters: { mail: 'x REDACTED' } })).toBeNull()
})

test('those of all endpoints are asked for in one call, and what comes too late of the others is not shown', async () => {
  const before = { fetch: globalThis.fetch, document: globalThis.document }
  const document = { visibilityState: 'visible', addEventListener() {} }
  const waiting: [path: string, answer: (response: Response) => void][] = []
  const fetch = (path: string) => new Promise<Response>(answer => waiting.push([path, answer]))
  Object.assign(globalThis, { fetch, document })
  const settled = () => new Promise(resolve => setTimeout(resolve))
  const opening = { key: 'k', endpoint, link: {}, remember() {} } as unknown as Opening
  const alerts = new Alerts(opening)
  try {
    alerts.show(true)
    expect(waiting.map(([path]) => path)).toEqual(['api/endpoints/busy/alerts', 'api/alerts'])
    const states = (...names: string[]) =>
      Response.json({ result: names.map(alert => ({ alert, state: 'ok' })) })
    waiting[1]![1](states('a', 'b'))
    await settled()
    waiting[0]![1](states('a'))
    await settled()
    expect(alerts.all.value?.map(({ alert }) => alert)).toEqual(['a', 'b'])
    alerts.show(false)
    expect(alerts.all.value).toBeNull()
  } finally {
    alerts.close()
    Object.assign(globalThis, before)
  }
})

describe('an alert', () => {
  test('has the window and the values of what it looks at, and a text where none is written', () => {
    expect(alertOf(watched, chosen)).toEqual({
      name: 'busy',
      parameters: { project: 'p', since: '-15m', until: 'now' },
      condition: { value: 'entries', above: 0 },
      every: 'PT5M',
      severity: 'warning',
      text: 'Entries: {{ value }}',
      channels: [],
    })
    const other = alertOf({ ...watched, window: {} }, { ...chosen, for: 'PT5M', text: 'Oh' })
    expect(other).toMatchObject({ parameters: { project: 'p' }, for: 'PT5M', text: 'Oh' })
  })

  test.each<[Partial<Watched>, Partial<Chosen>, object]>([
    [{}, { side: 'below', bound: '2.5' }, { below: 2.5 }],
    [{}, { side: 'none', bound: 'x', before: 'PT1H' }, { below: 1 }],
    [{}, { bound: '' }, { above: Number.NaN }],
    [{}, { before: 'P1D', bound: '2' }, { before: 'P1D', above: 2 }],
    [{ of: 'all' }, { bound: '7' }, { of: 'all', above: 0.07 }],
    [{ of: 'all' }, { bound: '2', before: 'P7D' }, { of: 'all', before: 'P7D', above: 2 }],
    [{}, { of: 'all', bound: '7' }, { of: 'all', above: 0.07 }],
  ])('%j with %j has the condition %j', (of, choice, condition) => {
    expect(alertOf({ ...watched, ...of }, { ...chosen, ...choice }).condition).toEqual({
      value: 'entries',
      ...condition,
    })
  })
})
