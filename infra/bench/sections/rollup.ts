/** The usage chart from its roll-ups, over a million rows: one chart and many, against the endpoint's own query and by the clock. */
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { ownQuery, queryFor, statementOf } from '../../../shared/endpoints/saved-query.ts'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import { batchFor, type ParameterSet } from '../../../shared/warm/batch.ts'
import { projects } from '../../lqe/logs/sample.ts'
import { functionOf } from '../../local/process.ts'
import { millionLogs } from '../many-logs.ts'
import { alternately, bounded, compared, cpuOfThis, type Measurement } from '../measure.ts'
import { loadServer, untilAnswer, withServers } from '../server.ts'
import { endpointNamed, openSiteOver, project, type Site } from '../site.ts'
import { targets } from '../targets.ts'

const limits = { maxRows: 1_000_000, timeoutMs: 600_000 }
const rounds = 7

/** The million rows and their roll-ups stay in their folder for the next time. */
export async function rollup(): Promise<Measurement[]> {
  const { folder, now } = await millionLogs()
  const site = await openSiteOver(folder, { DATA_DIR: folder, FROZEN_NOW: now })
  try {
    const endpoint = await endpointNamed(site, 'usage.api-counts')
    const { engine } = site.services
    await oneChart(engine, endpoint) // makes the roll-ups
    return [await chartOf(engine, endpoint), await setsOf(engine, endpoint), await overHttp(site)]
  } finally {
    await site.close()
  }
}

async function chartOf(engine: QueryEngine, endpoint: Endpoint): Promise<Measurement> {
  const spent = await alternately(3, {
    ours: () => cpuOfThis(() => oneChart(engine, endpoint)),
    theirs: () => cpuOfThis(() => oneChart(engine, endpoint, ownQuery(endpoint))),
  })
  return compared(targets.chart, { ...spent, unit: 'ms CPU' })
}

async function setsOf(engine: QueryEngine, endpoint: Endpoint): Promise<Measurement> {
  const [many, one] = [dailySets(endpoint, 1_000), dailySets(endpoint, 1)]
  const batch = await batchFor(engine, endpoint, queryFor(endpoint, one[0]!))
  const inOne = (sets: ParameterSet[]) => cpuOfThis(() => engine.run(batch(sets), limits))
  const turns = { ours: () => inOne(many), theirs: () => inOne(one) }
  return compared(targets.manyCharts, { ...(await alternately(rounds, turns, 1)), unit: 'ms CPU' })
}

/** Each call runs the engine. */
async function overHttp({ env, headers }: Site): Promise<Measurement> {
  const path = `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`
  const call = { path, headers: { ...headers, 'Cache-Control': 'no-cache' } }
  return withServers({ ours: functionOf('functions/index.ts', 'query', env) }, async ({ ours }) => {
    await untilAnswer(ours, call)
    const one = async () =>
      (await loadServer(ours, { call: () => call, count: 1, connections: 1 })).clock / 1000
    return bounded(targets.chartOverHttp, (await alternately(3 * rounds, { one }, 3)).one)
  })
}

/** Charts of bare references and of the beginnings of URLs; the first ones have rows. */
function dailySets(endpoint: Endpoint, count: number): ParameterSet[] {
  return Array.from({ length: count }, (_, i) => {
    const ref =
      projects[i >> 1]?.ref ??
      String(i)
        .padStart(20, '0')
        .replaceAll(/\d/g, digit => 'abcdefghij'[Number(digit)]!)
    const pattern = i % 2 === 0 ? ref : `^https://${ref}\\.`
    return readParameters(endpoint, `interval=daily&project=${encodeURIComponent(pattern)}`, {}).bindings
  })
}

async function oneChart(
  engine: QueryEngine,
  endpoint: Endpoint,
  query?: ReturnType<typeof ownQuery>,
): Promise<void> {
  const [set] = dailySets(endpoint, 1)
  await engine.run(statementOf(query ?? queryFor(endpoint, set!), set!), limits)
}
