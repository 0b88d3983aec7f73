/** CAST, after https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_functions. */
import type { Cast, Expression } from '../../../sql/tree.ts'
import type { ScalarName, SqlType, StructType } from '../../../sql/types.ts'
import { sameType } from '../../../sql/resolve/types.ts'
import { quickShapes } from '../udfs/date-casts.ts'
import { castText, duckType, quoteText } from '../syntax.ts'
import { argument, attempt } from './attempt.ts'
import { once, repeated } from './repeats.ts'
import { type Context, raise, type Scope, type Typed, typed } from './context.ts'
import { datetimeText, onEpochDay, toDatetime, toTimestamp } from './dates-and-times.ts'

type Conversion = (sql: string, to: string) => string

const plain: Conversion = (sql, to) => `CAST(${sql} AS ${to})`

/** DuckDB also reads '1.5', '1e3' and '1_000' as integers, but none as '-0x1F'. */
const wholeNumber: Conversion = sql =>
  `CAST(CASE WHEN regexp_full_match(${sql}, '\\s*[+-]?[0-9]+\\s*') THEN ${sql} WHEN regexp_full_match(${sql}, '\\s*[+-]?0[xX][0-9a-fA-F]+\\s*') THEN gsql_decimal_digits(${sql}) WHEN ${sql} IS NOT NULL THEN '?' END AS BIGINT)`

/** DuckDB also reads 'yes', 't' and '1' as true. */
const truth: Conversion = sql =>
  `(CASE WHEN lower(${sql}) = 'true' THEN true WHEN lower(${sql}) = 'false' THEN false WHEN ${sql} IS NOT NULL THEN CAST(${raise('Bad value for a cast')} AS BOOLEAN) END)`

/** Digits of a literal that its type cannot hold are refused, where a cast rounds. */
const literalShapes: Record<string, string> = {
  NUMERIC: '\\s*[+-]?(\\d{1,29}(\\.\\d{0,9}0*)?|\\.\\d{1,9}0*)([eE][+-]?\\d+)?\\s*',
}

/** Whether a literal's text has the shape that GoogleSQL takes for a NUMERIC. */
export function hasShape(text: string, type: ScalarName): boolean {
  const shape = literalShapes[type]
  return shape === undefined || new RegExp(`^(?:${shape})$`).test(text)
}

