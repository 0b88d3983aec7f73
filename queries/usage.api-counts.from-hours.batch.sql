-- Answers many sets of parameters with the intervals of days: the rows of usage.api-counts.from-hours.sql, each beside the
-- set it belongs to, which is found as in usage.api-counts.from-rollup.batch.sql.
WITH sets AS (
  SELECT DISTINCT
    s.interval,
    s.project,
    TIMESTAMP_SUB(
      TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR),
      INTERVAL CASE s.interval WHEN '1day' THEN 24 WHEN '3day' THEN 72 ELSE 168 END HOUR
    ) AS start
  FROM UNNEST(@sets) AS s
),
counts AS (
  SELECT r.time, r.origin, r.words, r.rest, r.storage, r.auth, r.realtime
  FROM `usage.api-counts.rollup` AS r
  WHERE r.time >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 168 HOUR)
    AND r.time < TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), INTERVAL 167 HOUR)
  UNION ALL
  SELECT h.hour, h.origin, h.words, h.rest, h.storage, h.auth, h.realtime
  FROM `usage.api-counts.hours.rollup` AS h
  WHERE h.hour >= TIMESTAMP_SUB(TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), INTERVAL 167 HOUR)
),
places AS (
  SELECT DISTINCT origin, words, LENGTH(origin) + LENGTH(words) AS letters FROM counts
),
matches AS (
  SELECT origin, words, CONCAT('^', REPLACE(REGEXP_EXTRACT(LEFT(origin, 500), r'^https://[a-z0-9-]+\.'), '.', '\\.')) AS project
  FROM places
  UNION DISTINCT
  SELECT p.origin, p.words, SUBSTR(word, letter, 20) AS project
  FROM (SELECT origin, words FROM places WHERE letters <= 10000) AS p
  CROSS JOIN UNNEST(REGEXP_EXTRACT_ALL(CONCAT(p.origin, ' ', p.words), r'[a-z]{20,}')) AS word
  CROSS JOIN UNNEST(GENERATE_ARRAY(1, LENGTH(word) - 19)) AS letter
  UNION DISTINCT
  SELECT p.origin, p.words, s.project
  FROM places AS p
  JOIN sets AS s ON STRPOS(p.origin, s.project) > 0 OR STRPOS(p.words, s.project) > 0
  WHERE p.letters > 10000
)
SELECT
  s.interval,
  s.project,
  DATETIME(IF(s.interval IN ('1day', '3day'), TIMESTAMP_TRUNC(c.time, HOUR), TIMESTAMP_TRUNC(c.time, DAY)), 'UTC') AS timestamp,
  SUM(c.rest) AS total_rest_requests,
  SUM(c.storage) AS total_storage_requests,
  SUM(c.auth) AS total_auth_requests,
  SUM(c.realtime) AS total_realtime_requests
FROM sets AS s
JOIN matches AS m ON m.project = s.project
JOIN counts AS c ON c.origin = m.origin AND c.words = m.words AND c.time >= s.start
GROUP BY s.interval, s.project, timestamp
ORDER BY s.interval, s.project, timestamp
