/** PIVOT and UNPIVOT as the queries that they stand for: groups with a condition in each aggregate, and rows from an array. */
import { keysOfPivot, keysOfUnpivot, labelOfGroup, nameOfPivoted } from '../../../sql/columns.ts'
import type { Call, Expression, Path, Pivot, SelectColumn, Unpivot } from '../../../sql/tree.ts'
import { children, descendants } from '../../../sql/walk.ts'
import { sameType, typeName } from '../../../sql/resolve/types.ts'
import { quoteName, quoteText } from '../syntax.ts'
import { coerce } from './coercion.ts'
import {
  type Context,
  type OutputColumn,
  type Relation,
  type Scope,
  structSql,
  type Typed,
  typed,
  type VisibleColumn,
} from './context.ts'
import { isAggregate } from './functions/calls.ts'
import { columnsOf, newScope, type Source, withSource } from './scope.ts'

/** `scope` is the scope around FROM. Throws SqlError. */
export function pivot(context: Context, node: Pivot, input: Source, scope: Scope): Relation {
  const rows = rowsOf(context, node, input, scope)
  const parts = children(node).filter(child => child !== node.of)
  const query = parts.flatMap(part => [...descendants(part)]).find(({ kind }) => kind === 'Query')
  if (query) throw context.unsupported(query, 'A subquery inside PIVOT', 'select it in the query before')
  const by = context.expression(node.by, rows)
  const keys = keysOfPivot(node, columnsOf(rows.variables[0]!))
  const made = node.values.flatMap(value =>
    node.aggregates.map(aggregate => pivoted(context, node, aggregate, value, by, rows)),
  )
  const groups = keys.map((_, at) => at + 1).join(', ')
  const { items, columns } = selectList(context, [...keys, ...made])
  const sql = `SELECT ${items} FROM ${input.sql}${groups && ` GROUP BY ${groups}`}`
  return { sql, columns, valueTable: false, order: [] }
}

/** The rows that PIVOT and UNPIVOT turn, in sight of their expressions. */
function rowsOf(context: Context, node: Pivot | Unpivot, input: Source, scope: Scope): Scope {
  const [variable] = input.variables
  if (variable?.kind !== 'relation')
    throw context.invalid(node, `${node.kind.toUpperCase()} is not allowed on value tables`)
  return withSource(newScope(scope.ctes, scope.outer), input)
}

function pivoted(
  context: Context,
  { by, aggregates }: Pivot,
  aggregate: SelectColumn,
  value: SelectColumn,
  { type }: Typed,
  rows: Scope,
): VisibleColumn {
  if (!aggregate.alias && aggregates.length > 1)
    throw context.invalid(
      aggregate,
      'PIVOT with several aggregates needs a name for each: give it one with AS',
    )
  if (value.expression.kind === 'Path')
    throw context.invalid(
      value,
      `The values of PIVOT are constants: write '${value.expression.parts.at(-1)!.name}'`,
    )
  const constant = context.expression(value.expression, newScope(rows.ctes, null))
  if (type && !coerce(constant, type))
    throw context.invalid(
      value,
      `PIVOT IN list item must be type ${typeName(type)} to match the PIVOT FOR expression; found ${typeName(constant.type)}`,
    )
  const name = nameOfPivoted(aggregate, value, type?.kind === 'DATE')
  const isNamed = value.alias || (type && namedByValue.includes(type.kind))
  if (name === null || !isNamed)
    throw context.invalid(value, 'This value of PIVOT needs a name for its column: give it one with AS')
  const chosen: Expression = {
    kind: 'IsDistinctFrom',
    not: true,
    left: by,
    right: value.expression,
    at: value.at,
  }
  return { name, ...context.expression(onlyWhere(context, chosen, aggregate.expression), rows) }
}

/** The types whose values make names. */
const namedByValue: readonly string[] = ['BOOL', 'DATE', 'INT64', 'NUMERIC', 'BIGNUMERIC', 'STRING', 'STRUCT']

/** Aggregates that keep NULL, so that a row of another value would count. */
const keepNulls: readonly string[] = ['APPROX_TOP_COUNT', 'APPROX_TOP_SUM', 'ARRAY_AGG', 'ARRAY_CONCAT_AGG']

