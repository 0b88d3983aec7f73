/** The newest 100 entries of a project among a million, and ten million, against DuckDB by hand with rows found first. */
import { DuckDBInstance } from '@duckdb/node-api'
import { runQuery } from '../../../shared/run/run-query.ts'
import { loadConfig } from '../../../shared/config.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { pageFor } from '../../../shared/pages/page.ts'
import type { Statement } from '../../../shared/engines/engine.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { filesOf, type ManyLogs, millionLogs, tenMillionLogs } from '../many-logs.ts'
import { alternately, compared, cpuOfThis, type Measurement } from '../measure.ts'
import { endpointNamed, project, type Site } from '../site.ts'
import { targets } from '../targets.ts'

const rounds = 7

/** CPU. Throws where the two do not give the same rows: only equal answers are compared. */
export async function newest(site: Site): Promise<Measurement[]> {
  const { ours, byHand, close } = await openBoth(site, await millionLogs())
  try {
    assertSame(await ours(), await byHand())
    const turns = { ours: () => cpuOfThis(ours), theirs: () => cpuOfThis(byHand) }
    return [compared(targets.newest, { ...(await alternately(rounds, turns, 1)), unit: 'ms CPU' })]
  } finally {
    await close()
  }
}

/** Ten million rows against a million. */
export async function newestOfTen(site: Site): Promise<Measurement[]> {
  const [million, ten] = [
    await openBoth(site, await millionLogs()),
    await openBoth(site, await tenMillionLogs()),
  ]
  try {
    assertSame(await ten.ours(), await ten.byHand())
    const turns = { ours: () => cpuOfThis(ten.ours), theirs: () => cpuOfThis(million.ours) }
    return [compared(targets.newestOfTen, { ...(await alternately(rounds, turns, 1)), unit: 'ms CPU' })]
  } finally {
    await million.close()
    await ten.close()
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
  const services = await openServices(loadConfig({ DATA_DIR: folder, ENGINE_PROCESSES: '0' }))
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
