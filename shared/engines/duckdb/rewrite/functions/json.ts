/**
 * JSON functions, over JSON values and over strings that hold JSON. DuckDB reads what is common; `duckdb/udfs/` reads
 * text that is cut off or damaged, and writes numbers and changed values.
 */
import type { Expression } from '../../../../sql/tree.ts'
import type { SqlType } from '../../../../sql/types.ts'
import { castText, quoteText } from '../../syntax.ts'
import { joinedBy, nullWhere, once, repeated } from '../repeats.ts'
import { floatText, trimmedDecimal } from '../casts.ts'
import { arrayOf, raise, structField, type Typed, typed } from '../context.ts'
import { datetimeText, onEpochDay, toDatetime } from '../dates-and-times.ts'
import { applyRule, type CallSite, type FunctionRule, type FunctionTable, signature } from './signature.ts'

/** JSON, of the text that one of our functions gives. */
const asJson = (text: string) => `CAST(${text} AS JSON)`

const asText = (json: string) => `CAST(${json} AS VARCHAR)`

/** The scalar at a path, as text. Numbers keep the digits that were written in text, and have those of JSON in a value. */
const scalarAt: FunctionRule = site => {
  const { value, path, steps, text } = jsonArguments(site)
  return typed(
    once([value], value => (text ? scalarInText(value, path, steps) : scalarInJson(value, path, steps))),
    'STRING',
  )
}

function scalarInText(value: string, path: string | null, steps: string): string {
  const written = `gsql_json_scalar_in(${value}, ${steps})`
  if (path === null) return written
  const json = `(CASE WHEN json_valid(${value}) THEN ${castText(value, 'JSON')} END)`
  const number = asWritten(value, path, `json_extract_string(${json}, ${path})`, written)
  return `(CASE WHEN json_valid(${value}) THEN ${scalarOfKind(json, path, number)} ELSE ${written} END)`
}

/**
 * A number as DuckDB writes it, where it stands so behind its key in the text, else as `written`. An equal number in other digits
 * behind an equal key would be taken for it.
 */
function asWritten(value: string, path: string, found: string, written: string): string {
  const key = /\."([^"]*)"'$/.exec(path)?.[1]
  if (key === undefined) return written
  const stands = ['', ' '].flatMap(blank =>
    [',', '}'].map(end => `strpos(${value}, '"${key}":${blank}' || ${found} || '${end}') > 0`),
  )
  return `(CASE WHEN ${stands.join(' OR ')} THEN ${found} ELSE ${written} END)`
}

function scalarInJson(json: string, path: string | null, steps: string): string {
  if (path === null) return `gsql_json_scalar_in(${jsonAt(json, steps)}, '[]')`
  return scalarOfKind(json, path, `gsql_json_rounded(${asText(`json_extract(${json}, ${path})`)})`)
}

/** Numbers that DuckDB may write in other digits are left to `number`. */
function scalarOfKind(json: string, path: string, number: string): string {
  const kind = `json_type(${json}, ${path})`
  return (
    `(CASE WHEN ${kind} IN ('VARCHAR', 'BOOLEAN', 'UBIGINT') THEN json_extract_string(${json}, ${path}) ` +
    `WHEN ${kind} IN ('DOUBLE', 'BIGINT') THEN ${number} END)`
  )
}

/** Any value at a path, as JSON. */
const valueAt: FunctionRule = site => {
  const { value, path, steps, text } = jsonArguments(site)
  // In text, a null of JSON is NULL; as a value it stays what it is.
  if (text)
    return typed(
      once([value], value => nullWhere(valueInText(value, path, steps), `'null'`)),
      'STRING',
    )
  return typed(path === null ? asJson(jsonAt(value, steps)) : `json_extract(${value}, ${path})`, 'JSON')
}

function valueInText(value: string, path: string | null, steps: string): string {
  const written = `gsql_json_value_in(${value}, ${steps})`
  if (path === null) return written
  const json = `(CASE WHEN json_valid(${value}) THEN ${castText(value, 'JSON')} END)`
  const plain = `json_type(${json}, ${path}) IN ('BOOLEAN', 'NULL', 'UBIGINT')`
  return `(CASE WHEN ${plain} THEN ${asText(`json_extract(${json}, ${path})`)} ELSE ${written} END)`
}

