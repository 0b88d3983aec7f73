/** The route `/mcp` alone, on a port of its own, over the data of a service and with its key. */
import type { AddressInfo } from 'node:net'
import { http } from '@google-cloud/functions-framework'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { loadConfig } from '../../../shared/config.ts'
import { ApiError } from '../../../shared/errors.ts'
import { addresses } from '../../http/addresses.ts'
import { readBody } from '../../http/body.ts'
import { httpFunction } from '../../http/call.ts'
import type { TestService } from '../../testing/service.ts'
import { mcp } from '../route.ts'
import type { AnswerMessage } from '../server.ts'

let made = 0

/** @returns its port */
export async function serveRoute(
  { env, services, key }: TestService,
  answerMessage: AnswerMessage,
): Promise<{ port: number; stop(): void }> {
  const config = loadConfig(env)
  const name = `mcp-${++made}`
  const handle = httpFunction(
    config,
    async exchange => {
      const { req } = exchange
      if (req.method !== 'POST') throw new ApiError('method_not_allowed', 'This address takes POST.')
      if (req.body === undefined) await readBody(req) // else the framework has, where nothing here has patched it
      req.headers['x-api-key'] = key
      return mcp(
        {
          ...exchange,
          address: addresses.find(({ path }) => path === '/mcp')!,
          name: '',
          ref: null,
          view: null,
          services,
          config,
        },
        async () => answerMessage,
      )
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
