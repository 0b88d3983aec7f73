/** An hour of a small project's logs. */
import { Random } from '../random.ts'
import type {
  Auth,
  Edge,
  FunctionEdge,
  FunctionLog,
  Logs,
  Plain,
  Postgres,
  Realtime,
  Storage,
} from './logs.ts'
import { hour, second, start } from './logs.ts'

/** The same entries each time; another `name` and `seed` give another project's. */
export function makeLogs(name: string, seed: number): Logs {
  const random = new Random(seed)
  /** Items in the order of their times, each with an id and a time of its own. */
  const entries = <Entry>(table: string, count: number, entry: (index: number) => Entry) =>
    Array.from({ length: count }, (_, index) => ({
      id: `${name}-${table}-${String(index).padStart(3, '0')}`,
      time: start + Math.floor(((index + 0.5) / count) * hour) + random.below(second),
      ...entry(index),
    }))
  return {
    edge: entries('edge', 151, () => edge(random, name)),
    postgres: entries('postgres', 60, () => postgres(random)),
    functionEdge: entries('fedge', 45, index => functionEdge(random, index)),
    functions: entries('function', 90, index => functionLog(random, index)),
    auth: entries('auth', 51, () => auth(random)),
    realtime: entries('realtime', 30, index => realtime(random, name, index)),
    storage: entries('storage', 40, () => storage(random, name)),
    postgrest: entries('postgrest', 12, index => plain('Config reloaded', index)),
    pgbouncer: entries('pgbouncer', 24, index => plain('stats: 5 xacts/s', index)),
  }
}

function edge(random: Random, name: string): Omit<Edge, 'id' | 'time'> {
  const host = `${name}.example.co`
  const path = random.pick([
    '/rest/v1/orders', '/rest/v1/items', '/rest/v1/rpc/total', '/auth/v1/token', '/auth/v1/user',
    '/storage/v1/object/a.png', '/storage/v1/object/b.pdf', '/realtime/v1/websocket', '/functions/v1/hello', '/',
  ]) // prettier-ignore
  const method =
    path === '/auth/v1/token' ? 'POST' : random.pick(['GET', 'GET', 'GET', 'POST', 'PATCH', 'DELETE'])
  const cache = random.pick(['HIT', 'MISS', 'DYNAMIC', 'DYNAMIC', null] as const)
  const status = random.pick([200, 200, 200, 200, 201, 204, 304, 400, 401, 404, 429, 500, 503])
  return {
    message: `${method} | ${status} | 10.0.0.1 | https://${host}${path}`,
    method,
    path,
    search: random.pick([null, null, '?select=id', '?select=id&limit=10', '?apikey=x&limit=25']),
    host,
    status,
    origin: cache === 'HIT' ? null : 5 + random.below(1_500),
    country: random.pick(['DE', 'US', 'US', 'FR', null]),
    agent: random.pick([
      'curl/8.5.0',
      'Mozilla/5.0 (X11; Linux) Firefox/140.0',
      'Mozilla/5.0 Chrome/139.0',
      'node',
    ]),
    ip: `203.0.113.${random.below(12)}`,
    cache,
    role: random.pick(['anon', 'anon', 'authenticated', 'service_role', null]),
  }
}

function postgres(random: Random): Omit<Postgres, 'id' | 'time'> {
  const [severity, state, message] = random.pick([
    ['LOG', '00000', 'checkpoint starting: time'],
    ['LOG', '00000', 'connection authorized: user=app database=postgres'],
    ['WARNING', '01000', 'there is no transaction in progress'],
    ['ERROR', '42P01', 'relation "public.missing" does not exist'],
    ['ERROR', '23505', 'duplicate key value violates unique constraint "items_pkey"'],
    ['FATAL', '28P01', 'password authentication failed for user "guest"'],
  ] as const)
  const bad = severity === 'ERROR'
  return {
    message,
    severity,
    state,
    user: random.pick(['app', 'authenticator', 'postgres', 'supabase_admin']),
    database: random.pick(['postgres', 'postgres', '_analytics']),
    application: random.pick(['psql', 'PostgREST 12.2.3', null]),
    query: bad ? random.pick(['select * from missing', 'insert into items values (1)']) : null,
    pid: 1_000 + random.below(8),
  }
}

