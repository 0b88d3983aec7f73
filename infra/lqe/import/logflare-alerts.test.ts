/** Logflare's alert queries become an endpoint, an alert on its rows, and channels whose addresses the operator writes in. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { parse } from 'yaml'
import { apply } from '../apply/apply.ts'
import { readQueries } from '../apply/read.ts'
import { Import } from './testing/import.ts'

let here: Import
beforeEach(() => void (here = new Import()))
afterEach(() => here.close())

/** An alert as Logflare's API shows it. */
const shown = {
  id: 12,
  token: '0d9f4a1e-2b3c-4d5e-8f60-718293a4b5c6',
  name: 'Checkout errors',
  description: 'Errors of {checkout}',
  language: 'bq_sql',
  query: "SELECT event_message FROM `postgres.logs` WHERE event_message LIKE '%error%'",
  cron: '*/15 * * * *',
  slack_hook_url: 'https://hooks.slack.com/services/T0/B0/canary',
  webhook_notification_url: 'https://hooks.example.com/canary?token=canary',
  enabled: true,
  backends: [],
}

async function run(one: object, options = {}) {
  return here.run('alerts.json', JSON.stringify([{ ...shown, ...one }], null, 2), options)
}

async function problemsOfApply(): Promise<string> {
  const lines: string[] = []
  const services = await here.services()
  return apply(services, { queries: here.queries, dryRun: true, out: line => lines.push(line) }).then(
    () => lines.join('\n'),
    (error: Error) => error.message.replaceAll(`${here.queries}/`, ''),
  )
}

