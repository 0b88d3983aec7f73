/**
 * From the start of a process to its first hot answer, against a bare function; both from bundles. Ours is as deployed: with
 * the answer in Google's emulator, through Google's client.
 */
import { mkdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { missingEmulator } from '../../google/firestore-emulator.ts'
import { buildFunctions, bundle } from '../../deploy/build.ts'
import { functionOf, type Program } from '../../local/process.ts'
import { cpuOf, untilAnswer, withServers } from '../server.ts'
import { alternately, compared, type Measurement, type Spent } from '../measure.ts'
import { minutesOfUsage, openDeployedSite, project, type Site, storeAnswer } from '../site.ts'
import { targets } from '../targets.ts'

const rounds = 9

/** CPU and clock, of bundles that it builds first. Left out where Firestore's emulator is not. */
export async function cold(site: Site): Promise<Measurement[]> {
  const missing = missingEmulator()
  if (missing !== null) {
    console.error(`cold start as deployed is left out: ${missing}`)
    return []
  }
  const folder = join(site.folder, 'bundles')
  mkdirSync(folder)
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
  const [bare, service] = [join(folder, 'bare'), join(folder, 'deployed')]
  await bundle('infra/bench/servers/bare.ts', join(bare, 'index.js'))
  await buildFunctions(service)
  const cloud = await openDeployedSite(site)
  try {
    return await against(bare, cloud, service)
  } finally {
    await cloud.close()
  }
}

async function against(bare: string, site: Site, service: string): Promise<Measurement[]> {
  const query = `interval=minutely&project=${project}`
  const { call } = await storeAnswer(site, 'usage.api-counts', query, minutesOfUsage())
  const first = (program: Program) => async () => {
    const started = performance.now()
    return withServers({ server: program }, async ({ server }) => {
      await untilAnswer(server, call)
      return { clock: performance.now() - started, cpu: cpuOf(server) }
    })
  }
  const { ours, theirs } = await alternately(rounds, {
    ours: first(functionOf(service, 'query', site.env)),
    theirs: first(functionOf(bare, 'bare')),
  })
  const of = (which: keyof Spent) => ({
    ours: ours.map(spent => spent[which]),
    theirs: theirs.map(spent => spent[which]),
    unit: 'ms',
  })
  return [compared(targets.coldCpu, of('cpu')), compared(targets.coldClock, of('clock'))]
}
