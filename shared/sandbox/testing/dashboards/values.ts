/** Dates, arrays, structs, JSON, casts and strings. */
import { type Dashboard, floor, groups, isoSecond, sorted } from './dashboard.ts'
import { minute, second, start } from './logs.ts'

const statuses = `select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response`

export const valueDashboards: Dashboard[] = [
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
