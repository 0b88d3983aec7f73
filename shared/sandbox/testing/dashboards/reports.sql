-- all requests by the hour
select cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp, count(t.id) as count
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
  cross join unnest(response.headers) as headers
group by timestamp
order by timestamp asc;

-- the busiest routes with method, parameters and status
select request.path as path, request.method as method, request.search as search, response.status_code as status_code, count(t.id) as count
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
group by request.path, request.method, request.search, response.status_code
order by count desc, path, method, search, status_code
limit 10;

-- failures by the quarter of an hour
select timestamp_seconds(div(unix_seconds(t.timestamp), 900) * 900) as timestamp, count(t.id) as count
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
where response.status_code >= 400
group by timestamp
order by timestamp asc;

-- mean and slowest origin time by minute
select cast(timestamp_trunc(t.timestamp, minute) as datetime) as timestamp, avg(response.origin_time) as avg, max(response.origin_time) as max
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
group by timestamp
order by timestamp asc
limit 30;

-- the slowest routes
select request.path as path, request.method as method, count(t.id) as count, avg(response.origin_time) as avg
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
group by path, method
having count > 1
order by avg desc, path, method
limit 10;

-- traffic in and out in megabytes
select cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp,
  coalesce(safe_divide(sum(cast(h.content_length as int64)), 1000000), 0) as ingress_mb,
  coalesce(safe_divide(sum(safe_cast(resh.content_length as int64)), 1000000), 0) as egress_mb
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
  cross join unnest(request.headers) as h
  cross join unnest(response.headers) as resh
group by timestamp
order by timestamp;

-- success in percent by service
select case
    when starts_with(request.path, '/rest') then 'postgrest'
    when starts_with(request.path, '/auth') then 'auth'
    when starts_with(request.path, '/storage') then 'storage'
    when starts_with(request.path, '/realtime') then 'realtime'
    when starts_with(request.path, '/functions') then 'functions'
    else 'other'
  end as service,
  count(*) as total, countif(response.status_code < 400) as ok,
  round(100 * safe_divide(countif(response.status_code < 400), count(*)), 1) as percent
from edge_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
group by service
order by service;

-- hits of the cache by the five minutes
select timestamp_trunc(t.timestamp, minute) as minute,
  countif(h.cf_cache_status in ('HIT', 'STALE', 'REVALIDATED', 'UPDATING')) as hit_count,
  countif(h.cf_cache_status in ('MISS', 'NONE/UNKNOWN', 'EXPIRED', 'BYPASS', 'DYNAMIC')) as miss_count
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as r
  cross join unnest(m.response) as res
  cross join unnest(res.headers) as h
where starts_with(r.path, '/storage/v1/object') and r.method = 'GET'
group by minute
order by minute desc;

-- calls of functions by status
select timestamp_trunc(t.timestamp, minute) as timestamp, m.function_id, response.status_code, count(t.id) as count
from function_edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
where m.function_id in ('hello', 'resize')
group by timestamp, m.function_id, response.status_code
order by timestamp desc, function_id, status_code;

-- calls of functions by region
select h.x_sb_edge_region as region, count(*) as count
from function_edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as r
  cross join unnest(r.headers) as h
where h.x_sb_edge_region is not null
group by region
order by count desc, region;

-- the chart of a function, its classes of status side by side
select timestamp_trunc(timestamp, hour) as timestamp,
  countif(response.status_code between 200 and 299) as success_count,
  countif(response.status_code between 300 and 399) as redirect_count,
  countif(response.status_code between 400 and 499) as client_err_count,
  countif(response.status_code between 500 and 599) as server_err_count,
  avg(m.execution_time_ms) as avg_execution_time, max(m.execution_time_ms) as max_execution_time, count(1) as requests_count
from function_edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
where m.function_id = 'hello'
group by timestamp
order by timestamp desc;

-- sign-ins by grant and minute
select timestamp_trunc(timestamp, minute) as timestamp, json_value(event_message, '$.grant_type') as login_type_provider, count(*) as count
from auth_logs
where json_value(event_message, '$.action') = 'login' or json_value(event_message, '$.path') = '/token'
group by timestamp, login_type_provider
order by timestamp desc, login_type_provider;

-- errors of sign-ins by status
select f.status, count(*) as count
from auth_logs as t cross join unnest(metadata) as f
where f.status is not null and safe_cast(f.status as int64) not between 200 and 299
group by f.status
order by f.status;

-- the share of each status among sign-ins
select status, n, round(100 * n / sum(n) over (), 2) as percent
from (select m.status, count(*) as n from auth_logs cross join unnest(metadata) as m group by m.status)
order by n desc, status;

-- durations in milliseconds from text
select m.path, min(safe_cast(m.duration as float64)) as fastest, max(safe_cast(m.duration as float64)) as slowest,
  round(avg(safe_cast(m.duration as float64)) / 1e6, 3) as mean, countif(safe_cast(m.duration as float64) is null) as unknown
from auth_logs cross join unnest(metadata) as m
group by m.path
order by m.path;

-- numbers from fields of text
select t.id, safe_cast(m.duration as numeric) as nanoseconds, safe_cast(m.duration as int64) as whole, safe_cast(m.status as int64) as status
from auth_logs as t cross join unnest(t.metadata) as m
order by t.id
limit 20;

-- times from fields of text
select t.id, safe_cast(p.session_start_time as timestamp) as began, safe_cast(p.session_start_time as date) as day
from postgres_logs as t cross join unnest(t.metadata) as m cross join unnest(m.parsed) as p
order by t.id
limit 20;

-- how long sessions of the database were
select p.session_id, timestamp_diff(max(t.timestamp), min(safe_cast(p.session_start_time as timestamp)), second) as seconds, count(*) as entries
from postgres_logs as t cross join unnest(t.metadata) as m cross join unnest(m.parsed) as p
where p.session_id is not null
group by p.session_id
order by p.session_id;

-- means of an empty window
select count(*) as n, avg(r.origin_time) as mean, sum(r.origin_time) / count(*) as each, max(r.status_code) as worst
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as r
where t.timestamp > '2030-01-01';

-- a chart of an empty window
select timestamp_trunc(t.timestamp, minute) as minute, count(*) as n
from edge_logs as t where t.timestamp < '2001-01-01' group by minute order by minute;
