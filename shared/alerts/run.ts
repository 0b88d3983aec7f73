/** One call for the alerts of an endpoint: those that are due are evaluated, stored, and told. `infra/docs/alerts.md`. */
import pMap from 'p-map'
import { type Endpoint, windowsOf } from '../endpoints/definition.ts'
import type { Row } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import { describeError, type Log } from '../log.ts'
import { type Fields, type Store, StoreError } from '../stores/store.ts'
import { type Budget, takeTurn, warmingCollection } from '../warm/turn.ts'
import { evaluate } from './condition.ts'
import { isLater } from './state.ts'
import type { Delivery } from './deliver.ts'
import { isDue, type LastTurn } from './due.ts'
import {
  advance,
  fieldsOfRecord,
  type Outcome,
  isChanged,
  recordAt,
  recordIn,
  silencedUntil,
  type Subject,
} from './record.ts'
import { sendAll, type StoredRecord } from './outbox.ts'

/**
 * The rows of a subject's endpoint; `null` = not now, as others are at it.
 * @param now the store's time
 * @param beforeMs how long before it the window is
 * @throws ApiError
 */
export type Ask = (subject: Subject, now: number, beforeMs: number) => Promise<Row[] | null>

export interface AlertServices extends Delivery {
  store: Store
  log: Log
  ask: Ask
  /** Brings the answers of many sets up to date together, where that can be; a failure shows where they are asked for. */
  prepare(subjects: Subject[], now: number): Promise<void>
}

export interface AlertReport {
  endpoint: string
  /** Such as `{ evaluated: 3, firing: 1, sent: 1 }`. */
  counts: Record<string, number>
  /** Why the endpoint's alerts could not be looked at; `null` where they were. */
  error: string | null
}

/** Evaluations at a time. */
const evaluations = { concurrency: 8 }

/** Where the turns of an endpoint's alerts are noted. */
const turnOf = (endpoint: Endpoint) => `${endpoint.id}.alerts`

const turnsIn = ({ alerts }: Fields) => (alerts ?? {}) as unknown as Record<string, LastTurn>

/** When its alerts were evaluated last, by their names. @throws StoreError */
export async function lastTurns(store: Store, endpoint: Endpoint): Promise<Record<string, LastTurn>> {
  const { document } = await store.get({ collection: warmingCollection, id: turnOf(endpoint) }, ['alerts'])
  return turnsIn(document?.fields ?? {})
}

/** By many callers at once each is evaluated once; what a call that dies leaves is done by the next one. */
export async function runAlerts(
  services: AlertServices,
  endpoint: Endpoint,
  budget: Budget,
): Promise<AlertReport> {
  const counts: Record<string, number> = {}
  const count = (what: string, n = 1) => void (n > 0 && (counts[what] = (counts[what] ?? 0) + n))
  const report = { endpoint: endpoint.name, counts, error: null }
  try {
    const isFree = await takeTurn(services.store, turnOf(endpoint), async (now, left) => {
      const alerts = await turn({ ...services, budget, count, now }, endpoint, turnsIn(left))
      return { alerts: alerts as unknown as Fields[string] }
    })
    if (!isFree) count('another_call')
    return report
  } catch (error) {
    services.log('WARNING', 'alerts could not be looked at', {
      endpoint: endpoint.name,
      ...describeError(error),
    })
    return { ...report, error: error instanceof StoreError ? error.reason : 'internal' }
  }
}

interface Turn extends AlertServices {
  budget: Budget
  count: (what: string, n?: number) => void
  /** The store's time. */
  now: number
}

