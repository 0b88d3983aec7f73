-- The newest entries of a program, and its table for callers' own SQL.
WITH entries AS (
  SELECT t.*
  FROM app AS t
  WHERE t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
)
SELECT id, timestamp, level, message
FROM entries
ORDER BY timestamp DESC
LIMIT 100
