/** One instance under the largest load that it is set up for stays under 60 % of its memory. */
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { startBigQueryServer } from '../../google/bigquery/server.ts'
import { type Call, peakMemoryOf } from '../server.ts'
import { openSite, project, type Site } from '../site.ts'
import {
  all,
  boundMB,
  countsByStatus,
  type Figure,
  inInstance,
  instance,
  memoryOfAnswers,
  sent,
} from './memory.ts'

/** Of as many runs at once; the local engine's own memory is not that of a deployed instance. */
async function memoryOfRuns(site: Site): Promise<Figure[]> {
  const { dataDir, tablesDir } = loadConfig(site.env)
  const dataset = 'bench-project.logs'
  const tables = readTableSchemas(tablesDir)
  const server = await startBigQueryServer({ logsFolder: join(dataDir, 'logs'), tables, dataset })
  const address = { BIGQUERY_DATASET: dataset, BIGQUERY_EMULATOR_HOST: server.url }
  const env = { ...site.env, ENGINE: 'bigquery', GOOGLE_CLOUD_PROJECT: 'bench-project', ...address }
  const sizes = { 'of 9 MB': 9, 'of more than the limit': 12 }
  const figures: Figure[] = []
  await inInstance(env, async server => {
    for (const [what, megabytes] of Object.entries(sizes))
      figures.push({
        what: `${instance.callers} runs ${what} on BigQuery`,
        statuses: await all(server, n => sent(runOf(megabytes, n), site.headers)),
        peakMB: peakMemoryOf(server),
      })
  })
  await server.close()
  return figures
}

/** A caller's own query, of an endpoint without a cache: each caller gets a run. */
function runOf(megabytes: number, n: number): Call {
  const sql = `SELECT REPEAT('a', 999900) AS a, ${n} AS n FROM UNNEST(GENERATE_ARRAY(1, ${megabytes}))`
  return { path: `/api/endpoints/query/logs.all?project=${project}&sql=${encodeURIComponent(sql)}` }
}

test('an instance of 1 GiB with 100,000 small answers in use serves 80 callers of a largest answer in 60 % of it', async () => {
  const site = await openSite()
  const figures = [...(await memoryOfAnswers(site, 100_000)), ...(await memoryOfRuns(site))]
  await site.close()
  const lines = figures.map(
    ({ what, peakMB, statuses }) => `${what}: ${peakMB.toFixed(0)} MB (${countsByStatus(statuses)})`,
  )
  console.log(lines.join('\n'))
  for (const { what, peakMB } of figures) expect([what, peakMB <= boundMB]).toEqual([what, true])
  const ofOne = figures.filter(({ what }) => what.includes('the largest answer'))
  expect(ofOne.map(({ statuses }) => statuses)).toEqual(ofOne.map(() => ({ 200: 80 })))
}, 1_200_000)
