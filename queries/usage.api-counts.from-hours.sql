-- The rows of usage.api-counts.sql for more than an hour: moments up to the first whole hour of the window, and hours from
-- there on, however far the log reaches. @interval is daily or 7day, or 1day or 3day, which are the hours from the 24th or 72nd
-- before this one; and patterns are those of usage.api-counts.from-rollup.sql.
WITH counts AS (
  SELECT r.time, r.origin, r.words, r.rest, r.storage, r.auth, r.realtime
  FROM `usage.api-counts.rollup` AS r
  WHERE r.time >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 168 HOUR)
    AND r.time < TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), INTERVAL 167 HOUR)
  UNION ALL
  SELECT h.hour, h.origin, h.words, h.rest, h.storage, h.auth, h.realtime
  FROM `usage.api-counts.hours.rollup` AS h
  WHERE h.hour >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), INTERVAL 167 HOUR)
)
SELECT
  DATETIME(IF(@interval IN ('1day', '3day'), TIMESTAMP_TRUNC(time, HOUR), TIMESTAMP_TRUNC(time, DAY)), 'UTC') AS timestamp,
  SUM(rest) AS total_rest_requests,
  SUM(storage) AS total_storage_requests,
  SUM(auth) AS total_auth_requests,
  SUM(realtime) AS total_realtime_requests
FROM counts
WHERE IF(
    STARTS_WITH(@project, '^'),
    STARTS_WITH(origin, REPLACE(SUBSTR(@project, 2), '\\', '')),
    STRPOS(origin, @project) > 0 OR STRPOS(words, @project) > 0
  )
  AND time >= TIMESTAMP_SUB(
    TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR),
    INTERVAL CASE @interval WHEN '1day' THEN 24 WHEN '3day' THEN 72 ELSE 168 END HOUR
  )
GROUP BY timestamp
ORDER BY timestamp ASC
