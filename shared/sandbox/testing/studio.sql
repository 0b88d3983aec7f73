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


-- the query_logs tool: requests of the API, by any text in them
select id, identifier, timestamp, event_message, request.method, request.path, response.status_code
from edge_logs
cross join unnest(metadata) as m
cross join unnest(m.request) as request
cross join unnest(m.response) as response
where (strpos(lower(cast(id as string)), 'rest') > 0
  or strpos(lower(cast(identifier as string)), 'rest') > 0
  or strpos(lower(cast(request.path as string)), 'rest') > 0
  or strpos(lower(cast(response.status_code as string)), 'rest') > 0)
order by timestamp desc
limit 100;

-- the query_logs tool: the database
select identifier, postgres_logs.timestamp, id, event_message, parsed.error_severity from postgres_logs
cross join unnest(metadata) as m
cross join unnest(m.parsed) as parsed
where (strpos(lower(cast(parsed.error_severity as string)), 'fatal') > 0)
order by timestamp desc
limit 100;

-- the query_logs tool: calls of functions
select id, function_edge_logs.timestamp, event_message, response.status_code, request.method, m.function_id, m.execution_time_ms, m.deployment_id, m.version from function_edge_logs
cross join unnest(metadata) as m
cross join unnest(m.response) as response
cross join unnest(m.request) as request
where (strpos(lower(cast(m.version as string)), '4') > 0)
order by timestamp desc
limit 100;

-- the query_logs tool: sign-ins
select id, auth_logs.timestamp, event_message, metadata.level, metadata.status, metadata.path, metadata.msg as msg, metadata.error from auth_logs
cross join unnest(metadata) as metadata
where (strpos(lower(cast(metadata.error as string)), 'token') > 0)
order by timestamp desc
limit 100;

-- the query_logs tool: storage
select id, storage_logs.timestamp, event_message from storage_logs
where (strpos(lower(cast(event_message as string)), 'get') > 0)
order by timestamp desc
limit 100;

-- the query_logs tool: realtime
select id, realtime_logs.timestamp, event_message from realtime_logs
order by timestamp desc
limit 100;

-- an assistant: the newest errors of the database
select datetime(t.timestamp) as ts, p.error_severity, p.user_name, p.query
from postgres_logs as t
cross join unnest(t.metadata) as m
cross join unnest(m.parsed) as p
order by t.timestamp desc
limit 25;

-- an assistant: the newest requests
select datetime(timestamp) as ts, r.method, r.path, res.status_code
from edge_logs as t
cross join unnest(t.metadata) as m
cross join unnest(m.request) as r
cross join unnest(m.response) as res
order by timestamp desc
limit 25;

-- the list of edge logs, where Studio runs beside them
-- local edge_logs query
select id, edge_logs.timestamp, event_message, request.method, request.path, request.search, response.status_code
from edge_logs
cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
where (response.status_code between 500 and 599 or response.status_code between 400 and 499) and (request.path like '/rest/%' or request.path like '/graphql/%' or request.path like '/auth/%') and (request.method = 'GET' or request.method = 'POST')
order by timestamp desc
limit 100;

-- the list of edge logs of one database
select id, identifier, timestamp, event_message, request.method, request.path, request.search, response.status_code
  from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
  where (regexp_contains(event_message, '401|403')) and (identifier = 'acme')
  order by timestamp desc
  limit 100
;

-- the list of the database, where Studio runs beside it
select postgres_logs.timestamp, id, event_message, parsed.error_severity, parsed.detail, parsed.hint
from postgres_logs
cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
where (parsed.error_severity in ('ERROR', 'FATAL', 'PANIC') or parsed.error_severity = 'LOG')
order by timestamp desc
limit 100
;

-- the list of scheduled jobs
select identifier, postgres_logs.timestamp, id, event_message, parsed.error_severity, parsed.query
from postgres_logs
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
where (parsed.application_name = 'pg_cron' or event_message like '%cron job%') and (parsed.error_severity not in ('ERROR', 'FATAL', 'PANIC'))
order by timestamp desc
limit 100
;

