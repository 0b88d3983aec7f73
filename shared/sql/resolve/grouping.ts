/** The keys of GROUP BY, and where they may be written again. */
import { nameOfColumn } from '../columns.ts'
import { nameKey, numbering } from '../relations.ts'
import type { AnyNode, Expression, OrderItem, Select, SelectColumn } from '../tree.ts'
import { children, descendants } from '../walk.ts'
import { isOverRows } from './calls.ts'
import type { Faults } from './resolution.ts'

/**
 * A fault is where an expression that is a key stands for its value elsewhere than as a whole item of the SELECT list, as
 * GoogleSQL knows columns and aliases only
 * (https://github.com/tobymao/sqlglot/issues/4394 quotes BigQuery's error).
 */
export function refusePartsOfKeys(context: Faults, node: Select, orderBy: OrderItem[]): void {
  const single = keysOf(node).flatMap(key => singleKeys(key, node.groupBy?.grouping !== 'LIST'))
  if (single.every(isPath)) return
  const numberOf = numbering()
  const columns = new Set(single.filter(isPath).map(numberOf))
  // What is made of keys alone can be made of them again.
  const keys = single.filter(
    key => !isPath(key) && [...descendants(key)].some(part => isPath(part) && !columns.has(numberOf(part))),
  )
  if (keys.length === 0) return
  const numbers = new Set(keys.map(numberOf))
  const kinds = new Set(keys.map(({ kind }) => kind as string))
  const refuse = (part: AnyNode): void => {
    if (isAggregateOf(part)) return
    if (kinds.has(part.kind) && numbers.has(numberOf(part)))
      context.fault(
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

/** The expressions of GROUP BY, for numbers and names of items theirs. */
export function keysOf({ groupBy, items }: Select): Expression[] {
  if (!groupBy) return []
  const columns = items.map(item => (item.kind === 'SelectColumn' ? item : null))
  if (groupBy.grouping === 'ALL') return columns.flatMap(column => column?.expression ?? [])
  const byName = new Map<string, SelectColumn>()
  for (const column of columns.toReversed()) {
    const name = column && nameOfColumn(column)
    if (name !== null) byName.set(nameKey(name), column!)
  }
  return groupBy.items.map(key => {
    const name = key.kind === 'Path' && key.parts.length === 1 ? key.parts[0]!.name : null
    const number = key.kind === 'Literal' && key.literal === 'INTEGER' ? Number(key.text) : 0
    const column = name === null ? columns[number - 1] : byName.get(nameKey(name))
    return column?.expression ?? key
  })
}
