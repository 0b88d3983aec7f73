import http from 'node:http'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { startService, type TestService } from '../testing/service.ts'
import { serverFor, messageAnswerer } from './server.ts'
import type { McpCall } from './call.ts'
import { serveRoute } from './testing/serve-route.ts'
import { toolResult } from './tools.ts'
import { rounds } from '../../shared/testing/rounds.ts'

const now = '2026-01-31T12:00:00Z'

let service: TestService
let short: Awaited<ReturnType<typeof serveRoute>>
let library: typeof short
/** How often the library was, and how many calls had a frame. */
let asked = 0
let framed = 0

beforeAll(async () => {
  const rows = Array.from({ length: 30 }, (_, at) => ({
    timestamp: new Date(Date.parse(now) - at * 1000).toISOString(),
    project: 'p',
    event_message: `"${at}" \u2028 </rows>`,
  }))
  service = await startService({ tables: { 'postgres.logs': rows }, env: { FROZEN_NOW: now }, bundle: null })
  const serverOf = (mcpCall: McpCall) => {
    asked++
    return serverFor(mcpCall)
  }
  const counted = messageAnswerer(serverOf, (mcpCall, params) => {
    framed++
    return toolResult(mcpCall, params)
  })
  short = await serveRoute(service, counted)
  library = await serveRoute(
    service,
    messageAnswerer(serverFor, async () => null),
  )
}, 60_000)

afterAll(async () => {
  short.stop()
  library.stop()
  await service.stop()
})

interface Sent {
  headers: Record<string, string>
  body: unknown
}

type Json = Record<string, unknown>

/** `undefined` removes a header. */
const withHeader = (name: string, value: string | undefined) => (sent: Sent) => {
  const { [name]: _, ...others } = sent.headers
  return { ...sent, headers: { ...others, ...(value === undefined ? {} : { [name]: value }) } }
}

/** `undefined` leaves a member out of the JSON. */
const withMember = (path: string[], value: unknown) => (sent: Sent) => ({
  ...sent,
  body: put(sent.body, path, value),
})

function put(into: unknown, [name, ...rest]: string[], value: unknown): unknown {
  if (name === undefined) return value
  const { ...copy } = (into ?? {}) as Json
  const member = put(copy[name], rest, value)
  Object.defineProperty(copy, name, { value: member, enumerable: true, configurable: true, writable: true })
  return copy
}

const envelope = (name: string) => ['params', '_meta', `io.modelcontextprotocol/${name}`]
const revisions = ['2026-07-28', '2025-11-25', '2025-06-18', '2024-11-05', '2027-01-01', ' 2026-07-28 ', '']
const anyJson = fc.jsonValue({ depthSize: 'small' }) as fc.Arbitrary<unknown>
const oneOf = <T extends unknown[]>(...values: T): fc.Arbitrary<T[number]> => fc.constantFrom(...values)

/** What may be different about a request, also where it is damaged by it. */
const changes: fc.Arbitrary<(sent: Sent) => Sent>[] = [
  ...['accept', 'content-type', 'mcp-protocol-version', 'mcp-method', 'mcp-name'].map(name =>
    fc.constant(withHeader(name, undefined)),
  ),
  oneOf('application/json', 'text/event-stream', '*/*', 'text/event-stream, application/json;q=0.5').map(
    value => withHeader('accept', value),
  ),
  oneOf('application/json; charset=utf-8', 'application/json;', 'application/x+json', 'text/plain').map(
    value => withHeader('content-type', value),
  ),
  oneOf(...revisions).map(value => withHeader('mcp-protocol-version', value)),
  oneOf('tools/list', 'TOOLS/CALL', ' tools/call').map(value => withHeader('mcp-method', value)),
  oneOf('logs_all', '=?base64?bG9nc19hbGw=?=', '=?base64?!?=', '').map(value =>
    withHeader('mcp-name', value),
  ),
  oneOf('mcp-session-id', 'last-event-id', 'mcp-param-project', 'origin-agent').map(name =>
    withHeader(name, 'x'),
  ),
  fc
    .oneof(fc.integer(), fc.string({ unit: 'binary' }), oneOf(0, -0, 1.5, 1e21, 2 ** 53, '', null, true))
    .map(value => withMember(['id'], value)),
  oneOf('jsonrpc', 'id', 'method', 'params').map(name => withMember([name], undefined)),
  fc.tuple(oneOf('jsonrpc', 'id', 'params'), anyJson).map(([name, value]) => withMember([name], value)),
  oneOf('tools/list', 'tools/call ', 'ping', 'initialize', 'server/discover', 'notifications/cancelled').map(
    value => withMember(['method'], value),
  ),
  fc
    .tuple(oneOf('result', 'error', 'extra', '__proto__', 'toJSON'), anyJson)
    .map(([name, value]) => withMember([name], value)),
  fc
    .tuple(
      oneOf('task', 'requestState', 'inputResponses', 'cursor', 'arguments', '_meta', '__proto__'),
      anyJson,
    )
    .map(([name, value]) => withMember(['params', name], value)),
  oneOf({ ttl: 1 }, { ttl: 'x' }).map(value => withMember(['params', 'task'], value)),
  oneOf('state', 5).map(value => withMember(['params', 'requestState'], value)),
  oneOf('nothing', '', '__proto__', 'constructor', 5, null, undefined).map(value =>
    withMember(['params', 'name'], value),
  ),
  oneOf(undefined, {}, [], { project: 'p' }, { project: 'p', sql: 'SELECT 1 AS one' }).map(value =>
    withMember(['params', 'arguments'], value),
  ),
  fc
    .tuple(
      oneOf(
        'project',
        'sql',
        'interval',
        'format',
        'cursor',
        'limit',
        'unknown',
        '__proto__',
        'constructor',
        '\ud800',
      ),
      fc.oneof(anyJson, oneOf('p', 'daily', 'json', '\ud800', 'a&b=c', '%', '+')),
    )
    .map(([name, value]) => withMember(['params', 'arguments', name], value)),
  fc
    .tuple(oneOf('protocolVersion', 'clientInfo', 'clientCapabilities', 'logLevel', 'related-task'), anyJson)
    .map(([name, value]) => withMember(envelope(name), value)),
  oneOf(...revisions).map(value => withMember(envelope('protocolVersion'), value)),
  oneOf({ sampling: {} }, { elicitation: {}, extensions: { a: {} } }, { roots: 1 }).map(value =>
    withMember(envelope('clientCapabilities'), value),
  ),
  fc
    .tuple(
      oneOf('progressToken', 'traceparent', 'vendor/key'),
      fc.oneof(anyJson, fc.integer(), oneOf('t', 'number', 1.5)),
    )
    .map(([name, value]) => withMember(['params', '_meta', name], value)),
  oneOf(1, 2).map(times => (sent: Sent) => ({ ...sent, body: Array(times).fill(sent.body) as unknown })),
]

