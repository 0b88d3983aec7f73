-- what functions log by level and minute
select timestamp_trunc(t.timestamp, minute) as minute, m.level, count(*) as count from function_logs as t cross join unnest(t.metadata) as m
where m.event_type = 'Log' group by minute, level order by minute, level;

-- errors of functions without their line breaks
select t.id, rtrim(event_message) as message from function_logs as t cross join unnest(t.metadata) as m where m.level = 'error' order by t.timestamp;

-- how long functions take to boot
select m.function_id as function, max(cast(regexp_extract(event_message, r'time: (\d+)ms') as int64)) as boot from function_logs as t cross join unnest(t.metadata) as m
where m.event_type = 'Boot' group by function order by function;

-- entries of one execution, in their order
select t.id, m.event_type from function_logs as t cross join unnest(t.metadata) as m where m.execution_id = 'exec-07' order by t.timestamp;

-- invocations with the number of lines they logged
with lines as (select m.execution_id as execution, count(*) as lines from function_logs as t cross join unnest(t.metadata) as m group by execution)
select t.id, ifnull(lines.lines, 0) as lines
from function_edge_logs as t cross join unnest(t.metadata) as m left join lines on lines.execution = m.execution_id
order by t.id;

-- failed invocations with the errors of their execution
select e.id, l.event_message
from function_edge_logs as e cross join unnest(e.metadata) as em cross join unnest(em.response) as response
join (select m.execution_id, t.event_message, t.id from function_logs as t cross join unnest(t.metadata) as m where m.level = 'error') as l
  on l.execution_id = em.execution_id
where response.status_code >= 500 order by e.id, l.id;

-- executions that logged and were never asked for
select distinct m.execution_id as execution from function_logs as t cross join unnest(t.metadata) as m
where m.execution_id not in (select em.execution_id from function_edge_logs as e cross join unnest(e.metadata) as em)
order by execution;

-- the time since the invocation before, by function
select t.id, timestamp_diff(t.timestamp, lag(t.timestamp) over (partition by m.function_id order by t.timestamp), millisecond) as gap
from function_edge_logs as t cross join unnest(t.metadata) as m order by t.id;

-- the three slowest of each function
select function, ms from (
  select m.function_id as function, m.execution_time_ms as ms,
    rank() over (partition by m.function_id order by m.execution_time_ms desc) as place
  from function_edge_logs as t cross join unnest(t.metadata) as m)
where place <= 3 order by function, ms desc;

-- the origin and the functions side by side
select 'edge' as source, count(*) as count, max(response.origin_time) as slowest
from edge_logs as t cross join unnest(t.metadata) as m cross join unnest(m.response) as response
union all
select 'functions', count(*), max(m.execution_time_ms) from function_edge_logs as t cross join unnest(t.metadata) as m
order by source;
