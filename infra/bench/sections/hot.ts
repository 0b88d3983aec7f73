/** A hot answer against a bare function that sends the same bytes, and against `node:http` alone. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { functionOf } from '../../local/process.ts'
import { type Call, loadServer, untilAnswer, withServers } from '../server.ts'
import { alternately, compared, type Measurement } from '../measure.ts'
import { minutesOfUsage, project, type Site, storeAnswer } from '../site.ts'

const rounds = 9
const requests = 5000

/** Microseconds of CPU, with gzip and without; also what `service.requests` and the framework's domains add. */
export async function hot(site: Site): Promise<Measurement[]> {
  const query = `interval=minutely&project=${project}`
  const { call, gzip, identity } = await storeAnswer(site, 'usage.api-counts', query, minutesOfUsage())
  const compressed = { ...call, headers: { ...call.headers, 'Accept-Encoding': 'gzip' } }
  return [
    ...(await measure(site, { call: compressed, file: 'body.json.gz', body: gzip })),
    ...(await measure(site, { call, file: 'body.json', body: identity })),
  ]
}

async function measure(
  site: Site,
  { call, file, body }: { call: Call; file: string; body: Buffer },
): Promise<Measurement[]> {
  const bodyFile = join(site.folder, file)
  writeFileSync(bodyFile, body)
  const env = { BODY_FILE: bodyFile }
  const programs = {
    ours: functionOf('functions/index.ts', 'query', site.env),
    unkept: functionOf('functions/index.ts', 'query', { ...site.env, REQUESTS_DAYS: '0' }),
    withDomains: functionOf('infra/bench/servers/with-domains.ts', 'query', site.env),
    bare: functionOf('infra/bench/servers/bare.ts', 'bare', env),
    raw: { args: ['infra/bench/servers/raw.ts'], env },
  }
  return withServers(programs, async servers => {
    for (const server of Object.values(servers)) await untilAnswer(server, call)
    const cpu = (name: keyof typeof programs) => async () =>
      (await loadServer(servers[name], { call: () => call, count: requests, connections: 8 })).cpu
    const turns = {
      ours: cpu('ours'),
      unkept: cpu('unkept'),
      withDomains: cpu('withDomains'),
      bare: cpu('bare'),
      raw: cpu('raw'),
    }
    const { ours, unkept, withDomains, bare, raw } = await alternately(rounds, turns, 1)
    const name = `hot, ${body.length} bytes ${file.endsWith('.gz') ? 'gzip' : 'identity'}`
    const unit = 'us CPU'
    return [
      compared(`${name}: bare function`, { ours, theirs: bare, unit, bound: 1 }),
      compared(`${name}: ours without service.requests`, { ours, theirs: unkept, unit, bound: 1.05 }),
      compared(`${name}: node:http`, { ours, theirs: raw, unit, bound: null }),
      compared(`${name}: ours with domains`, { ours, theirs: withDomains, unit, bound: null }),
    ]
  })
}
