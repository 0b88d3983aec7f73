/** CAST, after https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_functions. */
import type { Cast, Expression } from '../../../sql/tree.ts'
import { hasSize, type SqlType, type StructType } from '../../../sql/types.ts'
import { sameType } from '../../../sql/resolve/types.ts'
import { quickShapes } from '../udfs/date-casts.ts'
import { castText, duckType, quoteText } from '../syntax.ts'
import { argument, once, repeated, safe } from './repeats.ts'
import { type Context, raise, type Scope, type Typed, typed } from './context.ts'
import {
  asDatetime,
  datetimeText,
  ofMicros,
  type TimeType,
  toDatetime,
  toMicros,
  toTimestamp,
} from './dates-and-times.ts'

type Conversion = (sql: string, to: string) => string

const plain: Conversion = (sql, to) => `CAST(${sql} AS ${to})`

/** DuckDB also reads '1.5', '1e3' and '1_000' as integers, but none as '-0x1F'. */
const wholeNumber: Conversion = sql =>
  `CAST(CASE WHEN regexp_full_match(${sql}, '\\s*[+-]?[0-9]+\\s*') THEN ${sql} WHEN regexp_full_match(${sql}, '\\s*[+-]?0[xX][0-9a-fA-F]+\\s*') THEN CASE WHEN contains(${sql}, '-') THEN '-' ELSE '' END || CAST(CAST(regexp_replace(${sql}, '[\\s+-]+', '', 'g') AS UBIGINT) AS VARCHAR) WHEN ${sql} IS NOT NULL THEN '?' END AS BIGINT)`

/** DuckDB also reads 'yes', 't' and '1' as true. */
const truth: Conversion = sql =>
  `(CASE WHEN lower(${sql}) = 'true' THEN true WHEN lower(${sql}) = 'false' THEN false WHEN ${sql} IS NOT NULL THEN CAST(${raise('Bad value for a cast')} AS BOOLEAN) END)`

/** Common text by DuckDB, any other by a function of our own from text to microseconds. */
function timeOfText(type: TimeType): Conversion {
  return (sql, to) =>
    once(
      [sql],
      sql =>
        `(CASE WHEN regexp_full_match(${sql}, ${quoteText(quickShapes[type])}) THEN CAST(${sql} AS ${to}) WHEN ${sql} IS NOT NULL THEN ${ofMicros(type, `gsql_time('${type}', ${sql})`)} END)`,
    )
}

const plainPairs = [
  'INT64>BOOL INT64>NUMERIC INT64>BIGNUMERIC INT64>FLOAT64 INT64>STRING',
  'NUMERIC>INT64 NUMERIC>BIGNUMERIC NUMERIC>FLOAT64 BIGNUMERIC>INT64 BIGNUMERIC>NUMERIC BIGNUMERIC>FLOAT64',
  'BOOL>INT64 BOOL>STRING DATE>STRING DATE>DATETIME DATETIME>DATE DATETIME>TIME',
]

/** By `FROM>TO`. */
export const conversions: Record<string, Conversion> = {
  ...Object.fromEntries(plainPairs.flatMap(line => line.split(' ')).map(pair => [pair, plain])),
  // Halves away from zero; DuckDB's own cast rounds them to even.
  'FLOAT64>INT64': sql => `CAST(round(${sql}) AS BIGINT)`,
  'FLOAT64>STRING': floatText,
  // By its digits: DuckDB multiplies, which rounds.
  'FLOAT64>NUMERIC': sql => `gsql_numeric(${sql})`,
  'FLOAT64>BIGNUMERIC': (sql, to) => `CAST(gsql_bignumeric_of_float(${sql}) AS ${to})`,
  'NUMERIC>STRING': sql => trimmedDecimal(sql, 'NUMERIC'),
  'BIGNUMERIC>STRING': sql => trimmedDecimal(sql, 'BIGNUMERIC'),
  // DuckDB also reads '1_000'.
  'STRING>NUMERIC': (sql, to) =>
    once(
      [sql],
      sql =>
        `(CASE WHEN contains(${sql}, '_') THEN ${raise('Bad value for a cast', 'DECIMAL(38,9)')} ELSE ${castText(sql, to)} END)`,
    ),
  'STRING>BIGNUMERIC': (sql, to) => `CAST(gsql_bignumeric(${sql}) AS ${to})`,
  // And '+-1'. What is not hexadecimal is an error there.
  'STRING>FLOAT64': (sql, to) =>
    once(
      [sql],
      sql =>
        `(CASE WHEN regexp_matches(${sql}, '[xX_]|[-+]{2}') THEN gsql_hexadecimal(${sql}) ELSE ${castText(sql, to)} END)`,
    ),
  'STRING>DATE': timeOfText('DATE'),
  'STRING>DATETIME': timeOfText('DATETIME'),
  'STRING>TIME': timeOfText('TIME'),
  'STRING>TIMESTAMP': timeOfText('TIMESTAMP'),
  'STRING>BOOL': truth,
  'STRING>INT64': wholeNumber,
  'STRING>BYTES': sql => `encode(${sql})`,
  'BYTES>STRING': sql => `decode(${sql})`,
  'INTERVAL>STRING': sql => `gsql_interval_text(${sql})`,
  'STRING>INTERVAL': sql => `gsql_interval(${sql})`,
  'TIMESTAMP>STRING': sql => `(${datetimeText(toDatetime(sql), '%Y-%m-%d %H:%M:%S')} || '+00')`,
  'TIMESTAMP>DATE': sql => `CAST(${toDatetime(sql)} AS DATE)`,
  'TIMESTAMP>DATETIME': sql => toDatetime(sql),
  'TIMESTAMP>TIME': sql => `CAST(${toDatetime(sql)} AS TIME)`,
  'DATE>TIMESTAMP': sql => toTimestamp(`CAST(${sql} AS TIMESTAMP)`),
  'DATETIME>TIMESTAMP': sql => toTimestamp(sql),
  'DATETIME>STRING': sql => datetimeText(sql, '%Y-%m-%d %H:%M:%S'),
  'TIME>STRING': sql => datetimeText(asDatetime(sql, 'TIME'), '%H:%M:%S'),
}

