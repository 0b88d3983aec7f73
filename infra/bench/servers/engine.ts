/**
 * The engine alone, in the process of the server: each request runs the query of an endpoint `runs` times, one after the other, each time with another
 * project, and gets an empty response.
 */
import { createServer } from 'node:http'
import { loadConfig } from '../../../shared/config.ts'
import { readParameters } from '../../../shared/endpoints/parameters.ts'
import { runQuery } from '../../../shared/run/run-query.ts'
import { openServices } from '../../../shared/services.ts'

const { engine, endpoints } = await openServices(loadConfig({ ...process.env, ENGINE_PROCESSES: '0' }))

createServer((req, res) => {
  runAll(new URL(req.url ?? '/', 'http://localhost').searchParams)
    .then(() => res.end())
    .catch((error: unknown) => res.writeHead(500).end(String(error)))
}).listen(Number(process.env['PORT']), '127.0.0.1')

async function runAll(request: URLSearchParams): Promise<void> {
  const endpoint = await endpoints.find(request.get('endpoint') ?? '')
  if (!endpoint) throw new Error('no such endpoint')
  for (let n = 0; n < Number(request.get('runs')); n++) {
    const { bindings } = readParameters(endpoint, `${request.get('query')}${n}`, {})
    await runQuery(
      engine,
      endpoint,
      { sql: endpoint.sql, bindings },
      { labels: { endpoint: endpoint.name, key: 'bench' } },
    )
  }
}
