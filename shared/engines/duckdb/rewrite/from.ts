/** FROM: tables, common tables, subqueries, arrays and their joins, PIVOT and UNPIVOT. */
import { coerce, commonOf } from './coercion.ts'
import {
  type Context,
  type FromRows,
  type Relation,
  type Scope,
  structSql,
  typed,
  type Typed,
} from './context.ts'
import { call } from './functions/calls.ts'
import { columnValue, mergedIn, noRows, typeOf } from './names.ts'
import { equality } from './operators.ts'
import { quoteName, quoteText } from '../syntax.ts'
import { labelOfGroup } from '../../../sql/columns.ts'
import type { Column, RangeVariable, Source } from '../../../sql/resolve/resolution.ts'
import type { Call, Expression, From, Join, Pivot, Query, QueryBody, Unpivot } from '../../../sql/tree.ts'
import { children, descendants } from '../../../sql/walk.ts'

/**
 * Whether a query takes the first rows. In FROM such a query is computed by itself: DuckDB filters rows below a LIMIT by what they
 * are joined with above it, so that others are the first (https://github.com/duckdb/duckdb/pull/22963, not in 1.5.5).
 */
export function isCut({ body, limit, offset }: Query): boolean {
  return limit !== null || offset !== null || isCutIn(body)
}

function isCutIn(body: QueryBody): boolean {
  if (body.kind === 'Select') return false
  return body.kind === 'SetOperation' ? [body.left, body.right].some(isCutIn) : isCut(body.query)
}

/** Prints FROM, and notes where its columns stand. `outer` is the scope of the query around. */
export function fromClause(context: Context, node: From, outer: Scope | null): FromRows {
  const source = context.resolution.sources.get(node)!
  switch (node.kind) {
    case 'Join':
      return join(context, node, source, outer)
    case 'JoinInParentheses':
      return fromClause(context, node.join, outer)
    case 'DerivedTable': {
      const relation = context.query(node.query, outer, 'deferred')
      const first = quoteName(context.uniqueName('first'))
      // DuckDB materializes nothing that names columns of a query around it.
      const sql =
        isCut(node.query) && !outer
          ? `WITH ${first} AS MATERIALIZED (${relation.sql}) SELECT * FROM ${first}`
          : relation.sql
      return table(context, source, `(${sql})`, relation)
    }
    case 'Pivot':
    case 'Unpivot': {
      const input = fromClause(context, node.of, outer)
      const relation =
        node.kind === 'Pivot' ? pivot(context, node, input, outer) : unpivot(context, node, input, outer)
      return table(context, source, `(${relation.sql})`, relation)
    }
    case 'UnnestReference':
      return firstArray(context, source, outer)
    case 'TableReference': {
      const kind = context.resolution.tables.get(node)!
      const rows = context.resolution.rows.get(node)!
      if (kind === 'array') return firstArray(context, source, outer)
      const common = context.common.get(rows)
      if (common) return table(context, source, quoteName(common.table), common)
      const name = node.path.map(part => part.name).join('.')
      const names = rows.columns.map(column => column.name!)
      return table(context, source, context.relationOf(name), { names, order: [] })
    }
  }
}

function table(
  context: Context,
  source: Source,
  sql: string,
  { names, order }: Pick<Relation, 'names' | 'order'>,
): FromRows {
  const [variable] = source.variables as [RangeVariable]
  const { element, columns, name } = variable
  const duck = quoteName(context.uniqueName(name ?? 't'))
  for (const [at, column] of (element ? [element] : columns).entries())
    context.columns.set(column, typed(`${duck}.${quoteName(names[at]!)}`, typeOf(column)))
  return { sql: `${sql} AS ${duck}`, joined: false, source, order: element ? [] : order }
}

function join(context: Context, node: Join, source: Source, outer: Scope | null): FromRows {
  const left = fromClause(context, node.left, outer)
  if (context.resolution.sources.get(node.right)!.ofLeft) {
    const all = arrayStep(context, node, left, outer)
    if (node.using.length === 0) return all
    const condition = using(context, node, source, { own: source, outer })
    return derivedRows(context, { ...all, source }, [], condition)
  }
  const right = fromClause(context, node.right, outer)
  const words = node.type === 'COMMA' || node.type === 'CROSS' ? 'CROSS JOIN' : `${node.type} JOIN`
  const sql = `${left.sql} ${words} ${right.joined ? `(${right.sql})` : right.sql}`
  const on = node.on
    ? context.expression(node.on, { own: source, outer }).sql
    : using(context, node, source, { own: source, outer })
  return { sql: on ? `${sql} ON ${on}` : sql, joined: true, source, order: [] }
}

