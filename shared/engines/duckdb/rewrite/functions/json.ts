/** JSON functions, over JSON values and over strings that hold JSON. */
import type { SqlType } from '../../../../sql/types.ts'
import { castText, quoteText } from '../../syntax.ts'
import { floatText, trimmedDecimal } from '../casts.ts'
import { arrayOf, raise, structField, structSql, type Typed, typed } from '../context.ts'
import { datetimeText, toDatetime } from '../dates-and-times.ts'
import { type CallSite, type FunctionRule, type FunctionTable, named, signature } from './signature.ts'

/** The scalar at a path, as text. */
const scalarAt: FunctionRule = site => {
  const { json, path, written } = jsonArguments(site)
  const nested = `json_type(${json}, ${path}) IN ('OBJECT', 'ARRAY')`
  const scalar = written(`json_extract_string(${json}, ${path})`)
  return typed(`(CASE WHEN NOT ${nested} THEN ${scalar} END)`, 'STRING')
}

/** Any value at a path, as JSON. */
const valueAt: FunctionRule = site => {
  const { json, path, text, written } = jsonArguments(site)
  const found = `json_extract(${json}, ${path})`
  // In text, a null of JSON is NULL; as a value it stays what it is.
  return text
    ? typed(`NULLIF(${written(`CAST(${found} AS VARCHAR)`)}, 'null')`, 'STRING')
    : typed(found, 'JSON')
}

const arrayAt: FunctionRule = site => {
  const { json, path, elements, text } = jsonArguments(site)
  const found = `(CASE WHEN json_type(${json}, ${path}) = 'ARRAY' THEN json_extract(${json}, ${elements}) END)`
  return text
    ? typed(`CAST(${found} AS VARCHAR[])`, arrayOf({ kind: 'STRING' }))
    : typed(found, arrayOf({ kind: 'JSON' }))
}

const scalarArrayAt: FunctionRule = site => {
  const { json, path, elements } = jsonArguments(site)
  // With an object or an array in it, it is no array of scalars.
  const scalars = `NOT list_has_any(json_type(${json}, ${elements}), ['OBJECT', 'ARRAY'])`
  const found = `(CASE WHEN json_type(${json}, ${path}) = 'ARRAY' AND ${scalars} THEN json_extract_string(${json}, ${elements}) END)`
  return typed(found, arrayOf({ kind: 'STRING' }))
}

/** The SQL value of a JSON value of these kinds; another kind is an error, and for `lax` NULL. */
const strict = (kinds: string[], returns: 'BOOL' | 'INT64' | 'FLOAT64' | 'STRING', duck: string) =>
  signature(['JSON'], returns, json => {
    const listed = kinds.map(kind => `'${kind}'`).join(', ')
    const value = `CAST(json_extract_string(${json}, '$') AS ${duck})`
    return `(CASE WHEN json_type(${json}) IN (${listed}) THEN ${value} WHEN ${json} IS NOT NULL THEN CAST(${raise('Bad value for a cast')} AS ${duck}) END)`
  })

const lax = (returns: 'BOOL' | 'INT64' | 'FLOAT64' | 'STRING', duck: string) =>
  signature(['JSON'], returns, json => {
    const scalar = `(CASE WHEN json_type(${json}) NOT IN ('OBJECT', 'ARRAY') THEN json_extract_string(${json}, '$') END)`
    if (returns === 'INT64') return `CAST(round(TRY_CAST(${scalar} AS DECIMAL(38,9))) AS BIGINT)`
    return `TRY_CAST(${scalar} AS ${duck})`
  })

export const jsonFunctions = {
  BOOL: strict(['BOOLEAN'], 'BOOL', 'BOOLEAN'),
  FLOAT64: strict(['UBIGINT', 'BIGINT', 'DOUBLE'], 'FLOAT64', 'DOUBLE'),
  INT64: strict(['UBIGINT', 'BIGINT'], 'INT64', 'BIGINT'),
  JSON_ARRAY: jsonArray,
  JSON_EXTRACT: valueAt,
  JSON_EXTRACT_ARRAY: arrayAt,
  JSON_EXTRACT_SCALAR: scalarAt,
  JSON_EXTRACT_STRING_ARRAY: scalarArrayAt,
  JSON_OBJECT: jsonObject,
  JSON_QUERY: valueAt,
  JSON_QUERY_ARRAY: arrayAt,
  JSON_TYPE: signature(
    ['JSON'],
    'STRING',
    json =>
      `(CASE json_type(${json}) WHEN 'VARCHAR' THEN 'string' WHEN 'UBIGINT' THEN 'number' WHEN 'BIGINT' THEN 'number' WHEN 'DOUBLE' THEN 'number' ELSE lower(json_type(${json})) END)`,
  ),
  JSON_VALUE: scalarAt,
  JSON_VALUE_ARRAY: scalarArrayAt,
  LAX_BOOL: lax('BOOL', 'BOOLEAN'),
  LAX_FLOAT64: lax('FLOAT64', 'DOUBLE'),
  LAX_INT64: lax('INT64', 'BIGINT'),
  LAX_STRING: lax('STRING', 'VARCHAR'),
  PARSE_JSON: named('json', ['STRING'], 'JSON'),
  STRING: strict(['VARCHAR'], 'STRING', 'VARCHAR'),
  TO_JSON: site => typed(toJson(site.argument(0)), 'JSON'),
  TO_JSON_STRING: toJsonString,
} satisfies FunctionTable