-- the list of functions' output
select id, function_logs.timestamp, event_message, metadata.event_type, metadata.function_id, metadata.execution_id, metadata.level from function_logs
  cross join unnest(metadata) as metadata
  where (metadata.level = 'error' or metadata.level != 'error' or metadata.level = 'debug') and (regexp_contains(event_message, 'boot'))
  order by timestamp desc
  limit 100
;

-- the list of sign-ins by severity and endpoint
select id, auth_logs.timestamp, event_message, metadata.level, metadata.status, metadata.path, metadata.msg as msg, metadata.error from auth_logs
  cross join unnest(metadata) as metadata
  where (ifnull(metadata.level, '') in ('error', 'fatal') or ifnull(safe_cast(metadata.status as int64), 0) >= 500 or not (ifnull(metadata.level, '') in ('error', 'fatal')) and not (ifnull(metadata.level, '') = 'warning'))
    and (cast(metadata.status as int64) between 400 and 499) and (regexp_contains(metadata.path, "/token|/authorize|/callback|/otp|/magiclink") or regexp_contains(metadata.path, "/user"))
  order by timestamp desc
  limit 100
;

-- the lists of the smaller services
select id, postgrest_logs.timestamp, event_message from postgrest_logs
  where (regexp_contains(event_message, 'schema cache')) and (identifier = 'acme')
  order by timestamp desc
  limit 100
;

-- the list of the pooler
select id, pgbouncer_logs.timestamp, event_message from pgbouncer_logs

  order by timestamp desc
  limit 100
;

-- one entry of the database
select id, timestamp, event_message, metadata from postgres_logs where id = 'b3a4' limit 1;

-- one entry of the pooler
select id, timestamp, event_message, metadata from pgbouncer_logs where id = 'b3a4' limit 1;

-- how many entries a list has
SELECT count(*) as count FROM function_edge_logs cross join unnest(metadata) as m
  cross join unnest(m.response) as response
  cross join unnest(m.request) as request where (response.status_code between 200 and 299);

-- the chart above the requests
SELECT
-- chart of events
  timestamp_trunc(t.timestamp, minute) as timestamp,
  count(CASE WHEN NOT (response.status_code >= 500 OR response.status_code >= 400 AND response.status_code < 500) THEN 1 END) as ok_count,
  count(CASE WHEN response.status_code >= 500 THEN 1 END) as error_count,
  count(CASE WHEN response.status_code >= 400 AND response.status_code < 500 THEN 1 END) as warning_count,
FROM
  edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
  where t.timestamp > '2026-03-14T03:00:00.000Z'
GROUP BY
timestamp
ORDER BY
  timestamp ASC
;

-- the chart above the database
SELECT
  timestamp_trunc(t.timestamp, hour) as timestamp,
  count(CASE WHEN NOT (parsed.error_severity IN ('ERROR', 'FATAL', 'PANIC') OR parsed.error_severity IN ('WARNING')) THEN 1 END) as ok_count,
  count(CASE WHEN parsed.error_severity IN ('ERROR', 'FATAL', 'PANIC') THEN 1 END) as error_count,
  count(CASE WHEN parsed.error_severity IN ('WARNING') THEN 1 END) as warning_count,
FROM
  postgres_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as parsed
  where (parsed.application_name = 'pg_cron' OR event_message LIKE '%cron job%') and t.timestamp > '2026-03-14T03:00:00.000Z'
GROUP BY
timestamp
ORDER BY
  timestamp ASC
;

-- the chart above a service without severities
SELECT
  timestamp_trunc(t.timestamp, day) as timestamp,
  count(CASE WHEN NOT (false OR false) THEN 1 END) as ok_count,
  count(CASE WHEN false THEN 1 END) as error_count,
  count(CASE WHEN false THEN 1 END) as warning_count,
FROM
  realtime_logs t
  where t.timestamp > '2026-03-14T03:00:00.000Z'
GROUP BY
timestamp
ORDER BY
  timestamp ASC
;

-- a report: requests by the hour
select
  cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp,
  count(t.id) as count
