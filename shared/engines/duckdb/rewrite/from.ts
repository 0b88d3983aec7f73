/** FROM: tables, common tables, subqueries and their joins, PIVOT and UNPIVOT. Arrays are in unnest.ts. */
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
import { columnValue, mergedIn, typeOf } from './names.ts'
import { equality } from './operators.ts'
import { arrayStep, derivedRows, firstArray } from './unnest.ts'
import { quoteName, quoteText } from '../syntax.ts'
import { labelOfGroup } from '../../../sql/columns.ts'
import type { Column, RangeVariable, Source } from '../../../sql/resolve/resolution.ts'
import type { Call, From, Join, Pivot, Query, QueryBody, Unpivot } from '../../../sql/tree.ts'
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