function functionEdge(random: Random, index: number): Omit<FunctionEdge, 'id' | 'time'> {
  const name = random.pick(['hello', 'resize', 'webhook'])
  const status = random.pick([200, 200, 200, 404, 500, 546])
  const method = random.pick(['GET', 'POST', 'OPTIONS'])
  return {
    message: `${method} | ${status} | https://x.functions.example.co/${name}`,
    name,
    version: random.pick(['1', '2', '10']),
    ms: 10 + random.below(4_000),
    method,
    path: `/${name}`,
    status,
    region: random.pick(['eu-central-1', 'us-east-1']),
    execution: `exec-${String(index % 30).padStart(2, '0')}`,
  }
}

function functionLog(random: Random, index: number): Omit<FunctionLog, 'id' | 'time'> {
  const event = random.pick(['Boot', 'Log', 'Log', 'Log', 'Shutdown'] as const)
  const level = event === 'Log' ? random.pick(['info', 'error', 'log'] as const) : 'log'
  const texts = { Boot: `booted (time: ${10 + random.below(90)}ms)`, Shutdown: 'shutdown', Log: '' }
  return {
    message:
      event === 'Log'
        ? random.pick(['Hello\n', 'TypeError: x is undefined\n', 'done in 12 ms\n'])
        : texts[event],
    level,
    event,
    name: random.pick(['hello', 'resize', 'webhook']),
    execution: `exec-${String(index % 40).padStart(2, '0')}`,
  }
}

function auth(random: Random): Omit<Auth, 'id' | 'time'> {
  const [path, status, msg, error] = random.pick([
    ['/token', '200', 'request completed', null],
    ['/token', '400', '400: Invalid login credentials', 'invalid_credentials'],
    ['/user', '200', 'request completed', null],
    ['/user', '403', '403: invalid JWT', 'bad_jwt'],
    ['/signup', '200', 'request completed', null],
    ['/otp', '429', '429: email rate limit exceeded', 'over_email_send_rate_limit'],
  ] as const)
  const events = { '/token': 'login', '/signup': 'user_signedup' } as const
  const action = status === '200' && path in events ? events[path as keyof typeof events] : null
  const level = error ? 'error' : 'info'
  const duration = 1_000_000 + random.below(90_000_000)
  return {
    message: JSON.stringify({ level, path, status: Number(status), duration, msg, ...(error && { error }) }),
    level,
    path,
    msg,
    status,
    error,
    action,
    actor: action && `user-${random.below(6)}`,
    provider: action && random.pick(['email', 'github', 'google']),
    args: random.pick([[], ['a'], ['a', 'b'], ['b', 'c', 'd']]),
  }
}

function realtime(random: Random, name: string, index: number): Omit<Realtime, 'id' | 'time'> {
  const level = random.pick(['info', 'info', 'warning', 'error'])
  return {
    message: level === 'error' ? 'ChannelRateLimitReached: too many channels' : `Billing metrics: ${index}`,
    level,
    tenant: name,
    domain: random.pick([['elixir'], ['elixir', 'phoenix'], []]),
    line: 10 + random.below(50),
  }
}

function storage(random: Random, name: string): Omit<Storage, 'id' | 'time'> {
  const status = random.pick([200, 200, 200, 400, 404, 500])
  const file = random.pick(['avatars/1.png', 'avatars/2.png', 'invoices/3.pdf', 'invoices/4.PDF'])
  return {
    message: `GET | ${status} | 10.0.0.2 | ${1 + random.below(20)} ms | /object/${file}`,
    level: status >= 500 ? 'error' : 'info',
    tenant: name,
    pid: random.below(3),
  }
}

function plain(message: string, index: number): Omit<Plain, 'id' | 'time'> {
  return { message: `${message} #${index}`, host: `db-${index % 2}.example.co` }
}
