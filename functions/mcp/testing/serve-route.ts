/** The route `/mcp` alone, on a port of its own, over the data of a service and with its key. */
import type { AddressInfo } from 'node:net'
import { http } from '@google-cloud/functions-framework'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { loadConfig } from '../../../shared/config.ts'
import { httpFunction } from '../../http/call.ts'
import type { TestService } from '../../testing/service.ts'
import { mcp, noSessions } from '../route.ts'
import type { Serve } from '../server.ts'

let made = 0

/** @returns its port */
export async function serveRoute(
  { env, services, key }: TestService,
  serve: Serve,
): Promise<{ port: number; stop(): void }> {
  const config = loadConfig(env)
  const name = `mcp-${++made}`
  const handle = httpFunction(
    config,
    exchange => {
      if (exchange.req.method !== 'POST') noSessions()
      exchange.req.headers['x-api-key'] = key
      return mcp({ ...exchange, name: '', services, config }, async () => serve)
    },
    () => {},
  )
  http(name, handle)
  const server = getTestServer(name)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { port: (server.address() as AddressInfo).port, stop }
}
