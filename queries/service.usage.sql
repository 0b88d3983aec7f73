-- The service's own requests, summed up: by endpoint, version or key, and in buckets of time where one is asked for.
-- A run of the warmer is no call, but what it read costs.
WITH requests AS (
  SELECT
    CASE @bucket
      WHEN 'minute' THEN TIMESTAMP_TRUNC(t.timestamp, MINUTE)
      WHEN 'hour' THEN TIMESTAMP_TRUNC(t.timestamp, HOUR)
      WHEN 'day' THEN TIMESTAMP_TRUNC(t.timestamp, DAY)
    END AS start,
    IF(@by = 'key', NULL, t.endpoint) AS endpoint,
    IF(@by = 'version', t.version, NULL) AS version,
    IF(@by = 'key', t.key, NULL) AS key,
    t.how != 'warm' AS is_call,
    t.error IS NOT NULL AS is_error,
    t.cache AS cache,
    t.ms AS ms,
    t.bytes AS bytes
  FROM `service.requests` AS t
  WHERE t.timestamp > @iso_timestamp_start
    AND (@iso_timestamp_end IS NULL OR t.timestamp <= @iso_timestamp_end)
    AND (@endpoint IS NULL OR t.endpoint = @endpoint)
)
SELECT
  start AS timestamp,
  endpoint,
  version,
  key,
  COUNTIF(is_call) AS calls,
  COUNTIF(is_call AND is_error) AS errors,
  APPROX_QUANTILES(IF(is_call, ms, NULL), 100)[SAFE_OFFSET(50)] AS p50_ms,
  APPROX_QUANTILES(IF(is_call, ms, NULL), 100)[SAFE_OFFSET(95)] AS p95_ms,
  SAFE_DIVIDE(COUNTIF(cache IN ('hit', 'stale')), COUNTIF(cache != 'uncached')) AS hit_ratio,
  IFNULL(SUM(bytes), 0) AS bytes_read,
  IFNULL(SUM(bytes), 0) * @dollars_per_tib / 1099511627776 AS dollars
FROM requests
GROUP BY start, endpoint, version, key
ORDER BY start ASC, calls DESC, endpoint ASC, version ASC, key ASC
