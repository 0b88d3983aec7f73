/** String and bytes functions, and NET's; those with regular expressions are in regexp.ts. */
import type { SqlType } from '../../../../sql/types.ts'
import { quoteName, quoteText } from '../../syntax.ts'
import { convert } from '../casts.ts'
import { joinedBy, nullWhere, once } from '../repeats.ts'
import { coerce } from '../coercion.ts'
import { arrayOf, raise, structField, type Typed, typed } from '../context.ts'
import { anyOf } from '../operators.ts'
import { ofBytesToo } from './bytes.ts'
import { format } from './format.ts'
import { applyRule, type CallSite, each, type FunctionTable, named, signature } from './signature.ts'

/** TRIM removes Unicode's white space; DuckDB's removes spaces only. */
const whiteSpace = quoteText(
  '\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000',
)

const wordDelimiters = quoteText(' \t\n\v\f\r[](){}/|\\<>!?@"^#$&~_,.:;*%+-')

/** In a URL a backslash is a slash. */
const urlScheme = quoteText('^\\s*(?:(?:[^:/?#\\\\]*:)?[/\\\\]{2})?')
/** A URL's host without its scheme: after a user's name, up to the port or the path, with one dot at its end at most. */
const urlHost = quoteText(
  '^(?:[^/?#\\\\]*@)?\\.*((?:\\[[^\\]/?#\\\\]*(?:\\][^:/?#\\\\]*?)?|[^:/?#\\\\]*?)\\.?)\\.*(?:[:/?#\\\\]|\\s*$)',
)

const hostOf = (url: string) =>
  nullWhere(`regexp_extract(regexp_replace(${url}, ${urlScheme}, ''), ${urlHost}, 1)`, `''`)

/** The greatest length and position that DuckDB takes. */
const mostLength = 2 ** 32 - 1

const notNegative = (length: string) =>
  `(CASE WHEN ${length} < 0 THEN ${raise('Length must not be negative')} WHEN ${length} > ${mostLength} THEN ${mostLength} ELSE ${length} END)`

/** BigQuery's limit of what REPEAT, LPAD and RPAD make, in bytes. */
const mostMade = 1_048_576

const notTooLong = (length: string) =>
  `(CASE WHEN ${length} > ${mostMade} THEN ${raise('A text is longer than 1 MiB')} ELSE ${notNegative(length)} END)`

const trim = (duck: string) =>
  signature(
    ['STRING', 'STRING?'],
    'STRING',
    (text, characters = whiteSpace) => `${duck}(${text}, ${characters})`,
  )

const pad = (duck: string) =>
  signature(
    ['STRING', 'INT64', 'STRING?'],
    'STRING',
    (text, length, pattern = `' '`) => `${duck}(${text}, CAST(${notTooLong(length)} AS INTEGER), ${pattern})`,
  )

const cut = (duck: string) =>
  signature(['STRING', 'INT64'], 'STRING', (text, length) => `${duck}(${text}, ${notNegative(length)})`)

/** Position 0, and any before the start, mean the start; a negative one counts from the end. */
const substring = signature(['STRING', 'INT64', 'INT64?'], 'STRING', (text, position, length) => {
  const start = `(CASE WHEN ${position} = 0 OR ${position} < -length(${text}) THEN 1 WHEN ${position} > ${mostLength} THEN ${mostLength} ELSE ${position} END)`
  return `substr(${text}, ${start}${length ? `, ${notNegative(length)}` : ''})`
})

/** DuckDB changes characters one by one: of those beyond ASCII some become two, or depend on their place. */
const inCase = (duck: 'lower' | 'upper') =>
  signature(['STRING'], 'STRING', text =>
    once(
      [text],
      text =>
        `(CASE WHEN length(${text}) = strlen(${text}) THEN ${duck}(${text}) ELSE gsql_${duck}(${text}) END)`,
    ),
  )

function codePoints(name: string, returns: 'BYTES' | 'STRING') {
  const rule = signature(['ARRAY'], returns, codes => `${name}(CAST(${codes} AS VARCHAR[]))`)
  return (site: CallSite): Typed => {
    const { type } = site.argument(0)
    if (type?.kind === 'ARRAY' && (type.element?.kind ?? 'INT64') !== 'INT64')
      throw site.noMatch(site.allArguments())
    return applyRule(site, rule)
  }
}

const characters = named('length', ['STRING'], 'INT64')
const bytes = [
  signature(['STRING'], 'INT64', text => `octet_length(encode(${text}))`),
  signature(['BYTES'], 'INT64', value => `octet_length(${value})`),
]

const place = named('strpos', ['STRING', 'STRING'], 'INT64')

