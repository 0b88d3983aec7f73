import { mkdtempSync, rmSync } from 'node:fs'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { InvalidArgumentError } from 'commander'
import { loadConfig } from '../../shared/config.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { apply } from './apply/apply.ts'
import { duration, keyCommand } from './keys.ts'
import { programEnds, runCommand } from './testing/command.ts'

const folder = mkdtempSync(join(tmpdir(), 'keys-'))
let services: Services

beforeAll(async () => {
  services = await openServices(loadConfig({ DATA_DIR: folder, ENGINE_PROCESSES: '0' }))
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
})

afterAll(async () => {
  await services.close()
  rmSync(folder, { recursive: true })
})

const key = (...args: string[]) =>
  runCommand(
    keyCommand(act => act(services)),
    args,
  )

test('the program lqe has the command key, and prints its errors without a stack', async () => {
  const run = (...args: string[]) => programEnds(['key', ...args], { env: { DATA_DIR: folder } })
  const { out } = await run('create', '--name', 'a', '--all', '--never')
  expect(out).toMatch(/^API key: lqe_\w{11}_\w{49}\n/)
  expect(await run('revoke', 'nothing')).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^There is no such key.*\n$/),
  })
})

describe('lqe key', () => {
  test.each([
    [['--all'], true],
    [['--endpoint', 'service.usage'], true],
    [['--all', '--pin', 'project=abc'], false],
    [['--endpoint', 'logs.all'], false],
  ])('says of a key with %j that it sees the usage of all keys: %j', async (grant, says) => {
    const { out } = await key('create', '--name', 'a', '--never', ...grant)
    expect(out.includes('sees what every other key calls and costs (service.usage)')).toBe(says)
  })

  test('say in their help how long a successor overlaps in days, not in milliseconds', async () => {
    const { out } = await key('rotate', '--help')
    expect(out.replaceAll(/\s+/g, ' ')).toContain('how long the old key stays valid (default: 7d)')
    expect(out).not.toMatch(/\d{4}/)
  })

  test('creates, lists, rotates and revokes', async () => {
    const grant = [
      '--endpoint',
      'logs.all',
      '--pin',
      'project=abc',
      '--right',
      'pii:read',
      '--expires',
      '90d',
      '--calls-per-minute',
      '60',
      '--bytes-per-day',
      '2TB',
    ]
    const { out } = await key('create', '--name', 'console', ...grant)
    const [, secret, id] = /API key: (lqe_(\w{11})_\w{49})\n/.exec(out) ?? []
    expect(out).toContain(`Its id, for list, revoke and rotate: ${id}`)
    const listed = (await key('list')).out
    expect(listed).toMatch(
      new RegExp(
        `^${id}  active   console: logs.all project=abc pii:read, 60 calls a minute, 2000000 MB a day, until 20`,
      ),
    )
    expect(listed).not.toContain(secret!.slice(-20))
    const rotated = (await key('rotate', id!, '--overlap', '2h')).out
    expect(rotated).toMatch(/API key: lqe_\w+\n.*The old key, \w+, stops at 20/)
    expect((await key('revoke', id!)).out).toContain(`Revoked ${id}`)
    expect((await key('list')).out).toMatch(new RegExp(`${id}  revoked`))
  })

  test('creates a key for an agent: redacted, limited, and pinned as asked', async () => {
    const grant = ['--for', 'agent', '--endpoint', 'logs.all', '--pin', 'project=abc']
    const [, id] = /lqe_(\w{11})_/.exec((await key('create', ...grant)).out)!
    const terms = 'agent: logs.all project=abc redacted, 60 calls a minute, 50000 MB a day, until 20'
    expect((await key('list')).out).toContain(`${id}  active   ${terms}`)
    const rotated = /lqe_(\w{11})_/.exec((await key('rotate', id!)).out)![1]
    expect((await key('list')).out).toContain(`${rotated}  active   ${terms}`)
    const own = await key('create', ...grant, '--name', 'mine', '--calls-per-minute', '5', '--expires', '2d')
    expect(own.code).toBe(0)
    expect((await key('list')).out).toContain('mine: logs.all project=abc redacted, 5 calls a minute,')
  })

  const narrow = (...more: string[]) => key('create', '--name', 'a', '--never', ...more)

  test.each([
    [['--endpoint', 'log.all'], 'There is no endpoint "log.all"; did you mean logs.all?'],
    [
      ['--endpoint', 'logs.all', '--endpoint', 'x'],
      'There is no endpoint "x"; here are logs.all, service.usage, usage.api-counts',
    ],
    [
      ['--endpoint', 'logs.all', '--endpoint', 'usage.api-counts', '--pin', 'proyect=a'],
      'There is no parameter "proyect" in logs.all, usage.api-counts; did you mean project?',
    ],
    [['--all', '--pin', 'proyect=a'], 'There is no parameter "proyect"; did you mean project?'],
    [
      ['--endpoint', 'logs.all', '--endpoint', 'usage.api-counts', '--pin', 'interval=daily'],
      '--pin interval: not in logs.all, which such a key could not call; give that a key of its own',
    ],
    [
      ['--endpoint', 'usage.api-counts', '--pin', 'interval=weekly'],
      '--pin interval: for usage.api-counts it must be one of minutely, hourly, daily, 15min, 30min, 3hr, 1day, 3day, 1hr, 7day.',
    ],
    [['--all', '--pin', 'iso_timestamp_start=soon'], 'for logs.all it must be an ISO 8601 time'],
  ])('issues no key for %j, which would open nothing', async (grant, message) => {
    const before = (await key('list')).out
    expect(await narrow(...grant)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) })
    expect((await key('list')).out).toBe(before)
  })

  test('takes the id of an endpoint for its name', async () => {
    const { id } = (await services.endpoints.find('service.usage'))!
    const created = await narrow('--endpoint', id.toUpperCase())
    const keyId = /revoke and rotate: (\w+)/.exec(created.out)![1]!
    expect((await key('list')).out).toMatch(new RegExp(`^${keyId}  active   \\w+: service.usage,`, 'm'))
  })

  test('takes a pin that some endpoints have, for a key to all', async () => {
    expect((await narrow('--all', '--pin', 'interval=daily')).code).toBe(0)
  })

  test('writes an audit line for each change, without the key', async () => {
    const line = ({ err }: { err: string }) => JSON.parse(err) as Record<string, unknown>
    const created = await key('create', '--name', 'console', '--all', '--never', '--right', 'pii:read')
    const issued = line(created)
    const id = issued['key'] as string
    const by = expect.stringContaining(hostname())
    const grant = { name: 'console', endpoints: '*', rights: ['pii:read'] }
    expect(issued).toMatchObject({ severity: 'NOTICE', message: 'key issued', ...grant, by })
    const rotation = await key('rotate', id)
    const rotated = line(rotation)
    expect(rotated).toMatchObject({ severity: 'NOTICE', message: 'key rotated', replaces: id, by })
    expect(line(await key('revoke', id))).toMatchObject({ message: 'key revoked', key: id, by })
    for (const { out, err } of [created, rotation]) {
      const secret = /lqe_\w{11}_(\w{49})/.exec(out)![1]!
      expect(err).not.toContain(secret.slice(0, 10))
    }
    expect((await key('revoke', 'nothing')).err).not.toContain('{')
    const { isTTY } = process.stderr
    process.stderr.isTTY = true
    expect((await key('create', '--name', 'by hand', '--all', '--never')).err).toBe('')
    process.stderr.isTTY = isTTY
  })

  test.each([
    [['create', '--name', 'a', '--never'], /what the key may call: --endpoint NAME .* or --all/],
    [['create', '--name', 'a', '--all'], /how long the key lives: --expires 90d or --never/],
    [['create', '--for', 'agent', '--all', '--right', 'pii:read'], /redacted key cannot have the right/],
    [['create', '--for', 'agent', '--all', '--never'], /cannot be used with option/],
    [['create', '--for', 'human', '--all'], /Allowed choices are agent/],
    [['create', '--all', '--never'], /required option '--name <name>'/],
    [
      ['create', '--name', 'a', '--all', '--endpoint', 'b', '--never'],
      /cannot be used with option '--endpoint/,
    ],
    [['create', '--name', 'a', '--all', '--never', '--expires', '1d'], /cannot be used with option/],
    [['create', '--name', 'a', '--all', '--bytes-per-day', '1.5GB'], /such as 500GB/],
    [['create', '--name', 'a', '--all', '--never', '--bytes-per-day', '9999TB'], /Write 9007TB at most/],
    [['create', '--name', 'a', '--all', '--expires', '99999y'], /Write 1000 years at most/],
    [['create', '--name', 'a', '--all', '--calls-per-minute', '0'], /a whole number from 1 to 999999/],
    [['create', '--name', 'a', '--all', '--expires', 'soon'], /a number and a unit: 90d/],
    [
      ['create', '--name', 'a', '--all', '--never', '--pin', 'project'],
      /parameter=value, such as project=abc/,
    ],
    [
      ['create', '--name', 'a', '--all', '--never', '--right', 'all'],
      /Allowed choices are pii:read, cache:bypass, definitions:read, definitions:write, views:write/,
    ],
    [['revoke', 'nothing'], /There is no such key/],
    [['rotate', 'nothing'], /There is no such key/],
  ])('%j reports the missing or wrong option', async (args, message) => {
    expect(await key(...args)).toMatchObject({ code: 1, err: expect.stringMatching(message) })
  })
})

describe('a duration', () => {
  test.each([
    ['30m', 1_800_000],
    ['12h', 43_200_000],
    ['90d', 7_776_000_000],
    ['90 days', 7_776_000_000],
    ['1 hour', 3_600_000],
    ['30 Minutes', 1_800_000],
    ['2w', 1_209_600_000],
    ['1 year', 31_536_000_000],
    ['90 min', 5_400_000],
    ['1.5h', 5_400_000],
    ['1h 30m', 5_400_000],
    ['2hrs', 7_200_000],
    ['P1DT12H', 129_600_000],
    ['PT90M', 5_400_000],
  ])('%s is %i ms', (text, ms) => {
    expect(duration(text)).toBe(ms)
  })

  test.each(['', '0d', '90', 'd', '-1d', '1 month', 'P1M', 'P', 'PT', '1d and a half', '1000000d'])(
    '%j is invalid',
    text => {
      expect(() => duration(text)).toThrow(InvalidArgumentError)
    },
  )
})
