/** Rows as CSV, for the service's answers and the explorer's downloads. */
import type { Row, Value } from '../engines/engine.ts'
import { headingOf, timeText } from './times.ts'

/** RFC 4180, with a header line; a nested value as JSON text. */
export function csv(rows: Row[], columns: string[]): string {
  const lines = rows.map(row => asTexts(columns.map(column => field(row[column] ?? null, guard))))
  return [csvLine(columns, guard), ...lines].map(line => `${line}\r\n`).join('')
}

/** A CSV record without its line end. @param written encodes the text of a value */
export function csvLine(values: readonly Value[], written = (text: string) => text): string {
  return values.map(value => field(value, written)).join(',')
}

function field(value: Value, written: (text: string) => string): string {
  if (value === null) return ''
  return quote(written(typeof value === 'object' ? JSON.stringify(value) : String(value)))
}

/**
 * The same for a program such as Excel: with a byte order mark, by which it knows UTF-8, and with times as it reads them,
 * to the millisecond, and a header that names their zone. @param textOf a time in that zone, as `timeText` has it in UTC
 */
export function spreadsheet(rows: Row[], columns: string[], zone = 'UTC', textOf = timeText): string {
  const readable = (value: Value) => textOf(value)?.slice(0, '2026-01-31 12:00:00.000'.length) ?? value
  const heads = columns.map(name => headingOf(rows, name, zone))
  const asRead = rows.map(row =>
    Object.fromEntries(columns.map((name, at) => [heads[at], readable(row[name] ?? null)])),
  )
  return `\ufeff${csv(asRead, heads)}`
}

/**
 * Where a program splits at semicolons, a line that begins with a negative number is one cell, `-1,2+cmd|'/C calc'!A0`:
 * quotation marks around its texts keep it from being a formula.
 */
function asTexts(fields: string[]): string {
  if (!/^[-+]/.test(fields[0] ?? '')) return fields.join(',')
  return fields
    .map(text => (/^(?:"|[\d.:TZ +-]*(?:e[+-]?\d+|Infinity)?$)/.test(text) ? text : `"${text}"`))
    .join(',')
}

/**
 * A spreadsheet would run text that begins as a formula, so an apostrophe goes in front (OWASP, "CSV Injection"). One of
 * another locale splits at other signs than the comma, where no quotation marks hold text together, so behind these too.
 * Numbers, decimals and infinities are not changed.
 */
function guard(text: string): string {
  return mayBegin.test(text) ? text.replace(formula, "$1'") : text
}

/** A cheap test before `formula`, which most texts do not need. */
const mayBegin = /(?:[;|\t\r\n]|^)[^\w ;|]/

const formula = new RegExp(
  String.raw`([;|\t\r\n]|^)(?=(?:(?![\t\r\n])[\p{C}"'])*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe66\ufe62\ufe63\ufe6b])` +
    String.raw`(?![+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Infinity)(?:$|[;|\t\r\n]))`,
  'giu',
)

function quote(text: string): string {
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