const arrayAt: FunctionRule = site => {
  const { value, path, steps, text } = jsonArguments(site)
  if (text) return typed(`gsql_json_values_in(${value}, ${steps})`, arrayOf({ kind: 'STRING' }))
  const [of, at] = path === null ? [asJson(jsonAt(value, steps)), `'$'`] : [value, path]
  const elements = `json_extract(${of}, ${at.slice(0, -1)}[*]')`
  return typed(
    `(CASE WHEN json_type(${of}, ${at}) = 'ARRAY' THEN ${elements} END)`,
    arrayOf({ kind: 'JSON' }),
  )
}

/** With an object or an array in it, it is no array of scalars. */
const scalarArrayAt: FunctionRule = site => {
  const { value, steps, text } = jsonArguments(site)
  return typed(
    `gsql_json_scalars_in(${text ? value : `gsql_json_rounded(${asText(value)})`}, ${steps})`,
    arrayOf({ kind: 'STRING' }),
  )
}

const jsonAt = (json: string, steps: string) => `gsql_json_at(${asText(json)}, ${steps})`

/** The SQL value of a JSON value of these kinds; another kind is an error. */
const strict = (kinds: string[], returns: 'BOOL' | 'FLOAT64' | 'STRING', duck: string) =>
  signature(['JSON'], returns, json => {
    const listed = kinds.map(kind => `'${kind}'`).join(', ')
    const value = `CAST(json_extract_string(${json}, '$') AS ${duck})`
    return `(CASE WHEN json_type(${json}) IN (${listed}) THEN ${value} WHEN ${json} IS NOT NULL THEN CAST(${raise('Bad value for a cast')} AS ${duck}) END)`
  })

const ofJson = (name: string, returns: 'BOOL' | 'INT64' | 'FLOAT64' | 'STRING') =>
  signature(['JSON'], returns, json => `${name}(${asText(json)})`)

/** FLOAT64(json, wide_number_mode => 'exact'). */
const float64: FunctionRule = site => {
  const mode = site.option('wide_number_mode', 'STRING', `'round'`)
  const value = applyRule(site, strict(['UBIGINT', 'BIGINT', 'DOUBLE'], 'FLOAT64', 'DOUBLE'))
  const json = site.argument(0).sql
  const exact = `gsql_json_exact_float(${asText(json)})`
  return typed(
    mode === `'round'` ? value.sql : `(CASE WHEN ${mode} = 'round' THEN ${value.sql} ELSE ${exact} END)`,
    'FLOAT64',
  )
}

/** A function that changes a JSON value at paths, each followed by so many values. */
function changing(name: string, values: 0 | 1, option?: [name: string, otherwise: string]): FunctionRule {
  return site => {
    const [first, ...rest] = site.call.arguments
    const json = site.argument(0)
    const step = 1 + values
    if (!first || rest.length === 0 || rest.length % step > 0 || (json.type && json.type.kind !== 'JSON'))
      throw site.noMatch(site.allArguments())
    const flag = option ? `, ${site.option(option[0], 'BOOL', option[1])}` : ''
    let changed = asText(json.sql)
    for (let at = 0; at < rest.length; at += step) {
      const path = pathSteps(site, rest[at]!)
      if (name === 'gsql_json_remove' && path?.length === 0)
        throw site.invalid(`The JSONPath of ${site.name} cannot be $`, rest[at])
      const value = values ? `, ${jsonOf(site.argument(at + 2))}` : ''
      changed = `${name}(${changed}, ${stepsText(path)}${value}${flag})`
    }
    return typed(asJson(changed), 'JSON')
  }
}

/** Without nulls: `JSON_STRIP_NULLS(json, path, include_arrays => TRUE, remove_empty => FALSE)`. */
function stripNulls(site: CallSite): Typed {
  const json = site.argument(0)
  const [, path, ...more] = site.call.arguments
  if ((json.type && json.type.kind !== 'JSON') || more.length > 0) throw site.noMatch(site.allArguments())
  const steps = path ? stepsText(pathSteps(site, path)) : `'[]'`
  const arrays = site.option('include_arrays', 'BOOL', 'true')
  const empty = site.option('remove_empty', 'BOOL', 'false')
  return typed(asJson(`gsql_json_strip(${asText(json.sql)}, ${steps}, ${arrays}, ${empty})`), 'JSON')
}

function parseJson(site: CallSite): Typed {
  const mode = site.option('wide_number_mode', 'STRING', `'exact'`)
  const value = site.argument(0)
  if (site.call.arguments.length > 1 || (value.type && value.type.kind !== 'STRING'))
    throw site.noMatch(site.allArguments())
  return typed(asJson(`gsql_json_parsed(${value.sql}, ${mode})`), 'JSON')
}

