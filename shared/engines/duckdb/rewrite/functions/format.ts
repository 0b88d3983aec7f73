/**
 * FORMAT, after https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements: each conversion becomes an
 * expression of its own, so a NULL makes the whole text NULL, but for %t and %T.
 */
import type { ScalarName, SqlType } from '../../../../sql/types.ts'
import { quoteText } from '../../syntax.ts'
import { convert, signedFloatText } from '../casts.ts'
import { joinedBy } from '../repeats.ts'
import { raise, structField, type Typed, typed } from '../context.ts'
import type { CallSite } from './signature.ts'

/** Flags, width, precision and letter; a width of `*` is an argument. */
const conversion = /%%|%(?<flags>[-+ 0#']*)(?<width>\*|\d*)(?:\.(?<precision>\*|\d+))?(?<letter>.?)/gsu

/** The widest value, and the longest fraction: without a bound, a few characters would ask for gigabytes. */
const most = 1000

interface Specification {
  /** With `'`, which asks for commas between thousands. */
  flags: string
  /** Both are numbers, or SQL where they are arguments. */
  width: string
  precision: string | undefined
  letter: string
}

/** The types that a letter takes, and the text of a value without its width. */
const letters: Record<
  string,
  [types: ScalarName[], text: (value: Typed, spec: Specification) => string | null]
> = {
  ...same('di', ['INT64'], whole),
  ...same('xXo', ['INT64'], otherBase),
  ...same('fFeEgG', ['FLOAT64', 'NUMERIC', 'BIGNUMERIC'], fraction),
  s: [['STRING'], ({ sql }, { precision }) => (precision ? `left(${sql}, ${precision})` : sql)],
  p: [['JSON'], ({ sql }) => `gsql_json_rounded(CAST(${sql} AS VARCHAR))`],
  P: [['JSON'], ({ sql }) => `gsql_json_pretty(CAST(${sql} AS VARCHAR))`],
}

function same<Entry>(names: string, types: ScalarName[], text: Entry): Record<string, [ScalarName[], Entry]> {
  return Object.fromEntries(names.split('').map(name => [name, [types, text]]))
}

/** Throws SqlError for too few or too many values, and UnsupportedError for a pattern that is no literal. */
export function format(site: CallSite, ...texts: string[]): string {
  const values = site.args.map((value, at) => ({ ...value, sql: texts[at]! }))
  const [node] = site.call.arguments
  if (node?.kind === 'Literal' && node.literal === 'NULL') return 'CAST(NULL AS VARCHAR)'
  const pattern = site.literalText(node)
  const parts: string[] = []
  let taken = 0
  let end = 0
  const next = () => {
    if (++taken >= site.call.arguments.length) throw site.invalid('FORMAT has too few values')
    return values[taken]!
  }
  for (const match of pattern.matchAll(conversion)) {
    if (match.index > end) parts.push(quoteText(pattern.slice(end, match.index)))
    end = match.index + match[0].length
    parts.push(
      match[0] === '%%' ? `'%'` : convertArgument(site, match.groups as unknown as Specification, next),
    )
  }
  if (end < pattern.length) parts.push(quoteText(pattern.slice(end)))
  if (taken + 1 !== site.call.arguments.length) throw site.invalid('FORMAT has too many values')
  return parts.length > 0 ? `(${parts.join(' || ')})` : `''`
}

function convertArgument(site: CallSite, spec: Specification, next: () => Typed): string {
  const { letter } = spec
  const size = (written: string | undefined) => {
    if (Number(written) > most) throw site.invalid(`FORMAT takes widths and precisions up to ${most}`)
    if (written !== '*') return written
    const { sql, type } = next()
    if (type?.kind !== 'INT64') throw site.noMatch([{ type }])
    return `(CASE WHEN abs(${sql}) > ${most} THEN ${raise('A number is out of range')} ELSE ${sql} END)`
  }
  const width = size(spec.width)!
  const precision = size(spec.precision)
  const value = next()
  const sized = { ...spec, width, precision }
  if (letter !== 't' && letter !== 'T') return pad(scalarText(site, value, sized), sized)
  const text = anyText(site, value, letter)
  return pad(precision ? `left(${text}, ${precision})` : text, sized)
}

function scalarText(site: CallSite, value: Typed, spec: Specification): string {
  const [types, text] = Object.hasOwn(letters, spec.letter) ? letters[spec.letter]! : [[], null]
  if (text === null) throw site.invalid(`FORMAT has no %${spec.letter}`)
  // A bare NULL is an INT64.
  const type = value.type ?? { kind: 'INT64' }
  if (!types.includes(type.kind as ScalarName)) throw site.noMatch([value])
  return text({ ...value, type, sql: value.type ? value.sql : 'CAST(NULL AS BIGINT)' }, spec)!
}

/** A number fills its width with zeros behind its sign where `0` asks for them, and no precision says how many; else with spaces. */
function pad(text: string, { width, flags, precision, letter }: Specification): string {
  if (width === '') return text
  const size = `greatest(abs(${width}), length(${text}))`
  // A negative width from an argument is a flag.
  if (!/^\d+$/.test(width) && !flags.includes('-'))
    return `(CASE WHEN ${width} < 0 THEN rpad(${text}, CAST(${size} AS INTEGER), ' ') ELSE lpad(${text}, CAST(${size} AS INTEGER), ' ') END)`
  if (flags.includes('-')) return `rpad(${text}, CAST(${size} AS INTEGER), ' ')`
  const hasZeros = flags.includes('0') && !(precision && /[di]/.test(letter))
  if (!hasZeros || !/[dixXofFeEgG]/.test(letter)) return `lpad(${text}, CAST(${size} AS INTEGER), ' ')`
  const sign = `regexp_extract(${text}, '^[-+ ]?(0[xX])?')`
  const rest = `substr(${text}, length(${sign}) + 1)`
  const zeros = `${sign} || lpad(${rest}, CAST(${size} - length(${sign}) AS INTEGER), '0')`
  const spaces = `lpad(${text}, CAST(${size} AS INTEGER), ' ')`
  return `(CASE WHEN NOT regexp_matches(${text}, '(?i)inf|nan') THEN ${zeros} ELSE ${spaces} END)`
}

/** With `+` or a space before a number that is not negative. */
function addSign(text: string, negative: string, { flags }: Specification): string {
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
  return sign ? `(CASE WHEN ${negative} THEN '' ELSE '${sign}' END || ${text})` : text
}

function whole({ sql }: Typed, spec: Specification): string {
  const text = spec.flags.includes(`'`) ? `format('{:,}', ${sql})` : `CAST(${sql} AS VARCHAR)`
  if (!spec.precision) return addSign(text, `${sql} < 0`, spec)
  const digits = withZeros(`CAST(abs(CAST(${sql} AS HUGEINT)) AS VARCHAR)`, spec)
  return addSign(`(CASE WHEN ${sql} < 0 THEN '-' ELSE '' END || ${digits})`, `${sql} < 0`, spec)
}

function withZeros(digits: string, { precision }: Specification): string {
  return precision
    ? `lpad(${digits}, CAST(greatest(${precision}, length(${digits})) AS INTEGER), '0')`
    : digits
}

/** The digits of the absolute value behind the sign; `#` puts `0x` or `0` between them. */
function otherBase({ sql }: Typed, spec: Specification): string {
  const mark = { x: '0x', X: '0X', o: '0' }[spec.letter]!
  const prefix = spec.flags.includes('#') ? `'${mark}' || ` : ''
  const size = `abs(CAST(${sql} AS HUGEINT))`
  return addSign(
    `(CASE WHEN ${sql} < 0 THEN '-' ELSE '' END || ${prefix}${withZeros(`format('{:${spec.letter}}', ${size})`, spec)})`,
    `${sql} < 0`,
    spec,
  )
}

/** A NUMERIC is exact with %f; in other forms it is a FLOAT64. DuckDB's own digits are those of small numbers only. */
function fraction({ sql, type }: Typed, spec: Specification): string {
  const { flags, precision = '6', letter } = spec
  const comma = flags.includes(`'`)
  const fixed = /f/i.test(letter)
  if (type?.kind !== 'FLOAT64' && fixed) {
    const text = `CAST(CAST(${sql} AS DECIMAL(38,9)) AS VARCHAR)`
    return addSign(`gsql_fixed_decimal(${text}, ${precision}, ${comma})`, `${sql} < 0`, spec)
  }
  const double = type?.kind === 'FLOAT64' ? `(${sql} + 0)` : `CAST(CAST(${sql} AS VARCHAR) AS DOUBLE)`
  const form = `{:${flags.includes('#') ? '#' : ''}${comma ? ',' : ''}.{}${letter}}`
  const short = `format('${form}', ${double}, CAST(${precision} AS INTEGER))`
  const long = `gsql_fixed(${double}, ${precision}, ${comma})`
  const exact = fixed
    ? `(CASE WHEN abs(${double}) < 1e15 OR NOT isfinite(${double}) THEN ${short} ELSE ${long} END)`
    : short
  return addSign(exact, `${sql} < 0`, spec)
}

/** Any value as %t or %T writes it, also NULL. */
function anyText(site: CallSite, { sql, type }: Typed, letter: 't' | 'T', depth = 0): string {
  if (type === null) return `'NULL'`
  return `(CASE WHEN ${sql} IS NULL THEN 'NULL' ELSE ${knownText(site, sql, type, letter, depth)} END)`
}

function knownText(site: CallSite, sql: string, type: SqlType, letter: 't' | 'T', depth: number): string {
  if (type.kind === 'ARRAY') {
    const item = anyText(site, typed(`f${depth}`, type.element), letter, depth + 1)
    return `('[' || ${joinedBy(`list_transform(${sql}, lambda f${depth}: ${item})`, `', '`)} || ']')`
  }
  if (type.kind === 'STRUCT') {
    const fields = type.fields.map((_, at) => anyText(site, structField(sql, type, at), letter, depth))
    const name = letter === 'T' && fields.length === 1 ? 'STRUCT' : ''
    return `('${name}(' || ${fields.join(` || ', ' || `)} || ')')`
  }
  if (type.kind === 'BYTES') return `gsql_bytes_text(${sql}, ${letter === 'T'})`
  if (type.kind === 'JSON') {
    const json = `gsql_json_rounded(CAST(${sql} AS VARCHAR))`
    return letter === 't' ? json : `('JSON ' || gsql_string_literal(${json}))`
  }
  const text = type.kind === 'FLOAT64' ? floatWithPoint(sql) : convert(typed(sql, type), { kind: 'STRING' })
  return letter === 't' ? text : literalForm(sql, type.kind, text)
}

/** As a literal, which has a point or an exponent, so that it is no integer. */
function floatWithPoint(sql: string): string {
  const text = signedFloatText(sql)
  return `regexp_replace(${text}, '^(-?[0-9]+)$', '\\1.0')`
}

function literalForm(sql: string, kind: ScalarName, text: string): string {
  if (kind === 'INT64' || kind === 'BOOL') return text
  if (kind === 'STRING') return `gsql_string_literal(${sql})`
  if (kind === 'INTERVAL') return `('INTERVAL "' || ${text} || '" YEAR TO SECOND')`
  const named = `'${kind} "' || ${text} || '"'`
  if (kind !== 'FLOAT64') return `(${named})`
  return `(CASE WHEN isfinite(${sql}) THEN ${text} ELSE 'CAST("' || ${text} || '" AS FLOAT64)' END)`
}
