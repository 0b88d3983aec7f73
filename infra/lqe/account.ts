import { hostname, userInfo } from 'node:os'
import { type Details, lineOf } from '../../shared/log.ts'
import { warn } from './print.ts'

/** The account and machine that this command runs on, by what the machine says; `null` in a container whose user has no entry. */
export function accountHere(): string | null {
  try {
    return `${userInfo().username}@${hostname()}`
  } catch {
    return null
  }
}

/**
 * An audit line on standard error, from where Cloud Logging has it in Cloud Build or a job; a terminal shows what `print`
 * says instead. `by` is what this machine says; what Google says is in Firestore's own audit log (infra/docs/operating.md,
 * "Who changed a key"). The store keeps no name: any that a command wrote there could be anyone's.
 */
export function audit(message: string, details: Details): void {
  if (!process.stderr.isTTY) warn(lineOf('NOTICE', message, { ...details, by: accountHere() }))
}
