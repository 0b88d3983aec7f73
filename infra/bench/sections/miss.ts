/** A miss, from request to answer with its lease and its publishing, against the engine alone. */
import { functionOf, type Server } from '../../local/process.ts'
import { type Call, loadServer, request, untilAnswer, withServers } from '../server.ts'
import { alternately, compared, type Measurement } from '../measure.ts'
import { project, type Site } from '../site.ts'

const rounds = 25
const misses = 10

/** Query strings to which a number is added: each names another project. */
const queries = {
  'usage.api-counts': `interval=daily&project=${project}%7Cnone`,
  'logs.all': `project=${project}&cold=`,
}

export async function miss(site: Site): Promise<Measurement[]> {
  const programs = {
    ours: functionOf('functions/index.ts', 'query', site.env),
    engine: { args: ['infra/bench/servers/engine.ts'], env: site.env },
  }
  const measurements: Measurement[] = []
  for (const [endpoint, query] of Object.entries(queries))
    measurements.push(...(await withServers(programs, servers => measure(servers, endpoint, query, site))))
  return measurements
}

async function measure(
  { ours, engine }: Record<'ours' | 'engine', Server>,
  endpoint: string,
  query: string,
  site: Site,
): Promise<Measurement[]> {
  let calls = 0
  const { headers } = site
  const next = (): Call => ({ path: `/api/endpoints/query/${endpoint}?${query}${calls++}`, headers })
  const runs: Call = { path: `/?${String(new URLSearchParams({ endpoint, query, runs: String(misses) }))}` }
  await untilAnswer(ours, next())
  await untilAnswer(engine, runs)
  const turns = {
    ours: async () => (await loadServer(ours, { call: next, count: misses, connections: 1 })).cpu,
    engine: async () =>
      (await loadServer(engine, { call: () => runs, count: 1, connections: 1 })).cpu / misses,
  }
  const cpu = await alternately(rounds, turns, 1)
  const { whole, within } = await clocks(ours, next)
  const name = `miss, ${endpoint}: engine alone`
  return [
    compared(`${name}, CPU`, { ours: cpu.ours, theirs: cpu.engine, unit: 'us CPU', bound: 1.1 }),
    compared(`${name}, on the clock`, { ours: whole, theirs: within, unit: 'ms', bound: 1.1 }),
  ]
}

/** The time of whole requests, and of the engine within the same ones, by their Server-Timing. */
async function clocks(server: Server, next: () => Call): Promise<{ whole: number[]; within: number[] }> {
  const times = { whole: [] as number[], within: [] as number[] }
  for (let n = 0; n < rounds * misses; n++) {
    const started = performance.now()
    const { headers } = await request(server, next())
    times.whole.push(performance.now() - started)
    times.within.push(Number(/engine;dur=([\d.]+)/.exec(String(headers['server-timing']))?.[1]))
  }
  return times
}
