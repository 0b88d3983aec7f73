import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Alert, Endpoint } from '../endpoints/definition.ts'
import type { Row } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import type { Store } from '../stores/store.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { Budget } from '../warm/turn.ts'
import { DeliveryError } from './channels.ts'
import { alertsCollection, recordIn, silence } from './record.ts'
import { listAlerts } from './list.ts'
import { type AlertServices, runAlerts } from './run.ts'

const minuteMs = 60_000
const alert: Alert = {
  name: 'a',
  sets: [{ project: 'x' }, { project: 'y' }],
  condition: { value: 'rows', above: 0 },
  everyMs: minuteMs,
  forMs: 0,
  repeatMs: null,
  severity: 'info',
  text: '{{ rows }}',
  channels: ['ops'],
  redact: true,
}
const endpoint = { id: 'e', name: 'e', cacheSeconds: 0, warm: null, alerts: [alert] } as unknown as Endpoint

let clock = 0
let store: Store
let asked: string[]
let got: string[]
let logged: string[]
let applied: string

beforeEach(() => {
  clock = Date.parse('2026-01-31T12:00:00Z')
  store = openSqlite({ file: ':memory:', now: () => clock })
  ;[asked, got, logged, applied] = [[], [], [], 'first']
})
afterEach(() => store.close())

async function run(changes: Partial<AlertServices> = {}, budget = new Budget({ ms: 60_000, bytes: 1e12 })) {
  const services: AlertServices = {
    store,
    log: (severity, message) => void logged.push(`${severity} ${message}`),
    deliver: async (channel, { parameters }) => void got.push(`${channel} ${parameters['project']}`),
    appliedChannels: async () => applied,
    async ask({ set }): Promise<Row[]> {
      asked.push(String(set['project']))
      return [{}]
    },
    prepare: async () => {},
    ...changes,
  }
  return runAlerts(services, endpoint, budget)
}

const later = (ms = minuteMs) => void (clock += ms)

describe('a call for the alerts of an endpoint', () => {
  test('asks for each set when it is due, and not before', async () => {
    expect((await run()).counts).toEqual({ evaluated: 2, firing: 2, sent: 2 })
    later(40_000)
    expect((await run()).counts).toEqual({})
    later(20_000)
    expect((await run()).counts).toEqual({ evaluated: 2 })
    expect(asked).toEqual(['x', 'y', 'x', 'y'])
    expect(got.toSorted()).toEqual(['ops x', 'ops y'])
  })

  test('asks for each set by itself, where what should answer many together fails', async () => {
    expect((await run({ prepare: () => Promise.reject(new Error('a bug')) })).counts['evaluated']).toBe(2)
    expect(logged).toContain('WARNING the batch failed')
  })

  test('leaves what it cannot know now to the next call', async () => {
    expect((await run({ ask: async () => null })).counts).toEqual({ not_now: 2 })
    const spent = () => Promise.reject(new ApiError('budget_exhausted', 'of the call'))
    expect((await run({ ask: spent })).counts).toEqual({ not_now: 2 })
    const budget = new Budget({ ms: 60_000, bytes: 1 })
    budget.spend(1)
    expect((await run({ ask: spent }, budget)).counts).toEqual({ out_of_bytes: 2 })
    expect((await run()).counts).toMatchObject({ evaluated: 2, sent: 2 })
  })

  test('sends what is left, though no alert is due, once the channel may be tried again', async () => {
    const down = () => Promise.reject(new DeliveryError('down', 0))
    expect((await run({ deliver: down })).counts).toEqual({ evaluated: 2, firing: 2, unsent: 2 })
    later(20_000)
    expect((await run()).counts).toEqual({ sent: 1, unsent: 1 })
    later(20_000)
    expect((await run()).counts).toEqual({ sent: 1 })
    later(5_000)
    expect((await run()).counts).toEqual({})
    expect(asked).toHaveLength(2)
  })

  test('tries a channel that fails once in a call, and waits as long as it says', async () => {
    let tries = 0
    const down = () => Promise.reject(new DeliveryError(`try ${++tries}`, 600_000))
    const many = { ...alert, sets: Array.from({ length: 50 }, (_, n) => ({ project: String(n) })) }
    endpoint.alerts = [many]
    await run({ deliver: down })
    expect(tries).toBeLessThanOrEqual(16)
    const before = tries
    later()
    await run({ deliver: down })
    expect(tries - before).toBeLessThanOrEqual(16)
    endpoint.alerts = [alert]
  })

  test('is one at a time', async () => {
    const both = await Promise.all([run(), run()])
    const counts = both
      .map(({ counts }) => counts)
      .toSorted((a, b) => Object.keys(a).length - Object.keys(b).length)
    expect(counts).toEqual([{ another_call: 1 }, { evaluated: 2, firing: 2, sent: 2 }])
  })

  test('writes nothing where nothing has changed', async () => {
    await run({ ask: async () => [] })
    const versions = async () =>
      (await store.query({ collection: alertsCollection, limit: 10 })).documents.map(({ version }) => version)
    const before = await versions()
    later()
    expect((await run({ ask: async () => [] })).counts).toEqual({ evaluated: 2 })
    expect(await versions()).toEqual(before)
    later(20 * 86_400_000)
    await run({ ask: async () => [] })
    expect(await versions()).not.toEqual(before)
  })

  test('leaves what a later version has stored as it is', async () => {
    await run()
    const { id } = (await store.query({ collection: alertsCollection, limit: 1 })).documents[0]!
    await store.update({ collection: alertsCollection, id }, { set: { format: 99 } })
    later()
    expect((await run()).counts).toEqual({ evaluated: 1, failed: 1 })
    expect((await store.get({ collection: alertsCollection, id })).document!.fields['format']).toBe(99)
    expect(logged).toContain('WARNING an alert could not be looked at')
  })
})