/** A negative zero is written as zero. */
export function floatText(sql: string): string {
  return signedFloatText(`(${sql} + 0)`)
}

/** 15 digits where they are enough to tell the number from its neighbours, else 17. */
export function signedFloatText(sql: string): string {
  const [short, long] = [`printf('%.15g', ${sql})`, `printf('%.17g', ${sql})`]
  // NaN has a sign in DuckDB's text, which shows after a minus.
  return `(CASE WHEN isnan(${sql}) THEN 'nan' WHEN CAST(${short} AS DOUBLE) = ${sql} THEN ${short} ELSE ${long} END)`
}

/** Rounding leaves DuckDB's decimals with fewer places, or none: with all of them there is a point to trim to. */
export function trimmedDecimal(sql: string, kind: 'NUMERIC' | 'BIGNUMERIC'): string {
  return `rtrim(rtrim(CAST(CAST(${sql} AS ${duckType({ kind })}) AS VARCHAR), '0'), '.')`
}

/** CAST and SAFE_CAST, which gives NULL for most failures. */
export function cast(context: Context, node: Cast, scope: Scope): string {
  if (!node.safe) return castIn(context, node, node.type, scope)
  const { type } = node
  if (!('size' in type)) return safeCast(context, node, type, scope)
  // What a size does not hold is an error for SAFE_CAST too.
  return once([safeCast(context, node, { kind: type.kind }, scope)], sql => round(sql, type))
}

function safeCast(context: Context, node: Cast, type: SqlType, scope: Scope): string {
  const isBignumeric = type.kind === 'BIGNUMERIC' && !node.format
  const value = isBignumeric ? safeBignumeric(context.expression(node.operand, scope), type) : null
  return value ?? safe(scope, type, inside => castIn(context, node, type, inside))
}

/** More digits than DuckDB keeps are an error, which TRY would make NULL. */
const safeBignumerics: Record<string, (sql: string) => string> = {
  STRING: sql => `gsql_safe_bignumeric(${sql})`,
  FLOAT64: sql => `gsql_safe_bignumeric_of_float(${sql})`,
  INT64: sql => sql,
  NUMERIC: sql => sql,
  BIGNUMERIC: sql => sql,
}

function safeBignumeric({ sql, type }: Typed, to: SqlType): string | null {
  const conversion = safeBignumerics[type?.kind ?? 'INT64']
  return conversion ? `CAST(${conversion(sql)} AS ${duckType(to)})` : null
}

function castIn(context: Context, node: Cast, type: SqlType, scope: Scope): string {
  // A FLOAT64 that is written out has the digits that were written.
  const digits = type.kind.endsWith('NUMERIC') && !node.format ? floatDigits(node.operand) : null
  const value = digits === null ? argument(context, node.operand, scope) : typed(quoteText(digits), 'STRING')
  return node.format ? withFormat(context, node, node.format, value, scope) : convert(value, type, node.safe)
}

function floatDigits(node: Expression): string | null {
  // What a NUMERIC holds of the next powers of ten is only their FLOAT64s, which are less.
  if (node.kind === 'Literal' && node.literal === 'FLOAT' && Number(node.text) < 1e29) return node.text
  const digits = node.kind === 'Unary' && node.operator === '-' ? floatDigits(node.operand) : null
  return digits === null ? null : `-${digits}`
}

