/**
 * Queries as dashboards send them to `logs.all`, in the files `*.sql`: a comment says what the dashboard shows, a semicolon
 * ends the query. Beside each file are the rows that Google's reference evaluator gives over the entries of `logs.ts`;
 * `../reference/record.ts` records them.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { typeOf } from '../../../endpoints/definition.ts'
import type { Binding, Row } from '../../../engines/engine.ts'
import { logs as endpoint } from '../endpoints.ts'
import { hour, makeLogs } from './logs.ts'

export interface Dashboard {
  shows: string
  sql: string
}

const folder = import.meta.dirname

/** The names of the files, without their ends. */
export const subjects: string[] = readdirSync(folder)
  .filter(file => file.endsWith('.sql'))
  .map(file => basename(file, '.sql'))
  .sort()

export function dashboardsOf(subject: string): Dashboard[] {
  const text = readFileSync(join(folder, `${subject}.sql`), 'utf8')
  return [...text.matchAll(/^-- (.+)\n([\s\S]+?);$/gm)].map(([, shows, sql]) => ({
    shows: shows!,
    sql: sql!,
  }))
}

/** Entries of another project lie between, so that a missing filter shows in every count. */
export function entries(): Record<string, Row[]> {
  const [own, others] = [makeLogs('acme', 1), makeLogs('other', 2)]
  return Object.fromEntries(Object.entries(own).map(([table, rows]) => [table, [...rows, ...others[table]!]]))
}

const values: Record<string, string> = {
  project: 'acme',
  iso_timestamp_start: hour.start,
  iso_timestamp_end: hour.end,
}

export const bindings: Binding[] = Object.entries(endpoint.parameters).map(([name, schema]) => ({
  name,
  type: typeOf(schema),
  value: values[name]!,
}))

/** The caller's query over the endpoint's tables, put together as text, for the reference alone. */
export function statementOf(callerSql: string): string {
  const tables = endpoint.sql.slice(0, endpoint.sql.lastIndexOf('\nSELECT'))
  return `${tables}\n(${callerSql}\n)`
}

/** The recorded rows by what the dashboard shows. */
export function recordedRows(subject: string): Map<string, Row[]> {
  const lines = readFileSync(join(folder, `${subject}.ndjson`), 'utf8')
    .split('\n')
    .filter(Boolean)
  return new Map(lines.map(line => JSON.parse(line) as [string, Row[]]))
}

export function writeRows(subject: string, rows: Map<string, Row[]>): void {
  writeFileSync(
    join(folder, `${subject}.ndjson`),
    [...rows].map(entry => `${JSON.stringify(entry)}\n`).join(''),
  )
}
