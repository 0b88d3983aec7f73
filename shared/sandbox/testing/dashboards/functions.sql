-- invocations, the newest first
select t.id, request.method, response.status_code, m.execution_time_ms from function_edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response order by t.timestamp desc limit 15;

-- invocations and errors by function
select m.function_id as function, count(*) as total, countif(response.status_code >= 500) as errors,
  round(avg(m.execution_time_ms), 3) as mean, max(m.execution_time_ms) as slowest
from function_edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response group by function order by function;

-- the exact median time by a window
select distinct percentile_disc(m.execution_time_ms, 0.5) over () as median from function_edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response;

-- invocations by region and version, the version as a number
select h.x_sb_edge_region as region, cast(m.version as int64) as version, count(*) as count
from function_edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response cross join unnest(response.headers) as h group by region, version order by region, version desc;

-- invocations over a limit, except those of OPTIONS
select t.id from function_edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response where m.execution_time_ms >= 2500 and not (request.method = 'OPTIONS') order by t.id;

-- times in classes
select case when m.execution_time_ms < 500 then 'fast' when m.execution_time_ms < 2000 then 'fair' else 'slow' end as class,
  count(*) as count from function_edge_logs as t
  cross join unnest(t.metadata) as m
  cross join unnest(m.request) as request
  cross join unnest(m.response) as response group by class order by min(m.execution_time_ms);
