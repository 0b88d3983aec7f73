/** Issuers and their tokens on the command line, and what a service over the same folder makes of them. */
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../shared/config.ts'
import { localKeyFile } from '../../shared/data-folder.ts'
import { addIssuer } from '../../shared/keys/issuers.ts'
import { startIssuer } from '../../shared/keys/testing/issuer.ts'
import { openServices, type Services } from '../../shared/services.ts'
import { apply } from './apply/apply.ts'
import { issuerCommand } from './issuers.ts'
import { runCommand } from './testing/command.ts'
import { tokenCommand } from './token.ts'

const folder = mkdtempSync(join(tmpdir(), 'issuers-'))
const env = { DATA_DIR: folder, REMEMBER_MS: '1', ENGINE_PROCESSES: '0' }
let services: Services

beforeAll(async () => {
  services = await openServices(loadConfig(env))
  await apply(services, { queries: 'queries', dryRun: false, out: () => {} })
})

afterAll(async () => {
  await services.close()
  rmSync(folder, { recursive: true })
})

const issuer = (...args: string[]) =>
  runCommand(
    issuerCommand(act => act(services)),
    args,
  )
const mint = (args: string[], more = {}) =>
  runCommand(
    tokenCommand(
      act => act(services),
      () => loadConfig({ ...env, ...more }),
    ),
    args,
  )
const usual = [
  '--issuer',
  'https://id.example.com',
  '--jwks',
  'http://localhost:1/keys',
  '--audience',
  'logs',
]
const pinned = [...usual, '--pin', 'project=$.app_metadata.project']
const add = (...args: string[]) => issuer('add', 'console', ...args)

afterEach(() => services.store.remove({ collection: 'issuers', id: 'console' }))

