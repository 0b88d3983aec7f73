/**
 * JSON functions, over JSON values and over strings that hold JSON. DuckDB reads what is common; `duckdb/udfs/` reads
 * text that is cut off or damaged, and writes numbers and changed values.
 */
import type { Expression } from '../../../../sql/tree.ts'
import { type Step, stepsOf } from '../../../../sql/resolve/literals.ts'
import type { SqlType } from '../../../../sql/types.ts'
import { castText, quoteText } from '../../syntax.ts'
import { joinedBy, nullWhere, once, repeated } from '../repeats.ts'
import { floatText, trimmedDecimal } from '../casts.ts'
import { raise, structField, type Typed } from '../context.ts'
import { asDatetime, datetimeText, toDatetime } from '../dates-and-times.ts'
import { type CallSite, each, type Rule, type Rules, rulesOf } from './signature.ts'

/** JSON, of the text that one of our functions gives. */
const asJson = (text: string) => `CAST(${text} AS JSON)`

const asText = (json: string) => `CAST(${json} AS VARCHAR)`

interface Place {
  /** DuckDB's JSONPath, and that of the elements there; `null` for one that DuckDB reads in another way. */
  path: string | null
  elements: string | null
  /** The steps of the path for our own functions. */
  steps: string
  last: Step | undefined
}

type AtPath = (value: string, at: Place) => string

/** A rule of a value at a path, which is `$` where none is given: in text, and in JSON. */
function at(inText: AtPath, inJson: AtPath): Rule[] {
  return [inText, inJson].map(sql => (site, value) => {
    const node = site.call.arguments[1]
    const steps = node ? pathSteps(site, node) : []
    const path = steps && duckPath(steps)
    const elements = steps && duckPath(steps, '[*]')
    return sql(value, { path, elements, steps: stepsText(steps), last: steps?.at(-1) })
  })
}

/** The same of a value that stands there several times. */
const sharing =
  (sql: AtPath): AtPath =>
  (value, at) =>
    once([value], value => sql(value, at))

function scalarInText(value: string, { path, steps, last }: Place): string {
  const written = `gsql_json_scalar_in(${value}, ${steps})`
  if (path === null) return written
  const json = `(CASE WHEN json_valid(${value}) THEN ${castText(value, 'JSON')} END)`
  const number = asWritten(value, last, `json_extract_string(${json}, ${path})`, written)
  return `(CASE WHEN json_valid(${value}) THEN ${scalarOfKind(json, path, number)} ELSE ${written} END)`
}

/**
 * A number as DuckDB writes it, where it stands so behind its key in the text, else as `written`. An equal number in other digits
 * behind an equal key would be taken for it.
 */
function asWritten(value: string, key: Step | undefined, found: string, written: string): string {
  if (typeof key !== 'string') return written
  const stands = ['', ' '].flatMap(blank =>
    [',', '}'].map(end => `strpos(${value}, ${quoteText(`"${key}":${blank}`)} || ${found} || '${end}') > 0`),
  )
  return `(CASE WHEN ${stands.join(' OR ')} THEN ${found} ELSE ${written} END)`
}

