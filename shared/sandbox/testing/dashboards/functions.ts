/** Invocations of edge functions. */
import { average, type Dashboard, groups, newestFirst, sorted } from './dashboard.ts'

const invocations = `from function_edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`

export const functionDashboards: Dashboard[] = [
  [
    'invocations, the newest first',
    `select t.id, request.method, response.status_code, m.execution_time_ms ${invocations} order by t.timestamp desc limit 15`,
    ({ functionEdge }) =>
      newestFirst(functionEdge)
        .slice(0, 15)
        .map(({ id, method, status, ms }) => ({ id, method, status_code: status, execution_time_ms: ms })),
  ],
  [
    'invocations and errors by function',
    `select m.function_id as function, count(*) as total, countif(response.status_code >= 500) as errors,
       round(avg(m.execution_time_ms), 3) as mean, max(m.execution_time_ms) as slowest
     ${invocations} group by function order by function`,
    ({ functionEdge }) =>
      sorted(
        groups(functionEdge, row => [row.name]).map(({ keys: [name], entries }) => ({
          function: name,
          total: entries.length,
          errors: entries.filter(({ status }) => status >= 500).length,
          mean: Number(average(entries.map(({ ms }) => ms))!.toFixed(3)),
          slowest: Math.max(...entries.map(({ ms }) => ms)),
        })),
        row => [row.function],
      ),
  ],
  [
    'the median time of execution',
    `select approx_quantiles(m.execution_time_ms, 2)[ordinal(2)] as median ${invocations}`,
    ({ functionEdge }) => [
      {
        median: sorted(
          functionEdge.map(({ ms }) => ms),
          ms => [ms],
        )[22]!,
      },
    ],
  ],
  [
    'the exact median time by a window',
    `select distinct percentile_disc(m.execution_time_ms, 0.5) over () as median ${invocations}`,
    ({ functionEdge }) => [
      {
        median: sorted(
          functionEdge.map(({ ms }) => ms),
          ms => [ms],
        )[22]!,
      },
    ],
  ],
  [
    'invocations by region and version, the version as a number',
    `select h.x_sb_edge_region as region, cast(m.version as int64) as version, count(*) as count
     ${invocations} cross join unnest(response.headers) as h group by region, version order by region, version desc`,
    ({ functionEdge }) =>
      sorted(
        groups(functionEdge, row => [row.region, Number(row.version)]).map(({ keys, entries }) => ({
          region: keys[0],
          version: keys[1],
          count: entries.length,
        })),
        row => [row.region, -row.version],
      ),
  ],
  [
    'invocations over a limit, except those of OPTIONS',
    `select t.id ${invocations} where m.execution_time_ms >= 2500 and not (request.method = 'OPTIONS') order by t.id`,
    ({ functionEdge }) =>
      functionEdge.filter(({ ms, method }) => ms >= 2500 && method !== 'OPTIONS').map(({ id }) => ({ id })),
  ],
  [
    'times in classes',
    `select case when m.execution_time_ms < 500 then 'fast' when m.execution_time_ms < 2000 then 'fair' else 'slow' end as class,
       count(*) as count ${invocations} group by class order by min(m.execution_time_ms)`,
    ({ functionEdge }) => {
      const classOf = (ms: number) => (ms < 500 ? 'fast' : ms < 2000 ? 'fair' : 'slow')
      const rows = groups(functionEdge, row => [classOf(row.ms)]).map(({ keys, entries }) => ({
        class: keys[0],
        count: entries.length,
      }))
      return sorted(rows, row => [row.class === 'fair' ? 1 : row.class === 'fast' ? 0 : 2])
    },
  ],
]
