/** Rows with long URLs: charts of every project go on, by all ways to an answer, with the numbers that plain counting gives. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { parameterColumns } from '../../shared/endpoints/definition.ts'
import { bodyOf, use } from '../../shared/warm/testing/fixture.ts'
import { Budget } from '../../shared/warm/budget.ts'
import { warm } from '../../shared/warm/warm.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const now = '2026-03-10T12:30:30.000Z'
const [ref, other] = ['qhzvnxwtrkdplmcoyaeb', 'abcdefghijklmnopqrst']
const word = 'zyxwvutsrqponmlkjihg'

const rows = [
  [ref, '/rest/v1/items'],
  [other, '/rest/v1/orders'],
  [other, `/rest/v1/${'x1-'.repeat(5_000)}`],
  [ref, `/rest/v1/${`${word}/`.repeat(10_000)}`],
  [other, `/rest/v1/${`${word}-`.repeat(20_000)}`],
  [other, `/rest/v1/${'q'.repeat(300_000)}`],
  [other, `/rest/v1/${`${word}/`.repeat(40_000)}`],
  ['a'.repeat(300_000), '/rest/v1/'],
].map(([project, path], at) => {
  // A batch once failed at 262,144 bytes of a URL, and at 65,556 letters of a word in it.
  const row = edgeRow(`r${at}`, '2026-03-10T12:20:00Z', project!, '/rest/v1/')
  row.metadata.request.url = `https://${project}.example.co${path}`
  return row
})
const urls = rows.map(({ metadata }) => metadata.request.url)

/** Each with what JavaScript calls it, where that differs. */
const linear: [pattern: string, same?: string][] = [
  ['^https://[a-z]{20}\\.example\\.co/rest/v1/'],
  ['/rest/v1/'],
  ['https://[a-z]{20}\\.example\\.co/(rest|auth)/v1/(orders|items)?'],
  ['[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'],
  ['(/[a-z]{20}){4}'],
  ['\\x{2028}', '\\u2028'],
  ['\\x{71}{30}', 'q{30}'],
  ['https://.{1000}'],
  ['^https://[^/]*/rest'],
]
const throughRollup = [ref, other, word, `^https://${ref}\\.`, `^https://${other}\\.`]

let service: TestService
beforeAll(async () => {
  const tables = { 'cloudflare.logs.prod': rows }
  service = await startService({ tables, env: { FROZEN_NOW: now }, bundle: null })
})
afterAll(() => service.stop())

const ask = async (project: string) => {
  const query = new URLSearchParams({ interval: 'minutely', project })
  const response = await service.fetch(`/api/endpoints/query/usage.api-counts?${query.toString()}`)
  const body = (await response.json()) as { result?: Record<string, number>[]; detail?: string }
  const counted = body.result?.reduce((sum, row) => sum + row['total_rest_requests']!, 0)
  return { status: response.status, cache: response.headers.get('cache-status'), counted, body }
}

const matching = (pattern: string) => urls.filter(url => new RegExp(pattern).test(url)).length

test.each([...linear, ...throughRollup.map((text): [string, string?] => [text])])(
  'a single chart of %s counts them',
  async (pattern, same = pattern) => {
    expect(await ask(pattern)).toMatchObject({ status: 200, counted: matching(same) })
  },
)

describe('a cycle of the warmer', () => {
  /** What became of the charts of these patterns. */
  const cycle = async (interval: string, projects: string[]) => {
    const { store, engine, endpoints } = service.services
    const usage = (await endpoints.find('usage.api-counts'))!
    const names = parameterColumns(usage).map(({ name }) => name as 'interval' | 'project')
    const keys = projects.map(project => {
      const parameters = JSON.stringify(names.map(name => [name, { interval, project }[name]]))
      return {
        endpointId: usage.id,
        version: usage.version,
        sql: null,
        variant: 'clear' as const,
        parameters,
      }
    })
    for (const keyFields of keys) await use(store, usage, { keyFields })
    const report = await warm(
      { engine, store, log: () => {} },
      [usage],
      new Budget({ ms: 60_000, bytes: 1e12 }),
    )
    const bodies = await Promise.all(keys.map(keyFields => bodyOf(store, keyFields)))
    const counts = bodies.map(body => {
      const rows = (JSON.parse(body!) as { result: Record<string, number>[] }).result
      return rows.reduce((sum, row) => sum + (row['total_rest_requests'] ?? 0), 0)
    })
    return { report, counts }
  }

  test.each(['1hr', '7day'])(
    'answers %s in one batch of the log table and one of the roll-up',
    async interval => {
      const sets = [...linear, ...throughRollup.map((text): [string, string?] => [text])]
      const { report, counts } = await cycle(
        interval,
        sets.map(([pattern]) => pattern),
      )
      expect(report).toMatchObject({ refreshed: sets.length, failed: 0, runs: 2 })
      expect(counts).toEqual(sets.map(([pattern, same = pattern]) => matching(same)))
    },
  )
})