/** The aggregate over the rows that a condition chooses: for all others its argument is NULL, which it does not see. */
function onlyWhere(context: Context, condition: Expression, node: Expression): Call {
  const name = node.kind === 'Call' ? node.name.map(part => part.name.toUpperCase()).join('.') : ''
  if (node.kind !== 'Call' || node.over || !isAggregate(node) || !(node.star || node.arguments.length > 0))
    throw context.invalid(node, 'PIVOT takes an aggregate function, as in PIVOT(COUNT(*) FOR ...)')
  if (node.having || (keepNulls.includes(name) && node.nulls !== 'IGNORE'))
    throw context.invalid(
      node,
      `PIVOT takes no ${node.having ? `${name} with HAVING` : `${name} without IGNORE NULLS`}`,
    )
  const { at } = node
  const call = (name: string, ...args: Expression[]): Call => ({
    ...node,
    name: [{ name, quoted: false, at }],
    star: false,
    arguments: args,
  })
  if (node.star) return call('COUNTIF', condition)
  const [first, ...rest] = node.arguments as [Expression, ...Expression[]]
  const nothing: Expression = { kind: 'Literal', literal: 'NULL', text: 'NULL', value: '', at }
  const plain = { distinct: false, nulls: null, orderBy: [], limit: null }
  const chosen = { ...call('IF', condition, first, nothing), ...plain }
  return { ...node, arguments: [chosen, ...rest] }
}

/** A select list in DuckDB, with a name of its own for each column. */
function selectList(context: Context, columns: VisibleColumn[]): { items: string; columns: OutputColumn[] } {
  const named = columns.map(column => ({ ...column, duck: context.uniqueName(column.name ?? 'f') }))
  return {
    items: named.map(({ sql, duck }) => `${sql} AS ${quoteName(duck)}`).join(', '),
    columns: named.map(({ name, duck, type }) => ({ name, duck, type })),
  }
}

/** `scope` is the scope around FROM. Throws SqlError. */
export function unpivot(context: Context, node: Unpivot, input: Source, scope: Scope): Relation {
  const rows = rowsOf(context, node, input, scope)
  const turned = node.groups.map(group => group.columns.map(path => columnOf(context, path, rows)))
  const types = typesOfValues(context, node, turned)
  const isNumber = checkLabels(context, node)
  const names = [...node.values, node.name].map(({ name }) => name)
  const groups = node.groups.map((group, at) => {
    const label = isNumber ? group.label!.text : quoteText(group.label?.value ?? labelOfGroup(group))
    return structSql(
      [...turned[at]!.map(({ sql }) => sql), label].map((sql, at) => ({ name: `v${at}`, sql })),
    )
  })
  const keys = keysOfUnpivot(node, columnsOf(rows.variables[0]!))
  const passed = selectList(context, keys)
  const element = quoteName(context.uniqueName('u'))
  const table = quoteName(context.uniqueName('s'))
  const list = [passed.items, `UNNEST([${groups.join(', ')}]) AS ${element}`].filter(Boolean).join(', ')
  const made = names.map((name, at): VisibleColumn => {
    const type = types[at] ?? { kind: isNumber ? 'INT64' : 'STRING' }
    return { name, ...typed(`(${table}.${element}).${quoteName(`v${at}`)}`, type) }
  })
  const kept = passed.columns.map(({ name, duck, type }) => ({
    name,
    sql: `${table}.${quoteName(duck)}`,
    type,
  }))
  const { items, columns } = selectList(context, [...kept, ...made])
  const empty = made.slice(0, -1).map(({ sql }) => `${sql} IS NULL`)
  const where = node.nulls === 'INCLUDE' ? '' : ` WHERE NOT (${empty.join(' AND ')})`
  const sql = `SELECT ${items} FROM (SELECT ${list} FROM ${input.sql}) AS ${table}${where}`
  return { sql, columns, valueTable: false, order: [] }
}

function columnOf(context: Context, path: Path, rows: Scope): Typed {
  const value = context.expression(path, rows)
  if (columnsOf(rows.variables[0]!).some(({ sql }) => sql === value.sql)) return value
  throw context.invalid(path, 'UNPIVOT takes columns of its table, not their fields or other expressions')
}

/** The types of the new columns, which are those of every group. */
function typesOfValues(context: Context, node: Unpivot, turned: Typed[][]): OutputColumn['type'][] {
  const types = turned[0]!.map(({ type }) => type ?? { kind: 'INT64' as const })
  const seen = new Set<string>()
  for (const [at, group] of turned.entries()) {
    const place = node.groups[at]!
    if (group.length !== node.values.length)
      throw context.invalid(
        place,
        `UNPIVOT needs ${node.values.length} columns in each group, as many as new ones`,
      )
    for (const [column, { sql, type }] of group.entries()) {
      if (seen.has(sql)) throw context.invalid(place, 'Column names in UNPIVOT IN clause cannot be repeated')
      seen.add(sql)
      if (!sameType(type ?? { kind: 'INT64' }, types[column]!))
        throw context.invalid(
          place,
          `The columns of UNPIVOT have different types, ${typeName(types[column]!)} and ${typeName(type)}: CAST them in a subquery`,
        )
    }
  }
  return types
}

/** Labels are all texts, or all numbers. */
function checkLabels(context: Context, { groups }: Unpivot): boolean {
  const isNumber = (at: number) => groups[at]!.label?.literal === 'INTEGER'
  const other = groups.find((_, at) => isNumber(at) !== isNumber(0))
  if (other) throw context.invalid(other, 'The labels of UNPIVOT must be all texts or all numbers')
  return isNumber(0)
}
