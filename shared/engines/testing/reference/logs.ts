/**
 * Small logs in the shape of `infra/tables/`: what is one object there is a list of one here too, now and then an empty list.
 * Half an hour of an incident, with what came the day before.
 */
import type { Row, Value } from '../../engine.ts'

/** The columns of the tables, as the fields of a STRUCT. */
export const logColumns = {
  edge_logs: `id STRING, timestamp TIMESTAMP, event_message STRING, project STRING, metadata ARRAY<STRUCT<
    request ARRAY<STRUCT<method STRING, host STRING, path STRING, search STRING, url STRING,
      cf ARRAY<STRUCT<country STRING, city STRING, asn INT64, colo STRING,
        botManagement ARRAY<STRUCT<score INT64, verifiedBot BOOL>>>>,
      headers ARRAY<STRUCT<user_agent STRING, cf_connecting_ip STRING, referer STRING, content_length STRING>>>>,
    response ARRAY<STRUCT<status_code INT64, origin_time INT64,
      headers ARRAY<STRUCT<cf_cache_status STRING, content_length STRING, content_type STRING>>>>>>`,
  postgres_logs: `id STRING, timestamp TIMESTAMP, event_message STRING, project STRING, metadata ARRAY<STRUCT<host STRING,
    parsed ARRAY<STRUCT<error_severity STRING, user_name STRING, database_name STRING, process_id INT64, session_id STRING,
      session_start_time STRING, sql_state_code STRING, query STRING, detail STRING, hint STRING>>>>`,
  auth_logs: `id STRING, timestamp TIMESTAMP, event_message STRING, project STRING, metadata ARRAY<STRUCT<level STRING,
    method STRING, path STRING, status STRING, duration STRING, msg STRING, error STRING, remote_addr STRING, args ARRAY<STRING>,
    auth_event ARRAY<STRUCT<action STRING, actor_id STRING, traits ARRAY<STRUCT<provider STRING, user_id STRING>>>>>>`,
  function_logs: `id STRING, timestamp TIMESTAMP, event_message STRING, metadata ARRAY<STRUCT<function_id STRING,
    execution_id STRING, event_type STRING, level STRING, region STRING, version STRING, execution_time_ms INT64>>`,
}

const agents = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/17.4 Safari/605.1.15',
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/123.0.0.0 Safari/537.36',
  'curl/8.5.0',
  'python-requests/2.31.0',
  'Googlebot/2.1 (+http://www.google.com/bot.html)',
  null,
]
const cities: Record<string, [string | null, number, string]> = {
  DE: ['Frankfurt am Main', 3320, 'FRA'],
  US: ['San José', 7922, 'SJC'],
  BR: ['São Paulo', 28573, 'GRU'],
  JP: ['東京', 2516, 'NRT'],
  GB: [null, 2856, 'LHR'],
}

type Edge = [
  time: string, method: string, path: string, search: string | null, status: number | null, ms: number | null, country: string | null,
  agent: number, ip: string, cache: string | null, bytes: string | null, score: number | null,
] // prettier-ignore

