/**
 * FORMAT, after https://cloud.google.com/bigquery/docs/reference/standard-sql/format-elements: each conversion becomes an
 * expression of its own, so a NULL makes the whole text NULL, but for %t and %T.
 */
import type { ScalarName, SqlType } from '../../../../sql/types.ts'
import { duckType, quoteText } from '../../syntax.ts'
import { convert } from '../casts.ts'
import { within } from '../bounds.ts'
import { structField, type Typed, typed } from '../context.ts'
import type { CallSite } from './signature.ts'

/** Flags, width, precision and letter; a width of `*` is an argument. */
const conversion = /%%|%(?<flags>[-+ 0#']*)(?<width>\*|\d*)(?:\.(?<precision>\d+))?(?<letter>.?)/gsu

/** The widest value, and the longest fraction: without a bound, a few characters would ask for gigabytes. */
const most = 1000

interface Specification {
  /** With `'`, which asks for commas between thousands. */
  flags: string
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
  p: [['JSON'], ({ sql }) => `CAST(${sql} AS VARCHAR)`],
}

function same<Entry>(names: string, types: ScalarName[], text: Entry): Record<string, [ScalarName[], Entry]> {
  return Object.fromEntries(names.split('').map(name => [name, [types, text]]))
}

export function format(site: CallSite): Typed {
  const pattern = site.literalText(site.call.arguments[0])
  const parts: string[] = []
  let taken = 0
  let end = 0
  const next = () => {
    if (++taken >= site.call.arguments.length) throw site.invalid('FORMAT has too few values')
    return site.argument(taken)
  }
  for (const match of pattern.matchAll(conversion)) {
    if (match.index > end) parts.push(quoteText(pattern.slice(end, match.index)))
    end = match.index + match[0].length
    parts.push(match[0] === '%%' ? `'%'` : converted(site, match.groups as unknown as Specification, next))
  }
  if (end < pattern.length) parts.push(quoteText(pattern.slice(end)))
  if (taken + 1 !== site.call.arguments.length) throw site.invalid('FORMAT has too many values')
  return typed(parts.length > 0 ? `(${parts.join(' || ')})` : `''`, 'STRING')
}

function converted(site: CallSite, spec: Specification, next: () => Typed): string {
  const { width, letter } = spec
  const star = width === '*' ? next() : null
  if (star && star.type?.kind !== 'INT64') throw site.noMatch([star])
  const value = next()
  if (Number(spec.precision ?? 0) > most || (width !== '*' && Number(width) > most))
    throw site.invalid(`FORMAT takes widths and precisions up to ${most}`)
  const text = letter === 't' || letter === 'T' ? anyText(site, value, letter) : scalarText(site, value, spec)
  return padded(
    text,
    star ? within(site.context, '%*', site.call.arguments, star.sql, star.sql) : width,
    spec,
  )
}

function scalarText(site: CallSite, value: Typed, spec: Specification): string {
  const [types, text] = Object.hasOwn(letters, spec.letter) ? letters[spec.letter]! : [[], null]
  if (text === null) throw site.unsupported(`FORMAT with %${spec.letter}`)
  if (value.type !== null && !types.includes(value.type.kind as ScalarName)) throw site.noMatch([value])
  return text(
    value.type === null ? { ...value, sql: `CAST(NULL AS ${duckType({ kind: types[0]! })})` } : value,
    spec,
  )!
}

/** A number fills its width with zeros behind its sign where `0` asks for them; else there are spaces on the left. */
function padded(text: string, width: string, { flags, letter }: Specification): string {
  if (width === '') return text
  const size = `greatest(${width}, length(${text}))`
  if (flags.includes('-')) return `rpad(${text}, CAST(${size} AS INTEGER), ' ')`
  if (!flags.includes('0') || !/[dixXofFeEgG]/.test(letter))
    return `lpad(${text}, CAST(${size} AS INTEGER), ' ')`
  const sign = `regexp_extract(${text}, '^[-+ ]?(0[xX])?')`
  const rest = `substr(${text}, length(${sign}) + 1)`
  const zeros = `${sign} || lpad(${rest}, CAST(${size} - length(${sign}) AS INTEGER), '0')`
  return `(CASE WHEN regexp_matches(${text}, '[0-9]') THEN ${zeros} ELSE lpad(${text}, CAST(${size} AS INTEGER), ' ') END)`
}

/** With `+` or a space before a number that is not negative. */
function signed(text: string, negative: string, { flags }: Specification): string {
  const sign = flags.includes('+') ? '+' : flags.includes(' ') ? ' ' : ''
  return sign ? `(CASE WHEN ${negative} THEN '' ELSE '${sign}' END || ${text})` : text
}

function whole({ sql }: Typed, spec: Specification): string {
  const text = spec.flags.includes(`'`) ? `format('{:,}', ${sql})` : `CAST(${sql} AS VARCHAR)`
  return signed(text, `${sql} < 0`, spec)
}

/** The digits of the absolute value behind the sign; `#` puts `0x` or `0` between them. */
function otherBase({ sql }: Typed, spec: Specification): string {
  const mark = { x: '0x', X: '0X', o: '0' }[spec.letter]!
  const prefix = spec.flags.includes('#') ? `'${mark}' || ` : ''
  const size = `abs(CAST(${sql} AS HUGEINT))`
  return signed(
    `(CASE WHEN ${sql} < 0 THEN '-' ELSE '' END || ${prefix}format('{:${spec.letter}}', ${size}))`,
    `${sql} < 0`,
    spec,
  )
}

/** A NUMERIC is exact with %f; in other forms it is a FLOAT64. */
function fraction({ sql, type }: Typed, spec: Specification): string {
  const { flags, precision = '6', letter } = spec
  const comma = flags.includes(`'`) ? ',' : ''
  const decimal = type?.kind !== 'FLOAT64' && /f/i.test(letter) && Number(precision) <= 9
  const double = type?.kind === 'FLOAT64' ? sql : `CAST(round(${sql}, ${precision}) AS DOUBLE)`
  const text =
    decimal && !comma
      ? `CAST(CAST(round(${sql}, ${precision}) AS DECIMAL(38,${precision})) AS VARCHAR)`
      : `format('{:${flags.includes('#') ? '#' : ''}${comma}.${precision}${letter}}', ${double})`
  return signed(text, `${sql} < 0`, spec)
}

/** Any value as %t or %T writes it, also NULL. */
function anyText(site: CallSite, { sql, type }: Typed, letter: 't' | 'T', depth = 0): string {
  if (type === null) return `'NULL'`
  return `(CASE WHEN ${sql} IS NULL THEN 'NULL' ELSE ${knownText(site, sql, type, letter, depth)} END)`
}

function knownText(site: CallSite, sql: string, type: SqlType, letter: 't' | 'T', depth: number): string {
  if (type.kind === 'ARRAY') {
    const item = anyText(site, typed(`f${depth}`, type.element), letter, depth + 1)
    return `('[' || array_to_string(list_transform(${sql}, lambda f${depth}: ${item}), ', ') || ']')`
  }
  if (type.kind === 'STRUCT') {
    const fields = type.fields.map((_, at) => anyText(site, structField(sql, type, at), letter, depth))
    return `('(' || ${fields.join(` || ', ' || `)} || ')')`
  }
  if (type.kind === 'JSON' || type.kind === 'INTERVAL' || type.kind === 'BYTES') {
    if (letter === 't' && type.kind === 'JSON') return `CAST(json(${sql}) AS VARCHAR)`
    throw site.unsupported(`FORMAT of ${type.kind} with %${letter}`)
  }
  const text = type.kind === 'FLOAT64' ? floatWithPoint(sql) : convert(typed(sql, type), { kind: 'STRING' })!
  return letter === 't' ? text : literalForm(sql, type.kind, text)
}

/** As a literal, which has a point or an exponent, so that it is no integer. */
function floatWithPoint(sql: string): string {
  const text = convert(typed(sql, 'FLOAT64'), { kind: 'STRING' })!
  return `regexp_replace(${text}, '^(-?[0-9]+)$', '\\1.0')`
}

/** As the literal that has this value. */
function literalForm(sql: string, kind: ScalarName, text: string): string {
  if (kind === 'INT64' || kind === 'BOOL') return text
  if (kind === 'STRING') return `CAST(to_json(${sql}) AS VARCHAR)`
  const named = `'${kind} "' || ${text} || '"'`
  if (kind !== 'FLOAT64') return `(${named})`
  return `(CASE WHEN isfinite(${sql}) THEN ${text} ELSE 'CAST("' || ${text} || '" AS FLOAT64)' END)`
}
