-- The rows of usage.api-counts.sql for the last 60 minutes, as of the last whole minute, from the roll-up: minutes from the
-- same bound, up to that minute. `when` in the YAML lets two forms of pattern through, each of which stands for one text:
-- ^https://ref\. for the beginning of an origin, and a bare reference for itself.
WITH requests AS (
  SELECT
    IF(@interval = 'hourly', TIMESTAMP_TRUNC(c.minute, HOUR), c.minute) AS bucket,
    c.rest,
    c.storage,
    c.auth,
    c.realtime
  FROM `usage.api-counts.rollup` AS c
  WHERE c.minute >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), MINUTE), INTERVAL 60 MINUTE)
    AND c.minute < TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), MINUTE)
    AND IF(
      STARTS_WITH(@project, '^'),
      STARTS_WITH(c.origin, REPLACE(SUBSTR(@project, 2), '\\', '')),
      STRPOS(c.origin, @project) > 0 OR STRPOS(c.words, @project) > 0
    )
)
SELECT
  DATETIME(bucket, 'UTC') AS timestamp,
  SUM(rest) AS total_rest_requests,
  SUM(storage) AS total_storage_requests,
  SUM(auth) AS total_auth_requests,
  SUM(realtime) AS total_realtime_requests
FROM requests
GROUP BY bucket
ORDER BY bucket ASC
