/**
 * The newest 100 entries of a project among a million and ten million, against DuckDB by hand with rows found first; and their
 * bytes as the local BigQuery server counts them, against one reading of the whole.
 */
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { runQuery } from '../../../shared/answers/engine-errors.ts'
import { loadConfig } from '../../../shared/config.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { pageFor } from '../../../shared/pages/page.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import type { Statement } from '../../../shared/engines/engine.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { startBigQueryServer } from '../../google/bigquery/server.ts'
import { filesOf, type ManyLogs, millionLogs, tenMillionLogs } from '../many-logs.ts'
import { alternately, compared, cpuOfThis, type Measurement } from '../measure.ts'
import { endpointNamed, project, type Site } from '../site.ts'

const rounds = 7

export async function newest(site: Site): Promise<Measurement[]> {
  const million = await openBoth(site, await millionLogs())
  const tenMillion = await openBoth(site, await tenMillionLogs())
  try {
    for (const { ours, byHand } of [million, tenMillion]) assertSame(await ours(), await byHand())
    const clock: Record<Reading, number[]> = { million: [], byHand: [], tenMillion: [] }
    const timed = (reading: Reading, rows: Rows) => async () => {
      const started = performance.now()
      const cpu = await cpuOfThis(rows)
      clock[reading].push(performance.now() - started)
      return cpu
    }
    const cpu = await alternately(rounds, {
      million: timed('million', million.ours),
      byHand: timed('byHand', million.byHand),
      tenMillion: timed('tenMillion', tenMillion.ours),
    })
    return [
      ...comparisons(cpu, ', CPU', 'ms CPU'),
      ...comparisons(clock, ', on the clock', 'ms'),
      await bytesOf(site, await millionLogs()),
    ]
  } finally {
    await million.close()
    await tenMillion.close()
  }
}

type Reading = 'million' | 'byHand' | 'tenMillion'

function comparisons(
  { million, byHand, tenMillion }: Record<Reading, number[]>,
  how: string,
  unit: string,
): Measurement[] {
  return [
    compared(`newest 100 of a million rows: DuckDB by hand, rows found first${how}`, {
      ours: million,
      theirs: byHand,
      unit,
      bound: 1.5,
    }),
    compared(`newest 100 of ten million rows: of a million${how}`, {
      ours: tenMillion,
      theirs: million,
      unit,
      bound: 2,
    }),
  ]
}

async function bytesOf(site: Site, { folder, now }: ManyLogs): Promise<Measurement> {
  const tables = readTableSchemas(loadConfig({}).tablesDir)
  const dataset = 'bench-project.logs'
  const server = await startBigQueryServer({ logsFolder: join(folder, 'logs'), tables, dataset })
  const cloud = { ENGINE: 'bigquery', BIGQUERY_DATASET: dataset, BIGQUERY_EMULATOR_HOST: server.url }
  const services = await openServices(
    loadConfig({ DATA_DIR: site.folder, GOOGLE_CLOUD_PROJECT: 'bench-project', ...cloud }),
  )
  try {
    // The server looks through a million entries once to know their sizes.
    const endpoint = { ...(await endpointNamed(site, 'logs.all')), timeoutSeconds: 600 }
    const statement = firstPage(services, endpoint, `project=${project}&iso_timestamp_end=${now}`)
    const whole = { ...endpoint, newestFirst: null }
    const [ours, theirs] = [
      await runQuery(services.engine, endpoint, statement),
      await runQuery(services.engine, whole, statement),
    ]
    return compared('newest 100 of a million rows, bytes of blocks: one reading of the whole', {
      ours: [ours.bytes!],
      theirs: [theirs.bytes!],
      unit: 'bytes',
      bound: null,
    })
  } finally {
    await services.close()
    await server.close()
  }
}

function firstPage({ cursors }: Services, endpoint: Endpoint, query: string): Statement {
  const now = new Date()
  return pageFor(cursors, endpoint, readParameters(endpoint, query, {}, now), {
    cursor: null,
    now,
    sql: null,
  })!.statement
}

type Rows = () => Promise<object[]>

/** The endpoint's first page as a call runs it, and the query by hand, over the same files. */
async function openBoth(site: Site, { folder, now, edge }: ManyLogs) {
  const services = await openServices(loadConfig({ DATA_DIR: folder }))
  const endpoint = await endpointNamed(site, 'logs.all')
  const statement = firstPage(services, endpoint, `project=${project}&iso_timestamp_end=${now}`)
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  await connection.run('SET parquet_metadata_cache = true')
  const prepared = await connection.prepare(handWritten(edge))
  prepared.bind({ project })
  const ours: Rows = async () =>
    (await runQuery(services.engine, { ...endpoint, maxRows: 100 }, statement)).rows
  const byHand: Rows = async () => (await prepared.runAndReadAll()).getRowObjectsJson()
  const close = async () => {
    prepared.destroySync()
    connection.closeSync()
    instance.closeSync()
    await services.close()
  }
  return { ours, byHand, close }
}

function handWritten(folder: string): string {
  const rows = `read_parquet(${filesOf(folder)}, filename = true, file_row_number = true)`
  return `
    SELECT id, timestamp, event_message, metadata FROM ${rows}
    SEMI JOIN (
      SELECT filename, file_row_number FROM ${rows} WHERE project = $project ORDER BY timestamp DESC LIMIT 100
    ) USING (filename, file_row_number)
    ORDER BY timestamp DESC`
}

/** Only equal results are compared. */
function assertSame(ours: object[], theirs: object[]): void {
  const ids = (rows: object[]) =>
    JSON.stringify(rows.map(row => ('id' in row ? String(row.id) : '')).toSorted())
  if (ours.length === 0 || ids(ours) !== ids(theirs)) throw new Error('the query by hand finds other rows')
}
