/** Lists and searches of single requests at the edge. */
import { type Dashboard, distinct, groups, isoSecond, newestFirst, sorted } from './dashboard.ts'
import { minute, start } from './logs.ts'

const requests = `from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`

export const requestDashboards: Dashboard[] = [
  [
    'the newest entries',
    'select id, timestamp, event_message from edge_logs order by timestamp desc limit 10',
    ({ edge }) =>
      newestFirst(edge)
        .slice(0, 10)
        .map(({ id, time, message }) => ({ id, timestamp: time, event_message: message })),
  ],
  [
    'the second page of entries',
    'select id from edge_logs order by timestamp desc limit 10 offset 10',
    ({ edge }) =>
      newestFirst(edge)
        .slice(10, 20)
        .map(({ id }) => ({ id })),
  ],
  [
    'failed requests with all that is shown of one',
    `select t.id, request.method, request.path, response.status_code as status ${requests}
     where response.status_code >= 500 order by t.timestamp desc`,
    ({ edge }) =>
      newestFirst(edge.filter(({ status }) => status >= 500)).map(({ id, method, path, status }) => ({
        id,
        method,
        path,
        status,
      })),
  ],
  [
    'slow requests, the slowest first',
    `select request.path, response.origin_time as ms ${requests}
     where response.origin_time > 1000 order by ms desc, t.id limit 20`,
    ({ edge }) =>
      sorted(
        edge.filter(({ origin }) => origin !== null && origin > 1000),
        row => [-row.origin!, row.id],
      )
        .slice(0, 20)
        .map(({ path, origin }) => ({ path, ms: origin })),
  ],
  [
    'a search in the messages',
    `select id from edge_logs where regexp_contains(event_message, r'(?i)POST \\| 4\\d\\d') order by id`,
    ({ edge }) => edge.filter(({ message }) => /POST \| 4\d\d/i.test(message)).map(({ id }) => ({ id })),
  ],
  [
    'a search without regard to case',
    `select count(*) as n from edge_logs where contains_substr(event_message, 'PATCH | 2') or lower(event_message) like 'delete%'`,
    ({ edge }) => [
      { n: edge.filter(({ message }) => /patch \| 2/i.test(message) || /^delete/i.test(message)).length },
    ],
  ],
  [
    'requests between two times',
    `select id from edge_logs as t
     where t.timestamp >= timestamp '2026-03-14 09:10:00' and t.timestamp < '2026-03-14T09:20:00Z' order by t.timestamp`,
    ({ edge }) =>
      edge
        .filter(({ time }) => time >= start + 10 * minute && time < start + 20 * minute)
        .map(({ id }) => ({ id })),
  ],
  [
    'requests of the last minutes before the end',
    `select id from edge_logs where timestamp > timestamp_sub(timestamp '2026-03-14 10:00:00+00', interval 5 minute) order by id`,
    ({ edge }) => edge.filter(({ time }) => time > start + 55 * minute).map(({ id }) => ({ id })),
  ],
  [
    'requests of one client',
    `select t.id, h.cf_connecting_ip as ip ${requests} cross join unnest(request.headers) as h
     where h.cf_connecting_ip = "203.0.113.7" order by t.id`,
    ({ edge }) => edge.filter(({ ip }) => ip === '203.0.113.7').map(({ id, ip }) => ({ id, ip })),
  ],
  [
    'requests with some status codes and not others',
    `select t.id ${requests} where response.status_code in (401, 404, 429) and request.method not in ('GET', 'PATCH') order by 1`,
    ({ edge }) =>
      edge
        .filter(
          ({ status, method }) => [401, 404, 429].includes(status) && !['GET', 'PATCH'].includes(method),
        )
        .map(({ id }) => ({ id })),
  ],
  [
    'the query string in its parts',
    `select t.id, regexp_extract(request.search, r'[?&]limit=(\\d+)') as page_size ${requests}
     where request.search is not null order by t.id`,
    ({ edge }) =>
      edge
        .filter(({ search }) => search !== null)
        .map(({ id, search }) => ({ id, page_size: /[?&]limit=(\d+)/.exec(search!)?.[1] ?? null })),
  ],
  [
    'URLs with their keys blanked out',
    `select distinct regexp_replace(request.url, r'apikey=[^&]*', 'apikey=...') as url ${requests} order by url`,
    ({ edge }) =>
      distinct(
        edge.map(({ host, path, search }) =>
          `https://${host}${path}${search ?? ''}`.replace(/apikey=[^&]*/, 'apikey=...'),
        ),
      )
        .toSorted()
        .map(url => ({ url })),
  ],
  [
    'the API and the resource from the path',
    `select distinct split(path, '/')[safe_offset(1)] as api, split(path, '/')[safe_offset(3)] as resource
     from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) order by api, resource`,
    ({ edge }) =>
      sorted(
        groups(edge, ({ path }) => {
          const [, api, , resource] = path.split('/')
          return [api ?? null, resource ?? null]
        }).map(({ keys: [api, resource] }) => ({ api, resource })),
        row => [row.api, row.resource],
      ),
  ],
  [
    'one line for each request',
    `select concat(format_timestamp('%H:%M:%S', t.timestamp), ' ', request.method, ' ', request.path) as line
     ${requests} order by t.timestamp limit 5`,
    ({ edge }) =>
      edge
        .slice(0, 5)
        .map(({ time, method, path }) => ({ line: `${isoSecond(time).slice(11)} ${method} ${path}` })),
  ],
  [
    'whether anything failed',
    `select exists (select 1 ${requests} where response.status_code = 503) as failed,
       not exists (select 1 ${requests} where response.status_code = 418) as no_teapot`,
    ({ edge }) => [{ failed: edge.some(({ status }) => status === 503), no_teapot: true }],
  ],
  [
    'what the key holder sees of the parameters',
    `select @project as project, count(*) as n from edge_logs where @iso_timestamp_start is not null`,
    ({ edge }) => [{ project: 'acme', n: edge.length }],
  ],
]
