-- Answers many sets of parameters in one scan: the rows of usage.api-counts.sql, each beside the set it belongs to.
-- Sets with the intervals of days come in statements of their own (`apart` in the YAML), so the first set decides how far
-- back to read, or one of three hours: an expression of parameters only, by which BigQuery can prune partitions.
-- Requests are counted once for each window, URL and bucket. A URL that lacks the text which a pattern begins with cannot match
-- it, and is not searched: regular expressions are what costs here. The last character of that text is left out, as a
-- quantifier may follow it; with a | in the pattern no text is needed.
WITH sets AS (
  SELECT DISTINCT
    s.interval,
    s.project,
    TIMESTAMP_SUB(
      IF(s.interval IN ('1day', '3day'), TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), HOUR), CURRENT_TIMESTAMP()),
      INTERVAL CASE s.interval
        WHEN '15min' THEN 15
        WHEN '30min' THEN 30
        WHEN '3hr' THEN 180
        WHEN '1day' THEN 1440
        WHEN '3day' THEN 4320
        WHEN 'daily' THEN 10080
        WHEN '7day' THEN 10080
        ELSE 60
      END MINUTE
    ) AS start
  FROM UNNEST(@sets) AS s
),
patterns AS (
  SELECT DISTINCT
    project,
    IF(
      STRPOS(project, '|') > 0,
      '',
      COALESCE(REGEXP_EXTRACT(project, r'^\^?([A-Za-z0-9_:/-]*)[A-Za-z0-9_:/-]'), '')
    ) AS needed
  FROM sets
),
counts AS (
  SELECT
    w.start,
    r.url AS url,
    IF(
      @sets[OFFSET(0)].interval IN ('daily', '7day', '1day', '3day'),
      TIMESTAMP_TRUNC(t.timestamp, HOUR),
      TIMESTAMP_TRUNC(t.timestamp, MINUTE)
    ) AS bucket,
    COUNTIF(STRPOS(r.path, '/rest') > 0) AS rest,
    COUNTIF(STRPOS(r.path, '/storage') > 0) AS storage,
    COUNTIF(STRPOS(r.path, '/auth') > 0) AS auth,
    COUNTIF(STRPOS(r.path, '/realtime') > 0) AS realtime
  FROM `cloudflare.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.request) AS r
  JOIN (SELECT DISTINCT start FROM sets) AS w ON t.timestamp >= w.start
  WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
    AND t.timestamp >= TIMESTAMP_SUB(
      CURRENT_TIMESTAMP(),
      INTERVAL CASE
        WHEN @sets[OFFSET(0)].interval IN ('daily', '7day', '1day', '3day') THEN 10080
        WHEN STRPOS(TO_JSON_STRING(@sets), '"interval":"3hr"') > 0 THEN 180
        ELSE 60
      END MINUTE
    )
  GROUP BY start, url, bucket
),
matches AS (
  SELECT p.project, u.url
  FROM patterns AS p
  CROSS JOIN (SELECT DISTINCT url FROM counts) AS u
  WHERE CASE WHEN STRPOS(u.url, p.needed) > 0 THEN REGEXP_CONTAINS(u.url, p.project) ELSE FALSE END
)
SELECT
  s.interval,
  s.project,
  DATETIME(
    CASE
      WHEN s.interval IN ('daily', '7day') THEN TIMESTAMP_TRUNC(c.bucket, DAY)
      WHEN s.interval = 'hourly' THEN TIMESTAMP_TRUNC(c.bucket, HOUR)
      ELSE c.bucket
    END,
    'UTC'
  ) AS timestamp,
  SUM(c.rest) AS total_rest_requests,
  SUM(c.storage) AS total_storage_requests,
  SUM(c.auth) AS total_auth_requests,
  SUM(c.realtime) AS total_realtime_requests
FROM sets AS s
JOIN matches AS h ON h.project = s.project
JOIN counts AS c ON c.url = h.url AND c.start = s.start
GROUP BY s.interval, s.project, timestamp
ORDER BY s.interval, s.project, timestamp
