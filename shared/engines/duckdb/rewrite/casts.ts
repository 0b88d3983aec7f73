/**
 * CAST, after https://cloud.google.com/bigquery/docs/reference/standard-sql/conversion_functions.
 * A pair of types that is not here cannot be cast.
 */
import type { Cast } from '../../../sql/tree.ts'
import type { ScalarName, SqlType } from '../../../sql/types.ts'
import { typeName } from '../../values.ts'
import { castText, duckType, quoteText } from '../syntax.ts'
import { sameType } from './coercion.ts'
import { type Context, raise, type Scope, type Typed, typed } from './context.ts'
import { datetimeText, onEpochDay, toDatetime, toTimestamp } from './dates-and-times.ts'

type Conversion = (sql: string, to: string) => string

const plain: Conversion = (sql, to) => `CAST(${sql} AS ${to})`

/** DuckDB also reads '1.5', '1e3' and '1_000' as integers. */
const wholeNumber: Conversion = sql =>
  `CAST(CASE WHEN regexp_full_match(${sql}, '\\s*[+-]?([0-9]+|0[xX][0-9a-fA-F]+)\\s*') THEN ${sql} WHEN ${sql} IS NOT NULL THEN '?' END AS BIGINT)`

/** DuckDB also reads 'yes', 't' and '1' as true. */
const truth: Conversion = sql =>
  `(CASE WHEN lower(${sql}) = 'true' THEN true WHEN lower(${sql}) = 'false' THEN false WHEN ${sql} IS NOT NULL THEN CAST(${raise('Bad value for a cast')} AS BOOLEAN) END)`

const dateShape = '\\d{4}-\\d{1,2}-\\d{1,2}'
const timeShape = '([01]?\\d|2[0-3]):\\d{1,2}:\\d{1,2}(\\.\\d{0,6})?'
const zoneShape = ' ?([Zz]|[+-]\\d{1,2}(:?\\d\\d)?)| [A-Za-z_]+(/[A-Za-z0-9_+-]+)*'

const shapes: Record<string, string> = {
  DATE: dateShape,
  DATETIME: `${dateShape}([ Tt]${timeShape})?`,
  TIME: timeShape,
  TIMESTAMP: `${dateShape}([ Tt]${timeShape})?(${zoneShape})?`,
}

/** Whether a literal's text has the shape that GoogleSQL takes for dates and times. */
export function hasShape(text: string, type: ScalarName): boolean {
  const shape = shapes[type]
  return shape === undefined || new RegExp(`^(?:${shape})$`).test(text)
}

/** Text of one shape; DuckDB reads more, such as `infinity` as a date. */
function onlyText(shape: string): Conversion {
  return (sql, to) =>
    `CAST(CASE WHEN regexp_full_match(${sql}, ${quoteText(shape)}) THEN ${sql} WHEN ${sql} IS NOT NULL THEN '?' END AS ${to})`
}

const plainPairs = [
  'INT64>BOOL INT64>INT64 INT64>NUMERIC INT64>BIGNUMERIC INT64>FLOAT64 INT64>STRING',
  'NUMERIC>INT64 NUMERIC>NUMERIC NUMERIC>BIGNUMERIC NUMERIC>FLOAT64',
  'BIGNUMERIC>INT64 BIGNUMERIC>NUMERIC BIGNUMERIC>BIGNUMERIC BIGNUMERIC>FLOAT64',
  'FLOAT64>FLOAT64 FLOAT64>BIGNUMERIC BOOL>BOOL BOOL>INT64 BOOL>STRING',
  'DATE>STRING DATE>DATE DATE>DATETIME DATETIME>DATE DATETIME>DATETIME DATETIME>TIME',
]

