/** The entries that a request leaves at the edge and in the log of its service. */
import { edgeMessage, edgeTable } from '../access-log.ts'
import type { Json } from '../entries.ts'
import type { Random } from './random.ts'
import type { Request } from './requests.ts'
import { serverAddress } from './world.ts'

/** An entry before it has an id. */
export interface SampleEntry {
  table: string
  /** From the request's own time, in microseconds. */
  delay: number
  message: string
  /** Its objects are plain, not lists of one. */
  metadata: Fields
  /** Absent where the table names the project in its metadata only. */
  project?: string
}

/** ISO 8601 in UTC, with milliseconds. @param time in microseconds since 1970 */
export function isoTime(time: number): string {
  return new Date(time / 1000).toISOString()
}

/** The entry that every request leaves at the edge. */
export function edgeEntry(request: Request, random: Random): SampleEntry {
  const { project, user, method, path, search, url, status, ray } = request
  const { ip, agent, place } = user.client
  const stored = request.service === 'storage'
  const logflare_worker = { worker_id: random.hex(6).toUpperCase() }
  const cf = network(request, random)
  const asked = {
    accept: stored ? 'image/*' : 'application/json',
    cf_connecting_ip: ip,
    x_real_ip: ip,
    cf_ipcountry: place.country,
    cf_ray: ray,
    referer: `${project.site}/`,
    x_forwarded_proto: 'https',
    content_length: method === 'GET' ? null : '182',
  }
  const sent = {
    cf_ray: `${ray}-${place.colo}`,
    sb_gateway_version: '1',
    content_type: stored ? 'image/jpeg' : 'application/json; charset=utf-8',
    cf_cache_status: stored ? random.pick(['HIT', 'HIT', 'MISS']) : 'DYNAMIC',
    x_sb_error_code: gatewayErrors[status] ?? null,
  }
  const exchange = exchangeOf(request, { path, search, cf }, asked, { origin_time: request.duration }, sent)
  const message = edgeMessage(method, status, ip, ray, url, agent)
  return {
    table: edgeTable,
    delay: 0,
    message,
    project: project.ref,
    metadata: { logflare_worker, ...exchange },
  }
}

type Fields = Record<string, Json>

/** A request and its response, as the edge and the relay of functions log them. */
function exchangeOf(call: Request, request: Fields, asked: Fields, response: Fields, sent: Fields) {
  const { method, url, status, bytes, project, user, time } = call
  const { host } = project
  const client = { host, user_agent: user.client.agent, x_client_info: user.client.library }
  const sb = credentials(call)
  const answer = { date: new Date(time / 1000).toUTCString(), content_length: String(bytes) }
  return {
    request: { ...request, method, url, host, protocol: 'https:', sb, headers: { ...client, ...asked } },
    response: { ...response, status_code: status, headers: { ...answer, ...sent } },
  }
}

function network({ user, service }: Request, random: Random): Json {
  const { asn, organization, ja3, place } = user.client
  const score = random.integer(1, 99)
  return {
    ...place,
    asn,
    asOrganization: organization,
    clientTrustScore: score,
    httpProtocol: service === 'realtime' ? 'HTTP/1.1' : 'HTTP/2',
    tlsVersion: 'TLSv1.3',
    botManagement: { corporateProxy: false, ja3Hash: ja3, score, staticResource: false, verifiedBot: false },
  }
}

const gatewayErrors: Partial<Record<number, string>> = { 401: 'UNAUTHORIZED', 429: 'OVER_REQUEST_RATE_LIMIT' }

/** The caller's keys, as the gateway logs them. */
function credentials({ project, user, time }: Request): Json {
  const key = {
    algorithm: 'HS256',
    issuer: `https://${project.host}/auth/v1`,
    signature_prefix: user.token.slice(-43, -37),
    expires_at: Math.floor(time / 1_000_000) + 3600,
  }
  const apikey = { payload: { ...key, role: 'anon' } }
  const session = { role: 'authenticated', subject: user.id, session_id: user.session }
  return { auth_user: user.id, jwt: { apikey, authorization: { payload: { ...key, ...session } } } }
}

/** Events of auth, by the action of a request that succeeds. */
const authEvents: Partial<Record<string, string>> = {
  refresh: 'token_refreshed',
  login: 'login',
  signup: 'user_signedup',
  logout: 'logout',
  recover: 'user_recovery_requested',
}

const authErrors: Partial<Record<number, string>> = {
  400: '400: Invalid login credentials',
  403: '403: invalid JWT: unable to parse or verify signature',
  422: '422: User already registered',
  429: '429: For security purposes, you can only request this after 54 seconds.',
}

/** The entry of the request, and of a login or a recovery that succeeds its own line before it. */
export function* authEntries(request: Request): Generator<SampleEntry> {
  const { method, path, status, subject, duration, user, project, ray } = request
  const remote_addr = user.client.ip
  const failed = status >= 400
  const action = authEvents[subject]
  const traits = { provider: 'email', user_id: user.id }
  yield authEntry(request, -400, {
    msg: 'request completed',
    method,
    path: path.replace('/auth/v1', ''),
    status: String(status),
    duration: String(duration * 1_000_000),
    request_id: ray,
    remote_addr,
    referer: project.site,
    level: failed ? 'warning' : 'info',
    ...(failed && { error: authErrors[status]! }),
    ...(!failed && action && { auth_event: { action, actor_id: user.id, actor_via_sso: false, traits } }),
  })
  if (failed) return
  const login = { action: 'login', login_method: 'password', metering: true, ...traits }
  if (subject === 'login')
    yield authEntry(request, -1_200, { level: 'info', msg: 'Login', ...login, request_id: ray, remote_addr })
  const args = ['recovery', user.email, `${project.site}/reset`]
  const msg = `recovery mail sent to ${user.email}`
  if (subject === 'recover') yield authEntry(request, -900, { level: 'info', msg, request_id: ray, args })
}

