-- How the services of a project fare: their entries in buckets of time, by how bad they are. Times are UTC.
-- Requests go by their status, entries by their level; PostgREST's have none. Two services of Studio's have no table: zeros.
WITH entries AS (
  SELECT t.timestamp, 'edge_logs' AS source, t.metadata[SAFE_OFFSET(0)].response[SAFE_OFFSET(0)].status_code AS status, CAST(NULL AS STRING) AS level
  FROM `cloudflare.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT t.timestamp, 'function_edge_logs', t.metadata[SAFE_OFFSET(0)].response[SAFE_OFFSET(0)].status_code, NULL
  FROM `deno-relay-logs` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project_ref = @project)
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT t.timestamp, 'postgres_logs', NULL, t.metadata[SAFE_OFFSET(0)].parsed[SAFE_OFFSET(0)].error_severity
  FROM `postgres.logs` AS t
  WHERE t.project = @project
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT t.timestamp, 'auth_logs', NULL, t.metadata[SAFE_OFFSET(0)].level
  FROM `gotrue.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT t.timestamp, 'function_logs', NULL, t.metadata[SAFE_OFFSET(0)].level
  FROM `deno-subhosting-events` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project_ref = @project)
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT t.timestamp, 'realtime_logs', NULL, t.metadata[SAFE_OFFSET(0)].level
  FROM `realtime.logs.prod` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT t.timestamp, 'storage_logs', NULL, t.metadata[SAFE_OFFSET(0)].level
  FROM `storage.logs.prod.2` AS t
  WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  UNION ALL
  SELECT t.timestamp, 'postgrest_logs', NULL, NULL
  FROM `postgREST.logs.prod` AS t
  WHERE t.project = @project
    AND t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
),
judged AS (
  SELECT
    CASE @granularity
      WHEN 'minute' THEN TIMESTAMP_TRUNC(timestamp, MINUTE)
      WHEN 'hour' THEN TIMESTAMP_TRUNC(timestamp, HOUR)
      WHEN 'day' THEN TIMESTAMP_TRUNC(timestamp, DAY)
    END AS bucket,
    source,
    CASE
      WHEN status >= 500 OR LOWER(level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN status >= 400 OR LOWER(level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS kind
  FROM entries
),
counted AS (
  SELECT
    bucket,
    source,
    STRUCT(
      COUNTIF(kind = 'ok') AS ok,
      COUNTIF(kind = 'warning') AS warning,
      COUNTIF(kind = 'error') AS error,
      COUNT(*) AS total
    ) AS health
  FROM judged
  GROUP BY bucket, source
)
SELECT
  DATETIME(bucket, 'UTC') AS timestamp,
  IFNULL(ANY_VALUE(IF(source = 'postgres_logs', health, NULL)), ANY_VALUE(none)) AS postgres_logs,
  IFNULL(ANY_VALUE(IF(source = 'auth_logs', health, NULL)), ANY_VALUE(none)) AS auth_logs,
  IFNULL(ANY_VALUE(IF(source = 'function_edge_logs', health, NULL)), ANY_VALUE(none)) AS function_edge_logs,
  IFNULL(ANY_VALUE(IF(source = 'storage_logs', health, NULL)), ANY_VALUE(none)) AS storage_logs,
  IFNULL(ANY_VALUE(IF(source = 'realtime_logs', health, NULL)), ANY_VALUE(none)) AS realtime_logs,
  IFNULL(ANY_VALUE(IF(source = 'postgrest_logs', health, NULL)), ANY_VALUE(none)) AS postgrest_logs,
  IFNULL(ANY_VALUE(IF(source = 'edge_logs', health, NULL)), ANY_VALUE(none)) AS edge_logs,
  IFNULL(ANY_VALUE(IF(source = 'supavisor_logs', health, NULL)), ANY_VALUE(none)) AS supavisor_logs,
  IFNULL(ANY_VALUE(IF(source = 'function_logs', health, NULL)), ANY_VALUE(none)) AS function_logs,
  IFNULL(ANY_VALUE(IF(source = 'etl_replication_logs', health, NULL)), ANY_VALUE(none)) AS etl_replication_logs
FROM counted
CROSS JOIN (SELECT STRUCT(0 AS ok, 0 AS warning, 0 AS error, 0 AS total) AS none)
GROUP BY bucket
ORDER BY bucket
