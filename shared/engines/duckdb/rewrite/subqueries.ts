/** Subqueries in expressions: (SELECT ...), ARRAY(SELECT ...), EXISTS(SELECT ...). */
import type { AnyNode, ArraySubquery, Exists, Expression, Query, ScalarSubquery } from '../../../sql/tree.ts'
import { descendants } from '../../../sql/walk.ts'
import {
  arrayOf,
  type Context,
  type OutputColumn,
  type Relation,
  type Scope,
  type Typed,
  typed,
} from './context.ts'
import { isOverRows, refuseOverRows } from './functions/calls.ts'
import { findPath, lambdaScope } from './scope.ts'

/** `(SELECT ...)` as a value. Throws SqlError for more than one column. */
export function scalarSubquery(context: Context, node: ScalarSubquery, scope: Scope): Typed {
  const relation = context.query(node.query, scope, scope.ctes)
  const { type } = onlyColumn(context, node, relation, 'Scalar subquery')
  return typed(`(${relation.sql})`, type ?? { kind: 'INT64' })
}

/** `ARRAY(SELECT ...)`. Throws SqlError for more than one column, or a column of arrays. */
export function arraySubquery(context: Context, node: ArraySubquery, scope: Scope): Typed {
  const relation = context.query(node.query, scope, scope.ctes)
  const { type } = onlyColumn(context, node, relation, 'ARRAY subquery')
  if (type?.kind === 'ARRAY')
    throw context.invalid(node, 'ARRAY subquery of arrays: an array cannot hold arrays, only structs of them')
  return typed(`ARRAY(${relation.sql})`, arrayOf(type))
}

function onlyColumn(context: Context, node: Expression, relation: Relation, what: string): OutputColumn {
  const [column, ...more] = relation.columns
  if (!column || more.length > 0)
    throw context.invalid(node, `${what} cannot have more than one column unless using SELECT AS STRUCT`)
  return column
}

/** As a filter of the array where the query only reads an UNNEST (`someElement`), else as DuckDB's EXISTS. */
export function exists(context: Context, node: Exists, scope: Scope): Typed {
  const sql = someElement(context, node.query, scope)
  return typed(sql ?? `EXISTS(${context.query(node.query, scope, scope.ctes).sql})`, 'BOOL')
}

/**
 * `EXISTS (SELECT ... FROM UNNEST(array) AS x WHERE condition)` as a filter of the array, twenty times as fast as the
 * join that DuckDB makes of it; `null` for any other query.
 */
function someElement(context: Context, query: Query, scope: Scope): string | null {
  const { body } = query
  if (query.with || query.limit || query.offset || body.kind !== 'Select') return null
  const { from, where } = body
  const plain = !body.groupBy && !body.having && !body.qualify && !body.as && body.windows.length === 0
  if (!plain || from?.kind !== 'UnnestReference' || from.offset || !where) return null
  if ([where, ...body.items].some(needsQuery)) return null
  refuseOverRows(context, from.array, 'UNNEST')
  const array = context.expression(from.array, scope)
  if (array.type?.kind !== 'ARRAY') return null
  const { element, scope: inner } = lambdaScope(context, array, from.alias?.name ?? null, scope)
  const inCondition = levels(context, where, inner)
  inCondition.delete(inner)
  // A lambda of DuckDB sees the columns of the query that it stands in, and of no other.
  if ([...inCondition].some(level => level !== scope)) return null
  if (new Set([...levels(context, from.array, scope), ...inCondition]).size > 1) return null
  for (const item of body.items) if (item.kind === 'SelectColumn') context.expression(item.expression, inner)
  const condition = context.expression(where, inner).sql
  return `COALESCE(len(list_filter(${array.sql}, lambda ${element}: ${condition})) > 0, false)`
}

/** The queries whose columns are named. */
function levels(context: Context, expression: Expression, scope: Scope): Set<Scope> {
  const found = new Set<Scope>()
  for (const node of descendants(expression))
    for (let at: Scope | null = scope; at && node.kind === 'Path'; at = at.outer)
      if (findPath(context, { ...at, outer: null }, node.parts)) {
        found.add(at)
        break
      }
  return found
}

/** Whether an expression holds what cannot stand in a DuckDB lambda. */
function needsQuery(node: AnyNode): boolean {
  return [...descendants(node)].some(inner => inner.kind === 'Query' || isOverRows(inner))
}
