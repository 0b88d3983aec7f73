/** Definitions and keys go from one store to another, of the same kind or not, by a file. */
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { edgeRow } from '../../../functions/testing/edges.ts'
import { startService } from '../../../functions/testing/service.ts'
import { channelsAt, fieldsOfChannels, readChannels } from '../../../shared/alerts/channels.ts'
import { loadConfig } from '../../../shared/config.ts'
import { type Endpoint, fieldsOf } from '../../../shared/endpoints/definition.ts'
import { endpointFrom } from '../../../shared/endpoints/definition-file.ts'
import { endpointsCollection, openEndpoints } from '../../../shared/endpoints/lookup.ts'
import { recordVersions, listVersions, writeOf } from '../../../shared/endpoints/versions.ts'
import { addView, listViews, shelfOf } from '../../../shared/endpoints/views.ts'
import { createAuthenticator } from '../../../shared/keys/authenticate.ts'
import { addIssuer, issuerIn } from '../../../shared/keys/issuers.ts'
import { fieldsOfKey, issueKey, listKeys, revokeKey } from '../../../shared/keys/records.ts'
import { openCursors } from '../../../shared/pages/cursor.ts'
import { openServices } from '../../../shared/services.ts'
import { openSqlite } from '../../../shared/stores/sqlite/store.ts'
import { batchesOf } from '../../../shared/stores/limits.ts'
import { type Store, StoreError, type Write } from '../../../shared/stores/store.ts'
import { adapters } from '../../../shared/stores/testing/adapters.ts'
import { describeStores } from '../../../shared/stores/testing/describe-stores.ts'
import { withFaults } from '../../../shared/stores/testing/faults.ts'
import { anyCharacter } from '../../../shared/testing/characters.ts'
import { apply } from '../apply/apply.ts'
import { runCommand } from '../testing/command.ts'
import { storeCommand } from './command.ts'
import { contentsIn, readContents, textOf } from './contents.ts'
import { carryOutImport, planImport } from './import.ts'

const ids = ['a', 'b', 'c'].map(letter => `0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e1${letter}`)
const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))

/** Version `n` of an endpoint, with an SQL of several lines. */
function endpoint(name: string, n: number, settings: object = {}): Endpoint {
  const id = ids[name.charCodeAt(0) - 'a'.charCodeAt(0)]
  const definition = { id, description: 'A.', parameters: { properties: {} }, ...settings }
  return endpointFrom(name, definition, `SELECT\n\t'é "\\' AS text,\r\n  ${n} AS n`)
}

async function put(store: Store, after: Endpoint, second: number, by = 'ann'): Promise<void> {
  const where = { collection: endpointsCollection, id: after.id }
  const { document } = await store.get(where)
  await (document ? store.replace(where, fieldsOf(after)) : store.create(where, fieldsOf(after)))
  await recordVersions(store, [{ before: null, after }], by, at(second))
}

const grant = {
  name: 'console',
  endpoints: ['a'],
  pins: { project: 'x', area: 'y' },
  rights: [],
  expiresAt: null,
}
const authenticate = (store: Store, key: string) => createAuthenticator(store)(key)
const unauthenticated = { code: 'unauthenticated' }

/** What git would hold. */
const exported = async (store: Store) => textOf(await readContents(store))

async function imported(store: Store, text: string, by: string | null = 'importer'): Promise<string[]> {
  const plan = await planImport(store, contentsIn(text, 'file'))
  await carryOutImport(store, plan, by)
  return plan.lines
}

/** `a` in its third version with one ended before, `b` as from before versions were kept, `c` that was removed. */
async function fill(store: Store) {
  await put(store, endpoint('a', 1), 1)
  await put(store, endpoint('a', 2, { endEarlierVersions: true }), 2)
  await put(store, endpoint('a', 3), 3)
  await store.create({ collection: endpointsCollection, id: ids[1]! }, fieldsOf(endpoint('b', 1)))
  await recordVersions(store, [{ before: null, after: endpoint('c', 1) }], 'bob', at(4))
  const limits = { callsPerMinute: 60, bytesPerDay: 1e12 }
  const key = await issueKey(store, { ...grant, limits, rights: ['pii:read'] })
  const revoked = await issueKey(store, { ...grant, endpoints: '*', expiresAt: new Date('2126-01-01') })
  await revokeKey(store, revoked.id)
  const view = { name: 'Errors', address: '#a?.severity=error' }
  await addView(store, shelfOf(ids[0]!, {}), view, 'console')
  await addView(store, shelfOf(ids[0]!, { project: 'x' }), { ...view, name: 'Ours' }, 'console')
  return { key, revoked }
}

