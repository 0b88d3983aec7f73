/**
 * Structured log lines, one JSON object each, as Cloud Logging reads them.
 * They hold names, codes, counts and times; never a key, a parameter's value, a row, or text from a caller.
 */
import { ApiError } from './errors.ts'
import { EngineError } from './engines/engine.ts'
import { withoutKeys } from './keys/key-text.ts'
import { StoreError } from './stores/store.ts'
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
 * The message is left out, as it may quote a value or a caller's text; but the engine's message for a misconfiguration
 * names the table or right that the operator has to correct, one for a failure the log file, and they hold nothing else.
 */
export function describeError(error: unknown): Details {
  if (!(error instanceof Error)) return { error: typeof error }
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause)['error'] ?? null }
  if (error instanceof ApiError) return { error: error.code, ...cause, ...reasonOf(error.cause) }
  return { error: error.name, ...cause, ...reasonOf(error), frames: framesOf(error) }
}

function reasonOf(error: unknown): Details {
  if (error instanceof StoreError) return { reason: error.reason, ...codeOf(error.cause) }
  if (!(error instanceof EngineError)) return {}
  return ['misconfigured', 'failed', 'no_rollup'].includes(error.reason)
    ? { reason: error.reason, engine: error.message }
    : { reason: error.reason }
}

/** The status code of gRPC or the error code of Node that a store's client gives. */
function codeOf(cause: unknown): Details {
  const { code } = (cause ?? {}) as { code?: unknown }
  return typeof code === 'number' || typeof code === 'string' ? { code } : {}
}

/** The stack without the message, a line of which may look like a frame. */
function framesOf({ stack = '', message }: Error): string[] {
  const lines = stack
    .replace(message, () => '')
    .split('\n')
    .map(line => line.trim())
  return lines.filter(line => /^at .+:\d+:\d+\)?$/.test(line)).slice(0, 8)
}