interface JsonArguments {
  json: string
  path: string
  /** The path to the elements of the array at `path`. */
  elements: string
  /** The JSON is a STRING, and so is the result. */
  text: boolean
  /** From the text that DuckDB gives for the value at the path to that which was written there, such as 1.50 or 1e3. */
  written(found: string): string
}

function jsonArguments(site: CallSite): JsonArguments {
  const value = site.argument(0)
  const text = value.type?.kind !== 'JSON'
  if (text && value.type !== null && value.type.kind !== 'STRING') throw site.noMatch([value])
  // Text that is not JSON is NULL at every path.
  const json = text
    ? `(CASE WHEN json_valid(${value.sql}) THEN ${castText(value.sql, 'JSON')} END)`
    : value.sql
  const path = site.call.arguments.length > 1 ? jsonPath(site) : '$'
  const at = { json, path: quoteText(path), elements: quoteText(`${path}[*]`), text }
  return { ...at, written: found => (text ? numberText(value.sql, at, path, found) : found) }
}

/**
 * DuckDB writes the fractions of JSON anew. The text of a number is that behind its key which has the same value; the
 * key's place is not looked at, so an equal number in other digits behind an equal key before it would stand for it.
 */
function numberText(
  source: string,
  { json, path }: { json: string; path: string },
  at: string,
  found: string,
): string {
  const key = /\."([^"]*)"$/.exec(at)?.[1]
  if (key === undefined && at !== '$') return found
  const before = key === undefined ? '^\\s*' : `"${key.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&')}"\\s*:\\s*`
  const number = `regexp_extract(${source}, ${quoteText(`${before}(-?[0-9][0-9.eE+-]*)`)}, 1)`
  const same = `TRY_CAST(${number} AS DOUBLE) = TRY_CAST(${found} AS DOUBLE)`
  return `(CASE WHEN json_type(${json}, ${path}) = 'DOUBLE' AND ${same} THEN ${number} ELSE ${found} END)`
}

function jsonPath(site: CallSite): string {
  const path = duckJsonPath(site.literalText(site.call.arguments[1]))
  if (path === null) throw site.invalid('Invalid JSONPath')
  return path
}

function toJsonString(site: CallSite): Typed {
  const { sql, type } = site.argument(0)
  const text = jsonText(sql, type, 0)
  if (site.call.arguments.length < 2) return typed(text, 'STRING')
  return typed(`(CASE WHEN ${site.argument(1).sql} THEN ${pretty(text)} ELSE ${text} END)`, 'STRING')
}

/** With two spaces for each level, where DuckDB's has four. */
function pretty(text: string): string {
  const line = `repeat(' ', (length(l) - length(ltrim(l))) // 2) || ltrim(l)`
  return `array_to_string(list_transform(string_split(json_pretty(CAST(${text} AS JSON)), chr(10)), lambda l: ${line}), chr(10))`
}

/** Beyond these, numbers of JSON are not exact for all readers: GoogleSQL writes integers as strings. */
const exactly = (x: string) => `${x} BETWEEN -9007199254740992 AND 9007199254740992`

const quoted = (text: string) => `('"' || ${text} || '"')`

/** JSON text of scalars, as GoogleSQL writes it; of other types it is that of DuckDB. */
const scalarTexts: Partial<Record<SqlType['kind'], (sql: string) => string>> = {
  INT64: sql =>
    `(CASE WHEN ${exactly(sql)} THEN CAST(${sql} AS VARCHAR) ELSE ${quoted(`CAST(${sql} AS VARCHAR)`)} END)`,
  FLOAT64: sql =>
    `(CASE WHEN isfinite(${sql}) THEN ${floatText(sql)} WHEN isnan(${sql}) THEN '"NaN"' WHEN ${sql} > 0 THEN '"Infinity"' ELSE '"-Infinity"' END)`,
  NUMERIC: sql => decimalText(sql, trimmedDecimal(sql, 'NUMERIC')),
  BIGNUMERIC: sql => decimalText(sql, trimmedDecimal(sql, 'BIGNUMERIC')),
  // U+2028 and U+2029 end a line in JavaScript.
  STRING: sql =>
    `replace(replace(CAST(to_json(${sql}) AS VARCHAR), chr(8232), '\\u2028'), chr(8233), '\\u2029')`,
}

