/** The usage chart over a million rows at the edge, against a query written by hand for DuckDB over the same files. */
import { DuckDBInstance } from '@duckdb/node-api'
import { loadConfig } from '../../../shared/config.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { openServices } from '../../../shared/services.ts'
import { filesOf, millionLogs } from '../many-logs.ts'
import { alternately, compared, cpuOfThis, type Measurement } from '../measure.ts'
import { endpointNamed, project, type Site } from '../site.ts'

const rounds = 7

export async function chart(site: Site): Promise<Measurement[]> {
  const { folder, now, edge } = await millionLogs()
  const services = await openServices(loadConfig({ DATA_DIR: folder, FROZEN_NOW: now }))
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  const byHand = await connection.prepare(handWritten(edge))
  try {
    const endpoint = await endpointNamed(site, 'usage.api-counts')
    const { bindings } = readParameters(endpoint, `interval=daily&project=${project}`, {})
    byHand.bind({ now, project })
    const limits = { maxRows: endpoint.maxRows, timeoutMs: 600_000 }
    const ours = async () => (await services.engine.run({ sql: endpoint.sql, bindings }, limits)).rows
    const theirs = async () => (await byHand.runAndReadAll()).getRowObjectsJson()
    assertSame(await ours(), await theirs())
    const clock: Record<'ours' | 'theirs', number[]> = { ours: [], theirs: [] }
    const timed = (name: 'ours' | 'theirs', act: () => Promise<unknown>) => async () => {
      const started = performance.now()
      const cpu = await cpuOfThis(act)
      clock[name].push(performance.now() - started)
      return cpu
    }
    const cpu = await alternately(rounds, { ours: timed('ours', ours), theirs: timed('theirs', theirs) })
    const name = 'usage chart, a million rows: DuckDB by hand'
    return [
      compared(`${name}, CPU`, { ...cpu, unit: 'ms CPU', bound: 2 }),
      compared(`${name}, on the clock`, { ...clock, unit: 'ms', bound: 2 }),
    ]
  } finally {
    byHand.destroySync()
    connection.closeSync()
    instance.closeSync()
    await services.close()
  }
}

/** The daily chart alone, in DuckDB's own SQL. */
function handWritten(folder: string): string {
  const count = (api: string) => `count(*) FILTER (WHERE contains(path, '/${api}')) AS total_${api}_requests`
  return `
    WITH requests AS (
      SELECT timestamp, unnest(m.request, recursive := false) AS request
      FROM (
        SELECT timestamp, unnest(metadata) AS m FROM read_parquet(${filesOf(folder)})
        WHERE timestamp >= $now::TIMESTAMPTZ - INTERVAL 7 DAY
      )
    ),
    parts AS (
      SELECT date_trunc('day', timestamp AT TIME ZONE 'UTC') AS bucket, request.path AS path
      FROM requests WHERE regexp_matches(request.url, $project)
    )
    SELECT bucket AS timestamp, ${['rest', 'storage', 'auth', 'realtime'].map(count).join(', ')}
    FROM parts GROUP BY bucket ORDER BY bucket`
}

/** Only equal results are compared. */
function assertSame(ours: object[], theirs: object[]): void {
  const numbers = (rows: object[]) => JSON.stringify(rows.map(row => Object.values(row).slice(1).map(Number)))
  if (ours.length === 0 || numbers(ours) !== numbers(theirs))
    throw new Error('the query by hand counts differently')
}
