/** The batch of the shipped chart on many rows, with random sets: it must answer as the endpoint’s own query does. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { type Endpoint, parameterColumns } from '../../shared/endpoints/definition.ts'
import { bindingsFrom } from '../../shared/endpoints/parameters.ts'
import { finish } from '../../shared/answers/answer.ts'
import { runQuery } from '../../shared/run/run-query.ts'
import { Budget } from '../../shared/warm/turn.ts'
import { bodyOf, use } from '../../shared/warm/testing/fixture.ts'
import { warm } from '../../shared/warm/warm.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'
import { rounds } from '../../shared/testing/rounds.ts'

const rowCount = rounds(2_000, 20_000)
const setCount = rounds(6, 15)
const now = '2026-03-10T12:30:30.000Z'
const paths = [
  '/rest/v1/a',
  '/storage/v1/object',
  '/auth/v1/token',
  '/realtime/v1',
  '/functions/v1/rest',
  '/',
]
const refs = ['abcdefgh', 'ABCDEFGH', 'abcd.fgh', 'zyxwvuts', 'abcdefghabcdefgh']

/** Half of them within the last hour, where the short windows look. */
const row = fc
  .record({
    ref: fc.constantFrom(...refs),
    path: fc.constantFrom(...paths),
    page: fc.integer({ min: 0, max: 300 }),
    ago: fc.oneof(fc.integer({ min: 0, max: 4_000_000 }), fc.integer({ min: 0, max: 8 * 86_400_000 })),
  })
  .map(({ ref, path, page, ago }) => {
    const timestamp = new Date(Date.parse(now) - ago).toISOString()
    return edgeRow('r', timestamp, ref, `${path}?page=${page}`)
  })

/** Regular expressions as people write them, and random sequences of their parts. */
const project = fc.oneof(
  fc.constantFrom(
    '.',
    '^',
    '$',
    'abcdefgh',
    '^https://abcdefgh\\.',
    'page=1$',
    '(?i)abcdefgh',
    'nobody',
    'a|b',
  ),
  fc
    .array(
      fc.constantFrom(
        '^',
        'https',
        '://',
        'abcdefgh',
        'abcd',
        '.',
        '.*',
        '\\.',
        '?',
        '(a|b)',
        '|',
        '[a-f]+',
        '{2}',
        '/rest',
        'x?',
        '$',
      ),
      { minLength: 1, maxLength: 6 },
    )
    .map(pieces => pieces.join('')),
)

const intervals = ['daily', 'hourly', 'minutely', '15min', '30min', '1hr', '3hr', '1day', '3day', '7day']
const set = fc.record({
  interval: fc.constantFrom(...intervals),
  project,
})

let service: TestService
let usage: Endpoint

beforeAll(async () => {
  const rows = fc.sample(row, { numRuns: rowCount, seed: 7 })
  const tables = { 'cloudflare.logs.prod': rows }
  service = await startService({ tables, env: { FROZEN_NOW: now } })
  usage = (await service.services.endpoints.find('usage.api-counts'))!
})

afterAll(() => service.stop())

/** The body of a single run, or `null` where the expression is not valid. */
async function bodyAlone(parameters: string): Promise<string | null> {
  const bindings = bindingsFrom(usage, parameters)!
  const result = await runQuery(service.services.engine, usage, { sql: usage.sql, bindings }).catch(
    () => null,
  )
  return result && (await (await finish(usage, result, false)).bytes('identity')).toString()
}

test(`on ${rowCount} rows the answers of a batch are those of single runs, byte for byte, for ${setCount} random sets`, async () => {
  const { store, engine } = service.services
  const names = parameterColumns(usage).map(({ name }) => name as 'interval' | 'project')
  const expected = new Map<string, string>()
  for (const sample of fc.sample(set, { numRuns: 200, seed: 11 })) {
    const parameters = JSON.stringify(names.map(name => [name, sample[name]]))
    const body = expected.size < setCount && !expected.has(parameters) ? await bodyAlone(parameters) : null
    if (body !== null) expected.set(parameters, body)
  }
  const keyFields = { endpointId: usage.id, version: usage.version, sql: null, variant: 'clear' }
  for (const parameters of expected.keys())
    await use(store, usage, { keyFields: { ...keyFields, parameters } })
  const patient = { ...usage, timeoutSeconds: 300 }
  const report = await warm(
    { engine, store, log: () => {} },
    [patient],
    new Budget({ ms: 300_000, bytes: 1e12 }),
  )
  expect(report).toMatchObject({ refreshed: setCount, failed: 0, runs: 1 })
  const bodies = [...expected.values()]
  expect(bodies.filter(body => body.includes('"rows":0')).length).toBeGreaterThan(0)
  expect(bodies.filter(body => body.includes('"total_rest_requests"')).length).toBeGreaterThan(setCount / 3)
  for (const [parameters, body] of expected)
    expect([parameters, await bodyOf(store, { ...keyFields, parameters })]).toEqual([parameters, body])
}, 300_000)
