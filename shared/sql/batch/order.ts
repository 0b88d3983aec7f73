/** ORDER BY and LIMIT: what keys stand for in a query around the rows, and the first rows of each set. */
import { nameKey } from '../relations.ts'
import type { Column } from '../resolve/resolution.ts'
import type * as ast from '../tree.ts'
import { descendants } from '../walk.ts'
import { type Batch, prefix, setColumn } from './sets.ts'
import * as make from '../nodes.ts'

const noColumn = 'ORDER BY something that is no column with a name of its own'

/** Keys that are columns of the rows, by their names. */
export function outputKeys(batch: Batch, { body, orderBy }: ast.Query): ast.OrderItem[] {
  return orderBy.map(key => {
    const named = outputName(batch, key.expression, body)
    if (named === null) throw batch.refuse(key, noColumn)
    return { ...key, expression: make.path(named) }
  })
}

/** A key for the query around a SELECT: the name of a column, or that of one that is added to the list. */
export function keyOutside(
  batch: Batch,
  node: ast.Select,
  key: ast.OrderItem,
): { key: ast.OrderItem; added: ast.SelectColumn | null } {
  const output = outputName(batch, key.expression, node)
  if (output !== null) return { key: { ...key, expression: make.path(output) }, added: null }
  const expression = itemOf(batch, key.expression, node) ?? key.expression
  const isOfList = expression.kind === 'Literal' || readsAliases(batch, node, expression)
  if (node.distinct || isOfList) throw batch.refuse(key, noColumn)
  const name = batch.newName('k')
  return { key: { ...key, expression: make.path(name) }, added: make.item(expression, name) }
}

/** The name of the column that a key stands for by its number or name; `null` for an expression. */
function outputName(batch: Batch, key: ast.Expression, body: ast.QueryBody): string | null {
  const column = columnOf(batch, key, body)
  if (!column || column.name === null) return null
  const wanted = nameKey(column.name)
  const { columns } = batch.resolution.rows.get(body)!
  const called = columns.filter(({ name }) => name !== null && nameKey(name) === wanted)
  return called.length === 1 ? column.name : null
}

function itemOf(batch: Batch, key: ast.Expression, node: ast.Select): ast.Expression | null {
  const from = columnOf(batch, key, node)?.from
  return from?.kind === 'item' ? from.item.expression : null
}

function columnOf({ resolution }: Batch, key: ast.Expression, body: ast.QueryBody): Column | null {
  const { columns, open } = resolution.rows.get(body)!
  const isName = key.kind === 'Path' && key.parts.length === 1
  const numbered = key.kind === 'Literal' && open === null ? columns[Number(key.text) - 1] : undefined
  const column = isName ? resolution.paths.get(key)?.column : numbered
  return column && columns.includes(column) ? column : null
}

function readsAliases({ resolution }: Batch, node: ast.Select, expression: ast.Expression): boolean {
  const { columns } = resolution.rows.get(node)!
  return [...descendants(expression)].some(part => {
    const column = part.kind === 'Path' ? resolution.paths.get(part)?.column : null
    return column ? columns.includes(column) : false
  })
}

/** The first rows of each set. @param orderBy by columns of `inner`; those that were added for it are left out */
export function limitBySet(
  { refuse }: Batch,
  { limit, offset }: ast.Query,
  inner: ast.Query,
  orderBy: ast.OrderItem[],
): ast.Query {
  for (const count of [limit, offset])
    if (count?.kind === 'ParameterReference') throw refuse(count, 'LIMIT or OFFSET by a parameter')
  const [most, skipped] = [limit, offset].map(count => BigInt(count?.kind === 'Literal' ? count.text : 0))
  const names = orderBy.map(({ expression }) => (expression as ast.Path).parts[0]!.name)
  const items = [
    make.star(
      null,
      names.filter(name => name.startsWith(prefix)),
    ),
  ]
  const window = make.window([make.path(setColumn)], orderBy)
  const place = make.call('ROW_NUMBER', [], window)
  const qualify = make.between(place, make.integer(skipped! + 1n), make.integer(skipped! + most!))
  // BigQuery takes QUALIFY with one of WHERE, GROUP BY and HAVING only, by its documentation.
  const where = make.bool('TRUE')
  const ranked = make.select(items, make.derivedTable(inner, `${prefix}d`), { where, qualify })
  return make.queryOf(ranked, { orderBy: orderBy.map(key => make.copy(key, () => null)) })
}
