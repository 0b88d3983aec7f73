/** Finds out what the names and expressions of a query stand for: the one place that knows scopes and types. */
import { placeOf, SqlError } from '../error.ts'
import type { Query } from '../tree.ts'
import { expression } from './expressions.ts'
import { query } from './queries.ts'
import type { Catalog, Context, Resolution } from './resolution.ts'
import { anything } from './types.ts'

/**
 * Resolves a query, whose tree stays as it is.
 * @param sql its text, for the place of a problem
 */
export function resolve(sql: string, tree: Query, catalog: Catalog): Resolution {
  const found: Context['found'] = {
    problem: null,
    rows: new Map(),
    values: new Map(),
    coercions: new Map(),
    paths: new Map(),
    stars: new Map(),
    lists: new Map(),
    sources: new Map(),
    numbers: new Map(),
    merged: new Map(),
    tables: new Map(),
    calls: new Map(),
    windows: new Map(),
  }
  const context: Context = {
    ...catalog,
    found,
    room: 200_000,
    fault(node, message) {
      const text = () => (typeof message === 'string' ? message : message())
      found.problem ??= new SqlError(text(), placeOf(sql, node.at))
      return { type: anything }
    },
    query: (node, outer, ctes) => query(context, node, outer, ctes),
    value(node, scope) {
      const known = found.values.get(node)
      if (known) return known
      const value = expression(context, node, scope)
      found.values.set(node, value)
      return value
    },
  }
  context.query(tree, null, new Map())
  return found
}
