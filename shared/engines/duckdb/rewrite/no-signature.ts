/** The error for operands or arguments of wrong types. */
import type { SqlError } from '../../../sql/error.ts'
import type { Parameter } from '../../../sql/functions.ts'
import { mismatch } from '../../../sql/resolve/no-signature.ts'
import type { Node } from '../../../sql/tree.ts'
import type { Context, Typed } from './context.ts'

/** @param signatures what it takes, where the tables of the front end do not say it */
export function noSignature(
  context: Context,
  node: Node,
  what: string,
  values: Typed[],
  signatures?: Parameter[][],
): SqlError {
  return context.invalid(node, mismatch(what, values, signatures))
}
