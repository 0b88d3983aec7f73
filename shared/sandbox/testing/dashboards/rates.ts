/** Success and speed of the edge: shares, means, quantiles, and callers. */
import { average, type Dashboard, distinct, groups, known, round, sorted, sum } from './dashboard.ts'

const requests = `from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`

export const rateDashboards: Dashboard[] = [
  [
    'share of errors in percent',
    `select round(100 * countif(response.status_code >= 500) / count(*), 2) as percent ${requests}`,
    ({ edge }) => [
      { percent: round((100 * edge.filter(({ status }) => status >= 500).length) / edge.length, 2) },
    ],
  ],
  [
    'share of errors by path, where there are any',
    `select request.path, safe_divide(countif(response.status_code >= 400), count(1)) as rate ${requests}
     group by request.path having rate > 0 order by rate desc, path`,
    ({ edge }) => {
      const rates = groups(edge, row => [row.path]).map(({ keys: [path], entries }) => ({
        path,
        rate: entries.filter(({ status }) => status >= 400).length / entries.length,
      }))
      return sorted(
        rates.filter(({ rate }) => rate > 0),
        row => [-row.rate, row.path],
      )
    },
  ],
  [
    'requests by API, as the usage chart counts them',
    `select countif(regexp_contains(path, '/rest')) as rest, countif(regexp_contains(path, r'^/auth/')) as auth,
       countif(strpos(path, '/storage') > 0) as storage, countif(path like '/realtime/%') as realtime
     from edge_logs cross join unnest(metadata) as m cross join unnest(m.request)`,
    ({ edge }) => [
      {
        rest: edge.filter(({ path }) => path.includes('/rest')).length,
        auth: edge.filter(({ path }) => path.startsWith('/auth/')).length,
        storage: edge.filter(({ path }) => path.includes('/storage')).length,
        realtime: edge.filter(({ path }) => path.startsWith('/realtime/')).length,
      },
    ],
  ],
  [
    'different clients per path',
    `select request.path, count(distinct h.cf_connecting_ip) as clients
     ${requests} cross join unnest(request.headers) as h group by path order by clients desc, path`,
    ({ edge }) =>
      sorted(
        groups(edge, row => [row.path]).map(({ keys: [path], entries }) => ({
          path,
          clients: distinct(entries.map(({ ip }) => ip)).length,
        })),
        row => [-row.clients, row.path],
      ),
  ],
  [
    'kinds of clients',
    `select case when h.user_agent like 'Mozilla/%' then 'browser' when starts_with(h.user_agent, 'curl') then 'curl'
       else 'other' end as client, count(*) as count
     ${requests}, unnest(request.headers) as h group by client order by client`,
    ({ edge }) => {
      const kind = (agent: string) =>
        agent.startsWith('Mozilla/') ? 'browser' : agent.startsWith('curl') ? 'curl' : 'other'
      return sorted(
        groups(edge, row => [kind(row.agent)]).map(({ keys: [client], entries }) => ({
          client,
          count: entries.length,
        })),
        row => [row.client],
      )
    },
  ],
  [
    'browsers with their versions',
    `select regexp_extract(h.user_agent, r'(?:Firefox|Chrome)/(\\d+)') as version, count(*) as count
     ${requests} cross join unnest(request.headers) as h group by version order by version`,
    ({ edge }) =>
      sorted(
        groups(edge, ({ agent }) => [/(?:Firefox|Chrome)\/(\d+)/.exec(agent)?.[1] ?? null]).map(
          ({ keys: [version], entries }) => ({ version, count: entries.length }),
        ),
        row => [row.version],
      ),
  ],
  [
    'cache hits in percent of what could be cached',
    `select round(countif(h.cf_cache_status = 'HIT') * 100.0 / nullif(countif(h.cf_cache_status in ('HIT', 'MISS')), 0), 1) as hits
     ${requests} cross join unnest(response.headers) as h`,
    ({ edge }) => {
      const cacheable = edge.filter(({ cache }) => cache === 'HIT' || cache === 'MISS')
      return [
        {
          hits: round((100 * cacheable.filter(({ cache }) => cache === 'HIT').length) / cacheable.length, 1),
        },
      ]
    },
  ],
  [
    'the mean time of the origin by method, without what the cache answered',
    `select request.method, avg(response.origin_time) as mean, count(response.origin_time) as n
     ${requests} where response.origin_time is not null group by method order by method`,
    ({ edge }) =>
      sorted(
        groups(
          edge.filter(({ origin }) => origin !== null),
          row => [row.method],
        ).map(({ keys: [method], entries }) => ({
          method,
          mean: average(known(entries.map(({ origin }) => origin))),
          n: entries.length,
        })),
        row => [row.method],
      ),
  ],
  [
    'the slowest, the fastest and the sum of the origin',
    `select max(response.origin_time) as slowest, min(response.origin_time) as fastest, sum(response.origin_time) as total
     ${requests}`,
    ({ edge }) => {
      const times = known(edge.map(({ origin }) => origin))
      return [{ slowest: Math.max(...times), fastest: Math.min(...times), total: sum(times) }]
    },
  ],
  [
    'the ends and the middle of all status codes',
    `select approx_quantiles(response.status_code, 2) as q ${requests}`,
    ({ edge }) => {
      const codes = sorted(
        edge.map(({ status }) => status),
        status => [status],
      )
      return [{ q: [codes[0]!, codes[75]!, codes[150]!] }]
    },
  ],
  [
    'the median status as one element of the quantiles',
    `select approx_quantiles(response.status_code, 100)[offset(50)] as median ${requests}`,
    ({ edge }) => [
      {
        median: sorted(
          edge.map(({ status }) => status),
          status => [status],
        )[75]!,
      },
    ],
  ],
  [
    'the roles of the keys that came along, and requests without',
    `select ifnull(payload.role, 'none') as role, count(*) as count ${requests}
       left join unnest(request.sb) as sb
       left join unnest(sb.jwt) as jwt
       left join unnest(jwt.apikey) as apikey
       left join unnest(apikey.payload) as payload
     group by role order by role`,
    ({ edge }) =>
      sorted(
        groups(edge, row => [row.role ?? 'none']).map(({ keys: [role], entries }) => ({
          role,
          count: entries.length,
        })),
        row => [row.role],
      ),
  ],
]
