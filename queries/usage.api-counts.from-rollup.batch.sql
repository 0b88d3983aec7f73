-- Answers many sets of parameters from the roll-up: the rows of usage.api-counts.from-rollup.sql, each beside the set it
-- belongs to.
-- No pattern is searched for: each origin and its words have few texts that a set may ask for, and sets are found by
-- equality. These are ^https://ref\. for what the origin begins with, and all that is 20 letters long of each word;
-- where those would be many, each set is looked for. Three hours are read only where a set asks for them, by an expression of
-- parameters only, by which BigQuery can prune partitions.
WITH sets AS (
  SELECT DISTINCT
    s.interval,
    s.project,
    TIMESTAMP_SUB(
      CURRENT_TIMESTAMP(),
      INTERVAL CASE s.interval WHEN '15min' THEN 15 WHEN '30min' THEN 30 WHEN '3hr' THEN 180 ELSE 60 END MINUTE
    ) AS start
  FROM UNNEST(@sets) AS s
),
counts AS (
  SELECT r.time, r.origin, r.words, r.rest, r.storage, r.auth, r.realtime
  FROM `usage.api-counts.rollup` AS r
  WHERE r.time >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 180 MINUTE)
    AND r.time >= TIMESTAMP_SUB(
      CURRENT_TIMESTAMP(),
      INTERVAL IF(STRPOS(TO_JSON_STRING(@sets), '"interval":"3hr"') > 0, 180, 60) MINUTE
    )
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
  DATETIME(TIMESTAMP_TRUNC(IF(s.interval = 'hourly', TIMESTAMP_TRUNC(c.time, HOUR), c.time), MINUTE), 'UTC') AS timestamp,
  SUM(c.rest) AS total_rest_requests,
  SUM(c.storage) AS total_storage_requests,
  SUM(c.auth) AS total_auth_requests,
  SUM(c.realtime) AS total_realtime_requests
FROM sets AS s
JOIN matches AS m ON m.project = s.project
JOIN counts AS c ON c.origin = m.origin AND c.words = m.words AND c.time >= s.start
GROUP BY s.interval, s.project, timestamp
ORDER BY s.interval, s.project, timestamp