/** Of 9 March where no day is said. */
const edges: Edge[] = [
  ['08T22:10:00', 'GET', '/rest/v1/orders', '?select=*&limit=10', 200, 41, 'DE', 0, '203.0.113.7', 'DYNAMIC', '2048', 97],
  ['08T23:59:59.999999', 'POST', '/auth/v1/token', '?grant_type=password', 200, 132, 'US', 1, '198.51.100.4', 'DYNAMIC', '812', 88],
  ['10:00:00', 'GET', '/rest/v1/orders', '?select=id,total&status=eq.open', 200, 38, 'DE', 0, '203.0.113.7', 'DYNAMIC', '5120', 97],
  ['10:00:12.5', 'GET', '/storage/v1/object/public/logo.png', null, 200, 4, 'US', 1, '198.51.100.4', 'HIT', '20480', 90],
  ['10:01:03', 'POST', '/rest/v1/orders', '', 201, 77, 'BR', 1, '192.0.2.55', 'DYNAMIC', '0', 71],
  ['10:03:40', 'GET', '/rest/v1/orders/17', null, 404, 12, 'DE', 2, '203.0.113.9', 'DYNAMIC', '88', 30],
  ['10:04:59.999', 'GET', '/rest/v1/orders', '?select=*', 200, 640, 'US', 3, '198.51.100.23', 'DYNAMIC', '9000', 2],
  ['10:05:00', 'GET', '/rest/v1/orders', '?select=*', 500, 3001, 'US', 3, '198.51.100.23', 'DYNAMIC', '120', 2],
  ['10:05:00', 'GET', '/rest/v1/orders', '?select=*&offset=10', 500, 3002, 'US', 3, '198.51.100.23', 'DYNAMIC', '120', 2],
  ['10:05:31', 'PATCH', '/rest/v1/orders', '?id=eq.17', 503, null, 'DE', 0, '203.0.113.7', 'DYNAMIC', null, 97],
  ['10:06:10', 'POST', '/auth/v1/token', '?grant_type=refresh_token', 429, 3, 'JP', 1, '2001:db8::17', 'DYNAMIC', '61', 55],
  ['10:06:11', 'POST', '/auth/v1/token', '?grant_type=refresh_token', 429, 2, 'JP', 1, '2001:db8::17', 'DYNAMIC', '61', 55],
  ['10:06:13', 'POST', '/auth/v1/token', '?grant_type=refresh_token', 400, 9, 'JP', 1, '2001:db8::17', 'DYNAMIC', '40', 55],
  ['10:09:00', 'GET', '/rest/v1/customers', '?name=ilike.*m%C3%BCller*', 200, 210, 'DE', 0, '203.0.113.7', 'DYNAMIC', '733', 97],
  ['10:11:45', 'GET', '/storage/v1/object/public/logo.png', null, 304, 2, 'GB', 4, '192.0.2.200', 'REVALIDATED', '0', 1],
  ['10:12:00', 'GET', '/robots.txt', null, 404, 1, 'GB', 4, '192.0.2.200', 'MISS', '18', 1],
  ['10:15:00', 'DELETE', '/rest/v1/orders', '?id=eq.17', 204, 55, 'BR', 1, '192.0.2.55', 'DYNAMIC', null, 71],
  ['10:16:20', 'GET', '/functions/v1/hello', '?name=Bob', 200, 95, null, 5, '192.0.2.77', 'DYNAMIC', '13', null],
  ['10:19:59', 'GET', '/functions/v1/hello', '?name=', 502, 10000, null, 5, '192.0.2.77', 'DYNAMIC', '150', null],
  ['10:22:22.222222', 'GET', '/rest/v1/orders', '?select=id', 200, 35, 'US', 1, '198.51.100.4', 'DYNAMIC', '410', 88],
  ['10:25:00', 'OPTIONS', '/rest/v1/orders', null, null, null, 'US', 1, '198.51.100.4', null, null, 88],
  ['10:29:30', 'GET', '/rest/v1/orders', '?select=id', 200, 36, 'US', 1, '198.51.100.4', 'DYNAMIC', '410', 88],
] // prettier-ignore

const at = (time: string) => `2026-03-${time.includes('T') ? '' : '09T'}${time}Z`
const number = (index: number) => String(index + 1).padStart(2, '0')

