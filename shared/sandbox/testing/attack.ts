import type { ErrorCode } from '../../errors.ts'

/** Queries that try the same way out, the rule that stops them, and the words of its message. */
export interface Attacks {
  rule: string
  code: Extract<ErrorCode, 'sandbox_violation' | 'invalid_query'>
  stops: RegExp
  /** By title. */
  attempts: Record<string, string>
}
