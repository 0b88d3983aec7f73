/** Sends what records have in their outbox: each message of a channel in order, until the channel has confirmed it. */
import pMap from 'p-map'
import { describeError, type Log } from '../log.ts'
import { type Reference, type Store, StoreError } from '../stores/store.ts'
import { DeliveryError, type Message } from './channels.ts'
import { type AlertRecord, fieldsOfRecord, type Outgoing, type Recipient, type Subject } from './record.ts'
import { ApiError } from '../errors.ts'
import type { Delivery } from './deliver.ts'

/** A record as it is stored. */
export interface StoredRecord {
  subject: Subject
  at: Reference
  version: string
  record: AlertRecord
}

interface Sending extends Delivery {
  store: Store
  log: Log
  /** The store's time. */
  now: number
  signal: AbortSignal
}

export interface Sent {
  sent: number
  /** Given up after a day, until channels are applied again. */
  givenUp: number
  /** Whether something is left. */
  isUnsent: boolean
}

/** Messages on their way at a time. */
const deliveries = { concurrency: 16 }
const firstDelayMs = 30_000
const longestDelayMs = 3_600_000
/** A channel that takes nothing for so long gets each further message once. */
const giveUpMs = 86_400_000

interface Pass extends Sending {
  /** Channels that failed in this call. */
  down: Set<string>
  /** As of `Delivery`; `null` = it cannot be known now. */
  applied: string | null
}

/** A channel that fails is skipped for the rest of the call: it costs one wait, not one for each message. */
export async function sendAll(sending: Sending, all: StoredRecord[]): Promise<Map<StoredRecord, Sent>> {
  if (all.length === 0) return new Map()
  const applied = await sending.appliedChannels().catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error
    return null
  })
  const pass = { ...sending, down: new Set<string>(), applied }
  const sent = await pMap(all, async one => [one, await sendOne(pass, one)] as const, deliveries)
  return new Map(sent)
}

async function sendOne(pass: Pass, stored: StoredRecord): Promise<Sent> {
  const { subject, at, version, record } = stored
  const { outbox, counts } = await passThrough(pass, record.outbox)
  const isConfirmed = JSON.stringify(outbox) === JSON.stringify(record.outbox) || (await confirm())
  return { ...counts, isUnsent: outbox.length > 0 || !isConfirmed }

  /** Where that fails, the same is sent once more. */
  async function confirm(): Promise<boolean> {
    const fields = fieldsOfRecord(subject, { ...record, outbox }, pass.now)
    return pass.store.replace(at, fields, version).then(
      () => true,
      (error: unknown) => {
        if (!(error instanceof StoreError)) throw error
        return false
      },
    )
  }
}

/** @returns what is left of the outbox */
async function passThrough(pass: Pass, before: Outgoing[]) {
  const counts = { sent: 0, givenUp: 0 }
  const waiting = new Set<string>()
  let outbox: Outgoing[] = []
  for (const { message, to } of withChannels(before, pass.applied)) {
    const left: Recipient[] = []
    for (const one of to) {
      const { channel } = one
      const isHeld = one.failing?.isGivenUp || waiting.has(channel) || pass.down.has(channel)
      const after = isHeld
        ? one
        : await attempt(pass, message, one, sinceIn([...outbox, { message, to }], channel))
      if (after === null) {
        counts.sent++
        outbox = withoutGivenUp(outbox, channel)
        continue
      }
      left.push(after)
      if (!after.failing?.isGivenUp) waiting.add(channel)
      else if (after !== one) counts.givenUp++
    }
    if (left.length > 0) outbox.push({ message, to: left })
  }
  return { outbox, counts }
}

/** After other channels were applied, deliveries that failed are tried anew, from the first try on. */
function withChannels(outbox: Outgoing[], applied: string | null): Outgoing[] {
  const anew = (one: Recipient): Recipient =>
    applied === null || !one.failing || one.failing.applied === applied
      ? one
      : { channel: one.channel, tries: 0, notBefore: 0 }
  return outbox.map(({ message, to }) => ({ message, to: to.map(anew) }))
}

/** Drops what was given up for a channel that works again: sent now, an older state would replace a newer one. */
function withoutGivenUp(outbox: Outgoing[], taking: string): Outgoing[] {
  return outbox
    .map(({ message, to }) => ({ message, to: to.filter(({ channel }) => channel !== taking) }))
    .filter(({ to }) => to.length > 0)
}

/** Since when a channel takes nothing, where it has failed before. */
function sinceIn(outbox: Outgoing[], channel: string): number | undefined {
  const own = outbox.flatMap(({ to }) => to).filter(one => one.channel === channel)
  return own.find(({ failing }) => failing)?.failing!.since
}

/** @returns `null` where the channel has taken it */
async function attempt(
  { deliver, log, now, signal, down, applied }: Pass,
  message: Message,
  one: Recipient,
  since = now,
): Promise<Recipient | null> {
  const { channel, tries, notBefore } = one
  if (notBefore > now || signal.aborted) return one
  const { alert, endpoint, id } = message
  try {
    await deliver(channel, message, signal)
    return null
  } catch (error) {
    if (signal.aborted) return one
    const retryMs = error instanceof DeliveryError ? error.retryAfterMs : 0
    const words = error instanceof DeliveryError ? { reason: error.message } : describeError(error)
    const details = { alert, endpoint, id, channel, tries: tries + 1, ...words }
    const isGivenUp = now - since >= giveUpMs
    log(isGivenUp ? 'ERROR' : 'WARNING', 'an alert was not delivered', details)
    down.add(channel)
    const delay = Math.max(retryMs, Math.min(firstDelayMs * 2 ** tries, longestDelayMs))
    return { channel, tries: tries + 1, notBefore: now + delay, failing: { since, applied, isGivenUp } }
  }
}
