/** Literals, parameters, and arrays and structs that are written out. */
import { nameKey } from '../../../sql/relations.ts'
import type * as ast from '../../../sql/tree.ts'
import type { ScalarName, SqlType, StructType } from '../../../sql/types.ts'
import { fieldName } from '../../values.ts'
import { canonicalJson } from '../udfs/json.ts'
import { microsOf, quickShapes } from '../udfs/date-casts.ts'
import { datetimeText } from '../udfs/date-text.ts'
import { ValueError } from '../udfs/udf.ts'
import { duckType, quoteText } from '../syntax.ts'
import { arrayOf, type Context, type Scope, structSql, type Typed, typed } from './context.ts'
import { typeIn } from './coercion.ts'

const literals: Record<ast.Literal['literal'], (node: ast.Literal) => Typed> = {
  STRING: node => typed(quoteText(node.value), 'STRING'),
  BYTES: node => typed(`unhex('${Buffer.from(node.value, 'latin1').toString('hex')}')`, 'BYTES'),
  INTEGER: node => integer(BigInt(node.text)),
  FLOAT: node => typed(`CAST('${node.text}' AS DOUBLE)`, 'FLOAT64'),
  BOOL: node => typed(node.text.toUpperCase(), 'BOOL'),
  NULL: () => typed('NULL', null),
}

function integer(value: bigint): Typed {
  return typed(`CAST(${value} AS BIGINT)`, 'INT64')
}

/** Its `origin` lets it be coerced more freely than a column of its type. */
export function literal(context: Context, node: ast.Literal): Typed {
  const value = { ...literals[node.literal](node), origin: 'literal' as const }
  if (node.literal !== 'STRING') return value
  const readAs = (type: ScalarName) => {
    const text = readText(node.value, type)
    if (text !== null) return quoteText(text)
    throw context.invalid(node, `Could not cast this literal to type ${type}: ${formOf(type)}`)
  }
  return { ...value, readAs }
}

/** An integer literal with a minus before it. */
export function negativeInteger({ text }: ast.Literal): Typed {
  return { ...integer(-BigInt(text)), origin: 'literal' }
}

const forms: Partial<Record<ScalarName, string>> = {
  DATE: "a date is written '2026-01-31'",
  DATETIME: "a date with time is written '2026-01-31 12:00:00'",
  TIME: "a time of day is written '12:00:00'",
  TIMESTAMP: "a time is written '2026-01-31 12:00:00', or with a zone '2026-01-31T12:00:00+01:00'",
  JSON: `names and texts have double quotes, as in '{"a": "b"}'`,
  NUMERIC: "a number has at most 29 digits before the point and 9 after it, as in '12.5'",
  BIGNUMERIC: "a number is written '12.5'",
}

function formOf(type: ScalarName): string {
  return forms[type] ?? 'it has another form'
}

const quick = Object.fromEntries(
  Object.entries(quickShapes).map(([type, shape]) => [type, new RegExp(`^(?:${shape})$`)]),
) as Record<keyof typeof quickShapes, RegExp>

/** Digits of a literal that its type cannot hold are refused, where a cast rounds. */
const numericShape = /^\s*[+-]?(\d{1,29}(\.\d{0,9}0*)?|\.\d{1,9}0*)([eE][+-]?\d+)?\s*$/

/** The text of a literal of a type as DuckDB reads it; `null` for one that has no such value. */
function readText(text: string, type: ScalarName): string | null {
  try {
    if (type === 'JSON') return canonicalJson(text)
    if (type !== 'DATE' && type !== 'DATETIME' && type !== 'TIME' && type !== 'TIMESTAMP')
      return type !== 'NUMERIC' || numericShape.test(text) ? text : null
    const micros = microsOf(type, text)
    if (quick[type].test(text)) return text
    const written = datetimeText(micros)
    return type === 'TIME' ? written.slice(11) : type === 'TIMESTAMP' ? `${written}Z` : written
  } catch (error) {
    if (error instanceof ValueError) return null
    throw error
  }
}

