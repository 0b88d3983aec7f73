-- errors and worse, the newest first
select t.id, parsed.error_severity, event_message from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
where parsed.error_severity in ('ERROR', 'FATAL', 'PANIC') order by t.timestamp desc limit 100;

-- entries by severity, in the order of what is worst
select parsed.error_severity as severity, count(*) as count from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed group by severity
order by case severity when 'FATAL' then 1 when 'ERROR' then 2 when 'WARNING' then 3 else 4 end;

-- errors by state code with an example
select parsed.sql_state_code as code, count(*) as count, any_value(event_message) as example from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
where parsed.error_severity = 'ERROR' group by 1 order by 1;

-- relations that are missing
select distinct regexp_extract(event_message, r'relation "([^"]+)" does not exist') as relation
from postgres_logs where event_message like '%does not exist';

-- failing statements with those who sent them
select parsed.query, array_agg(distinct parsed.user_name order by parsed.user_name) as users from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
where parsed.query is not null group by parsed.query order by parsed.query;

-- connections by user and database
select parsed.user_name, parsed.database_name, count(*) as count from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
where starts_with(event_message, 'connection authorized') group by user_name, database_name
order by count desc, user_name, database_name;

-- applications, unnamed ones under a name
select coalesce(parsed.application_name, '(none)') as application, count(*) as count from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
group by application order by application;

-- processes with more than one error
select parsed.process_id as pid, countif(parsed.error_severity = 'ERROR') as errors from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
group by pid having errors > 1 order by errors desc, pid;

-- the last entry of each process
select parsed.process_id as pid, t.id from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
where true qualify row_number() over (partition by parsed.process_id order by t.timestamp desc) = 1 order by pid;

-- failed passwords by user in the message
select regexp_extract(event_message, r'user "(\w+)"') as user, count(*) as failures from postgres_logs
where regexp_contains(event_message, 'password authentication failed') group by user;
