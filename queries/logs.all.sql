-- The newest entries of a project's edge logs; the other tables are for callers' own SQL.
-- The bounds compare the bare partition column with an expression of parameters only, so that BigQuery prunes by it.
-- Studio reads `identifier`, the database that an entry is of, in three tables: it is the project's.
-- For a project that is named in the metadata, EXISTS keeps one row for each entry.
WITH edge_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.project AS identifier
  FROM `cloudflare.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
),
postgres_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.project AS identifier
  FROM `postgres.logs` AS t
  WHERE t.project = @project
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
),
function_edge_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM `deno-relay-logs` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project_ref = @project)
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
),
function_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM `deno-subhosting-events` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project_ref = @project)
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
),
auth_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM `gotrue.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
),
realtime_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM `realtime.logs.prod` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
),
storage_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM `storage.logs.prod.2` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
),
postgrest_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata, t.project AS identifier
  FROM `postgREST.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
),
pgbouncer_logs AS (
  SELECT t.id, t.timestamp, t.event_message, t.metadata
  FROM `pgbouncer.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
  ORDER BY t.timestamp DESC
)
SELECT id, timestamp, event_message, metadata
FROM edge_logs
ORDER BY timestamp DESC
LIMIT 100