const targets = adapters.filter(({ missing }) => missing() === null)

describeStores('an export', source => {
  describe.each(targets)('into an empty store on $name', target => {
    beforeAll(() => target.start())
    let from: Store
    let to: Store
    beforeEach(async () => void ([from, to] = [await source.open(), await target.open()]))
    afterEach(async () => void (await Promise.all([from.close(), to.close()])))

    test('gives the same export, byte for byte, and a second time changes nothing', async () => {
      await fill(from)
      const text = await exported(from)
      expect(await imported(to, text)).not.toEqual([])
      expect(await exported(to)).toBe(text)
      expect(await imported(to, text)).toEqual([])
      expect(await exported(to)).toBe(text)
    })

    test('keeps the keys that callers have, with all that they may; a revoked one stays so', async () => {
      const { key, revoked } = await fill(from)
      await imported(to, await exported(from))
      expect(await authenticate(to, key.key)).toEqual(await authenticate(from, key.key))
      await expect(authenticate(to, revoked.key)).rejects.toMatchObject(unauthenticated)
      expect(await listKeys(to)).toEqual(await listKeys(from))
    })

    test('keeps the views, each for the keys that share it', async () => {
      await fill(from)
      await imported(to, await exported(from))
      for (const pins of [{}, { project: 'x' }]) {
        const [before, after] = await Promise.all(
          [from, to].map(store => listViews(store, shelfOf(ids[0]!, pins))),
        )
        expect(after).toEqual([{ ...before![0]!, version: after![0]!.version }])
      }
    })

    test('keeps what is in force, and versions that can be called, and that cannot', async () => {
      await fill(from)
      await imported(to, await exported(from))
      const endpoints = openEndpoints(to, { rememberMs: 1, maxResultBytes: 5 })
      const current = (await endpoints.find('a'))!
      expect(current).toEqual({ ...endpoint('a', 3), maxResultBytes: 5 })
      expect((await endpoints.version(current, endpoint('a', 2).version))?.sql).toBe(endpoint('a', 2).sql)
      expect(await endpoints.version(current, endpoint('a', 1).version)).toBeNull()
      expect(await endpoints.find('b')).toMatchObject({ sql: endpoint('b', 1).sql })
      expect(await endpoints.find('c')).toBeNull()
      expect(await listVersions(to, 'c')).toEqual(await listVersions(from, 'c'))
    })
  })
})

