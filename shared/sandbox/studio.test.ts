/**
 * Queries of the shapes that Supabase Studio sends to `logs.all` (logs explorer, reports, unified logs, service flow) and
 * the query_logs tool of its MCP server (their sources are public) pass the sandbox and run. What they answer is for `dashboards.test.ts`.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'
import { typeOf } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { openDuckDb } from '../engines/duckdb/engine.ts'
import { readTableSchemas } from '../engines/duckdb/tables.ts'
import { sandbox } from './sandbox.ts'
import { logs as endpoint } from './testing/endpoints.ts'

const text = readFileSync(join(import.meta.dirname, 'testing/studio.sql'), 'utf8')
const queries = [...text.matchAll(/^-- (.+)\n([\s\S]+?;)$/gm)].map(
  ([, shows, sql]) => [shows!, sql!] as const,
)

const logsFolder = mkdtempSync(join(tmpdir(), 'studio-'))
const tables = readTableSchemas(join(import.meta.dirname, '../../infra/tables'))
const engine = openDuckDb({ logsFolder, tables })

afterAll(async () => {
  await engine.close()
  rmSync(logsFolder, { recursive: true, force: true })
})

test.each(queries)('%s', async (_, callerSql) => {
  const { sql, parameters } = sandbox(endpoint, callerSql)
  const bindings = parameters.map(name => ({ name, type: typeOf(endpoint.parameters[name]!), value: null }))
  const { columns } = await engine.run({ sql, bindings }, { maxRows: 100, timeoutMs: 30_000 })
  expect(columns.length).toBeGreaterThan(0)
})

test.each([
  'auth_audit_logs',
  'etl_replication_logs',
  'multigres_logs',
  'pg_upgrade_logs',
  'supavisor_logs',
  'workflow_run_logs',
])(
  '%s, which the endpoint lacks, is the only table in the message; those that it has are beside it',
  table => {
    const sql = `select id, ${table}.timestamp, event_message from ${table} order by timestamp desc limit 100`
    const refusal = refusalOf(sql)
    // A fork of Studio takes every such name in the message for a table that is missing, and asks again without it.
    expect(refusal.message.match(/\w+_logs/g)).toEqual([table])
    expect(refusal.problems[0]!.tables!.slice(0, 2)).toEqual(['edge_logs', 'postgres_logs'])
  },
)

function refusalOf(sql: string): ApiError {
  try {
    sandbox(endpoint, sql)
  } catch (error) {
    if (error instanceof ApiError) return error
  }
  throw new Error('was not refused')
}

test('there are queries of every part of Studio, over all nine tables', () => {
  const tables = /\b(edge|postgres|function_edge|function|auth|realtime|storage|postgrest|pgbouncer)_logs\b/g
  expect(new Set(text.match(tables)).size).toBe(9)
  expect(queries.length).toBeGreaterThanOrEqual(59)
})