describe('lqe issuer', () => {
  test('adds, lists, changes and removes one', async () => {
    const { out } = await add(
      ...pinned,
      '--endpoint',
      'logs.all',
      '--scope',
      'usage=usage.api-counts',
      '--redacted',
    )
    expect(out).toMatch(
      /^Tokens of console are taken within 30 seconds\.\nhttp:\/\/localhost:1\/keys has no keys at the moment \(/,
    )
    expect((await issuer('list')).out).toBe(
      'console  https://id.example.com: logs.all, usage: usage.api-counts, project=$.app_metadata.project, redacted\n',
    )
    await add(...pinned, '--endpoint', 'logs.all')
    expect((await issuer('list')).out).not.toContain('redacted')
    expect((await issuer('remove', 'console')).out).toMatch(/^Removed console\..* within 30 seconds/)
    expect((await issuer('list')).out).toMatch(/^There are no issuers/)
  })

  test('says what its address has', async () => {
    const own = await startIssuer('own')
    const args = ['--jwks', own.settings.jwks, '--endpoint', 'logs.all']
    expect((await add(...pinned, ...args)).out).toContain('Its address has keys: P-256.')
    own.keys = [{ kty: 'oct', k: 'c2VjcmV0' }]
    expect((await add(...pinned, ...args)).out).toContain('has no key for RS256, ES256 or EdDSA')
    await own.stop()
  })

  test.each<[string, string[], RegExp]>([
    ['no pin', [...usual, '--all'], /say what a token fixes/],
    ['no endpoint', pinned, /endpoints of an issuer, or its scopes, must name/],
    [
      'an endpoint that is misspelt',
      [...pinned, '--endpoint', 'logs.al'],
      /There is no endpoint "logs.al"; did you mean logs.all/,
    ],
    ['one behind a scope', [...pinned, '--scope', 'a=logs.al'], /There is no endpoint "logs.al"/],
    [
      'a parameter that is misspelt',
      [...usual, '--pin', 'projekt=$.a', '--endpoint', 'logs.all'],
      /There is no parameter "projekt"/,
    ],
    [
      'a claim that users write',
      [...usual, '--pin', 'project=$.user_metadata.project', '--endpoint', 'logs.all'],
      /user_metadata/,
    ],
    ['a scope without an endpoint', [...pinned, '--scope', 'a'], /scope=endpoint/],
  ])('refuses %s', async (_, args, words) => {
    const { err, code } = await add(...args)
    expect([code, err]).toEqual([1, expect.stringMatching(words)])
    expect((await issuer('list')).out).toMatch(/^There are no issuers/)
  })

  test('says that one without a pin sees the usage of all', async () => {
    expect((await add(...usual, '--unpinned', '--all')).out).toContain('they also see what every key calls')
  })

  test('changes and removes none that the setting has', async () => {
    const own = { name: 'console', issuer: 'https://id.example.com', jwks: 'https://id.example.com/' }
    const more = { ...own, audience: 'logs', pins: {}, endpoints: '*' }
    const set = await openServices(loadConfig({ ...env, JWT_ISSUERS: JSON.stringify([more]) }))
    const on = (...args: string[]) =>
      runCommand(
        issuerCommand(act => act(set)),
        args,
      )
    const words = 'console is in the setting JWT_ISSUERS: change it there.\n'
    expect((await on('list')).out).toBe('console  https://id.example.com: every endpoint\n')
    expect((await on('remove', 'console')).err).toBe(words)
    for (const name of ['console', 'other'])
      expect((await on('add', name, ...pinned, '--endpoint', 'logs.all')).err).toBe(words)
    await set.close()
  })

  test('removes none that is not there', async () => {
    expect((await issuer('remove', 'nothing')).err).toContain('There is no such issuer')
  })
})

describe('lqe token', () => {
  const callerOf = (token: string, of = services) => of.authenticate(token.trim())

  test('is taken by a service over the same data folder, and by no other', async () => {
    await add(...pinned, '--endpoint', 'logs.all')
    const { out } = await mint(['--issuer', 'console', '--claim', 'app_metadata.project=abc', '--for', '30m'])
    expect(await callerOf(out)).toMatchObject({ pins: { project: 'abc' }, endpoints: ['logs.all'] })
    expect(statSync(localKeyFile(folder)).mode & 0o77).toBe(0)
    const other = mkdtempSync(join(tmpdir(), 'other-'))
    const open = () => openServices(loadConfig({ ...env, DATA_DIR: other }))
    const elsewhere = await open()
    await addIssuer(elsewhere.store, (await services.issuers.all())[0]!)
    await expect(callerOf(out, elsewhere)).rejects.toMatchObject({ code: 'issuer_unavailable' })
    const { out: strange } = await mint(['--issuer', 'console'], { DATA_DIR: other }) // makes another key
    expect(strange).not.toBe(out)
    await elsewhere.close()
    const again = await open()
    await expect(callerOf(out, again)).rejects.toMatchObject({ problems: [{ claim: 'signature' }] })
    await again.close()
    rmSync(other, { recursive: true })
  })

  test('is refused as any other: without its claim, for another subject', async () => {
    await add(...pinned, '--endpoint', 'logs.all')
    const of = async (...args: string[]) => callerOf((await mint(['--issuer', 'console', ...args])).out)
    await expect(of()).rejects.toMatchObject({ problems: [{ claim: 'app_metadata.project' }] })
    const claim = ['--claim', 'app_metadata.project=abc']
    await expect(of(...claim, '--claim', 'exp=5')).rejects.toMatchObject({ problems: [{ claim: 'exp' }] })
    await expect(of(...claim, '--claim', 'aud=x')).rejects.toMatchObject({ problems: [{ claim: 'aud' }] })
    const [one, other] = [await of(...claim), await of(...claim, '--subject', 'other')]
    expect(one.keyId).not.toBe(other.keyId)
  })

  test.each([
    [['--issuer', 'consol'], {}, /There is no issuer "consol"; did you mean console/],
    [['--issuer', 'console', '--for', '2h'], {}, /3600 seconds at most/],
    [['--issuer', 'console'], { STORE: 'firestore' }, /only a service on this machine/],
    [['--issuer', 'console', '--claim', 'x'], {}, /path=value/],
  ])('is not made for %j', async (args, more, words) => {
    await add(...pinned, '--endpoint', 'logs.all')
    const { err } = await mint(args, more)
    expect(err).toMatch(words)
  })

  test('counts for nothing on Cloud Run, nor with a store that others read', async () => {
    await add(...pinned, '--endpoint', 'logs.all')
    const { out } = await mint(['--issuer', 'console', '--claim', 'app_metadata.project=abc'])
    // The settings of a deployed service, with this machine's store and engine.
    const settings = { ...loadConfig(env), service: 'query' }
    const deployed = await openServices(settings)
    await expect(callerOf(out, deployed)).rejects.toMatchObject({ code: 'issuer_unavailable' })
    await deployed.close()
  })
})
