/** Literals, parameters, and arrays and structs that are written out. */
import { nameKey } from '../../../sql/relations.ts'
import type {
  ArrayLiteral,
  Expression,
  Literal,
  ParameterReference,
  StructLiteral,
  Tuple,
  TypedLiteral,
} from '../../../sql/tree.ts'
import type { ScalarName, SqlType } from '../../../sql/types.ts'
import { typeName } from '../../../sql/resolve/types.ts'
import { fieldName } from '../../values.ts'
import { canonicalJson } from '../udfs/json.ts'
import { microsOf, quickShapes } from '../udfs/date-casts.ts'
import { datetimeText } from '../udfs/date-text.ts'
import { ValueError } from '../udfs/udf.ts'
import { duckType, quoteText } from '../syntax.ts'
import { hasShape } from './casts.ts'
import { coerce, unify } from './coercion.ts'
import { arrayOf, type Context, type Scope, structOf, type Typed, typed } from './context.ts'

const literals: Record<Literal['literal'], (node: Literal) => Typed> = {
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

/** Its `origin` lets it be coerced more freely than a column of its type. Throws SqlError for an integer of over 64 bits. */
export function literal(context: Context, node: Literal): Typed {
  if (node.literal === 'INTEGER') checkInteger(context, node, BigInt(node.text))
  const value = { ...literals[node.literal](node), origin: 'literal' as const }
  if (node.literal !== 'STRING') return value
  const readAs = (type: ScalarName) => {
    const text = readText(node.value, type)
    if (text !== null) return quoteText(text)
    throw context.invalid(node, `Could not cast this literal to type ${type}: ${formOf(type)}`)
  }
  return { ...value, readAs }
}

/** An integer literal with the sign before it. Throws SqlError for one of over 64 bits. */
export function signedInteger(context: Context, node: Literal): Typed {
  const value = -BigInt(node.text)
  checkInteger(context, node, value)
  return { ...integer(value), origin: 'literal' }
}

function checkInteger(context: Context, node: Literal, value: bigint): void {
  if (BigInt.asIntN(64, value) === value) return
  const range = value < 0n ? 'under -9223372036854775808' : 'over 9223372036854775807'
  throw context.invalid(node, `Invalid integer literal: it is ${range}; write NUMERIC '...' with its digits`)
}

/** How a literal of a type is written, for messages. */
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

/** The text of a literal of a type as DuckDB reads it; `null` for one that has no such value. */
function readText(text: string, type: ScalarName): string | null {
  try {
    if (type === 'JSON') return canonicalJson(text)
    if (type !== 'DATE' && type !== 'DATETIME' && type !== 'TIME' && type !== 'TIMESTAMP')
      return hasShape(text, type) ? text : null
    const written = datetimeText(microsOf(type, text))
    if (new RegExp(`^(?:${quickShapes[type]})$`).test(text)) return text
    return type === 'TIME' ? written.slice(11) : type === 'TIMESTAMP' ? `${written}Z` : written
  } catch (error) {
    if (error instanceof ValueError) return null
    throw error
  }
}

/** `TIMESTAMP '2026-11-14'` and the like; without a zone it is UTC. Throws SqlError for text of another shape. */
export function typedLiteral(context: Context, node: TypedLiteral): Typed {
  const text = readText(node.value.value, node.type)
  if (text === null) throw context.invalid(node, `Invalid ${node.type} literal: ${formOf(node.type)}`)
  const value = node.type === 'BIGNUMERIC' ? `gsql_bignumeric(${quoteText(text)})` : quoteText(text)
  return typed(`CAST(${value} AS ${duckType({ kind: node.type })})`, node.type)
}

/** A parameter is bound as text (see values.ts); its prefix keeps it apart from `$now`. */
export function parameter(context: Context, node: ParameterReference): Typed {
  const name = node.name.toLowerCase()
  const type = context.parameters.get(name)
  if (!type) throw context.invalid(node, `Query parameter '${node.name}' not found`)
  return { ...typed(boundValue(`$p_${name}`, type), type), origin: 'parameter' }
}

/** A value of that type, in DuckDB SQL, out of its text as `boundText` makes it. */
export function boundValue(sql: string, type: SqlType): string {
  const [kind, duck] = [type.kind, duckType(type)]
  if (kind === 'JSON') return `CAST(gsql_json_rounded(${sql}) AS JSON)`
  if (kind === 'BYTES') return `from_base64(CAST(${sql} AS VARCHAR))`
  if (kind !== 'ARRAY' && kind !== 'STRUCT') return `CAST(${sql} AS ${duck})`
  const read = `CAST(CAST(${sql} AS JSON) AS ${duckType(withTextForBytes(type))})`
  return hasBytes(type) ? `CAST(${read} AS ${duck})` : read
}

/** From JSON, bytes are read as text, which is then cast. */
function withTextForBytes(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return arrayOf(withTextForBytes(type.element))
  if (type.kind === 'BYTES') return { kind: 'STRING' }
  if (type.kind !== 'STRUCT') return type
  return { ...type, fields: type.fields.map(field => ({ ...field, type: withTextForBytes(field.type) })) }
}

function hasBytes(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return hasBytes(type.element)
  return type.kind === 'BYTES' || (type.kind === 'STRUCT' && type.fields.some(field => hasBytes(field.type)))
}

/**
 * Elements are coerced to the type that is written, or to their common one.
 * Throws SqlError where that fails, and for arrays as elements.
 */
export function arrayLiteral(context: Context, node: ArrayLiteral, scope: Scope): Typed {
  const items = context.expressions(node.items, scope)
  const element = node.type?.kind === 'ARRAY' ? node.type.element : node.type
  if (element) {
    const cast = items.map((item, at) => itemAs(context, node.items[at]!, item, element))
    return typed(`CAST([${cast.join(', ')}] AS ${duckType(arrayOf(element))})`, arrayOf(element))
  }
  const common = unify(items)
  if (!common) throw context.invalid(node, 'Array elements have no common type')
  if (common.type?.kind === 'ARRAY')
    throw context.invalid(node, 'An array cannot hold arrays: put each into a STRUCT')
  const sql = `[${common.values.map(item => item.sql).join(', ')}]`
  return { ...typed(sql, arrayOf(common.type)), origin: 'literal', empty: items.length === 0 }
}

function itemAs(context: Context, node: Expression, item: Typed, type: SqlType): string {
  const value = coerce(item, type)
  if (!value) throw context.invalid(node, `A value of type ${typeName(item.type)} is not a ${typeName(type)}`)
  return value.sql
}

/**
 * A field's name is that in the type that is written, else the alias, else that of the column.
 * Throws SqlError for values that do not fit the type, UnsupportedError for no field or two of one name.
 */
export function structLiteral(context: Context, node: StructLiteral, scope: Scope): Typed {
  const names = node.items.map((item, at) => {
    const { expression } = item
    const implied = expression.kind === 'Path' ? expression.parts.at(-1)!.name : null
    return node.type ? (node.type.fields[at]?.name ?? null) : (item.alias?.name ?? implied)
  })
  const values = context.expressions(
    node.items.map(item => item.expression),
    scope,
  )
  if (!node.type) return struct(context, node, names, values)
  const { fields } = node.type
  if (fields.length !== values.length) throw context.invalid(node, 'STRUCT has not as many values as fields')
  const cast = values.map((value, at) =>
    typed(itemAs(context, node.items[at]!.expression, value, fields[at]!.type), fields[at]!.type),
  )
  return { ...struct(context, node, names, cast), type: node.type }
}

/** `(a, b)`, which is a STRUCT of fields without names. */
export function tuple(context: Context, node: Tuple, scope: Scope): Typed {
  const names = node.items.map(() => null)
  return struct(context, node, names, context.expressions(node.items, scope))
}

function struct(
  context: Context,
  node: StructLiteral | Tuple,
  names: (string | null)[],
  values: Typed[],
): Typed {
  if (values.length === 0) throw context.unsupported(node, 'A STRUCT without fields', 'give it one')
  const keys = new Set(names.map((name, at) => nameKey(fieldName(name, at))))
  if (keys.size < names.length)
    throw context.unsupported(node, 'A STRUCT with two fields of one name', 'name one of them with AS')
  return { ...structOf(values.map((value, at) => ({ ...value, name: names[at]! }))), fields: values }
}

/** The value of an integer literal, else `null`. */
export function literalInteger(node: Expression | undefined): number | null {
  return node?.kind === 'Literal' && node.literal === 'INTEGER' ? Number(node.text) : null
}
