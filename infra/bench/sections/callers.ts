/** A cold key, requested by 50 callers of each of 4 processes at once: how often the engine runs. */
import { functionOf } from '../../local/process.ts'
import { type Call, request, untilAnswer, withServers } from '../server.ts'
import { project, type Site } from '../site.ts'
import type { Measurement } from '../measure.ts'
import { targets } from '../targets.ts'

const keys = 10
const callers = 50

/** Keys differ in a second branch of the pattern `project`, which matches nothing: equal rows, and no answer yet. */
export async function callersOfOneKey(site: Site): Promise<Measurement[]> {
  const program = functionOf('functions/index.ts', 'query', site.env)
  const programs = { first: program, second: program, third: program, fourth: program }
  return withServers(programs, async servers => {
    const processes = Object.values(servers)
    const call = (key: string): Call => ({
      path: `/api/endpoints/query/usage.api-counts?interval=hourly&project=${project}%7C${key}`,
      headers: site.headers,
    })
    for (const server of processes) await untilAnswer(server, call('warm-up'))
    const runs: number[] = []
    for (let key = 0; key < keys; key++) {
      const requests = processes.flatMap(server =>
        Array.from({ length: callers }, () => request(server, call(`key-${key}`))),
      )
      runs.push((await Promise.all(requests)).filter(ranTheEngine).length)
    }
    const note = `${keys} keys, ${Math.min(...runs)} to ${Math.max(...runs)} runs each`
    return [{ target: targets.callers, value: Math.max(...runs), note }]
  })
}

/** A request that waited for the run of another says `collapsed`, a later one `hit`. */
function ranTheEngine({ status, headers }: Awaited<ReturnType<typeof request>>): boolean {
  if (status !== 200) throw new Error(`answered ${status}`)
  return /fwd=miss(?!; collapsed)/.test(String(headers['cache-status']))
}
