-- The entries of a program by the hour and level.
WITH entries AS (
  SELECT TIMESTAMP_TRUNC(t.timestamp, HOUR) AS hour, t.level
  FROM app AS t
  WHERE t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
)
SELECT hour, level, COUNT(*) AS entries
FROM entries
GROUP BY hour, level
ORDER BY hour, level
