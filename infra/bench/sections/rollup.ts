/**
 * The usage chart from its roll-ups: one chart and many in one statement, over a million and ten million rows, against the
 * endpoint's own queries; bytes as the local BigQuery server counts them; and a call of the warmer for 10,000 charts.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { firstFields, headAt } from '../../../shared/cache/head.ts'
import { cacheKey } from '../../../shared/cache/key.ts'
import { loadConfig } from '../../../shared/config.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { ownQuery, queryFor, type SavedQuery, statementOf } from '../../../shared/endpoints/saved-query.ts'
import { openSqlite } from '../../../shared/stores/sqlite/store.ts'
import type { Write } from '../../../shared/stores/store.ts'
import type { QueryEngine, Rollup } from '../../../shared/engines/engine.ts'
import { openServices } from '../../../shared/services.ts'
import { batchStatement, type ParameterSet } from '../../../shared/warm/batch.ts'
import { warm } from '../../../shared/warm/warm.ts'
import { projects } from '../../lqe/logs/sample.ts'
import { type ManyLogs, millionLogs, tenMillionLogs } from '../many-logs.ts'
import {
  alternately,
  bounded,
  compared,
  comparedBoth,
  cpuOfThis,
  type Measurement,
  spentOn,
} from '../measure.ts'
import { costs, layouts } from '../costs.ts'
import { endpointNamed, type Site, withBigQuery } from '../site.ts'

const limits = { maxRows: 1_000_000, timeoutMs: 600_000 }

/** CPU, clock and bytes. The millions of rows and their roll-ups stay in their folders for the next time. */
export async function rollup(site: Site): Promise<Measurement[]> {
  const endpoint = await endpointNamed(site, 'usage.api-counts')
  const million = await millionLogs()
  return [
    ...(await overLogs(endpoint, million, 'a million rows', 5)),
    ...(await overLogs(endpoint, await tenMillionLogs(), 'ten million rows', 3)),
    ...(await warmCall(endpoint, million)),
  ]
}

function overLogs(
  endpoint: Endpoint,
  { folder, now }: ManyLogs,
  name: string,
  rounds: number,
): Promise<Measurement[]> {
  return withBigQuery(folder, { now, partition: 'HOUR' }, async env => {
    const local = { DATA_DIR: folder, FROZEN_NOW: now }
    const services = await openServices(loadConfig(local))
    const billed = await openServices(loadConfig({ ...local, ...env }))
    for (const rollup of endpoint.rollups) await billed.engine.rollups.create(rollup)
    const { engine } = services
    const { clock } = await spentOn(() => oneChart(engine, endpoint))
    console.error(`the roll-ups of ${name} were made in ${Math.round(clock)} ms, or were there`)
    const measurements = [
      ...(await chartOf(engine, endpoint, name, rounds)),
      ...(await setsOf(engine, endpoint, name, rounds)),
      ...(await bytesOf(billed.engine, endpoint, name)),
    ]
    await Promise.all([services.close(), billed.close()])
    return measurements
  })
}

/** A chart of seven days: the goal is a hundredth of the endpoint's own query. */
async function chartOf(engine: QueryEngine, endpoint: Endpoint, name: string, rounds: number) {
  const spent = await alternately(rounds, {
    ours: () => spentOn(() => oneChart(engine, endpoint)),
    theirs: () => spentOn(() => oneChart(engine, endpoint, ownQuery(endpoint))),
  })
  return comparedBoth(`a chart of seven days, ${name}: the log table`, spent, 0.01)
}

/** Up to the most of one statement over the log table (`setsInBatch` in `shared/warm/refresh.ts`). */
const manyOfOwn = [10, 100, 500]

async function setsOf(engine: QueryEngine, endpoint: Endpoint, name: string, rounds: number) {
  const measurements: Measurement[] = []
  const one = dailySets(endpoint, 1)
  for (const count of [10, 100, 1_000, 10_000]) {
    const sets = dailySets(endpoint, count)
    const cpu = await alternately(rounds, {
      ours: () => cpuOfThis(() => inOne(engine, endpoint, sets)),
      theirs: () => cpuOfThis(() => inOne(engine, endpoint, one)),
    })
    const what = `${count.toLocaleString('en')} charts in one statement, ${name}: one chart`
    measurements.push(compared(`${what}, CPU`, { ...cpu, unit: 'ms CPU', bound: count === 1_000 ? 3 : null }))
  }
  for (const count of manyOfOwn) {
    const sets = dailySets(endpoint, count)
    const cpu = await alternately(1, {
      ours: () => cpuOfThis(() => inOne(engine, endpoint, sets)),
      theirs: () => cpuOfThis(() => inOne(engine, endpoint, sets, ownQuery(endpoint))),
    })
    const what = `${count} charts in one statement, ${name}: the batch query over the log table`
    measurements.push(compared(`${what}, CPU`, { ...cpu, unit: 'ms CPU', bound: null }))
  }
  return measurements
}

