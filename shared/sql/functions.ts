/**
 * The functions of GoogleSQL: what each takes and makes. A row is one signature, of several functions where they have the
 * same; those of one function stand in order of preference. `STRING|BYTES` makes it two: the first words of all that is
 * written so go together, and the second ones.
 *
 * A parameter is a type or a kind of types (`kinds`); with COMMON before it, all such arguments are brought to one type. `?`
 * stands behind one that may be left out, `*` behind any number of them, `name =>` before one that has a name. PART is a
 * part of a date, MODE a form of Unicode; both are bare words. A result that is written as a parameter is has the type of that
 * argument, ELEMENT that of an array's elements. Behind `;` stands what else a call may hold.
 */
import type { ScalarName, SqlType } from './types.ts'

const rows = {
  conditions: `
    COALESCE(COMMON, COMMON*) COMMON
    ERROR(STRING) NULL
    GREATEST LEAST(COMMON ORDERED, COMMON ORDERED*) COMMON
    IF(BOOL, COMMON, COMMON) COMMON
    IFNULL(COMMON, COMMON) COMMON
    NULLIF(COMMON COMPARABLE, COMMON COMPARABLE) COMMON
    NULLIFZERO ZEROIFNULL(NUMBER) NUMBER
    TYPEOF(ANY) STRING`,

  aggregates: `
    ANY_VALUE(ANY) ANY; DISTINCT HAVING OVER
    APPROX_COUNT_DISTINCT(ANY) INT64; DISTINCT HAVING OVER
    APPROX_QUANTILES(ANY, INT64) ARRAY<ANY>; DISTINCT NULLS HAVING OVER
    APPROX_TOP_COUNT(ANY, INT64) ARRAY<STRUCT<value ANY, count INT64>>; DISTINCT HAVING OVER
    APPROX_TOP_SUM(ANY, NUMBER, INT64) ARRAY<STRUCT<value ANY, sum NUMBER>>; HAVING
    ARRAY_AGG(ITEM) ARRAY<ITEM>; DISTINCT NULLS HAVING ORDER LIMIT OVER
    ARRAY_CONCAT_AGG(ARRAY) ARRAY; DISTINCT HAVING ORDER LIMIT OVER
    AVG(INT64|NUMBER|INTERVAL) FLOAT64|NUMBER|INTERVAL; DISTINCT HAVING OVER
    BIT_AND BIT_OR BIT_XOR(INT64) INT64; DISTINCT HAVING OVER
    CORR COVAR_POP COVAR_SAMP(FLOAT64, FLOAT64) FLOAT64; DISTINCT HAVING OVER
    COUNT(ANY) INT64; * DISTINCT HAVING OVER
    COUNTIF(BOOL) INT64; DISTINCT HAVING OVER
    GROUPING(ANY) INT64
    LOGICAL_AND LOGICAL_OR(BOOL) BOOL; DISTINCT HAVING OVER
    MAX MIN(ORDERED) ORDERED; DISTINCT HAVING OVER
    MAX_BY MIN_BY(ANY, ANY) ANY; OVER
    STDDEV STDDEV_POP STDDEV_SAMP VARIANCE VAR_POP VAR_SAMP(NUMBER) FLOAT64; DISTINCT HAVING OVER
    STRING_AGG(STRING|BYTES, STRING|BYTES?) STRING|BYTES; DISTINCT HAVING ORDER LIMIT OVER
    SUM(NUMBER|INTERVAL) NUMBER|INTERVAL; DISTINCT HAVING OVER`,

  windows: `
    CUME_DIST PERCENT_RANK() FLOAT64; OVER
    DENSE_RANK RANK ROW_NUMBER() INT64; OVER
    FIRST_VALUE LAST_VALUE(ANY) ANY; NULLS OVER
    LAG LEAD(COMMON, INT64?, COMMON?) COMMON; OVER
    NTH_VALUE(ANY, INT64) ANY; NULLS OVER
    NTILE(INT64) INT64; OVER
    PERCENTILE_CONT(NUMBER, NUMBER) FLOAT64; NULLS OVER
    PERCENTILE_DISC(ANY, NUMBER) ANY; NULLS OVER`,

  numbers: `
    ABS SAFE_NEGATE SIGN(NUMBER) NUMBER
    ACOS ACOSH ASIN ASINH ATAN ATANH COS COSH COT COTH CSC CSCH SEC SECH SIN SINH TAN TANH(FLOAT64) FLOAT64
    ATAN2 IEEE_DIVIDE(FLOAT64, FLOAT64) FLOAT64
    BIT_COUNT(INT64|BYTES) INT64
    CBRT EXP LN LOG LOG10 SQRT(FLOAT64|NUMERIC) FLOAT64|NUMERIC
    LOG(FLOAT64, FLOAT64) FLOAT64
    CEIL CEILING FLOOR ROUND TRUNC(INT64|NUMERIC|NUMBER) FLOAT64|NUMERIC|NUMBER
    ROUND TRUNC(FLOAT64|INT64, INT64) FLOAT64
    ROUND(NUMERIC, INT64, STRING?) NUMERIC
    ROUND(NUMBER, INT64) NUMBER
    TRUNC(NUMERIC, INT64) NUMERIC
    DIV MOD(INT64|NUMERIC, INT64|NUMERIC) INT64|NUMERIC
    IS_INF IS_NAN(FLOAT64) BOOL
    PARSE_BIGNUMERIC(STRING) BIGNUMERIC
    PARSE_NUMERIC(STRING) NUMERIC
    POW POWER(INT64|NUMERIC|FLOAT64, INT64|NUMERIC|FLOAT64) FLOAT64|NUMERIC|FLOAT64
    RANGE_BUCKET(ORDERED, ARRAY) INT64
    SAFE_ADD SAFE_MULTIPLY SAFE_SUBTRACT(COMMON NUMBER, COMMON NUMBER) COMMON
    SAFE_DIVIDE(INT64, INT64) FLOAT64
    SAFE_DIVIDE(COMMON NUMBER, COMMON NUMBER) COMMON`,

  strings: `
    ASCII CHARACTER_LENGTH CHAR_LENGTH UNICODE(STRING) INT64
    BYTE_LENGTH LENGTH OCTET_LENGTH(STRING|BYTES) INT64
    CHR(INT64) STRING
    CODE_POINTS_TO_STRING(ARRAY<INT64>) STRING
    CONCAT(TEXT|BYTES, TEXT|BYTES*) STRING|BYTES
    CONTAINS_SUBSTR(ANY, STRING) BOOL
    EDIT_DISTANCE(STRING|BYTES, STRING|BYTES, max_distance => INT64) INT64
    ENDS_WITH REGEXP_CONTAINS STARTS_WITH(STRING|BYTES, STRING|BYTES) BOOL
    FORMAT(STRING, ANY*) STRING
    INITCAP(STRING, STRING?) STRING
    INSTR(STRING|BYTES, STRING|BYTES, INT64?, INT64?) INT64
    LEFT REPEAT RIGHT(STRING|BYTES, INT64) STRING|BYTES
    LOWER REVERSE UPPER(STRING|BYTES) STRING|BYTES
    LPAD RPAD(STRING|BYTES, INT64, STRING|BYTES?) STRING|BYTES
    LTRIM RTRIM TRIM(STRING, STRING?) STRING
    LTRIM RTRIM TRIM(BYTES, BYTES) BYTES
    NORMALIZE NORMALIZE_AND_CASEFOLD(STRING, MODE?) STRING
    REGEXP_EXTRACT REGEXP_SUBSTR(STRING|BYTES, STRING|BYTES, INT64?, INT64?) STRING|BYTES
    REGEXP_EXTRACT_ALL(STRING|BYTES, STRING|BYTES) ARRAY<STRING|BYTES>
    REGEXP_INSTR(STRING|BYTES, STRING|BYTES, INT64?, INT64?, INT64?) INT64
    REGEXP_REPLACE REPLACE(STRING|BYTES, STRING|BYTES, STRING|BYTES) STRING|BYTES
    SOUNDEX(STRING) STRING
    SPLIT(STRING, STRING?) ARRAY<STRING>
    SPLIT(BYTES, BYTES) ARRAY<BYTES>
    STRPOS(STRING|BYTES, STRING|BYTES) INT64
    SUBSTR SUBSTRING(STRING|BYTES, INT64, INT64?) STRING|BYTES
    TO_CODE_POINTS(STRING|BYTES) ARRAY<INT64>
    TRANSLATE(STRING, STRING, STRING) STRING`,

  'bytes, hashes and addresses': `
    CODE_POINTS_TO_BYTES(ARRAY<INT64>) BYTES
    FARM_FINGERPRINT(STRING|BYTES) INT64
    FROM_BASE32 FROM_BASE64 FROM_HEX(STRING) BYTES
    MD5 SHA1 SHA256 SHA512(STRING|BYTES) BYTES
    NET.HOST NET.PUBLIC_SUFFIX NET.REG_DOMAIN(STRING) STRING
    NET.IPV4_FROM_INT64(INT64) BYTES
    NET.IPV4_TO_INT64(BYTES) INT64
    NET.IP_FROM_STRING NET.SAFE_IP_FROM_STRING(STRING) BYTES
    NET.IP_NET_MASK(INT64, INT64) BYTES
    NET.IP_TO_STRING(BYTES) STRING
    NET.IP_TRUNC(BYTES, INT64) BYTES
    SAFE_CONVERT_BYTES_TO_STRING TO_BASE32 TO_BASE64 TO_HEX(BYTES) STRING`,

  arrays: `
    ARRAY_CONCAT(COMMON ARRAY, COMMON ARRAY*) COMMON
    ARRAY_FIRST ARRAY_LAST(ARRAY) ELEMENT
    ARRAY_LENGTH(ARRAY) INT64
    ARRAY_REVERSE(ARRAY) ARRAY
    ARRAY_SLICE(ARRAY, INT64, INT64) ARRAY
    ARRAY_TO_STRING(ARRAY<STRING|BYTES>, STRING|BYTES, STRING|BYTES?) STRING|BYTES
    GENERATE_ARRAY(INT64|NUMERIC|FLOAT64, INT64|NUMERIC|FLOAT64, INT64|NUMERIC|FLOAT64?) ARRAY<INT64|NUMERIC|FLOAT64>
    GENERATE_DATE_ARRAY(DATE, DATE, INTERVAL?) ARRAY<DATE>
    GENERATE_TIMESTAMP_ARRAY(TIMESTAMP, TIMESTAMP, INTERVAL) ARRAY<TIMESTAMP>`,

  JSON: `
    BOOL LAX_BOOL(JSON) BOOL
    FLOAT64(JSON, wide_number_mode => STRING) FLOAT64
    INT64 LAX_INT64(JSON) INT64
    JSON_ARRAY JSON_OBJECT(ANY*) JSON
    JSON_ARRAY_APPEND(JSON, STRING, ANY, ANY*, append_each_element => BOOL) JSON
    JSON_ARRAY_INSERT(JSON, STRING, ANY, ANY*, insert_each_element => BOOL) JSON
    JSON_EXTRACT JSON_QUERY(STRING|JSON, STRING?) STRING|JSON
    JSON_EXTRACT_ARRAY JSON_QUERY_ARRAY(STRING|JSON, STRING?) ARRAY<STRING|JSON>
    JSON_EXTRACT_SCALAR JSON_VALUE(STRING|JSON, STRING?) STRING
    JSON_EXTRACT_STRING_ARRAY JSON_VALUE_ARRAY(STRING|JSON, STRING?) ARRAY<STRING>
    JSON_KEYS(JSON, INT64?, mode => STRING) ARRAY<STRING>
    JSON_REMOVE(JSON, STRING, STRING*) JSON
    JSON_SET(JSON, STRING, ANY, ANY*, create_if_missing => BOOL) JSON
    JSON_STRIP_NULLS(JSON, STRING?, include_arrays => BOOL, remove_empty => BOOL) JSON
    JSON_TYPE LAX_STRING(JSON) STRING
    LAX_FLOAT64(JSON) FLOAT64
    PARSE_JSON(STRING, wide_number_mode => STRING) JSON
    TO_JSON(ANY, stringify_wide_numbers => BOOL) JSON
    TO_JSON_STRING(ANY, BOOL?) STRING`,

  'dates and times': `
    CURRENT_DATE(STRING?) DATE
    CURRENT_DATETIME(STRING?) DATETIME
    CURRENT_TIME(STRING?) TIME
    CURRENT_TIMESTAMP() TIMESTAMP
    DATE(DATE|DATETIME) DATE
    DATE(TIMESTAMP, STRING?) DATE
    DATE(STRING) DATE
    DATE(INT64, INT64, INT64) DATE
    DATETIME(DATETIME) DATETIME
    DATETIME(TIMESTAMP, STRING?) DATETIME
    DATETIME(DATE) DATETIME
    DATETIME(DATE, TIME) DATETIME
    DATETIME(STRING) DATETIME
    DATETIME(INT64, INT64, INT64, INT64, INT64, INT64) DATETIME
    TIME(TIME|DATETIME) TIME
    TIME(TIMESTAMP, STRING?) TIME
    TIME(INT64, INT64, INT64) TIME
    TIMESTAMP(TIMESTAMP|STRING) TIMESTAMP
    TIMESTAMP(DATETIME, STRING?) TIMESTAMP
    TIMESTAMP(STRING, STRING) TIMESTAMP
    DATE_ADD DATE_SUB(DATE|DATETIME|TIMESTAMP, INTERVAL) DATE|DATETIME|TIMESTAMP
    DATETIME_ADD DATETIME_SUB(DATETIME|DATE|TIMESTAMP, INTERVAL) DATETIME|DATETIME|TIMESTAMP
    TIMESTAMP_ADD TIMESTAMP_SUB(TIMESTAMP|DATE|DATETIME, INTERVAL) TIMESTAMP|DATETIME|DATETIME
    TIME_ADD TIME_SUB(TIME, INTERVAL) TIME
    DATE_BUCKET(DATE, INTERVAL, DATE?) DATE
    DATE_BUCKET DATETIME_BUCKET(DATETIME, INTERVAL, DATETIME?) DATETIME
    DATE_BUCKET DATETIME_BUCKET TIMESTAMP_BUCKET(TIMESTAMP, INTERVAL, TIMESTAMP?) TIMESTAMP
    TIMESTAMP_BUCKET(DATETIME, INTERVAL, DATETIME?) DATETIME
    DATE_DIFF(DATE, DATE, PART) INT64
    DATE_DIFF DATETIME_DIFF(DATETIME, DATETIME, PART) INT64
    DATE_DIFF DATETIME_DIFF TIMESTAMP_DIFF(TIMESTAMP, TIMESTAMP, PART) INT64
    TIMESTAMP_DIFF(DATETIME, DATETIME, PART) INT64
    TIME_DIFF(TIME, TIME, PART) INT64
    DATE_TRUNC(DATE, PART) DATE
    DATE_TRUNC DATETIME_TRUNC(DATETIME, PART) DATETIME
    DATE_TRUNC DATETIME_TRUNC TIMESTAMP_TRUNC(TIMESTAMP, PART, STRING?) TIMESTAMP
    TIMESTAMP_TRUNC(DATETIME, PART) DATETIME
    DATETIME_TRUNC TIMESTAMP_TRUNC(DATE, PART) DATETIME
    TIME_TRUNC(TIME, PART) TIME
    LAST_DAY(DATE|DATETIME, PART?) DATE
    DATE_FROM_UNIX_DATE(INT64) DATE
    FORMAT_DATE(STRING, DATE) STRING
    FORMAT_DATE FORMAT_DATETIME(STRING, DATETIME) STRING
    FORMAT_DATE FORMAT_DATETIME FORMAT_TIMESTAMP(STRING, TIMESTAMP, STRING?) STRING
    FORMAT_TIMESTAMP(STRING, DATETIME) STRING
    FORMAT_TIME(STRING, TIME) STRING
    JUSTIFY_DAYS JUSTIFY_HOURS JUSTIFY_INTERVAL(INTERVAL) INTERVAL
    MAKE_INTERVAL(INT64?, INT64?, INT64?, INT64?, INT64?, INT64?, year => INT64, month => INT64, day => INT64, hour => INT64, minute => INT64, second => INT64) INTERVAL
    PARSE_DATE(STRING, STRING) DATE
    PARSE_DATETIME(STRING, STRING) DATETIME
    PARSE_TIME(STRING, STRING) TIME
    PARSE_TIMESTAMP(STRING, STRING, STRING?) TIMESTAMP
    STRING(TIMESTAMP, STRING?) STRING
    STRING(DATETIME|DATE|TIME|JSON) STRING
    TIMESTAMP_MICROS TIMESTAMP_MILLIS TIMESTAMP_SECONDS(INT64) TIMESTAMP
    UNIX_DATE(DATE) INT64
    UNIX_MICROS UNIX_MILLIS UNIX_SECONDS(TIMESTAMP) INT64`,
}

