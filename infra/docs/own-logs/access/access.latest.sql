-- The newest requests of a web server, and its table for callers' own SQL.
WITH requests AS (
  SELECT t.*
  FROM access AS t
  WHERE t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
)
SELECT id, timestamp, event_message, client, method, path, status, bytes, user_agent
FROM requests
ORDER BY timestamp DESC
LIMIT 100
