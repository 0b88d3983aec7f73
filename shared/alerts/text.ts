/** The words of an alert: its text with values in place of `{{ name }}`. */
import type { Row } from '../engines/engine.ts'
import { redactRows, redactText } from '../redact/redact.ts'
import { visible } from '../visible-text.ts'
import type { Alert } from '../endpoints/alert.ts'
import type { Evaluation } from './condition.ts'

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g

/** Names that stand for what was found; a column of that name is read all the same. */
export const ownNames = ['value', 'rows'] as const

/** The names in a text. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(placeholder)].map(match => match[1]!)
}

const maxRows = 10
/** Of the rows that go with a text, as JSON; a message is read by people. */
const maxBytes = 20_000
const maxText = 4_000

/** What is told where rows were found: redacted, unless the alert says otherwise. */
export function told(
  { text, redact }: Pick<Alert, 'text' | 'redact'>,
  parameters: Alert['sets'][number],
  { value, count, rows }: Pick<Evaluation, 'value' | 'count' | 'rows'>,
): { text: string; rows: Row[] } {
  const shown = redact ? redactRows(rows.slice(0, maxRows)) : rows.slice(0, maxRows)
  const values: Record<string, unknown> = { value, rows: count, ...parameters, ...shown[0] }
  const filled = text.replace(placeholder, (_, name: string) => textOf(values[name]))
  return {
    text: (redact ? redactText(filled) : filled).slice(0, maxText).toWellFormed(),
    rows: within(shown),
  }
}

/** Shares have many digits. */
function textOf(value: unknown): string {
  if (typeof value === 'number') return String(Number.isInteger(value) ? value : Number(value.toPrecision(6)))
  return typeof value === 'string' ? visible(value) : value === undefined ? '' : JSON.stringify(value)
}

function within(rows: Row[]): Row[] {
  let left = maxBytes
  const fits = rows.findIndex(row => (left -= Buffer.byteLength(JSON.stringify(row))) < 0)
  return fits < 0 ? rows : rows.slice(0, fits)
}
