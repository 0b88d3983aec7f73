/** What earlier versions stored is read, on every store; what a later one stores is refused, or is no answer of the cache. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { channelsAt, readChannels } from '../alerts/channels.ts'
import { alertsCollection, recordIn } from '../alerts/record.ts'
import { shownState } from '../alerts/state.ts'
import { BytesInFlight } from '../answers/in-flight.ts'
import { CacheEntries } from '../cache/entries.ts'
import { AnswerCache } from '../cache/cache.ts'
import { answersCollection, headOf } from '../cache/head.ts'
import { engine, quick, request } from '../cache/testing/requests.ts'
import { openEndpoints } from '../endpoints/lookup.ts'
import { listVersions } from '../endpoints/versions.ts'
import { addView, listViews } from '../endpoints/views.ts'
import { createAuthenticator } from '../keys/authenticate.ts'
import { readKey } from '../key-text.ts'
import { issueKey, listKeys, revokeKey } from '../keys/records.ts'
import { openCursors } from '../pages/cursor.ts'
import { formats } from './format.ts'
import { openSqlite } from './sqlite/store.ts'
import type { Fields, Store } from './store.ts'
import { describeStores } from './testing/describe-stores.ts'

type Tagged = { value: Fields[string] } | { date: string } | { bytes: string }

interface Fixture {
  /** Of the document in `keys`. */
  key: string
  /** Of the document in `secrets`. */
  cursor: string
  /** Of every answer. */
  body: string
  documents: { collection: string; id: string; fields: Record<string, Tagged> }[]
}

const folder = join(import.meta.dirname, '../testing/formats')
const fixtures = readdirSync(folder)

function readFixture(file: string): Fixture {
  return JSON.parse(readFileSync(join(folder, file), 'utf8')) as Fixture
}

function untagged(tagged: Tagged): Fields[string] {
  if ('date' in tagged) return new Date(tagged.date)
  return 'bytes' in tagged ? new Uint8Array(Buffer.from(tagged.bytes, 'base64')) : tagged.value
}

const lookup = (store: Store) => openEndpoints(store, { rememberMs: 1, maxResultBytes: 5 })
const entries = (store: Store) => new CacheEntries(store, new BytesInFlight(1e9))

