/** GoogleSQL to DuckDB SQL: from the syntax tree, by names and types, never by text. */
import { placeOf, SqlError } from '../../../sql/error.ts'
import { statementLimits } from '../../../sql/limits.ts'
import { parse } from '../../../sql/parser.ts'
import { nameKey, tablesOf } from '../../../sql/relations.ts'
import type { Query, QueryBody } from '../../../sql/tree.ts'
import type { Column, SqlType } from '../../../sql/types.ts'
import { fieldName } from '../../values.ts'
import { quoteName } from '../syntax.ts'
import { type Context, type OutputColumn, type Relation, structField, UnsupportedError } from './context.ts'
import { expression } from './expressions.ts'
import { query } from './query.ts'

export interface Rewritten {
  /** One DuckDB SELECT. Parameters are `$p_<name in lower case>`, and `$now` for the current time. */
  sql: string
  columns: Column[]
  /** Names of the log tables that it reads, sorted. */
  tables: string[]
  usesNow: boolean
}

/**
 * Rewrites one GoogleSQL query over `tables`, with the types of its parameters by lower-case name. `relations` has the
 * DuckDB relations of tables that are no views of the database.
 * Throws SqlError with a place: the query is not correct; or UnsupportedError: DuckDB cannot run it.
 */
export function rewrite(
  sql: string,
  tables: ReadonlyMap<string, Column[]>,
  parameters: ReadonlyMap<string, SqlType>,
  relations: ReadonlyMap<string, string> = new Map(),
): Rewritten {
  const tree = parse(sql, statementLimits)
  let names = 0
  let usesNow = false
  const context: Context = {
    tables,
    parameters,
    units: {},
    // The schema keeps a table apart from a common table of the same name.
    relationOf: table => relations.get(table) ?? `"main".${quoteName(table)}`,
    get now() {
      usesNow = true
      return 'CAST($now AS TIMESTAMPTZ)'
    },
    uniqueName: hint => `${hint}_${++names}`,
    invalid: (node, message) => new SqlError(message, placeOf(sql, node.at)),
    unsupported: (node, what, why) =>
      new UnsupportedError(
        `${what} is not supported by the local engine${why ? `: ${why}` : ''}`,
        placeOf(sql, node.at),
      ),
    query: (node, outer, ctes, sorting) => query(context, node, outer, ctes, sorting),
    expression: (node, scope) => expression(context, node, scope),
    expressions: (nodes, scope) => nodes.map(node => expression(context, node, scope)),
  }
  const relation = outputRows(context.query(tree, null, new Map()))
  const columns = namedColumns(relation.columns)
  const seen = new Set<string>()
  for (const { name } of columns) {
    if (seen.has(nameKey(name)))
      throw context.invalid(
        innermost(tree),
        `Duplicate column names in the result are not supported. Found duplicate(s): ${name}; give one another name with AS, or leave it out with * EXCEPT`,
      )
    seen.add(nameKey(name))
  }
  const read = tablesOf(tree).map(({ path }) => path.map(part => part.name).join('.'))
  return { sql: relation.sql, columns, tables: [...new Set(read)].sort(), usesNow }
}

/** Without the parentheses: those around a caller's own SQL are the endpoint's. */
function innermost({ body }: Query): QueryBody {
  return body.kind === 'QueryInParentheses' ? innermost(body.query) : body
}

/** The rows of a value table of structs are their fields. */
function outputRows(relation: Relation): Pick<Relation, 'sql' | 'columns'> {
  const [column] = relation.columns
  if (!relation.valueTable || column?.type?.kind !== 'STRUCT') return relation
  const { type } = column
  const row = `"rows".${quoteName(column.duck)}`
  const columns = type.fields.map((field, at): OutputColumn => ({
    ...field,
    duck: fieldName(field.name, at),
  }))
  const items = columns.map(({ duck }, at) => `${structField(row, type, at).sql} AS ${quoteName(duck)}`)
  return { sql: `SELECT ${items.join(', ')} FROM (${relation.sql}) AS "rows"`, columns }
}

/** Columns without a name are `f0_`, `f1_`, ... */
function namedColumns(columns: OutputColumn[]): Column[] {
  let unnamed = 0
  return columns.map(({ name, type }) => ({
    name: name ?? `f${unnamed++}_`,
    type: type ?? { kind: 'INT64' },
  }))
}