/** Kinds of types: those that belong, or behind `not` those that do not. */
const kinds: Record<string, string> = {
  ANY: 'not',
  ARRAY: 'ARRAY',
  COMPARABLE: 'not ARRAY JSON',
  ITEM: 'not ARRAY',
  NUMBER: 'INT64 NUMERIC BIGNUMERIC FLOAT64',
  ORDERED: 'not ARRAY JSON STRUCT',
  TEXT: 'not ARRAY BYTES JSON STRUCT',
}

export interface Parameter {
  /** A type, or one of `kinds`, or PART or MODE. */
  kind: string
  /** All such arguments are brought to one type. */
  common: boolean
  times: '' | '?' | '*'
}

export interface Signature {
  parameters: Parameter[]
  /** The types of arguments that have a name, by it. */
  options: ReadonlyMap<string, ScalarName>
  /** The type of the result, by those of the arguments; `null` is that of a bare NULL. */
  returns(types: (SqlType | null)[]): SqlType | null
}

interface SqlFunction {
  kind: keyof typeof rows
  signatures: Signature[]
  /** What a call may hold beside its arguments. */
  modifiers: ReadonlySet<string>
}

/** By name in capitals, `NET.HOST` with its dot. */
export const functions: ReadonlyMap<string, SqlFunction> = table()