describeStores('stored documents', ({ open }) => {
  let store: Store
  beforeEach(async () => void (store = await open()))
  afterEach(() => store.close())

  async function put({ documents }: Fixture): Promise<void> {
    for (const { collection, id, fields } of documents) {
      const values = Object.entries(fields).map(([name, tagged]) => [name, untagged(tagged)])
      await store.create({ collection, id }, Object.fromEntries(values) as Fields)
    }
  }

  /** Every document of a collection, as a later version stores it. */
  async function makeNewer(collection: string): Promise<void> {
    for (const { id } of (await store.query({ collection, limit: 100 })).documents)
      await store.update({ collection, id }, { set: { format: 99 } })
  }

  describe.each(fixtures)('of format %s', file => {
    const fixture = readFixture(file)
    beforeEach(() => put(fixture))

    test('give the current endpoint and the versions before it', async () => {
      const endpoints = lookup(store)
      const current = (await endpoints.find('a'))!
      expect(current).toMatchObject({ name: 'a', labels: { team: 'a' }, rollups: [], maxResultBytes: 5 })
      expect(current.sql).toMatch(/^SELECT .*\nORDER BY timestamp DESC\nLIMIT 2$/)
      const [last, first] = await listVersions(store, 'a')
      expect(last).toMatchObject({ endpoint: { version: current.version }, appliedBy: 'me@here' })
      const before = await endpoints.version(current, first!.endpoint.version)
      expect(before?.sql).toMatch(/LIMIT 1$/)
    })

    test('know the key, with all that it may', async () => {
      expect(await createAuthenticator(store)(fixture.key)).toEqual({
        keyId: readKey(fixture.key)!.id,
        name: 'console',
        endpoints: ['a'],
        pins: { project: 'abc' },
        rights: ['pii:read'],
        redacted: false,
        limits: { callsPerMinute: 60, bytesPerDay: null },
      })
    })

    test('have the view, with who saved it', async () => {
      const saved = fixture.documents.filter(({ collection }) => collection === 'views')
      const view = {
        name: 'Errors',
        address: '#a?.severity=error',
        by: 'console',
        at: '2026-11-22T13:01:00.000Z',
      }
      expect(await listViews(store, 'a-shelf')).toMatchObject(saved.map(() => view))
    })

    test('open the cursor', async () => {
      expect(await openCursors(store).open(fixture.cursor)).toMatchObject({
        direction: 'next',
        after: { time: '1767225600000000', tie: 'abc' },
      })
    })

    test('tell the state of an alert, and what is still to be sent', async () => {
      const { documents } = await store.query({ collection: alertsCollection, limit: 10 })
      expect(documents).toHaveLength(file.startsWith('before') ? 0 : 1)
      for (const { fields } of documents) {
        const { state, outbox, history } = recordIn(fields)
        expect(shownState(state)).toEqual({ state: 'firing', since: Date.UTC(2026, 0, 1) })
        expect(outbox.map(({ message, to }) => [message.id, to])).toEqual([
          [history[0]!.id, [{ channel: 'ops', tries: 1, notBefore: Date.UTC(2026, 0, 1, 0, 1, 30) }]],
        ])
      }
    })

    test('name the channels of alerts', async () => {
      const { channels } = await readChannels(store)
      expect(channels).toEqual(file.startsWith('before') ? {} : { ops: { kind: 'slack', secret: 'OPS' } })
    })

    test('have the bytes of answers, in their head or in chunks', async () => {
      const { documents } = await store.query({ collection: answersCollection, limit: 10 })
      const chunks = documents.map(document => headOf(document)!.stored!.chunks)
      expect(new Set(chunks)).toEqual(new Set([0, 2]))
      for (const document of documents) {
        const found = await entries(store).load(document.id, headOf(document)!)
        expect(String(await found?.answer.bytes('identity'))).toBe(fixture.body)
      }
    })
  })

  describe('of a later version', () => {
    const fixture = readFixture(fixtures.at(-1)!)
    beforeEach(() => put(fixture))
    const later = (what: string) => ({
      code: 'internal',
      message: `${what} was stored by a later version of this service (format 99; this one reads up to 1).`,
    })

    test('are refused as definitions, with the reason', async () => {
      await makeNewer('endpoints')
      await expect(lookup(store).find('a')).rejects.toMatchObject(later('The definition of a'))
      await makeNewer('endpointVersions')
      await expect(listVersions(store, 'a')).rejects.toMatchObject(later('The definition of a'))
    })

    test('are refused as keys, which can be revoked all the same, and others work', async () => {
      await makeNewer('keys')
      const authenticate = createAuthenticator(store)
      await expect(authenticate(fixture.key)).rejects.toMatchObject(later('An API key'))
      await expect(listKeys(store)).rejects.toMatchObject(later('An API key'))
      const grant = { name: 'b', endpoints: '*' as const, pins: {}, rights: [], expiresAt: null }
      const { key, id } = await issueKey(store, grant)
      expect((await store.get({ collection: 'keys', id })).document?.fields['format']).toBe(formats.key)
      expect(await authenticate(key)).toMatchObject({ name: 'b' })
      const at = { collection: 'keys', id: readKey(fixture.key)!.id }
      await revokeKey(store, at.id)
      expect((await store.get(at)).document?.fields['revokedAt']).toBeInstanceOf(Date)
    })

    test('are refused as the secret of cursors', async () => {
      await makeNewer('secrets')
      const opening = openCursors(store).open(fixture.cursor)
      await expect(opening).rejects.toMatchObject(later('The secret of cursors'))
    })

    test('are refused as views', async () => {
      await addView(store, 'a-shelf', { name: 'Errors', address: '#a' }, 'console')
      await makeNewer('views')
      await expect(listViews(store, 'a-shelf')).rejects.toMatchObject(later('A view'))
    })

    test('are no answers: the next request makes one, which is read', async () => {
      const { documents } = await store.query({ collection: answersCollection, limit: 10 })
      const cache = new AnswerCache(store, quick)
      for (const document of documents) {
        const at = { collection: answersCollection, id: document.id }
        const stored = { ...(document.fields['stored'] as object), format: 99 }
        await store.update(at, { set: { stored } })
        const own = request(engine().make, { keyFields: headOf(document)!.keyFields })
        expect((await cache.read(own)).status).toBe('miss')
        expect((await cache.read(own)).status).toBe('hit')
        const { fields } = (await store.get(at)).document!
        expect(fields['stored']).toMatchObject({ format: formats.answer })
      }
      await cache.close()
    })
  })
})

test('each format that is written has a fixture', () => {
  const written = fixtures.map(file => {
    const { documents } = readFixture(file)
    const of = (name: string) => documents.find(({ collection }) => collection === name)?.fields
    const number = (tagged: Tagged | undefined) => (tagged && 'value' in tagged ? tagged.value : undefined)
    const names = ['endpoints', 'keys', 'secrets', 'views', alertsCollection, channelsAt.collection]
    const [definition, key, secret, view, alert, channels] = names.map(name => number(of(name)?.['format']))
    const { format: answer } = number(of('answers')!['stored']) as { format?: number }
    return { definition, key, secret, view, alert, channels, answer }
  })
  const { definition, key, secret, view, alert, channels, answer } = formats
  expect(written).toContainEqual({ definition, key, secret, view, alert, channels, answer })
})

test('a file of SQLite that a later version made is refused, and left as it is', async () => {
  const place = mkdtempSync(join(tmpdir(), 'format-'))
  const file = join(place, 'store.sqlite')
  const database = new DatabaseSync(file)
  database.exec('pragma user_version = 99')
  database.close()
  const store = openSqlite({ file })
  await expect(store.get({ collection: 'keys', id: 'a' })).rejects.toMatchObject({ reason: 'newer_format' })
  await store.close()
  const left = new DatabaseSync(file)
  expect(left.prepare('select name from sqlite_schema').all()).toEqual([])
  left.close()
  rmSync(place, { recursive: true })
})
