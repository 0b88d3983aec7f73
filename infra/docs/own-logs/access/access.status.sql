-- How the requests of a web server ended, by the hour.
WITH requests AS (
  SELECT TIMESTAMP_TRUNC(t.timestamp, HOUR) AS hour, t.status
  FROM access AS t
  WHERE t.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND t.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
)
SELECT
  hour,
  COUNTIF(status < 400) AS ok,
  COUNTIF(status BETWEEN 400 AND 499) AS client_errors,
  COUNTIF(status >= 500) AS server_errors
FROM requests
GROUP BY hour
ORDER BY hour
