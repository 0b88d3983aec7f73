-- When each of a project's JWT keys was last seen at the edge, by its role and the beginning of its signature.
SELECT UNIX_MILLIS(MAX(t.timestamp)) AS timestamp, p.role, p.signature_prefix
FROM `cloudflare.logs.prod` AS t
CROSS JOIN UNNEST(t.metadata) AS m
CROSS JOIN UNNEST(m.request) AS r
CROSS JOIN UNNEST(r.sb) AS s
CROSS JOIN UNNEST(s.jwt) AS j
CROSS JOIN UNNEST(j.apikey) AS k
CROSS JOIN UNNEST(k.payload) AS p
WHERE t.project = @project
  AND t.timestamp > @iso_timestamp_start
  AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
  AND p.role IN ('anon', 'service_role')
GROUP BY p.role, p.signature_prefix
ORDER BY p.role, p.signature_prefix
