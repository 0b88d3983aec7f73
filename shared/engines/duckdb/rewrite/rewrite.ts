/** GoogleSQL to DuckDB SQL: from the syntax tree, by names and types, never by text. */
import { statementLimits } from '../../../sql/limits.ts'
import { parse } from '../../../sql/parser.ts'
import type { Column, SqlType } from '../../../sql/types.ts'
import { type Context, contextPlace, mistake, type OutputColumn, type Relation } from './context.ts'
import { expression } from './expressions.ts'
import { query } from './query.ts'
import { structField } from './scope.ts'
import { quoteName } from '../syntax.ts'
import { fieldName } from '../../values.ts'

export interface Rewritten {
  /** One DuckDB SELECT. Parameters are `$p_<name in lower case>`, and `$now` where the current moment is asked for. */
  sql: string
  columns: Column[]
  usesNow: boolean
}

/**
 * Rewrites one GoogleSQL query over `tables`, with the types of its parameters by lower-case name.
 * Throws SqlError with a place: the query is not correct; or UnsupportedError: DuckDB cannot do what it asks.
 */
export function rewrite(
  sql: string,
  tables: ReadonlyMap<string, Column[]>,
  parameters: ReadonlyMap<string, SqlType>,
): Rewritten {
  const context = new RewritingContext(sql, tables, parameters)
  const tree = parse(sql, statementLimits)
  const { sql: text, columns } = outputRows(context.query(tree, null, new Map()))
  const named = columnNames(columns)
  const twice = named.find(
    (column, at) => named.findIndex(({ name }) => name.toLowerCase() === column.name.toLowerCase()) < at,
  )
  if (twice)
    throw mistake(
      context,
      tree,
      `Duplicate column names in the result are not supported. Found duplicate(s): ${twice.name}`,
    )
  return { sql: text, columns: named, usesNow: context.usesNow }
}

/** The rows of a value table of structs are their fields. */
function outputRows(relation: Relation): Pick<Relation, 'sql' | 'columns'> {
  const [column] = relation.columns
  if (!relation.valueTable || column?.type?.kind !== 'STRUCT') return relation
  const columns = column.type.fields.map((field, at): OutputColumn => ({
    name: field.name,
    duck: fieldName(field.name, at),
    type: field.type,
  }))
  const row = `"rows".${quoteName(column.duck)}`
  const items = columns.map(({ duck }) => `${structField(row, duck)} AS ${quoteName(duck)}`)
  return { sql: `SELECT ${items.join(', ')} FROM (${relation.sql}) AS "rows"`, columns }
}

/** Columns without a name are `f0_`, `f1_`, ... */
function columnNames(columns: OutputColumn[]): Column[] {
  let unnamed = 0
  return columns.map(({ name, type }) => ({
    name: name ?? `f${unnamed++}_`,
    type: type ?? { kind: 'INT64' },
  }))
}

class RewritingContext implements Context {
  readonly tables: ReadonlyMap<string, Column[]>
  readonly parameters: ReadonlyMap<string, SqlType>
  readonly place: Context['place']
  usesNow = false
  private names = 0

  constructor(sql: string, tables: ReadonlyMap<string, Column[]>, parameters: ReadonlyMap<string, SqlType>) {
    this.tables = tables
    this.parameters = parameters
    this.place = contextPlace(sql)
  }

  get now(): string {
    this.usesNow = true
    return 'CAST($now AS TIMESTAMPTZ)'
  }

  fresh(hint: string): string {
    return `${hint}_${++this.names}`
  }

  query: Context['query'] = (node, outer, ctes, order) => query(this, node, outer, ctes, order)
  expression: Context['expression'] = (node, scope) => expression(this, node, scope)
}