FROM edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
  cross join unnest(m.request) as request
  cross join unnest(request.headers) as headers
  WHERE request.path = '/rest/v1/items' AND REGEXP_CONTAINS(request.search, 'limit') AND response.status_code >= 200
GROUP BY
  timestamp
ORDER BY
  timestamp ASC;

-- a report: routes with errors
select
  request.path as path,
  request.method as method,
  request.search as search,
  response.status_code as status_code,
  count(t.id) as count
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
  cross join unnest(m.request) as request
  cross join unnest(request.headers) as headers
where
  response.status_code >= 400
AND headers.host != 'localhost'
group by
  request.path, request.method, request.search, response.status_code
order by
  count desc
limit 10;

-- a report: slow routes
select
  request.path as path,
  request.method as method,
  response.status_code as status_code,
  count(t.id) as count,
  avg(response.origin_time) as avg
from edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
  cross join unnest(m.request) as request
group by
  request.path, request.method, response.status_code
order by
  avg desc
limit 10;

-- a report: traffic in and out
select
  cast(timestamp_trunc(t.timestamp, hour) as datetime) as timestamp,
  coalesce(
    safe_divide(
      sum(
        cast(coalesce(headers.content_length, "0") as int64)
      ),
      1000000
    ),
    0
  ) as ingress_mb,
  coalesce(safe_divide(sum(cast(coalesce(resp_headers.content_length, "0") as int64)), 1000000), 0) as egress_mb,
FROM
  edge_logs t
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
  cross join unnest(m.request) as request
  cross join unnest(request.headers) as headers
  cross join unnest(response.headers) as resp_headers
GROUP BY
  timestamp
ORDER BY
  timestamp ASC;

-- a report: how often storage was read from the cache
SELECT
  timestamp_trunc(timestamp, hour) as timestamp,
  countif( h.cf_cache_status in ('HIT', 'STALE', 'REVALIDATED', 'UPDATING') ) as hit_count,
  countif( h.cf_cache_status in ('MISS', 'NONE/UNKNOWN', 'EXPIRED', 'BYPASS', 'DYNAMIC') ) as miss_count
from edge_logs f
  cross join unnest(f.metadata) as m
  cross join unnest(m.request) as r
  cross join unnest(m.response) as res
  cross join unnest(res.headers) as h
where starts_with(r.path, '/storage/v1/object') and r.method = 'GET'
group by timestamp
order by timestamp desc
;

-- a report: calls of functions
select
  timestamp_trunc(timestamp, hour) as timestamp,
  function_id,
  count(*) as count
from
  function_edge_logs
  CROSS JOIN UNNEST(metadata) AS m
  CROSS JOIN UNNEST(m.request) AS request
  CROSS JOIN UNNEST(m.response) AS response
  CROSS JOIN UNNEST(response.headers) AS h
  WHERE function_id IN ('hello','resize') AND response.status_code >= 200 AND h.x_sb_edge_region IN ('eu-west-2') AND m.execution_time_ms > 5
group by
  timestamp,
  function_id
order by
  timestamp desc;

-- a report: status codes of functions
select
  timestamp_trunc(timestamp, minute) as timestamp,
  response.status_code as status_code,
  count(response.status_code) as count
from
  function_edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.response) as response
  cross join unnest(response.headers) as h
group by
  timestamp,
  status_code
order by
  timestamp desc
;

-- a report: functions by region and time
select
  timestamp_trunc(timestamp, day) as timestamp,
  h.x_sb_edge_region as region,
  avg(m.execution_time_ms) as avg_execution_time
from
  function_edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.response) as r
  cross join unnest(r.headers) as h

  WHERE h.x_sb_edge_region is not null
group by
  timestamp,
  region
order by
  timestamp desc
;

-- a report: errors of sign-ins by code
  select
    timestamp_trunc(timestamp, hour) as timestamp,
    count(*) as count,
    h.x_sb_error_code as error_code
  from edge_logs
    cross join unnest(metadata) as m
    cross join unnest(m.request) as request
    cross join unnest(m.response) as response
    cross join unnest(response.headers) as h
  where path like '%auth/v1%'
    and response.status_code >= 400 and response.status_code <= 599
    AND response.status_code != 404
  group by timestamp, error_code
  order by timestamp desc
