/** Deliveries of a test: channels in a store, secrets in an environment, and every error that was thrown. */
import { openSqlite } from '../../stores/sqlite/store.ts'
import { type Channels, channelsAt, type DeliveryError, fieldsOfChannels, type Message } from '../channels.ts'
import { openChannels } from '../deliver.ts'
import { host } from './receiver.ts'

export const message: Message = {
  id: 'checkout_errors-7f3a-12',
  at: '2026-11-23T15:00:00.000Z',
  alert: 'checkout-errors',
  endpoint: 'errors.latest',
  state: 'firing',
  severity: 'critical',
  text: '12 errors in 5 minutes',
  parameters: { project: 'shop' },
  rows: [{ path: '/checkout', errors: 12 }],
}

/** Found in nothing but a request. */
export const environment: Record<string, string> = {
  HOOK_SECRET: `whsec_${Buffer.from('a canary of 24 bytes or so').toString('base64')}`,
  HOOK_SECRET_BEFORE: `whsec_${Buffer.from('another of 24 bytes or more').toString('base64')}`,
  ROUTING_KEY: 'canary-of-a-routing-key',
}

type Settings = Partial<Parameters<typeof openChannels>[0]>

/** @returns delivers to a channel, by default `hook` */
export async function deliveries(channels: Channels, settings: Settings = {}) {
  const store = openSqlite({ file: ':memory:' })
  await store.create(channelsAt, fieldsOfChannels(channels))
  const { deliver } = openChannels({
    store,
    rememberMs: 20_000,
    secret: name => environment[name],
    alertsToLoopback: true,
    resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    ...settings,
  })
  return (one: Partial<Message> = {}, channel = 'hook', signal = new AbortController().signal) =>
    deliver(channel, { ...message, ...one }, signal)
}

export function hookTo(port: number, path = '/alerts', name = host): Channels {
  return { hook: { kind: 'webhook', url: `https://${name}:${port}${path}`, secret: 'HOOK_SECRET' } }
}

/** @returns the error of a delivery, which has to fail */
export async function failureOf(delivery: Promise<void>): Promise<DeliveryError> {
  return delivery.then(
    () => {
      throw new Error('it was delivered')
    },
    (error: DeliveryError) => error,
  )
}
