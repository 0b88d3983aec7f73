/** The keys of GROUP BY: where they may be written again, and how subqueries read them. */
import { nameOfColumn, sameName } from '../../../sql/columns.ts'
import { nameKey } from '../../../sql/relations.ts'
import type {
  AnyNode,
  Expression,
  OrderItem,
  Path,
  Select,
  SelectColumn,
  SelectStar,
} from '../../../sql/tree.ts'
import { children, descendants, descendantsHere, isNode } from '../../../sql/walk.ts'
import type { Context, Scope, Typed } from './context.ts'
import { fromClause } from './from.ts'
import { isOverRows } from './functions/calls.ts'
import { literalInteger } from './literals.ts'
import { withSource } from './scope.ts'
import { derivedSource } from './unnest.ts'

/**
 * Throws SqlError where an expression that is a key stands for its value elsewhere than as a whole item of the SELECT list: DuckDB
 * takes it anywhere, GoogleSQL knows columns and aliases only
 * (https://github.com/tobymao/sqlglot/issues/4394 quotes BigQuery's error).
 */
export function refusePartsOfKeys(context: Context, node: Select, orderBy: OrderItem[]): void {
  const single = keysOf(node).flatMap(key => singleKeys(key, node.groupBy?.grouping !== 'LIST'))
  const numberOf = numbering()
  const columns = new Set(single.filter(isPath).map(numberOf))
  // What is made of keys alone can be made of them again.
  const keys = single.filter(
    key => !isPath(key) && [...descendants(key)].some(part => isPath(part) && !columns.has(numberOf(part))),
  )
  if (keys.length === 0) return
  const numbers = new Set(keys.map(numberOf))
  const refuse = (part: AnyNode): void => {
    if (isAggregateOf(part)) return
    if (numbers.has(numberOf(part)))
      throw context.invalid(
        part,
        'An expression of GROUP BY can be repeated as a whole item of the SELECT list only: name it in a subquery in FROM, ' +
          'or in HAVING, QUALIFY and ORDER BY write its alias',
      )
    for (const child of children(part)) if (child.kind !== 'Query') refuse(child)
  }
  for (const item of node.items) {
    const whole = item.kind === 'SelectColumn' && numbers.has(numberOf(item.expression))
    if (!whole) refuse(item)
  }
  for (const part of [node.having, node.qualify, ...node.windows, ...orderBy]) if (part) refuse(part)
}

/** A set of GROUPING SETS, ROLLUP and CUBE has its keys in parentheses. */
function singleKeys(key: Expression, isSet: boolean): Expression[] {
  if (key.kind === 'Parenthesized') return singleKeys(key.expression, isSet)
  return key.kind === 'Tuple' && isSet ? key.items.flatMap(item => singleKeys(item, isSet)) : [key]
}

/** Its arguments are of single rows; those of GROUPING are keys. */
function isAggregateOf(node: AnyNode): boolean {
  return (
    node.kind === 'Call' &&
    !node.over &&
    (isOverRows(node) || node.name[0]!.name.toUpperCase() === 'GROUPING')
  )
}

function isPath({ kind }: AnyNode): boolean {
  return kind === 'Path'
}

/**
 * A function that numbers expressions, once each: equal are those that differ in parentheses around them, in backticks and in
 * the case of names only.
 */
function numbering(): (node: AnyNode) => number {
  const byNode = new Map<AnyNode, number>()
  const byText = new Map<string, number>()
  return function numberOf(node): number {
    if (node.kind === 'Parenthesized') return numberOf(node.expression)
    const text = (key: string, value: unknown) => {
      if (key === 'at' || key === 'quoted') return undefined
      if (key === 'name' && typeof value === 'string') return nameKey(value)
      return isNode(value) && value !== node ? numberOf(value) : value
    }
    if (!byNode.has(node)) byNode.set(node, numberIn(byText, JSON.stringify(node, text)))
    return byNode.get(node)!
  }
}

function numberIn(numbers: Map<string, number>, text: string): number {
  if (!numbers.has(text)) numbers.set(text, numbers.size)
  return numbers.get(text)!
}

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

/** The expressions of GROUP BY, for numbers and names of items theirs. */
function keysOf({ groupBy, items }: Select): Expression[] {
  const columns = items.map(item => (item.kind === 'SelectColumn' ? item : null))
  if (groupBy?.grouping === 'ALL') return columns.flatMap(column => column?.expression ?? [])
  return (groupBy?.items ?? []).map(key => {
    const name = key.kind === 'Path' && key.parts.length === 1 ? key.parts[0]!.name : null
    const column =
      name === null
        ? columns[(literalInteger(key) ?? 0) - 1]
        : columns.find(column => column && sameName(nameOfColumn(column), name))
    return column?.expression ?? key
  })
}