describe('an alert of Logflare', () => {
  test('becomes an endpoint, an alert and two channels, without its addresses', async () => {
    const { lines, refused } = await run({})
    expect(refused).toEqual([])
    expect(lines).toEqual([
      '+ checkout-errors from alerts.json:2',
      '! checkout-errors told its slack_hook_url: give the variable CHECKOUT_ERRORS_SLACK that address',
      '! checkout-errors told its webhook_notification_url: write that into channels.yaml, and give the variable CHECKOUT_ERRORS_WEBHOOK a secret; the body is another one',
      '! checkout-errors was Checkout errors',
      '1 imported to queries; 0 refused.',
    ])
    const [source] = readQueries(here.queries)
    expect(source!.endpoint).toMatchObject({ id: shown.token, cacheSeconds: 900, warm: null, maxRows: 1000 })
    expect(source!.endpoint.aliases).toBeUndefined()
    expect(source!.alerts[0]!.alert).toMatchObject({
      name: 'checkout-errors',
      condition: { value: 'rows', above: 0 },
      everyMs: 900_000,
      repeatMs: 900_000,
      text: 'Errors of checkout: {{ rows }} rows',
      channels: ['checkout-errors.slack', 'checkout-errors.webhook'],
    })
    const files = ['checkout-errors.yaml', 'checkout-errors.alert.yaml', 'channels.yaml'].map(file =>
      here.read(file),
    )
    expect([...files, ...lines].join()).not.toContain('canary')
    expect(files[1]).toMatch(/^# yaml-language-server: \$schema=.*shared\/alerts\/alert\.schema\.json\n/)
  })

  test('is applied when its address is written in, and not before', async () => {
    await run({})
    expect(await problemsOfApply()).toMatch(
      /^channels\.yaml:\d+:\d+ checkout-errors\.webhook\.url must match/,
    )
    const file = join(here.queries, 'channels.yaml')
    const text = readFileSync(file, 'utf8').replace(
      '(write webhook_notification_url here)',
      'https://a.example/',
    )
    writeFileSync(file, text)
    expect(await problemsOfApply()).toContain('+ checkout-errors created\n+ channels.yaml created')
  })

  test('adds to the channels that are there, and changes none of them', async () => {
    await here.run('endpoint.json', JSON.stringify({ name: 'plain', query: 'select 1 as a' }))
    const before =
      '# Ours.\nteam: { kind: slack, secret: TEAM } # of all\ncheckout-errors.slack: { kind: slack, secret: MINE }\n'
    writeFileSync(join(here.queries, 'channels.yaml'), before)
    await run({})
    const after = here.read('channels.yaml')
    expect(after.startsWith(before)).toBe(true)
    expect(Object.keys(parse(after) as object)).toEqual([
      'team',
      'checkout-errors.slack',
      'checkout-errors.webhook',
    ])
    await run({ name: 'other', token: undefined, slack_hook_url: null })
    expect(here.read('channels.yaml').startsWith(after)).toBe(true)
  })

  test('is shown with its channels, where nothing is written', async () => {
    const { lines } = await run({}, { dryRun: true })
    expect(lines.join('\n')).toMatch(
      /queries\/checkout-errors\.alert\.yaml\n.*queries\/channels\.yaml\ncheckout/s,
    )
    expect(existsSync(here.queries)).toBe(false)
  })

  test('is not written where the channels cannot be read', async () => {
    await here.run('endpoint.json', JSON.stringify({ name: 'plain', query: 'select 1 as a' }))
    writeFileSync(join(here.queries, 'channels.yaml'), '- a\n')
    expect((await run({})).refused).toEqual([
      '2:3 checkout-errors: needs a channel in queries/channels.yaml, which cannot be read: correct that file first',
    ])
    expect(existsSync(join(here.queries, 'checkout-errors.yaml'))).toBe(false)
  })

  test('that is off, or tells others, is imported with what was', async () => {
    const off = await run({ enabled: false })
    expect(off.lines).toContain('! checkout-errors was off in Logflare; here its alert tells no channel')
    expect(existsSync(join(here.queries, 'channels.yaml'))).toBe(false)
    const { lines } = await run(
      {
        slack_hook_url: null,
        webhook_notification_url: null,
        webhook_notification_headers: [{ key: 'authorization', value: 'canary' }],
        backends: [{ id: 1, name: 'incidents', type: 'incidentio', config: { api_token: 'canary' } }],
      },
      { force: true },
    )
    expect(lines.slice(1, 3)).toEqual([
      '! checkout-errors sent the headers authorization; here a signature is sent',
      '! checkout-errors told Logflare’s backends incidents: name a channel for each',
    ])
    expect(lines.join()).not.toContain('canary')
  })
})

describe('the cron', () => {
  test.each([
    ['*/5 * * * *', 'PT5M', true],
    ['0 * * * *', 'PT1H', true],
    ['30 */6 * * *', 'PT6H', true],
    ['0 9 * * *', 'P1D', true],
    ['0,30 * * * *', 'PT30M', true],
    ['5/15 * * * *', 'PT15M', true],
    ['*/7 * * * *', 'PT4M', false],
    ['0 9-17 * * *', 'PT1H', false],
    ['0 9 * * 1', 'P1D', false],
    ['0 0 1 * *', 'P1D', false],
    ['*/10 8-18/2 * * 1-5', 'PT10M', false],
  ])('%s is every %s', async (cron, every, isEven) => {
    const { lines } = await run({ cron })
    expect(parse(here.read('checkout-errors.alert.yaml'))).toMatchObject({ every, repeat: every })
    const note = `! checkout-errors ran at ${cron}; here its alert is evaluated every ${every}`
    expect(lines.includes(note)).toBe(!isEven)
  })

  test.each([
    '@hourly',
    '* * * *',
    '61 * * * *',
    '0 24 * * *',
    '0 L * * *',
    '5-1 * * * *',
    '*/0 * * * *',
    '',
    '0 0 9 * * * *',
  ])('%j is refused', async cron => {
    expect((await run({ cron })).refused).toEqual([
      `9:13 Checkout errors: has the cron ${cron}: write it with five fields of numbers`,
    ])
  })

  test('is refused or an interval from a minute to a day, whatever it is', async () => {
    const number = fc.nat(70).map(String)
    const part = fc.oneof(
      fc.constantFrom('*', 'L', ''),
      number,
      fc.tuple(number, number).map(pair => pair.join('-')),
    )
    const field = fc
      .tuple(part, fc.option(number))
      .map(([from, step]) => (step === null ? from : `${from}/${step}`))
    const list = fc.array(field, { minLength: 1, maxLength: 3 }).map(fields => fields.join(','))
    await fc.assert(
      fc.asyncProperty(list, fc.oneof(list, fc.constant('*')), async (minute, hour) => {
        const { refused } = await run({ cron: `${minute} ${hour} * * *` }, { force: true })
        if (refused.length > 0) return expect(refused[0]).toContain('has the cron')
        const { everyMs } = readQueries(here.queries)[0]!.alerts[0]!.alert
        expect(everyMs).toBeGreaterThanOrEqual(60_000)
        expect(everyMs).toBeLessThanOrEqual(86_400_000)
      }),
      { numRuns: 15 },
    )
  })
})

test.each([
  [{ language: 'lql' }, 'is in Logflare’s own query language'],
  [{ retries: 3 }, 'has retries, no field of Logflare’s endpoints'],
  [{ enabled: 'yes' }, 'has enabled that is no boolean'],
  [{ cron: 5 }, 'has cron that is no string'],
  [{ query: null }, 'has no query'],
  [{ name: 'channels' }, 'the name must not be channels'],
])('%j is refused', async (one, words) => {
  expect((await run(one)).refused).toEqual([expect.stringContaining(words)])
})
