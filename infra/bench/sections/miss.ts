/**
 * A miss, from request to answer with its lease and its publishing, against the engine alone; and what the caller pays for
 * an answer that is stored before it is sent, also as deployed.
 */
import { missingEmulator } from '../../google/firestore-emulator.ts'
import { functionOf, type Server } from '../../local/process.ts'
import { type Call, loadServer, request, untilAnswer, withServers } from '../server.ts'
import { alternately, compared, type Measurement } from '../measure.ts'
import { openDeployedSite, project, type Site } from '../site.ts'

const rounds = 25
const misses = 10

/** With a number behind, each is a pattern without an answer; `logs.all` is not cached, and ignores `cold`. */
const queries = {
  'usage.api-counts': `interval=daily&project=${project}%7Cnone`,
  'logs.all': `project=${project}&cold=`,
}

/** CPU, and on the clock the engine within the same requests. As deployed only where Firestore's emulator is. */
export async function miss(site: Site): Promise<Measurement[]> {
  const programs = {
    ours: functionOf('functions/index.ts', 'query', site.env),
    engine: { args: ['infra/bench/servers/engine.ts'], env: site.env },
  }
  const measurements: Measurement[] = []
  for (const [endpoint, query] of Object.entries(queries))
    measurements.push(...(await withServers(programs, servers => measure(servers, endpoint, query, site))))
  measurements.push(await publishing('miss', site))
  const missing = missingEmulator()
  if (missing !== null) {
    console.error(`miss as deployed is left out: ${missing}`)
    return measurements
  }
  const cloud = await openDeployedSite(site)
  try {
    return [...measurements, await publishing('miss, as deployed', cloud)]
  } finally {
    await cloud.close()
  }
}

/** Whole requests against the same ones without their wait for the store. */
async function publishing(what: string, site: Site): Promise<Measurement> {
  const { headers } = site
  const query = queries['usage.api-counts']
  let calls = 0
  const next = (): Call => ({ path: `/api/endpoints/query/usage.api-counts?${query}%7Cp${calls++}`, headers })
  const programs = { ours: functionOf('functions/index.ts', 'query', site.env) }
  return withServers(programs, async ({ ours }) => {
    await untilAnswer(ours, next())
    await clocks(ours, next) // warms up
    const { whole, storing } = await clocks(ours, next)
    const without = whole.map((ms, i) => ms - storing[i]!)
    const name = `${what}: without waiting until it is stored`
    return compared(name, { ours: whole, theirs: without, unit: 'ms', bound: null })
  })
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

/** The time of whole requests, and of the engine and the writing within the same ones, by their Server-Timing. */
async function clocks(
  server: Server,
  next: () => Call,
): Promise<Record<'whole' | 'within' | 'storing', number[]>> {
  const times = { whole: [] as number[], within: [] as number[], storing: [] as number[] }
  for (let n = 0; n < rounds * misses; n++) {
    const started = performance.now()
    const { headers } = await request(server, next())
    times.whole.push(performance.now() - started)
    const steps = String(headers['server-timing'])
    times.within.push(Number(/engine;dur=([\d.]+)/.exec(steps)?.[1]))
    times.storing.push(Number(/store;dur=([\d.]+)/.exec(steps)?.[1] ?? 0))
  }
  return times
}
