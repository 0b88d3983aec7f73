/** The keys of GROUP BY, as subqueries read them. */
import { nameKey } from '../../../sql/relations.ts'
import { keysOf } from '../../../sql/resolve/grouping.ts'
import type {
  AnyNode,
  Expression,
  OrderItem,
  Path,
  Select,
  SelectColumn,
  SelectStar,
} from '../../../sql/tree.ts'
import { descendants, descendantsHere } from '../../../sql/walk.ts'
import type { Context, Scope, Typed } from './context.ts'
import { fromClause } from './from.ts'
import { isOverRows } from './functions/calls.ts'
import { withSource } from './scope.ts'
import { derivedSource } from './unnest.ts'

/**
 * A key that a subquery may read becomes a column, unless it is one: DuckDB finds only columns among the keys of a query two
 * around. A field is read by its path or its alias, any other expression by its alias.
 */
export function withKeys(context: Context, node: Select, orderBy: OrderItem[], bare: Scope) {
  const from = node.from && fromClause(context, node.from, bare)
  const scope = from ? withSource(bare, from) : bare
  if (!from || !node.groupBy) return { from, scope }
  const read = namesInSubqueries([...node.items, node.having, node.qualify, ...orderBy])
  const keys = keysOf(node).filter(key =>
    key.kind === 'Path'
      ? key.parts.length > 1 && read.size > 0
      : node.items.some(item => isAliasOf(item, key, read)) && isOfOneRow(key),
  )
  if (keys.length === 0) return { from, scope }
  const added = keys.map(key => ({
    kind: 'value' as const,
    name: null,
    value: context.expression(key, scope),
  }))
  const rows = derivedSource(context, from, added)
  const values = rows.variables.splice(-added.length)
  const inside = withSource(bare, rows)
  const columns = values.flatMap((variable, at) => {
    const { value } = variable as (typeof added)[0]
    const key = keys[at]!
    return [[key, value] as const, [context.expression(key, inside).sql, value] as const]
  })
  return { from: rows, scope: { ...inside, keys: new Map<Expression | string, Typed>(columns) } }
}

/** The first names of all paths in subqueries, in lower case. */
function namesInSubqueries(parts: (AnyNode | null)[]): Set<string> {
  const inside = parts.flatMap(part => (part ? [...descendants(part)] : []))
  const queries = inside.filter(({ kind }) => kind === 'Query')
  const paths = queries.flatMap(query => [...descendants(query)]).filter(({ kind }) => kind === 'Path')
  return new Set(paths.map(path => nameKey((path as Path).parts[0]!.name)))
}

function isAliasOf(item: SelectColumn | SelectStar, key: Expression, names: ReadonlySet<string>): boolean {
  if (item.kind !== 'SelectColumn' || item.expression !== key || !item.alias) return false
  return names.has(nameKey(item.alias.name))
}

/** Whether an expression has a value for each row, neither for all nor for many. */
function isOfOneRow(key: Expression): boolean {
  const nodes = [...descendants(key)]
  return nodes.some(({ kind }) => kind === 'Path') && ![...descendantsHere(key)].some(isOverRows)
}