export const stringFunctions: FunctionTable = {
  ...ofBytesToo({
    ...each('ENDS_WITH STARTS_WITH', duck => named(duck, ['STRING', 'STRING'], 'BOOL')),
    STRPOS: place,
    INSTR: [
      place,
      signature(
        ['STRING', 'STRING', 'INT64', 'INT64?'],
        'INT64',
        (text, part, position, occurrence = 'CAST(1 AS BIGINT)') =>
          `gsql_instr(${text}, ${part}, ${position}, ${occurrence})`,
      ),
    ],
    REPLACE: named('replace', ['STRING', 'STRING', 'STRING'], 'STRING'),
    ...each('LTRIM RTRIM TRIM', trim),
    ...each('LPAD RPAD', pad),
    ...each('LEFT RIGHT', cut),
    REPEAT: signature(['STRING', 'INT64'], 'STRING', (text, times) => {
      const size = `greatest(strlen(${text}), 1) * CAST(${times} AS DOUBLE)`
      return `repeat(${text}, (CASE WHEN ${size} > ${mostMade} THEN ${raise('A text is longer than 1 MiB')} ELSE ${notNegative(times)} END))`
    }),
    SPLIT: signature(
      ['STRING', 'STRING?'],
      () => arrayOf({ kind: 'STRING' }),
      (text, delimiter = `','`) =>
        `(CASE WHEN ${delimiter} IS NOT NULL THEN string_split(${text}, ${delimiter}) END)`,
    ),
    SUBSTR: substring,
    SUBSTRING: substring,
    TO_CODE_POINTS: signature(
      ['STRING'],
      () => arrayOf({ kind: 'INT64' }),
      text => `list_transform(regexp_extract_all(${text}, '(?s).'), lambda c: CAST(unicode(c) AS BIGINT))`,
    ),
  }),
  TRANSLATE: named('gsql_translate', ['STRING', 'STRING', 'STRING'], 'STRING'),
  ...each('MD5 SHA1 SHA256', digest),
  ASCII: signature(
    ['STRING'],
    'INT64',
    text => `(CASE WHEN ascii(${text}) > 127 THEN ${raise('Bad value for a cast')} ELSE ascii(${text}) END)`,
  ),
  BYTE_LENGTH: bytes,
  CHARACTER_LENGTH: characters,
  CHAR_LENGTH: characters,
  CHR: signature(['INT64'], 'STRING', code => `chr(CAST(${code} AS INTEGER))`),
  CODE_POINTS_TO_BYTES: codePoints('gsql_code_points_to_bytes', 'BYTES'),
  CODE_POINTS_TO_STRING: codePoints('gsql_code_points_to_string', 'STRING'),
  CONCAT: concat,
  CONTAINS_SUBSTR: containsSubstring,
  FORMAT: format,
  FROM_BASE32: named('gsql_from_base32', ['STRING'], 'BYTES'),
  // With white space, and without the padding that DuckDB insists on.
  FROM_BASE64: signature(['STRING'], 'BYTES', text =>
    once(
      [`regexp_replace(${text}, '\\s+', '', 'g')`],
      text => `from_base64(${text} || repeat('=', (4 - length(${text}) % 4) % 4))`,
    ),
  ),
  FROM_HEX: named('unhex', ['STRING'], 'BYTES'),
  FARM_FINGERPRINT: [
    signature(['STRING'], 'INT64', text => `gsql_fingerprint(encode(${text}))`),
    named('gsql_fingerprint', ['BYTES'], 'INT64'),
  ],
  INITCAP: signature(
    ['STRING', 'STRING?'],
    'STRING',
    (text, delimiters = wordDelimiters) => `gsql_initcap(${text}, ${delimiters})`,
  ),
  LENGTH: [characters, signature(['BYTES'], 'INT64', value => `octet_length(${value})`)],
  LOWER: [inCase('lower'), named('gsql_lower_bytes', ['BYTES'], 'BYTES')],
  'NET.HOST': signature(['STRING'], 'STRING', hostOf),
  'NET.PUBLIC_SUFFIX': signature(['STRING'], 'STRING', url => `gsql_public_suffix(${hostOf(url)})`),
  'NET.REG_DOMAIN': signature(['STRING'], 'STRING', url => `gsql_reg_domain(${hostOf(url)})`),
  NORMALIZE: site => normalized(site, 'gsql_normalize'),
  NORMALIZE_AND_CASEFOLD: site => normalized(site, 'gsql_normalize_and_casefold'),
  OCTET_LENGTH: bytes,
  // By characters of Unicode, where DuckDB keeps accents with their letters.
  REVERSE: [
    signature(
      ['STRING'],
      'STRING',
      text =>
        `(CASE WHEN length(${text}) = strlen(${text}) THEN reverse(${text}) ELSE ${joinedBy(`list_reverse(regexp_extract_all(${text}, '(?s).'))`, `''`)} END)`,
    ),
    named('gsql_reverse_bytes', ['BYTES'], 'BYTES'),
  ],
  SHA512: [
    signature(['STRING'], 'BYTES', text => `gsql_sha512(encode(${text}))`),
    named('gsql_sha512', ['BYTES'], 'BYTES'),
  ],
  SAFE_CONVERT_BYTES_TO_STRING: named('gsql_decode', ['BYTES'], 'STRING'),
  TO_BASE32: named('gsql_to_base32', ['BYTES'], 'STRING'),
  TO_BASE64: named('to_base64', ['BYTES'], 'STRING'),
  TO_HEX: signature(['BYTES'], 'STRING', value => `lower(hex(${value}))`),
  UNICODE: signature(
    ['STRING'],
    'INT64',
    text => `(CASE WHEN ${text} = '' THEN 0 ELSE unicode(${text}) END)`,
  ),
  UPPER: [inCase('upper'), named('gsql_upper_bytes', ['BYTES'], 'BYTES')],
}

