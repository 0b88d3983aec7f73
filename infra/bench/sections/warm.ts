/**
 * Keeping 1, 10 and 100 charts warm: one scan by the batch query against the endpoint's own query for each set.
 * CPU time on the local engine; bytes as the local BigQuery server counts them, by columns and by days.
 */
import { join } from 'node:path'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { loadConfig } from '../../../shared/config.ts'
import { ownQuery } from '../../../shared/endpoints/saved-query.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { openServices } from '../../../shared/services.ts'
import { batchStatement, type ParameterSet } from '../../../shared/warm/batch.ts'
import { startBigQueryServer } from '../../google/bigquery/server.ts'
import { projects, writeSample } from '../../lqe/logs/sample.ts'
import { alternately, compared, cpuOfThis, type Measurement } from '../measure.ts'
import { endpointNamed, type Site } from '../site.ts'

const rows = 50_000
const rounds = 3
const limits = { maxRows: 100_000, timeoutMs: 120_000 }

export async function warm(site: Site): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-warm-'))
  const { tablesDir: tablesFolder } = loadConfig({})
  const now = new Date()
  const logsFolder = join(folder, 'logs')
  await writeSample({ logsFolder, tablesFolder, now, rows })
  const local = { DATA_DIR: folder, FROZEN_NOW: now.toISOString() }
  const tables = readTableSchemas(tablesFolder)
  const dataset = 'bench.logs'
  const server = await startBigQueryServer({ logsFolder, tables, dataset, now: local.FROZEN_NOW })
  const cloud = { ENGINE: 'bigquery', BIGQUERY_DATASET: dataset, BIGQUERY_EMULATOR_HOST: server.url }
  const services = await openServices(loadConfig(local))
  const billed = await openServices(loadConfig({ ...local, ...cloud, GOOGLE_CLOUD_PROJECT: 'bench-project' }))
  try {
    const endpoint = await endpointNamed(site, 'usage.api-counts')
    const measurements: Measurement[] = []
    for (const count of [1, 10, 100]) {
      const sets = setsOf(endpoint, count)
      const cpu = await alternately(rounds, {
        ours: () => cpuOfThis(() => together(services.engine, endpoint, sets)),
        theirs: () => cpuOfThis(() => oneByOne(services.engine, endpoint, sets)),
      })
      const name = `warming ${count} charts: a query for each`
      const ours = [await together(billed.engine, endpoint, sets)]
      const theirs = [await oneByOne(billed.engine, endpoint, sets)]
      measurements.push(compared(`${name}, CPU`, { ...cpu, unit: 'ms CPU', bound: null }))
      measurements.push(compared(`${name}, bytes`, { ours, theirs, unit: 'bytes', bound: null }))
    }
    return measurements
  } finally {
    await Promise.all([services.close(), billed.close()])
    await server.close()
    rmSync(folder, { recursive: true })
  }
}

/** Daily charts of one project each, by patterns that differ. */
function setsOf(endpoint: Endpoint, count: number): ParameterSet[] {
  return Array.from({ length: count }, (_, i) => {
    const { ref } = projects[i % projects.length]!
    const pattern = `^https://${ref}\\.example\\.co/.{${Math.floor(i / projects.length)},}`
    return readParameters(endpoint, `interval=daily&project=${encodeURIComponent(pattern)}`, {}).bindings
  })
}

/** @returns bytes scanned, 0 where the engine does not say */
async function together(engine: QueryEngine, endpoint: Endpoint, sets: ParameterSet[]): Promise<number> {
  const { bytes } = await engine.run(batchStatement(endpoint, ownQuery(endpoint), sets), limits)
  return bytes ?? 0
}

async function oneByOne(engine: QueryEngine, endpoint: Endpoint, sets: ParameterSet[]): Promise<number> {
  let bytes = 0
  for (const bindings of sets) bytes += (await engine.run({ sql: endpoint.sql, bindings }, limits)).bytes ?? 0
  return bytes
}