describe('an export', () => {
  let from: Store
  let to: Store
  beforeEach(() => void ([from, to] = [openSqlite({ file: ':memory:' }), openSqlite({ file: ':memory:' })]))
  afterEach(async () => void (await Promise.all([from.close(), to.close()])))

  test('has the channels of alerts, which come beside those that are there', async () => {
    const team = { kind: 'slack' as const, secret: 'TEAM' }
    const other = { kind: 'slack' as const, secret: 'OTHER' }
    await from.create(channelsAt, fieldsOfChannels({ team }))
    const text = await exported(from)
    expect(await imported(to, text)).toEqual(['+ channels.yaml created'])
    expect(await exported(to)).toBe(text)
    expect(await imported(to, text)).toEqual([])
    await to.replace(channelsAt, fieldsOfChannels({ other, team: other }))
    expect((await imported(to, text))[0]).toMatch(/^~ channels\.yaml changed\n/)
    expect((await readChannels(to)).channels).toEqual({ other, team })
    expect(await imported(to, await exported(openSqlite({ file: ':memory:' })))).toEqual([])
    expect(() => contentsIn(text.replace('"slack"', '"mail"'), 'file')).toThrow(
      'file:1:1 team.kind must be webhook or',
    )
  })

  test('into a store that is in use takes nothing out, and says what it replaced', async () => {
    await fill(from)
    await put(to, endpoint('a', 9), 8)
    await put(to, { ...endpoint('c', 9), name: 'own' }, 9)
    const { key } = await issueKey(to, grant)
    const lines = await imported(to, await exported(from))
    expect(lines.join('\n')).toMatch(
      /^~ a changed\n([^\n]*\n)+\+ b created\n\+ versions: 4\n\+ key \w+ console\n/,
    )
    const [last, before] = await listVersions(to, 'a')
    expect(last).toMatchObject({ endpoint: endpoint('a', 3), createdBy: 'ann', appliedBy: 'importer' })
    expect(before).toMatchObject({ endpoint: endpoint('a', 9), appliedAt: at(8) })
    const endpoints = openEndpoints(to, { rememberMs: 1, maxResultBytes: 5 })
    expect((await endpoints.all()).map(({ name }) => name)).toEqual(['a', 'b', 'own'])
    expect(await authenticate(to, key)).toMatchObject({ name: 'console' })
    expect(await imported(to, await exported(from))).toEqual([])
  })

  test('leaves a view as the store has it, where that has one of the name', async () => {
    await fill(from)
    const own = { name: 'Errors', address: '#a?.severity=warning' }
    await addView(to, shelfOf(ids[0]!, {}), own, 'other')
    expect(await imported(to, await exported(from))).toContain('+ views: 1')
    expect(await listViews(to, shelfOf(ids[0]!, {}))).toMatchObject([own])
  })

  test('never makes a key live again or longer, and ends one that it has ended', async () => {
    const soon = await issueKey(from, { ...grant, name: 'soon' })
    const gone = await issueKey(from, { ...grant, name: 'gone' })
    const early = await exported(from)
    await imported(to, early)
    await revokeKey(to, gone.id)
    const until = new Date('2126-01-01')
    await to.update({ collection: 'keys', id: soon.id }, { set: { expiresAt: until } })
    expect(await imported(to, early)).toEqual([])
    await revokeKey(from, soon.id)
    expect(await imported(to, await exported(from))).toEqual([`~ key ${soon.id} soon is revoked`])
    expect((await listKeys(to)).map(({ state, expiresAt }) => [state, expiresAt])).toEqual(
      expect.arrayContaining([
        ['revoked', until],
        ['revoked', null],
      ]),
    )
  })

  test('is refused where the store has another endpoint of the name, or another key of the id', async () => {
    await put(from, endpoint('a', 1), 1)
    await put(to, { ...endpoint('b', 1), name: 'a' }, 1)
    const error = {
      name: 'CommandError',
      message: expect.stringMatching(/^a: two endpoints would have this name/),
    }
    await expect(imported(to, await exported(from))).rejects.toMatchObject(error)
    const { id } = await issueKey(from, grant)
    await to.remove({ collection: endpointsCollection, id: ids[1]! })
    const { document } = await from.get({ collection: 'keys', id })
    await to.create({ collection: 'keys', id }, { ...document!.fields, hash: '0'.repeat(64) })
    await expect(imported(to, await exported(from))).rejects.toThrow(/another key with the id/)
    expect(await listVersions(to, 'a')).toHaveLength(1)
  })

  test('is in the store whole or not at all', async () => {
    await fill(from)
    const failing = withFaults(to, {
      before(operation) {
        if (operation === 'batch') throw new StoreError('unavailable', 'down')
      },
    })
    const text = await exported(from)
    await expect(imported(failing, text)).rejects.toThrow('down')
    const empty = openSqlite({ file: ':memory:' })
    expect(await exported(to)).toBe(await exported(empty))
    let batches = 0
    await imported(
      withFaults(to, { before: operation => void (batches += Number(operation === 'batch')) }),
      text,
    )
    expect(batches).toBe(1)
    await empty.close()
  })

  test('of many documents is whole once it is repeated, with what is in force last', async () => {
    await fill(from)
    const [first] = await listVersions(from, 'c')
    const version = (n: number) => n.toString(16).padStart(16, '0')
    const versions = Array.from({ length: 1_100 }, (_, n) => ({
      ...first!,
      endpoint: { ...first!.endpoint, name: `n${n % 12}`, version: version(n) },
    }))
    const [known] = (await readContents(from)).keys
    const keys = Array.from({ length: 1_100 }, (_, n): Write => {
      const at = { collection: 'keys', id: version(n).slice(-11) }
      return {
        type: 'create',
        at,
        fields: fieldsOfKey({ ...known!.record, createdAt: new Date(n - (n % 9)) }),
      }
    })
    for (const batch of batchesOf([...versions.map(writeOf), ...keys])) await from.batch(batch)
    const text = await exported(from)
    expect(contentsIn(text, 'file')).toMatchObject({
      definitions: { length: 1_105 },
      keys: { length: 1_102 },
    })
    let batches = 0
    const failing = withFaults(to, {
      before(operation) {
        if (operation === 'batch' && ++batches > 2) throw new StoreError('unavailable', 'down')
      },
    })
    await expect(imported(failing, text)).rejects.toThrow('down')
    expect((await to.query({ collection: endpointsCollection, limit: 10 })).documents).toEqual([])
    await imported(to, text)
    expect(contentsIn(await exported(to), 'file')).toEqual(contentsIn(text, 'file'))
  })

  test('takes issuers of tokens along; one that the store has otherwise is refused', async () => {
    const issuer = (name: string, endpoints: string[]) =>
      issuerIn({ name, issuer: name, jwks: 'https://a.example/', audience: 'a', pins: {}, endpoints })
    await addIssuer(from, issuer('one', ['a']))
    await addIssuer(from, issuer('two', ['b']))
    const text = await exported(from)
    expect(await imported(to, text)).toEqual(['+ issuer one', '+ issuer two'])
    expect([await exported(to), await imported(to, text)]).toEqual([text, []])
    await addIssuer(to, issuer('two', ['c']))
    await expect(imported(to, text)).rejects.toThrow('The store has the issuer two otherwise.')
    const damaged = text.replace('https://a.example/', 'file:///a')
    expect(() => contentsIn(damaged, 'file')).toThrow('file: issuers[0] is damaged.')
  })

  test('is the same text where a store gives a map in another order', async () => {
    const { id } = await issueKey(from, grant)
    const { fields } = (await from.get({ collection: 'keys', id })).document!
    const pins = Object.fromEntries(Object.entries(fields['pins'] as object).reverse())
    await to.create({ collection: 'keys', id }, { ...fields, pins })
    expect(await exported(to)).toBe(await exported(from))
  })

  test('has no key, no secret of cursors and no answer', async () => {
    const { key } = await fill(from)
    await openCursors(from).seal({
      endpointId: 'a',
      parameters: '',
      direction: 'next',
      after: { time: '1', tie: '' },
      now: null,
    })
    const { document } = await from.get({ collection: 'secrets', id: 'cursors' })
    const secret = Buffer.from(document!.fields['key'] as Uint8Array)
    const text = await exported(from)
    for (const part of [key.key.split('_')[2]!, secret.toString('base64'), secret.toString('hex'), 'secrets'])
      expect(text).not.toContain(part)
    expect(Object.keys(JSON.parse(text) as object)).toEqual(['format', 'definitions', 'keys', 'views'])
  })

  test('has a line for each line of SQL, and gives back any text', async () => {
    await put(from, endpoint('a', 1), 1)
    expect((await exported(from)).split('\n')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^ +"SELECT",$/),
        expect.stringMatching(/^ +" {2}1 AS n"$/),
      ]),
    )
    const part = fc.oneof(
      fc.constantFrom('\n', '\r', ' ', '\t'),
      fc.string({ unit: anyCharacter, maxLength: 3 }),
    )
    const text = fc.array(part, { maxLength: 8 }).map(parts => parts.join(''))
    await fc.assert(
      fc.asyncProperty(text, async body => {
        const sql = `SELECT 1${body}`
        const contents = await readContents(from)
        const [one] = contents.definitions
        const changed = { ...contents, definitions: [{ ...one!, endpoint: { ...one!.endpoint, sql } }] }
        expect(contentsIn(textOf(changed), 'file').definitions[0]!.endpoint.sql).toBe(sql)
      }),
      { numRuns: 30 },
    )
  })
})

