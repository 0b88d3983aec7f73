/** Windows, set operations and joins over several tables. */
import { type Dashboard, distinct, floor, groups, newestFirst, round, sorted, sum } from './dashboard.ts'
import { minute } from './logs.ts'

const statuses = `select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response`

export const combinedDashboards: Dashboard[] = [
  [
    'a running total per minute',
    `with minutes as (select timestamp_trunc(timestamp, minute) as minute, count(*) as count from edge_logs group by minute)
     select minute, sum(count) over (order by minute) as total from minutes order by minute`,
    ({ edge }) => {
      let total = 0
      return groups(edge, row => [floor(row.time, minute)]).map(({ keys: [time], entries }) => {
        total += entries.length
        return { minute: time, total }
      })
    },
  ],
  [
    'a moving average over three minutes',
    `with minutes as (select timestamp_trunc(timestamp, minute) as minute, count(*) as count from edge_logs group by minute)
     select minute, round(avg(count) over (order by minute rows between 2 preceding and current row), 3) as mean
     from minutes order by minute`,
    ({ edge }) => {
      const counts = groups(edge, row => [floor(row.time, minute)])
      return counts.map(({ keys: [time] }, index) => {
        const window = counts.slice(Math.max(0, index - 2), index + 1).map(({ entries }) => entries.length)
        return { minute: time, mean: round(sum(window) / window.length, 3) }
      })
    },
  ],
  [
    'each status with its share of all',
    `select status, round(count(*) / sum(count(*)) over (), 4) as share from (${statuses}) group by status order by status`,
    ({ edge }) =>
      sorted(
        groups(edge, row => [row.status]).map(({ keys: [status], entries }) => ({
          status,
          share: round(entries.length / edge.length, 4),
        })),
        row => [row.status],
      ),
  ],
  [
    'the first and last request of each status by a named window',
    `select distinct status, first_value(id) over w as first, last_value(id) over w as last from (${statuses})
     window w as (partition by status order by timestamp rows between unbounded preceding and unbounded following)
     order by status`,
    ({ edge }) =>
      sorted(
        groups(edge, row => [row.status]).map(({ keys: [status], entries }) => ({
          status,
          first: entries[0]!.id,
          last: entries.at(-1)!.id,
        })),
        row => [row.status],
      ),
  ],
  [
    'changes of status from one request to the next',
    `select countif(status != before) as changes
     from (select status, lag(status) over (order by timestamp) as before from (${statuses}))`,
    ({ edge }) => [
      { changes: edge.filter(({ status }, index) => index > 0 && status !== edge[index - 1]!.status).length },
    ],
  ],
  [
    'the newest entry of each table',
    `select 'edge' as source, max(timestamp) as newest from edge_logs
     union all select 'auth', max(timestamp) from auth_logs
     union all select 'postgres', max(timestamp) from postgres_logs
     union all select 'storage', max(timestamp) from storage_logs order by 1`,
    ({ edge, auth, postgres, storage }) => [
      { source: 'auth', newest: auth.at(-1)!.time },
      { source: 'edge', newest: edge.at(-1)!.time },
      { source: 'postgres', newest: postgres.at(-1)!.time },
      { source: 'storage', newest: storage.at(-1)!.time },
    ],
  ],
  [
    'all tables in one stream',
    `select id, timestamp from (
       select id, timestamp from edge_logs union all select id, timestamp from auth_logs
       union all select id, timestamp from function_logs union all select id, timestamp from realtime_logs)
     order by timestamp desc, id limit 25`,
    ({ edge, auth, functions, realtime }) =>
      newestFirst([...edge, ...auth, ...functions, ...realtime])
        .slice(0, 25)
        .map(({ id, time }) => ({ id, timestamp: time })),
  ],
  [
    'minutes with traffic and no sign-in',
    `select timestamp_trunc(timestamp, minute) as minute from edge_logs
     except distinct select timestamp_trunc(timestamp, minute) from auth_logs order by minute`,
    ({ edge, auth }) => {
      const busy = new Set(auth.map(({ time }) => floor(time, minute)))
      return distinct(edge.map(({ time }) => floor(time, minute)))
        .filter(time => !busy.has(time))
        .map(time => ({ minute: time }))
    },
  ],
  [
    'minutes with errors of the edge and of the database',
    `select timestamp_trunc(timestamp, minute) as minute from (${statuses}) where status >= 400
     intersect distinct
     select timestamp_trunc(t.timestamp, minute) from postgres_logs as t, unnest(t.metadata) as m, unnest(m.parsed) as p
     where p.error_severity = 'ERROR' order by minute`,
    ({ edge, postgres }) => {
      const failing = new Set(
        edge.filter(({ status }) => status >= 400).map(({ time }) => floor(time, minute)),
      )
      const errors = postgres
        .filter(({ severity }) => severity === 'ERROR')
        .map(({ time }) => floor(time, minute))
      return distinct(errors.filter(time => failing.has(time))).map(time => ({ minute: time }))
    },
  ],
  [
    'requests beside the errors of the database in the same minute',
    `select e.minute, e.requests, p.errors
     from (select timestamp_trunc(timestamp, minute) as minute, count(*) as requests from edge_logs group by 1) as e
     left join (
       select timestamp_trunc(t.timestamp, minute) as minute, count(*) as errors
       from postgres_logs as t cross join unnest(t.metadata) as m cross join unnest(m.parsed) as p
       where p.error_severity = 'ERROR' group by 1
     ) as p using (minute) order by e.minute`,
    ({ edge, postgres }) =>
      groups(edge, row => [floor(row.time, minute)]).map(({ keys: [time], entries }) => {
        const errors = postgres.filter(
          row => row.severity === 'ERROR' && floor(row.time, minute) === time,
        ).length
        return { minute: time, requests: entries.length, errors: errors || null }
      }),
  ],
]
