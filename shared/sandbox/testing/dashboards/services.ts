/** Messages of PostgREST, PgBouncer, Realtime and Storage. */
import { type Dashboard, floor, groups, sorted } from './dashboard.ts'
import { minute } from './logs.ts'

export const serviceDashboards: Dashboard[] = [
  [
    'entries of PostgREST with their number',
    `select id, cast(regexp_extract(event_message, r'#(\\d+)$') as int64) as number from postgrest_logs order by id`,
    ({ postgrest }) => postgrest.map(({ id }, number) => ({ id, number })),
  ],
  [
    'entries of PgBouncer by host',
    `select m.host, count(*) as count, min(t.timestamp) as first, max(t.timestamp) as last
     from pgbouncer_logs as t cross join unnest(t.metadata) as m group by host order by host`,
    ({ pgbouncer }) =>
      sorted(
        groups(pgbouncer, row => [row.host]).map(({ keys: [host], entries }) => ({
          host,
          count: entries.length,
          first: entries[0]!.time,
          last: entries.at(-1)!.time,
        })),
        row => [row.host],
      ),
  ],
  [
    'entries of Realtime by level',
    `select m.level, count(*) as count from realtime_logs as t, unnest(t.metadata) as m group by 1 order by 1`,
    ({ realtime }) =>
      sorted(
        groups(realtime, row => [row.level]).map(({ keys: [level], entries }) => ({
          level,
          count: entries.length,
        })),
        row => [row.level],
      ),
  ],
  [
    'errors of Realtime with their kind',
    `select split(event_message, ':')[offset(0)] as kind, count(*) as count from realtime_logs as t
       cross join unnest(t.metadata) as m where m.level = 'error' group by kind`,
    ({ realtime }) => {
      const errors = realtime.filter(({ level }) => level === 'error').length
      return errors > 0 ? [{ kind: 'ChannelRateLimitReached', count: errors }] : []
    },
  ],
  [
    'where in Realtime entries came from',
    `select array_to_string(context.domain, '.') as domain, max(context.line) as line
     from realtime_logs as t cross join unnest(t.metadata) as m cross join unnest(m.context) as context
     where m.external_id = @project group by domain order by domain`,
    ({ realtime }) =>
      sorted(
        groups(realtime, row => [row.domain.join('.')]).map(({ keys: [domain], entries }) => ({
          domain,
          line: Math.max(...entries.map(({ line }) => line)),
        })),
        row => [row.domain],
      ),
  ],
  [
    'files of Storage by how often they were asked for',
    `select regexp_extract(event_message, r'/object/(.+)$') as file, count(*) as count from storage_logs
     group by file order by count desc, file`,
    ({ storage }) =>
      sorted(
        groups(storage, row => [row.message.split('/object/')[1]!]).map(({ keys: [file], entries }) => ({
          file,
          count: entries.length,
        })),
        row => [-row.count, row.file],
      ),
  ],
  [
    'kinds of files of Storage, whatever their letters',
    `select lower(regexp_extract(event_message, r'\\.(\\w+)$')) as kind, count(*) as count from storage_logs group by 1 order by 1`,
    ({ storage }) =>
      sorted(
        groups(storage, row => [row.message.split('.').at(-1)!.toLowerCase()]).map(
          ({ keys: [kind], entries }) => ({
            kind,
            count: entries.length,
          }),
        ),
        row => [row.kind],
      ),
  ],
  [
    'Storage requests over ten milliseconds per minute',
    `select timestamp_trunc(timestamp, minute) as minute, count(*) as slow from storage_logs
     where safe_cast(regexp_extract(event_message, r'(\\d+) ms') as int64) > 10 group by 1 order by 1 desc`,
    ({ storage }) =>
      groups(storage.filter(({ message }) => Number(/(\d+) ms/.exec(message)![1]) > 10).toReversed(), row => [
        floor(row.time, minute),
      ]).map(({ keys: [time], entries }) => ({ minute: time, slow: entries.length })),
  ],
]
