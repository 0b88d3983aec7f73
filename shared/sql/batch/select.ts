/** A SELECT that depends on the set: its list, its groups and windows, and aggregates of all rows. */
import { nameOfColumn } from '../columns.ts'
import { isOverRows } from '../resolve/calls.ts'
import { isKnown } from '../resolve/types.ts'
import type * as ast from '../tree.ts'
import { children, descendantsHere } from '../walk.ts'
import { inExpression } from './expressions.ts'
import type { Batch, Here, Sight } from './context.ts'
import { tablesBesideSets } from './from.ts'
import * as make from './nodes.ts'
import { keyOutside } from './order.ts'
import { columnOfSet, fieldOf, numberItem, parametersIn, setColumn, setsInFrom } from './sets.ts'

/** A SELECT, and ORDER BY for it; or for a query around it, by its columns. */
interface Made {
  select: ast.Select
  orderBy: ast.OrderItem[]
}

/** @param around `isInside` = ORDER BY is for a query around: what is no column of the list is then added to it */
export function selected(
  batch: Batch,
  node: ast.Select,
  around: { sight: Sight; orderBy?: ast.OrderItem[]; isInside?: boolean },
): Made {
  const { sight, orderBy = [], isInside = false } = around
  if (node.as) throw batch.refuse(node, `SELECT AS ${node.as}`)
  if (isOfAll(node)) return ofAll(batch, node, sight)
  const aggregate = node.groupBy
    ? undefined
    : orderBy.flatMap(key => [...descendantsHere(key)]).find(isOfGroups)
  if (aggregate) throw batch.refuse(aggregate, 'an aggregate of all rows in ORDER BY alone')
  const from = tablesBesideSets(batch, node, { sight, orderBy })
  const here: Here = { batch, sight, ...from }
  const written = <Kind extends ast.AnyNode>(part: Kind) => inExpression(part, here)
  const keys = isInside ? orderBy.map(key => keyOutside(batch, node, key)) : []
  const listed = [...node.items, ...keys.flatMap(({ added }) => added ?? [])]
  const select: ast.Select = {
    ...node,
    items: [...listed.map(item => named(written(item), item)), numberItem()],
    from: from.node,
    where: make.joined('AND', from.where),
    groupBy: grouped(node, here, [...children({ ...node, from: null, where: null }), ...listed, ...orderBy]),
    having: node.having && written(node.having),
    qualify: node.qualify && written(node.qualify),
    windows: node.windows.map(written),
  }
  return { select, orderBy: isInside ? keys.map(({ key }) => key) : orderBy.map(written) }
}

/** Where its column has been read elsewhere, an item keeps the name that it had. */
function named(item: ast.SelectItem, before: ast.SelectItem): ast.SelectItem {
  if (item.kind === 'SelectStar' || before.kind === 'SelectStar' || item.alias) return item
  const name = nameOfColumn(before)
  return nameOfColumn(item) === name || name === null ? item : { ...item, alias: make.name(name) }
}

/** The number of the set is a key, and with it what it decides: parameters that are read of the groups. */
function grouped({ groupBy }: ast.Select, here: Here, parts: ast.AnyNode[]): ast.GroupBy | null {
  if (!groupBy) return null
  // ALL of aggregates alone is one row of all.
  if (groupBy.grouping !== 'LIST') throw here.batch.refuse(groupBy, `GROUP BY ${groupBy.grouping}`)
  const parameters = parametersIn(...parts).map(name => columnOfSet(fieldOf(name)))
  const keys = groupBy.items.map(key => inExpression(key, here))
  return { ...groupBy, items: [...keys, columnOfSet(setColumn), ...parameters] }
}

/** Whether it makes one row of all, without GROUP BY. */
function isOfAll({ groupBy, items, having }: ast.Select): boolean {
  const parts = [...items, ...(having ? [having] : [])].flatMap(part => [...descendantsHere(part)])
  return groupBy === null && parts.some(isOfGroups)
}

function isOfGroups(part: ast.AnyNode): boolean {
  return part.kind === 'Call' && isOverRows(part) && !part.over
}

/** One row for each set: where it has no rows, of what aggregates are of none. */
function ofAll(batch: Batch, node: ast.Select, sight: Sight): Made {
  const { items, having, qualify } = node
  const window = [...items, ...(having ? [having] : [])]
    .flatMap(part => [...descendantsHere(part)])
    .find(part => part.kind === 'Call' && part.over)
  if (qualify || window)
    throw batch.refuse(qualify ?? window!, 'a window function over aggregates of all rows')
  const columns = items.map(item => {
    if (item.kind === 'SelectStar') throw batch.refuse(item, '* beside aggregates')
    return { item, name: batch.newName('i') }
  })
  const kept = having && make.item(having, batch.newName('i'))
  const group = batch.newName('g')
  const groups: ast.Select = {
    ...node,
    distinct: false,
    items: [...columns.map(({ item, name }) => make.item(item.expression, name)), ...(kept ? [kept] : [])],
    groupBy: { kind: 'GroupBy', grouping: 'LIST', items: [], at: node.at },
    having: null,
    windows: [],
  }
  const some = make.derived(make.queryOf(selected(batch, groups, { sight }).select), group)
  const instead = (part: ast.AnyNode) => ofNoRows(batch, part)
  const here: Here = { batch, sight, carrying: new Set(), columns: null, instead }
  const valueOf = (expression: ast.Expression, name: string) =>
    make.call('IF', [
      make.isNull(make.path(group, setColumn)),
      inExpression(expression, here),
      make.path(group, name),
    ])
  const on = make.binary('=', make.path(group, setColumn), columnOfSet(setColumn))
  const select = make.select(
    [
      ...columns.map(({ item, name }) => make.item(valueOf(item.expression, name), nameOfColumn(item))),
      numberItem(),
    ],
    make.join('LEFT', setsInFrom(), some, on),
    { where: kept && valueOf(kept.expression, kept.alias!.name) },
  )
  return { select, orderBy: [] }
}

const countsOfNothing = /^(APPROX_COUNT_DISTINCT|COUNT|COUNTIF)$/

/** What an aggregate is of no rows. */
function ofNoRows(batch: Batch, part: ast.AnyNode): ast.Expression | null {
  if (part.kind !== 'Call' || !isOverRows(part)) return null
  if (countsOfNothing.test(part.name[0]!.name.toUpperCase())) return make.integer(0)
  const type = batch.resolution.values.get(part)?.type
  if (!type || !isKnown(type)) throw batch.refuse(part, 'an aggregate of all rows, whose type is not known')
  return make.cast(make.nothing(), type)
}