function toJsonValue(site: CallSite): Typed {
  const wide = site.option('stringify_wide_numbers', 'BOOL', 'false')
  const { sql, type } = site.argument(0)
  if (site.call.arguments.length > 1) throw site.noMatch(site.allArguments())
  return typed(
    asJson(
      `gsql_json_rounded(${jsonText(sql, type, wide.toLowerCase() === 'true' ? 'where wide' : 'never')})`,
    ),
    'JSON',
  )
}

/** The keys of a JSON value and of the objects in it, to a depth, in order. */
const jsonKeys: FunctionRule = site => {
  const mode = site.option('mode', 'STRING', `'strict'`)
  const depth = site.call.arguments.length > 1 ? site.argument(1).sql : 'CAST(500 AS BIGINT)'
  const value = site.argument(0)
  if ((value.type && value.type.kind !== 'JSON') || site.call.arguments.length > 2)
    throw site.noMatch(site.allArguments())
  return typed(`gsql_json_keys(${asText(value.sql)}, ${depth}, ${mode})`, arrayOf({ kind: 'STRING' }))
}

export const jsonFunctions = {
  BOOL: strict(['BOOLEAN'], 'BOOL', 'BOOLEAN'),
  FLOAT64: float64,
  INT64: ofJson('gsql_json_int64', 'INT64'),
  JSON_ARRAY: jsonArray,
  JSON_ARRAY_APPEND: changing('gsql_json_append', 1, ['append_each_element', 'true']),
  JSON_ARRAY_INSERT: changing('gsql_json_insert', 1, ['insert_each_element', 'true']),
  JSON_EXTRACT: valueAt,
  JSON_EXTRACT_ARRAY: arrayAt,
  JSON_EXTRACT_SCALAR: scalarAt,
  JSON_EXTRACT_STRING_ARRAY: scalarArrayAt,
  JSON_KEYS: jsonKeys,
  JSON_OBJECT: jsonObject,
  JSON_QUERY: valueAt,
  JSON_QUERY_ARRAY: arrayAt,
  JSON_REMOVE: changing('gsql_json_remove', 0),
  JSON_SET: changing('gsql_json_set', 1, ['create_if_missing', 'true']),
  JSON_STRIP_NULLS: stripNulls,
  JSON_TYPE: signature(
    ['JSON'],
    'STRING',
    json =>
      `(CASE json_type(${json}) WHEN 'VARCHAR' THEN 'string' WHEN 'UBIGINT' THEN 'number' WHEN 'BIGINT' THEN 'number' WHEN 'DOUBLE' THEN 'number' ELSE lower(json_type(${json})) END)`,
  ),
  JSON_VALUE: scalarAt,
  JSON_VALUE_ARRAY: scalarArrayAt,
  LAX_BOOL: ofJson('gsql_lax_bool', 'BOOL'),
  LAX_FLOAT64: ofJson('gsql_lax_float64', 'FLOAT64'),
  LAX_INT64: ofJson('gsql_lax_int64', 'INT64'),
  LAX_STRING: ofJson('gsql_lax_string', 'STRING'),
  PARSE_JSON: parseJson,
  STRING: strict(['VARCHAR'], 'STRING', 'VARCHAR'),
  TO_JSON: toJsonValue,
  TO_JSON_STRING: toJsonString,
} satisfies FunctionTable

interface JsonArguments {
  /** The first argument as it is. */
  value: string
  /** DuckDB's path, or `null` for one that DuckDB reads in another way. */
  path: string | null
  /** The path for our own functions. */
  steps: string
  /** The JSON is a STRING, and so is the result. */
  text: boolean
}

function jsonArguments(site: CallSite): JsonArguments {
  const value = site.argument(0)
  const [, node, ...more] = site.call.arguments
  const text = value.type?.kind !== 'JSON'
  if (more.length > 0 || (text && value.type !== null && value.type.kind !== 'STRING'))
    throw site.noMatch(site.allArguments())
  const path = node ? pathSteps(site, node) : []
  return { value: value.sql, path: path && duckPath(path), steps: stepsText(path), text }
}

/** The steps of a JSONPath as JSON text; NULL for a path that is NULL. */
function stepsText(steps: Step[] | null): string {
  return steps === null ? 'CAST(NULL AS VARCHAR)' : quoteText(JSON.stringify(steps))
}

