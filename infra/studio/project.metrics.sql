-- The entries of five services in two windows of one length, the present one and the one before, by how bad they are: requests
-- of functions by their status, the others by their level. In buckets of a minute up to 3 hours, of an hour up to 3 days, of a day.
-- The bound of each table is a constant window for BigQuery to prune partitions by, whether or not it can evaluate the CASE.
WITH entries AS (
  SELECT t.timestamp, 'auth' AS service, CAST(NULL AS INT64) AS status, t.metadata[SAFE_OFFSET(0)].level AS level
  FROM `gotrue.logs.prod` AS t
  WHERE t.project = @project AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 14 DAY)
  UNION ALL
  SELECT t.timestamp, 'db', NULL, t.metadata[SAFE_OFFSET(0)].parsed[SAFE_OFFSET(0)].error_severity
  FROM `postgres.logs` AS t
  WHERE t.project = @project AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 14 DAY)
  UNION ALL
  SELECT t.timestamp, 'functions', m.response[SAFE_OFFSET(0)].status_code, NULL
  FROM `deno-relay-logs` AS t CROSS JOIN UNNEST(t.metadata) AS m
  WHERE m.project_ref = @project AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 14 DAY)
  UNION ALL
  SELECT t.timestamp, 'realtime', NULL, m.level
  FROM `realtime.logs.prod` AS t CROSS JOIN UNNEST(t.metadata) AS m
  WHERE m.project = @project AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 14 DAY)
  UNION ALL
  SELECT t.timestamp, 'storage', NULL, m.level
  FROM `storage.logs.prod.2` AS t CROSS JOIN UNNEST(t.metadata) AS m
  WHERE m.project = @project AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 14 DAY)
),
windowed AS (
  SELECT
    CASE
      WHEN @interval IN ('1day', '3day') THEN TIMESTAMP_TRUNC(timestamp, HOUR)
      WHEN @interval = '7day' THEN TIMESTAMP_TRUNC(timestamp, DAY)
      ELSE TIMESTAMP_TRUNC(timestamp, MINUTE)
    END AS bucket,
    service,
    timestamp >= TIMESTAMP_SUB(
      CURRENT_TIMESTAMP(),
      INTERVAL CASE @interval
        WHEN '15min' THEN 15 WHEN '30min' THEN 30 WHEN '1hr' THEN 60 WHEN '3hr' THEN 180
        WHEN '1day' THEN 1440 WHEN '3day' THEN 4320 WHEN '7day' THEN 10080
      END MINUTE
    ) AS is_current,
    CASE
      WHEN status >= 500 OR LOWER(level) IN ('error', 'fatal', 'panic', 'critical') THEN 'error'
      WHEN status >= 400 OR LOWER(level) IN ('warning', 'warn') THEN 'warning'
      ELSE 'ok'
    END AS kind
  FROM entries
  WHERE timestamp >= TIMESTAMP_SUB(
    CURRENT_TIMESTAMP(),
    INTERVAL CASE @interval
      WHEN '15min' THEN 30 WHEN '30min' THEN 60 WHEN '1hr' THEN 120 WHEN '3hr' THEN 360
      WHEN '1day' THEN 2880 WHEN '3day' THEN 8640 WHEN '7day' THEN 20160
    END MINUTE
  )
)
SELECT
  UNIX_MICROS(bucket) AS timestamp,
  service,
  IF(is_current, 'current', 'previous') AS time_window,
  COUNTIF(kind = 'ok') AS ok_count,
  COUNTIF(kind = 'warning') AS warning_count,
  COUNTIF(kind = 'error') AS error_count
FROM windowed
GROUP BY bucket, service, time_window
ORDER BY bucket, service, time_window
