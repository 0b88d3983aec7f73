/** String and bytes functions, and NET's; those with regular expressions are in regexp.ts. */
import { quoteName, quoteText } from '../../syntax.ts'
import { convert } from '../casts.ts'
import { joinedBy, nullWhere, once } from '../repeats.ts'
import { raise, structField, type Typed, typed } from '../context.ts'
import { anyOf } from '../operators.ts'
import { format } from './format.ts'
import { type CallSite, each, type Rule, type Rules, rulesOf } from './signature.ts'

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

const trim =
  (duck: string) =>
  (text: string, characters = whiteSpace) =>
    `${duck}(${text}, ${characters})`

const pad =
  (duck: string) =>
  (text: string, length: string, pattern = `' '`) =>
    `${duck}(${text}, CAST(${notTooLong(length)} AS INTEGER), ${pattern})`

const cut = (duck: string) => (text: string, length: string) => `${duck}(${text}, ${notNegative(length)})`

/** Position 0, and any before the start, mean the start; a negative one counts from the end. */
const substring = (text: string, position: string, length?: string) => {
  const start = `(CASE WHEN ${position} = 0 OR ${position} < -length(${text}) THEN 1 WHEN ${position} > ${mostLength} THEN ${mostLength} ELSE ${position} END)`
  return `substr(${text}, ${start}${length ? `, ${notNegative(length)}` : ''})`
}

/** DuckDB changes characters one by one: of those beyond ASCII some become two, or depend on their place. */
const ofAscii = (sql: string, other: (text: string) => string) => (text: string) =>
  once(
    [text],
    text => `(CASE WHEN length(${text}) = strlen(${text}) THEN ${sql}(${text}) ELSE ${other(text)} END)`,
  )

const inCase = (duck: string) => [ofAscii(duck, text => `gsql_${duck}(${text})`), `gsql_${duck}_bytes`]

/** Of numbers up to a most: without NULLs, for one makes the whole NULL. */
const ofCodes = (most: number, of: (code: string) => string) => (codes: string) => {
  const code = `CASE WHEN c NOT BETWEEN 0 AND ${most} OR c BETWEEN 55296 AND 57343 THEN ${raise('A number is out of range')} ELSE c END`
  return `(CASE WHEN list_count(${codes}) = len(${codes}) THEN ${joinedBy(`list_transform(${codes}, lambda c: ${of(code)})`, `''`)} END)`
}

/** Words begin after delimiters; ß has no capital. */
const capitalized = (text: string, delimiters = wordDelimiters) =>
  once([`regexp_extract_all(${text}, '(?s).')`, `${delimiters} || 'ß'`], (all, kept) => {
    const begins = `i = 1 OR contains(${delimiters}, ${all}[i - 1])`
    const changed = `CASE WHEN contains(${kept}, c) THEN c WHEN ${begins} THEN upper(c) ELSE lower(c) END`
    const text = joinedBy(`list_transform(${all}, lambda c, i: ${changed})`, `''`)
    return `(CASE WHEN ${kept} IS NOT NULL THEN ${text} END)`
  })

const bytes = [(text: string) => `octet_length(encode(${text}))`, (value: string) => `octet_length(${value})`]

/** DuckDB's digests are hexadecimal text. */
const digest = (duck: string) => {
  const ofBoth = (value: string) => `unhex(${duck}(${value}))`
  return [ofBoth, ofBoth]
}

