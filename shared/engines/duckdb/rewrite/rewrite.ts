/** GoogleSQL to DuckDB SQL, printed from the syntax tree by what the resolver found: names, types, coercions and signatures. */
import { cast } from './casts.ts'
import { applyCoercion, typeIn } from './coercion.ts'
import {
  type Context,
  raise,
  type Relation,
  type Scope,
  structField,
  typed,
  type Typed,
  UnsupportedError,
} from './context.ts'
import { extract } from './dates-and-times.ts'
import { call, caseExpression } from './functions/calls.ts'
import { intervalLiteral } from './intervals.ts'
import { arrayLiteral, literal, literalInteger, parameter, struct, typedLiteral } from './literals.ts'
import { fieldOf, jsonIndex, jsonKey, jsonKeyOf, levelOf, namesIn, path, typeOf } from './names.ts'
import { between, binary, inOperator, is, isDistinctFrom, like, likeAny, unary } from './operators.ts'
import { query } from './query.ts'
import { repeated } from './repeats.ts'
import { quoteName } from '../syntax.ts'
import { fieldName } from '../../values.ts'
import { placeOf, refusing } from '../../../sql/error.ts'
import { statementLimits } from '../../../sql/limits.ts'
import { parse } from '../../../sql/parser.ts'
import { nameKey } from '../../../sql/relations.ts'
import { isOverRows } from '../../../sql/resolve/calls.ts'
import type { Rows } from '../../../sql/resolve/resolution.ts'
import { resolve } from '../../../sql/resolve/resolve.ts'
import type * as ast from '../../../sql/tree.ts'
import type { Query, QueryBody } from '../../../sql/tree.ts'
import type { Column, SqlType, StructField } from '../../../sql/types.ts'
import { descendants, descendantsHere } from '../../../sql/walk.ts'

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
    invalid: refusing(sql),
    unsupported: (node, what, why) =>
      new UnsupportedError(
        `${what} is not supported by the local engine${why ? `: ${why}` : ''}`,
        placeOf(sql, node.at),
      ),
    query: (node, outer, sorting) => query(context, node, outer, sorting),
    bare: (node, scope) => bare(context, node, scope),
    expression: (node, scope) => applyCoercion(context, node, bare(context, node, scope)),
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