/** Common text by DuckDB, any other by a function of our own from text to microseconds. */
function timeOfText(type: keyof typeof quickShapes, other: (sql: string) => string): Conversion {
  return (sql, to) =>
    once(
      [sql],
      sql =>
        `(CASE WHEN regexp_full_match(${sql}, ${quoteText(quickShapes[type])}) THEN CAST(${sql} AS ${to}) WHEN ${sql} IS NOT NULL THEN ${other(sql)} END)`,
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
  'STRING>DATE': timeOfText('DATE', () => `CAST(${raise('Bad value for a cast')} AS DATE)`),
  'STRING>DATETIME': timeOfText('DATETIME', sql => `make_timestamp(gsql_cast_datetime(${sql}))`),
  'STRING>TIME': timeOfText('TIME', sql => `CAST(make_timestamp(gsql_cast_time(${sql})) AS TIME)`),
  'STRING>TIMESTAMP': timeOfText('TIMESTAMP', sql => `make_timestamptz(gsql_cast_timestamp(${sql}))`),
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
  'TIME>STRING': sql => datetimeText(onEpochDay(sql), '%H:%M:%S'),
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
  const size = 'size' in type && type.size
  if (type.kind === 'BIGNUMERIC' && !node.format) {
    if (size)
      throw context.unsupported(node, 'SAFE_CAST AS BIGNUMERIC(precision, scale)', 'leave the size out')
    const value = safeBignumeric(context.expression(node.operand, scope), type)
    if (value !== null) return value
  }
  const sized = (type.kind === 'STRING' || type.kind === 'BYTES') && size
  const unsized: SqlType = sized ? { kind: type.kind } : type
  const sql = attempt(scope, type, inside => castIn(context, node, unsized, inside))
  // A text that is too long is an error for SAFE_CAST too.
  return sized ? once([sql], sql => rounded(sql, type)) : sql
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

/** From what a text is made by a format, or what is read from a text: the arguments behind the format. */
const formatted: Record<string, (sql: string, zone: string, now: string) => string> = {
  'BYTES>STRING': sql => `gsql_cast_bytes_text(FORMAT, ${sql})`,
  'DATE>STRING': sql => `gsql_cast_date_text(FORMAT, epoch_us(${sql}))`,
  'DATETIME>STRING': sql => `gsql_cast_datetime_text(FORMAT, epoch_us(${sql}))`,
  'TIME>STRING': sql => `gsql_cast_time_text(FORMAT, epoch_us(${onEpochDay(sql)}))`,
  'TIMESTAMP>STRING': (sql, zone) => `gsql_cast_timestamp_text(FORMAT, epoch_us(${sql}), ${zone})`,
  'INT64>STRING': sql => `gsql_cast_decimal_text(FORMAT, CAST(${sql} AS VARCHAR))`,
  'FLOAT64>STRING': sql => `gsql_cast_float_text(FORMAT, ${sql})`,
  'NUMERIC>STRING': sql => `gsql_cast_decimal_text(FORMAT, ${trimmedDecimal(sql, 'NUMERIC')})`,
  'BIGNUMERIC>STRING': sql => `gsql_cast_decimal_text(FORMAT, ${trimmedDecimal(sql, 'BIGNUMERIC')})`,
  'STRING>BYTES': sql => `gsql_cast_text_bytes(FORMAT, ${sql})`,
  'STRING>DATE': (sql, _, now) => `CAST(make_timestamp(gsql_cast_text_date(FORMAT, ${sql}, ${now})) AS DATE)`,
  'STRING>DATETIME': (sql, _, now) => `make_timestamp(gsql_cast_text_datetime(FORMAT, ${sql}, ${now}))`,
  'STRING>TIME': (sql, _, now) => `CAST(make_timestamp(gsql_cast_text_time(FORMAT, ${sql}, ${now})) AS TIME)`,
  'STRING>TIMESTAMP': (sql, zone, now) =>
    `make_timestamptz(gsql_cast_text_timestamp(FORMAT, ${sql}, ${now}, ${zone}))`,
}

/** A cast with FORMAT and AT TIME ZONE, by `duckdb/udfs/format-model.ts`. */
function withFormat(context: Context, node: Cast, format: Expression, value: Typed, scope: Scope): string {
  const model = context.expression(format, scope).sql
  const zone = node.zone ? context.expression(node.zone, scope).sql : `'UTC'`
  const pair = `${value.type?.kind ?? 'STRING'}>${node.type.kind}`
  const now = pair.startsWith('STRING') && pair !== 'STRING>BYTES' ? `epoch_us(${context.now})` : ''
  return formatted[pair]!(value.sql, zone, now).replace('FORMAT', () => model)
}

/** A value cast to a type to which GoogleSQL casts it. */
export function convert(value: Typed, type: SqlType, safe = false): string {
  if (value.type === null) return plain(value.sql, duckType(type))
  if (isNested(value.type)) return convertNested(value, value.type, type, safe)
  const conversion = value.type.kind === type.kind ? plain : conversions[`${value.type.kind}>${type.kind}`]!
  return repeated([value.sql], sql => repeated([conversion(sql, duckType(type))], sql => rounded(sql, type)))
}

function isNested(type: SqlType): boolean {
  return type.kind === 'ARRAY' || type.kind === 'STRUCT'
}

/** An array is cast only to its own type; a struct field by field, as DuckDB does it. */
function convertNested(value: Typed, from: SqlType, to: SqlType, safe: boolean): string {
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT') {
    const parts = structParts(value, from, to, safe).join(', ')
    return `(CASE WHEN ${value.sql} IS NOT NULL THEN CAST(row(${parts}) AS ${duckType(to)}) END)`
  }
  if (from.kind !== 'ARRAY' || to.kind !== 'ARRAY' || value.empty || sameType(from, to))
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

/** NUMERIC(10, 2) rounds to its own scale; a STRING(10) or BYTES(10) is no longer. */
function rounded(sql: string, type: SqlType): string {
  const [precision, scale = 0] = ('size' in type && type.size) || []
  if (precision && (type.kind === 'STRING' || type.kind === 'BYTES')) {
    const length = type.kind === 'STRING' ? 'length' : 'octet_length'
    return `(CASE WHEN ${length}(${sql}) > ${precision} THEN CAST(${raise('Text is too long for its type')} AS ${duckType(type)}) ELSE ${sql} END)`
  }
  const decimal = type.kind === 'NUMERIC' || type.kind === 'BIGNUMERIC'
  return decimal && precision
    ? `CAST(CAST(${sql} AS DECIMAL(${precision},${scale})) AS ${duckType(type)})`
    : sql
}