export const stringFunctions: Rules = {
  ...rulesOf({
    ...each('ENDS_WITH REPLACE STARTS_WITH STRPOS TO_BASE64', duck => duck),
    ...each('FROM_BASE32 TO_BASE32', duck => `gsql_${duck}`),
    INITCAP: capitalized,
    INSTR: (text, part, position?: string, occurrence = 'CAST(1 AS BIGINT)') =>
      position === undefined
        ? `strpos(${text}, ${part})`
        : `gsql_instr(${text}, ${part}, ${position}, ${occurrence})`,
    ...each('LTRIM RTRIM TRIM', trim),
    ...each('LPAD RPAD', pad),
    ...each('LEFT RIGHT', cut),
    REPEAT: (text, times) => {
      const size = `greatest(strlen(${text}), 1) * CAST(${times} AS DOUBLE)`
      return `repeat(${text}, (CASE WHEN ${size} > ${mostMade} THEN ${raise('A text is longer than 1 MiB')} ELSE ${notNegative(times)} END))`
    },
    SPLIT: (text, delimiter = `','`) =>
      `(CASE WHEN ${delimiter} IS NOT NULL THEN string_split(${text}, ${delimiter}) END)`,
    SUBSTR: substring,
    SUBSTRING: substring,
    TO_CODE_POINTS: text =>
      `list_transform(regexp_extract_all(${text}, '(?s).'), lambda c: CAST(unicode(c) AS BIGINT))`,
    ...each('MD5 SHA1 SHA256', digest),
    ASCII: text =>
      `(CASE WHEN ascii(${text}) > 127 THEN ${raise('Bad value for a cast')} ELSE ascii(${text}) END)`,
    BYTE_LENGTH: bytes,
    CHARACTER_LENGTH: 'length',
    CHAR_LENGTH: 'length',
    CHR: code => `chr(CAST(${code} AS INTEGER))`,
    CODE_POINTS_TO_BYTES: codes => `unhex(${ofCodes(255, code => `printf('%02x', ${code})`)(codes)})`,
    CODE_POINTS_TO_STRING: ofCodes(0x10ffff, code => `chr(CAST(${code} AS INTEGER))`),
    // With white space, and without the padding that DuckDB insists on: all of it, or none.
    FROM_BASE64: text =>
      once(
        [`regexp_replace(${text}, '\\s+', '', 'g')`],
        text =>
          `from_base64(CASE WHEN ends_with(${text}, '=') THEN ${text} ELSE ${text} || repeat('=', (4 - length(${text}) % 4) % 4) END)`,
      ),
    FROM_HEX: 'unhex',
    FARM_FINGERPRINT: [text => `gsql_fingerprint(encode(${text}))`, 'gsql_fingerprint'],
    LENGTH: ['length', 'octet_length'],
    LOWER: inCase('lower'),
    'NET.HOST': hostOf,
    'NET.PUBLIC_SUFFIX': url => `gsql_public_suffix(${hostOf(url)})`,
    'NET.REG_DOMAIN': url => `gsql_reg_domain(${hostOf(url)})`,
    OCTET_LENGTH: bytes,
    // By characters of Unicode, where DuckDB keeps accents with their letters.
    REVERSE: text =>
      `(CASE WHEN length(${text}) = strlen(${text}) THEN reverse(${text}) ELSE ${joinedBy(`list_reverse(regexp_extract_all(${text}, '(?s).'))`, `''`)} END)`,
    SHA512: [text => `gsql_sha512(encode(${text}))`, 'gsql_sha512'],
    SAFE_CONVERT_BYTES_TO_STRING: 'gsql_decode',
    TRANSLATE: (text, from, to) =>
      `(CASE WHEN len(list_distinct(string_split(${from}, ''))) < length(${from}) THEN CAST(${raise('TRANSLATE has a character twice')} AS VARCHAR) ELSE translate(${text}, ${from}, ${to}) END)`,
    TO_HEX: value => `lower(hex(${value}))`,
    UNICODE: text => `(CASE WHEN ${text} = '' THEN 0 ELSE unicode(${text}) END)`,
    UPPER: inCase('upper'),
  }),

  // NULL if one of them is.
  CONCAT: [
    ({ args }) => `(${args.map(value => convert(value, { kind: 'STRING' })).join(' || ')})`,
    (_, ...values) => `(${values.join(' || ')})`,
  ],
  CONTAINS_SUBSTR: containsSubstring,
  FORMAT: format,
  ...each('NORMALIZE NORMALIZE_AND_CASEFOLD', normalize),
}

/** Whether a value, or any inside an array, a STRUCT or JSON, has a text in it, without regard to case and Unicode's forms. */
function containsSubstring(site: CallSite, _: string, given: string): string {
  const [value] = site.args as [Typed]
  const test = (text: string, sql: string) => `contains(${folded(text)}, ${sql})`
  return once([folded(given)], part =>
    isScalar(value)
      ? test(textOf(site, value), part)
      : anyOf(`list_transform(${textsOf(site, value)}, lambda c: ${test('c', part)})`),
  )
}

const folded = ofAscii('lower', text => `gsql_normalize_and_casefold(${text}, 'NFKC')`)

const isScalar = ({ type }: Typed) => !/^(STRUCT|ARRAY|JSON)$/.test(type?.kind ?? '')

function textOf(site: CallSite, value: Typed): string {
  return convert(value, { kind: 'STRING' })
}

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

function normalize(duck: string): Rule {
  return (site, text, form = 'NFC') => {
    if (/^NFK?[CD]$/.test(form)) return `gsql_${duck}(${text}, '${form}')`
    throw site.invalid(`${site.name} takes NFC, NFD, NFKC or NFKD`, site.call.arguments[1])
  }
}