describe('lqe store', () => {
  const folder = mkdtempSync(join(tmpdir(), 'store-'))
  const file = join(folder, 'store.json')
  afterAll(() => rmSync(folder, { recursive: true }))
  let from: Store
  let to: Store
  beforeEach(() => void ([from, to] = [openSqlite({ file: ':memory:' }), openSqlite({ file: ':memory:' })]))
  afterEach(async () => void (await Promise.all([from.close(), to.close()])))

  const lqe = (store: Store, ...args: string[]) =>
    runCommand(
      storeCommand(
        act => act({ store }),
        () => null,
      ),
      args,
    )

  test('from a pipe that nothing writes to is refused, not waited for', async () => {
    const pipe = join(mkdtempSync(join(tmpdir(), 'pipe-')), 'all.json')
    execFileSync('mkfifo', [pipe])
    const { err } = await lqe(to, 'import', pipe)
    expect(err).toContain(`${pipe} is no regular file: pipe it in`)
  })

  test('writes a file for its owner alone, also over one that others may read, and leaves no other', async () => {
    await fill(from)
    writeFileSync(file, '')
    chmodSync(file, 0o644)
    expect((await lqe(from, 'export', file)).out).toBe(
      `Wrote ${file}: endpoints 2, versions 5, keys 2, views 2.\n`,
    )
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readFileSync(file, 'utf8')).toBe(`${await exported(from)}\n`)
    expect((await lqe(from, 'export', '-')).out).toBe(readFileSync(file, 'utf8'))
    mkdirSync(join(folder, 'a'))
    expect(await lqe(from, 'export', join(folder, 'a'))).toMatchObject({ code: 1 })
    rmSync(join(folder, 'a'), { recursive: true })
    expect(readdirSync(folder)).toEqual(['store.json'])
    expect(await exported(to)).not.toBe(await exported(from))
  })

  test('shows with --dry-run what it would do, and does nothing', async () => {
    const { key } = await fill(from)
    await lqe(from, 'export', file)
    const empty = await exported(to)
    const dry = await lqe(to, 'import', file, '--dry-run')
    expect(dry.out).toMatch(
      /^\+ a created\n\+ b created\n\+ versions: 4\n(\+ key \w+ console\n){2}\+ views: 2\n10 to write; nothing was done/,
    )
    expect(await exported(to)).toBe(empty)
    const done = await lqe(to, 'import', file)
    expect(done.out).toMatch(/10 written\.\n$/)
    expect(done.err).toMatch(new RegExp(`"message":"keys imported".*"${key.id}"`))
    expect((await lqe(to, 'import', file)).out).toBe('0 written.\n')
  })

  test.each([
    ['{"format":99}', /was stored by a later version of this service \(format 99; this one reads up to 1\)/],
    ['', / is no export: lqe store export writes one/],
    ['[]', / is no export/],
    ['null', / is no export/],
    ['{"format":1}', / is damaged/],
    ['{"format":1,"definitions":[{}],"keys":[]}', /definitions\[0\] is damaged/],
    ['{"format":1,"definitions":[],"keys":[{"id":"lqe_"}]}', /keys\[0\] is damaged/],
    ['{"format":1,"definitions":[],"keys":[],"views":[{"name":"x"}]}', /views\[0\] is damaged/],
  ])('refuses %j', async (text, words) => {
    writeFileSync(file, text)
    const empty = await exported(to)
    expect(await lqe(to, 'import', file)).toMatchObject({ err: expect.stringMatching(words), code: 1 })
    expect(await exported(to)).toBe(empty)
  })
})

