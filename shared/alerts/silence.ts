/** Silences: until then nothing is told of an alert; what still holds after it is told then. */
import type { Endpoint } from '../endpoints/definition.ts'
import type { Reference, Store } from '../stores/store.ts'
import type { Alert } from '../endpoints/alert.ts'

const collection = 'silences'

function silenceAt({ id }: Endpoint, { name }: Alert): Reference {
  return { collection, id: `${id}.${name}` }
}

/** @throws StoreError */
export async function silence(store: Store, endpoint: Endpoint, alert: Alert, ms: number): Promise<Date> {
  const at = silenceAt(endpoint, alert)
  const { readAt } = await store.get(at, [])
  const expireAt = new Date(readAt + ms)
  await store.replace(at, { expireAt })
  return expireAt
}

/** @returns until when, `null` = there is none. @throws StoreError */
export async function silencedUntil(store: Store, endpoint: Endpoint, alert: Alert): Promise<Date | null> {
  const { document, readAt } = await store.get(silenceAt(endpoint, alert))
  const until = document?.fields['expireAt']
  return until instanceof Date && until.getTime() > readAt ? until : null
}
