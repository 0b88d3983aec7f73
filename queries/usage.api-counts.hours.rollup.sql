-- usage.api-counts.rollup.sql by the hour, for charts of days. Both are sums over the log table, as BigQuery makes no view
-- of a view.
SELECT
  TIMESTAMP_TRUNC(t.timestamp, HOUR) AS hour,
  IFNULL(REGEXP_EXTRACT(r.url, r'^https?://[^/?#]*'), '') AS origin,
  ARRAY_TO_STRING(
    REGEXP_EXTRACT_ALL(REGEXP_REPLACE(r.url, r'^https?://[^/?#]*', ''), r'[a-z]{20,}'),
    ' '
  ) AS words,
  COUNTIF(STRPOS(r.path, '/rest') > 0) AS rest,
  COUNTIF(STRPOS(r.path, '/storage') > 0) AS storage,
  COUNTIF(STRPOS(r.path, '/auth') > 0) AS auth,
  COUNTIF(STRPOS(r.path, '/realtime') > 0) AS realtime
FROM `cloudflare.logs.prod` AS t
CROSS JOIN UNNEST(t.metadata) AS m
CROSS JOIN UNNEST(m.request) AS r
WHERE r.url IS NOT NULL
GROUP BY hour, origin, words
