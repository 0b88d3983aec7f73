/** A SELECT that depends on the set: its tables beside the sets, its list, its groups and windows, and aggregates of all rows. */
import {
  type Batch,
  columnOfSet,
  depends,
  fieldOf,
  type Here,
  inExpression,
  numberItem,
  parametersIn,
  setColumn,
  setsInFrom,
  type Sight,
} from './sets.ts'
import { joinMatches, type Tables } from './matches.ts'
import * as make from '../nodes.ts'
import { keyOutside } from './order.ts'
import { boundOf } from './prefilters.ts'
import { nameOfColumn } from '../columns.ts'
import { isOverRows } from '../resolve/calls.ts'
import { isKnown } from '../resolve/types.ts'
import type * as ast from '../tree.ts'
import { children, conjuncts, descendants, descendantsHere } from '../walk.ts'

/** A SELECT, and ORDER BY for it; or for a query around it, by its columns. */
interface Made {
  select: ast.Select
  orderBy: ast.OrderItem[]
}

/** @param around `isInside` = ORDER BY is for a query around: what is no column of the list is then added to it */
export function selectOfSet(
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
    items: [...listed.map(item => withName(written(item), item)), numberItem()],
    from: from.node,
    where: make.chain('AND', from.where),
    groupBy: groupBySet(node, here, [
      ...children({ ...node, from: null, where: null }),
      ...listed,
      ...orderBy,
    ]),
    having: node.having && written(node.having),
    qualify: node.qualify && written(node.qualify),
    windows: node.windows.map(written),
  }
  return { select, orderBy: isInside ? keys.map(({ key }) => key) : orderBy.map(written) }
}

/** Where its column has been read elsewhere, an item keeps the name that it had. */
function withName(item: ast.SelectItem, before: ast.SelectItem): ast.SelectItem {
  if (item.kind === 'SelectStar' || before.kind === 'SelectStar' || item.alias) return item
  const name = nameOfColumn(before)
  return nameOfColumn(item) === name || name === null ? item : { ...item, alias: make.name(name) }
}

/** The number of the set is a key, and with it what it decides: parameters that are read of the groups. */
function groupBySet({ groupBy }: ast.Select, here: Here, parts: ast.AnyNode[]): ast.GroupBy | null {
  if (!groupBy) return null
  // ALL of aggregates alone is one row of all.
  if (groupBy.grouping !== 'LIST') throw here.batch.refuse(groupBy, `GROUP BY ${groupBy.grouping}`)
  const parameters = parametersIn(...parts).map(name => columnOfSet(fieldOf(name)))
  const keys = groupBy.items.map(key => inExpression(key, here))
  return { ...groupBy, items: [...keys, columnOfSet(setColumn), ...parameters] }
}

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
  const some = make.derivedTable(make.queryOf(selectOfSet(batch, groups, { sight }).select), group)
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

function ofNoRows(batch: Batch, part: ast.AnyNode): ast.Expression | null {
  if (part.kind !== 'Call' || !isOverRows(part)) return null
  if (countsOfNothing.test(part.name[0]!.name.toUpperCase())) return make.integer(0)
  const type = batch.resolution.values.get(part)?.type
  if (!type || !isKnown(type)) throw batch.refuse(part, 'an aggregate of all rows, whose type is not known')
  return make.cast(make.nothing(), type)
}

/** FROM with the sets first, so that all conditions see them, and WHERE with what joins tables to the sets. */
function tablesBesideSets(
  batch: Batch,
  node: ast.Select,
  { sight, orderBy }: { sight: Sight; orderBy: ast.OrderItem[] },
): Tables {
  if (!node.from) return { node: setsInFrom(), where: [], carrying: new Set(), columns: null }
  const bounds = conjuncts(node.where).flatMap(condition => boundOf(batch, condition) ?? [])
  const isOfSet = depends(batch, node.from, sight)
  const byValues = isOfSet ? null : joinMatches(batch, node, { sight, orderBy, bounds })
  if (byValues) return byValues
  const from = new From(batch, sight)
  const tables = from.place(node.from, from.where)
  const here = { batch, sight, carrying: from.carrying, columns: null }
  const asked = conjuncts(node.where).map(condition => inExpression(condition, here))
  return { ...here, node: besideSets(tables), where: [...from.where, ...asked, ...bounds] }
}

