/** Corners of the language that dashboards use: windows, set operations, dates, arrays, structs, JSON, casts. */
import {
  type Dashboard,
  distinct,
  floor,
  groups,
  isoSecond,
  newestFirst,
  round,
  sorted,
  sum,
} from './dashboard.ts'
import { minute, second, start } from './logs.ts'

const statuses = `select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response`

export const languageDashboards: Dashboard[] = [
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
  [
    'the weekday, the hour and the date of the first entry',
    `select extract(dayofweek from first) as weekday, extract(hour from first at time zone 'Europe/Berlin') as hour,
       date(first) as date, format_timestamp('%Y-%m-%dT%H:%M:%SZ', first) as text, unix_millis(first) as millis
     from (select min(timestamp) as first from edge_logs)`,
    ({ edge }) => {
      const { time } = edge[0]!
      const text = `${isoSecond(time)}Z`
      return [{ weekday: 7, hour: 10, date: '2026-03-14', text, millis: Math.floor(time / 1000) }]
    },
  ],
  [
    'days and weeks of an entry',
    `select timestamp_trunc(timestamp, day) as day, date_trunc(date(timestamp), week(monday)) as monday,
       date_add(date(timestamp), interval 1 day) as tomorrow, date_diff(date(timestamp), date '2026-01-01', day) as days
     from edge_logs order by timestamp limit 1`,
    () => [{ day: Date.UTC(2026, 2, 14) * 1000, monday: '2026-03-09', tomorrow: '2026-03-15', days: 72 }],
  ],
  [
    'every minute of the first five, those without entries too',
    `select minute, (select count(*) from realtime_logs as t where timestamp_trunc(t.timestamp, minute) = minute) as count
     from unnest(generate_timestamp_array('2026-03-14 09:00:00', '2026-03-14 09:04:00', interval 1 minute)) as minute order by minute`,
    ({ realtime }) =>
      [0, 1, 2, 3, 4].map(index => {
        const time = start + index * minute
        return { minute: time, count: realtime.filter(row => floor(row.time, minute) === time).length }
      }),
  ],
  [
    'numbers from an array',
    `select n, n * n as square, if(mod(n, 2) = 0, 'even', 'odd') as kind from unnest(generate_array(1, 4)) as n order by n`,
    () => [1, 2, 3, 4].map(n => ({ n, square: n * n, kind: n % 2 === 0 ? 'even' : 'odd' })),
  ],
  [
    'statuses with names of the query itself',
    `with names as (select 200 as status, 'OK' as name union all select 404, 'Not Found' union all select 500, 'Error')
     select name, count(*) as count from (${statuses}) as s join names using (status) group by name order by name`,
    ({ edge }) => {
      const names: Record<number, string> = { 200: 'OK', 404: 'Not Found', 500: 'Error' }
      const named = edge.flatMap(({ status }) => names[status] ?? [])
      return sorted(
        groups(named, name => [name]).map(({ keys: [name], entries }) => ({ name, count: entries.length })),
        row => [row.name],
      )
    },
  ],
  [
    'the three most frequent statuses as an array of structs',
    `select array_agg(struct(status, count) order by count desc, status limit 3) as top
     from (select status, count(*) as count from (${statuses}) group by status)`,
    ({ edge }) => {
      const counted = groups(edge, row => [row.status]).map(({ keys: [status], entries }) => ({
        status,
        count: entries.length,
      }))
      return [{ top: sorted(counted, row => [-row.count, row.status]).slice(0, 3) }]
    },
  ],
  [
    'the ids of a minute in an array',
    `select array(select id from edge_logs where timestamp < timestamp_add('2026-03-14 09:00:00', interval 90 second) order by id) as ids`,
    ({ edge }) => [{ ids: edge.filter(({ time }) => time < start + 90 * second).map(({ id }) => id) }],
  ],
  [
    'JSON in a message, whole and in parts',
    `select id, json_query(event_message, '$.msg') as quoted, json_value(event_message, '$.nothing') as nothing,
       json_value(event_message, '$.path') = '/token' as token
     from auth_logs order by id limit 3`,
    ({ auth }) =>
      auth.slice(0, 3).map(({ id, msg, path }) => ({
        id,
        quoted: JSON.stringify(msg),
        nothing: null,
        token: path === '/token',
      })),
  ],
  [
    'what cannot be cast as NULL',
    `select safe_cast('12x' as int64) as bad, safe_cast('12' as int64) as good, cast(12.5 as int64) as rounded,
       cast(true as string) as text, safe_divide(1, 0) as ratio`,
    () => [{ bad: null, good: 12, rounded: 13, text: 'true', ratio: null }],
  ],
  [
    'strings in their parts',
    `select substr(id, 1, 4) as project, length(id) as length, upper(left(id, 2)) as head, right(id, 3) as tail,
       lpad('7', 3, '0') as padded, reverse('abc') as reversed, replace(id, '-', '/') as path
     from edge_logs order by id limit 2`,
    ({ edge }) =>
      edge.slice(0, 2).map(({ id }) => ({
        project: 'acme',
        length: id.length,
        head: 'AC',
        tail: id.slice(-3),
        padded: '007',
        reversed: 'cba',
        path: id.replaceAll('-', '/'),
      })),
  ],
  [
    'hosts taken from URLs',
    `select distinct net.host(request.url) as host
     from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) as request`,
    () => [{ host: 'acme.example.co' }],
  ],
  [
    'columns without names',
    'select count(*), 1 + 1 from edge_logs',
    ({ edge }) => [{ f0_: edge.length, f1_: 2 }],
  ],
  [
    'counts with comments, capitals and line breaks as people type them',
    `-- all of it
     SELECT
       COUNT(*) AS Total, /* with a comma */
     FROM EDGE_LOGS # the edge
     ;`,
    ({ edge }) => [{ Total: edge.length }],
  ],
  [
    'rows of the caller alone',
    `select 1 as a, "it's" is null as b, [1, 2, 3][safe_offset(5)] as c, struct('x' as y).y as d`,
    () => [{ a: 1, b: false, c: null, d: 'x' }],
  ],
]
