-- How the services of a project fare: their entries in buckets of time, by how bad they are. Times are UTC.
-- Requests go by their status, entries by their level; PostgREST's have none. Two services of Studio's have no table: zeros.
WITH entries AS (
  SELECT
    t.timestamp,
    'edge_logs' AS source,
    CASE
      WHEN t.metadata[SAFE_OFFSET(0)].response[SAFE_OFFSET(0)].status_code >= 500 THEN 'error'
      WHEN t.metadata[SAFE_OFFSET(0)].response[SAFE_OFFSET(0)].status_code >= 400 THEN 'warning'
      ELSE 'ok'
    END AS level
  FROM `cloudflare.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT
    t.timestamp,
    'function_edge_logs' AS source,
    CASE
      WHEN t.metadata[SAFE_OFFSET(0)].response[SAFE_OFFSET(0)].status_code >= 500 THEN 'error'
      WHEN t.metadata[SAFE_OFFSET(0)].response[SAFE_OFFSET(0)].status_code >= 400 THEN 'warning'
      ELSE 'ok'
    END AS level
  FROM `deno-relay-logs` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project_ref = @project)
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT
    t.timestamp,
    'postgres_logs' AS source,
    t.metadata[SAFE_OFFSET(0)].parsed[SAFE_OFFSET(0)].error_severity AS level
  FROM `postgres.logs` AS t
  WHERE t.project = @project
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT
    t.timestamp,
    'auth_logs' AS source,
    t.metadata[SAFE_OFFSET(0)].level AS level
  FROM `gotrue.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT
    t.timestamp,
    'function_logs' AS source,
    t.metadata[SAFE_OFFSET(0)].level AS level
  FROM `deno-subhosting-events` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project_ref = @project)
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT
    t.timestamp,
    'realtime_logs' AS source,
    t.metadata[SAFE_OFFSET(0)].level AS level
  FROM `realtime.logs.prod` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT
    t.timestamp,
    'storage_logs' AS source,
    t.metadata[SAFE_OFFSET(0)].level AS level
  FROM `storage.logs.prod.2` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT
    t.timestamp,
    'postgrest_logs' AS source,
    CAST(NULL AS STRING) AS level
  FROM `postgREST.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
),
counted AS (
  SELECT
    CASE @granularity
      WHEN 'minute' THEN TIMESTAMP_TRUNC(timestamp, MINUTE)
      WHEN 'hour' THEN TIMESTAMP_TRUNC(timestamp, HOUR)
      WHEN 'day' THEN TIMESTAMP_TRUNC(timestamp, DAY)
    END AS bucket,
    source,
    LOWER(level) IN ('error', 'fatal', 'panic', 'critical') AS bad,
    LOWER(level) IN ('warning', 'warn') AS odd
  FROM entries
)
SELECT
  DATETIME(bucket, 'UTC') AS timestamp,
  STRUCT(
    COUNTIF(source = 'postgres_logs' AND bad IS NOT TRUE AND odd IS NOT TRUE) AS ok,
    COUNTIF(source = 'postgres_logs' AND odd) AS warning,
    COUNTIF(source = 'postgres_logs' AND bad) AS error,
    COUNTIF(source = 'postgres_logs') AS total
  ) AS postgres_logs,
  STRUCT(
    COUNTIF(source = 'auth_logs' AND bad IS NOT TRUE AND odd IS NOT TRUE) AS ok,
    COUNTIF(source = 'auth_logs' AND odd) AS warning,
    COUNTIF(source = 'auth_logs' AND bad) AS error,
    COUNTIF(source = 'auth_logs') AS total
  ) AS auth_logs,
  STRUCT(
    COUNTIF(source = 'function_edge_logs' AND bad IS NOT TRUE AND odd IS NOT TRUE) AS ok,
    COUNTIF(source = 'function_edge_logs' AND odd) AS warning,
    COUNTIF(source = 'function_edge_logs' AND bad) AS error,
    COUNTIF(source = 'function_edge_logs') AS total
  ) AS function_edge_logs,
  STRUCT(
    COUNTIF(source = 'storage_logs' AND bad IS NOT TRUE AND odd IS NOT TRUE) AS ok,
    COUNTIF(source = 'storage_logs' AND odd) AS warning,
    COUNTIF(source = 'storage_logs' AND bad) AS error,
    COUNTIF(source = 'storage_logs') AS total
  ) AS storage_logs,
  STRUCT(
    COUNTIF(source = 'realtime_logs' AND bad IS NOT TRUE AND odd IS NOT TRUE) AS ok,
    COUNTIF(source = 'realtime_logs' AND odd) AS warning,
    COUNTIF(source = 'realtime_logs' AND bad) AS error,
    COUNTIF(source = 'realtime_logs') AS total
  ) AS realtime_logs,
  STRUCT(
    COUNTIF(source = 'postgrest_logs' AND bad IS NOT TRUE AND odd IS NOT TRUE) AS ok,
    COUNTIF(source = 'postgrest_logs' AND odd) AS warning,
    COUNTIF(source = 'postgrest_logs' AND bad) AS error,
    COUNTIF(source = 'postgrest_logs') AS total
  ) AS postgrest_logs,
  STRUCT(
    COUNTIF(source = 'edge_logs' AND bad IS NOT TRUE AND odd IS NOT TRUE) AS ok,
    COUNTIF(source = 'edge_logs' AND odd) AS warning,
    COUNTIF(source = 'edge_logs' AND bad) AS error,
    COUNTIF(source = 'edge_logs') AS total
  ) AS edge_logs,
  STRUCT(0 AS ok, 0 AS warning, 0 AS error, 0 AS total) AS supavisor_logs,
  STRUCT(
    COUNTIF(source = 'function_logs' AND bad IS NOT TRUE AND odd IS NOT TRUE) AS ok,
    COUNTIF(source = 'function_logs' AND odd) AS warning,
    COUNTIF(source = 'function_logs' AND bad) AS error,
    COUNTIF(source = 'function_logs') AS total
  ) AS function_logs,
  STRUCT(0 AS ok, 0 AS warning, 0 AS error, 0 AS total) AS etl_replication_logs
FROM counted
GROUP BY bucket
ORDER BY bucket
