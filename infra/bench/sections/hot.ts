/** A hot answer against a bare function that sends the same bytes. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { functionOf } from '../../local/process.ts'
import { loadServer, untilAnswer, withServers } from '../server.ts'
import { alternately, compared, type Measurement } from '../measure.ts'
import { minutesOfUsage, project, type Site, storeAnswer } from '../site.ts'
import { targets } from '../targets.ts'

const rounds = 15
const requests = 3000

/** Microseconds of CPU, with gzip, as clients ask for it. */
export async function hot(site: Site): Promise<Measurement[]> {
  const query = `interval=minutely&project=${project}`
  const stored = await storeAnswer(site, 'usage.api-counts', query, minutesOfUsage())
  const call = { ...stored.call, headers: { ...stored.call.headers, 'Accept-Encoding': 'gzip' } }
  const bodyFile = join(site.folder, 'body.json.gz')
  writeFileSync(bodyFile, stored.gzip)
  const programs = {
    ours: functionOf('functions/index.ts', 'query', site.env),
    bare: functionOf('infra/bench/servers/bare.ts', 'bare', { BODY_FILE: bodyFile }),
  }
  return withServers(programs, async servers => {
    for (const server of Object.values(servers)) await untilAnswer(server, call)
    const cpu = (name: keyof typeof programs) => async () =>
      (await loadServer(servers[name], { call: () => call, count: requests, connections: 8 })).cpu
    const { ours, bare } = await alternately(rounds, { ours: cpu('ours'), bare: cpu('bare') }, 2)
    return [compared(targets.hot, { ours, theirs: bare, unit: 'us CPU' })]
  })
}
