/** Sign-ins, their failures, and the JSON in the messages of the auth server. */
import { average, type Dashboard, distinct, floor, groups, newestFirst, sorted } from './dashboard.ts'
import { minute } from './logs.ts'

const events = `from auth_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.auth_event) as event`

const parsed = (message: string) => JSON.parse(message) as { duration: number; status: number; msg: string }

export const authDashboards: Dashboard[] = [
  [
    'errors, the newest first',
    `select t.id, m.msg, m.error from auth_logs as t cross join unnest(metadata) as m
     where m.level = 'error' order by t.timestamp desc`,
    ({ auth }) =>
      newestFirst(auth.filter(({ level }) => level === 'error')).map(({ id, msg, error }) => ({
        id,
        msg,
        error,
      })),
  ],
  [
    'events by action',
    `select event.action, count(*) as count ${events} group by event.action order by event.action`,
    ({ auth }) =>
      sorted(
        groups(
          auth.filter(({ action }) => action !== null),
          row => [row.action],
        ).map(({ keys: [action], entries }) => ({
          action,
          count: entries.length,
        })),
        row => [row.action],
      ),
  ],
  [
    'people who signed in',
    `select count(distinct event.actor_id) as people ${events} where event.action = 'login'`,
    ({ auth }) => [
      { people: distinct(auth.filter(({ action }) => action === 'login').map(({ actor }) => actor)).length },
    ],
  ],
  [
    'sign-ins by provider',
    `select traits.provider, count(*) as count ${events} cross join unnest(event.traits) as traits
     where event.action in ('login', 'user_signedup') group by 1 order by 2 desc, 1`,
    ({ auth }) =>
      sorted(
        groups(
          auth.filter(({ action }) => action !== null),
          row => [row.provider],
        ).map(({ keys: [provider], entries }) => ({ provider, count: entries.length })),
        row => [-row.count, row.provider],
      ),
  ],
  [
    'all requests with the event of those that have one',
    `select t.id, event.action from auth_logs as t cross join unnest(t.metadata) as m
       left join unnest(m.auth_event) as event on true order by t.id`,
    ({ auth }) => auth.map(({ id, action }) => ({ id, action })),
  ],
  [
    'requests by path and status',
    `select m.path, safe_cast(m.status as int64) as status, count(*) as count
     from auth_logs as t cross join unnest(t.metadata) as m group by path, status order by path, status`,
    ({ auth }) =>
      sorted(
        groups(auth, row => [row.path, Number(row.status)]).map(({ keys: [path, status], entries }) => ({
          path,
          status,
          count: entries.length,
        })),
        row => [row.path, row.status],
      ),
  ],
  [
    'failed sign-ins per ten minutes',
    `select timestamp_seconds(600 * div(unix_seconds(t.timestamp), 600)) as slot, count(*) as failures
     from auth_logs as t, unnest(t.metadata) as m where m.error = 'invalid_credentials' group by slot order by slot`,
    ({ auth }) =>
      groups(
        auth.filter(({ error }) => error === 'invalid_credentials'),
        row => [floor(row.time, 10 * minute)],
      ).map(({ keys: [slot], entries }) => ({ slot, failures: entries.length })),
  ],
  [
    'the status in the message',
    `select id, json_value(event_message, '$.status') as status from auth_logs order by id limit 8`,
    ({ auth }) => auth.slice(0, 8).map(({ id, message }) => ({ id, status: String(parsed(message).status) })),
  ],
  [
    'errors by their name in the message, and none',
    `select json_value(event_message, '$.error') as error, count(*) as count from auth_logs group by error order by error`,
    ({ auth }) =>
      sorted(
        groups(auth, row => [row.error]).map(({ keys: [error], entries }) => ({
          error,
          count: entries.length,
        })),
        row => [row.error],
      ),
  ],
  [
    'the mean duration in milliseconds by path',
    `select m.path, avg(cast(json_value(t.event_message, '$.duration') as int64)) / 1e6 as ms
     from auth_logs as t cross join unnest(t.metadata) as m group by m.path order by m.path`,
    ({ auth }) =>
      sorted(
        groups(auth, row => [row.path]).map(({ keys: [path], entries }) => ({
          path,
          ms: average(entries.map(({ message }) => parsed(message).duration))! / 1e6,
        })),
        row => [row.path],
      ),
  ],
  [
    'the slowest request of each path',
    `select m.path, max_by(t.id, cast(json_value(t.event_message, '$.duration') as int64)) as id
     from auth_logs as t cross join unnest(t.metadata) as m group by m.path order by m.path`,
    ({ auth }) =>
      sorted(
        groups(auth, row => [row.path]).map(({ keys: [path], entries }) => ({
          path,
          id: sorted(entries, ({ message }) => [-parsed(message).duration])[0]!.id,
        })),
        row => [row.path],
      ),
  ],
  [
    'the code at the start of a message',
    `select distinct cast(regexp_extract(m.msg, r'^(\\d{3}):') as int64) as code, trim(split(m.msg, ':')[safe_offset(1)]) as text
     from auth_logs as t cross join unnest(t.metadata) as m where regexp_contains(m.msg, r'^\\d+:') order by code`,
    ({ auth }) =>
      sorted(
        distinct(auth.map(({ msg }) => msg).filter(msg => /^\d+:/.test(msg))).map(msg => {
          const [code, text] = msg.split(': ')
          return { code: Number(code), text: text! }
        }),
        row => [row.code],
      ),
  ],
  [
    'how many arguments requests have',
    `select array_length(m.args) as arguments, count(*) as count
     from auth_logs as t cross join unnest(t.metadata) as m group by 1 order by 1`,
    ({ auth }) =>
      sorted(
        groups(auth, row => [row.args.length]).map(({ keys: [length], entries }) => ({
          arguments: length,
          count: entries.length,
        })),
        row => [row.arguments],
      ),
  ],
  [
    'requests with an argument, and all their arguments',
    `select t.id, array_to_string(m.args, ',') as args from auth_logs as t cross join unnest(t.metadata) as m
     where 'b' in unnest(m.args) order by t.id`,
    ({ auth }) =>
      auth.filter(({ args }) => args.includes('b')).map(({ id, args }) => ({ id, args: args.join(',') })),
  ],
  [
    'each argument with its place',
    `select arg, place, count(*) as count from auth_logs as t
       cross join unnest(t.metadata) as m cross join unnest(m.args) as arg with offset as place
     group by arg, place order by arg, place`,
    ({ auth }) => {
      const places = auth.flatMap(({ args }) => args.map((arg, place) => ({ arg, place })))
      return sorted(
        groups(places, row => [row.arg, row.place]).map(({ keys: [arg, place], entries }) => ({
          arg,
          place,
          count: entries.length,
        })),
        row => [row.arg, row.place],
      )
    },
  ],
  [
    'people by the number of their sign-ins',
    `with counted as (select event.actor_id as person, count(*) as logins ${events}
       where event.action = 'login' group by person)
     select logins, string_agg(person, ', ' order by person) as people from counted group by logins order by logins desc`,
    ({ auth }) => {
      const logins = groups(
        auth.filter(({ action }) => action === 'login'),
        row => [row.actor!],
      )
      return sorted(
        groups(logins, ({ entries }) => [entries.length]).map(({ keys: [count], entries }) => ({
          logins: count,
          people: entries
            .map(({ keys: [person] }) => person)
            .toSorted()
            .join(', '),
        })),
        row => [-row.logins],
      )
    },
  ],
]
