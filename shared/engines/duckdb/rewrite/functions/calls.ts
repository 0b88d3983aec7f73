import type { Call } from '../../../../sql/tree.ts'
import { type Context, unsupported } from '../context.ts'
import { functionName, functionRule, isAggregate } from './functions.ts'
import type { Scope } from '../scope.ts'
import { applySignature, type CallSite } from './signature.ts'
import { type Typed, typed } from '../typed.ts'

/** A function call; SAFE turns its errors into NULL. Throws UnsupportedError for a function that is not known here. */
export function call(context: Context, node: Call, scope: Scope): Typed {
  const { name, safe } = functionName(node)
  const rule = node.name.some(part => part.quoted) ? undefined : functionRule(name)
  if (!rule) throw unsupported(context, node, name)
  const aggregates = isAggregate(node)
  if (aggregates && !node.over) scope.aggregation.found = true
  const site: CallSite = { context, call: node, scope, name }
  if (!aggregates && !node.over) refuseModifiers(site)
  const value = Array.isArray(rule) ? applySignature(site, rule) : rule(site)
  return safe ? typed(`TRY(${value.sql})`, value.type) : value
}

/** DISTINCT and the like are for aggregate functions. */
function refuseModifiers({ context, call, name }: CallSite): void {
  const modified =
    call.distinct || call.nulls || call.having || call.orderBy.length > 0 || call.limit || call.star
  if (modified) throw unsupported(context, call, `${name} with DISTINCT, ORDER BY, LIMIT or the like`)
}