/** By `FROM>TO`. */
export const conversions: Record<string, Conversion> = {
  ...Object.fromEntries(plainPairs.flatMap(line => line.split(' ')).map(pair => [pair, plain])),
  // Halves away from zero; DuckDB's own cast rounds them to even.
  'FLOAT64>INT64': sql => `CAST(round(${sql}) AS BIGINT)`,
  'FLOAT64>STRING': floatText,
  // By its digits: DuckDB multiplies, which rounds.
  'FLOAT64>NUMERIC': sql => `CAST(printf('%.9f', ${sql}) AS DECIMAL(38,9))`,
  'NUMERIC>STRING': sql => trimmedDecimal(sql, 'NUMERIC'),
  'BIGNUMERIC>STRING': sql => trimmedDecimal(sql, 'BIGNUMERIC'),
  'STRING>STRING': sql => sql,
  'STRING>NUMERIC': castText,
  'STRING>BIGNUMERIC': castText,
  'STRING>FLOAT64': castText,
  'STRING>DATE': onlyText(shapes['DATE']!),
  'STRING>DATETIME': onlyText(shapes['DATETIME']!),
  'STRING>TIME': onlyText(shapes['TIME']!),
  'STRING>TIMESTAMP': onlyText(shapes['TIMESTAMP']!),
  'STRING>BOOL': truth,
  'STRING>INT64': wholeNumber,
  'STRING>BYTES': sql => `encode(${sql})`,
  'BYTES>STRING': sql => `decode(${sql})`,
  'BYTES>BYTES': sql => sql,
  'JSON>JSON': sql => sql,
  'TIMESTAMP>TIMESTAMP': sql => sql,
  'TIMESTAMP>STRING': sql => `(${datetimeText(toDatetime(sql), '%Y-%m-%d %H:%M:%S')} || '+00')`,
  'TIMESTAMP>DATE': sql => `CAST(${toDatetime(sql)} AS DATE)`,
  'TIMESTAMP>DATETIME': sql => toDatetime(sql),
  'TIMESTAMP>TIME': sql => `CAST(${toDatetime(sql)} AS TIME)`,
  'DATE>TIMESTAMP': sql => toTimestamp(`CAST(${sql} AS TIMESTAMP)`),
  'DATETIME>TIMESTAMP': sql => toTimestamp(sql),
  'DATETIME>STRING': sql => datetimeText(sql, '%Y-%m-%d %H:%M:%S'),
  'TIME>TIME': sql => sql,
  'TIME>STRING': sql => datetimeText(onEpochDay(sql), '%H:%M:%S'),
}

/** 15 digits where they are enough to tell the number from its neighbours, else 17. */
export function floatText(sql: string): string {
  const [short, long] = [`printf('%.15g', ${sql})`, `printf('%.17g', ${sql})`]
  return `(CASE WHEN CAST(${short} AS DOUBLE) = ${sql} THEN ${short} ELSE ${long} END)`
}

/** Rounding leaves DuckDB's decimals with fewer places, or none: with all of them there is a point to trim to. */
export function trimmedDecimal(sql: string, kind: 'NUMERIC' | 'BIGNUMERIC'): string {
  return `rtrim(rtrim(CAST(CAST(${sql} AS ${duckType({ kind })}) AS VARCHAR), '0'), '.')`
}

export function cast(context: Context, node: Cast, scope: Scope): Typed {
  if (node.format) throw context.unsupported(node, 'CAST with FORMAT')
  const value = context.expression(node.operand, scope)
  const sql = convert(value, node.type)
  if (sql === null)
    throw context.invalid(node, `Invalid cast from ${typeName(value.type)} to ${typeName(node.type)}`)
  return typed(node.safe ? `TRY(${sql})` : sql, node.type)
}

/** A value cast to a type, or `null` where GoogleSQL has no such cast. */
export function convert(value: Typed, type: SqlType): string | null {
  if (value.type === null) return plain(value.sql, duckType(type))
  if (isNested(value.type) || isNested(type)) return convertNested(value, value.type, type)
  const conversion = conversions[`${value.type.kind}>${type.kind}`]
  return conversion ? rounded(conversion(value.sql, duckType(type)), type) : null
}

function isNested(type: SqlType): boolean {
  return type.kind === 'ARRAY' || type.kind === 'STRUCT'
}

/** An array is cast only to its own type; a struct field by field, as DuckDB does it. */
function convertNested(value: Typed, from: SqlType, to: SqlType): string | null {
  if (from.kind !== to.kind) return null
  if (from.kind === 'ARRAY' && value.origin !== 'literal' && !sameType(from, to)) return null
  if (from.kind === 'STRUCT' && to.kind === 'STRUCT' && from.fields.length !== to.fields.length) return null
  if (from.kind === 'STRUCT')
    return `(CASE WHEN ${value.sql} IS NOT NULL THEN CAST(row(${structParts(value, from).join(', ')}) AS ${duckType(to)}) END)`
  return plain(value.sql, duckType(to))
}

/** By position: DuckDB casts structs by the names of their fields. */
function structParts(value: Typed, type: SqlType): string[] {
  const fields = type.kind === 'STRUCT' ? type.fields : []
  return fields.map((field, at) => `struct_extract_at(${value.sql}, ${at + 1})`)
}

/** NUMERIC(10, 2) rounds to its own scale; other sizes are not enforced. */
function rounded(sql: string, type: SqlType): string {
  const [precision, scale = 0] = ('size' in type && type.size) || []
  const decimal = type.kind === 'NUMERIC' || type.kind === 'BIGNUMERIC'
  return decimal && precision
    ? `CAST(CAST(${sql} AS DECIMAL(${precision},${scale})) AS ${duckType(type)})`
    : sql
}
