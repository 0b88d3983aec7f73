/** What is stored of an alert: for each set of parameters one document, with what is still to be sent, and until when it is silent. */
import { hash, randomUUID } from 'node:crypto'
import { marginMs } from './due.ts'
import type { Message } from './channels.ts'
import type { Evaluation } from './condition.ts'
import { type AlertState, firstState, step, fillText } from './state.ts'
import { type Alert, columnsOf, type Endpoint } from '../endpoints/definition.ts'
import { redactText } from '../redact/redact.ts'
import { assertReadable, formats } from '../stores/format.ts'
import type { Fields, Reference, Store } from '../stores/store.ts'

export const alertsCollection = 'alerts'

export interface AlertRecord {
  state: AlertState
  /** Of the last evaluation. */
  value: number | null
  /** What was told last but for a resolution, which tells the same. */
  text: string
  /** What was told, the last at the end. */
  history: Told[]
  /** What no channel has confirmed yet, in order. */
  outbox: Outgoing[]
}

export interface Told {
  /** Of the transition. */
  id: string
  /** ISO 8601. */
  at: string
  state: Message['state']
  value: number | null
}

export interface Outgoing {
  message: Message
  /** The channels that have not confirmed it. */
  to: Recipient[]
}

export interface Recipient {
  channel: string
  tries: number
  /** The store's time from which it may be tried. */
  notBefore: number
  /** Absent = it was not tried yet with the channels that are applied. */
  failing?: {
    /** The store's time from which on the channel has taken nothing. */
    since: number
    /** With which channels, as of `Delivery`. */
    applied: string | null
    /** Whether it is tried again with other channels alone. */
    isGivenUp: boolean
  }
}

/** One alert and set, as it is evaluated. */
export interface Subject {
  endpoint: Endpoint
  alert: Alert
  set: Alert['sets'][number]
}

const maxHistory = 50
/**
 * While as many wait, nothing else is told: an outage of a receiver loses nothing, and the document stays small. One that was
 * given up makes room for another.
 */
const maxOutbox = 20
/** The store may delete the state of an alert that is not there any more. */
const keepMs = 30 * 86_400_000

/** The document of a set. The order of its parameters does not count. */
export function recordAt({ endpoint, alert, set }: Subject): Reference {
  const sorted = Object.entries(set).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const digest = hash('sha256', JSON.stringify(sorted)).slice(0, 16)
  return { collection: alertsCollection, id: `${endpoint.id}.${alert.name}.${digest}` }
}

/** What was found: the answer's rows, or the code of the error that came instead. */
export type Outcome = Evaluation | { finding: 'failing'; code: string }

/**
 * The record after an evaluation: with a new transition its messages are in the outbox.
 * @param isSilenced whether nothing may be told now
 */
export function advance(
  subject: Subject,
  before: AlertRecord | null,
  found: Outcome,
  { now, isSilenced }: { now: number; isSilenced: boolean },
): AlertRecord {
  const record = before ?? { state: firstState(now), value: null, text: '', history: [], outbox: [] }
  const isHeld = isSilenced || record.outbox.filter(isWaiting).length >= maxOutbox
  const rule = { ...subject.alert, marginMs: marginMs(subject.endpoint, subject.alert) }
  const { state, tells } = step(rule, record.state, found.finding, now, isHeld)
  const value = 'value' in found ? found.value : null
  if (tells === null) return { ...record, state, value }
  const message = messageOf(subject, { found, tells, now, text: record.text })
  const { id, text } = message
  const to = subject.alert.channels.map(channel => ({ channel, tries: 0, notBefore: now }))
  return {
    state,
    value,
    text,
    history: [...record.history, { id, at: message.at, state: tells, value }].slice(-maxHistory),
    outbox: to.length > 0 ? [...withRoom(record.outbox), { message, to }] : record.outbox,
  }
}

function isWaiting({ to }: Outgoing): boolean {
  return to.some(({ failing }) => !failing?.isGivenUp)
}

function withRoom(outbox: Outgoing[]): Outgoing[] {
  if (outbox.length < maxOutbox) return outbox
  return outbox.toSpliced(
    outbox.findIndex(one => !isWaiting(one)),
    1,
  )
}

interface Telling {
  found: Outcome
  tells: Message['state']
  now: number
  /** The last text told, which a resolution repeats. */
  text: string
}

function messageOf({ endpoint, alert, set }: Subject, { found, tells, now, text }: Telling): Message {
  const shown = (value: unknown) => (alert.redact ? redactText(String(value)) : String(value))
  const { name, severity } = alert
  return {
    id: `msg_${randomUUID()}`,
    at: new Date(now).toISOString(),
    alert: name,
    endpoint: endpoint.name,
    state: tells,
    severity,
    parameters: Object.fromEntries(Object.entries(set).map(([name, value]) => [name, shown(value)])),
    ...wordsOf(),
  }

  function wordsOf(): Pick<Message, 'text' | 'rows'> {
    if ('code' in found) return { text: `${endpoint.name} answers ${found.code}`, rows: [] }
    if (tells === 'resolved') return { text, rows: [] }
    if (tells === 'firing') return fillText(alert, set, found)
    return { text: `${endpoint.name} has no number in ${columnsOf(alert.condition).join(' and ')}`, rows: [] }
  }
}

/** As JSON: rows may hold what a document cannot. */
export function fieldsOfRecord({ endpoint, alert }: Subject, record: AlertRecord, now: number): Fields {
  const { name } = alert
  return {
    format: formats.alert,
    endpoint: endpoint.id,
    alert: name,
    record: JSON.stringify(record),
    expireAt: new Date(now + keepMs),
  }
}

/** @throws ApiError for what a later version stored */
export function recordIn(fields: Fields): AlertRecord {
  assertReadable('alert', fields, `The state of the alert ${fields['alert'] as string}`)
  return JSON.parse(fields['record'] as string) as AlertRecord
}

/** Whether the document has to be written: the record has changed, or half of the time until `expireAt` is over. */
export function isChanged(fields: Fields, after: AlertRecord, now: number): boolean {
  const { expireAt } = fields
  const isOld = !(expireAt instanceof Date) || expireAt.getTime() < now + keepMs / 2
  return isOld || fields['record'] !== JSON.stringify(after)
}

const collection = 'silences'

function silenceAt({ id }: Endpoint, { name }: Alert): Reference {
  return { collection, id: `${id}.${name}` }
}

/** Silences an alert for `ms`; what still holds afterwards is told then. @returns its end. @throws StoreError */
export async function silence(store: Store, endpoint: Endpoint, alert: Alert, ms: number): Promise<Date> {
  const at = silenceAt(endpoint, alert)
  const { readAt } = await store.get(at, [])
  const expireAt = new Date(readAt + ms)
  await store.replace(at, { expireAt })
  return expireAt
}

/** @returns the end of the silence, or `null`. @throws StoreError */
export async function silencedUntil(store: Store, endpoint: Endpoint, alert: Alert): Promise<Date | null> {
  const { document, readAt } = await store.get(silenceAt(endpoint, alert))
  const until = document?.fields['expireAt']
  return until instanceof Date && until.getTime() > readAt ? until : null
}