;

-- a report: errors of sign-ins by status
  select
    timestamp_trunc(timestamp, hour) as timestamp,
    count(*) as count,
    response.status_code
  from edge_logs
    cross join unnest(metadata) as m
    cross join unnest(m.request) as request
    cross join unnest(m.response) as response
    cross join unnest(response.headers) as h
  where path like '%auth/v1%'
    and response.status_code >= 400 and response.status_code <= 599
  group by timestamp, status_code
  order by timestamp desc
;

-- a report: use of sign-ins, in one scan
    WITH
    window_of AS (
      SELECT
        COALESCE(
          PARSE_TIMESTAMP('%Y-%m-%dT%H:%M:%E*S%Ez', '2026-03-14T09:00:00Z'),
          TIMESTAMP('2026-03-14T09:00:00Z')
        ) AS start_ts,
        COALESCE(
          PARSE_TIMESTAMP('%Y-%m-%dT%H:%M:%E*S%Ez', '2026-03-14T10:00:00+00:00'),
          TIMESTAMP('2026-03-14T10:00:00+00:00')
        ) AS end_ts
    ),
    base AS (
      SELECT
        TIMESTAMP_TRUNC(timestamp, hour) AS ts,
        COALESCE(JSON_VALUE(event_message, '$.auth_event.action'), JSON_VALUE(event_message, '$.action')) AS action,
        COALESCE(JSON_VALUE(event_message, '$.auth_event.actor_id'), JSON_VALUE(event_message, '$.user_id')) AS actor_id,
        COALESCE(JSON_VALUE(event_message, '$.provider'), 'unknown') AS provider,
        JSON_VALUE(event_message, '$.login_method') AS login_method,
        CASE
          WHEN JSON_VALUE(event_message, '$.metering') IS NOT NULL THEN LOWER(JSON_VALUE(event_message, '$.metering'))
          WHEN JSON_QUERY(event_message, '$.metering') = 'true' THEN 'true'
          ELSE ''
        END AS metering
      FROM auth_logs, window_of
      WHERE timestamp >= start_ts AND timestamp < end_ts
      AND COALESCE(JSON_VALUE(event_message, '$.provider'), 'unknown') IN ('email', 'it\'s me')
    ),
    by_time AS (
      SELECT
        ts
        , provider,
        COUNT(DISTINCT IF(action IN ('login','user_signedup'), actor_id, NULL)) AS active_users,
        COUNTIF(action = 'user_signedup') AS total_signups
      FROM base
      GROUP BY ts, provider
    ),
    by_kind AS (
      SELECT
        ts
        , provider,
        CASE
          WHEN COALESCE(provider, '') != '' THEN CONCAT(login_method, ' (', provider, ')')
          ELSE login_method
        END AS login_type_provider,
        COUNTIF(action = 'login' AND metering = 'true') AS count
      FROM base
      GROUP BY ts, login_type_provider, provider
    )
    SELECT ts AS timestamp, 'ActiveUsers' AS metric, active_users AS count,
           provider,
           CAST(NULL AS STRING) AS login_type_provider
    FROM by_time
    UNION ALL
    SELECT ts, 'TotalSignUps', total_signups,
           CAST(NULL AS STRING) AS provider,
           CAST(NULL AS STRING)
    FROM by_time
    UNION ALL
    SELECT ts, 'SignInAttempts', count,
           provider,
           login_type_provider
    FROM by_kind
    ORDER BY timestamp DESC, provider
;

