/** What each kind of channel is sent: a table, one row for each. */
import { createHash, createHmac } from 'node:crypto'
import { beginning } from '../visible-text.ts'
import type { Channel } from './channels.ts'
import { DeliveryError, type Message } from './message.ts'
import type { Post } from './post.ts'
import { secretRetryMs } from './secrets.ts'

type Kind = Channel['kind']
type Of<K extends Kind> = Extract<Channel, { kind: K }>

/** @param secrets the values, in the order in which the channel names them; of Pub/Sub a token, and where it is */
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
    const shown = escaped(beginning(lines.join('\n'), maxSlackText))
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
export function requestFor(channel: Channel, message: Message, secrets: string[]): Post {
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
function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' }
  const plain = text.replaceAll(/[&<>]/g, character => entities[character]!)
  return plain.replaceAll(/@|\](?=\()/g, '$&\u200b')
}