/** A cycle of the warmer has a statement for the daily charts, and one for those of an hour. */
async function bytesOf(engine: QueryEngine, endpoint: Endpoint, name: string): Promise<Measurement[]> {
  const cycle = async (query?: SavedQuery) => ({
    daily: await inOne(engine, endpoint, dailySets(endpoint, 10), query),
    hourly: await inOne(engine, endpoint, hourlySets(endpoint, 10), query),
  })
  await cycle()
  const [ours, theirs] = [await cycle(), await cycle(ownQuery(endpoint))]
  const both = { ours: [ours.daily + ours.hourly], theirs: [theirs.daily + theirs.hourly] }
  const week = { ours: [ours.daily], theirs: [theirs.daily] }
  const ofRollup = (rollup: Rollup) =>
    bytesOfRow(engine, [rollup.partition, ...rollupColumns], `\`${rollup.name}\``, [rollup])
  const [moments, hours] = endpoint.rollups as [Rollup, Rollup]
  const perRow = {
    raw: await bytesOfRow(engine, chartColumns, rawRows),
    moments: await ofRollup(moments),
    hours: await ofRollup(hours),
  }
  return [
    compared(`charts of seven days, ${name}: the log table, bytes`, {
      ...week,
      unit: 'bytes',
      bound: 1 / 120,
    }),
    compared(`a cycle of the warmer, ${name}: over the log table, bytes`, {
      ...both,
      unit: 'bytes',
      bound: null,
    }),
    ...layouts(perRow, name),
    ...costs(perRow, name),
  ]
}

/** What the usage chart reads of the log table and of its roll-ups. */
const chartColumns = ['t.timestamp', 'r.url', 'r.path']
const rawRows =
  '`cloudflare.logs.prod` AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r'
const rollupColumns = ['origin', 'words', 'rest', 'storage', 'auth', 'realtime']

/** By a reading of the whole table. */
async function bytesOfRow(
  engine: QueryEngine,
  columns: string[],
  from: string,
  rollups: Rollup[] = [],
): Promise<number> {
  const counts = columns.map((column, at) => `COUNT(${column}) AS count_${at}`)
  const sql = `SELECT COUNT(*) AS row_count, ${counts.join(', ')} FROM ${from}`
  const { bytes, rows } = await engine.run({ sql, bindings: [], rollups }, limits)
  return bytes! / Number(rows[0]!['row_count'])
}

/** The warmer's own call: 10,000 charts in use, a third of them daily, in SQLite. */
async function warmCall(endpoint: Endpoint, { folder: logs, now }: ManyLogs): Promise<Measurement[]> {
  const folder = mkdtempSync(join(tmpdir(), 'bench-rollup-'))
  const services = await openServices(loadConfig({ DATA_DIR: logs, FROZEN_NOW: now }))
  const config = loadConfig({})
  const store = openSqlite({ file: join(folder, 'store.sqlite'), log: () => {} })
  try {
    const sets = ['daily', 'hourly', 'minutely'].flatMap(interval => manySets(endpoint, interval, 3_334))
    const { readAt } = await store.get(headAt('none'))
    const sizes = { chunks: 0, bytes: 1, rawBytes: 1, sha256: '', etag: '' }
    const summary = { rows: 0, truncated: false, redacted: false, columns: [] }
    const stored = { generation: 'before', ...sizes, ...summary, madeAt: readAt - 400_000 }
    const writes = sets.slice(0, 10_000).map((set, i): Write => {
      const parameters = JSON.stringify(set.map(({ name, value }) => [name, value]))
      const { id: endpointId, version } = endpoint
      const keyFields = { endpointId, version, parameters, sql: null, variant: 'clear' }
      const fields = { ...firstFields(keyFields, readAt - 10_000 - i / 8), uses: 2, stored }
      return { type: 'create', at: headAt(cacheKey(keyFields)), fields }
    })
    for (let i = 0; i < writes.length; i += 500) await store.batch(writes.slice(i, i + 500))
    const allowance = { ms: config.warmDeadlineMs * 0.8, bytes: config.warmMaxBytes }
    const report = await warm({ engine: services.engine, store, log: () => {} }, [endpoint], allowance)
    if (report.refreshed !== 10_000) throw new Error(`refreshed ${report.refreshed} of 10,000`)
    const name = `a call of the warmer for 10,000 charts, ${report.runs} statements`
    return [bounded(name, { numbers: [report.ms / 1000], unit: 's', bound: allowance.ms / 1000 })]
  } finally {
    await services.close()
    await store.close()
    rmSync(folder, { recursive: true })
  }
}

const dailySets = (endpoint: Endpoint, count: number) => manySets(endpoint, 'daily', count)
const hourlySets = (endpoint: Endpoint, count: number) => manySets(endpoint, 'hourly', count)

/** Charts of bare references and of the beginnings of URLs; the first ones have rows. */
function manySets(endpoint: Endpoint, interval: string, count: number): ParameterSet[] {
  return Array.from({ length: count }, (_, i) => {
    const ref =
      projects[i >> 1]?.ref ??
      String(i)
        .padStart(20, '0')
        .replaceAll(/\d/g, digit => 'abcdefghij'[Number(digit)]!)
    const pattern = i % 2 === 0 ? ref : `^https://${ref}\\.`
    return readParameters(endpoint, `interval=${interval}&project=${encodeURIComponent(pattern)}`, {})
      .bindings
  })
}

async function oneChart(engine: QueryEngine, endpoint: Endpoint, query?: SavedQuery): Promise<void> {
  const [set] = dailySets(endpoint, 1)
  await engine.run(statementOf(query ?? queryFor(endpoint, set!), set!), limits)
}

/** @returns bytes that the statement reads, 0 where the engine does not say */
async function inOne(
  engine: QueryEngine,
  endpoint: Endpoint,
  sets: ParameterSet[],
  query = queryFor(endpoint, sets[0]!),
): Promise<number> {
  return (await engine.run(batchStatement(endpoint, query, sets), limits)).bytes ?? 0
}
