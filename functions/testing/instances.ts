/**
 * Instances of a deployed function as Cloud Run has them where a request pays for the CPU: from the last byte of its last
 * response until its next request an instance stands still. SIGSTOP and SIGCONT do that here.
 * https://cloud.google.com/run/docs/configuring/billing-settings
 */
import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type FunctionProcess, startFunction } from './framework.ts'

export interface Instance {
  /** Of a proxy that stops and continues the process; it stays the same when the process is another. */
  url: string
  /** Kills the process, with all of its requests, and starts another. */
  replace(): Promise<void>
  stop(): Promise<void>
}

/** @param source folder of the bundle */
export async function startInstance(
  target: 'query' | 'warm',
  { source, env }: { source: string; env: Record<string, string> },
): Promise<Instance> {
  const start = () => startFunction(target, { source, env: { NODE_ENV: 'production', ...env } })
  let running = await start()
  running.child.kill('SIGSTOP')
  const pass = (incoming: IncomingMessage, response: ServerResponse) => forward(running, incoming, response)
  const proxy = createServer(pass).listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const kill = async () => {
    const ended = once(running.child, 'exit')
    running.child.kill('SIGKILL')
    await ended
  }
  return {
    url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    async replace() {
      await kill()
      running = await start()
      running.child.kill('SIGSTOP')
    },
    async stop() {
      await kill()
      proxy.closeAllConnections()
      proxy.close()
    },
  }
}

const requests = new WeakMap<FunctionProcess, number>()

/** The caller gets the end of the response after the instance has stopped. A broken connection is a 502. */
function forward(to: FunctionProcess, incoming: IncomingMessage, response: ServerResponse): void {
  const { method, url, headers } = incoming
  const count = (change: number) => {
    const now = (requests.get(to) ?? 0) + change
    requests.set(to, now)
    if (change > 0 ? now === 1 : now === 0) to.child.kill(change > 0 ? 'SIGCONT' : 'SIGSTOP')
  }
  const end = (status: number, answered: IncomingMessage['headers'], body: Buffer) => {
    if (response.headersSent) return
    count(-1)
    response.writeHead(status, answered).end(body)
  }
  count(1)
  // A connection of its own: a kept one may be closed by the instance in the moment in which it goes on.
  const sent = request(to.url + url, { method, headers, agent: false }, answer => {
    const chunks: Buffer[] = []
    answer.on('data', (chunk: Buffer) => chunks.push(chunk))
    answer.on('end', () => end(answer.statusCode ?? 502, answer.headers, Buffer.concat(chunks)))
    answer.on('error', () => end(502, {}, Buffer.alloc(0)))
  })
  sent.on('error', () => end(502, {}, Buffer.alloc(0)))
  incoming.pipe(sent)
}
