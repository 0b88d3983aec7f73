-- commits by user
select parsed.user_name as who, count(*) as commits
from postgres_logs
  left join unnest(metadata) as entry on true
  left join unnest(entry.parsed) as parsed on true
where regexp_contains(event_message, 'COMMIT')
group by parsed.user_name;

-- addresses of the API's callers
select cast(timestamp as datetime) as timestamp, headers.x_real_ip
from edge_logs
  left join unnest(metadata) as entry on true
  left join unnest(entry.request) as request on true
  left join unnest(request.headers) as headers on true
where headers.x_real_ip is not null;

-- requests by country
select place.country, count(*) as count
from edge_logs
  left join unnest(metadata) as entry on true
  left join unnest(entry.request) as request on true
  left join unnest(request.cf) as place on true
group by place.country
order by count desc;

-- slow answers
select cast(timestamp as datetime) as timestamp, event_message, answer.origin_time
from edge_logs
  cross join unnest(metadata) as entry
  cross join unnest(entry.response) as answer
where answer.origin_time > 1000
order by timestamp desc
limit 100
;

-- the most requested paths
select request.path as path, request.search as params, count(timestamp) as c
from edge_logs cross join unnest(metadata) as entry cross join unnest(entry.request) as request
group by path, params
order by c desc
limit 100;

-- a field without the name of its record
select cast(timestamp as datetime) as timestamp, event_message
from edge_logs cross join unnest(metadata) as entry cross join unnest(entry.request) as request
where path like '%rest/v1%'
order by timestamp desc
limit 100;

-- a double-quoted pattern and a comment
select t.timestamp, event_message
from auth_logs as t
where regexp_contains(event_message, "level.{3}(info|warning||error|fatal)")
  -- and regexp_contains(event_message, "path.{3}(/token|/signup)")
limit 100;

-- storage requests by what the cache did
select request.method as verb, request.path as file, (answerHeaders.cf_cache_status = 'HIT') as cached, count(*) as requests
from edge_logs
  cross join unnest(metadata) as metadata
  cross join unnest(metadata.request) as request
  cross join unnest(metadata.response) as response
  cross join unnest(response.headers) as answerHeaders
where (path like '%storage/v1/object/%' or path like '%storage/v1/render/%') and request.method = 'GET'
group by 1, 2, 3
order by requests desc
limit 100;

-- misses of the cache
select r.path as path, r.search as search, count(id) as count
from edge_logs f
  cross join unnest(f.metadata) as m
  cross join unnest(m.request) as r
  cross join unnest(m.response) as res
  cross join unnest(res.headers) as h
where starts_with(r.path, '/storage/v1/object') and h.cf_cache_status in ('MISS', 'EXPIRED', 'DYNAMIC')
group by path, search
order by count desc
limit 100;

-- severity from a status that is text
select id, auth_logs.timestamp, event_message, metadata.level, metadata.status, metadata.path, metadata.msg
from auth_logs cross join unnest(metadata) as metadata
where ifnull(metadata.level, '') in ('error', 'fatal') or ifnull(safe_cast(metadata.status as int64), 0) between 400 and 499
order by timestamp desc
limit 100;

-- the chart above a list of entries
select timestamp_trunc(t.timestamp, minute) as timestamp, count(t.timestamp) as count,
  countif(response.status_code >= 500) as error_count, countif(response.status_code between 400 and 499) as warning_count
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
where t.timestamp > timestamp_sub(current_timestamp(), interval 1 hour)
group by timestamp
order by timestamp asc;

-- the last use of secret keys
select unix_millis(max(timestamp)) as timestamp, used.`hash`
from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(request.sb) as sb
  cross join unnest(sb.apikey) as keys
  cross join unnest(keys.apikey) as used
where used.error is null and used.`hash` is not null and used.prefix like 'sb_secret_%'
group by used.`hash`;

-- one list of all services, with NULLs for what a service lacks
with unified as (
  select id, null as source_id, e.timestamp as timestamp, 'edge' as log_type, cast(answer.status_code as string) as status,
    case when answer.status_code between 200 and 299 then 'success' when answer.status_code >= 500 then 'error' else 'warning' end as level,
    request.path as pathname, null as event_message, request.method as method, null as log_count, null as logs
  from edge_logs as e
    cross join unnest(metadata) as entry
    cross join unnest(entry.request) as request
    cross join unnest(entry.response) as answer
  -- not those of the REST interface
  where request.path not like '%/rest/%'
  union all
  select id, null as source_id, p.timestamp as timestamp, 'postgres' as log_type, cast(parsed.sql_state_code as string) as status,
    case when parsed.error_severity = 'LOG' then 'success' when parsed.error_severity in ('ERROR', 'FATAL') then 'error' else null end as level,
    null as pathname, event_message as event_message, null as method, null as log_count, null as logs
  from postgres_logs as p
    cross join unnest(p.metadata) as entry
    cross join unnest(entry.parsed) as parsed
  union all
  select id, null as source_id, f.timestamp as timestamp, 'edge function' as log_type, cast(answer.status_code as string) as status,
    if(answer.status_code >= 500, 'error', 'success') as level, request.pathname as pathname,
    coalesce(output.last_event_message, '') as event_message, request.method as method, output.lines as log_count, null as logs
  from function_edge_logs as f
    cross join unnest(metadata) as entry
    cross join unnest(entry.response) as answer
    cross join unnest(entry.request) as request
    left join (
      select line.execution_id, count(l.id) as lines, any_value(l.event_message) as last_event_message
      from function_logs as l cross join unnest(l.metadata) as line
      where line.execution_id is not null
      group by line.execution_id
    ) as output on entry.execution_id = output.execution_id
)
select id, source_id, timestamp, log_type, status, level, pathname, event_message, method, log_count, logs
from unified
where log_type in ('edge', 'postgres') and (lower(pathname) like lower('%v1%')) and status not in ('404')
order by timestamp desc
limit 50;

