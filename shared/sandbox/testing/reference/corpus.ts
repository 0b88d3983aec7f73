/** The corpus for Google's reference parser: every attack as it is, and the statements composed from allowed queries. */
import { createHash } from 'node:crypto'
import { SqlError } from '../../../sql/error.ts'
import { parse } from '../../../sql/parser.ts'
import { print } from '../../../sql/printer.ts'
import { sandbox } from '../../sandbox.ts'
import { attacks } from '../attacks.ts'
import { dashboardsOf, subjects } from '../dashboards/dashboards.ts'
import { logs } from '../endpoints.ts'
import { Random } from '../random.ts'
import { randomQuery } from '../random-queries.ts'

export interface Judged {
  title: string
  /** The statement that the reference parser gets. */
  sql: string
  /** Of the caller's text: a verdict with another hash is stale. */
  hash: string
}

/** The reference's verdict on one statement: the tables it reads, or the error that refuses it. */
export interface Verdict {
  hash: string
  tables?: string[]
  error?: string
}

export const judgedAttacks: Judged[] = attacks
  .flatMap(({ rule, attempts }) =>
    Object.entries(attempts).map(([tries, sql]) => ({ title: `${rule}: ${tries}`, sql })),
  )
  .filter(({ sql }) => sql.length < 5_000)
  .map(({ title, sql }) => ({ title, sql: inOlderSyntax(sql), hash: hashOf(sql) }))

/**
 * This version of the reference has no pipes, BY NAME and chained calls: where the front end reads them, it gets the query
 * that they stand for.
 */
export function inOlderSyntax(sql: string): string {
  if (!/\|>|^FROM\b|\(FROM\b|\bBY NAME\b|\)\.\(?[\w.]+\)?\(/i.test(sql)) return sql
  try {
    return print(parse(sql))
  } catch (error) {
    if (error instanceof SqlError) return sql
    throw error
  }
}

const fromDashboards = subjects.flatMap(dashboardsOf).map(({ shows, sql }) => ({ title: shows, sql }))

const fromRandom = Array.from({ length: 300 }, (_, seed) => ({
  title: `the random query ${seed}`,
  sql: randomQuery(new Random(seed), ['edge_logs', 'auth_logs', 'function_logs']).sql,
})).filter(({ sql }) => sql.length < 4_000)

export const composed: Judged[] = [...fromDashboards, ...fromRandom].map(({ title, sql }) => ({
  title,
  sql: sandbox(logs, sql).sql,
  hash: hashOf(sql),
}))

function hashOf(sql: string): string {
  return createHash('sha256').update(sql).digest('hex').slice(0, 12)
}