const formatted: Record<string, (sql: string, format: string) => string> = {
  'BYTES>STRING': (sql, format) => `gsql_cast_bytes_text(${format}, ${sql})`,
  'INT64>STRING': (sql, format) => `gsql_cast_decimal_text(${format}, CAST(${sql} AS VARCHAR))`,
  'FLOAT64>STRING': (sql, format) => `gsql_cast_float_text(${format}, ${sql})`,
  'NUMERIC>STRING': (sql, format) => `gsql_cast_decimal_text(${format}, ${trimmedDecimal(sql, 'NUMERIC')})`,
  'BIGNUMERIC>STRING': (sql, format) =>
    `gsql_cast_decimal_text(${format}, ${trimmedDecimal(sql, 'BIGNUMERIC')})`,
  'STRING>BYTES': (sql, format) => `gsql_cast_text_bytes(${format}, ${sql})`,
}

/** A cast with FORMAT and AT TIME ZONE, by `duckdb/udfs/format-model.ts`. */
function withFormat(context: Context, node: Cast, format: Expression, value: Typed, scope: Scope): string {
  const model = context.expression(format, scope).sql
  const zone = node.zone ? context.expression(node.zone, scope).sql : `'UTC'`
  const [from, to] = [value.type?.kind ?? 'STRING', node.type.kind]
  const other = formatted[`${from}>${to}`]
  if (other) return other(value.sql, model)
  if (to === 'STRING')
    return `gsql_format_model('${from}', ${model}, ${toMicros(from as TimeType, value.sql)}, ${zone})`
  const now = toMicros('TIMESTAMP', context.now)
  return ofMicros(to as TimeType, `gsql_parse_model('${to}', ${model}, ${value.sql}, ${now}, ${zone})`)
}

/** A value cast to a type to which GoogleSQL casts it. */
export function convert(value: Typed, type: SqlType, safe = false): string {
  if (value.type === null) return plain(value.sql, duckType(type))
  if (value.type.kind === 'ARRAY' || value.type.kind === 'STRUCT')
    return convertNested(value, value.type, type, safe)
  const conversion = value.type.kind === type.kind ? plain : conversions[`${value.type.kind}>${type.kind}`]!
  return repeated([value.sql], sql => repeated([conversion(sql, duckType(type))], sql => round(sql, type)))
}

/** An array is cast only to its own type; a struct field by field, as DuckDB does it. */
function convertNested(value: Typed, from: SqlType, to: SqlType, safe: boolean): string {
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT') {
    const parts = structParts(value, from, to, safe).join(', ')
    return `(CASE WHEN ${value.sql} IS NOT NULL THEN CAST(row(${parts}) AS ${duckType(to)}) END)`
  }
  if (from.kind !== 'ARRAY' || to.kind !== 'ARRAY' || value.empty || (sameType(from, to) && !hasSize(to)))
    return plain(value.sql, duckType(to))
  const element = convert(typed('e', from.element), to.element, safe)
  return `list_transform(${value.sql}, lambda e: ${element})`
}

/** By position: DuckDB casts structs by the names of their fields. A safe cast is one of each field. */
function structParts(value: Typed, from: StructType, to: StructType, safe: boolean): string[] {
  return from.fields.map((field, at) => {
    const part = typed(`struct_extract_at(${value.sql}, ${at + 1})`, field.type)
    const { type } = to.fields[at]!
    if (safe && type.kind === 'BIGNUMERIC') return safeBignumeric(part, type) ?? convert(part, type)
    const cast = convert(part, type, safe)
    return safe ? `TRY(${cast})` : cast
  })
}

/** NUMERIC(10, 2) rounds to its own scale, of which 18 places are kept; a STRING(10) or BYTES(10) is no longer. */
function round(sql: string, type: SqlType): string {
  const [precision, scale = 0] = ('size' in type && type.size) || []
  if (precision && (type.kind === 'STRING' || type.kind === 'BYTES')) {
    const length = type.kind === 'STRING' ? 'length' : 'octet_length'
    return `(CASE WHEN ${length}(${sql}) > ${precision} THEN CAST(${raise('Text is too long for its type')} AS ${duckType(type)}) ELSE ${sql} END)`
  }
  const decimal = type.kind === 'NUMERIC' || type.kind === 'BIGNUMERIC'
  if (!decimal || !precision) return sql
  const places = Math.min(scale, 18)
  const own = `DECIMAL(${Math.min(precision - scale + places, 38)},${places})`
  return `CAST(CAST(${sql} AS ${own}) AS ${duckType(type)})`
}