-- counts beside the list
with unified as (
  select answer.status_code as code, if(answer.status_code >= 500, 'error', 'success') as level, request.method as method
  from edge_logs cross join unnest(metadata) as entry cross join unnest(entry.request) as request cross join unnest(entry.response) as answer
),
total as (select 'total' as dimension, 'all' as value, count(*) as count from unified),
levels as (select 'level' as dimension, level as value, count(*) as count from unified where level is not null group by level limit 20),
methods as (select 'method' as dimension, method as value, count(*) as count from unified where method is not null and method like '%G%' group by method limit 20)
select dimension, value, count from total
union all select dimension, value, count from levels
union all select dimension, value, count from methods;

-- sign-ins with the request that they came in, joined in parentheses
select e.id as id, a.id as source_id, e.timestamp as timestamp, cast(answer.status_code as string) as status, request.path as pathname
from auth_logs as a
  cross join unnest(metadata) as sign_in
  left join (
    edge_logs as e
      cross join unnest (metadata) as entry
      cross join unnest (entry.response) as answer
      cross join unnest (answer.headers) as answer_headers
      cross join unnest (entry.request) as request
  )
  on sign_in.request_id = answer_headers.cf_ray
where sign_in.request_id is not null;

-- all of one request, with keys that may be missing at every level
select e.id, cast(answer.status_code as string) as status, request.path as request_path, answer_headers.cf_ray as cf_ray,
  place.country as country, coalesce(sb.auth_user, null) as auth_user,
  case
    when payload.algorithm = 'HS256' and payload.role in ('anon', 'service_role') then payload.role
    when payload is not null then '<unrecognized>'
    else null
  end as key_role,
  case when inner_key.prefix like '%publishable%' then 'anon' when inner_key.prefix is not null then 'unknown' else null end as api_key_role,
  signed.role as authorization_role, null as user_id, e as raw_log_data
from edge_logs as e
  cross join unnest(metadata) as entry
  cross join unnest(entry.request) as request
  cross join unnest(entry.response) as answer
  left join unnest(answer.headers) as answer_headers
  left join unnest(request.headers) as request_headers
  left join unnest(request.cf) as place
  left join unnest(request.sb) as sb
  left join unnest(sb.jwt) as jwt
  left join unnest(coalesce(jwt.apikey, [])) as apikey
  left join unnest(coalesce(apikey.payload, [])) as payload
  left join unnest(coalesce(jwt.authorization, [])) as auth
  left join unnest(coalesce(auth.payload, [])) as signed
  left join unnest(coalesce(sb.apikey, [])) as outer_key
  left join unnest(coalesce(outer_key.apikey, [])) as inner_key
where e.id = 'b3a4';

-- one call of a function with its output as a list
select f.id as id, entry.execution_id as execution_id, output.lines as line_count, output.logs as function_logs, f as raw_log_data
from function_edge_logs as f
  cross join unnest(metadata) as entry
  cross join unnest(entry.response) as answer
  left join (
    select line.execution_id, count(l.id) as lines,
      array_agg(struct(l.id, l.timestamp, l.event_message, line.level, line.event_type)) as logs
    from function_logs as l cross join unnest(l.metadata) as line
    where line.execution_id is not null
    group by line.execution_id
  ) as output on entry.execution_id = output.execution_id
where f.id = 'b3a4';

-- requests, errors and times of a report, over an empty hour too
select count(*) as n, round(avg(r.origin_time)) as avg_ms, max(r.origin_time) as max_ms,
  countif(r.status_code >= 500) as failed, safe_divide(countif(r.status_code >= 500), count(*)) as share
from edge_logs cross join unnest(metadata) as m cross join unnest(m.response) as r
where timestamp > timestamp '2099-01-01';

-- all of a table
select * from storage_logs order by timestamp desc limit 10;

-- entries of the smaller services
select id, postgrest_logs.timestamp, event_message, metadata.host
from postgrest_logs cross join unnest(metadata) as metadata
where regexp_contains(event_message, 'db')
order by timestamp desc
limit 100;
