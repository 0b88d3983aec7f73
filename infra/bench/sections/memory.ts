/** Memory at 8 concurrent answers of 14 MB each, stored by another process. */
import type { Result } from '../../../shared/engines/engine.ts'
import { functionOf } from '../../local/process.ts'
import { type Call, peakMemoryOf, request, untilAnswer, withServers } from '../server.ts'
import { logRows, project, type Site, storeAnswer } from '../site.ts'
import { type Measurement, median } from '../measure.ts'

const answers = 8
const megabytes = 14
const rounds = 3

export async function memory(site: Site): Promise<Measurement[]> {
  const result = await largeResult(site)
  const calls: Call[] = []
  let raw = 0
  for (let n = 0; n < answers; n++) {
    const { call, identity } = await storeAnswer(site, 'usage.api-counts', query(`large-${n}`), result)
    calls.push(call)
    raw = identity.length
  }
  const sent = `${answers} answers of ${Math.round(raw / 1e6)} MB at once`
  return [
    await measure(site, `memory, ${sent}, sent as gzip`, calls, 'gzip'),
    await measure(site, `memory, ${sent}, sent as identity`, calls, 'identity'),
  ]
}

const query = (end: string) => `interval=daily&project=${project}%7C${end}`

async function measure(site: Site, name: string, plain: Call[], encoding: string): Promise<Measurement> {
  const calls = plain.map(({ path, headers }) => ({
    path,
    headers: { ...headers, 'Accept-Encoding': encoding },
  }))
  const [idle, peak]: [number[], number[]] = [[], []]
  for (let round = 0; round < rounds; round++)
    await withServers({ server: functionOf('functions/index.ts', 'query', site.env) }, async ({ server }) => {
      await untilAnswer(server, { path: '/health' })
      idle.push(peakMemoryOf(server))
      const sent = await Promise.all(calls.map(call => request(server, call)))
      if (sent.some(({ status }) => status !== 200)) throw new Error('a large answer failed')
      peak.push(peakMemoryOf(server))
    })
  return {
    name,
    value: `${(median(peak) / median(idle)).toFixed(1)}x`,
    target: '',
    met: null,
    note: `${median(peak).toFixed(0)} MB at its peak, ${median(idle).toFixed(0)} MB before`,
  }
}

/** Rows of the logs, repeated. */
async function largeResult(site: Site): Promise<Result> {
  const result = await logRows(site, 1000)
  const once = JSON.stringify(result.rows).length
  const copies = Math.ceil((megabytes * 1e6) / once)
  return { ...result, rows: Array.from({ length: copies }, () => result.rows).flat() }
}
