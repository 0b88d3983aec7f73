/**
 * Structured log lines, one JSON object each, as Cloud Logging reads them.
 * They hold names, codes, counts and times; never a key, a parameter's value, a row, or text from a caller.
 */
import { ApiError, PortError } from './errors.ts'
import { withoutKeys } from './key-text.ts'
import { visibleJson } from './visible-text.ts'

export type Severity = 'DEBUG' | 'INFO' | 'NOTICE' | 'WARNING' | 'ERROR'

export type Details = Record<string, string | number | boolean | null | string[]>

export type Log = (severity: Severity, message: string, details?: Details) => void

/** Writes to standard output, which Cloud Run collects. */
export const log: Log = (...line) => void process.stdout.write(`${lineOf(...line)}\n`)

/** A line without its end, for a program whose standard output is for people. */
export function lineOf(severity: Severity, message: string, details: Details = {}): string {
  const line = { severity, message, time: new Date().toISOString(), ...details }
  return visibleJson(withoutKeys(JSON.stringify(line)))
}

/** The same log with at most one line a second for each message and reason: during an outage every call fails. */
export function occasionally(write: Log, clock: { now(): number } = performance): Log {
  const written = new Map<string, number>()
  return (severity, message, details = {}) => {
    const kind = [message, details['error'], details['reason'], details['code']].join(' ')
    const now = clock.now()
    if (now - (written.get(kind) ?? -Infinity) < 1_000) return
    written.set(kind, now)
    write(severity, message, details)
  }
}

/**
 * The trace that a request belongs to, in the field by which Cloud Logging groups lines.
 * @param traceparent the W3C header, or `undefined`
 */
export function traceOf(traceparent: string | undefined, project: string | null): Details {
  const match = /^00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(traceparent ?? '')
  if (!match) return {}
  const [, trace, span] = match
  const name = project === null ? trace! : `projects/${project}/traces/${trace}`
  return { 'logging.googleapis.com/trace': name, 'logging.googleapis.com/spanId': span! }
}

/**
 * The part of an error that may be logged: its kind and where it was thrown, with the reason of a failed engine or store.
 * The message is left out, as it may quote a value or a caller's text.
 */
export function describeError(error: unknown): Details {
  if (!(error instanceof Error)) return { error: typeof error }
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause)['error'] ?? null }
  if (error instanceof ApiError) {
    const { claim } = error.problems[0] ?? {}
    return { error: error.code, ...(claim ? { claim } : {}), ...cause, ...reasonOf(error.cause) }
  }
  return { error: error.name, ...cause, ...reasonOf(error), frames: framesOf(error) }
}

function reasonOf(error: unknown): Details {
  return error instanceof PortError ? error.logged : {}
}

/** The stack without the message, a line of which may look like a frame. */
function framesOf({ stack = '', message }: Error): string[] {
  const lines = stack
    .replace(message, () => '')
    .split('\n')
    .map(line => line.trim())
  return lines.filter(line => /^at .+:\d+:\d+\)?$/.test(line)).slice(0, 8)
}
