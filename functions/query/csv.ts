/** Rows as CSV, for the service's answers and the explorer's downloads. */
import type { Row, Value } from '../../shared/engines/engine.ts'
import { timeText } from './times.ts'

/** RFC 4180, with a header line; a nested value as JSON text. */
export function csv(rows: Row[], columns: string[]): string {
  const lines = rows.map(row => columns.map(column => field(row[column] ?? null)).join(','))
  return [columns.map(field).join(','), ...lines].map(line => `${line}\r\n`).join('')
}

/**
 * The same for a program such as Excel: with a byte order mark, by which it knows UTF-8, and with times as it reads them,
 * UTC and to the millisecond.
 */
export function spreadsheet(rows: Row[], columns: string[]): string {
  const readable = (value: Value) => timeText(value)?.slice(0, '2026-01-31 12:00:00.000'.length) ?? value
  const asRead = rows.map(row => Object.fromEntries(columns.map(name => [name, readable(row[name] ?? null)])))
  return `\ufeff${csv(asRead, columns)}`
}

function field(value: Value): string {
  if (value === null) return ''
  if (typeof value !== 'string')
    return quoted(typeof value === 'object' ? JSON.stringify(value) : String(value))
  return quoted(asText(value))
}

/**
 * Text that a spreadsheet would run as a formula gets an apostrophe in front (OWASP, "CSV Injection"). Numbers,
 * decimals and infinities are left alone.
 */
function asText(text: string): string {
  return /^[=+\-@\t\r]/.test(text) && !/^[+-]?(\d+(\.\d+)?|Infinity)$/.test(text) ? `'${text}` : text
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
