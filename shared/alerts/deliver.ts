/** Delivers messages to the operator's channels: a call is one try, and who calls keeps the message and tries again. */
import { ApiError } from '../errors.ts'
import { rememberReads } from '../stores/remember-reads.ts'
import type { Store } from '../stores/store.ts'
import { type Channel, type Channels, readChannels } from './channels.ts'
import { DeliveryError, type Message } from './message.ts'
import { type Answer, oneAtATime, post, RefusedAddress, type Resolve } from './post.ts'
import { requestFor } from './requests.ts'
import { type Google, googleHere, openSecrets, type Secret } from './secrets.ts'

export { DeliveryError, type Message } from './message.ts'

/**
 * @param channel by its name in `channels.yaml`
 * @param signal gives this try up
 * @throws DeliveryError; with the milliseconds 0 it may be tried again whenever the caller likes
 */
export type Deliver = (channel: string, message: Message, signal: AbortSignal) => Promise<void>

interface Delivering {
  store: Store
  /** How long channels and secrets are remembered, milliseconds. */
  rememberMs: number
  /** A variable of the environment. */
  secret(variable: string): string | undefined
  /** Whether receivers may be on this machine, and with http. */
  alertsToLoopback: boolean
  /** For one try in all, milliseconds. */
  timeoutMs?: number
  /** The system's, unless a test gives its own; so with Google's services. */
  resolve?: Resolve
  google?: Google
}

/** Reads the channels that were applied, a changed one within `rememberMs`. */
export function openChannels(config: Delivering): Deliver {
  const { rememberMs, alertsToLoopback: toLoopback, timeoutMs = 10_000 } = config
  const { google = googleHere() } = config
  const resolve = oneAtATime(config.resolve)
  const channels = remembered(config)
  const secret = openSecrets(config.secret, google, rememberMs)
  const attempt = async (name: string, message: Message, signal: AbortSignal) => {
    const channel = await channels(name)
    const secrets = await secretsOf(channel, secret, google, signal)
    return post(requestFor(channel, message, secrets), { toLoopback, resolve, signal })
  }
  return async (name, message, given) => {
    const signal = AbortSignal.any([given, AbortSignal.timeout(timeoutMs)])
    try {
      assertTaken(await Promise.race([attempt(name, message, signal), aborted(signal)]))
    } catch (error) {
      throw inWords(error, name, signal)
    }
  }
}

function remembered({ store, rememberMs }: Delivering): (name: string) => Promise<Channel> {
  const read = rememberReads<Channels>({
    max: 1,
    rememberMs,
    read: async () => ({ value: (await readChannels(store)).channels }),
    unavailable: 'The channels cannot be read at the moment.',
  })
  return async name => {
    const channels = await read('all', undefined)
    if (!Object.hasOwn(channels, name)) throw new DeliveryError('channels.yaml has none of this name', null)
    return channels[name]!
  }
}

async function secretsOf(channel: Channel, secret: Secret, google: Google, signal: AbortSignal) {
  if (channel.kind === 'pubsub') return [await google.token(), google.pubSub]
  return Promise.all([channel.secret].flat().map(name => secret(name, signal)))
}

/** A name is resolved, and a token is had, by what no signal ends. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
  })
}

/** Of 4xx: a receiver that was slow, takes no early data, or has too many. */
const passing = [408, 425, 429]

/** @throws DeliveryError for every status but 2xx: a redirect, or what the receiver refuses, stays as it is */
function assertTaken({ status, retryAfter }: Answer): void {
  if (status >= 200 && status < 300) return
  const isFinal = status >= 300 && status < 500 && !passing.includes(status)
  throw new DeliveryError(`the receiver answers ${status}`, isFinal ? null : retryAfterMs(retryAfter))
}

const longestRetryMs = 3_600_000

/** @param text seconds, or a date of HTTP */
function retryAfterMs(text = ''): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Math.min(Math.max(ms || 0, 0), longestRetryMs)
}

/** Errors of Node may have the address, which may be a secret, so of these it is the code alone. */
function inWords(error: unknown, name: string, signal: AbortSignal): DeliveryError {
  const failed = (words: string, retryAfterMs: number | null) =>
    new DeliveryError(`channel ${name}: ${words}`, retryAfterMs)
  const { message, code, name: kind } = error as NodeJS.ErrnoException
  if (error instanceof DeliveryError) return failed(message, error.retryAfterMs)
  if (error instanceof RefusedAddress) return failed(message, null)
  if (error instanceof ApiError) return failed(message, 0)
  if (signal.aborted) return failed('there was no answer in time', 0)
  return failed(`the receiver cannot be reached (${code ?? kind})`, 0)
}
