/** What each kind of channel is sent, as its receivers read it. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import type { Message } from './channels.ts'
import { deliveries, environment, failureOf, hookTo, message } from './testing/delivering.ts'
import { answer, host, type Receiver, startReceiver } from './testing/receiver.ts'

let receiver: Receiver
beforeEach(async () => void (receiver = await startReceiver()))
afterEach(() => receiver.close())

const sent = () => JSON.parse(receiver.received.at(-1)!.body) as Record<string, unknown>

describe('a webhook', () => {
  const verify = (secret: string, change: Record<string, string> = {}) => {
    const { headers, body } = receiver.received.at(-1)!
    return new Webhook(environment[secret]!).verify(body, {
      ...(headers as Record<string, string>),
      ...change,
    })
  }

  test('is signed as Standard Webhooks says', async () => {
    await (
      await deliveries(hookTo(receiver.port))
    )()
    const { at, ...data } = message
    expect(verify('HOOK_SECRET')).toEqual({ type: 'alert.firing', timestamp: at, data })
    expect(() => verify('HOOK_SECRET_BEFORE')).toThrow()
    expect(() => verify('HOOK_SECRET', { 'webhook-id': 'another' })).toThrow()
  })

  test('is signed with each of its secrets, so that a receiver has time to take the new one', async () => {
    const url = `https://${host}:${receiver.port}/`
    const secret = ['HOOK_SECRET', 'HOOK_SECRET_BEFORE']
    await (
      await deliveries({ hook: { kind: 'webhook', url, secret } })
    )()
    for (const each of secret) expect(verify(each)).toMatchObject({ type: 'alert.firing' })
  })

  test('has the id of the message at each try, and the time of the try', async () => {
    const deliver = await deliveries(hookTo(receiver.port))
    receiver.behaviour = answer(503)
    await failureOf(deliver())
    receiver.behaviour = answer(200)
    await deliver()
    const [first, second] = receiver.received
    expect(second!.headers['webhook-id']).toBe(message.id)
    expect(first!.headers['webhook-id']).toBe(message.id)
    expect(Number(second!.headers['webhook-timestamp'])).toBeGreaterThan(Date.parse(message.at) / 1000)
  })

  test.each([
    ['no data', 'alert.no_data'],
    ['resolved', 'alert.resolved'],
    ['failing', 'alert.failing'],
  ] as const)('that tells %s is of the type %s', async (state, type) => {
    await (
      await deliveries(hookTo(receiver.port))
    )({ state })
    expect(verify('HOOK_SECRET')).toMatchObject({ type, data: { state } })
  })

  test.each(['secret', 'whsec_', 'whsec_c2hvcnQ=', `whsec_${'A'.repeat(100)}`, 'whsec_!', ''])(
    'is not sent with the secret %j, which is none of Standard Webhooks',
    async secret => {
      const error = await failureOf((await deliveries(hookTo(receiver.port), { secret: () => secret }))())
      expect(error.retryAfterMs).toBe(60_000)
      expect(receiver.connections).toBe(0)
    },
  )
})

describe('Slack', () => {
  const toSlack = async (one: Partial<Message> = {}) => {
    const secret = () => `https://${host}:${receiver.port}/services/T0/B0/X`
    await (
      await deliveries({ hook: { kind: 'slack', secret: 'SLACK' } }, { secret })
    )(one)
    return sent()['text'] as string
  }

  test('gets text at the address that is the secret', async () => {
    expect(await toSlack()).toBe('FIRING (critical): checkout-errors\n12 errors in 5 minutes\nproject = shop')
    expect(receiver.received[0]!.path).toBe('/services/T0/B0/X')
  })

  test('calls nobody, and links nothing, whatever the logs have', async () => {
    const text =
      'a & b <!channel> <https://evil.example|here> &lt; @channel @here @ALL @ann [a](https://evil.example)'
    expect(await toSlack({ text, parameters: { '<!here>': '<@U1>' } })).toBe(
      'FIRING (critical): checkout-errors\n' +
        'a &amp; b &lt;!channel&gt; &lt;https://evil.example|here&gt; &amp;lt; @\u200bchannel @\u200bhere @\u200bALL @\u200bann [a]\u200b(https://evil.example)\n' +
        '&lt;!here&gt; = &lt;@\u200bU1&gt;',
    )
    expect(sent()).toMatchObject({ mrkdwn: false, unfurl_links: false, unfurl_media: false })
  })
})

describe('PagerDuty’s Events API', () => {
  const toPager = async (one: Partial<Message> = {}) => {
    const url = `https://${host}:${receiver.port}/v2/enqueue`
    await (
      await deliveries({ hook: { kind: 'events-v2', secret: 'ROUTING_KEY', url } })
    )(one)
    return sent() as { event_action: string; dedup_key: string; payload: { summary: string } }
  }

  test('gets an event', async () => {
    expect(await toPager()).toEqual({
      routing_key: environment['ROUTING_KEY'],
      event_action: 'trigger',
      dedup_key: expect.stringMatching(/^[0-9a-f]{64}$/),
      payload: {
        summary: 'checkout-errors firing: 12 errors in 5 minutes',
        source: 'errors.latest',
        severity: 'critical',
        timestamp: message.at,
        custom_details: {
          id: message.id,
          text: message.text,
          parameters: message.parameters,
          rows: message.rows,
        },
      },
    })
  })

  test('resolves the incident of the same alert and parameters, in any order, and no other', async () => {
    const parameters = { project: 'shop', region: 'eu' }
    const first = await toPager({ parameters })
    const last = await toPager({ id: 'x', state: 'resolved', parameters: { region: 'eu', project: 'shop' } })
    expect([last.event_action, last.dedup_key]).toEqual(['resolve', first.dedup_key])
    expect((await toPager({ parameters: { ...parameters, region: 'us' } })).dedup_key).not.toBe(
      first.dedup_key,
    )
    expect((await toPager({ parameters, alert: 'another' })).dedup_key).not.toBe(first.dedup_key)
  })

  test.each(['no data', 'failing'] as const)('opens an incident for %s, too', async state => {
    expect(await toPager({ state })).toMatchObject({ event_action: 'trigger' })
  })

  test('gets a summary as long as it may be', async () => {
    const { payload } = await toPager({ text: '😀'.repeat(5_000) })
    expect(payload.summary.length).toBeLessThanOrEqual(1_024)
    expect(payload.summary.isWellFormed()).toBe(true)
  })
})

describe('Pub/Sub', () => {
  const topic = 'projects/acme/topics/alerts'
  const google = (token: () => Promise<string>) => {
    const pubSub = `https://${host}:${receiver.port}`
    return { google: { token, pubSub, secretManager: '' } }
  }

  test('gets a message published with the account of the service', async () => {
    await (
      await deliveries(
        { hook: { kind: 'pubsub', topic } },
        google(async () => 'ya29.token'),
      )
    )()
    expect(receiver.received).toMatchObject([
      { path: `/v1/${topic}:publish`, headers: { authorization: 'Bearer ya29.token' } },
    ])
    const { messages } = sent() as { messages: [{ data: string; attributes: object }] }
    const { at, ...data } = message
    expect(JSON.parse(Buffer.from(messages[0].data, 'base64').toString())).toEqual({
      type: 'alert.firing',
      timestamp: at,
      data,
    })
    const { id, alert, endpoint, state, severity } = message
    expect(messages[0].attributes).toEqual({ id, alert, endpoint, state, severity })
  })

  test('is tried again where no token can be had, or none in time', async () => {
    const channels = { hook: { kind: 'pubsub' as const, topic } }
    const fails = google(() => Promise.reject(new Error('ya29.canary')))
    const error = await failureOf((await deliveries(channels, fails))())
    expect(error).toMatchObject({
      retryAfterMs: expect.any(Number),
      message: expect.not.stringContaining('canary'),
    })
    const hangs = { ...google(() => new Promise<never>(() => {})), timeoutMs: 100 }
    expect((await failureOf((await deliveries(channels, hangs))())).retryAfterMs).toBe(0)
  })
})

test('any text becomes a request that is read as the same text', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom('<', '&', '@', '](', 'here', 'ALL', ' ', '\ud83d') }),
  )
  const here = await startReceiver({ secure: false })
  const url = `http://localhost:${here.port}/`
  const secret = (name: string) => environment[name] ?? url
  const deliver = await deliveries(
    { hook: { kind: 'webhook', url, secret: 'HOOK_SECRET' }, slack: { kind: 'slack', secret: 'SLACK' } },
    { secret },
  )
  await fc.assert(
    fc.asyncProperty(text, async text => {
      await deliver({ text })
      expect(JSON.parse(here.received.pop()!.body)).toMatchObject({ data: { text } })
      await deliver({ text }, 'slack')
      const { text: shown } = JSON.parse(here.received.pop()!.body) as { text: string }
      expect(shown).not.toMatch(/[<>]|&(?!(amp|lt|gt);)|@(?!\u200b)|\]\(/)
      const read = shown.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&')
      expect(read.replaceAll('\u200b', '')).toContain(text.replaceAll('\u200b', ''))
    }),
    { numRuns: 50 },
  )
  await here.close()
})
