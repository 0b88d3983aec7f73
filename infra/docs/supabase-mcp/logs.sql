-- The log tables of `logs.all` as the one table that Supabase's newer clients read, with the attributes that its MCP server asks for.
-- Each has its own condition on the project, by which a key that fixes the project is confined.
WITH logs AS (
  SELECT e.id, e.timestamp, e.event_message, e.source, e.severity_text, e.log_attributes
  FROM (
    SELECT
      t.id, t.timestamp, t.event_message, 'edge_logs' AS source, CAST(NULL AS STRING) AS severity_text,
      JSON_OBJECT(
        'identifier', t.project, 'request.method', r.method, 'request.path', r.path,
        'response.status_code', s.status_code
      ) AS log_attributes
    FROM `cloudflare.logs.prod` AS t
    CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r CROSS JOIN UNNEST(m.response) AS s
    WHERE t.project = @project
    UNION ALL
    SELECT
      t.id, t.timestamp, t.event_message, 'postgres_logs', p.error_severity,
      JSON_OBJECT('identifier', t.project, 'parsed.error_severity', p.error_severity)
    FROM `postgres.logs` AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.parsed) AS p
    WHERE t.project = @project
    UNION ALL
    SELECT
      t.id, t.timestamp, t.event_message, 'function_edge_logs', NULL,
      JSON_OBJECT(
        'request.method', r.method, 'response.status_code', s.status_code, 'function_id', m.function_id,
        'execution_time_ms', m.execution_time_ms, 'deployment_id', m.deployment_id, 'version', m.version
      )
    FROM `deno-relay-logs` AS t
    CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r CROSS JOIN UNNEST(m.response) AS s
    WHERE m.project_ref = @project
    UNION ALL
    SELECT
      t.id, t.timestamp, t.event_message, 'function_logs', m.level,
      JSON_OBJECT(
        'level', m.level, 'event_type', m.event_type, 'function_id', m.function_id,
        'execution_id', m.execution_id, 'deployment_id', m.deployment_id, 'version', m.version
      )
    FROM `deno-subhosting-events` AS t CROSS JOIN UNNEST(t.metadata) AS m
    WHERE m.project_ref = @project
    UNION ALL
    SELECT
      t.id, t.timestamp, t.event_message, 'auth_logs', m.level,
      JSON_OBJECT('level', m.level, 'status', m.status, 'path', m.path, 'msg', m.msg, 'error', m.error)
    FROM `gotrue.logs.prod` AS t CROSS JOIN UNNEST(t.metadata) AS m
    WHERE t.project = @project
    UNION ALL
    SELECT t.id, t.timestamp, t.event_message, 'storage_logs', NULL, JSON_OBJECT()
    FROM `storage.logs.prod.2` AS t CROSS JOIN UNNEST(t.metadata) AS m
    WHERE m.project = @project
    UNION ALL
    SELECT t.id, t.timestamp, t.event_message, 'realtime_logs', NULL, JSON_OBJECT()
    FROM `realtime.logs.prod` AS t CROSS JOIN UNNEST(t.metadata) AS m
    WHERE m.project = @project
  ) AS e
  WHERE e.timestamp > COALESCE(@iso_timestamp_start, TIMESTAMP '0001-01-01 00:00:00+00')
    AND e.timestamp <= COALESCE(@iso_timestamp_end, TIMESTAMP '9999-12-31 23:59:59.999999+00')
)
SELECT id, timestamp, event_message, source, severity_text, log_attributes
FROM logs
ORDER BY timestamp DESC
LIMIT 100
