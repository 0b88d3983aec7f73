-- How many requests a project had at the edge in the last 7 days, as far back as the chart beside it reaches.
SELECT COUNT(*) AS count
FROM `cloudflare.logs.prod` AS t
WHERE t.project = @project
  AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 7 DAY)