/** The steps of a literal path. Throws SqlError for any other text. */
function pathSteps(site: CallSite, node: Expression): Step[] | null {
  if (node.kind === 'Literal' && node.literal === 'NULL') return null
  const legacy = site.name.startsWith('JSON_EXTRACT')
  if (node.kind !== 'Literal' && node.kind !== 'ParameterReference')
    throw site.invalid(`The JSONPath of ${site.name} must be a literal string`, node)
  const steps = stepsOf(site.literalText(node), legacy)
  if (steps === null) throw site.invalid('Invalid JSONPath: write $.key or $.list[0]', node)
  return steps
}

function toJsonString(site: CallSite): Typed {
  const { sql, type } = site.argument(0)
  const text = jsonText(sql, type, 'always')
  if (site.call.arguments.length < 2) return typed(text, 'STRING')
  const pretty = site.argument(1).sql
  return typed(
    `(CASE WHEN ${pretty} THEN gsql_json_pretty(${text}) WHEN NOT ${pretty} THEN ${text} END)`,
    'STRING',
  )
}

/** Whether numbers that not all readers of JSON hold exactly are written as strings. */
type Quoting = 'always' | 'where wide' | 'never'

/** Beyond these, numbers of JSON are not exact for all readers: GoogleSQL writes integers as strings. */
const exactly = (x: string) => `${x} BETWEEN -9007199254740992 AND 9007199254740992`

const quoted = (text: string) => `('"' || ${text} || '"')`

/** JSON text of scalars, as GoogleSQL writes it. */
const scalarTexts: Record<
  Exclude<SqlType['kind'], 'ARRAY' | 'STRUCT'>,
  (sql: string, quoting: Quoting) => string
> = {
  BIGNUMERIC: (sql, quoting) => decimalText(sql, trimmedDecimal(sql, 'BIGNUMERIC'), quoting),
  BOOL: sql => `CAST(${sql} AS VARCHAR)`,
  BYTES: sql => quoted(`to_base64(${sql})`),
  DATE: sql => quoted(`CAST(${sql} AS VARCHAR)`),
  DATETIME: sql => quoted(datetimeText(sql, '%Y-%m-%dT%H:%M:%S')),
  // In JSON a number without a point is an integer.
  FLOAT64: (sql, quoting) =>
    `(CASE WHEN isfinite(${sql}) THEN ${quoting === 'always' ? floatText(sql) : `regexp_replace(${floatText(sql)}, '^-?\\d+$', '\\0.0')`} WHEN isnan(${sql}) THEN '"NaN"' WHEN ${sql} > 0 THEN '"Infinity"' ELSE '"-Infinity"' END)`,
  INT64: (sql, quoting) => {
    const text = `CAST(${sql} AS VARCHAR)`
    return quoting === 'never' ? text : `(CASE WHEN ${exactly(sql)} THEN ${text} ELSE ${quoted(text)} END)`
  },
  INTERVAL: sql => quoted(`gsql_interval_iso(${sql})`),
  JSON: sql => `gsql_json_rounded(CAST(${sql} AS VARCHAR))`,
  NUMERIC: (sql, quoting) => decimalText(sql, trimmedDecimal(sql, 'NUMERIC'), quoting),
  // U+2028 and U+2029 end a line in JavaScript.
  STRING: sql =>
    `replace(replace(CAST(to_json(${sql}) AS VARCHAR), chr(8232), '\\u2028'), chr(8233), '\\u2029')`,
  TIME: sql => quoted(datetimeText(onEpochDay(sql), '%H:%M:%S')),
  TIMESTAMP: sql => quoted(`${datetimeText(toDatetime(sql), '%Y-%m-%dT%H:%M:%S')} || 'Z'`),
}

function decimalText(sql: string, text: string, quoting: Quoting): string {
  if (quoting === 'never') return text
  const whole =
    quoting === 'always'
      ? `${exactly(sql)} AND ${sql} % 1 = 0`
      : `CAST(gsql_numeric(CAST(${sql} AS DOUBLE)) AS DECIMAL(38,9)) = ${sql}`
  return `(CASE WHEN ${whole} THEN ${text} ELSE ${quoted(text)} END)`
}

function jsonText(sql: string, type: SqlType | null, quoting: Quoting): string {
  return repeated([sql], sql => innerText(sql, type, 0, quoting))
}

function innerText(sql: string, type: SqlType | null, depth: number, quoting: Quoting): string {
  return `(CASE WHEN ${sql} IS NULL THEN 'null' ELSE ${knownText(sql, type, depth, quoting)} END)`
}

