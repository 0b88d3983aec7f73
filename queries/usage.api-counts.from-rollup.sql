-- The rows of usage.api-counts.sql for up to 3 hours, from the roll-up by the moment, by the same bounds. `when` in the
-- YAML lets two forms of pattern through, each of which stands for one text: ^https://ref\. for the beginning of an origin,
-- and a bare reference for itself.
SELECT
  DATETIME(TIMESTAMP_TRUNC(IF(@interval = 'hourly', TIMESTAMP_TRUNC(time, HOUR), time), MINUTE), 'UTC') AS timestamp,
  SUM(rest) AS total_rest_requests,
  SUM(storage) AS total_storage_requests,
  SUM(auth) AS total_auth_requests,
  SUM(realtime) AS total_realtime_requests
FROM `usage.api-counts.rollup`
WHERE time >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 180 MINUTE)
  AND time >= TIMESTAMP_SUB(
    CURRENT_TIMESTAMP(),
    INTERVAL CASE @interval WHEN '15min' THEN 15 WHEN '30min' THEN 30 WHEN '3hr' THEN 180 ELSE 60 END MINUTE
  )
  AND IF(
    STARTS_WITH(@project, '^'),
    STARTS_WITH(origin, REPLACE(SUBSTR(@project, 2), '\\', '')),
    STRPOS(origin, @project) > 0 OR STRPOS(words, @project) > 0
  )
GROUP BY timestamp
ORDER BY timestamp ASC
