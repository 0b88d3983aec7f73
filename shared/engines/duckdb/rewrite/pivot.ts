/** PIVOT and UNPIVOT as the queries that they stand for: groups with a condition in each aggregate, and rows from an array. */
import { labelOfGroup } from '../../../sql/columns.ts'
import type { Column } from '../../../sql/resolve/resolution.ts'
import type { Call, Pivot, Unpivot } from '../../../sql/tree.ts'
import { children, descendants } from '../../../sql/walk.ts'
import { quoteName, quoteText } from '../syntax.ts'
import { type Context, type FromRows, type Relation, type Scope, structSql } from './context.ts'
import { call } from './functions/calls.ts'
import { columnValue } from './names.ts'

export function pivot(context: Context, node: Pivot, input: FromRows, outer: Scope | null): Relation {
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

/** A select list in DuckDB, with a name of its own for each column. */
function selectList(context: Context, columns: readonly Column[], values: string[]) {
  const names = columns.map(({ name }) => context.uniqueName(name ?? 'f'))
  return { items: values.map((sql, at) => `${sql} AS ${quoteName(names[at]!)}`).join(', '), names }
}

export function unpivot(context: Context, node: Unpivot, input: FromRows, outer: Scope | null): Relation {
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
