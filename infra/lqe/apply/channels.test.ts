/** `channels.yaml` is checked, and applied with the endpoints as one document. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { readChannels } from '../../../shared/alerts/channels.ts'
import { queries, refusal, run, services, write } from './testing/folder.ts'

const yaml = `
hook:
  kind: webhook
  url: https://hooks.example.com/alerts
  secret: [HOOK_SECRET, projects/acme/secrets/hook-before]
team: { kind: slack, secret: SLACK_URL }
pager: { kind: events-v2, secret: projects/acme/secrets/pager/versions/3 }
bus: { kind: pubsub, topic: projects/acme/topics/alerts }
`

const define = (text: string, file = 'channels.yaml') => write(file, text)
const problems = async () => (await refusal()).split('\n')
const stored = async () => (await readChannels(services.store)).channels

describe('channels are', () => {
  test('created, changed and removed as the file says', async () => {
    define(yaml)
    expect(await run()).toEqual(['+ channels.yaml created', '1 changed.'])
    expect(await stored()).toMatchObject({
      hook: { secret: ['HOOK_SECRET', 'projects/acme/secrets/hook-before'] },
      bus: { kind: 'pubsub' },
    })
    const version = async () => (await readChannels(services.store)).version
    const before = await version()
    expect(await run(true)).toContain('= channels.yaml unchanged')
    expect(await version()).toBe(before)
    expect(await run()).toEqual(['= channels.yaml unchanged', '0 changed.'])
    expect(await version()).not.toBe(before) // what was given up is sent again
    define(yaml.replace('SLACK_URL', 'TEAM_URL'))
    const [title, diff] = await run()
    expect(title).toBe('~ channels.yaml changed')
    expect(diff).toContain('-    "secret": "SLACK_URL"')
    expect(diff).toContain('+    "secret": "TEAM_URL"')
    rmSync(join(queries, 'channels.yaml'))
    expect(await run()).toEqual(['- channels.yaml removed', '1 changed.'])
    expect(await stored()).toEqual({})
    expect(await run()).toEqual(['0 changed.'])
  })

  test('not written where nothing is to be done', async () => {
    define(yaml)
    expect(await run(true)).toContain('+ channels.yaml created')
    expect(await stored()).toEqual({})
  })

  test('none in an empty file', async () => {
    define('# none yet\n')
    expect(await run()).toEqual(['0 changed.'])
  })
})

describe('apply says where', () => {
  test.each([
    ['a: { kind: mail }', '1:12 a.kind must be webhook or slack or events-v2 or pubsub'],
    ['a: { kind: slack }', '1:4 a needs secret'],
    ['a: { secret: X }', '1:4 a needs kind'],
    ['a: { kind: slack, secret: X, url: https://hooks.slack.com/services/T }', '1:30 a.url is not known'],
    ['a: { kind: slack, secret: https://hooks.slack.com/services/T/B/X }', '1:27 a.secret must match'],
    ['a: { kind: events-v2, secret: 0123456789abcdef0123456789abcdef }', '1:31 a.secret must match'],
    ['a: { kind: webhook, url: https://a.example/ }', '1:4 a needs secret'],
    ['a: { kind: webhook, url: https://a.example/, secret: whsec_c2VjcmV0 }', '1:54 a.secret must match'],
    [
      'a: { kind: webhook, url: https://a.example/, secret: [] }',
      '1:54 a.secret must NOT have fewer than 1 items',
    ],
    ['a: { kind: webhook, url: http://a.example/, secret: X }', '1:26 a.url must match'],
    ['a: { kind: webhook, url: https://a:b@a.example/, secret: X }', '1:26 a.url must match'],
    ['a: { kind: pubsub, topic: alerts }', '1:27 a.topic must match'],
    ['A B: { kind: pubsub, topic: projects/acme/topics/alerts }', '1:1 A B as a name must match'],
    ['a: 5', '1:4 a must be object'],
    ['[a]', '1:1 must be object'],
  ])('%s is wrong', async (text, words) => {
    define(text)
    const [first] = await problems()
    expect(first).toContain(`channels.yaml:${words}`)
  })

  test('a file of an endpoint has its name', async () => {
    define('SELECT 1 AS a', 'channels.sql')
    expect(await problems()).toEqual(['channels.sql:1:1 has no .yaml beside it, and no other .yaml names it'])
    define(yaml)
    expect(await problems()).toEqual([
      'channels.sql:1:1 the name must not be channels: that file has the channels of alerts',
    ])
  })

  test('an alert names a channel that is not there', async () => {
    define('SELECT 1 AS lines', 'levels.sql')
    define(
      'id: 0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e11\ndescription: Levels.\nparameters: { properties: {} }\n',
      'levels.yaml',
    )
    const alert =
      'endpoint: levels\ncondition: { value: lines, above: 5 }\ntext: Many.\nchannels: [hook, tam]\n'
    define(alert, 'many.alert.yaml')
    expect(await problems()).toEqual([
      'many.alert.yaml:4:12 channels.0 names hook, which channels.yaml does not have; write it there',
      'many.alert.yaml:4:18 channels.1 names tam, which channels.yaml does not have; write it there',
    ])
    define(yaml)
    expect(await problems()).toEqual([
      'many.alert.yaml:4:18 channels.1 names tam, which channels.yaml does not have; did you mean team?',
    ])
    define(alert.replace('tam', 'team'), 'many.alert.yaml')
    expect(await run()).toContain('+ channels.yaml created')
  })
})

test('http is for this machine alone', async () => {
  define('a: { kind: webhook, url: http://localhost:9000/hook, secret: X }')
  expect(await run()).toEqual(['+ channels.yaml created', '1 changed.'])
})