/** Whether a value, or any inside an array, a STRUCT or JSON, has a text in it, without regard to case and Unicode's forms. */
function containsSubstring(site: CallSite): Typed {
  const [value, given] = site.allArguments()
  const part = given && coerce(given, { kind: 'STRING' })
  if (!value || !part) throw site.noMatch(site.allArguments())
  const test = (text: string, sql: string) => `contains(${folded(text)}, ${sql})`
  const sql = once([folded(part.sql)], part =>
    isScalar(value)
      ? test(textOf(site, value), part)
      : anyOf(`list_transform(${textsOf(site, value)}, lambda c: ${test('c', part)})`),
  )
  return typed(sql, 'BOOL')
}

const folded = (text: string) =>
  once(
    [text],
    text =>
      `(CASE WHEN length(${text}) = strlen(${text}) THEN lower(${text}) ELSE gsql_normalize_and_casefold(${text}, 'NFKC') END)`,
  )

const isScalar = ({ type }: Typed) => !/^(STRUCT|ARRAY|JSON)$/.test(type?.kind ?? '')

function textOf(site: CallSite, value: Typed): string {
  const text = value.type?.kind === 'BYTES' ? null : convert(value, { kind: 'STRING' })
  if (text === null) throw site.noMatch(site.allArguments())
  return text
}

/** A list of the texts of all that is inside. */
function textsOf(site: CallSite, value: Typed): string {
  const { sql, type } = value
  if (type?.kind === 'ARRAY') {
    const item = typed(quoteName(site.context.uniqueName('c')), type.element)
    return `flatten(list_transform(${sql}, lambda ${item.sql}: ${textsOf(site, item)}))`
  }
  if (type?.kind === 'JSON') return once([sql], jsonTexts)
  if (type?.kind !== 'STRUCT') return `[${textOf(site, value)}]`
  const fields = type.fields.map((_, at) => structField(sql, type, at))
  const scalars = `[${fields
    .filter(isScalar)
    .map(field => textOf(site, field))
    .join(', ')}]`
  const others = fields.filter(field => !isScalar(field)).map(field => textsOf(site, field))
  return others.length === 0 ? scalars : `flatten([${[scalars, ...others].join(', ')}])`
}

/** Of values, not of keys. */
function jsonTexts(json: string): string {
  const scalar = `COALESCE(json_type(j), '') NOT IN ('OBJECT', 'ARRAY', 'NULL')`
  const all = `list_prepend(${json}, json_extract(${json}, '$..*'))`
  return `list_transform(list_filter(${all}, lambda j: ${scalar}), lambda j: json_extract_string(j, '$'))`
}

/** DuckDB's digests are hexadecimal text. */
function digest(duck: string) {
  return [
    signature(['STRING'], 'BYTES', text => `unhex(${duck}(${text}))`),
    signature(['BYTES'], 'BYTES', value => `unhex(${duck}(${value}))`),
  ]
}

/** Of bytes, or of values cast to strings; NULL if one of them is. */
function concat(site: CallSite): Typed {
  const values = site.allArguments()
  const kinds = values.map(({ type }) => type?.kind ?? 'BYTES')
  const binary =
    kinds.includes('BYTES') && kinds.every(kind => kind === 'BYTES') && values.some(({ type }) => type)
  const text = (value: Typed) => (value.type?.kind === 'BYTES' ? null : convert(value, { kind: 'STRING' }))
  const parts = values.map(value => (binary ? value.sql : text(value)))
  if (parts.length === 0 || parts.includes(null)) throw site.noMatch(values)
  const type: SqlType = { kind: binary ? 'BYTES' : 'STRING' }
  return typed(`(${parts.join(' || ')})`, type)
}

/** To one of Unicode's forms, by default NFC. */
function normalized(site: CallSite, name: string): Typed {
  const [, mode] = site.call.arguments
  const form = mode?.kind === 'Path' ? mode.parts[0]!.name.toUpperCase() : 'NFC'
  const text = coerce(site.argument(0), { kind: 'STRING' })
  if (!/^NFK?[CD]$/.test(form)) throw site.invalid(`${site.name} takes NFC, NFD, NFKC or NFKD`, mode)
  if (!text) throw site.noMatch([site.argument(0)])
  return typed(`${name}(${text.sql}, '${form}')`, 'STRING')
}
