-- a running total per minute
with minutes as (select timestamp_trunc(timestamp, minute) as minute, count(*) as count from edge_logs group by minute)
select minute, sum(count) over (order by minute) as total from minutes order by minute;

-- a moving average over three minutes
with minutes as (select timestamp_trunc(timestamp, minute) as minute, count(*) as count from edge_logs group by minute)
select minute, round(avg(count) over (order by minute rows between 2 preceding and current row), 3) as mean
from minutes order by minute;

-- each status with its share of all
select status, round(count(*) / sum(count(*)) over (), 4) as share from (select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response) group by status order by status;

-- the first and last request of each status by a named window
select distinct status, first_value(id) over w as first, last_value(id) over w as last from (select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response)
window w as (partition by status order by timestamp rows between unbounded preceding and unbounded following)
order by status;

-- changes of status from one request to the next
select countif(status != before) as changes
from (select status, lag(status) over (order by timestamp) as before from (select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response));

-- the newest entry of each table
select 'edge' as source, max(timestamp) as newest from edge_logs
union all select 'auth', max(timestamp) from auth_logs
union all select 'postgres', max(timestamp) from postgres_logs
union all select 'storage', max(timestamp) from storage_logs order by 1;

-- all tables in one stream
select id, timestamp from (
  select id, timestamp from edge_logs union all select id, timestamp from auth_logs
  union all select id, timestamp from function_logs union all select id, timestamp from realtime_logs)
order by timestamp desc, id limit 25;

-- minutes with traffic and no sign-in
select timestamp_trunc(timestamp, minute) as minute from edge_logs
except distinct select timestamp_trunc(timestamp, minute) from auth_logs order by minute;

-- minutes with errors of the edge and of the database
select timestamp_trunc(timestamp, minute) as minute from (select t.timestamp, t.id, response.status_code as status
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response) where status >= 400
intersect distinct
select timestamp_trunc(t.timestamp, minute) from postgres_logs as t, unnest(t.metadata) as m, unnest(m.parsed) as p
where p.error_severity = 'ERROR' order by minute;

-- requests beside the errors of the database in the same minute
select e.minute, e.requests, p.errors
from (select timestamp_trunc(timestamp, minute) as minute, count(*) as requests from edge_logs group by 1) as e
left join (
  select timestamp_trunc(t.timestamp, minute) as minute, count(*) as errors
  from postgres_logs as t cross join unnest(t.metadata) as m cross join unnest(m.parsed) as p
  where p.error_severity = 'ERROR' group by 1
) as p using (minute) order by e.minute;
