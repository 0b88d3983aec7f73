/** Traffic of the edge: counts over time, by path, method and country. */
import { type Dashboard, floor, groups, isoSecond, sorted } from './dashboard.ts'
import { hour, minute } from './logs.ts'

const requests = `from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response`

const perMinute = (time: number) => floor(time, minute)

export const trafficDashboards: Dashboard[] = [
  [
    'requests per minute',
    `select timestamp_trunc(t.timestamp, minute) as timestamp, count(*) as count
     from edge_logs as t group by timestamp order by timestamp`,
    ({ edge }) =>
      groups(edge, row => [perMinute(row.time)]).map(({ keys: [timestamp], entries }) => ({
        timestamp,
        count: entries.length,
      })),
  ],
  [
    'requests per minute and class of status',
    `select timestamp_trunc(t.timestamp, minute) as minute, div(response.status_code, 100) as class, count(*) as count,
     ${requests} group by 1, 2 order by 1, 2;`,
    ({ edge }) =>
      sorted(
        groups(edge, row => [perMinute(row.time), Math.floor(row.status / 100)]).map(({ keys, entries }) => ({
          minute: keys[0],
          class: keys[1],
          count: entries.length,
        })),
        row => [row.minute, row.class],
      ),
  ],
  [
    'successes, client errors and server errors per five minutes',
    `select timestamp_seconds(div(unix_seconds(t.timestamp), 300) * 300) as slot,
       countif(response.status_code < 400) as ok,
       countif(response.status_code between 400 and 499) as warning,
       countif(response.status_code >= 500) as error
     ${requests} group by slot order by slot desc`,
    ({ edge }) =>
      groups(edge.toReversed(), row => [floor(row.time, 5 * minute)]).map(({ keys: [slot], entries }) => ({
        slot,
        ok: entries.filter(({ status }) => status < 400).length,
        warning: entries.filter(({ status }) => status >= 400 && status < 500).length,
        error: entries.filter(({ status }) => status >= 500).length,
      })),
  ],
  [
    'the chart of requests as datetimes',
    `select cast(timestamp_trunc(t.timestamp, hour) as datetime) as hour, count(t.id) as requests
     from edge_logs t group by hour order by hour`,
    ({ edge }) =>
      groups(edge, row => [floor(row.time, hour)]).map(({ keys: [time], entries }) => ({
        hour: isoSecond(time),
        requests: entries.length,
      })),
  ],
  [
    'top paths',
    `select request.path as path, count(*) as count ${requests} group by path order by count desc, path limit 5`,
    ({ edge }) =>
      top(
        groups(edge, row => [row.path]),
        'path',
      ).slice(0, 5),
  ],
  [
    'top paths of one method, found by an unqualified column',
    `select path, count(*) as count
     from edge_logs as t
       cross join unnest(metadata) as metadata
       left join unnest(metadata.request) as r on true
     where method = 'GET' group by 1 order by 2 desc, 1 asc limit 3`,
    ({ edge }) =>
      top(
        groups(
          edge.filter(({ method }) => method === 'GET'),
          row => [row.path],
        ),
        'path',
      ).slice(0, 3),
  ],
  [
    'methods',
    `select request.method, count(*) as n ${requests} group by request.method order by request.method`,
    ({ edge }) =>
      sorted(
        groups(edge, row => [row.method]).map(({ keys: [method], entries }) => ({
          method,
          n: entries.length,
        })),
        row => [row.method],
      ),
  ],
  [
    'countries, unknown ones too',
    `select cf.country, count(*) as count
     ${requests} left join unnest(request.cf) as cf group by country order by count desc, country`,
    ({ edge }) =>
      sorted(
        groups(edge, row => [row.country]).map(({ keys: [country], entries }) => ({
          country,
          count: entries.length,
        })),
        row => [-row.count, row.country],
      ),
  ],
]

function top(counted: { keys: [string]; entries: unknown[] }[], name: string) {
  const rows = counted.map(({ keys: [key], entries }) => ({ key, count: entries.length }))
  return sorted(rows, row => [-row.count, row.key]).map(({ key, count }) => ({ [name]: key, count }))
}
