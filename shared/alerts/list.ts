/** The alerts of endpoints, each with the state of each of its sets. */
import pMap from 'p-map'
import type { Endpoint, Severity } from '../endpoints/definition.ts'
import type { Store } from '../stores/store.ts'
import { recordAt, recordIn, silencedUntil, type Subject, type Told } from './record.ts'
import { shownState, type ToldState } from './state.ts'

export interface AlertStatus {
  alert: string
  endpoint: string
  severity: Severity
  parameters: Record<string, string>
  /** `null` = it was not evaluated yet. */
  state: ToldState | 'pending' | null
  /** ISO 8601. */
  since: string | null
  /** Of the last evaluation. */
  value: number | null
  /** What was told last. */
  text: string
  /** ISO 8601. */
  silencedUntil: string | null
  /** What was told, the last first. */
  history: Told[]
}

/** Calls of the store at a time. */
const reads = { concurrency: 32 }

/** @param isShown whether a set is to be listed. @throws StoreError, and ApiError for what a later version stored */
export async function listAlerts(
  store: Store,
  endpoints: Endpoint[],
  isShown: (subject: Subject) => boolean = () => true,
): Promise<AlertStatus[]> {
  const alerts = endpoints.flatMap(endpoint => (endpoint.alerts ?? []).map(alert => ({ endpoint, alert })))
  const lists = await pMap(
    alerts,
    async ({ endpoint, alert }) => {
      const subjects = alert.sets.map(set => ({ endpoint, alert, set })).filter(isShown)
      if (subjects.length === 0) return []
      const until = await silencedUntil(store, endpoint, alert)
      return pMap(subjects, subject => statusOf(store, subject, until), reads)
    },
    { concurrency: 4 },
  )
  return lists.flat()
}

async function statusOf(store: Store, subject: Subject, until: Date | null): Promise<AlertStatus> {
  const { endpoint, alert, set } = subject
  const { document } = await store.get(recordAt(subject), ['format', 'alert', 'record'])
  const record = document && recordIn(document.fields)
  const shown = record && shownState(record.state)
  return {
    alert: alert.name,
    endpoint: endpoint.name,
    severity: alert.severity,
    parameters: Object.fromEntries(Object.entries(set).map(([name, value]) => [name, String(value)])),
    state: shown?.state ?? null,
    since: shown ? new Date(shown.since).toISOString() : null,
    value: record?.value ?? null,
    text: record?.text ?? '',
    silencedUntil: until?.toISOString() ?? null,
    history: record?.history.toReversed() ?? [],
  }
}
