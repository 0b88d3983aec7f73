/** (b) From the start of a process to its first hot answer, against a bare function; both from a bundle. */
import { join } from 'node:path'
import { buildFunctions } from '../../build.ts'
import { bundle, folderForBundles } from '../bundle.ts'
import { type Call, untilAnswer } from '../load.ts'
import { alternately } from '../rounds.ts'
import { cpuOf, functionOf, type Program, withServers } from '../server.ts'
import { minutesOfUsage, project, type Site, storeAnswer } from '../site.ts'
import { compared, type Measurement } from '../table.ts'

const rounds = 15

export async function cold(site: Site): Promise<Measurement[]> {
  const folder = folderForBundles(join(site.folder, 'bundles'))
  const [service, hello] = [join(folder, 'service'), join(folder, 'hello')]
  await buildFunctions(service, { local: true })
  await bundle('infra/bench/servers/bare.ts', join(hello, 'index.js'))
  const query = `interval=minutely&project=${project}`
  const { call } = await storeAnswer(site, 'usage.api-counts', query, minutesOfUsage())
  const cpu: Record<string, number[]> = { ours: [], bare: [] }
  const first = (name: string, program: Program) => async () => {
    const { clock, spent } = await firstAnswer(program, call)
    cpu[name]!.push(spent)
    return clock
  }
  const clock = await alternately(rounds, {
    ours: first('ours', functionOf(service, 'query', site.env)),
    bare: first('bare', functionOf(hello, 'bare')),
  })
  const pair = { ours: cpu['ours']!, theirs: cpu['bare']! }
  return [
    compared('cold start: bare function, on the clock', {
      ours: clock.ours,
      theirs: clock.bare,
      unit: 'ms',
      bound: 2.2,
    }),
    compared('cold start: bare function, CPU', { ...pair, unit: 'ms CPU', bound: 2.2 }),
  ]
}

async function firstAnswer(program: Program, call: Call): Promise<{ clock: number; spent: number }> {
  const started = performance.now()
  return withServers({ server: program }, async ({ server }) => {
    await untilAnswer(server, call)
    return { clock: performance.now() - started, spent: cpuOf(server) }
  })
}
