-- errors, the newest first
select t.id, m.msg, m.error from auth_logs as t cross join unnest(metadata) as m
where m.level = 'error' order by t.timestamp desc;

-- events by action
select event.action, count(*) as count from auth_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.auth_event) as event group by event.action order by event.action;

-- people who signed in
select count(distinct event.actor_id) as people from auth_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.auth_event) as event where event.action = 'login';

-- sign-ins by provider
select traits.provider, count(*) as count from auth_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.auth_event) as event cross join unnest(event.traits) as traits
where event.action in ('login', 'user_signedup') group by 1 order by 2 desc, 1;

-- all requests with the event of those that have one
select t.id, event.action from auth_logs as t cross join unnest(t.metadata) as m
  left join unnest(m.auth_event) as event on true order by t.id;

-- requests by path and status
select m.path, safe_cast(m.status as int64) as status, count(*) as count
from auth_logs as t cross join unnest(t.metadata) as m group by path, status order by path, status;

-- failed sign-ins per ten minutes
select timestamp_seconds(600 * div(unix_seconds(t.timestamp), 600)) as slot, count(*) as failures
from auth_logs as t, unnest(t.metadata) as m where m.error = 'invalid_credentials' group by slot order by slot;

-- the status in the message
select id, json_value(event_message, '$.status') as status from auth_logs order by id limit 8;

-- errors by their name in the message, and none
select json_value(event_message, '$.error') as error, count(*) as count from auth_logs group by error order by error;

-- the mean duration in milliseconds by path
select m.path, avg(cast(json_value(t.event_message, '$.duration') as int64)) / 1e6 as ms
from auth_logs as t cross join unnest(t.metadata) as m group by m.path order by m.path;

-- the slowest request of each path
select m.path, array_agg(t.id order by cast(json_value(t.event_message, '$.duration') as int64) desc, t.id limit 1)[offset(0)] as id
from auth_logs as t cross join unnest(t.metadata) as m group by m.path order by m.path;

-- the code at the start of a message
select distinct cast(regexp_extract(m.msg, r'^(\d{3}):') as int64) as code, trim(split(m.msg, ':')[safe_offset(1)]) as text
from auth_logs as t cross join unnest(t.metadata) as m where regexp_contains(m.msg, r'^\d+:') order by code;

-- how many arguments requests have
select array_length(m.args) as arguments, count(*) as count
from auth_logs as t cross join unnest(t.metadata) as m group by 1 order by 1;

-- requests with an argument, and all their arguments
select t.id, array_to_string(m.args, ',') as args from auth_logs as t cross join unnest(t.metadata) as m
where 'b' in unnest(m.args) order by t.id;

-- each argument with its place
select arg, place, count(*) as count from auth_logs as t
  cross join unnest(t.metadata) as m cross join unnest(m.args) as arg with offset as place
group by arg, place order by arg, place;

-- people by the number of their sign-ins
with counted as (select event.actor_id as person, count(*) as logins from auth_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.auth_event) as event
  where event.action = 'login' group by person)
select logins, string_agg(person, ', ' order by person) as people from counted group by logins order by logins desc;
