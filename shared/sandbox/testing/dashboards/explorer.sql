-- requests with their address, as the explorer lists them
select cast(t.timestamp as datetime) as timestamp, h.x_real_ip
from edge_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as r
  cross join unnest(r.headers) as h
where h.x_real_ip is not null
order by t.timestamp desc
limit 20;

-- requests by country
select cf.country, count(*) as count
from edge_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.request) as r
  cross join unnest(r.cf) as cf
group by cf.country
order by count desc, cf.country;

-- slow responses
select cast(timestamp as datetime) as timestamp, event_message, r.origin_time
from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.response) as r
where r.origin_time > 1000
order by timestamp desc
limit 100;

-- changes of roles in the database
select cast(t.timestamp as datetime) as timestamp, p.error_severity, p.user_name, p.query, p.detail, event_message
from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as p
where regexp_contains(event_message, 'ALTER USER') or regexp_contains(event_message, '(?i)authentication failed')
order by timestamp desc
limit 100;

-- answers with a server's error
select cast(timestamp as datetime) as timestamp, r.status_code, event_message
from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.response) as r
where r.status_code >= 500
order by timestamp desc
limit 100;

-- the busiest paths
select r.path as path, r.search as params, count(timestamp) as c
from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.request) as r
group by path, params
order by c desc, path, params
limit 20;

-- requests to the REST interface
select cast(timestamp as datetime) as timestamp, event_message
from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.request) as r
where regexp_contains(r.path, 'rest/v1')
order by timestamp
limit 30;

-- errors of Postgres, without those of no weight
select cast(t.timestamp as datetime) as timestamp, p.error_severity, event_message
from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as p
where p.error_severity in ('ERROR', 'FATAL', 'PANIC') and event_message not like '%does not exist%'
order by t.timestamp desc
limit 100;

-- Postgres errors by user and severity
select count(t.timestamp) as count, p.user_name, p.error_severity
from postgres_logs as t
  cross join unnest(metadata) as m
  cross join unnest(m.parsed) as p
where p.error_severity in ('ERROR', 'FATAL', 'PANIC')
group by p.user_name, p.error_severity
order by count desc, p.user_name, p.error_severity;

-- who did what to accounts
select cast(timestamp as datetime) as timestamp, json_value(event_message, '$.auth_event.action') as action,
  json_value(event_message, '$.msg') as msg, coalesce(json_value(event_message, '$.error'), '') as error
from auth_logs
order by timestamp desc, id
limit 25;

-- objects of Storage that were asked for
select cast(timestamp as datetime) as timestamp, r.method, count(timestamp) as num_requests
from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.request) as r
where regexp_contains(r.path, '/object/')
group by timestamp, r.method
order by num_requests desc, timestamp, r.method
limit 40;

-- bytes that Storage sent
select r.method, r.path, sum(safe_cast(h.content_length as int64)) as bytes, count(*) as num_requests
from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.request) as r
  cross join unnest(m.response) as res
  cross join unnest(res.headers) as h
where starts_with(r.path, '/storage/v1/object/')
group by r.method, r.path
order by bytes desc, r.path, r.method
limit 30;

-- files that the cache misses most
select r.path as path, r.search as search, count(id) as count
from edge_logs
  cross join unnest(metadata) as m
  cross join unnest(m.request) as r
  cross join unnest(m.response) as res
  cross join unnest(res.headers) as h
where starts_with(r.path, '/storage/v1/object') and r.method = 'GET'
  and h.cf_cache_status in ('MISS', 'NONE/UNKNOWN', 'EXPIRED', 'BYPASS', 'DYNAMIC')
group by path, search
order by count desc, path, search
limit 10;

-- entries around one entry
select id, timestamp from edge_logs
where timestamp between timestamp_sub('2026-03-14 09:30:00', interval 2 minute) and timestamp_add('2026-03-14 09:30:00', interval 2 minute)
order by timestamp;

-- one entry by its id
select id, timestamp, event_message, metadata from postgres_logs where id = 'acme-postgres-007' limit 1;

-- one entry of the edge whole
select id, metadata from edge_logs where id = 'acme-edge-001';

-- entries without metadata
select id, array_length(metadata) as objects from edge_logs where array_length(metadata) != 1 order by id;

-- messages that are missing or empty
select id, event_message is null as missing, ifnull(length(event_message), -1) as length
from edge_logs where coalesce(event_message, '') = '' order by id;

-- all columns of an entry
select * from auth_logs where id = 'acme-auth-003';
