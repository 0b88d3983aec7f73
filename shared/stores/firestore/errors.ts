/** Firestore's gRPC status codes as errors of the port. https://grpc.io/docs/guides/status-codes/ */
import { StoreError, type StoreErrorReason } from '../store.ts'

const invalidArgument = 3
const notFound = 5
const alreadyExists = 6
const failedPrecondition = 9
const aborted = 10
const outOfRange = 11

const conflicts: unknown[] = [notFound, alreadyExists, failedPrecondition, aborted]

/** Whether a commit was refused because a precondition does not hold. */
export function isConflict(error: unknown): boolean {
  return conflicts.includes(codeOf(error))
}

/** A read has no precondition: FAILED_PRECONDITION means that an index is missing, which this service has to define. */
export function readError(error: unknown): unknown {
  return storeError(error, {
    [invalidArgument]: 'invalid',
    [outOfRange]: 'invalid',
    [failedPrecondition]: 'invalid',
  })
}

/** Only Firestore sees that an update makes a document too large, and it says so only in the message. */
export function writeError(error: unknown): unknown {
  const tooLarge = /\bsize\b|\bbytes\b|too (big|large)/i.test(String(error))
  return storeError(error, {
    [invalidArgument]: tooLarge ? 'too_large' : 'invalid',
    [outOfRange]: 'invalid',
    [notFound]: 'conflict',
    [alreadyExists]: 'conflict',
    [failedPrecondition]: 'conflict',
    [aborted]: 'conflict',
  })
}

/** Any other failure, such as refused credentials, means that the store is not available; the cause says why. */
function storeError(error: unknown, reasons: { [code: number]: StoreErrorReason }): unknown {
  if (error instanceof StoreError || error instanceof TypeError) return error
  const reason = reasons[codeOf(error) ?? -1] ?? 'unavailable'
  return new StoreError(reason, `Firestore: ${reason}`, { cause: error })
}

function codeOf(error: unknown): number | undefined {
  const { code } = (error ?? {}) as { code?: unknown }
  return typeof code === 'number' ? code : undefined
}
