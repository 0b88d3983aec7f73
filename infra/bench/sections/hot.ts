/** A hot answer against a bare function that sends the same bytes, and one by a token against one by a key. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { functionOf } from '../../local/process.ts'
import { loadConfig } from '../../../shared/config.ts'
import { addIssuer, issuerIn } from '../../../shared/keys/issuers.ts'
import { tokenOf } from '../../lqe/token.ts'
import { type Call, loadServer, untilAnswer, withServers } from '../server.ts'
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
  const byToken = {
    ...call,
    headers: { Authorization: `Bearer ${await tokenFor(site)}`, 'Accept-Encoding': 'gzip' },
  }
  return withServers(programs, async servers => {
    for (const server of Object.values(servers)) await untilAnswer(server, call)
    await untilAnswer(servers.ours, byToken)
    const cpu = (name: keyof typeof programs, sent: Call) => async () =>
      (await loadServer(servers[name], { call: () => sent, count: requests, connections: 8 })).cpu
    const measures = { ours: cpu('ours', call), bare: cpu('bare', call), token: cpu('ours', byToken) }
    const { ours, bare, token } = await alternately(rounds, measures, 2)
    const unit = 'us CPU'
    return [
      compared(targets.hot, { ours, theirs: bare, unit }),
      compared(targets.token, { ours: token, theirs: ours, unit }),
    ]
  })
}

/** Of an issuer whose tokens fix nothing, so that the answer is the same. */
async function tokenFor({ env, services: { store } }: Site): Promise<string> {
  const issuer = issuerIn({
    name: 'bench',
    issuer: 'https://id.example.com',
    jwks: 'https://id.example.com/keys',
    audience: 'logs',
    pins: {},
    endpoints: '*',
  })
  await addIssuer(store, issuer)
  return tokenOf(loadConfig(env), [issuer], {
    issuer: issuer.name,
    claim: {},
    subject: 'bench',
    for: 3_600_000,
  })
}
