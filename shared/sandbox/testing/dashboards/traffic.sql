-- requests per minute
select timestamp_trunc(t.timestamp, minute) as timestamp, count(*) as count
from edge_logs as t group by timestamp order by timestamp;

-- requests per minute and class of status
select timestamp_trunc(t.timestamp, minute) as minute, div(response.status_code, 100) as class, count(*) as count,
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response group by 1, 2 order by 1, 2;

-- successes, client errors and server errors per five minutes
select timestamp_seconds(div(unix_seconds(t.timestamp), 300) * 300) as slot,
  countif(response.status_code < 400) as ok,
  countif(response.status_code between 400 and 499) as warning,
  countif(response.status_code >= 500) as error
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response group by slot order by slot desc;

-- the chart of requests as datetimes
select cast(timestamp_trunc(t.timestamp, hour) as datetime) as hour, count(t.id) as requests
from edge_logs t group by hour order by hour;

-- top paths
select request.path as path, count(*) as count from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response group by path order by count desc, path limit 5;

-- top paths of one method, found by an unqualified column
select path, count(*) as count
from edge_logs as t
  cross join unnest(metadata) as metadata
  left join unnest(metadata.request) as r on true
where method = 'GET' group by 1 order by 2 desc, 1 asc limit 3;

-- methods
select request.method, count(*) as n from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response group by request.method order by request.method;

-- countries, unknown ones too
select cf.country, count(*) as count
from edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response left join unnest(request.cf) as cf group by country order by count desc, country;
