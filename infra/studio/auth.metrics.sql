-- How a project's auth fares in two windows of one length, the present one and the one before. A user is active by an event that
-- Studio counts as such, the API's requests are those of the edge, and the auth server's are what it says that it completed,
-- with its own failures as errors. The bound of each table is a constant window for BigQuery to prune partitions by.
WITH entries AS (
  SELECT t.timestamp, e.action, e.actor_id, m.msg = 'request completed' AS is_server, SAFE_CAST(m.status AS INT64) AS status
  FROM `gotrue.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  LEFT JOIN UNNEST(m.auth_event) AS e
  WHERE t.project = @project AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 14 DAY)
  UNION ALL
  SELECT t.timestamp, NULL, NULL, NULL, s.status_code
  FROM `cloudflare.logs.prod` AS t
  CROSS JOIN UNNEST(t.metadata) AS m
  CROSS JOIN UNNEST(m.request) AS r
  CROSS JOIN UNNEST(m.response) AS s
  WHERE t.project = @project
    AND t.timestamp >= TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 14 DAY)
    AND STRPOS(r.path, 'auth/v1') > 0
),
windowed AS (
  SELECT
    action,
    actor_id,
    is_server,
    status,
    timestamp >= TIMESTAMP_SUB(
      CURRENT_TIMESTAMP(),
      INTERVAL CASE @interval
        WHEN '15min' THEN 15 WHEN '30min' THEN 30 WHEN '1hr' THEN 60 WHEN '3hr' THEN 180
        WHEN '1day' THEN 1440 WHEN '3day' THEN 4320 WHEN '7day' THEN 10080
      END MINUTE
    ) AS is_current
  FROM entries
  WHERE timestamp >= TIMESTAMP_SUB(
    CURRENT_TIMESTAMP(),
    INTERVAL CASE @interval
      WHEN '15min' THEN 30 WHEN '30min' THEN 60 WHEN '1hr' THEN 120 WHEN '3hr' THEN 360
      WHEN '1day' THEN 2880 WHEN '3day' THEN 8640 WHEN '7day' THEN 20160
    END MINUTE
  )
)
SELECT
  IF(is_current, 'current', 'previous') AS period,
  COUNT(DISTINCT IF(
    action IN (
      'login', 'user_signedup', 'token_refreshed', 'user_modified', 'user_recovery_requested', 'user_reauthenticate_requested'
    ),
    actor_id,
    NULL
  )) AS active_users,
  COUNTIF(action = 'user_signedup') AS sign_up_count,
  COUNTIF(action = 'user_recovery_requested') AS password_reset_requests,
  COUNTIF(is_server IS NULL) AS api_total_requests,
  COUNTIF(is_server IS NULL AND status BETWEEN 400 AND 599) AS api_error_requests,
  COUNTIF(is_server) AS auth_total_requests,
  COUNTIF(is_server AND status >= 500) AS auth_total_errors
FROM windowed
GROUP BY period
ORDER BY period
