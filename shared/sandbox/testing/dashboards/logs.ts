/**
 * An hour of a small project's logs in all nine tables, the same for the same name and seed. Among plain entries are
 * odd ones: without metadata, with missing objects and values, with two objects in a list, with text of any script.
 */
import type { Row, Value } from '../../../engines/engine.ts'
import { Random } from '../random.ts'

type Fields = { [name: string]: Value }

export const hour = { start: '2026-03-14T09:00:00Z', end: '2026-03-14T10:00:00Z' }

/** Entries by the table's logical name. Timestamps are ISO text, every object of the metadata a list of one. */
export function makeLogs(project: string, seed: number): Record<string, Row[]> {
  const random = new Random(seed)
  const entries = (
    table: string,
    count: number,
    entry: (index: number) => [message: Value, metadata: Value],
  ) =>
    Array.from({ length: count }, (_, index): Row => {
      const [event_message, metadata] = entry(index)
      const micros = Math.floor(((index + 0.5) / count) * 3_600_000_000) + random.below(1_000_000)
      return {
        id: `${project}-${table}-${String(index).padStart(3, '0')}`,
        timestamp: `${new Date(Date.parse(hour.start) + Math.floor(micros / 1000)).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`,
        event_message,
        metadata,
        project,
      }
    })
  return {
    'cloudflare.logs.prod': entries('edge', 151, index => edge(random, project, index)),
    'postgres.logs': entries('postgres', 60, index => postgres(random, index)),
    'deno-relay-logs': entries('fedge', 45, index => functionEdge(random, project, index)),
    'deno-subhosting-events': entries('function', 90, index => functionLog(random, project, index)),
    'gotrue.logs.prod': entries('auth', 51, index => auth(random, index)),
    'realtime.logs.prod': entries('realtime', 30, index => realtime(random, project, index)),
    'storage.logs.prod.2': entries('storage', 40, () => storage(random, project)),
    'postgREST.logs.prod': entries('postgrest', 12, index => plain('Config reloaded', index)),
    'pgbouncer.logs.prod': entries('pgbouncer', 24, index => plain('stats: 5 xacts/s', index)),
  }
}

function edge(random: Random, project: string, index: number): [Value, Value] {
  const host = `${project}.example.co`
  const path = random.pick([
    '/rest/v1/orders', '/rest/v1/Orders', '/rest/v1/items', '/rest/v1/rpc/total', '/auth/v1/token', '/auth/v1/user',
    '/storage/v1/object/a.png', '/storage/v1/object/public/ü ber 42.pdf', '/realtime/v1/websocket', '/functions/v1/hello', '/',
  ]) // prettier-ignore
  const method =
    path === '/auth/v1/token' ? 'POST' : random.pick(['GET', 'GET', 'GET', 'POST', 'PATCH', 'DELETE', null])
  const cache = random.pick(['HIT', 'MISS', 'DYNAMIC', 'DYNAMIC', null])
  const status = random.pick([200, 200, 200, 200, 201, 204, 304, 400, 401, 404, 429, 500, 503])
  const search = random.pick([
    null,
    null,
    '',
    '?select=id',
    '?select=id&limit=10',
    '?apikey=x&limit=25',
    '?q=gr%C3%BC%C3%9Fe&limit=x',
  ])
  const role = random.pick(['anon', 'anon', 'authenticated', 'service_role', null])
  const payload =
    role === null ? [] : [{ role, algorithm: 'HS256', expires_at: 1_773_500_000 + random.below(3) * 3600 }]
  const address = index % 13 === 7 ? '2001:db8::1' : `203.0.113.${random.below(12)}`
  const request = {
    method,
    path,
    search,
    host,
    url: `https://${host}${path}${search ?? ''}`,
    cf: random.oneIn(9) ? [] : [{ country: random.pick(['DE', 'US', 'US', 'FR', null]) }],
    headers: [
      {
        user_agent: random.pick([
          'curl/8.5.0',
          'Mozilla/5.0 (X11; Linux) Firefox/140.0',
          'Mozilla/5.0 Chrome/139.0',
          'node',
          null,
        ]),
        cf_connecting_ip: address,
        x_real_ip: random.oneIn(4) ? null : address,
        content_length: method === 'POST' ? String(random.below(2_000)) : null,
      },
    ],
    sb: [
      {
        jwt: [{ apikey: [{ payload }], authorization: random.oneIn(2) ? [] : [{ payload }] }],
        apikey: random.oneIn(5) ? [{ apikey: [{ prefix: 'sb_publishable_' }] }] : [],
      },
    ],
  }
  const response = {
    status_code: status,
    origin_time: cache === 'HIT' ? null : 5 + random.below(1_500),
    headers: [
      { cf_cache_status: cache, content_length: random.pick([null, '', 'chunked', '512', '104857600']) },
    ],
  }
  const message =
    index % 40 === 11 ? '' : `${method ?? '-'} | ${status} | ${address} | https://${host}${path}`
  if (index === 20) return [message, []]
  if (index === 21) return [null, [{ request: [], response: [response] }]]
  if (index === 22)
    return [
      'two Antworten für eine Anfrage 👍',
      [{ request: [request], response: [response, { ...response, status_code: 418 }] }],
    ]
  return [message, [{ request: [request], response: [response] }]]
}

