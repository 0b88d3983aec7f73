/** Subqueries in expressions: (SELECT ...), ARRAY(SELECT ...), EXISTS(SELECT ...). */
import { isOverRows } from '../../../sql/resolve/calls.ts'
import type { AnyNode, ArraySubquery, Exists, Expression, Query, ScalarSubquery } from '../../../sql/tree.ts'
import { descendants } from '../../../sql/walk.ts'
import { quoteName } from '../syntax.ts'
import { type Context, type Scope, typed } from './context.ts'
import { levelOf, namesIn, typeOf } from './names.ts'

/** `(SELECT ...)` as a value. */
export function scalarSubquery(context: Context, node: ScalarSubquery, scope: Scope): string {
  return `(${context.query(node.query, scope).sql})`
}

/** `ARRAY(SELECT ...)`. */
export function arraySubquery(context: Context, node: ArraySubquery, scope: Scope): string {
  return `ARRAY(${context.query(node.query, scope).sql})`
}

/** As a filter of the array where the query only reads an UNNEST (`someElement`), else as DuckDB's EXISTS. */
export function exists(context: Context, node: Exists, scope: Scope): string {
  return someElement(context, node.query, scope) ?? `EXISTS(${context.query(node.query, scope).sql})`
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
  const own = context.resolution.sources.get(from)!
  const inner: Scope = { own, outer: scope }
  const inCondition = levels(context, where, inner)
  inCondition.delete(inner)
  // A lambda of DuckDB sees the columns of the query that it stands in, and of no other.
  if ([...inCondition].some(level => level !== scope)) return null
  if (new Set([...levels(context, from.array, scope), ...inCondition]).size > 1) return null
  const array = context.expression(from.array, scope)
  if (array.type === null) return null
  const element = quoteName(context.uniqueName('x'))
  const column = own.variables[0]!.element!
  context.columns.set(column, typed(element, typeOf(column)))
  const condition = context.expression(where, inner).sql
  return `COALESCE(len(list_filter(${array.sql}, lambda ${element}: ${condition})) > 0, false)`
}

/** The queries whose columns are named; `null` stands for that of names that are no columns. */
function levels(context: Context, expression: Expression, scope: Scope): Set<Scope | null> {
  return new Set(namesIn(context, expression).map(path => levelOf(context, path, scope)))
}

/** Whether an expression holds what cannot stand in a DuckDB lambda. */
function needsQuery(node: AnyNode): boolean {
  return [...descendants(node)].some(inner => inner.kind === 'Query' || isOverRows(inner))
}
