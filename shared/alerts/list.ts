/** The alerts of endpoints, each with the state of each of its sets. */
import pMap from 'p-map'
import type { Condition, Endpoint, Severity } from '../endpoints/definition.ts'
import type { Store } from '../stores/store.ts'
import { type AlertRecord, recordAt, recordIn, silencedUntil, type Subject, type Told } from './record.ts'
import { type LastTurn, maxAgeMs } from './due.ts'
import { lastTurns } from './run.ts'
import { shownState, type ToldState } from './state.ts'

export interface AlertStatus {
  alert: string
  endpoint: string
  severity: Severity
  parameters: Record<string, string>
  condition: Condition
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
  /** Names of those that are told. */
  channels: string[]
  undelivered: Undelivered[]
  /** From which time on it is evaluated next, ISO 8601; `null` = by the next call. */
  nextAt: string | null
  /** What was told, the last first. */
  history: Told[]
}

/** A channel that does not take what it is told. */
interface Undelivered {
  channel: string
  /** ISO 8601. */
  since: string
  /** Whether it is tried again with other channels alone. */
  givenUp: boolean
}

/** Calls of the store at a time. */
const [readsOfAlerts, readsOfSets] = [{ concurrency: 16 }, { concurrency: 32 }]

/** @param isShown whether a set is to be listed. @throws StoreError, and ApiError for what a later version stored */
export async function listAlerts(
  store: Store,
  endpoints: Endpoint[],
  isShown: (subject: Subject) => boolean = () => true,
): Promise<AlertStatus[]> {
  const shown = endpoints
    .flatMap(endpoint => (endpoint.alerts ?? []).map(alert => ({ endpoint, alert })))
    .map(one => ({ ...one, subjects: one.alert.sets.map(set => ({ ...one, set })).filter(isShown) }))
    .filter(({ subjects }) => subjects.length > 0)
  const turns = new Map<Endpoint, ReturnType<typeof lastTurns>>()
  const statuses = await pMap(
    shown,
    async ({ endpoint, alert, subjects }) => {
      const turn = turns.get(endpoint) ?? lastTurns(store, endpoint)
      turns.set(endpoint, turn)
      const [until, last] = await Promise.all([silencedUntil(store, endpoint, alert), turn])
      return pMap(subjects, subject => statusOf(store, subject, until, last[alert.name]), readsOfSets)
    },
    readsOfAlerts,
  )
  return statuses.flat()
}

async function statusOf(
  store: Store,
  subject: Subject,
  until: Date | null,
  last: LastTurn | undefined,
): Promise<AlertStatus> {
  const { endpoint, alert, set } = subject
  const { document } = await store.get(recordAt(subject), ['format', 'alert', 'record'])
  const record = document && recordIn(document.fields)
  const shown = record && shownState(record.state)
  return {
    alert: alert.name,
    endpoint: endpoint.name,
    severity: alert.severity,
    parameters: Object.fromEntries(Object.entries(set).map(([name, value]) => [name, String(value)])),
    condition: alert.condition,
    state: shown?.state ?? null,
    since: shown ? new Date(shown.since).toISOString() : null,
    value: record?.value ?? null,
    text: record?.text ?? '',
    silencedUntil: until?.toISOString() ?? null,
    channels: alert.channels,
    undelivered: record ? undeliveredOf(record, alert.channels) : [],
    nextAt: last ? new Date(last.at + maxAgeMs(endpoint, alert)).toISOString() : null,
    history: record?.history.toReversed() ?? [],
  }
}

function undeliveredOf({ outbox }: AlertRecord, channels: string[]): Undelivered[] {
  const all = outbox.flatMap(({ to }) => to)
  return channels.flatMap(channel => {
    const failing = all.flatMap(one => (one.channel === channel && one.failing ? [one.failing] : []))
    const [first] = failing
    if (!first) return []
    const since = new Date(first.since).toISOString()
    return [{ channel, since, givenUp: failing.some(({ isGivenUp }) => isGivenUp) }]
  })
}