describe('a channel that takes nothing for a day', () => {
  const hourMs = 60 * minuteMs
  const one: Alert = { ...alert, sets: [{ project: 'x' }], channels: ['gone', 'well'], everyMs: hourMs }
  let rows: Row[]
  let tried: string[]
  beforeEach(() => {
    endpoint.alerts = [one]
    ;[rows, tried] = [[{}], []]
  })
  afterEach(() => void (endpoint.alerts = [alert]))

  const refusing: Partial<AlertServices> = {
    ask: async () => rows,
    async deliver(channel, { state }) {
      tried.push(`${channel} ${state}`)
      if (channel === 'gone') throw new DeliveryError('the receiver answers 404')
    },
  }
  const taking: Partial<AlertServices> = {
    ...refusing,
    deliver: async (channel, { state }) => void got.push(`${channel} ${state}`),
  }
  const hours = async (count: number) => {
    for (; count > 0; count--) {
      later(hourMs)
      await run(refusing)
    }
  }
  const status = async () => (await listAlerts(store, [endpoint]))[0]!
  const gone = { channel: 'gone', since: '2026-01-31T12:00:00.000Z' }

  test('is tried until then, shown, and given up with an ERROR; the others are told all the same', async () => {
    await run(refusing)
    expect((await status()).undelivered).toEqual([{ ...gone, givenUp: false }])
    await hours(23)
    expect(logged).not.toContain('ERROR an alert was not delivered')
    expect(tried.filter(one => one === 'gone firing').length).toBeGreaterThan(20)
    await hours(1)
    expect(logged.filter(one => one.startsWith('ERROR'))).toEqual(['ERROR an alert was not delivered'])
    expect((await status()).undelivered).toEqual([{ ...gone, givenUp: true }])
    tried = []
    for (let round = 0; round < 50; round++) {
      rows = rows.length === 0 ? [{}] : []
      await hours(1)
    }
    expect(tried.filter(one => one.startsWith('well'))).toHaveLength(50)
    expect(tried.filter(one => one.startsWith('gone'))).toHaveLength(50)
    const { documents } = await store.query({ collection: alertsCollection, limit: 10 })
    expect(documents.flatMap(({ fields }) => recordIn(fields).outbox)).toHaveLength(20)
  })

  test('gets it all in order once channels are applied again', async () => {
    await run(refusing)
    await hours(25)
    rows = []
    await hours(1)
    await run(taking)
    expect(got).toEqual([])
    applied = 'second'
    await run(taking)
    expect(got).toEqual(['gone firing', 'gone resolved'])
    expect((await status()).undelivered).toEqual([])
  })

  test('gets what is new where it comes back by itself, and nothing from before that', async () => {
    await run(refusing)
    await hours(25)
    rows = []
    later(hourMs)
    await run(taking)
    expect(got).toEqual(['gone resolved', 'well resolved'])
    expect((await status()).undelivered).toEqual([])
    applied = 'second'
    await run(taking)
    expect(got).toHaveLength(2)
  })

  test('is tried at once with other channels, though it is not given up yet', async () => {
    await run(refusing)
    await hours(3)
    later(minuteMs)
    await run(taking)
    expect(got).toEqual([])
    applied = 'second'
    await run(taking)
    expect(got).toEqual(['gone firing'])
  })
})

describeStores('alerts', adapter => {
  test('are evaluated once by two calls at once, told, silenced, listed, and due again by the times of the store', async () => {
    const opened = await adapter.open()
    try {
      const both = await Promise.all([run({ store: opened }), run({ store: opened })])
      const total = both.map(({ counts }) => counts['evaluated'] ?? 0)
      expect(Math.max(...total) + Math.min(...total)).toBe(2)
      expect(got.toSorted()).toEqual(['ops x', 'ops y'])
      expect((await run({ store: opened })).counts).toEqual({})
      await silence(opened, endpoint, alert, 3_600_000)
      expect(await listAlerts(opened, [endpoint])).toMatchObject(
        ['x', 'y'].map(project => ({
          parameters: { project },
          state: 'firing',
          silencedUntil: expect.any(String),
        })),
      )
      const at = { collection: 'warming', id: 'e.alerts' }
      await opened.update(at, { set: { alerts: { 'a.b': { at: 0, isUnsent: false } } } })
      expect((await run({ store: opened, ask: async () => [] })).counts).toEqual({ evaluated: 2 })
      await silence(opened, endpoint, alert, 0)
      await opened.update(at, { set: { alerts: {} } })
      expect((await run({ store: opened, ask: async () => [] })).counts).toEqual({
        evaluated: 2,
        resolved: 2,
        sent: 2,
      })
    } finally {
      await opened.close()
    }
  })
})
