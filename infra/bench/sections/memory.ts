/**
 * Memory of one instance as deployed, in a process with the bounds of 1 GiB: many small answers in use, then as many callers
 * as an instance serves, each of whom wants a largest answer. `memory.soak.ts` holds it to the bound, and runs of the
 * engine, too.
 */
import http from 'node:http'
import { randomInt } from 'node:crypto'
import type { Result } from '../../../shared/engines/engine.ts'
import { functionOf, type Server } from '../../local/process.ts'
import { type Call, loadServer, peakMemoryOf, request, untilAnswer, withServers } from '../server.ts'
import { copyAnswer, minutesOfUsage, project, type Site, storeAnswer } from '../site.ts'
import type { Measurement } from '../measure.ts'
import { targets } from '../targets.ts'

/** `query-memory` and `query-concurrency` of `infra/deploy/settings.ts`. */
export const instance = { memory: 2 ** 30, callers: 80 }
/** What an instance may take of its memory. */
export const boundMB = (0.6 * instance.memory) / 2 ** 20

/** JSON of an answer: the most that a definition may allow, and so varied that it is near the most that is stored. */
const largestMB = 32
const smallAnswers = 100_000
/** Different largest answers, which cannot all be in memory. */
const others = 10
const endpoint = 'usage.api-counts'

export interface Figure {
  what: string
  /** Resident memory of the process, at its highest so far. */
  peakMB: number
  /** Answers by their status. */
  statuses: Record<number, number>
}

/** Resident memory at its highest over all steps, in units of 2^20 bytes. */
export async function memory(site: Site): Promise<Measurement[]> {
  const figures = await memoryOfAnswers(site, smallAnswers)
  for (const { what, peakMB, statuses } of figures)
    console.error(`${what}: ${peakMB.toFixed(0)} MB; ${countsByStatus(statuses)}`)
  const note = `${instance.callers} callers, ${smallAnswers} small answers in use`
  return [{ target: targets.memory, value: Math.max(...figures.map(({ peakMB }) => peakMB)), note }]
}

/** Counts by status, as `80 x 200, 3 x 503`. */
export function countsByStatus(statuses: Record<number, number>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${count} x ${status}`)
    .join(', ')
}

/** The figures in the order in which the load grows; no step waits for memory of the one before to be free. */
export async function memoryOfAnswers(site: Site, count: number): Promise<Figure[]> {
  const small = (n: number): Call => ({ path: pathOf(`small-${n}`), headers: site.headers })
  await storeAnswer(site, endpoint, queryOf('small'), minutesOfUsage())
  const copies = { from: queryOf('small'), queryOf: (n: number) => queryOf(`small-${n}`), count }
  await copyAnswer(site, endpoint, copies)
  const large: Call[] = []
  for (let n = 0; n <= others; n++)
    large.push((await storeAnswer(site, endpoint, queryOf(`large-${n}`), largest())).call)

  const figures: Figure[] = []
  await inInstance(site.env, async server => {
    const note = (what: string, statuses: Record<number, number>) =>
      figures.push({ what, peakMB: peakMemoryOf(server), statuses })
    note('at the start', {})
    await loadServer(server, { call: small, count, connections: 20 })
    note(`${count.toLocaleString('en')} small answers in use`, { 200: count })
    for (const encoding of ['gzip', 'identity', 'br'])
      note(
        `${instance.callers} callers of the largest answer, ${encoding}`,
        await all(server, () => sent(large[0]!, { 'Accept-Encoding': encoding })),
      )
    note(
      `${instance.callers} callers of the largest answer, as CSV`,
      await all(server, () => sent({ ...large[0]!, path: `${large[0]!.path}&format=csv` })),
    )
    note(
      `${instance.callers} callers of ${others} largest answers`,
      await all(server, n => sent(large[1 + (n % others)]!)),
    )
  })
  return figures
}

/** Runs `act` with a function in a process that knows the bounds which it would take from an instance's memory. */
export function inInstance(
  env: Record<string, string>,
  act: (server: Server) => Promise<void>,
): Promise<void> {
  const bounds = { MAX_BYTES_IN_FLIGHT: String(Math.floor(instance.memory / 6)) }
  const program = functionOf('functions/index.ts', 'query', { ...env, ...bounds })
  // Node's own choice in a container of 1 GiB (`heap_size_limit` is 560 MB there); on a larger machine its young space is larger.
  const command = [process.execPath, '--max-old-space-size=512', '--max-semi-space-size=16']
  return withServers({ server: { ...program, command } }, async ({ server }) => {
    await untilAnswer(server, { path: '/health' })
    await act(server)
  })
}

const queryOf = (end: string) => `interval=daily&project=${project}%7C${end}`
const pathOf = (end: string) => `/api/endpoints/query/${endpoint}?${queryOf(end)}`

export function sent(call: Call, headers: Record<string, string> = {}): Call {
  return { ...call, headers: { ...call.headers, ...headers } }
}

/** All callers at once, each on a connection of its own. */
export async function all(server: Server, call: (n: number) => Call): Promise<Record<number, number>> {
  const agent = new http.Agent({ maxSockets: instance.callers })
  const calls = Array.from({ length: instance.callers }, (_, n) => request(server, call(n), agent))
  const statuses: Record<number, number> = {}
  for (const { status } of await Promise.all(calls)) statuses[status] = (statuses[status] ?? 0) + 1
  return statuses
}

/** Digits at random take nearly half their size as gzip. */
function largest(): Result {
  const digits = () => String(randomInt(1e14)).padStart(14, '0')
  const text = () => Array.from({ length: 70 }, digits).join('')
  const count = Math.floor((largestMB * 1e6) / 1000)
  const columns = [{ name: 'digits', type: { kind: 'STRING' as const } }]
  return { columns, rows: Array.from({ length: count }, () => ({ digits: text() })), truncated: false }
}
