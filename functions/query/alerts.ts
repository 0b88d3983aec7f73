/** The alerts that a caller may know of: those of its endpoints, for the parameters that its key fixes. */
import { type AlertStatus, listAlerts } from '../../shared/alerts/list.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Caller } from '../../shared/keys/authenticate.ts'
import { redactText } from '../../shared/redact/redact.ts'
import type { Store } from '../../shared/stores/store.ts'
import type { Call } from '../http/call.ts'
import { accessEndpoint, accessibleEndpoints } from './access.ts'

/** `GET /api/alerts` */
export async function describeAlerts(call: Call): Promise<void> {
  const { caller, endpoints } = await accessibleEndpoints(call)
  await answerAlerts(call, caller, endpoints)
}

/** `GET /api/endpoints/<name>/alerts`: of one alone, as the page asks again and again. */
export async function describeAlertsOfEndpoint(call: Call): Promise<void> {
  const { caller, endpoint } = await accessEndpoint(call)
  await answerAlerts(call, caller, [endpoint])
}

async function answerAlerts({ services, res }: Call, caller: Caller, endpoints: Endpoint[]): Promise<void> {
  const result = await alertsFor(services.store, caller, endpoints)
  res.setHeader('Cache-Control', 'no-store')
  res.status(200).json({ result })
}

/** @param endpoints those that the caller may call. @throws ApiError */
export async function alertsFor(store: Store, caller: Caller, endpoints: Endpoint[]): Promise<AlertStatus[]> {
  const { pins, rights, redacted } = caller
  // A set without the pinned parameter covers all its values, other customers' among them.
  const alerts = await listAlerts(store, endpoints, ({ set }) =>
    Object.entries(pins).every(([name, value]) => Object.hasOwn(set, name) && String(set[name]) === value),
  )
  const isClear = rights.includes('pii:read') && !redacted
  return isClear ? alerts : alerts.map(withoutPersonalData)
}

function withoutPersonalData({ parameters, text, ...alert }: AlertStatus): AlertStatus {
  const shown = Object.entries(parameters).map(([name, value]) => [name, redactText(value)])
  return { ...alert, parameters: Object.fromEntries(shown), text: redactText(text) }
}
