/** Messages of Postgres. */
import { type Dashboard, distinct, groups, newestFirst, sorted } from './dashboard.ts'

const parsed = `from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed`

export const databaseDashboards: Dashboard[] = [
  [
    'errors and worse, the newest first',
    `select t.id, parsed.error_severity, event_message ${parsed}
     where parsed.error_severity in ('ERROR', 'FATAL', 'PANIC') order by t.timestamp desc limit 100`,
    ({ postgres }) =>
      newestFirst(postgres.filter(({ severity }) => ['ERROR', 'FATAL'].includes(severity))).map(
        ({ id, severity, message }) => ({ id, error_severity: severity, event_message: message }),
      ),
  ],
  [
    'entries by severity, in the order of what is worst',
    `select parsed.error_severity as severity, count(*) as count ${parsed} group by severity
     order by case severity when 'FATAL' then 1 when 'ERROR' then 2 when 'WARNING' then 3 else 4 end`,
    ({ postgres }) =>
      sorted(
        groups(postgres, row => [row.severity]).map(({ keys: [severity], entries }) => ({
          severity,
          count: entries.length,
        })),
        row => [['FATAL', 'ERROR', 'WARNING', 'LOG'].indexOf(row.severity)],
      ),
  ],
  [
    'errors by state code with an example',
    `select parsed.sql_state_code as code, count(*) as count, any_value(event_message) as example ${parsed}
     where parsed.error_severity = 'ERROR' group by 1 order by 1`,
    ({ postgres }) =>
      sorted(
        groups(
          postgres.filter(({ severity }) => severity === 'ERROR'),
          row => [row.state, row.message],
        ).map(({ keys: [code, example], entries }) => ({ code, count: entries.length, example })),
        row => [row.code],
      ),
  ],
  [
    'relations that are missing',
    `select distinct regexp_extract(event_message, r'relation "([^"]+)" does not exist') as relation
     from postgres_logs where event_message like '%does not exist'`,
    ({ postgres }) =>
      postgres.some(({ message }) => message.endsWith('does not exist'))
        ? [{ relation: 'public.missing' }]
        : [],
  ],
  [
    'failing statements with those who sent them',
    `select parsed.query, array_agg(distinct parsed.user_name order by parsed.user_name) as users ${parsed}
     where parsed.query is not null group by parsed.query order by parsed.query`,
    ({ postgres }) =>
      sorted(
        groups(
          postgres.filter(({ query }) => query !== null),
          row => [row.query],
        ).map(({ keys: [query], entries }) => ({
          query,
          users: distinct(entries.map(({ user }) => user)).toSorted(),
        })),
        row => [row.query],
      ),
  ],
  [
    'connections by user and database',
    `select parsed.user_name, parsed.database_name, count(*) as count ${parsed}
     where starts_with(event_message, 'connection authorized') group by user_name, database_name
     order by count desc, user_name, database_name`,
    ({ postgres }) =>
      sorted(
        groups(
          postgres.filter(({ message }) => message.startsWith('connection authorized')),
          row => [row.user, row.database],
        ).map(({ keys, entries }) => ({ user_name: keys[0], database_name: keys[1], count: entries.length })),
        row => [-row.count, row.user_name, row.database_name],
      ),
  ],
  [
    'applications, unnamed ones under a name',
    `select coalesce(parsed.application_name, '(none)') as application, count(*) as count ${parsed}
     group by application order by application`,
    ({ postgres }) =>
      sorted(
        groups(postgres, row => [row.application ?? '(none)']).map(({ keys: [application], entries }) => ({
          application,
          count: entries.length,
        })),
        row => [row.application],
      ),
  ],
  [
    'processes with more than one error',
    `select parsed.process_id as pid, countif(parsed.error_severity = 'ERROR') as errors ${parsed}
     group by pid having errors > 1 order by errors desc, pid`,
    ({ postgres }) => {
      const counted = groups(postgres, row => [row.pid]).map(({ keys: [pid], entries }) => ({
        pid,
        errors: entries.filter(({ severity }) => severity === 'ERROR').length,
      }))
      return sorted(
        counted.filter(({ errors }) => errors > 1),
        row => [-row.errors, row.pid],
      )
    },
  ],
  [
    'the last entry of each process',
    `select parsed.process_id as pid, t.id ${parsed}
     where true qualify row_number() over (partition by parsed.process_id order by t.timestamp desc) = 1 order by pid`,
    ({ postgres }) =>
      sorted(
        groups(postgres, row => [row.pid]).map(({ keys: [pid], entries }) => ({
          pid,
          id: entries.at(-1)!.id,
        })),
        row => [row.pid],
      ),
  ],
  [
    'failed passwords by user in the message',
    `select regexp_extract(event_message, r'user "(\\w+)"') as user, count(*) as failures from postgres_logs
     where regexp_contains(event_message, 'password authentication failed') group by user`,
    ({ postgres }) => {
      const failures = postgres.filter(({ message }) =>
        message.includes('password authentication failed'),
      ).length
      return failures > 0 ? [{ user: 'guest', failures }] : []
    },
  ],
]