function scalarInJson(json: string, { path, steps }: Place): string {
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

/** As a value, a null of JSON stays what it is. */
function valueInJson(json: string, { path, steps }: Place): string {
  return path === null ? asJson(jsonAt(json, steps)) : `json_extract(${json}, ${path})`
}

/** In text, a null of JSON is NULL. */
function valueInText(value: string, { path, steps }: Place): string {
  const written = `gsql_json_value_in(${value}, ${steps})`
  if (path === null) return nullWhere(written, `'null'`)
  const json = `(CASE WHEN json_valid(${value}) THEN ${castText(value, 'JSON')} END)`
  const plain = `json_type(${json}, ${path}) IN ('BOOLEAN', 'NULL', 'UBIGINT')`
  const found = `(CASE WHEN ${plain} THEN ${asText(`json_extract(${json}, ${path})`)} ELSE ${written} END)`
  return nullWhere(found, `'null'`)
}

function arrayInJson(json: string, { path, elements, steps }: Place): string {
  const of = path === null ? asJson(jsonAt(json, steps)) : json
  return `(CASE WHEN json_type(${of}, ${path ?? `'$'`}) = 'ARRAY' THEN json_extract(${of}, ${elements ?? `'$[*]'`}) END)`
}

const jsonAt = (json: string, steps: string) => `gsql_json_at(${asText(json)}, ${steps})`

const values = at((text, { steps }) => `gsql_json_values_in(${text}, ${steps})`, arrayInJson)

/** With an object or an array in it, it is no array of scalars. */
const scalars = at(
  (text, { steps }) => `gsql_json_scalars_in(${text}, ${steps})`,
  (json, { steps }) => `gsql_json_scalars_in(gsql_json_rounded(${asText(json)}), ${steps})`,
)

/** The DuckDB value of a JSON value of these kinds; another kind is an error. */
export function strictJson(json: string, kinds: string[], duck: string): string {
  const listed = kinds.map(kind => `'${kind}'`).join(', ')
  const value = `CAST(json_extract_string(${json}, '$') AS ${duck})`
  return `(CASE WHEN json_type(${json}) IN (${listed}) THEN ${value} WHEN ${json} IS NOT NULL THEN CAST(${raise('Bad value for a cast')} AS ${duck}) END)`
}

type OfText = (text: string) => string

const textOf = (json: string) => `json_extract_string(${json}, '$')`

/** The value of a JSON value by its kind, of its text; NULL for one of another kind. */
const lax = (ofBool: OfText, ofString: OfText, ofNumber: OfText) => (json: string) =>
  `(CASE WHEN json_type(${json}) = 'BOOLEAN' THEN ${ofBool(textOf(json))} WHEN json_type(${json}) = 'VARCHAR' THEN ${ofString(textOf(json))} WHEN json_type(${json}) IN (${jsonNumbers}) THEN ${ofNumber(textOf(json))} END)`

const jsonNumbers = `'UBIGINT', 'BIGINT', 'DOUBLE'`

const isFloat = `'\\s*[+-]?((\\d+\\.?\\d*|\\.\\d+)(e[+-]?\\d+)?|nan|inf|infinity)\\s*'`

const laxFloat: OfText = text =>
  `(CASE WHEN regexp_full_match(${text}, ${isFloat}, 'i') THEN TRY_CAST(${text} AS DOUBLE) END)`

/** The nearest integer. */
const laxInteger: OfText = text =>
  `(CASE WHEN regexp_full_match(${text}, '\\s*[+-]?\\d+\\s*') THEN TRY_CAST(${text} AS BIGINT) ELSE TRY_CAST(round(${laxFloat(text)}) AS BIGINT) END)`

/** A function that changes a JSON value at paths, each followed by so many values. */
function changing(name: string, values: 0 | 1, option?: string): Rule {
  return (site, json, ...rest) => {
    const step = 1 + values
    const flag = option ? `, ${site.option(option, 'true')}` : ''
    let changed = asText(json)
    for (let at = 1; at <= rest.length; at += step) {
      const node = site.call.arguments[at]!
      const path = pathSteps(site, node)
      const value = values ? `, ${jsonOf({ ...site.args[at + 1]!, sql: rest[at]! })}` : ''
      changed = `${name}(${changed}, ${stepsText(path)}${value}${flag})`
    }
    return asJson(changed)
  }
}

export const jsonFunctions: Rules = {
  ...rulesOf({
    BOOL: json => strictJson(json, ['BOOLEAN'], 'BOOLEAN'),
    // A whole number, also one written with a fraction of zeros or an exponent.
    INT64: json => {
      const number = laxInteger(textOf(json))
      const isWhole = `json_type(${json}) IN (${jsonNumbers}) AND TRY_CAST(${textOf(json)} AS DOUBLE) % 1 = 0`
      return `(CASE WHEN ${isWhole} AND ${number} IS NOT NULL THEN ${number} WHEN ${json} IS NOT NULL THEN ${raise('Bad value for a cast')} END)`
    },
    JSON_TYPE: json =>
      `(CASE json_type(${json}) WHEN 'VARCHAR' THEN 'string' WHEN 'UBIGINT' THEN 'number' WHEN 'BIGINT' THEN 'number' WHEN 'DOUBLE' THEN 'number' ELSE lower(json_type(${json})) END)`,
    LAX_BOOL: lax(
      text => `CAST(${text} AS BOOLEAN)`,
      text => `CASE lower(${text}) WHEN 'true' THEN true WHEN 'false' THEN false END`,
      text => `TRY_CAST(${text} AS DOUBLE) <> 0`,
    ),
    LAX_FLOAT64: lax(() => 'NULL', laxFloat, laxFloat),
    LAX_INT64: lax(text => `CAST(CAST(${text} AS BOOLEAN) AS BIGINT)`, laxInteger, laxInteger),
    LAX_STRING: lax(
      text => text,
      text => text,
      text =>
        `CASE WHEN regexp_full_match(${text}, '-?\\d+') THEN ${text} ELSE ${floatText(`TRY_CAST(${text} AS DOUBLE)`)} END`,
    ),
  }),

  FLOAT64: (site, json) => {
    const mode = site.option('wide_number_mode', `'round'`)
    const [text, value] = [textOf(json), strictJson(json, ['UBIGINT', 'BIGINT', 'DOUBLE'], 'DOUBLE')]
    const inexact = `json_type(${json}) <> 'DOUBLE' AND TRY_CAST(TRY_CAST(${text} AS DOUBLE) AS HUGEINT) <> TRY_CAST(${text} AS HUGEINT)`
    return `(CASE WHEN ${mode} <> 'round' AND ${inexact} THEN ${raise('Bad value for a cast', 'DOUBLE')} ELSE ${value} END)`
  },
  JSON_ARRAY: ({ args }, ...texts) =>
    asJson(
      `gsql_json_rounded(${joinItems(
        '[',
        ']',
        args.map((arg, at) => jsonOf({ ...arg, sql: texts[at]! })),
      )})`,
    ),
  JSON_ARRAY_APPEND: changing('gsql_json_append', 1, 'append_each_element'),
  JSON_ARRAY_INSERT: changing('gsql_json_insert', 1, 'insert_each_element'),
  // Numbers keep the digits that were written in text, and have those of JSON in a value.
  ...each('JSON_EXTRACT_SCALAR JSON_VALUE', () => at(sharing(scalarInText), sharing(scalarInJson))),
  ...each('JSON_EXTRACT JSON_QUERY', () => at(sharing(valueInText), valueInJson)),
  ...each('JSON_EXTRACT_ARRAY JSON_QUERY_ARRAY', () => values),
  ...each('JSON_EXTRACT_STRING_ARRAY JSON_VALUE_ARRAY', () => scalars),
  // To a depth, in order.
  JSON_KEYS: (site, json, depth = 'CAST(500 AS BIGINT)') =>
    `gsql_json_keys(${asText(json)}, ${depth}, ${site.option('mode', `'strict'`)})`,
  JSON_OBJECT: jsonObject,
  JSON_REMOVE: changing('gsql_json_remove', 0),
  JSON_SET: changing('gsql_json_set', 1, 'create_if_missing'),
  JSON_STRIP_NULLS: (site, json) => {
    const path = site.call.arguments[1]
    const steps = path ? stepsText(pathSteps(site, path)) : `'[]'`
    const [arrays, empty] = [site.option('include_arrays', 'true'), site.option('remove_empty', 'false')]
    return asJson(`gsql_json_strip(${asText(json)}, ${steps}, ${arrays}, ${empty})`)
  },
  PARSE_JSON: (site, text) =>
    asJson(`gsql_json_parsed(${text}, ${site.option('wide_number_mode', `'exact'`)})`),
  TO_JSON: (site, sql) => {
    const wide = site.option('stringify_wide_numbers', 'FALSE') === 'TRUE'
    return asJson(`gsql_json_rounded(${jsonText(sql, site.args[0]!.type, wide ? 'where wide' : 'never')})`)
  },
  TO_JSON_STRING: (site, sql, pretty?: string) => {
    const text = jsonText(sql, site.args[0]!.type, 'always')
    if (pretty === undefined) return text
    return `(CASE WHEN ${pretty} THEN gsql_json_pretty(${text}) WHEN NOT ${pretty} THEN ${text} END)`
  },
}

/** The steps of a JSONPath as JSON text; NULL for a path that is NULL. */
function stepsText(steps: Step[] | null): string {
  return steps === null ? 'CAST(NULL AS VARCHAR)' : quoteText(JSON.stringify(steps))
}

/** The steps of a path; `null` for one that is NULL. Throws UnsupportedError for a parameter. */
function pathSteps(site: CallSite, node: Expression): Step[] | null {
  if (node.kind === 'Literal' && node.literal === 'NULL') return null
  return stepsOf(site.name, site.literalText(node))
}

/** Whether numbers that not all readers of JSON hold exactly are written as strings. */
type Quoting = 'always' | 'where wide' | 'never'

/** Beyond these, numbers of JSON are not exact for all readers: GoogleSQL writes integers as strings. */
const exactly = (x: string) => `${x} BETWEEN -9007199254740992 AND 9007199254740992`

const quoted = (text: string) => `('"' || ${text} || '"')`

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
  TIME: sql => quoted(datetimeText(asDatetime(sql, 'TIME'), '%H:%M:%S')),
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

function joinItems(open: string, close: string, items: string[]): string {
  return `'${open}' || ${items.length > 0 ? items.join(` || ',' || `) : `''`} || '${close}'`
}

/** Of keys and values in turn, or of an array of keys and one of values. */
function jsonObject(site: CallSite, ...texts: string[]): string {
  const values = site.args.map((value, at) => ({ ...value, sql: texts[at]! }))
  const [keys, items] = values
  if (keys?.type?.kind === 'ARRAY') return asJson(`gsql_json_of_lists(${jsonOf(keys)}, ${jsonOf(items!)})`)
  const fields = values.flatMap((key, at) =>
    at % 2 === 0 ? [`CAST(to_json(${key.sql}) AS VARCHAR) || ':' || ${jsonOf(values[at + 1]!)}`] : [],
  )
  return asJson(`gsql_json_rounded(${joinItems('{', '}', fields)})`)
}

/**
 * The path as DuckDB's, every key in quotes; `null` where DuckDB reads it in another way: a `*` is a wildcard even in quotes,
 * negative indexes count from the end, those of more than 31 bits are none, and digits are no index of an array.
 */
function duckPath(steps: Step[], behind = ''): string | null {
  const strange = (step: Step) =>
    typeof step === 'number' ? step < 0 || step >= 2 ** 31 : /^(\d*|.*[*"\\].*)$/s.test(step)
  if (steps.some(strange)) return null
  const path = steps.map(step => (typeof step === 'number' ? `[${step}]` : `."${step}"`)).join('')
  return quoteText(`$${path}${behind}`)
}
