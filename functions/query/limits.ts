import type { Caller } from '../../shared/keys/authenticate.ts'
import { limitHeaders } from '../../shared/keys/limits.ts'
import type { Call } from '../http/call.ts'

/** Says in the response what is left of the key's limits, by what this process knows now; it may be called again. */
export function tellLimits({ res, services }: Pick<Call, 'res' | 'services'>, caller: Caller): void {
  if (!caller.limits) return
  const calls = services.callLimits.left(caller)
  const bytes = services.byteLimits(caller)?.known() ?? null
  for (const [name, value] of Object.entries(limitHeaders(caller, { calls, bytes })))
    res.setHeader(name, value)
}
