-- one list of all services
with edge as (
  select t.id, t.timestamp, 'edge' as log_type, cast(res.status_code as string) as status,
    case when res.status_code >= 500 then 'error' when res.status_code >= 400 then 'warning' else 'success' end as level,
    req.path as path, req.method as method, t.event_message as message
  from edge_logs as t
    cross join unnest(t.metadata) as m
    cross join unnest(m.request) as req
    cross join unnest(m.response) as res
),
database as (
  select t.id, t.timestamp, 'postgres' as log_type, cast(p.sql_state_code as string) as status,
    case when p.error_severity = 'LOG' then 'success' when p.error_severity = 'WARNING' then 'warning' else 'error' end as level,
    cast(null as string) as path, cast(null as string) as method, t.event_message as message
  from postgres_logs as t cross join unnest(t.metadata) as m cross join unnest(m.parsed) as p
),
auth as (
  select t.id, t.timestamp, 'auth' as log_type, m.status, if(m.level = 'error', 'error', 'success') as level,
    m.path, cast(null as string) as method, m.msg as message
  from auth_logs as t cross join unnest(t.metadata) as m
),
unified as (select * from edge union all select * from database union all select * from auth)
select id, timestamp, log_type, status, level, path, method, message from unified
order by timestamp desc, id
limit 30;

-- counts for the filters beside the list
with unified as (
  select 'edge' as log_type, cast(res.status_code as string) as status, req.method as method
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as req cross join unnest(m.response) as res
  union all
  select 'auth', m.status, null from auth_logs as t cross join unnest(t.metadata) as m
  union all
  select 'functions', cast(r.status_code as string), q.method
  from function_edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as q cross join unnest(m.response) as r
)
select 'total' as dimension, 'all' as value, count(*) as count from unified
union all
select 'log_type', log_type, count(*) from unified group by log_type
union all
select 'status', status, count(*) from unified where status is not null group by status
union all
select 'method', method, count(*) from unified where method is not null group by method
order by dimension, count desc, value;

-- the chart above the list
with unified as (
  select t.timestamp, case when r.status_code >= 500 then 'error' when r.status_code >= 400 then 'warning' else 'success' end as level
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as r
  union all
  select t.timestamp, if(p.error_severity in ('ERROR', 'FATAL'), 'error', 'success')
  from postgres_logs as t cross join unnest(t.metadata) as m cross join unnest(m.parsed) as p
)
select timestamp_trunc(timestamp, minute) as time_bucket, countif(level = 'success') as success,
  countif(level = 'warning') as warning, countif(level = 'error') as error, count(*) as total
from unified group by time_bucket order by time_bucket;

-- entries of every table
select 'edge' as source, count(*) as entries, min(timestamp) as first, max(timestamp) as last from edge_logs
union all select 'postgres', count(*), min(timestamp), max(timestamp) from postgres_logs
union all select 'function_edge', count(*), min(timestamp), max(timestamp) from function_edge_logs
union all select 'function', count(*), min(timestamp), max(timestamp) from function_logs
union all select 'auth', count(*), min(timestamp), max(timestamp) from auth_logs
union all select 'realtime', count(*), min(timestamp), max(timestamp) from realtime_logs
union all select 'storage', count(*), min(timestamp), max(timestamp) from storage_logs
union all select 'postgrest', count(*), min(timestamp), max(timestamp) from postgrest_logs
union all select 'pgbouncer', count(*), min(timestamp), max(timestamp) from pgbouncer_logs
order by source;

-- a request and what the database said within a second of it
select e.id, p.id as entry, timestamp_diff(p.timestamp, e.timestamp, millisecond) as ms
from edge_logs as e join postgres_logs as p on p.timestamp between timestamp_sub(e.timestamp, interval 5 second) and timestamp_add(e.timestamp, interval 5 second)
order by e.id, entry;

-- a request from the edge with its token and its address
select t.id, req.method, req.path, res.status_code, apikey.prefix, payload.role, payload.algorithm, cf.country, h.user_agent
from edge_logs as t
  cross join unnest(t.metadata) as m
  left join unnest(m.request) as req
  left join unnest(m.response) as res
  left join unnest(req.headers) as h
  left join unnest(req.cf) as cf
  left join unnest(req.sb) as sb
  left join unnest(sb.apikey) as outer_key
  left join unnest(outer_key.apikey) as apikey
  left join unnest(sb.jwt) as jwt
  left join unnest(jwt.authorization) as auth
  left join unnest(auth.payload) as payload
order by t.id
limit 25;

-- people and machines by their role
select coalesce(payload.role, apikey.prefix, 'unknown') as who, count(distinct t.id) as requests
from edge_logs as t
  cross join unnest(t.metadata) as m
  left join unnest(m.request) as req
  left join unnest(req.sb) as sb
  left join unnest(sb.apikey) as k
  left join unnest(k.apikey) as apikey
  left join unnest(sb.jwt) as jwt
  left join unnest(jwt.apikey) as j
  left join unnest(j.payload) as payload
group by who
order by requests desc, who;

-- tokens by the time at which they end
select timestamp_seconds(payload.expires_at) as ends, count(*) as count
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as req
  cross join unnest(req.sb) as sb
  cross join unnest(sb.jwt) as jwt
  cross join unnest(jwt.authorization) as a
  cross join unnest(a.payload) as payload
group by ends
order by ends;

-- errors of each kind with the first and last time
with errors as (
  select t.timestamp, 'edge ' || cast(r.status_code as string) as kind from edge_logs as t cross join unnest(metadata) as m cross join unnest(m.response) as r where r.status_code >= 500
  union all
  select t.timestamp, 'postgres ' || p.sql_state_code from postgres_logs as t cross join unnest(metadata) as m cross join unnest(m.parsed) as p where p.error_severity in ('ERROR', 'FATAL')
  union all
  select t.timestamp, concat('auth ', m.error) from auth_logs as t cross join unnest(metadata) as m where m.error is not null
)
select kind, count(*) as count, min(timestamp) as first, max(timestamp) as last,
  timestamp_diff(max(timestamp), min(timestamp), minute) as minutes
from errors group by kind order by count desc, kind;

-- the busiest minute of each service
select service, minute, n from (
  select service, minute, count(*) as n, row_number() over (partition by service order by count(*) desc, minute) as place
  from (
    select 'edge' as service, timestamp_trunc(timestamp, minute) as minute from edge_logs
    union all select 'auth', timestamp_trunc(timestamp, minute) from auth_logs
    union all select 'realtime', timestamp_trunc(timestamp, minute) from realtime_logs
    union all select 'storage', timestamp_trunc(timestamp, minute) from storage_logs)
  group by service, minute)
where place = 1 order by service;
