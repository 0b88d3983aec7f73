-- the weekday, the hour and the date of the first entry
select extract(dayofweek from first) as weekday, extract(hour from first at time zone 'Europe/Berlin') as hour,
  date(first) as date, format_timestamp('%Y-%m-%dT%H:%M:%SZ', first) as text, unix_millis(first) as millis
from (select min(timestamp) as first from edge_logs);

-- days and weeks of an entry
select timestamp_trunc(timestamp, day) as day, date_trunc(date(timestamp), week(monday)) as monday,
  date_add(date(timestamp), interval 1 day) as tomorrow, date_diff(date(timestamp), date '2026-01-01', day) as days
from edge_logs order by timestamp limit 1;

-- every minute of the first five, those without entries too
select minute, (select count(*) from realtime_logs as t where timestamp_trunc(t.timestamp, minute) = minute) as count
from unnest(generate_timestamp_array('2026-03-14 09:00:00', '2026-03-14 09:04:00', interval 1 minute)) as minute order by minute;

-- numbers from an array
select n, n * n as square, if(mod(n, 2) = 0, 'even', 'odd') as kind from unnest(generate_array(1, 4)) as n order by n;

-- statuses with names of the query itself
with names as (select 200 as status, 'OK' as name union all select 404, 'Not Found' union all select 500, 'Error')
select name, count(*) as count from (select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response) as s join names using (status) group by name order by name;

-- the three most frequent statuses as an array of structs
select array_agg(struct(status, count) order by count desc, status limit 3) as top
from (select status, count(*) as count from (select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response) group by status);

-- the ids of a minute in an array
select array(select id from edge_logs where timestamp < timestamp_add('2026-03-14 09:00:00', interval 90 second) order by id) as ids;

-- JSON in a message, whole and in parts
select id, json_query(event_message, '$.msg') as quoted, json_value(event_message, '$.nothing') as nothing,
  json_value(event_message, '$.path') = '/token' as token
from auth_logs order by id limit 3;

-- what cannot be cast as NULL
select safe_cast('12x' as int64) as bad, safe_cast('12' as int64) as good, cast(12.5 as int64) as rounded,
  cast(true as string) as text, safe_divide(1, 0) as ratio;

-- strings in their parts
select substr(id, 1, 4) as project, length(id) as length, upper(left(id, 2)) as head, right(id, 3) as tail,
  lpad('7', 3, '0') as padded, reverse('abc') as reversed, replace(id, '-', '/') as path
from edge_logs order by id limit 2;

-- hosts taken from URLs
select distinct net.host(request.url) as host
from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) as request;

-- columns without names
select count(*), 1 + 1 from edge_logs;

-- counts with comments, capitals and line breaks as people type them
-- all of it
SELECT
  COUNT(*) AS Total, /* with a comma */
FROM EDGE_LOGS # the edge
;

-- rows of the caller alone
select 1 as a, "it's" is null as b, [1, 2, 3][safe_offset(5)] as c, struct('x' as y).y as d;
