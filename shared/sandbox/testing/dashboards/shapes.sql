-- a pivot by hand of methods and classes of status
select request.method, sum(if(div(response.status_code, 100) = 2, 1, 0)) as s2, sum(if(div(response.status_code, 100) = 3, 1, 0)) as s3,
  sum(if(div(response.status_code, 100) = 4, 1, 0)) as s4, sum(if(div(response.status_code, 100) = 5, 1, 0)) as s5
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response
group by request.method order by request.method;

-- routes without the ids in them
select regexp_replace(r.path, r'\d+|[0-9a-f]{8}-[0-9a-f-]{27}', ':id') as route, count(*) as n
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r
group by route order by n desc, route;

-- parameters of queries
select split(pair, '=')[offset(0)] as name, split(pair, '=')[safe_offset(1)] as value, count(*) as n
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r
  cross join unnest(split(regexp_replace(r.search, r'^\?', ''), '&')) as pair
group by name, value order by n desc, name, value;

-- words in messages of functions
select lower(word) as word, count(*) as n from function_logs, unnest(regexp_extract_all(event_message, r'\w+')) as word
group by word order by n desc, word;

-- the percentiles of the origin's time by method
select distinct request.method,
  percentile_cont(response.origin_time, 0.5) over (partition by request.method) as p50,
  percentile_cont(response.origin_time, 0.95) over (partition by request.method) as p95
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as request cross join unnest(m.response) as response
order by method;

-- times of the origin in buckets, as a histogram
select div(r.origin_time, 250) * 250 as bucket, count(*) as n, rpad('', count(*), '#') as bar
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as r
where r.origin_time is not null group by bucket order by bucket;

-- minutes without a request
with minutes as (select minute from unnest(generate_timestamp_array('2026-03-14 09:00:00', '2026-03-14 09:59:00', interval 1 minute)) as minute)
select minutes.minute from minutes left join realtime_logs as t on timestamp_trunc(t.timestamp, minute) = minutes.minute
where t.id is null order by minute;

-- a gap filled with zeros
select slot, (select count(*) from storage_logs as t where t.timestamp >= slot and t.timestamp < timestamp_add(slot, interval 10 minute)) as n
from unnest(generate_timestamp_array('2026-03-14 08:50:00', '2026-03-14 10:10:00', interval 10 minute)) as slot order by slot;

-- the hours of Berlin
select extract(hour from t.timestamp at time zone 'Europe/Berlin') as hour, format_timestamp('%d.%m.%Y %H:%M', min(t.timestamp), 'Europe/Berlin') as first, count(*) as n
from edge_logs as t group by hour order by hour;

-- the last status of each client
select h.cf_connecting_ip as ip, array_agg(struct(t.timestamp, res.status_code) order by t.timestamp desc, t.id limit 1)[offset(0)].status_code as last
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r cross join unnest(r.headers) as h cross join unnest(m.response) as res
group by ip order by ip;

-- clients that only fail
select h.cf_connecting_ip as ip, logical_and(res.status_code >= 400) as only_fails, logical_or(res.status_code >= 500) as ever_broke
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r cross join unnest(r.headers) as h cross join unnest(m.response) as res
group by ip order by ip;

-- runs of failures, one after another
with ordered as (
  select t.id, t.timestamp, res.status_code >= 400 as failed,
    row_number() over (order by t.timestamp, t.id) - row_number() over (partition by res.status_code >= 400 order by t.timestamp, t.id) as run
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as res
)
select min(id) as first, count(*) as length from ordered where failed group by run having count(*) > 2 order by length desc, first;

-- sessions of a client, parted by two minutes of silence
with steps as (
  select h.cf_connecting_ip as ip, t.timestamp,
    if(timestamp_diff(t.timestamp, lag(t.timestamp) over (partition by h.cf_connecting_ip order by t.timestamp), second) > 120, 1, 0) as begins
  from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r cross join unnest(r.headers) as h
)
select ip, 1 + sum(begins) as sessions, count(*) as requests from steps group by ip order by sessions desc, ip;

-- entries as JSON for another program
select to_json_string(struct(t.id, r.method, r.path, res.status_code as status, res.origin_time as ms)) as line
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r cross join unnest(m.response) as res
order by t.id limit 15;

-- entries as text in columns
select format('%-8s %3d %6d ms %s', ifnull(r.method, '-'), res.status_code, ifnull(res.origin_time, 0), ifnull(r.path, '')) as line
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r cross join unnest(m.response) as res
order by t.id limit 15;

-- the metadata of a table with a condition inside
select id from edge_logs
where exists (select 1 from unnest(metadata) as m, unnest(m.response) as r where r.status_code = 503) order by id;

-- a value from inside by a subquery
select id, (select r.status_code from unnest(metadata) as m, unnest(m.response) as r limit 1) as status
from edge_logs where array_length(metadata) = 1 order by id limit 20;

-- the first object of every level by its place
select id, metadata[safe_offset(0)].request[safe_offset(0)].path as path, metadata[safe_offset(0)].response[safe_offset(0)].status_code as status
from edge_logs order by id limit 20;

-- a comma before the path of an array
select t.id, m.level from auth_logs t, t.metadata m order by t.id limit 10;

-- two projects never mix
select distinct substr(id, 1, 4) as project from edge_logs
union distinct select distinct substr(id, 1, 4) from function_logs
union distinct select distinct substr(id, 1, 4) from realtime_logs;

-- what the text of an entry holds in another writing
select id, event_message from edge_logs where regexp_contains(event_message, r'[^\x00-\x7f]') order by id;

-- paths in lower and upper case
select lower(r.path) as path, count(distinct r.path) as spellings, string_agg(distinct r.path, ' ' order by r.path) as all_of_them
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r
group by 1 having spellings > 1 order by 1;

-- the change from one ten minutes to the next in percent
with slots as (
  select timestamp_seconds(600 * div(unix_seconds(timestamp), 600)) as slot, count(*) as n from edge_logs group by slot
)
select slot, n, round(100 * safe_divide(n - lag(n) over (order by slot), lag(n) over (order by slot)), 1) as change from slots order by slot;

-- the share of all that the busiest paths have, summed up
select path, n, round(sum(n) over (order by n desc, path) / sum(n) over (), 3) as share
from (select r.path, count(*) as n from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.request) as r group by r.path)
order by n desc, path;
