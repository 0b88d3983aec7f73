-- methods as columns, a row for each status
select * from (
  select response.status_code as status, request.method
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response
) pivot (count(*) for method in ('GET', 'POST', 'PATCH', 'DELETE')) order by status;

-- classes of status as columns, in slots of ten minutes
select * from (
  select timestamp_seconds(600 * div(unix_seconds(t.timestamp), 600)) as slot, div(response.status_code, 100) as class
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response
) pivot (count(*) for class in (2 as ok, 3 as moved, 4 as client, 5 as server)) as p order by p.slot;

-- counts and times by method, side by side
select path, n_GET, n_POST, slowest_GET, slowest_POST from (
  select r.path, r.method, res.origin_time
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r cross join unnest(m.response) as res
) pivot (count(*) as n, max(origin_time) as slowest for method in ('GET', 'POST'))
where n_GET + n_POST > 0 order by n_GET + n_POST desc, path limit 20;

-- the share of failures by method, from a pivot
with turned as (
  select * from (
    select r.method, if(res.status_code >= 400, 'bad', 'good') as kind
    from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r cross join unnest(m.response) as res
  ) pivot (count(*) for kind in ('good', 'bad'))
)
select method, good, bad, round(100 * bad / (good + bad), 2) as percent from turned order by method;

-- levels of postgres, hour by hour
select * from (
  select timestamp_trunc(t.timestamp, hour) as hour, p.error_severity as severity
  from postgres_logs as t cross join unnest(t.metadata) as m cross join unnest(m.parsed) as p
) pivot (count(*) for severity in ('LOG', 'ERROR', 'FATAL', 'WARNING', null as none)) order by hour;

-- levels of functions, with an empty column
select * from (
  select m.function_id, m.level from function_logs as t cross join unnest(t.metadata) as m
) pivot (count(*) for level in ('error', 'warning', 'info', 'log', 'no_such_level')) order by function_id;

-- figures of a window as rows
select name, value from (
  select count(*) as requests, countif(res.status_code >= 400) as failures, max(res.origin_time) as slowest
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as res
) unpivot (value for name in (requests, failures as 'failed requests', slowest as 'slowest, ms')) order by name;

-- what is missing in the entries of edge logs
select field, countif(value is null) as missing, count(*) as entries from (
  select r.method, r.path, r.host, r.search
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r
) unpivot include nulls (value for field in (method, path, host, search)) group by field order by field;

-- the first and the last entry of a table as two rows
select * from (
  select min(timestamp) as first, max(timestamp) as last, min(id) as first_id, max(id) as last_id from auth_logs
) unpivot ((moment, id) for which in ((first, first_id) as 'first', (last, last_id) as 'last')) order by moment;

-- entries of three services in one list, by the names of their columns
select id, 'auth' as service, event_message, timestamp from auth_logs where id < 'acme-auth-003'
union all corresponding select timestamp, id, event_message, 'storage' as service from storage_logs where id < 'acme-storage-003'
union all corresponding select service, event_message, timestamp, id from (select *, 'realtime' as service from realtime_logs) where id < 'acme-realtime-003'
order by id;

-- all columns of a table, for the first entries
select * from auth_logs order by id limit 3;

-- all columns of one table, and a field of another
select a.* except (metadata), m.level from auth_logs as a cross join unnest(a.metadata) as m order by a.id limit 10;

-- all fields of the first objects
select t.id, r.* except (headers, cf, sb) from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r order by t.id limit 10;

-- all columns of subqueries that a column joins
select * from (select method, count(*) as n from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r group by method) as a
join (select method, max(res.status_code) as worst from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r cross join unnest(m.response) as res group by method) as b
using (method) order by method;

-- all columns of common tables, one replaced
with counted as (select timestamp_trunc(timestamp, minute) as minute, count(*) as n from function_logs group by minute),
  ranked as (select *, rank() over (order by n desc, minute) as place from counted)
select * replace (format_timestamp('%H:%M', minute) as minute) from ranked where place <= 5 order by place;

-- a pipe that counts by status and turns the methods
from edge_logs as t
|> cross join unnest(t.metadata) as m
|> cross join unnest(m.request) as r
|> cross join unnest(m.response) as res
|> where res.status_code is not null
|> select r.method, div(res.status_code, 100) as class
|> pivot (count(*) for class in (2 as ok, 4 as client, 5 as server))
|> where ok > 0
|> order by method;

-- a pipe that turns figures into rows
from postgres_logs as t
|> cross join unnest(t.metadata) as m
|> cross join unnest(m.parsed) as p
|> aggregate countif(p.error_severity = 'ERROR') as errors, countif(p.error_severity = 'FATAL') as fatal, count(*) as entries
|> unpivot (n for what in (errors, fatal, entries))
|> order by n desc, what;

-- a pipe over two tables by the names of their columns
from auth_logs
|> select id, timestamp, 'auth' as service
|> union all corresponding (select 'pooler' as service, timestamp, id from pgbouncer_logs)
|> aggregate count(*) as n, min(id) as first group by service
|> order by service;

-- a pipe whose tables keep their names behind a new column
from edge_logs as t
|> cross join unnest(t.metadata) as m
|> extend m.request[safe_offset(0)].method as method
|> cross join unnest(m.response) as s
|> where t.id is not null and s.status_code is not null
|> aggregate count(*) as n desc, count(distinct t.id) as ids group by method asc, div(s.status_code, 100) as class asc;

-- a pipe that takes the newest entry of each status
from edge_logs as t, unnest(t.metadata) as m, unnest(m.response) as s
|> where t.id is not null
|> extend row_number() over (partition by s.status_code order by t.timestamp desc, t.id) as place
|> where place = 1
|> select t.id, s.status_code
|> order by status_code, id
|> limit 8;
