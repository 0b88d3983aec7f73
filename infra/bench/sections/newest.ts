/**
 * The newest 100 entries of a project among a million and ten million, against DuckDB by hand with rows found first; and their
 * bytes as the local BigQuery server counts them, against one reading of the whole.
 */
import { DuckDBInstance } from '@duckdb/node-api'
import { runQuery } from '../../../shared/answers/engine-errors.ts'
import { loadConfig } from '../../../shared/config.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { pageFor } from '../../../shared/pages/page.ts'
import type { Statement } from '../../../shared/engines/engine.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { filesOf, type ManyLogs, millionLogs, tenMillionLogs } from '../many-logs.ts'
import { alternately, compared, comparedBoth, type Measurement, spentOn } from '../measure.ts'
import { endpointNamed, project, type Site, withBigQuery } from '../site.ts'

const rounds = 7

/** CPU and clock. Throws where the two do not give the same rows: only equal answers are compared. */
export async function newest(site: Site): Promise<Measurement[]> {
  const million = await openBoth(site, await millionLogs())
  const tenMillion = await openBoth(site, await tenMillionLogs())
  try {
    for (const { ours, byHand } of [million, tenMillion]) assertSame(await ours(), await byHand())
    const spent = await alternately(rounds, {
      million: () => spentOn(million.ours),
      byHand: () => spentOn(million.byHand),
      tenMillion: () => spentOn(tenMillion.ours),
    })
    const what = 'newest 100 of a million rows: DuckDB by hand, rows found first'
    const larger = { ours: spent.tenMillion, theirs: spent.million }
    return [
      ...comparedBoth(what, { ours: spent.million, theirs: spent.byHand }, 1.5),
      ...comparedBoth('newest 100 of ten million rows: of a million', larger, 2),
      await bytesOf(site, await millionLogs()),
    ]
  } finally {
    await million.close()
    await tenMillion.close()
  }
}

function bytesOf(site: Site, { folder, now }: ManyLogs): Promise<Measurement> {
  return withBigQuery(folder, {}, async env => {
    const services = await openServices(loadConfig({ DATA_DIR: site.folder, ...env }))
    // The server looks through a million entries once to know their sizes.
    const endpoint = { ...(await endpointNamed(site, 'logs.all')), timeoutSeconds: 600 }
    const statement = firstPage(services, endpoint, `project=${project}&iso_timestamp_end=${now}`)
    const whole = { ...endpoint, newestFirst: null }
    const ours = await runQuery(services.engine, endpoint, statement)
    const theirs = await runQuery(services.engine, whole, statement)
    await services.close()
    return compared('newest 100 of a million rows, bytes of blocks: one reading of the whole', {
      ours: [ours.bytes!],
      theirs: [theirs.bytes!],
      unit: 'bytes',
      bound: null,
    })
  })
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
