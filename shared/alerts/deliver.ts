/** Delivers messages to the operator's channels: a call is one try, and who calls keeps the message and tries again. */
import { createHash, createHmac } from 'node:crypto'
import { type Channel, type Channels, DeliveryError, type Message, readChannels } from './channels.ts'
import { type PostResult, oneAtATime, post, type Post, RefusedAddress, type Resolve } from './post.ts'
import { type Google, googleHere, openSecrets, type Secret, secretRetryMs } from './secrets.ts'
import { ApiError } from '../errors.ts'
import { rememberRead } from '../stores/remember-reads.ts'
import type { Store } from '../stores/store.ts'
import { beginning } from '../visible-text.ts'

/**
 * @param channel by its name in `channels.yaml`
 * @param signal gives this try up
 * @throws DeliveryError
 */
export type Deliver = (channel: string, message: Message, signal: AbortSignal) => Promise<void>

export interface Delivery {
  deliver: Deliver
  /** Which channels deliveries go to: another text once they were applied again. @throws ApiError */
  appliedChannels(): Promise<string>
}

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
export function openChannels(config: Delivering): Delivery {
  const { rememberMs, alertsToLoopback: toLoopback, timeoutMs = 10_000 } = config
  const { google = googleHere() } = config
  const resolve = oneAtATime(config.resolve)
  const channels = rememberRead({
    rememberMs,
    read: async () => ({ value: await readChannels(config.store) }),
    unavailable: 'The channels cannot be read at the moment.',
  })
  const secret = openSecrets(config.secret, google, rememberMs)
  const attempt = async (name: string, message: Message, signal: AbortSignal) => {
    const channel = channelIn((await channels()).channels, name)
    const secrets = await secretsOf(channel, secret, google, signal)
    return post(requestFor(channel, message, secrets), { toLoopback, resolve, signal })
  }
  return {
    async deliver(name, message, given) {
      const signal = AbortSignal.any([given, AbortSignal.timeout(timeoutMs)])
      try {
        assertTaken(await Promise.race([attempt(name, message, signal), rejectOnAbort(signal)]))
      } catch (error) {
        throw inWords(error, name, signal)
      }
    },
    appliedChannels: async () => (await channels()).version ?? '',
  }
}

function channelIn(channels: Channels, name: string): Channel {
  if (!Object.hasOwn(channels, name)) throw new DeliveryError('channels.yaml has none of this name')
  return channels[name]!
}

async function secretsOf(channel: Channel, secret: Secret, google: Google, signal: AbortSignal) {
  if (channel.kind === 'pubsub') return [await google.token(), google.pubSub]
  return Promise.all([channel.secret].flat().map(name => secret(name, signal)))
}

/** Rejects when the signal aborts: neither DNS nor Google's library for tokens takes a signal. */
function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const abort = () => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
  })
}

/** @throws DeliveryError for every status but 2xx: an address that is wrong today, or a receiver that refuses, may be corrected */
function assertTaken({ status, retryAfter }: PostResult): void {
  if (status < 200 || status >= 300)
    throw new DeliveryError(`the receiver answers ${status}`, retryAfterMs(retryAfter))
}

const longestRetryMs = 3_600_000

/** @param text seconds, or a date of HTTP */
function retryAfterMs(text = ''): number {
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - Date.now()
  return Math.min(Math.max(ms || 0, 0), longestRetryMs)
}

/** Errors of Node may have the address, which may be a secret, so of these it is the code alone. */
function inWords(error: unknown, name: string, signal: AbortSignal): DeliveryError {
  const failed = (words: string, retryAfterMs = 0) =>
    new DeliveryError(`channel ${name}: ${words}`, retryAfterMs)
  const { message, code, name: kind } = error as NodeJS.ErrnoException
  if (error instanceof DeliveryError) return failed(message, error.retryAfterMs)
  if (error instanceof RefusedAddress || error instanceof ApiError) return failed(message)
  if (signal.aborted) return failed('there was no answer in time')
  return failed(`the receiver cannot be reached (${code ?? kind})`)
}

type Kind = Channel['kind']
type Of<K extends Kind> = Extract<Channel, { kind: K }>

