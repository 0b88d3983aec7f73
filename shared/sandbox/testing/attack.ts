import type { ErrorCode } from '../../errors.ts'

/** Queries that try the same way out, and what stops them: the rule, and the words in which it says so. */
export interface Attacks {
  rule: string
  code: Extract<ErrorCode, 'sandbox_violation' | 'invalid_query'>
  stops: RegExp
  /** By what each tries. */
  attempts: Record<string, string>
}