-- a report: times of sign-ins, whatever the unit
    WITH base AS (
      SELECT
        TIMESTAMP_TRUNC(timestamp, minute) AS ts,
        CASE COALESCE(JSON_VALUE(event_message, '$.auth_event.action'), JSON_VALUE(event_message, '$.action'))
          WHEN 'login' THEN 'SignInLatency'
          WHEN 'user_signedup' THEN 'SignUpLatency'
          ELSE NULL
        END AS metric,
        COALESCE(
          SAFE_CAST(JSON_VALUE(event_message, '$.processing_time_ms') AS FLOAT64),
          SAFE_CAST(JSON_VALUE(event_message, '$.auth_event.duration_us') AS FLOAT64) / 1000.0,
          SAFE_CAST(JSON_VALUE(event_message, '$.duration') AS FLOAT64) / 1000000.0
        ) AS latency_ms
      FROM auth_logs
    ),
    filtered AS (SELECT ts, metric, latency_ms FROM base WHERE metric IS NOT NULL),
    basic AS (
      SELECT ts, metric, MIN(latency_ms) AS min, AVG(latency_ms) AS avg, MAX(latency_ms) AS max
      FROM filtered
      GROUP BY ts, metric
    ),
    pct AS (
      SELECT ts, metric, APPROX_QUANTILES(latency_ms, 100) AS q
      FROM filtered
      GROUP BY ts, metric
    )
    SELECT
      b.ts AS timestamp,
      b.metric,
      b.min  AS min_processing_time_ms,
      b.avg  AS avg_processing_time_ms,
      b.max  AS max_processing_time_ms,
      q[OFFSET(50)] AS p50_processing_time_ms,
      q[OFFSET(95)] AS p95_processing_time_ms,
      q[OFFSET(99)] AS p99_processing_time_ms
    FROM basic b
    JOIN pct USING (ts, metric)
    ORDER BY timestamp DESC, metric
;

-- service flow: all of one call of a function
select
  f.id as id,
  f.timestamp as timestamp,
  request.pathname as request_path, request.host as request_host, request.url as request_url, request.search as request_search, request.protocol as request_protocol, request.port as request_port,
  answer_headers.content_type as response_content_type, answer_headers.content_length as response_content_length, answer_headers.date as response_date, answer_headers.server as response_server,
  answer_headers.x_sb_edge_region as response_edge_region, answer_headers.x_sb_compute_multiplier as response_compute_multiplier,
  answer_headers.x_sb_resource_multiplier as response_resource_multiplier, answer_headers.x_served_by as response_served_by,
  entry.execution_id as execution_id, entry.function_id as function_id, entry.deployment_id as deployment_id, entry.execution_time_ms as execution_time_ms, entry.project_ref as project_ref, entry.version as function_version,
  request_headers.user_agent as headers_user_agent, request_headers.accept_encoding as headers_accept_encoding, request_headers.connection as headers_connection, request_headers.cookie as headers_cookie,
  signed.role as api_role, coalesce(sb.auth_user, null) as auth_user,
  signed.key_id as jwt_auth_key_id, signed.session_id as jwt_auth_session_id, payload.subject as jwt_apikey_subject, inner_key.hash as api_key_hash,
  f as raw_log_data
from function_edge_logs as f
  cross join unnest(metadata) as entry
  cross join unnest(entry.response) as answer
  cross join unnest(entry.request) as request
  left join unnest(answer.headers) as answer_headers
  left join unnest(request.headers) as request_headers
  left join unnest(request.sb) as sb
  left join unnest(sb.jwt) as jwt
  left join unnest(COALESCE(jwt.apikey, [])) as apikey
  left join unnest(COALESCE(apikey.payload, [])) as payload
  left join unnest(COALESCE(jwt.authorization, [])) as auth
  left join unnest(COALESCE(auth.payload, [])) as signed
  left join unnest(COALESCE(sb.apikey, [])) as outer_key
  left join unnest(COALESCE(outer_key.apikey, [])) as inner_key
WHERE
  f.id = 'b3a4'
;

-- service flow: all of one entry of the database
select
  p.id as id,
  p.timestamp as timestamp,
  'postgres' as log_type,
  parsed.sql_state_code as status,
  CASE
      WHEN parsed.error_severity = 'LOG' THEN 'success'
      WHEN parsed.error_severity = 'WARNING' THEN 'warning'
      ELSE 'success'
  END as level,
  parsed.database_name as database_name, parsed.user_name as database_user, parsed.connection_from as connection_from, entry.host as database_host,
  parsed.command_tag as command_tag, parsed.backend_type as backend_type, parsed.query_id as query_id,
  parsed.session_id as session_id, parsed.process_id as process_id, parsed.virtual_transaction_id as virtual_transaction_id, parsed.transaction_id as transaction_id,
  parsed.session_start_time as session_start_time, parsed.session_line_num as session_line_num,
  parsed.timestamp as operation_timestamp,
  p as raw_log_data
