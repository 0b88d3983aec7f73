/**
 * The state that findings make of a set of parameters, and the words in which it is told. Nothing is read or written here, and
 * times are the store's.
 */
import type { Message } from './channels.ts'
import type { Evaluation, Finding } from './condition.ts'
import type { Alert } from '../endpoints/definition.ts'
import type { Row } from '../engines/engine.ts'
import { redactRows, redactText } from '../redact/redact.ts'
import { visible } from '../visible-text.ts'

/** What has been told last; `ok` = nothing yet. */
export type ToldState = 'ok' | Message['state']

export interface AlertState {
  /** `at` = when it was last told. */
  told: { state: ToldState; since: number; at: number }
  /** What was found since, and is not told yet; `null` = nothing else. */
  waiting: { finding: Finding; since: number } | null
}

/** An engine may fail for a moment without an alarm. */
const failingMs = 5 * 60_000

export function firstState(now: number): AlertState {
  return { told: { state: 'ok', since: now, at: now }, waiting: null }
}

/** Whether a state is of a later moment: a call that stood still for a while comes after others. */
export function isLater({ told, waiting }: AlertState, now: number): boolean {
  return Math.max(told.at, waiting?.since ?? 0) > now
}

/** In the words of lists: `pending` = found, and not for long enough, or silenced. */
export function shownState({ told, waiting }: AlertState): { state: ToldState | 'pending'; since: number } {
  const isPending = waiting !== null && findingOf(told.state) === 'calm'
  return isPending ? { state: 'pending', since: waiting.since } : { state: told.state, since: told.since }
}

/** The alert's own, with what evaluations may come too early: schedulers are not on time to the second. */
export interface Rule extends Pick<Alert, 'forMs' | 'repeatMs'> {
  marginMs: number
}

/**
 * The state after a finding, and what is to be told of it; `null` = nothing. What is found is told once it holds for as long as
 * the alert says, and its end at once.
 * @param isHeld whether nothing may be told now: what still holds then is told later
 */
export function step(
  { forMs, repeatMs, marginMs }: Rule,
  { told, waiting }: AlertState,
  finding: Finding,
  now: number,
  isHeld = false,
): { state: AlertState; tells: Message['state'] | null } {
  if (finding === findingOf(told.state)) {
    const isDue = repeatMs !== null && now - told.at >= repeatMs - marginMs && !isHeld
    if (told.state === 'ok' || told.state === 'resolved' || !isDue)
      return { state: { told, waiting: null }, tells: null }
    return { state: { told: { ...told, at: now }, waiting: null }, tells: told.state }
  }
  const found = waiting?.finding === finding ? waiting : { finding, since: now }
  if (isHeld || now - found.since < patience[finding](forMs) - marginMs)
    return { state: { told, waiting: found }, tells: null }
  const state = finding === 'calm' ? 'resolved' : finding
  return { state: { told: { state, since: found.since, at: now }, waiting: null }, tells: state }
}

/** How long a finding must hold, by how long the alert's condition must. */
const patience: Record<Finding, (forMs: number) => number> = {
  calm: () => 0,
  firing: forMs => forMs,
  'no data': forMs => forMs,
  failing: forMs => Math.max(forMs, failingMs),
}

function findingOf(state: ToldState): Finding {
  return state === 'ok' || state === 'resolved' ? 'calm' : state
}

const placeholder = /\{\{\s*([^{}]*?)\s*\}\}/g

/** Names for results of the evaluation; a column of the same name takes precedence. */
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
export function fillText(
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
