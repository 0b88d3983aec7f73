/** Endpoints that read others are kept warm after what they read. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { answersCollection } from '../../shared/cache/head.ts'
import { loadConfig } from '../../shared/config.ts'
import { openServices } from '../../shared/services.ts'
import { Budget } from '../../shared/warm/budget.ts'
import { warm } from '../../shared/warm/warm.ts'
import { type Reading, rowOf, startReading, table } from '../testing/upstream.ts'

const common = `parameters: { required: [project], properties: { project: { type: string } } }
cache: { seconds: 900 }\nwarm: { seconds: 300 }`
let it: Reading

beforeAll(async () => {
  it = await startReading('duckdb', {
    'a.reader': {
      yaml: `${common}\nupstream: { counts: { endpoint: b.counts, parameters: { project: "@project" } } }`,
      sql: 'SELECT n * 10 AS n FROM counts',
    },
    'b.counts': {
      yaml: common,
      sql: `SELECT COUNT(*) AS n FROM \`${table}\` AS t WHERE t.project = @project`,
    },
  })
})
afterAll(() => it.stop())

test('one call of the warmer refreshes what is read, then those that read it', async () => {
  expect((await it.call('a.reader?project=a')).result).toEqual([{ n: 20 }])
  await it.add([rowOf('a3', 'a', '/3')])
  await it.age(400_000)
  // The warmer is another process.
  const warmer = await openServices(loadConfig(it.service.env))
  try {
    const { engine, store, log } = warmer
    const report = await warm(
      { engine, store, log, reading: warmer },
      await warmer.endpoints.all(),
      new Budget({
        ms: 60_000,
        bytes: 1e12,
      }),
    )
    expect(report.endpoints.map(({ endpoint, refreshed, runs }) => [endpoint, refreshed, runs])).toEqual([
      ['b.counts', 1, 1],
      ['a.reader', 1, 1],
    ])
    const { documents } = await store.query({ collection: answersCollection, limit: 10 })
    const ages = documents.map(({ fields }) => Date.now() - (fields['stored'] as { madeAt: number }).madeAt)
    expect(Math.max(...ages)).toBeLessThan(60_000)
    const again = await warm(
      { engine, store, log, reading: warmer },
      await warmer.endpoints.all(),
      new Budget({
        ms: 60_000,
        bytes: 1e12,
      }),
    )
    expect([again.refreshed, again.runs]).toEqual([0, 0])
  } finally {
    await warmer.close()
  }
  await new Promise(resolve => setTimeout(resolve, 5_100)) // until memory looks at the store again
  const { result, response } = await it.call('a.reader?project=a')
  expect([result, response.headers.get('cache-status')]).toEqual([
    [{ n: 30 }],
    expect.stringMatching(/^lqe; hit/),
  ])
})
