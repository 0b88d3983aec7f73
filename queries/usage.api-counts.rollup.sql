-- Requests by the moment, since windows begin at any, and by what decides the charts of one project, in `answers` of the
-- YAML: where a URL begins, and the long words behind that. A pattern ^https://ref\. is decided by the origin alone, which reaches at least to the first
-- dot after such a reference. A bare reference of 20 small letters may stand anywhere. No letters touch where the origin
-- ends: what follows it is /, ? or #, or it is empty and the whole URL follows. So a reference stands in the URL if and
-- only if it stands in the origin, or in one of the longest runs of 20 or more small letters after it.
-- A URL that is NULL matches no pattern.
SELECT
  t.timestamp AS time,
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
GROUP BY time, origin, words
