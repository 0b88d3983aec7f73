/**
 * `npm run cloud-local`: both functions as deployed, on this machine: the built bundle with Google's clients, against
 * Google's Firestore emulator and the stand-in for BigQuery.
 */
import { loadConfig } from '../../shared/config.ts'
import { log } from '../../shared/log.ts'
import { openServices } from '../../shared/services.ts'
import { missingEmulator } from './firestore-emulator.ts'
import { issueKey } from '../../shared/keys/records.ts'
import { apply } from '../lqe/apply/apply.ts'
import { print } from '../lqe/print.ts'
import { buildAll } from '../deploy/build.ts'
import { projects } from '../lqe/logs/sample.ts'
import { startBackends, startBundle } from './backends.ts'
import { keepWarm } from '../local/scheduler.ts'
import { makeSampleLogs } from '../local/samples.ts'

const missing = missingEmulator()

if (missing === null) await start()
else {
  console.error(`cloud-local needs Google's Firestore emulator: ${missing}.`)
  process.exitCode = 1
}

async function start(): Promise<void> {
  const local = loadConfig(process.env)
  const { port } = local
  await makeSampleLogs(local)
  const backends = await startBackends(local)
  const env = { ...process.env, ...backends.env }
  const services = await openServices(loadConfig(env))
  await apply(services, { queries: 'queries', dryRun: false, out: text => print(...text.split('\n')) })
  const grant = { name: 'local', endpoints: '*' as const, pins: {}, expiresAt: null }
  const { key } = await issueKey(services.store, { ...grant, rights: ['cache:bypass', 'definitions:read'] })
  await buildAll(() => {})
  const running = [
    await startBundle('query', env, log, { port }),
    await startBundle('warm', env, log, { port: port + 1 }),
  ]
  void keepWarm(services, async endpoint => {
    const query = new URLSearchParams({ endpoint }).toString()
    await (await fetch(`http://localhost:${port + 1}/?${query}`, { method: 'POST' })).text()
  })
  const end = () => void Promise.all(running.map(({ stop }) => stop())).finally(() => process.exit(0))
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, end)
  console.log(`
As deployed: query at http://localhost:${port}, warm at http://localhost:${port + 1}
API key: ${key}

  curl -s 'http://localhost:${port}/api/endpoints/query/usage.api-counts?interval=daily&project=${projects[0]!.ref}' -H 'X-API-KEY: ${key}'
  curl -s -X POST http://localhost:${port + 1}/
`)
}