/** The rows of a value table of structs are their fields. */
function outputRows({ sql, names }: Relation, rows: Rows): { sql: string; columns: StructField[] } {
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
function namedColumns(columns: StructField[]): Column[] {
  let unnamed = 0
  return columns.map(({ name, type }) => ({ name: name ?? `f${unnamed++}_`, type }))
}

/** DuckDB SQL, which has the type that the resolver found, or what else is known of the value. */
type Printer<Kind> = (
  context: Context,
  node: Extract<ast.Expression, { kind: Kind }>,
  scope: Scope,
) => string | Typed

const printers: { [Kind in ast.Expression['kind']]: Printer<Kind> } = {
  ArrayLiteral: arrayLiteral,
  ArraySubquery: (context, node, scope) => `ARRAY(${context.query(node.query, scope).sql})`,
  Between: between,
  Binary: binary,
  Call: call,
  Case: caseExpression,
  Cast: cast,
  // As a filter of the array where the query only reads an UNNEST.
  Exists: (context, node, scope) =>
    someElement(context, node.query, scope) ?? `EXISTS(${context.query(node.query, scope).sql})`,
  Extract: extract,
  FieldAccess: (context, node, scope) => fieldOf(context.expression(node.of, scope), node.field),
  In: inOperator,
  IntervalLiteral: intervalLiteral,
  Is: is,
  IsDistinctFrom: isDistinctFrom,
  Lambda(context, node) {
    throw context.unsupported(node, 'A lambda here')
  },
  Like: like,
  LikeAny: likeAny,
  Literal: literal,
  NamedArgument(context, node) {
    throw context.unsupported(node, `A named argument (${node.name.name} =>)`)
  },
  ParameterReference: parameter,
  Parenthesized: (context, node, scope) => context.expression(node.expression, scope),
  Path: pathOrTime,
  ScalarSubquery: (context, node, scope) => `(${context.query(node.query, scope).sql})`,
  StructLiteral: struct,
  Subscript: subscript,
  Tuple: struct,
  TypedLiteral: typedLiteral,
  Unary: unary,
  WithExpression: withExpression,
}

/** An expression in DuckDB SQL, of its own type. Throws UnsupportedError for what DuckDB cannot do. */
function bare(context: Context, node: ast.Expression, scope: Scope): Typed {
  const key = context.keys.expressions.get(node)
  const print = printers[node.kind] as Printer<ast.Expression['kind']>
  const printed = key ?? print(context, node, scope)
  return typeof printed === 'string' ? typed(printed, typeIn(context, node)) : printed
}

/**
 * A short value stands wherever its name does. A long one is a column of a subquery, as values of values would grow exponentially;
 * but one of many rows is of the query that it stands in.
 */
function withExpression(context: Context, node: ast.WithExpression, scope: Scope): Typed {
  const isOfRows = [...descendantsHere(node)].some(isOverRows)
  const columns: string[] = []
  for (const item of node.variables) {
    const { sql, type } = context.expression(item.expression, scope)
    if (isOfRows && sql.length > 100 * longestValue)
      throw context.unsupported(node, 'WITH of so many aggregates', 'compute them in a query inside')
    if (isOfRows || sql.length < longestValue) context.items.set(item, typed(sql, type))
    else {
      const name = quoteName(context.uniqueName('v'))
      context.items.set(item, typed(name, type))
      columns.push(`(SELECT ${sql} AS ${name})`)
    }
  }
  const { sql, type } = context.expression(node.body, scope)
  return typed(
    columns.reduceRight((body, column) => `(SELECT ${body} FROM ${column})`, sql),
    type,
  )
}

/** In characters of DuckDB SQL. */
const longestValue = 500

/** CURRENT_TIMESTAMP and its like are calls without parentheses where nothing else has their name. */
function pathOrTime(context: Context, node: ast.Path, scope: Scope): string | Typed {
  const reference = context.resolution.paths.get(node)
  if (reference) return path(context, node, reference, scope)
  const inside = { arguments: [], distinct: false, star: false, nulls: null, having: null, orderBy: [] }
  const time: ast.Call = { kind: 'Call', name: node.parts, ...inside, limit: null, over: null, at: node.at }
  return typed(call(context, time, scope).sql, typeIn(context, node))
}

/** `array[OFFSET(n)]` and the like, `json['key']`, and a STRUCT's field by its position. */
function subscript(context: Context, node: ast.Subscript, scope: Scope): string | Typed {
  const of = context.expression(node.of, scope)
  const { type } = of
  if (type?.kind === 'STRUCT')
    return structField(of.sql, type, literalInteger(node.index)! - (node.mode === 'ORDINAL' ? 1 : 0))
  const { sql: index, type: indexType } = context.expression(node.index, scope)
  if (type?.kind !== 'JSON')
    return repeated([of.sql, index], (array, index) => `(${array})[${position(node, array, index)}]`)
  if (node.index.kind === 'Literal' && node.index.literal === 'STRING')
    return `json_extract(${of.sql}, ${jsonKey(node.index.value)})`
  const key = indexType?.kind === 'INT64' ? jsonIndex : jsonKeyOf
  return repeated([of.sql, index], (json, index) => `json_extract(${json}, ${key(index)})`)
}

/** DuckDB counts from 1, from the end for negative numbers, and gives NULL where there is no element. */
function position(node: ast.Subscript, array: string, index: string): string {
  const ordinal = node.mode === 'ORDINAL' || node.mode === 'SAFE_ORDINAL'
  // The largest integers have none after them.
  const at = ordinal
    ? index
    : (literalInteger(node.index) ?? Infinity) < 2 ** 31
      ? `(${index} + 1)`
      : `(${index} + CASE WHEN ${index} < ${2 ** 31} THEN 1 ELSE 0 END)`
  if (node.mode?.startsWith('SAFE_')) return `CASE WHEN ${at} > 0 THEN ${at} END`
  return `CASE WHEN ${at} < 1 OR ${at} > len(${array}) THEN ${raise('Array index is out of bounds')} ELSE ${at} END`
}

/**
 * `EXISTS (SELECT ... FROM UNNEST(array) AS x WHERE condition)` as a filter of the array, twenty times as fast as the
 * join that DuckDB makes of it; `null` for any other query.
 */
function someElement(context: Context, query: ast.Query, scope: Scope): string | null {
  const { body } = query
  if (query.with || query.limit || query.offset || body.kind !== 'Select') return null
  const { from, where } = body
  const plain = !body.groupBy && !body.having && !body.qualify && !body.as && body.windows.length === 0
  if (!plain || from?.kind !== 'UnnestReference' || from.offset || !where) return null
  if ([where, ...body.items].some(needsQuery)) return null
  const own = context.resolution.sources.get(from)!
  const inner: Scope = { own, outer: scope }
  const inCondition = levels(context, where, inner)
  inCondition.delete(inner)
  // A lambda of DuckDB sees the columns of the query that it stands in, and of no other.
  if ([...inCondition].some(level => level !== scope)) return null
  if (new Set([...levels(context, from.array, scope), ...inCondition]).size > 1) return null
  const array = context.expression(from.array, scope)
  if (array.type === null) return null
  const element = quoteName(context.uniqueName('x'))
  const column = own.variables[0]!.element!
  context.columns.set(column, typed(element, typeOf(column)))
  const condition = context.expression(where, inner).sql
  return `COALESCE(len(list_filter(${array.sql}, lambda ${element}: ${condition})) > 0, false)`
}

/** The queries whose columns are named; `null` stands for that of names that are no columns. */
function levels(context: Context, expression: ast.Expression, scope: Scope): Set<Scope | null> {
  return new Set(namesIn(context, expression).map(path => levelOf(context, path, scope)))
}

function needsQuery(node: ast.AnyNode): boolean {
  return [...descendants(node)].some(inner => inner.kind === 'Query' || isOverRows(inner))
}