/** USING as ON, and each of its columns once, from the side that has it. */
function using(context: Context, node: Join, { merged }: Source, scope: Scope): string {
  const own = merged.slice(0, node.using.length)
  const conditions = own.map(column => {
    const sides = mergedIn(column).map(side => columnValue(context, side, scope))
    const common = commonOf(sides)!
    const [a, b] = sides.map(side => coerce(side, common)) as [Typed, Typed]
    const both = typed(`COALESCE(${a.sql}, ${b.sql})`, common)
    context.columns.set(column, { RIGHT: sides[1]!, FULL: both }[node.type as string] ?? sides[0]!)
    return equality(a, b)
  })
  return conditions.join(' AND ')
}

function pivot(context: Context, node: Pivot, input: FromRows, outer: Scope | null): Relation {
  const parts = children(node).filter(child => child !== node.of)
  const query = parts.flatMap(part => [...descendants(part)]).find(({ kind }) => kind === 'Query')
  if (query) throw context.unsupported(query, 'A subquery inside PIVOT', 'select it in the query before')
  const scope = { own: input.source, outer }
  const by = context.expression(node.by, scope).sql
  // For rows of another value the argument is NULL, which the aggregate does not see.
  const made = node.values.flatMap(({ expression }) => {
    const chosen = `(${by} IS NOT DISTINCT FROM ${context.expression(expression, scope).sql})`
    return node.aggregates.map(({ expression }) => call(context, expression as Call, scope, chosen).sql)
  })
  const { columns } = context.resolution.rows.get(node)!
  const keys = columns.slice(0, columns.length - made.length)
  const groups = keys.map((_, at) => at + 1).join(', ')
  const values = [...keys.map(key => columnValue(context, key, scope).sql), ...made]
  const { items, names } = selectList(context, columns, values)
  const sql = `SELECT ${items} FROM ${input.sql}${groups && ` GROUP BY ${groups}`}`
  return { sql, names, order: [] }
}

function selectList(context: Context, columns: readonly Column[], values: string[]) {
  const names = columns.map(({ name }) => context.uniqueName(name ?? 'f'))
  return { items: values.map((sql, at) => `${sql} AS ${quoteName(names[at]!)}`).join(', '), names }
}

function unpivot(context: Context, node: Unpivot, input: FromRows, outer: Scope | null): Relation {
  const scope = { own: input.source, outer }
  const groups = node.groups.map(group => {
    const { columns, label } = group
    const name = label?.literal === 'INTEGER' ? label.text : quoteText(label?.value ?? labelOfGroup(group))
    const values = [...context.expressions(columns, scope).map(({ sql }) => sql), name]
    return structSql(values.map((sql, at) => ({ name: `v${at}`, sql })))
  })
  const { columns } = context.resolution.rows.get(node)!
  const keys = columns.slice(0, columns.length - node.values.length - 1)
  const passed = selectList(
    context,
    keys,
    keys.map(key => columnValue(context, key, scope).sql),
  )
  const element = quoteName(context.uniqueName('u'))
  const table = quoteName(context.uniqueName('s'))
  const list = [passed.items, `UNNEST([${groups.join(', ')}]) AS ${element}`].filter(Boolean).join(', ')
  const made = [...node.values, node.name].map((_, at) => `(${table}.${element}).${quoteName(`v${at}`)}`)
  const kept = passed.names.map(name => `${table}.${quoteName(name)}`)
  const { items, names } = selectList(context, columns, [...kept, ...made])
  const empty = made.slice(0, -1).map(sql => `${sql} IS NULL`)
  const where = node.nulls === 'INCLUDE' ? '' : ` WHERE NOT (${empty.join(' AND ')})`
  const sql = `SELECT ${items} FROM (SELECT ${list} FROM ${input.sql}) AS ${table}${where}`
  return { sql, names, order: [] }
}

// Arrays. DuckDB plans a correlated UNNEST as a join of the table with itself, which takes up to a thousand times as long as
// UNNEST in a select list. So each array becomes one more SELECT around the source on its left:
// `(SELECT <all columns so far>, UNNEST(array) FROM <so far>)`. DuckDB itself leaves out columns that are not read.

const nothing: FromRows = { sql: '', joined: false, source: noRows, order: [] }

/** An array at the start of FROM: of a parameter, a literal, or a row of the query around this one. */
function firstArray(context: Context, source: Source, outer: Scope | null): FromRows {
  return step(context, source, nothing, lists(elementsOf(context, source, { own: noRows, outer })), false)
}

/** An array on the right of a join, most often of the rows on its left. */
function arrayStep(context: Context, node: Join, left: FromRows, outer: Scope | null): FromRows {
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
