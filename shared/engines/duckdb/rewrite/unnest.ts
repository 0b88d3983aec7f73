/**
 * Arrays in FROM. DuckDB plans a correlated UNNEST as a join of the table with itself, which takes up to a
 * thousand times as long as UNNEST in a select list. So each array becomes one more SELECT around the source on its left:
 * `(SELECT <all columns so far>, UNNEST(array) FROM <so far>)`. DuckDB itself leaves out columns that are not read.
 */
import type { Expression, Join } from '../../../sql/tree.ts'
import type { Column, RangeVariable, Source } from '../../../sql/resolve/resolution.ts'
import { descendants } from '../../../sql/walk.ts'
import { quoteName } from '../syntax.ts'
import { type Context, type FromRows, type Scope, type Typed, typed } from './context.ts'
import { columnValue, noRows, typeOf } from './names.ts'

const nothing: FromRows = { sql: '', joined: false, source: noRows, order: [] }

/** An array at the start of FROM: of a parameter, a literal, or a row of the query around this one. */
export function firstArray(context: Context, source: Source, outer: Scope | null): FromRows {
  return step(context, source, nothing, lists(elementsOf(context, source, { own: noRows, outer })), false)
}

/** An array on the right of a join, most often of the rows on its left. */
export function arrayStep(context: Context, node: Join, left: FromRows, outer: Scope | null): FromRows {
  if (node.using.length > 0 && node.type === 'LEFT')
    throw context.unsupported(node, 'A LEFT JOIN with an array of its rows and USING')
  const right = context.resolution.sources.get(node.right)!
  const elements = elementsOf(context, right, { own: left.source, outer })
  const condition = node.on && !isTrue(node.on) ? node.on : null
  if (node.type === 'LEFT') {
    const kept = condition
      ? matching(context, right, elements, condition, { own: left.source, outer })
      : lists(elements)
    return step(context, right, left, kept, true)
  }
  const all = step(context, right, left, lists(elements), false)
  if (!condition) return all
  return derivedRows(context, all, [], context.expression(condition, { own: all.source, outer }).sql)
}

function elementsOf(context: Context, { variables }: Source, scope: Scope): Typed {
  const { from } = variables[0]!.element!
  return context.expression((from as { array: Expression }).array, scope)
}

function isTrue(node: Expression): boolean {
  return node.kind === 'Literal' && node.text.toUpperCase() === 'TRUE'
}

/** An array's elements and their offsets, each a list in DuckDB. */
interface Lists {
  elements: string
  offsets: string
}

function lists({ sql }: Typed): Lists {
  return { elements: sql, offsets: `range(len(${sql}))` }
}

/** One SELECT more. With `outer`, an empty array keeps its row, with NULL for the element. */
function step(context: Context, right: Source, left: FromRows, from: Lists, outer: boolean): FromRows {
  const rows = (list: string) => {
    const kept = outer ? `CASE WHEN len(${from.elements}) > 0 THEN ${list} ELSE [NULL] END` : list
    return `UNNEST(${kept})`
  }
  const [elements, offsets] = right.variables as [RangeVariable, RangeVariable?]
  context.columns.set(elements.element!, typed(rows(from.elements), typeOf(elements.element!)))
  if (offsets) context.columns.set(offsets.element!, typed(rows(from.offsets), 'INT64'))
  const source = {
    variables: [...left.source.variables, ...right.variables],
    merged: left.source.merged,
  }
  return derivedRows(context, { ...left, source })
}

function matching(
  context: Context,
  { variables }: Source,
  array: Typed,
  condition: Expression,
  scope: Scope,
): Lists {
  const nested = [...descendants(condition)].some(inner => inner.kind === 'Query')
  if (nested)
    throw context.unsupported(condition, 'LEFT JOIN UNNEST on a subquery', 'select the subquery before')
  const [elements, offsets] = variables as [RangeVariable, RangeVariable?]
  const stands = ({ element }: RangeVariable, sql: string) =>
    context.columns.set(element!, typed(sql, typeOf(element!)))
  if (!offsets) {
    const element = quoteName(context.uniqueName('x'))
    stands(elements, element)
    const test = context.expression(condition, scope).sql
    return lists({ ...array, sql: `list_filter(${array.sql}, lambda ${element}: ${test})` })
  }
  const pair = quoteName(context.uniqueName('pair'))
  stands(elements, `(${pair}).element`)
  stands(offsets, `(${pair}).place`)
  const test = context.expression(condition, scope).sql
  const pairs = `list_transform(range(len(${array.sql})), lambda place: {element: (${array.sql})[place + 1], place: place})`
  const kept = `list_filter(${pairs}, lambda ${pair}: ${test})`
  const part = (name: string) => `list_transform(${kept}, lambda ${pair}: (${pair}).${name})`
  return { elements: part('element'), offsets: part('place') }
}

/**
 * A SELECT around FROM that passes its columns on under new names, with a condition.
 * @param added values that become columns, too
 * @returns in `added` the new names of these
 */
export function derivedRows(
  context: Context,
  { sql, source }: Pick<FromRows, 'sql' | 'source'>,
  added: string[] = [],
  where?: string,
): FromRows & { added: string[] } {
  const table = quoteName(context.uniqueName('s'))
  const items: string[] = []
  const passed = (sql: string, hint: string) => {
    const name = quoteName(context.uniqueName(hint))
    items.push(`${sql} AS ${name}`)
    return `${table}.${name}`
  }
  const scope = { own: source, outer: null }
  const columns = new Map<Column, string>()
  for (const { element, columns: all, name } of source.variables) {
    if (element) columns.set(element, name ?? 'element')
    else for (const column of all) columns.set(column, column.name ?? 'c')
  }
  for (const column of source.merged) columns.set(column, column.name ?? 'c')
  for (const [column, hint] of columns) {
    const { sql, type } = columnValue(context, column, scope)
    context.columns.set(column, typed(passed(sql, hint), type))
  }
  const names = added.map(value => passed(value, 'element'))
  const select = `SELECT ${items.join(', ')}${sql && ` FROM ${sql}`}${where ? ` WHERE ${where}` : ''}`
  return { sql: `(${select}) AS ${table}`, joined: false, source, order: [], added: names }
}
