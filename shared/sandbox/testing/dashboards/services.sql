-- entries of PostgREST with their number
select id, cast(regexp_extract(event_message, r'#(\d+)$') as int64) as number from postgrest_logs order by id;

-- entries of PgBouncer by host
select m.host, count(*) as count, min(t.timestamp) as first, max(t.timestamp) as last
from pgbouncer_logs as t cross join unnest(t.metadata) as m group by host order by host;

-- entries of Realtime by level
select m.level, count(*) as count from realtime_logs as t, unnest(t.metadata) as m group by 1 order by 1;

-- errors of Realtime with their kind
select split(event_message, ':')[offset(0)] as kind, count(*) as count from realtime_logs as t
  cross join unnest(t.metadata) as m where m.level = 'error' group by kind;

-- where in Realtime entries came from
select array_to_string(context.domain, '.') as domain, max(context.line) as line
from realtime_logs as t cross join unnest(t.metadata) as m cross join unnest(m.context) as context
where m.external_id = @project group by domain order by domain;

-- files of Storage by how often they were asked for
select regexp_extract(event_message, r'/object/(.+)$') as file, count(*) as count from storage_logs
group by file order by count desc, file;

-- kinds of files of Storage, whatever their letters
select lower(regexp_extract(event_message, r'\.(\w+)$')) as kind, count(*) as count from storage_logs group by 1 order by 1;

-- Storage requests over ten milliseconds per minute
select timestamp_trunc(timestamp, minute) as minute, count(*) as slow from storage_logs
where safe_cast(regexp_extract(event_message, r'(\d+) ms') as int64) > 10 group by 1 order by 1 desc;