function besideSets(from: ast.From): ast.From {
  if (from.kind !== 'Join') return make.join('CROSS', setsInFrom(), from)
  if (isOuterOfRight(from))
    return make.join('CROSS', setsInFrom(), { kind: 'JoinInParentheses', join: from, at: from.at })
  return { ...from, left: besideSets(from.left) }
}

function isOuterOfRight({ type }: ast.Join): boolean {
  return type === 'RIGHT' || type === 'FULL'
}

/** Puts the number of the set on tables that depend on it. */
class From {
  /** Filled as FROM is read. */
  readonly carrying = new Set<ast.From>()
  readonly where: ast.Expression[] = []
  private readonly batch: Batch
  private readonly sight: Sight

  constructor(batch: Batch, sight: Sight) {
    this.batch = batch
    this.sight = sight
  }

  /** @param on gets the conditions that join tables to the sets */
  place(node: ast.From, on: ast.Expression[]): ast.From {
    const { batch, sight } = this
    if (!depends(batch, node, sight)) return node
    switch (node.kind) {
      case 'TableReference':
        return this.joinToSets(node, node.alias ?? node.path.at(-1)!, node, on)
      case 'DerivedTable': {
        const alias = node.alias ?? make.name(batch.newName('t'))
        return this.joinToSets(
          node,
          alias,
          { ...node, query: batch.query(node.query, sight, false), alias },
          on,
        )
      }
      case 'UnnestReference':
        return this.resolve(node)
      case 'JoinInParentheses':
        if (hasOwnParameters(node)) throw batch.refuse(node, 'a parameter in a join in parentheses')
        return { ...node, join: this.place(node.join, on) as ast.Join }
      case 'Join':
        return this.join(node, on)
      case 'Pivot':
      case 'Unpivot':
        throw batch.refuse(node, `${node.kind.toUpperCase()} of a table that depends on a parameter`)
    }
  }

  private joinToSets(
    node: ast.From,
    { name }: ast.Identifier,
    made: ast.From,
    on: ast.Expression[],
  ): ast.From {
    this.carrying.add(node)
    on.push(make.binary('=', make.path(name, setColumn), columnOfSet(setColumn)))
    return made
  }

  private resolve<Kind extends ast.AnyNode>(node: Kind): Kind {
    const { batch, sight, carrying } = this
    return inExpression(node, { batch, sight, carrying, columns: null })
  }

  private join(node: ast.Join, on: ast.Expression[]): ast.Join {
    if (isOuterOfRight(node))
      throw this.batch.refuse(node, `${node.type} JOIN with what depends on a parameter`)
    const left = this.place(node.left, on)
    if (node.type !== 'LEFT') {
      const right = this.place(node.right, on)
      return { ...node, left, right, on: node.on && this.resolve(node.on) }
    }
    const query = node.on && [...descendants(node.on)].find(part => part.kind === 'Query')
    if (query && depends(this.batch, query, this.sight))
      throw this.batch.refuse(query, 'a subquery in ON of a LEFT JOIN, which depends on a parameter')
    const own: ast.Expression[] = []
    const right = this.place(node.right, own)
    if (own.length > 0 && node.using.length > 0)
      throw this.batch.refuse(node, 'LEFT JOIN with USING of what depends on a parameter')
    const conditions = [...own, ...(node.on ? [this.resolve(node.on)] : [])]
    return { ...node, left, right, on: make.chain('AND', conditions) }
  }
}

/** Outside of the queries in it. */
function hasOwnParameters(node: ast.AnyNode): boolean {
  if (node.kind === 'ParameterReference') return true
  return node.kind !== 'DerivedTable' && children(node).some(hasOwnParameters)
}
