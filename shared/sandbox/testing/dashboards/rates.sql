-- share of errors in percent
select round(100 * countif(response.status_code >= 500) / count(*), 2) as percent from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response;

-- share of errors by path, where there are any
select request.path, safe_divide(countif(response.status_code >= 400), count(1)) as rate from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
group by request.path having rate > 0 order by rate desc, path;

-- requests by API, as the usage chart counts them
select countif(regexp_contains(path, '/rest')) as rest, countif(regexp_contains(path, r'^/auth/')) as auth,
  countif(strpos(path, '/storage') > 0) as storage, countif(path like '/realtime/%') as realtime
from edge_logs cross join unnest(metadata) as m cross join unnest(m.request);

-- different clients per path
select request.path, count(distinct h.cf_connecting_ip) as clients
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response cross join unnest(request.headers) as h group by path order by clients desc, path;

-- kinds of clients
select case when h.user_agent like 'Mozilla/%' then 'browser' when starts_with(h.user_agent, 'curl') then 'curl'
  else 'other' end as client, count(*) as count
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response, unnest(request.headers) as h group by client order by client;

-- browsers with their versions
select regexp_extract(h.user_agent, r'(?:Firefox|Chrome)/(\d+)') as version, count(*) as count
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response cross join unnest(request.headers) as h group by version order by version;

-- cache hits in percent of what could be cached
select round(countif(h.cf_cache_status = 'HIT') * 100.0 / nullif(countif(h.cf_cache_status in ('HIT', 'MISS')), 0), 1) as hits
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response cross join unnest(response.headers) as h;

-- the mean time of the origin by method, without what the cache answered
select request.method, avg(response.origin_time) as mean, count(response.origin_time) as n
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response where response.origin_time is not null group by method order by method;

-- the slowest, the fastest and the sum of the origin
select max(response.origin_time) as slowest, min(response.origin_time) as fastest, sum(response.origin_time) as total
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response;

-- the roles of the keys that came along, and requests without
select ifnull(payload.role, 'none') as role, count(*) as count from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response
  left join unnest(request.sb) as sb
  left join unnest(sb.jwt) as jwt
  left join unnest(jwt.apikey) as apikey
  left join unnest(apikey.payload) as payload
group by role order by role;