const edgeRows = edges.map(
  ([time, method, path, search, status, ms, country, agent, ip, cache, bytes, score], index): Row => {
    const host = country === 'BR' ? 'shop-br.example.com' : 'abc.example.co'
    const url = `https://${host}${path}${search ?? ''}`
    const [city, asn, colo] = cities[country ?? ''] ?? [null, null, null]
    const user_agent = agents[agent]!
    return {
      id: `e${number(index)}`,
      timestamp: at(time),
      event_message: `${method} | ${status ?? '-'} | ${ip} | 8f${number(index)}a0 | ${url} | ${user_agent ?? ''}`,
      project: country === 'BR' ? 'shop' : 'acme',
      metadata: [
        {
          request: [
            {
              method, host, path, search, url,
              cf: country ? [{ country, city, asn, colo, botManagement: score === null ? [] : [{ score, verifiedBot: score === 1 }] }] : [],
              headers: [{ user_agent, cf_connecting_ip: ip, referer: agent === 0 ? 'https://app.example.com/orders?tab=open' : null, content_length: method === 'POST' ? '57' : null }],
            }, // prettier-ignore
          ],
          response:
            status === null
              ? []
              : [
                  {
                    status_code: status,
                    origin_time: ms,
                    headers: [
                      {
                        cf_cache_status: cache,
                        content_length: bytes,
                        content_type: path.endsWith('.png') ? 'image/png' : 'application/json; charset=utf-8',
                      },
                    ],
                  },
                ],
        },
      ],
    }
  },
)

type Postgres = [time: string, severity: string, user: string | null, process: number, code: string, message: string, query: string | null, detail: string | null] // prettier-ignore

const postgres: Postgres[] = [
  ['08T22:10:00.02', 'LOG', 'authenticator', 101, '00000', 'connection authorized: user=authenticator database=postgres application_name=postgrest', null, null],
  ['10:00:00.01', 'LOG', 'authenticator', 101, '00000', 'duration: 31.207 ms  statement: select "id", "total" from "orders" where "status" = $1', null, 'parameters: $1 = \'open\''],
  ['10:03:40.004', 'ERROR', 'authenticator', 101, 'PGRST', 'ERROR:  no rows found for id 17', 'select * from "orders" where "id" = $1', null],
  ['10:04:59.2', 'LOG', 'authenticator', 102, '00000', 'duration: 612.5 ms  statement: select * from "orders"', null, null],
  ['10:05:00.5', 'ERROR', 'authenticator', 102, '57014', 'canceling statement due to statement timeout', 'select * from "orders"', null],
  ['10:05:00.6', 'ERROR', 'authenticator', 103, '57014', 'canceling statement due to statement timeout', 'select * from "orders" offset 10', null],
  ['10:05:31', 'FATAL', 'postgres', 104, '53300', 'remaining connection slots are reserved for roles with the SUPERUSER attribute', null, null],
  ['10:05:31.1', 'FATAL', null, 105, '53300', 'sorry, too many clients already', null, null],
  ['10:09:00.1', 'LOG', 'authenticator', 101, '00000', 'duration: 187.93 ms  statement: select * from "customers" where "name" ilike $1', null, 'parameters: $1 = \'%müller%\''],
  ['10:10:00', 'LOG', null, 7, '00000', 'checkpoint starting: time', null, null],
  ['10:10:04', 'LOG', null, 7, '00000', 'checkpoint complete: wrote 93 buffers (0.6%); write=3.902 s, sync=0.01 s, total=4.001 s', null, null],
  ['10:15:00.05', 'ERROR', 'authenticator', 101, '23503', 'update or delete on table "orders" violates foreign key constraint "items_order_fk" on table "items"', 'delete from "orders" where "id" = 17', 'Key (id)=(17) is still referenced from table "items".'],
  ['10:22:22.2', 'WARNING', 'postgres', 104, '01000', 'there is already a transaction in progress', 'BEGIN', null],
] // prettier-ignore

const postgresRows = postgres.map(
  ([time, error_severity, user_name, process_id, sql_state_code, message, query, detail], index): Row => ({
    id: `p${number(index)}`,
    timestamp: at(time),
    event_message: message,
    project: 'acme',
    metadata: [
      {
        host: 'db-1',
        parsed: [
          {
            error_severity,
            user_name,
            database_name: user_name && 'postgres',
            process_id,
            session_id: `65ec${process_id}.${index % 3}`,
            session_start_time: `2026-03-0${process_id > 101 ? 9 : 8} 2${index % 3}:00:00 UTC`,
            sql_state_code,
            query,
            detail,
            hint: null,
          },
        ],
      },
    ],
  }),
)

type Auth = [time: string, level: string, path: string, status: string, duration: string, error: string | null, user: string | null, action: string | null, args: Value[]] // prettier-ignore