/** Whether a function, by its name in capitals, makes one row of many where it has no OVER. */
export function isAggregateName(name: string): boolean {
  return functions.get(name)?.kind === 'aggregates'
}

function table(): Map<string, SqlFunction> {
  const found = new Map<string, SqlFunction>()
  for (const [kind, text] of Object.entries(rows)) {
    for (const row of text.trim().split(/\n\s*/)) {
      const [, names, taken, made, modifiers = ''] = /^([^(]+)\((.*?)\) ([^;]+)(?:; (.*))?$/.exec(row)!
      const signatures = alternatives(`${taken!};${made!}`).map(signatureOf)
      for (const name of names!.split(' ')) {
        const known = found.get(name)
        if (known) known.signatures.push(...signatures)
        else
          found.set(name, {
            kind: kind as SqlFunction['kind'],
            signatures: [...signatures],
            modifiers: new Set(modifiers.split(' ')),
          })
      }
    }
  }
  return found
}

function alternatives(text: string): string[] {
  const size = /\w+(\|\w+)+/.exec(text)?.[0].split('|').length ?? 1
  return Array.from({ length: size }, (_, at) =>
    text.replaceAll(/\w+(\|\w+)+/g, words => words.split('|')[at]!),
  )
}

function signatureOf(text: string): Signature {
  const [taken, made] = text.split(';') as [string, string]
  const all = taken.split(', ').filter(Boolean)
  const named = all.filter(text => text.includes(' => ')).map(text => text.split(' => '))
  const parameters = parametersOf(all.slice(0, all.length - named.length).join(', '))
  return {
    parameters,
    options: new Map(named as [string, ScalarName][]),
    returns: resultOf(made, parameters),
  }
}

/** Parameters as they are written in the table. */
export function parametersOf(text: string): Parameter[] {
  return text
    .split(', ')
    .filter(Boolean)
    .map(parameter => {
      const [, common, kind, times] = /^(COMMON ?)?(.*?)([?*]?)$/.exec(parameter)!
      return { kind: kind! || 'ANY', common: common !== undefined, times: times as Parameter['times'] }
    })
}

const int64: SqlType = { kind: 'INT64' }

function resultOf(text: string, parameters: Parameter[]): Signature['returns'] {
  const [, outer, inner] = /^(ARRAY|STRUCT)<(.*)>$/.exec(text) ?? []
  if (outer === 'ARRAY') {
    const element = resultOf(inner!, parameters)
    return types => ({ kind: 'ARRAY', element: element(types) ?? int64 })
  }
  if (outer === 'STRUCT') {
    const fields = inner!.split(', ').map(field => field.split(' ') as [string, string])
    const types = fields.map(([name, type]) => ({ name, type: resultOf(type, parameters) }))
    return given => ({
      kind: 'STRUCT',
      fields: types.map(({ name, type }) => ({ name, type: type(given) ?? int64 })),
    })
  }
  const kind = text === 'ELEMENT' ? 'ARRAY' : text
  const at = parameters.findIndex(parameter =>
    text === 'COMMON' ? parameter.common : parameter.kind === kind,
  )
  if (text === 'NULL') return () => null
  if (text !== 'COMMON' && text !== 'ELEMENT' && !Object.hasOwn(kinds, text))
    return () => ({ kind: text as ScalarName })
  return types => {
    const type = types[at] ?? null
    return text === 'ELEMENT' ? (type?.kind === 'ARRAY' ? type.element : null) : type
  }
}

/** Whether a type is of a parameter's kind as it is. */
export function isOfKind(type: SqlType, kind: string): boolean {
  const element = /^ARRAY<(.*)>$/.exec(kind)?.[1]
  if (element) return type.kind === 'ARRAY' && type.element.kind === element
  const [not, ...names] = (kinds[kind] ?? kind).split(' ')
  return not === 'not' ? !names.includes(type.kind) : [not, ...names].includes(type.kind)
}

/** Whether a kind has several types. */
export function isKind(kind: string): boolean {
  return Object.hasOwn(kinds, kind) || kind.startsWith('ARRAY<')
}

/** Whether a parameter is a bare word, which has no value. */
export function isBareWord(kind: string | undefined): boolean {
  return kind === 'PART' || kind === 'MODE'
}

/** The parameter of the argument at a place: the last one repeats itself. */
export function parameterAt(parameters: Parameter[], at: number): Parameter {
  return parameters[Math.min(at, parameters.length - 1)]!
}

/** How many arguments signatures take; those with a name do not count. */
export function countsOf(parameters: Parameter[]): { least: number; most: number } {
  return {
    least: parameters.filter(({ times }) => times === '').length,
    most: parameters.some(({ times }) => times === '*') ? Infinity : parameters.length,
  }
}

export function takesCount({ parameters }: Signature, count: number): boolean {
  const { least, most } = countsOf(parameters)
  return count >= least && count <= most
}

/**
 * Well-known functions of GoogleSQL that a caller's SQL may not use, and why; the first pattern that matches counts. Some
 * stand in no row above: they reach more than their arguments, or the service has no use for them.
 */
const closed: [names: RegExp, why: string][] = [
  [/^ERROR$/, 'it puts values into messages, which nothing redacts: give it one text'],
  [/^SESSION_USER$/, 'it shows the account that runs the query'],
  [/^(RAND|GENERATE_UUID)$/, 'its value differs from run to run, so no answer can be kept'],
  [/^(KEYS\.|AEAD\.|DETERMINISTIC_|DLP_)/, 'it handles keys and encrypted data'],
  [
    /^(EXTERNAL_\w+|ML\..*|AI\..*|OBJ\..*|VECTOR_\w+(\..*)?|APPENDS|CHANGES|GAP_FILL|RANGE_SESSIONIZE)$/,
    'it takes a table, a model or a connection by name',
  ],
  [/^HLL_COUNT\./, 'its sketches are for later queries: write COUNT(DISTINCT x)'],
  [/^KLL_QUANTILES\./, 'its sketches are for later queries: write APPROX_QUANTILES(x, 100)'],
  [
    /^(SEARCH|TEXT_ANALYZE|BAG_OF_WORDS|TF_IDF)$/,
    "how it splits text is not the same everywhere: write CONTAINS_SUBSTR(x, 'text'), or REGEXP_EXTRACT_ALL(x, r'\\w+')",
  ],
  [/^JSON_FLATTEN$/, 'it is too new: write UNNEST(JSON_QUERY_ARRAY(x)) in FROM'],
  [/\./, 'a name with a dot may be a routine that reads tables'],
  [
    /^(ST_|S2_|PROTO_|RANGE_)|^(RANGE|GENERATE_RANGE_ARRAY|FLATTEN|COSINE_DISTANCE|EUCLIDEAN_DISTANCE)$/,
    'it has no use for logs',
  ],
]

/** Why a function of GoogleSQL is not supported; `null` for an unknown name. */
export function whyClosed(name: string): string | null {
  return closed.find(([names]) => names.test(name.toUpperCase()))?.[1] ?? null
}

/**
 * The functions that a caller's query may call (`shared/sandbox/README.md`, "Rules", rule 7): they compute from their
 * arguments and nothing else. Any other is refused, so a function that GoogleSQL gains later is reviewed before it is allowed.
 * GETENV, CURRENT_SETTING, READ_CSV, QUERY_TABLE and the like exist in DuckDB and reach the machine it runs on.
 * WEEK is the part in DATE_TRUNC(d, WEEK(MONDAY)), which is written like a call.
 */
export const plainFunctions: ReadonlySet<string> = new Set(
  [...functions.keys(), 'WEEK'].filter(name => !name.includes('.') && name !== 'ERROR'),
)

/** Those with a dot in their name, which may stand after SAFE. too. */
export const netFunctions: ReadonlySet<string> = new Set(
  [...functions.keys()].filter(name => name.includes('.')),
)
