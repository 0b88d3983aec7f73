/**
 * Where alerts go, and what they are: the operator's `channels.yaml`, which `lqe apply` puts into the store as one document.
 * It names secrets and holds none.
 */
import { assertReadable, formats } from '../stores/format.ts'
import type { Fields, Reference, Store } from '../stores/store.ts'

/** As `channels.schema.json` describes it. `secret` is the name of a variable of the environment, or of one in Secret Manager. */
export type Channel =
  /** Signed as Standard Webhooks says, with each of the secrets. */
  | { kind: 'webhook'; url: string; secret: string | string[] }
  /** The secret is the address. */
  | { kind: 'slack'; secret: string }
  /** PagerDuty's Events API v2; the secret is the routing key. */
  | { kind: 'events-v2'; secret: string; url?: string }
  /** `projects/PROJECT/topics/TOPIC`, with the account that the service runs as. */
  | { kind: 'pubsub'; topic: string }

export type Channels = Record<string, Channel>

export const channelsAt: Reference = { collection: 'channels', id: 'applied' }

/** The document of channels. */
export function fieldsOfChannels(channels: Channels): Fields {
  return { format: formats.channels, channels: JSON.stringify(channels) }
}

/** @throws StoreError, and ApiError for what a later version stored */
export async function readChannels(store: Store): Promise<{ channels: Channels; version: string | null }> {
  const { document } = await store.get(channelsAt)
  if (!document) return { channels: {}, version: null }
  assertReadable('channels', document.fields, 'The document of channels')
  return {
    channels: JSON.parse(document.fields['channels'] as string) as Channels,
    version: document.version,
  }
}

/** One transition of an alert, as it is told. */
export interface Message {
  /** Of the transition, the same at each try: letters, digits, `_` and `-`. */
  id: string
  /** When it was, ISO 8601. */
  at: string
  alert: string
  endpoint: string
  state: 'firing' | 'resolved' | 'no data' | 'failing'
  severity: 'info' | 'warning' | 'critical'
  text: string
  parameters: Record<string, string>
  /** At most 10, redacted. */
  rows: Record<string, unknown>[]
}

/** A message that was not delivered. Its words hold no secret, no address and nothing that the receiver said. */
export class DeliveryError extends Error {
  override readonly name = 'DeliveryError'
  /** To be tried again after at least so many milliseconds. */
  readonly retryAfterMs: number

  constructor(message: string, retryAfterMs = 0) {
    super(message)
    this.retryAfterMs = retryAfterMs
  }
}