test.each(readdirSync(join(import.meta.dirname, 'testing')))(
  '%s of an earlier version is read',
  async file => {
    const text = readFileSync(join(import.meta.dirname, 'testing', file), 'utf8')
    const { key } = JSON.parse(readFileSync('shared/testing/formats/0.1.0.json', 'utf8')) as { key: string }
    const store = openSqlite({ file: ':memory:' })
    expect(await imported(store, text)).toEqual([
      '+ a created',
      '+ versions: 2',
      expect.stringContaining('console'),
    ])
    expect(await authenticate(store, key)).toMatchObject({ name: 'console', pins: { project: 'abc' } })
    await store.close()
  },
)

test('a key that was issued before a restore answers after it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'restore-'))
  const before = await openServices(loadConfig({ DATA_DIR: join(folder, 'before'), ENGINE_PROCESSES: '0' }))
  await apply(before, { queries: 'queries', dryRun: false, out: () => {} })
  const { key } = await issueKey(before.store, { ...grant, endpoints: ['usage.api-counts'], pins: {} })
  const text = await exported(before.store)
  await before.close()
  const none = join(folder, 'none')
  mkdirSync(none)
  const project = 'abcdefghijklmnopqrst'
  const rows = [edgeRow('one', '2026-03-10T12:00:00Z', project, '/rest/v1/items')]
  const tables = { 'cloudflare.logs.prod': rows }
  const service = await startService({ tables, queries: none, env: { FROZEN_NOW: '2026-03-10T12:30:30Z' } })
  await imported(service.services.store, text)
  const usage = `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`
  const answer = await service.fetch(usage, { key })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ result: [{ total_rest_requests: 1 }] })
  await service.stop()
  rmSync(folder, { recursive: true })
})
