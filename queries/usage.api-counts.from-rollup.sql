-- The rows of usage.api-counts.sql from its roll-up, by the same buckets and bounds. `when` in the YAML lets two forms of
-- pattern through, each of which stands for one text: ^https://ref\. for the beginning of an origin, and a bare reference
-- for itself.
SELECT
  DATETIME(
    CASE
      WHEN @interval IN ('minutely', '15min', '30min', '1hr', '3hr') THEN TIMESTAMP_TRUNC(time, MINUTE)
      WHEN @interval IN ('hourly', '1day', '3day') THEN TIMESTAMP_TRUNC(time, HOUR)
      WHEN @interval IN ('daily', '7day') THEN TIMESTAMP_TRUNC(time, DAY)
    END,
    'UTC'
  ) AS timestamp,
  SUM(rest) AS total_rest_requests,
  SUM(storage) AS total_storage_requests,
  SUM(auth) AS total_auth_requests,
  SUM(realtime) AS total_realtime_requests
FROM `usage.api-counts.rollup`
WHERE time >= TIMESTAMP_SUB(
    IF(@interval IN ('1day', '3day'), TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), CURRENT_TIMESTAMP()),
    INTERVAL CASE
      WHEN @interval IN ('daily', '7day') THEN 10080
      WHEN @interval = '3day' THEN 4320
      WHEN @interval = '1day' THEN 1440
      WHEN @interval = '3hr' THEN 180
      WHEN @interval = '30min' THEN 30
      WHEN @interval = '15min' THEN 15
      ELSE 60
    END MINUTE
  )
  AND IF(
    STARTS_WITH(@project, '^'),
    STARTS_WITH(origin, REPLACE(SUBSTR(@project, 2), '\\', '')),
    STRPOS(origin, @project) > 0 OR STRPOS(words, @project) > 0
  )
GROUP BY timestamp
ORDER BY timestamp ASC