/** `TIMESTAMP '2026-11-14'` and the like; without a zone it is UTC. Throws SqlError for text of another shape. */
export function typedLiteral(context: Context, node: ast.TypedLiteral): Typed {
  const text = readText(node.value.value, node.type)
  if (text === null) throw context.invalid(node, `Invalid ${node.type} literal: ${formOf(node.type)}`)
  const value = node.type === 'BIGNUMERIC' ? `gsql_bignumeric(${quoteText(text)})` : quoteText(text)
  return typed(`CAST(${value} AS ${duckType({ kind: node.type })})`, node.type)
}

/** A parameter is bound as text (see values.ts); its prefix keeps it apart from `$now`. */
export function parameter(context: Context, node: ast.ParameterReference): Typed {
  const { type } = context.resolution.values.get(node) as { type: SqlType }
  return { ...typed(boundValue(`$p_${node.name.toLowerCase()}`, type), type), origin: 'parameter' }
}

/** A value of that type, in DuckDB SQL, out of its text as `boundText` makes it. */
export function boundValue(sql: string, type: SqlType): string {
  const [kind, duck] = [type.kind, duckType(type)]
  if (kind === 'JSON') return `CAST(gsql_json_rounded(${sql}) AS JSON)`
  if (kind === 'BYTES') return `from_base64(CAST(${sql} AS VARCHAR))`
  if (kind !== 'ARRAY' && kind !== 'STRUCT') return `CAST(${sql} AS ${duck})`
  const ofJson = duckType(withTextForBytes(type))
  const read = `CAST(CAST(${sql} AS JSON) AS ${ofJson})`
  return ofJson === duck ? read : `CAST(${read} AS ${duck})`
}

/** From JSON, bytes are read as text, which is then cast. */
function withTextForBytes(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return arrayOf(withTextForBytes(type.element))
  if (type.kind === 'BYTES') return { kind: 'STRING' }
  if (type.kind !== 'STRUCT') return type
  return { ...type, fields: type.fields.map(field => ({ ...field, type: withTextForBytes(field.type) })) }
}

export function arrayLiteral(context: Context, node: ast.ArrayLiteral, scope: Scope): Typed {
  const items = context.expressions(node.items, scope)
  const sql = `[${items.map(item => item.sql).join(', ')}]`
  const type = typeIn(context, node)!
  if (node.type) return typed(`CAST(${sql} AS ${duckType(type)})`, type)
  return { ...typed(sql, type), origin: 'literal', empty: items.length === 0 }
}

/** STRUCT(a, b), or (a, b). Throws UnsupportedError for no field or two of one name. */
export function struct(context: Context, node: ast.StructLiteral | ast.Tuple, scope: Scope): Typed {
  const items = node.items.map(item => (item.kind === 'SelectColumn' ? item.expression : item))
  const type = typeIn(context, node) as StructType
  if (items.length === 0) throw context.unsupported(node, 'A STRUCT without fields', 'give it one')
  checkFields(context, node, type.fields)
  const fields = context.expressions(items, scope)
  const sql = structSql(fields.map((field, at) => ({ name: type.fields[at]!.name, sql: field.sql })))
  return { ...typed(sql, type), fields }
}

/** Throws UnsupportedError for two fields of one name, which DuckDB's structs do not have. */
export function checkFields(
  context: Context,
  node: ast.Node,
  fields: readonly { name: string | null }[],
): void {
  const keys = new Set(fields.map(({ name }, at) => nameKey(fieldName(name, at))))
  if (keys.size < fields.length)
    throw context.unsupported(node, 'A STRUCT with two fields of one name', 'name one of them with AS')
}

/** The value of an integer literal, else `null`. */
export function literalInteger(node: ast.Expression | undefined): number | null {
  return node?.kind === 'Literal' && node.literal === 'INTEGER' ? Number(node.text) : null
}
