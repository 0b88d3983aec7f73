/** A miss, from request to answer with its lease and its publishing, against the engine alone. */
import { functionOf, type Server } from '../../local/process.ts'
import { type Call, loadServer, untilAnswer, withServers } from '../server.ts'
import { alternately, compared, type Measurement } from '../measure.ts'
import { project, type Site } from '../site.ts'
import { type Target, targets } from '../targets.ts'

const rounds = 25
const misses = 6

/** With a number behind, each is a pattern without an answer; `logs.all` is not cached, and ignores `cold`. */
const queries: [endpoint: string, query: string, target: Target][] = [
  ['usage.api-counts', `interval=daily&project=${project}%7Cnone`, targets.missCached],
  ['logs.all', `project=${project}&cold=`, targets.missUncached],
]

/** Microseconds of CPU. */
export async function miss(site: Site): Promise<Measurement[]> {
  const programs = {
    ours: functionOf('functions/index.ts', 'query', site.env),
    engine: { args: ['infra/bench/servers/engine.ts'], env: site.env },
  }
  const measurements: Measurement[] = []
  for (const each of queries)
    measurements.push(await withServers(programs, servers => measure(servers, each, site)))
  return measurements
}

async function measure(
  { ours, engine }: Record<'ours' | 'engine', Server>,
  [endpoint, query, target]: (typeof queries)[0],
  { headers }: Site,
): Promise<Measurement> {
  let calls = 0
  const next = (): Call => ({ path: `/api/endpoints/query/${endpoint}?${query}${calls++}`, headers })
  const runs: Call = { path: `/?${String(new URLSearchParams({ endpoint, query, runs: String(misses) }))}` }
  await untilAnswer(ours, next())
  await untilAnswer(engine, runs)
  const turns = {
    ours: async () => (await loadServer(ours, { call: next, count: misses, connections: 1 })).cpu,
    theirs: async () =>
      (await loadServer(engine, { call: () => runs, count: 1, connections: 1 })).cpu / misses,
  }
  return compared(target, { ...(await alternately(rounds, turns, 2)), unit: 'us CPU' })
}
