/**
 * From the start of a process to its first hot answer, against a bare function; all from bundles. Ours is measured with
 * the adapters of a laptop, and as deployed: with the answer in Google's emulator, through Google's client.
 */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { missingEmulator } from '../../google/firestore-emulator.ts'
import { buildFunctions, bundle } from '../../deploy/build.ts'
import { functionOf, type Program } from '../../local/process.ts'
import { cpuOf, untilAnswer, withServers } from '../server.ts'
import { alternately, comparedBoth, type Measurement } from '../measure.ts'
import { minutesOfUsage, openDeployedSite, project, type Site, storeAnswer } from '../site.ts'

const rounds = 15
const bound = 2.2

/** CPU and clock, of bundles that it builds first. As deployed only where Firestore's emulator is. */
export async function cold(site: Site): Promise<Measurement[]> {
  const folder = join(site.folder, 'bundles')
  mkdirSync(folder)
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const bare = join(folder, 'bare')
  await bundle('infra/bench/servers/bare.ts', join(bare, 'index.js'))
  const local = await against(bare, site, join(folder, 'local'), 'cold start')
  const missing = missingEmulator()
  if (missing !== null) {
    console.error(`cold start as deployed is left out: ${missing}`)
    return local
  }
  const cloud = await openDeployedSite(site)
  try {
    return [...local, ...(await against(bare, cloud, join(folder, 'deployed'), 'cold start, as deployed'))]
  } finally {
    await cloud.close()
  }
}

async function against(bare: string, site: Site, service: string, what: string): Promise<Measurement[]> {
  await buildFunctions(service, { local: site.env['STORE'] !== 'firestore' })
  const query = `interval=minutely&project=${project}`
  const { call } = await storeAnswer(site, 'usage.api-counts', query, minutesOfUsage())
  const first = (program: Program) => async () => {
    const started = performance.now()
    return withServers({ server: program }, async ({ server }) => {
      await untilAnswer(server, call)
      return { clock: performance.now() - started, cpu: cpuOf(server) }
    })
  }
  const spent = await alternately(rounds, {
    ours: first(functionOf(service, 'query', site.env)),
    theirs: first(functionOf(bare, 'bare')),
  })
  return comparedBoth(`${what}: bare function`, spent, bound)
}
