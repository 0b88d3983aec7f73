/** Which of an endpoint's saved queries answers a call: its own, or one over its roll-up. */
import { Ajv, type ValidateFunction } from 'ajv'
import { LRUCache } from 'lru-cache'
import type { Binding, Rollup, Statement } from '../engines/engine.ts'
import { boundedRegExp } from './bounded-regexp.ts'
import { parse } from '../sql/parser.ts'
import { type Endpoint, type RollupAnswer, upstreamBindings } from './definition.ts'

export interface SavedQuery {
  sql: string
  /** Those that it may read; none = it reads the log tables alone. */
  rollups: Rollup[]
}

/** The query that answers every call, whatever its parameters. */
export function ownQuery({ sql }: Endpoint): SavedQuery {
  return { sql, rollups: [] }
}

/** The first of `answers` whose `when` fits the parameters, else the endpoint's own query. */
export function queryFor(endpoint: Endpoint, bindings: Binding[]): SavedQuery {
  const at = endpoint.answers.length === 0 ? -1 : firstFitting(endpoint, bindings)
  return at < 0 ? ownQuery(endpoint) : rollupQueries(endpoint)[at]!
}

/** The queries over the roll-ups, in the order of `answers`. */
export function rollupQueries({ answers, rollups }: Endpoint): SavedQuery[] {
  return answers.map(({ sql }) => ({ sql, rollups }))
}

/** Whether it is a query of `answers`, and not the endpoint's own. */
export function readsRollups({ rollups }: SavedQuery): boolean {
  return rollups.length > 0
}

/** A saved query with its bindings. */
export function statementOf({ sql, rollups }: SavedQuery, bindings: Binding[]): Statement {
  return { sql, bindings, rollups }
}

/**
 * The statement that answers these parameters, with the tables of `upstream` still to be filled. Its query is chosen when it is
 * asked for: a hot answer needs none, and a compiler of schemas takes a twentieth of a cold start.
 */
export function savedStatement(
  endpoint: Endpoint,
  parameters: Binding[],
): { statement: Statement; instead: Statement | null; sql: null } {
  const bindings = [...parameters, ...upstreamBindings(endpoint)]
  const own = statementOf(ownQuery(endpoint), bindings)
  if (endpoint.answers.length === 0) return { statement: own, instead: null, sql: null }
  const chosen = {
    bindings,
    get sql() {
      return queryFor(endpoint, parameters).sql
    },
    get rollups() {
      return queryFor(endpoint, parameters).rollups
    },
  }
  return { statement: chosen, instead: own, sql: null }
}

/** Compiled once for each version of an endpoint; `apply` has checked the schemas. */
const validators = new LRUCache<string, ValidateFunction[], RollupAnswer[]>({
  max: 200,
  memoMethod: (_version, _, { context }) => context.map(({ when }) => compile(when)),
})

function compile(when: object): ValidateFunction {
  const code = { regExp: boundedRegExp }
  return new Ajv({ strict: false, meta: false, validateSchema: false, ownProperties: true, code }).compile(
    when,
  )
}

function firstFitting({ version, answers }: Endpoint, bindings: Binding[]): number {
  const present = bindings.filter(({ value }) => value !== null)
  const parameters = Object.fromEntries(present.map(({ name, value }) => [name, value]))
  return validators.memo(version, { context: answers }).findIndex(validate => validate(parameters))
}

const limits = new LRUCache<string, { rows: number | null }>({
  max: 400,
  memoMethod(sql) {
    const { limit } = parse(sql)
    return { rows: limit?.kind === 'Literal' ? Number(limit.text) : null }
  },
})

/**
 * The LIMIT of the endpoint's own query, by which a caller knows whether rows were left out.
 * @returns rows; `null` where the query has no LIMIT, or one that a parameter decides
 */
export function limitOf({ sql }: Pick<Endpoint, 'sql'>): number | null {
  return limits.memo(sql).rows
}
