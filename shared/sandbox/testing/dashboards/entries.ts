/** The flat logs as entries of the log tables: every object of the metadata a list of one, as log shippers write it. */
import type { Logs } from './logs.ts'

type Entry = Record<string, unknown>

/** Entries by the name of their table. */
export function entriesOf(logs: Logs, project: string): Record<string, Entry[]> {
  const entry = (row: { id: string; time: number; message: string }, metadata: Entry, top = true): Entry => ({
    id: row.id,
    timestamp: row.time,
    event_message: row.message,
    metadata: [metadata],
    ...(top && { project }),
  })
  return {
    'cloudflare.logs.prod': logs.edge.map(row => {
      const request = {
        method: row.method,
        path: row.path,
        search: row.search,
        host: row.host,
        url: `https://${row.host}${row.path}${row.search ?? ''}`,
        cf: [{ country: row.country }],
        headers: [{ user_agent: row.agent, cf_connecting_ip: row.ip }],
        // A request without a key has no token, and so no role.
        sb: row.role === null ? [] : [{ jwt: [{ apikey: [{ payload: [{ role: row.role }] }] }] }],
      }
      const response = {
        status_code: row.status,
        origin_time: row.origin,
        headers: [{ cf_cache_status: row.cache }],
      }
      return entry(row, { request: [request], response: [response] })
    }),
    'postgres.logs': logs.postgres.map(row => {
      const parsed = {
        error_severity: row.severity,
        sql_state_code: row.state,
        user_name: row.user,
        database_name: row.database,
        application_name: row.application,
        query: row.query,
        process_id: row.pid,
      }
      return entry(row, { host: 'db', parsed: [parsed] })
    }),
    'deno-relay-logs': logs.functionEdge.map(row => {
      const { name, version, ms, execution, method, path, status, region } = row
      const metadata = {
        function_id: name,
        version,
        execution_time_ms: ms,
        execution_id: execution,
        project_ref: project,
        request: [{ method, pathname: path }],
        response: [{ status_code: status, headers: [{ x_sb_edge_region: region }] }],
      }
      return entry(row, metadata, false)
    }),
    'deno-subhosting-events': logs.functions.map(row => {
      const { level, event, name, execution } = row
      const ids = { function_id: name, execution_id: execution, project_ref: project }
      return entry(row, { level, event_type: event, ...ids }, false)
    }),
    'gotrue.logs.prod': logs.auth.map(row => {
      const { level, path, msg, status, error, action, actor, provider, args } = row
      const event = { action, actor_id: actor, traits: [{ provider }] }
      return entry(row, { level, path, msg, status, error, args, auth_event: action === null ? [] : [event] })
    }),
    'realtime.logs.prod': logs.realtime.map(row => {
      const { level, tenant, domain, line } = row
      return entry(row, { level, external_id: tenant, project, context: [{ domain, line }] }, false)
    }),
    'storage.logs.prod.2': logs.storage.map(row => {
      const { level, tenant, pid } = row
      return entry(row, { level, tenantId: tenant, project, context: [{ pid }] }, false)
    }),
    'postgREST.logs.prod': logs.postgrest.map(row => entry(row, { host: row.host })),
    'pgbouncer.logs.prod': logs.pgbouncer.map(row => entry(row, { host: row.host })),
  }
}