/** The server's line is JSON; the shipper keeps the line and its fields. */
function authEntry({ time, project: { ref } }: Request, delay: number, fields: Fields): SampleEntry {
  const line = { ...fields, component: 'api', timestamp: isoTime(time + delay).replace(/\.\d+/, '') }
  const metadata = { ...line, host: `db-${ref}`, project: ref }
  return { table: 'gotrue.logs.prod', delay, message: JSON.stringify(line), project: ref, metadata }
}

/** One entry a request, whose message has all of it, between bars. */
export function* storageEntries(request: Request, random: Random): Generator<SampleEntry> {
  const { project, user, method, path, search, status, ray } = request
  const { ref } = project
  const target = `${path.replace('/storage/v1', '')}${search}`
  const message = [ref, method, status, user.client.ip, ray, target, user.client.agent].join(' | ')
  const level = status >= 500 ? 'error' : 'info'
  const host = `storage-${serverAddress(project).replaceAll('.', '-')}`
  const context = { host, pid: random.integer(1, 40) }
  const metadata = { context, level, project: ref, reqId: ray, tenantId: ref }
  yield { table: 'storage.logs.prod.2', delay: -500, message, metadata }
}

const socket = { module: 'Elixir.RealtimeWeb.UserSocket', function: 'connect/3', line: 71 }
const channel = { module: 'Elixir.RealtimeWeb.RealtimeChannel', function: 'join/3', line: 128 }

/** One entry of a refused socket; else its connection and, in most cases, the channel that it joins. */
export function* realtimeEntries(request: Request, random: Random): Generator<SampleEntry> {
  const { project, user, time, status, subject, duration } = request
  const { ip } = user.client
  const entry = (delay: number, level: string, place: typeof socket, message: string): SampleEntry => {
    const context = {
      ...place,
      application: 'realtime',
      domain: ['elixir'],
      time: time + delay,
      file: `lib/${place.module.split('.')[1]}.ex`,
      gl: `<0.${random.integer(2000, 2600)}.0>`,
      pid: `<0.${random.integer(3000, 99_999)}.0>`,
      mfa: [place.module, ...place.function.split('/')],
      vm: { node: `realtime@${serverAddress(project)}` },
    }
    const metadata = { external_id: project.ref, level, project: project.ref, context }
    return { table: 'realtime.logs.prod', delay, message, metadata }
  }
  if (status >= 400) {
    yield entry(0, 'error', socket, `MalformedJWT: The token provided is not a valid JWT (peer ${ip})`)
    return
  }
  const connected = `CONNECTED TO RealtimeWeb.UserSocket in ${duration}ms\n  Transport: :websocket\n  Peer: ${ip}\n  Parameters: %{"apikey" => "[FILTERED]", "vsn" => "1.0.0"}`
  yield entry(-700, 'info', socket, connected)
  const joined = `JOINED realtime:${subject} in ${random.integer(1, 30)}ms`
  if (random.chance(0.7)) yield entry(60_000, 'info', channel, joined)
}

/** One entry of the relay, and the lines that the function itself writes. */
export function* functionEntries(request: Request, random: Random): Generator<SampleEntry> {
  const { project, subject, status, time } = request
  const { id, deployment } = project.functions.find(({ name }) => name === subject)!
  const run = {
    deployment_id: deployment,
    function_id: id,
    execution_id: random.uuid(),
    request_id: random.uuid(),
    project_ref: project.ref,
    version: '4',
  }
  const event = (event_type: string, delay: number, level: string, line: string): SampleEntry => ({
    table: 'deno-subhosting-events',
    delay,
    message: `${line}\n`,
    metadata: { ...run, event_type, level, region: 'eu-central-1', timestamp: isoTime(time + delay) },
  })
  yield relayEntry(request, run, random)
  if (status === 401) return
  const boots = random.chance(0.4)
  if (boots) yield event('Boot', 2_000, 'log', `booted (time: ${random.integer(18, 90)}ms)`)
  yield event('Log', 4_000, 'info', random.pick(linesOf(request)))
  const error = 'Error: upstream timed out\n    at handler (index.ts:41:11)'
  if (status >= 500) yield event('UncaughtException', 6_000, 'error', error)
  if (boots) yield event('Shutdown', 900_000, 'log', 'shutdown')
}

/** Lines that people print from their functions, with personal data among them. */
const linesOf = ({ user, duration, bytes }: Request) => [
  `sent the receipt to ${user.email}`,
  `handled in ${duration} ms`,
  `calling the API with Authorization: Bearer ${user.token}`,
  `request from ${user.client.ip}`,
  JSON.stringify({ event: 'done', bytes }),
]

function relayEntry(request: Request, run: Fields, random: Random): SampleEntry {
  const { method, path, status, url, user, duration } = request
  const asked = {
    accept: '*/*',
    accept_encoding: 'gzip, br',
    connection: 'keep-alive',
    content_length: '182',
    cookie: `sb-access-token=${user.token}; theme=${random.pick(['dark', 'light'])}`,
  }
  const sent = {
    content_type: 'application/json',
    server: 'edge',
    vary: 'Accept-Encoding',
    x_sb_edge_region: 'eu-central-1',
    x_served_by: 'edge-runtime',
  }
  const exchange = exchangeOf(request, { pathname: path, search: '', port: '' }, asked, {}, sent)
  const message = `${method} | ${status} | ${url}`
  const metadata = { ...run, execution_time_ms: duration, ...exchange }
  return { table: 'deno-relay-logs', delay: -300, message, metadata }
}
