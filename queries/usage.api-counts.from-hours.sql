-- The rows of usage.api-counts.sql for more than an hour, as of the last whole minute. Seven days are 168 hours: 167 whole
-- ones, up to the beginning of this hour, come from the roll-up by the hour; what is left of the window before and after
-- them, an hour of minutes together, comes from the roll-up by the minute. @interval is daily, 7day or 1day, which is the last
-- of it, and patterns are those of usage.api-counts.from-rollup.sql.
WITH counts AS (
  SELECT h.hour AS time, h.origin, h.words, h.rest, h.storage, h.auth, h.realtime
  FROM `usage.api-counts.hours.rollup` AS h
  WHERE h.hour >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), INTERVAL 167 HOUR)
    AND h.hour < TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR)
  UNION ALL
  SELECT c.minute, c.origin, c.words, c.rest, c.storage, c.auth, c.realtime
  FROM `usage.api-counts.rollup` AS c
  WHERE c.minute >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), MINUTE), INTERVAL 168 HOUR)
    AND c.minute < TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), INTERVAL 167 HOUR)
  UNION ALL
  SELECT c.minute, c.origin, c.words, c.rest, c.storage, c.auth, c.realtime
  FROM `usage.api-counts.rollup` AS c
  WHERE c.minute >= TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR)
    AND c.minute < TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), MINUTE)
)
SELECT
  DATETIME(IF(@interval = '1day', TIMESTAMP_TRUNC(time, HOUR), TIMESTAMP_TRUNC(time, DAY)), 'UTC') AS timestamp,
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
  AND (@interval != '1day' OR time >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), INTERVAL 24 HOUR))
GROUP BY timestamp
ORDER BY timestamp ASC
