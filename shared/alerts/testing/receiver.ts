/** A receiver of alerts on this machine, by HTTP or HTTPS, that does what a test wants. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { selfSigned } from './certificate.ts'

interface Received {
  method: string
  path: string
  headers: IncomingHttpHeaders
  body: string
}

/** Answers, once the body is there. */
export type Behaviour = (response: ServerResponse, request: IncomingMessage) => unknown

export interface Receiver {
  port: number
  /** Of every request. */
  received: Received[]
  /** Connections that it took. */
  connections: number
  behaviour: Behaviour
  close(): Promise<void>
}

/** The name in the certificate, which no resolver knows. */
export const host = 'hooks.example.test'

export const answer =
  (status: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  response =>
    response.writeHead(status, headers).end(body)

export async function startReceiver({
  secure = true,
  behaviour = answer(200),
}: {
  secure?: boolean
  behaviour?: Behaviour
} = {}): Promise<Receiver> {
  const trusted = getCACertificates('default')
  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    response.on('error', () => {})
    const { method, url, headers } = request
    const body = await text(request)
    receiver.received.push({ method: method!, path: url!, headers, body })
    await receiver.behaviour(response, request)
  }
  const listener = (request: IncomingMessage, response: ServerResponse) =>
    void handle(request, response).catch(() => response.destroy())
  const credentials = selfSigned([host])
  if (secure) setDefaultCACertificates([...trusted, credentials.cert])
  const server = secure ? createSecure(credentials, listener) : createServer(listener)
  server.on('connection', () => receiver.connections++).unref()
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  const receiver: Receiver = {
    port: (server.address() as AddressInfo).port,
    received: [],
    connections: 0,
    behaviour,
    async close() {
      setDefaultCACertificates(trusted)
      server.closeAllConnections()
      await new Promise(closed => server.close(closed))
    },
  }
  return receiver
}
