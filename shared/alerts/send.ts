/** Sends what records have in their outbox: each message of a channel in order, until the channel has confirmed it. */
import pMap from 'p-map'
import { describeError, type Log } from '../log.ts'
import { type Reference, type Store, StoreError } from '../stores/store.ts'
import type { Deliver } from './deliver.ts'
import { DeliveryError, type Message } from './channels.ts'
import { type AlertRecord, fieldsOfRecord, type Outgoing, type Subject } from './record.ts'

/** A record as it is stored. */
export interface Stored {
  subject: Subject
  at: Reference
  version: string
  record: AlertRecord
}

interface Sending {
  store: Store
  log: Log
  deliver: Deliver
  /** The store's time. */
  now: number
  signal: AbortSignal
}

export interface Sent {
  sent: number
  /** Refused for good. */
  refused: number
  /** Whether something is left. */
  isUnsent: boolean
}

/** Messages on their way at a time. */
const deliveries = { concurrency: 16 }
const firstDelayMs = 30_000
const longestDelayMs = 3_600_000

/** A channel that fails is left alone for the rest of the call, so that it costs one wait, and not one for each message. */
export async function sendAll(sending: Sending, all: Stored[]): Promise<Map<Stored, Sent>> {
  const down = new Set<string>()
  const sent = await pMap(all, async one => [one, await sendOne(sending, one, down)] as const, deliveries)
  return new Map(sent)
}

async function sendOne(sending: Sending, stored: Stored, down: Set<string>): Promise<Sent> {
  const { subject, at, version, record } = stored
  const outbox: Outgoing[] = []
  const counts = { sent: 0, refused: 0 }
  const waiting = new Set<string>()
  for (const { message, to } of record.outbox) {
    const left: Outgoing['to'] = []
    for (const one of to) {
      const isHeld = waiting.has(one.channel) || down.has(one.channel)
      const outcome = isHeld ? one : await attempt(sending, message, one, down)
      if (typeof outcome === 'string') counts[outcome]++
      else {
        left.push(outcome)
        waiting.add(one.channel)
      }
    }
    if (left.length > 0) outbox.push({ message, to: left })
  }
  const isConfirmed = JSON.stringify(outbox) === JSON.stringify(record.outbox) || (await confirm())
  return { ...counts, isUnsent: outbox.length > 0 || !isConfirmed }

  /** Where that fails, the same is sent once more. */
  async function confirm(): Promise<boolean> {
    const fields = fieldsOfRecord(subject, { ...record, outbox }, sending.now)
    return sending.store.replace(at, fields, version).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof StoreError)) throw error
        return false
      },
    )
  }
}

async function attempt(
  { deliver, log, now, signal }: Sending,
  message: Message,
  one: Outgoing['to'][number],
  down: Set<string>,
): Promise<Outgoing['to'][number] | 'sent' | 'refused'> {
  const { channel, tries, notBefore } = one
  if (notBefore > now || signal.aborted) return one
  const { alert, endpoint, id } = message
  try {
    await deliver(channel, message, signal)
    return 'sent'
  } catch (error) {
    if (signal.aborted) return one
    const retryMs = error instanceof DeliveryError ? error.retryAfterMs : 0
    const words = error instanceof DeliveryError ? { reason: error.message } : describeError(error)
    const details = { alert, endpoint, id, channel, tries: tries + 1, ...words }
    log(retryMs === null ? 'ERROR' : 'WARNING', 'an alert was not delivered', details)
    if (retryMs === null) return 'refused'
    down.add(channel)
    const delay = Math.max(retryMs, Math.min(firstDelayMs * 2 ** tries, longestDelayMs))
    return { channel, tries: tries + 1, notBefore: now + delay }
  }
}