function decimalText(sql: string, text: string): string {
  return `(CASE WHEN ${exactly(sql)} AND ${sql} % 1 = 0 THEN ${text} ELSE ${quoted(text)} END)`
}

function jsonText(sql: string, type: SqlType | null, depth: number): string {
  return `(CASE WHEN ${sql} IS NULL THEN 'null' ELSE ${knownText(sql, type, depth)} END)`
}

/** Of a value that is not NULL. */
function knownText(sql: string, type: SqlType | null, depth: number): string {
  if (type === null) return `'null'`
  if (type.kind === 'ARRAY')
    return `('[' || array_to_string(list_transform(${sql}, lambda j${depth}: ${jsonText(`j${depth}`, type.element, depth + 1)}), ',') || ']')`
  if (type.kind !== 'STRUCT')
    return scalarTexts[type.kind]?.(sql) ?? `CAST(${toJson({ sql, type })} AS VARCHAR)`
  const fields = type.fields.map(({ name }, at) => {
    const field = structField(sql, type, at)
    return `${quoteText(`${at === 0 ? '' : ','}${JSON.stringify(name ?? '')}:`)} || ${jsonText(field.sql, field.type, depth)}`
  })
  return `('{' || ${[...fields, `'}'`].join(' || ')})`
}

function jsonArray(site: CallSite): Typed {
  const values = site.allArguments().map(toJson)
  return typed(`json_array(${values.join(', ')})`, 'JSON')
}

function jsonObject(site: CallSite): Typed {
  const values = site.allArguments()
  const odd = values.length % 2 === 1 || values.some((key, at) => at % 2 === 0 && key.type?.kind !== 'STRING')
  if (odd) throw site.noMatch(values)
  return typed(
    `json_object(${values.map((value, at) => (at % 2 === 0 ? value.sql : toJson(value))).join(', ')})`,
    'JSON',
  )
}

/** Types that JSON has no form for, as BigQuery writes them. */
const asText: Partial<Record<SqlType['kind'], (sql: string) => string>> = {
  BYTES: sql => `to_base64(${sql})`,
  DATETIME: sql => datetimeText(sql, '%Y-%m-%dT%H:%M:%S'),
  TIMESTAMP: sql => `(${datetimeText(toDatetime(sql), '%Y-%m-%dT%H:%M:%S')} || 'Z')`,
}

function toJson({ sql, type }: Typed): string {
  return `to_json(${readable(sql, type, 0)})`
}

/** A value with its bytes, dates and times as the text that BigQuery writes in JSON. */
function readable(sql: string, type: SqlType | null, depth: number): string {
  if (type === null || !needsText(type)) return sql
  if (type.kind === 'ARRAY')
    return `list_transform(${sql}, lambda j${depth}: ${readable(`j${depth}`, type.element, depth + 1)})`
  if (type.kind !== 'STRUCT') return asText[type.kind]!(sql)
  const fields = type.fields.map(({ name }, at) => {
    const field = structField(sql, type, at)
    return { name, sql: readable(field.sql, field.type, depth) }
  })
  return `(CASE WHEN ${sql} IS NOT NULL THEN ${structSql(fields)} END)`
}

function needsText(type: SqlType): boolean {
  if (type.kind === 'ARRAY') return needsText(type.element)
  return type.kind === 'STRUCT' ? type.fields.some(field => needsText(field.type)) : type.kind in asText
}

/** One step of a path: a key, bare or in quotes, or an index. DuckDB takes a `*` for a wildcard even in quotes. */
const step =
  /\.(?<bare>[^.[\]"'*\s]+)|\."(?<dotted>[^"*]*)"|\['(?<single>[^'"*]*)'\]|\["(?<double>[^"*]*)"\]|(?<index>\[\d+\])/y

/**
 * GoogleSQL's JSONPath (`$.a['b'][0]`) as DuckDB's, with every key quoted; `null` for any other text.
 * https://cloud.google.com/bigquery/docs/reference/standard-sql/json_functions#JSONPath_format
 */
function duckJsonPath(path: string): string | null {
  if (!path.startsWith('$')) return null
  let result = '$'
  for (step.lastIndex = 1; step.lastIndex < path.length;) {
    const groups = step.exec(path)?.groups
    if (!groups) return null
    const { bare, dotted, single, double, index } = groups
    result += index ?? `."${bare ?? dotted ?? single ?? double}"`
  }
  return result
}
