/** GoogleSQL to DuckDB SQL, printed from the syntax tree by what the resolver found: names, types, coercions and signatures. */
import { placeOf, SqlError } from '../../../sql/error.ts'
import { statementLimits } from '../../../sql/limits.ts'
import { parse } from '../../../sql/parser.ts'
import { nameKey } from '../../../sql/relations.ts'
import type { Query, QueryBody } from '../../../sql/tree.ts'
import type { Column, SqlType } from '../../../sql/types.ts'
import type { Rows } from '../../../sql/resolve/resolution.ts'
import { resolve } from '../../../sql/resolve/resolve.ts'
import { fieldName } from '../../values.ts'
import { quoteName } from '../syntax.ts'
import { type Context, type Relation, structField, UnsupportedError } from './context.ts'
import { asCoerced } from './coercion.ts'
import { bare } from './expressions.ts'
import { typeOf } from './names.ts'
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
  const resolution = resolve(sql, tree, {
    columnsOf: table => tables.get(table),
    tables: tables.keys(),
    parameters,
  })
  if (resolution.problem) throw resolution.problem
  let names = 0
  let usesNow = false
  const context: Context = {
    resolution,
    columns: new Map(),
    items: new Map(),
    common: new Map(),
    keys: { expressions: new Map(), paths: new Map() },
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
    query: (node, outer, sorting) => query(context, node, outer, sorting),
    bare: (node, scope) => bare(context, node, scope),
    expression: (node, scope) => asCoerced(context, node, bare(context, node, scope)),
    expressions: (nodes, scope) => nodes.map(node => context.expression(node, scope)),
  }
  for (const [node, { open }] of resolution.rows)
    if (open !== null) throw context.unsupported(node, 'A query of so many columns')
  const rows = resolution.rows.get(tree)!
  const relation = outputRows(context.query(tree, null), rows)
  const columns = namedColumns(relation.columns)
  const seen = new Set<string>()
  for (const { name } of columns) {
    if (seen.has(nameKey(name))) throw context.invalid(innermost(tree), `${twice}: ${name}; ${instead}`)
    seen.add(nameKey(name))
  }
  const read = [...resolution.tables].flatMap(([{ path }, kind]) =>
    kind === 'real' ? [path.map(part => part.name).join('.')] : [],
  )
  return { sql: relation.sql, columns, tables: [...new Set(read)].sort(), usesNow }
}

const twice = 'Duplicate column names in the result are not supported. Found duplicate(s)'
const instead = 'give one another name with AS, or leave it out with * EXCEPT'

/** Without the parentheses: those around a caller's own SQL are the endpoint's. */
function innermost({ body }: Query): QueryBody {
  return body.kind === 'QueryInParentheses' ? innermost(body.query) : body
}

/** A column of the answer, which may have no name. */
interface OutputColumn {
  name: string | null
  type: SqlType
}

/** The rows of a value table of structs are their fields. */
function outputRows({ sql, names }: Relation, rows: Rows): { sql: string; columns: OutputColumn[] } {
  const columns = rows.columns.map(column => ({ name: column.name, type: typeOf(column) }))
  const type = columns[0]?.type
  if (!rows.isValue || type?.kind !== 'STRUCT') return { sql, columns }
  const row = `"rows".${quoteName(names[0]!)}`
  const items = type.fields.map(
    ({ name }, at) => `${structField(row, type, at).sql} AS ${quoteName(fieldName(name, at))}`,
  )
  return { sql: `SELECT ${items.join(', ')} FROM (${sql}) AS "rows"`, columns: type.fields }
}

/** Columns without a name are `f0_`, `f1_`, ... */
function namedColumns(columns: OutputColumn[]): Column[] {
  let unnamed = 0
  return columns.map(({ name, type }) => ({ name: name ?? `f${unnamed++}_`, type }))
}
