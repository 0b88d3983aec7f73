-- the newest entries
select id, timestamp, event_message from edge_logs order by timestamp desc limit 10;

-- the second page of entries
select id from edge_logs order by timestamp desc limit 10 offset 10;

-- failed requests with all that is shown of one
select t.id, request.method, request.path, response.status_code as status from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
where response.status_code >= 500 order by t.timestamp desc;

-- slow requests, the slowest first
select request.path, response.origin_time as ms from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
where response.origin_time > 1000 order by ms desc, t.id limit 20;

-- a search in the messages
select id from edge_logs where regexp_contains(event_message, r'(?i)POST \| 4\d\d') order by id;

-- a search without regard to case
select count(*) as n from edge_logs where regexp_contains(lower(event_message), r'patch \| 2') or lower(event_message) like 'delete%';

-- requests between two times
select id from edge_logs as t
where t.timestamp >= timestamp '2026-03-14 09:10:00' and t.timestamp < '2026-03-14T09:20:00Z' order by t.timestamp;

-- requests of the last minutes before the end
select id from edge_logs where timestamp > timestamp_sub(timestamp '2026-03-14 10:00:00+00', interval 5 minute) order by id;

-- requests of one client
select t.id, h.cf_connecting_ip as ip from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response cross join unnest(request.headers) as h
where h.cf_connecting_ip = "203.0.113.7" order by t.id;

-- requests with some status codes and not others
select t.id from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response where response.status_code in (401, 404, 429) and request.method not in ('GET', 'PATCH') order by 1;

-- the query string in its parts
select t.id, regexp_extract(request.search, r'[?&]limit=(\d+)') as page_size from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
where request.search is not null order by t.id;

-- URLs with their keys blanked out
select distinct regexp_replace(request.url, r'apikey=[^&]*', 'apikey=...') as url from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response order by url;

-- the API and the resource from the path
select distinct split(path, '/')[safe_offset(1)] as api, split(path, '/')[safe_offset(3)] as resource
from edge_logs cross join unnest(metadata) as m cross join unnest(m.request) order by api, resource;

-- one line for each request
select concat(format_timestamp('%H:%M:%S', t.timestamp), ' ', request.method, ' ', request.path) as line
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response order by t.timestamp limit 5;

-- whether anything failed
select exists (select 1 from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response where response.status_code = 503) as failed,
  not exists (select 1 from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response where response.status_code = 418) as no_teapot;

-- what the key holder sees of the parameters
select @project as project, count(*) as n from edge_logs where @iso_timestamp_start is not null;