from postgres_logs as p
cross join unnest(p.metadata) as entry
cross join unnest(entry.parsed) as parsed
WHERE
  p.id = 'b3a4'
;

-- service flow: an edge entry with its place, headers and gateway
select id, e.timestamp as timestamp, 'storage' as log_type,
  request.host as request_host, request.url as request_url, answer.origin_time as response_origin_time,
  answer_headers.content_type as response_content_type, answer_headers.cf_cache_status as response_cache_status,
  place.continent as client_continent, place.city as client_city, place.region as client_region, place.regionCode as client_region_code,
  place.latitude as client_latitude, place.longitude as client_longitude, place.timezone as client_timezone, place.httpProtocol as network_protocol, place.colo as network_datacenter,
  request_headers.user_agent as headers_user_agent, request_headers.x_client_info as headers_x_client_info, request_headers.x_forwarded_proto as headers_x_forwarded_proto,
  request_headers.x_real_ip as headers_x_real_ip, request_headers.referer as headers_referer, request_headers.cf_ipcountry as cf_country, request_headers.cf_connecting_ip as client_ip,
  answer_headers.sb_gateway_mode as storage_edge_gateway_mode, answer_headers.sb_gateway_version as storage_edge_gateway_version,
  null as user_email, e as raw_log_data
from edge_logs as e
  cross join unnest(metadata) as entry
  cross join unnest(entry.request) as request
  cross join unnest(entry.response) as answer
  left join unnest(answer.headers) as answer_headers
  left join unnest(request.headers) as request_headers
  left join unnest(request.cf) as place

WHERE
  e.id = 'b3a4'
;

-- unified logs: calls of functions with the last line of their output
WITH unified_logs AS (

    select
      id,
      null as source_id,
      fel.timestamp as timestamp,
      'edge function' as log_type,
      CAST(fel_response.status_code AS STRING) as status,
      'success' as level,
      fel_request.pathname as pathname,
      COALESCE(lines.last_event_message, '') as event_message,
      fel_request.method as method,
      lines.function_log_count as log_count,
      null as logs
    from function_edge_logs as fel
    cross join unnest(metadata) as fel_metadata
    cross join unnest(fel_metadata.response) as fel_response
    cross join unnest(fel_metadata.request) as fel_request
    left join (
    SELECT
        fl_metadata.request_id,
        COUNT(fl.id) as function_log_count,
        ANY_VALUE(fl.event_message) as last_event_message
    FROM function_logs as fl
    CROSS JOIN UNNEST(fl.metadata) as fl_metadata
    WHERE fl_metadata.request_id IS NOT NULL
    GROUP BY fl_metadata.request_id
    ) as lines on fel_metadata.request_id = lines.request_id
   union all
    select
      id, null as source_id, el.timestamp as timestamp, 'storage' as log_type, CAST(answer.status_code AS STRING) as status, 'success' as level,
      request.path as pathname, null as event_message, request.method as method, null as log_count, null as logs
    from edge_logs as el
    cross join unnest(metadata) as entry
    cross join unnest(entry.request) as request
    cross join unnest(entry.response) as answer
    -- ONLY what storage has
    WHERE request.path LIKE '%/storage/%'
)

SELECT
    TIMESTAMP_TRUNC(timestamp, MINUTE) as time_bucket,
    COUNTIF(level = 'success') as success,
    COUNTIF(level = 'warning') as warning,
    COUNTIF(level = 'error') as error,
    COUNT(*) as total_per_bucket
FROM unified_logs
WHERE (LOWER(`pathname`) LIKE LOWER('%object%') OR LOWER(`pathname`) LIKE LOWER('%hello%')) AND `method` NOT IN ('DELETE','PUT') AND (`pathname` NOT LIKE '%png%')
GROUP BY time_bucket
ORDER BY time_bucket ASC
;