const auth: Auth[] = [
  ['08T23:59:59.9', 'info', '/token', '200', '118422917', null, 'u1', 'login', ['--grant', 'password']],
  ['10:02:00', 'info', '/signup', '200', '240000000', null, 'u2', 'user_signedup', []],
  ['10:02:30', 'info', '/verify', '303', '15000500', null, 'u2', 'login', ['--type', 'signup', '--redirect', '/welcome']],
  ['10:06:10', 'warning', '/token', '429', '1200', '429: Request rate limit reached', null, null, []],
  ['10:06:11', 'warning', '/token', '429', '900', '429: Request rate limit reached', null, null, []],
  ['10:06:13', 'error', '/token', '400', '7700000', 'invalid_grant: Refresh Token Not Found', null, null, ['--grant', 'refresh_token']],
  ['10:07:45', 'info', '/token', '200', '98000000', null, 'u1', 'token_refreshed', ['--grant', 'refresh_token']],
  ['10:21:00', 'error', '/user', '500', '5000000000', 'unhandled: "x" is null', 'u3', null, ['']],
  ['10:28:00', 'info', '/logout', '204', '3100000', null, 'u1', 'logout', []],
] // prettier-ignore

const authRows = auth.map(([time, level, path, status, duration, error, user, action, args], index): Row => ({
  id: `a${number(index)}`,
  timestamp: at(time),
  event_message: JSON.stringify({ level, path, status: Number(status), error, 'auth-event': { action } }),
  project: 'acme',
  metadata: [
    {
      level,
      method: path === '/verify' || path === '/user' ? 'GET' : 'POST',
      path,
      status,
      duration,
      msg: error ? 'request failed' : 'request completed',
      error,
      remote_addr: `198.51.100.${index}`,
      args,
      auth_event: action
        ? [
            {
              action,
              actor_id: user,
              traits: index % 2 ? [] : [{ provider: index ? 'email' : 'github', user_id: user }],
            },
          ]
        : [],
    },
  ],
}))

type Invocation = [time: string, type: string, level: string, execution: string, ms: number | null, message: string] // prettier-ignore

const invocations: Invocation[] = [
  ['10:16:20.001', 'Boot', 'info', 'x1', 41, 'booted (time: 41ms)'],
  ['10:16:20.050', 'Log', 'info', 'x1', null, '{"user":{"id":7,"tags":["new","eu"]},"took":12.5,"ok":true}'],
  ['10:16:20.090', 'Shutdown', 'info', 'x1', 89, 'shutdown'],
  ['10:19:49', 'Boot', 'info', 'x2', 45, 'booted (time: 45ms)'],
  ['10:19:50', 'Log', 'error', 'x2', null, '{"user":{"id":"9","tags":[]},"took":null,"ok":false,"error":{"code":"E_TIME","path":["a","b"]}}'],
  ['10:19:51', 'Log', 'warning', 'x2', null, 'slow dependency: https://api.example.org took 9.87s (attempt 3/3)'],
  ['10:19:59', 'UncaughtException', 'error', 'x2', 10000, 'TypeError: undefined is not a function\n    at hello (file:///src/index.ts:12:7)\n    at async Server.<anonymous> (http.ts:3:1)'],
  ['10:30:00', 'Log', 'debug', 'x3', null, ''],
] // prettier-ignore

const functionRows = invocations.map(
  ([time, event_type, level, execution_id, execution_time_ms, message], index): Row => ({
    id: `f${number(index)}`,
    timestamp: at(time),
    event_message: message,
    metadata:
      execution_id === 'x3'
        ? []
        : [
            {
              function_id: 'hello',
              execution_id,
              event_type,
              level,
              region: execution_id === 'x1' ? 'eu-central-1' : 'us-east-1',
              version: String(index + 3),
              execution_time_ms,
            },
          ],
  }),
)

export const logRows: Record<keyof typeof logColumns, Row[]> = {
  edge_logs: edgeRows,
  postgres_logs: postgresRows,
  auth_logs: authRows,
  function_logs: functionRows,
}
