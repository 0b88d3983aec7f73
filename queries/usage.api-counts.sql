-- Requests by API in buckets of time. Times are UTC. The first bound is a constant window for BigQuery to prune
-- partitions by, whether or not it can evaluate the CASE in the second.
WITH requests AS (
  SELECT
    CASE
      WHEN @interval IN ('minutely', '15min', '30min', '1hr', '3hr') THEN TIMESTAMP_TRUNC(t.timestamp, MINUTE)
      WHEN @interval IN ('hourly', '1day', '3day') THEN TIMESTAMP_TRUNC(t.timestamp, HOUR)
      WHEN @interval IN ('daily', '7day') THEN TIMESTAMP_TRUNC(t.timestamp, DAY)
    END AS bucket,
    r.path AS path
  FROM `cloudflare.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.request) AS r
  WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
    AND t.timestamp >= TIMESTAMP_SUB(
      IF(@interval IN ('1day', '3day'), TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), CURRENT_TIMESTAMP()),
      INTERVAL CASE @interval
        WHEN '15min' THEN 15
        WHEN '30min' THEN 30
        WHEN '3hr' THEN 180
        WHEN '1day' THEN 1440
        WHEN '3day' THEN 4320
        WHEN 'daily' THEN 10080
        WHEN '7day' THEN 10080
        ELSE 60
      END MINUTE
    )
    AND REGEXP_CONTAINS(r.url, @project)
)
SELECT
  DATETIME(bucket, 'UTC') AS timestamp,
  COUNTIF(STRPOS(path, '/rest') > 0) AS total_rest_requests,
  COUNTIF(STRPOS(path, '/storage') > 0) AS total_storage_requests,
  COUNTIF(STRPOS(path, '/auth') > 0) AS total_auth_requests,
  COUNTIF(STRPOS(path, '/realtime') > 0) AS total_realtime_requests
FROM requests
GROUP BY bucket
ORDER BY bucket ASC
