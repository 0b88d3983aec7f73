/** The keys of GROUP BY, as subqueries read them. */
import { nameKey } from '../../../sql/relations.ts'
import { isOverRows } from '../../../sql/resolve/calls.ts'
import { keysOf } from '../../../sql/resolve/grouping.ts'
import { numbering } from '../../../sql/resolve/numbering.ts'
import { placeOf } from '../../../sql/resolve/scope.ts'
import type { AnyNode, Expression, OrderItem, Path, Select, SelectItem } from '../../../sql/tree.ts'
import { descendants, descendantsHere } from '../../../sql/walk.ts'
import type { Context, FromRows, Scope } from './context.ts'
import { fromClause } from './from.ts'
import { derivedRows } from './unnest.ts'

/**
 * FROM, around which a key that a subquery may read becomes a column, unless it is one: DuckDB finds only columns among the keys
 * of a query two around. A field is read by its path or its alias, any other expression by its alias.
 */
export function withKeys(
  context: Context,
  node: Select,
  orderBy: OrderItem[],
  outer: Scope | null,
): FromRows | null {
  const from = node.from && fromClause(context, node.from, outer)
  if (!from || !node.groupBy) return from
  const read = namesInSubqueries([...node.items, node.having, node.qualify, ...orderBy])
  if (read.size === 0) return from
  const keys = keysOf(node).filter(key =>
    key.kind === 'Path'
      ? key.parts.length > 1
      : node.items.some(item => isAliasOf(item, key, read)) && isOfOneRow(key),
  )
  if (keys.length === 0) return from
  const scope = { own: from.source, outer }
  const values = keys.map(key => context.expression(key, scope).sql)
  const { added, ...rows } = derivedRows(context, from, values)
  for (const [at, key] of keys.entries()) noteKey(context, node, key, added[at]!)
  return rows
}

/** Has a key printed as its column, wherever it stands in the query. */
function noteKey(context: Context, { items }: Select, key: Expression, sql: string): void {
  if (key.kind === 'Path') {
    const { root, fields } = placeOf(context.resolution.paths.get(key)!, key.parts)
    const known = context.keys.paths.get(root!) ?? []
    context.keys.paths.set(root!, [...known, { fields, sql }])
    return
  }
  const numberOf = numbering()
  for (const item of items)
    if (item.kind === 'SelectColumn' && numberOf(item.expression) === numberOf(key))
      context.keys.expressions.set(item.expression, sql)
}

/** The first names of all paths in subqueries, in lower case. */
function namesInSubqueries(parts: (AnyNode | null)[]): Set<string> {
  const inside = parts.flatMap(part => (part ? [...descendants(part)] : []))
  const queries = inside.filter(({ kind }) => kind === 'Query')
  const paths = queries.flatMap(query => [...descendants(query)]).filter(({ kind }) => kind === 'Path')
  return new Set(paths.map(path => nameKey((path as Path).parts[0]!.name)))
}

function isAliasOf(item: SelectItem, key: Expression, names: ReadonlySet<string>): boolean {
  if (item.kind !== 'SelectColumn' || item.expression !== key || !item.alias) return false
  return names.has(nameKey(item.alias.name))
}

/** Whether an expression has a value for each row, neither for all nor for many. */
function isOfOneRow(key: Expression): boolean {
  const nodes = [...descendants(key)]
  return nodes.some(({ kind }) => kind === 'Path') && ![...descendantsHere(key)].some(isOverRows)
}