/** Of a value that is not NULL. */
function knownText(sql: string, type: SqlType | null, depth: number, quoting: Quoting): string {
  if (type === null) return `'null'`
  if (type.kind === 'ARRAY') {
    const item = innerText(`j${depth}`, type.element, depth + 1, quoting)
    return `('[' || ${joinedBy(`list_transform(${sql}, lambda j${depth}: ${item})`, `','`)} || ']')`
  }
  if (type.kind !== 'STRUCT') return scalarTexts[type.kind](sql, quoting)
  const fields = type.fields.map(({ name }, at) => {
    const field = structField(sql, type, at)
    return `${quoteText(`${at === 0 ? '' : ','}${JSON.stringify(name ?? '')}:`)} || ${innerText(field.sql, field.type, depth, quoting)}`
  })
  return `('{' || ${[...fields, `'}'`].join(' || ')})`
}

/** JSON text of a value, where JSON is written from it again. */
function jsonOf({ sql, type }: Typed): string {
  return jsonText(sql, type, 'never')
}

function jsonArray(site: CallSite): Typed {
  const values = site.allArguments().map(jsonOf)
  return typed(
    asJson(`gsql_json_rounded('[' || ${values.length > 0 ? values.join(` || ',' || `) : `''`} || ']')`),
    'JSON',
  )
}

/** Of keys and values in turn, or of an array of keys and one of values. */
function jsonObject(site: CallSite): Typed {
  const values = site.allArguments()
  const [keys, items] = values
  if (values.length === 2 && keys!.type?.kind === 'ARRAY' && items!.type?.kind === 'ARRAY') {
    if (keys!.type.element.kind !== 'STRING') throw site.noMatch(values)
    return typed(asJson(`gsql_json_of_lists(${jsonOf(keys!)}, ${jsonOf(items!)})`), 'JSON')
  }
  const odd = values.length % 2 === 1 || values.some((key, at) => at % 2 === 0 && key.type?.kind !== 'STRING')
  if (odd) throw site.noMatch(values)
  const fields = values.map((value, at) =>
    at % 2 === 0 ? `CAST(to_json(${value.sql}) AS VARCHAR) || ':'` : jsonOf(value),
  )
  const pairs = fields.flatMap((field, at) => (at % 2 === 0 ? [`${field} || ${fields[at + 1]}`] : []))
  return typed(
    asJson(`gsql_json_rounded('{' || ${pairs.length > 0 ? pairs.join(` || ',' || `) : `''`} || '}')`),
    'JSON',
  )
}

/** A key or an index. */
type Step = string | number

/** One step of a path: a bare key, a key in quotes, or an index; JSON_EXTRACT has its quotes in brackets. */
const standardStep = /\.(?<bare>[^.[\]"'*$]+)|\."(?<quoted>(?:[^"\\]|\\.)*)"|\[\s*(?<index>-?\d+)\s*\]/y
const legacyStep = /\.(?<bare>[^.[\]"'*$]+)|\['(?<quoted>(?:[^'\\]|\\.)*)'\]|\[\s*(?<index>-?\d+)\s*\]/y

/**
 * The steps of a JSONPath; `null` for any other text.
 * https://cloud.google.com/bigquery/docs/reference/standard-sql/json_functions#JSONPath_format
 */
function stepsOf(path: string, legacy: boolean): Step[] | null {
  if (!path.startsWith('$')) return null
  const step = legacy ? legacyStep : standardStep
  const steps: Step[] = []
  for (step.lastIndex = 1; step.lastIndex < path.length;) {
    const groups = step.exec(path)?.groups
    if (!groups) return null
    const { bare, quoted, index } = groups
    steps.push(index === undefined ? (bare ?? quoted!.replace(/\\(.)/gs, '$1')) : Number(index))
  }
  return steps
}

/**
 * The path as DuckDB's, every key in quotes; `null` where DuckDB reads it in another way: a `*` is a wildcard even in quotes,
 * negative indexes count from the end, those of more than 31 bits are none, and digits are no index of an array.
 */
function duckPath(steps: Step[]): string | null {
  const strange = (step: Step) =>
    typeof step === 'number' ? step < 0 || step >= 2 ** 31 : /^(\d*|.*[*"\\].*)$/s.test(step)
  if (steps.some(strange)) return null
  return quoteText(`$${steps.map(step => (typeof step === 'number' ? `[${step}]` : `."${step}"`)).join('')}`)
}
