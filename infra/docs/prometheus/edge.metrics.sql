-- Requests of the last five minutes by the class of their status, as Prometheus reads them, and when they were counted.
WITH recent AS (
  SELECT DIV(response.status_code, 100) AS class
  FROM `cloudflare.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.response) AS response
  WHERE t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 5 MINUTE) AND t.project = @project
)
SELECT
  'edge_requests_5m' AS name,
  COUNT(recent.class) AS value,
  STRUCT(CONCAT(CAST(digit AS STRING), 'xx') AS code) AS labels,
  'gauge' AS type,
  'Requests of the last five minutes' AS help
FROM UNNEST([2, 3, 4, 5]) AS digit
LEFT JOIN recent ON recent.class = digit
GROUP BY digit
UNION ALL
SELECT 'edge_counted_seconds', UNIX_SECONDS(CURRENT_TIMESTAMP()), NULL, 'gauge', 'When they were counted'