const calls: [tool: string, args: Json][] = [
  ['usage_api-counts', { interval: 'daily', project: 'p' }],
  ['logs_all', { project: 'p' }],
  ['logs_all', { project: 'p', format: 'json', unknown: 1 }],
  ['query_logs_all', { project: 'p', sql: 'SELECT event_message AS m FROM postgres_logs LIMIT 3' }],
  ['query_logs_all', { project: 'p', sql: 'SELECT nothing FROM postgres_logs' }],
]

const requests = fc
  .tuple(
    oneOf('2026-07-28', '2025-11-25'),
    oneOf(...calls),
    fc.array(fc.oneof(...changes), { maxLength: 3, size: 'max' }),
  )
  .map(([revision, [name, args], changed]) =>
    changed.reduce((sent, change) => change(sent), requestFor(revision, name, args)),
  )

/** As a client of the revision sends it. */
function requestFor(revision: string, name: string, args: Json): Sent {
  const is2025 = revision.startsWith('2025')
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': revision,
    ...(is2025 ? {} : { 'mcp-method': 'tools/call', 'mcp-name': name }),
  }
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': revision,
    'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const params = { name, arguments: args, ...(is2025 ? {} : { _meta }) }
  return { headers, body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params } }
}

/** Differ between any two answers, or say how bytes are sent. */
const unlike = ['date', 'x-request-id', 'content-length', 'transfer-encoding']

async function answerOf({ port }: typeof short, { headers, body }: Sent) {
  const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
    const sent = http.request({ host: '127.0.0.1', port, path: '/mcp', method: 'POST', headers }, resolve)
    sent.once('error', reject)
    sent.end(JSON.stringify(body) ?? '')
  })
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk as Buffer)
  const text = Buffer.concat(chunks).toString()
  const [, mark] = /<rows (\w{16})>/.exec(text) ?? []
  const alike = Object.entries(response.headers).filter(([name]) => !unlike.includes(name))
  return { status: response.statusCode, headers: alike, body: mark ? text.replaceAll(mark, 'MARK') : text }
}

const withToken = (progressToken: unknown) => withMember(['params', '_meta', 'progressToken'], progressToken)

test.each(['2026-07-28', '2025-11-25'])('the library judges a form of %s once', async revision => {
  for (const [name, args] of calls.slice(0, -1)) {
    const sent = requestFor(revision, name, args)
    const others = [withMember(['id'], 'b'), withMember(['params', 'arguments', 'project'], 'q')].map(
      change => change(sent),
    )
    const numbered = [1, 2].map(token => withToken(token)(sent))
    const before = asked
    for (const each of [sent, ...others, ...numbered]) expect((await answerOf(short, each)).status).toBe(200)
    expect(asked - before).toBe(2)
  }
})

test(
  'any request, also a damaged one, is answered as by the library alone',
  async () => {
    const known = requestFor('2026-07-28', ...calls[0]!)
    const before = framed
    await fc.assert(
      fc.asyncProperty(requests, async sent => {
        const expected = await answerOf(library, sent)
        expect(await answerOf(short, sent)).toEqual(expected)
        expect(await answerOf(short, sent)).toEqual(expected)
      }),
      {
        numRuns: rounds(40, 5_000),
        examples: [[withMember(['params', 'arguments', '__proto__'], 1)(known)], [withToken(1.5)(known)]],
      },
    )
    expect(framed - before).toBeGreaterThan(10)
  },
  rounds(120_000, 3_600_000),
)