async function turn(
  work: Turn,
  endpoint: Endpoint,
  last: Record<string, LastTurn>,
): Promise<Record<string, LastTurn>> {
  const { now, count } = work
  const alerts = (endpoint.alerts ?? []).map(alert => {
    const before = last[alert.name]
    const due = isDue(endpoint, alert, before, now)
    return { alert, before, due, wanted: due || before!.isUnsent }
  })
  const tasks = alerts
    .filter(({ wanted }) => wanted)
    .flatMap(({ alert, due }) => alert.sets.map(set => ({ subject: { endpoint, alert, set }, due })))
  const due = tasks.filter(task => task.due).map(({ subject }) => subject)
  await work.prepare(due, now).catch((error: unknown) => {
    work.log('WARNING', 'the batch failed', { endpoint: endpoint.name, ...describeError(error) })
  })
  const silenced = silences(work)
  const looked = await pMap(
    tasks,
    async task => ({ ...task, outcome: await look(work, task, silenced) }),
    evaluations,
  )
  const stored = looked.flatMap(({ outcome }) =>
    outcome === 'failed' || !outcome?.record.outbox.length ? [] : outcome,
  )
  const sent = await sendAll({ ...work, signal: work.budget.signal }, stored)
  for (const one of sent.values()) {
    count('sent', one.sent)
    count('given_up', one.givenUp)
    count('unsent', Number(one.isUnsent))
  }
  const byAlert = Map.groupBy(looked, ({ subject }) => subject.alert)
  const turns = alerts.map(({ alert, before, due }): [string, LastTurn | undefined] => {
    const outcomes = (byAlert.get(alert) ?? []).map(({ outcome }) => outcome)
    if (outcomes.length === 0) return [alert.name, before]
    if (outcomes.includes('failed')) return [alert.name, due ? undefined : before]
    const isUnsent = outcomes.some(one => one && one !== 'failed' && sent.get(one)?.isUnsent)
    return [alert.name, { at: due ? now : before!.at, isUnsent }]
  })
  return Object.fromEntries(turns.filter((turn): turn is [string, LastTurn] => turn[1] !== undefined))
}

/** One read for each alert that has something to tell. */
function silences({ store }: Turn): (subject: Subject) => Promise<boolean> {
  const known = new Map<string, Promise<boolean>>()
  return ({ endpoint, alert }) => {
    const found = known.get(alert.name) ?? silencedUntil(store, endpoint, alert).then(until => until !== null)
    known.set(alert.name, found)
    return found
  }
}

interface Task {
  subject: Subject
  due: boolean
}

/** @returns the record as it is stored; `null` for none, `failed` where the alert has to be looked at again soon */
async function look(
  work: Turn,
  { subject, due }: Task,
  isSilenced: (subject: Subject) => Promise<boolean>,
): Promise<StoredRecord | null | 'failed'> {
  const { store, ask, now, count, budget, log } = work
  const at = recordAt(subject)
  try {
    const { document } = await store.get(at)
    const before = document && recordIn(document.fields)
    const asStored = () => document && before && { subject, at, version: document.version, record: before }
    if (!due || (before && isLater(before.state, now))) return asStored()
    const found = budget.signal.aborted ? null : await findingOf(ask, subject, now)
    if (found === null) {
      count(budget.spent ?? 'not_now')
      return 'failed'
    }
    count('evaluated')
    let record = advance(subject, before, found, { now, isSilenced: false })
    const isNew = () => record.history.at(-1)?.id !== before?.history.at(-1)?.id
    if (isNew() && (await isSilenced(subject)))
      record = advance(subject, before, found, { now, isSilenced: true })
    if (document && !isChanged(document.fields, record, now)) return asStored()
    // Stored before it is sent: whoever sends it after this process has died does so under the same id.
    const fields = fieldsOfRecord(subject, record, now)
    const { version } = document
      ? await store.replace(at, fields, document.version)
      : await store.create(at, fields)
    if (isNew()) {
      const { id, state } = record.history.at(-1)!
      count(state)
      log('NOTICE', 'alert', { alert: subject.alert.name, endpoint: subject.endpoint.name, state, id })
    }
    return { subject, at, version, record }
  } catch (error) {
    // Another call has written it, or the store is not there: what is stored is sent by the next call.
    count('failed')
    if (!(error instanceof StoreError && error.reason === 'conflict'))
      log('WARNING', 'an alert could not be looked at', {
        alert: subject.alert.name,
        ...describeError(error),
      })
    return 'failed'
  }
}

/** What an evaluation finds now; `null` = it cannot be said now. */
export async function findingOf(ask: Ask, subject: Subject, now: number): Promise<Outcome | null> {
  try {
    const answers: Row[][] = []
    for (const beforeMs of windowsOf(subject.alert)) {
      const rows = await ask(subject, now, beforeMs)
      if (!rows) return null
      answers.push(rows)
    }
    return evaluate(subject.alert.condition, answers[0]!, answers[1])
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    // The budget of this call is used up, which says nothing of the endpoint.
    return error.code === 'budget_exhausted' ? null : { finding: 'failing', code: error.code }
  }
}
