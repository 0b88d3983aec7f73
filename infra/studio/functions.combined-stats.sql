-- Calls and log lines of one function, in buckets of a minute up to 3 hours, of an hour for a day, or of a day. Times are UTC.
-- The first bound on the time is a constant window for BigQuery to prune partitions by, whether or not it can evaluate the CASE.
-- The log tables have no use of CPU and memory: those columns are NULL.
WITH entries AS (
  SELECT t.timestamp, r.status_code AS status, m.execution_time_ms AS milliseconds, CAST(NULL AS STRING) AS level
  FROM `deno-relay-logs` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.response) AS r
  WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
    AND m.project_ref = @project
    AND m.function_id = @function_id
  UNION ALL
  SELECT t.timestamp, CAST(NULL AS INT64) AS status, CAST(NULL AS INT64) AS milliseconds, IFNULL(m.level, 'log') AS level
  FROM `deno-subhosting-events` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
    AND m.project_ref = @project
    AND m.function_id = @function_id
),
recent AS (
  SELECT
    CASE @interval
      WHEN '1day' THEN TIMESTAMP_TRUNC(timestamp, HOUR)
      WHEN '7day' THEN TIMESTAMP_TRUNC(timestamp, DAY)
      ELSE TIMESTAMP_TRUNC(timestamp, MINUTE)
    END AS bucket,
    status,
    milliseconds,
    level
  FROM entries
  WHERE timestamp >= TIMESTAMP_SUB(
    CURRENT_TIMESTAMP(),
    INTERVAL CASE @interval
      WHEN '5min' THEN 5 WHEN '15min' THEN 15 WHEN '1hr' THEN 60 WHEN '3hr' THEN 180 WHEN '1day' THEN 1440 WHEN '7day' THEN 10080
    END MINUTE
  )
)
SELECT
  DATETIME(bucket, 'UTC') AS timestamp,
  COUNTIF(level IS NULL) AS requests_count,
  COUNTIF(level IS NULL) AS count,
  COUNTIF(status BETWEEN 200 AND 299) AS success_count,
  COUNTIF(status BETWEEN 300 AND 399) AS redirect_count,
  COUNTIF(status BETWEEN 400 AND 499) AS client_err_count,
  COUNTIF(status >= 500) AS server_err_count,
  COUNTIF(level IS NOT NULL) AS log_count,
  COUNTIF(level = 'info') AS log_info_count,
  COUNTIF(level IN ('warn', 'warning')) AS log_warn_count,
  COUNTIF(level = 'error') AS log_error_count,
  AVG(milliseconds) AS avg_execution_time,
  MAX(milliseconds) AS max_execution_time,
  CAST(NULL AS FLOAT64) AS avg_cpu_time_used,
  CAST(NULL AS FLOAT64) AS max_cpu_time_used,
  CAST(NULL AS FLOAT64) AS avg_memory_used,
  CAST(NULL AS FLOAT64) AS avg_heap_memory_used,
  CAST(NULL AS FLOAT64) AS avg_external_memory_used
FROM recent
GROUP BY bucket
ORDER BY bucket