function postgres(random: Random, index: number): [Value, Value] {
  const [error_severity, sql_state_code, message] = random.pick([
    ['LOG', '00000', 'checkpoint starting: time'],
    ['LOG', '00000', 'connection authorized: user=app database=postgres'],
    ['WARNING', '01000', 'there is no transaction in progress'],
    ['ERROR', '42P01', 'relation "public.missing" does not exist'],
    ['ERROR', '23505', 'duplicate key value violates unique constraint "größen_pkey"'],
    ['FATAL', '28P01', 'password authentication failed for user "guest"'],
    ['LOG', '00000', 'duration: 1532.118 ms  statement: ALTER USER guest'],
  ])
  const parsed = {
    error_severity: error_severity,
    sql_state_code: sql_state_code,
    user_name: random.pick(['app', 'authenticator', 'postgres', 'supabase_admin']),
    database_name: random.pick(['postgres', 'postgres', '_analytics']),
    application_name: random.pick(['psql', 'PostgREST 12.2.3', '', null]),
    query:
      error_severity === 'ERROR'
        ? random.pick(['select * from missing', 'insert into "größen" values (1)'])
        : null,
    detail: null,
    process_id: 1_000 + random.below(8),
    session_id: random.pick(['67d3f0c1.3e8', '67d3f0c2.3e9', null]),
    session_start_time: random.pick(['2026-03-14 08:59:13 UTC', '2026-03-14 07:00:00+00', 'not yet', null]),
  }
  return [message, index === 33 ? [{ host: 'db', parsed: [] }] : [{ host: 'db', parsed: [parsed] }]]
}

function functionEdge(random: Random, project: string, index: number): [Value, Value] {
  const name = random.pick(['hello', 'resize', 'webhook'])
  const status = random.pick([200, 200, 200, 404, 500, 546, null])
  const method = random.pick(['GET', 'POST', 'OPTIONS'])
  const metadata = {
    function_id: name,
    version: random.pick(['1', '2', '10']),
    execution_time_ms: 10 + random.below(4_000),
    execution_id: `exec-${String(index % 30).padStart(2, '0')}`,
    project_ref: project,
    request: [{ method, pathname: `/${name}` }],
    response: [
      {
        status_code: status,
        headers: [{ x_sb_edge_region: random.pick(['eu-central-1', 'us-east-1', null]) }],
      },
    ],
  }
  return [`${method} | ${status ?? 'none'} | https://x.functions.example.co/${name}`, [metadata]]
}

function functionLog(random: Random, project: string, index: number): [Value, Value] {
  const event_type = random.pick(['Boot', 'Log', 'Log', 'Log', 'Shutdown'])
  const texts: Fields = { Boot: `booted (time: ${10 + random.below(90)}ms)`, Shutdown: 'shutdown' }
  const metadata = {
    level: event_type === 'Log' ? random.pick(['info', 'error', 'log', null]) : 'log',
    event_type,
    function_id: random.pick(['hello', 'resize', 'webhook']),
    execution_id: `exec-${String(index % 40).padStart(2, '0')}`,
    project_ref: project,
  }
  const said = random.pick(['Hello\n', 'TypeError: x is undefined\n    at main\n', 'fertig in 12 ms ✓\n', ''])
  return [texts[event_type] ?? said, [metadata]]
}

function auth(random: Random, index: number): [Value, Value] {
  const [path, status, msg, error] = random.pick([
    ['/token', '200', 'request completed', null],
    ['/token', '400', '400: Invalid login credentials', 'invalid_credentials'],
    ['/user', '200', 'request completed', null],
    ['/user', '403', '403: invalid JWT', 'bad_jwt'],
    ['/signup', '200', 'request completed', null],
    ['/otp', '429', '429: email rate limit exceeded', 'over_email_send_rate_limit'],
  ])
  const events: Record<string, string> = { '/token': 'login', '/signup': 'user_signedup' }
  const action = status === '200' ? (events[path] ?? null) : null
  const level = error ? 'error' : 'info'
  const duration = 1_000_000 + random.below(90_000_000)
  const said = {
    level,
    path,
    status: Number(status),
    duration,
    msg,
    ...(error && { error }),
    ...(action && { auth_event: { action } }),
  }
  const metadata = {
    level,
    path: path,
    msg: msg,
    status: index % 17 === 5 ? 'abandoned' : status,
    error: error!,
    duration: random.pick([String(duration), `${duration}.5`, '', 'NaN', '1e7', null]),
    args: random.pick([[], ['a'], ['a', 'b'], ['b', 'c', 'd']]),
    auth_event: action
      ? [
          {
            action,
            actor_id: `user-${random.below(6)}`,
            traits: [{ provider: random.pick(['email', 'github', 'google']) }],
          },
        ]
      : [],
  }
  const message =
    index === 9
      ? 'not JSON'
      : JSON.stringify({ ...said, grant_type: random.pick(['password', 'refresh_token', null]) })
  return [message, [metadata]]
}

function realtime(random: Random, project: string, index: number): [Value, Value] {
  const level = random.pick(['info', 'info', 'warning', 'error'])
  const message =
    level === 'error' ? 'ChannelRateLimitReached: too many channels' : `Billing metrics: ${index}`
  const context = [
    { domain: random.pick([['elixir'], ['elixir', 'phoenix'], []]), line: 10 + random.below(50) },
  ]
  return [message, [{ level, external_id: project, project, context }]]
}

function storage(random: Random, project: string): [Value, Value] {
  const status = random.pick([200, 200, 200, 400, 404, 500])
  const file = random.pick([
    'avatars/1.png',
    'avatars/2.png',
    'invoices/3.pdf',
    'invoices/4.PDF',
    'ordner/größe.JPG',
  ])
  const message = `GET | ${status} | 10.0.0.2 | ${1 + random.below(20)} ms | /object/${file}`
  return [
    message,
    [
      {
        level: status >= 500 ? 'error' : 'info',
        tenantId: project,
        project,
        context: [{ pid: random.below(3) }],
      },
    ],
  ]
}

function plain(message: string, index: number): [Value, Value] {
  return [`${message} #${index}`, [{ host: `db-${index % 2}.example.co` }]]
}