/**
 * What each kind of channel is sent.
 * @param secrets the values, in the order in which the channel names them; of Pub/Sub a token, and where it is
 */
type Kinds = { [K in Kind]: (channel: Of<K>, message: Message, secrets: string[]) => Post }

const kinds: Kinds = {
  /** https://www.standardwebhooks.com */
  webhook({ url }, message, secrets) {
    const body = JSON.stringify(eventOf(message))
    const timestamp = String(Math.floor(Date.now() / 1000)) // of this try: a receiver takes no old one
    const signed = `${message.id}.${timestamp}.${body}`
    const signatures = secrets.map(secret => {
      const hmac = createHmac('sha256', signingKey(secret))
      return `v1,${hmac.update(signed).digest('base64')}`
    })
    const headers = {
      'webhook-id': message.id,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    }
    return { url, headers, body }
  },

  /** Mattermost and Discord (its address with `/slack`) take the same. */
  slack(_channel, { alert, state, severity, text, parameters }, [url]) {
    const title = `${state.toUpperCase()} (${severity}): ${alert}`
    const lines = [title, text, ...Object.entries(parameters).map(pair => pair.join(' = '))]
    const shown = escapeText(beginning(lines.join('\n'), maxSlackText))
    const body = { text: shown, mrkdwn: false, unfurl_links: false, unfurl_media: false }
    return { url: url!, body: JSON.stringify(body) }
  },

  /** https://developer.pagerduty.com/docs/send-alert-event: an incident for each alert and set of parameters. */
  'events-v2'({ url = 'https://events.pagerduty.com/v2/enqueue' }, message, [routingKey]) {
    const { alert, endpoint, state, severity, at, text, parameters, rows } = message
    const body = {
      routing_key: routingKey,
      event_action: state === 'resolved' ? 'resolve' : 'trigger',
      dedup_key: createHash('sha256')
        .update(JSON.stringify([alert, Object.entries(parameters).toSorted(byName)]))
        .digest('hex'),
      payload: {
        summary: beginning(`${alert} ${state}: ${text}`, 1_024),
        source: endpoint,
        severity,
        timestamp: at,
        custom_details: { id: message.id, text, parameters, rows },
      },
    }
    return { url, body: JSON.stringify(body) }
  },

  /** https://cloud.google.com/pubsub/docs/reference/rest/v1/projects.topics/publish */
  pubsub({ topic }, message, [token, address]) {
    const { id, alert, endpoint, state, severity } = message
    const data = Buffer.from(JSON.stringify(eventOf(message))).toString('base64')
    const body = { messages: [{ data, attributes: { id, alert, endpoint, state, severity } }] }
    return {
      url: `${address}/v1/${topic}:publish`,
      headers: { Authorization: `Bearer ${token}` },
      body: JSON.stringify(body),
      anywhere: true,
    }
  },
}

/** @throws DeliveryError where a secret has not the form that the kind needs */
function requestFor(channel: Channel, message: Message, secrets: string[]): Post {
  const make = kinds[channel.kind] as (channel: Channel, message: Message, secrets: string[]) => Post
  return make(channel, message, secrets)
}

/** Such as `alert.no_data`. */
function eventOf({ at, ...data }: Message) {
  return { type: `alert.${data.state.replace(' ', '_')}`, timestamp: at, data }
}

/** As the specification has it: base64 of 24 to 64 bytes. */
function signingKey(secret: string): Buffer {
  const [, text] = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret) ?? []
  const key = Buffer.from(text ?? '', 'base64')
  if (key.length < 24 || key.length > 64)
    throw new DeliveryError('a secret is not whsec_ and base64 of 24 to 64 bytes', secretRetryMs)
  return key
}

const byName = ([a]: [string, string], [b]: [string, string]) => (a < b ? -1 : 1)

/** Discord takes 2,000 characters, the others more. */
const maxSlackText = 1_900

/**
 * What is in logs must not call people, nor be a link by another name: Slack's entities, and what Mattermost and Discord take for
 * Markdown and mentions. https://api.slack.com/reference/surfaces/formatting#escaping
 */
function escapeText(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  const plain = text.replaceAll(/[&<>]/g, character => entities[character]!)
  return plain.replaceAll(/@|\](?=\()/g, '$&\u200b')
}