-- unified logs: a column's values with their counts
WITH unified_logs AS (
    select a.id as id, cast(null as string) as `host`, metadata.method as method, if(metadata.level = 'error', 'error', 'success') as level
    from auth_logs as a cross join unnest(metadata) as metadata
),
`log_type_count` AS (
  SELECT 'log_type' as dimension, 'auth' as value, COUNT(*) as count
  FROM unified_logs
  WHERE `method` IS NOT NULL
  AND `method` LIKE '%P%'
  GROUP BY `method`
  LIMIT 20
),
host_count AS (
  SELECT 'host' as dimension, `host` as value, COUNT(*) as count
  FROM unified_logs
  WHERE (`host` LIKE '%a%') AND `host` IS NOT NULL
  GROUP BY `host`
  LIMIT 20
)
SELECT dimension, value, count FROM `log_type_count`
UNION ALL
SELECT dimension, value, count FROM host_count
;

-- Self-hosted: the health of services on the home page, in one query over all of them
with service_events as (
  select
    timestamp_trunc(el.timestamp, hour) as timestamp,
    'edge_logs' as source,
    countif(response.status_code >= 500) as error,
    countif(response.status_code between 400 and 499) as warning,
    countif(response.status_code < 400) as ok,
    count(el.id) as total
  from edge_logs as el
  cross join unnest(el.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
  where el.timestamp >= timestamp('2026-01-31T00:00:00.000Z')
    and el.timestamp <= timestamp('2026-01-31T12:00:00.000Z')
    and request.path not like '%/rest/%'
  group by timestamp

  union all

  select
    timestamp_trunc(pgl.timestamp, hour) as timestamp,
    'postgres_logs' as source,
    countif(parsed.error_severity in ('ERROR', 'FATAL', 'PANIC')) as error,
    countif(parsed.error_severity in ('WARNING', 'NOTICE')) as warning,
    countif(parsed.error_severity is null or parsed.error_severity not in ('ERROR', 'FATAL', 'PANIC', 'WARNING', 'NOTICE')) as ok,
    count(pgl.id) as total
  from postgres_logs as pgl
  cross join unnest(pgl.metadata) as m
  cross join unnest(m.parsed) as parsed
  where pgl.timestamp >= timestamp('2026-01-31T00:00:00.000Z')
    and pgl.timestamp <= timestamp('2026-01-31T12:00:00.000Z')
  group by timestamp

  union all

  select timestamp_trunc(timestamp, hour) as timestamp, 'auth_logs' as source, 0 as error, 0 as warning, count(id) as ok, count(id) as total
  from auth_logs
  where timestamp >= timestamp('2026-01-31T00:00:00.000Z') and timestamp <= timestamp('2026-01-31T12:00:00.000Z')
  group by timestamp
)
select
  timestamp,
  struct(
    sum(if(source = 'postgres_logs', ok, 0)) as ok,
    sum(if(source = 'postgres_logs', warning, 0)) as warning,
    sum(if(source = 'postgres_logs', error, 0)) as error,
    sum(if(source = 'postgres_logs', total, 0)) as total
  ) as postgres_logs,
  struct(
    sum(if(source = 'auth_logs', ok, 0)) as ok,
    sum(if(source = 'auth_logs', warning, 0)) as warning,
    sum(if(source = 'auth_logs', error, 0)) as error,
    sum(if(source = 'auth_logs', total, 0)) as total
  ) as auth_logs,
  struct(
    sum(if(source = 'edge_logs', ok, 0)) as ok,
    sum(if(source = 'edge_logs', warning, 0)) as warning,
    sum(if(source = 'edge_logs', error, 0)) as error,
    sum(if(source = 'edge_logs', total, 0)) as total
  ) as edge_logs,
  struct(0 as ok, 0 as warning, 0 as error, 0 as total) as supavisor_logs,
  struct(0 as ok, 0 as warning, 0 as error, 0 as total) as etl_replication_logs
from service_events
group by timestamp
order by timestamp asc;
