import { expect, test } from '@jest/globals'
import type { Store } from '../stores/store.ts'
import { openSqlite } from '../stores/sqlite/store.ts'
import { describeStores } from '../stores/testing/describe-stores.ts'
import { type Endpoint, fieldsOf } from './definition.ts'
import { endpointFrom } from './definition-file.ts'
import { endpointsCollection, openEndpoints } from './lookup.ts'
import { recordVersions, listVersions, versionAt } from './versions.ts'

const id = '0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e10'

function endpoint(n: number, settings: object = {}): Endpoint {
  const definition = { id, description: 'A.', parameters: { properties: {} }, ...settings }
  return endpointFrom('a', definition, `SELECT ${n} AS n`)
}

const at = (second: number) => new Date(Date.UTC(2026, 0, 1, 0, 0, second))

async function apply(store: Store, after: Endpoint, second: number, before: Endpoint | null = null) {
  await store
    .replace({ collection: endpointsCollection, id }, fieldsOf(after))
    .catch(() => store.create({ collection: endpointsCollection, id }, fieldsOf(after)))
  const stored = before && { endpoint: before, since: at(0) }
  await recordVersions(store, [{ before: stored, after }], `author ${second}`, at(second))
}

describeStores('versions of an endpoint', adapter => {
  test('are stored with time and author, the last applied first', async () => {
    const store = await adapter.open()
    const [a, b] = [endpoint(1), endpoint(2)]
    await apply(store, a, 1)
    await apply(store, b, 2, a)
    await apply(store, a, 3, b)
    const [first, second] = await listVersions(store, 'a')
    const again = { createdAt: at(1), createdBy: 'author 1', appliedAt: at(3), appliedBy: 'author 3' }
    expect(first).toEqual({ endpoint: a, ...again })
    const once = { createdAt: at(2), createdBy: 'author 2', appliedAt: at(2), appliedBy: 'author 2' }
    expect(second).toEqual({ endpoint: b, ...once })
    expect(await listVersions(store, 'b')).toEqual([])
    await store.close()
  })

  test('have what was current before versions were stored', async () => {
    const store = await adapter.open()
    await apply(store, endpoint(2), 5, endpoint(1))
    const old = (await listVersions(store, 'a'))[1]
    expect(old).toMatchObject({ endpoint: endpoint(1), createdAt: at(0), createdBy: null, appliedBy: null })
    await store.close()
  })

  test('are found by their hash, with the redaction and sandbox of the current one', async () => {
    const store = await adapter.open()
    const [open, strict] = [endpoint(1, { sandbox: true }), endpoint(2, { redact: true })]
    await apply(store, open, 1)
    await apply(store, strict, 2, open)
    const endpoints = openEndpoints(store, { rememberMs: 20_000, maxResultBytes: 5 })
    const current = (await endpoints.find('a'))!
    expect(current.version).toBe(strict.version)
    const found = await endpoints.version(current, open.version)
    expect(found).toEqual({ ...open, redact: true, sandbox: false, maxResultBytes: 5 })
    expect(await endpoints.version({ ...current, id: id.replace('0b', '0c') }, open.version)).toBeNull()
    expect(await endpoints.version(current, 'another')).toBeNull()
    await store.close()
  })

  test('are found as long as memory has them, then no more once they are forgotten', async () => {
    const store = await adapter.open()
    const clock = { time: 1, now: () => clock.time }
    await apply(store, endpoint(1), 1)
    await apply(store, endpoint(2), 2)
    const endpoints = openEndpoints(store, { rememberMs: 20_000, maxResultBytes: 5, clock })
    const current = (await endpoints.find('a'))!
    const { version } = endpoint(1)
    expect(await endpoints.version(current, version)).not.toBeNull()
    await store.remove(versionAt(id, version))
    clock.time += 19_000
    expect(await endpoints.version(current, version)).not.toBeNull()
    clock.time += 2_000
    expect(await endpoints.version(current, version)).toBeNull()
    // One that is named too early is found soon after it comes.
    await recordVersions(store, [{ before: null, after: endpoint(1) }], null, at(9))
    clock.time += 2_100
    expect(await endpoints.version(current, version)).not.toBeNull()
    await store.close()
  })
})

test('versions that a definition has ended stay so under another name, and when it is unchanged', async () => {
  const store = openSqlite({ file: ':memory:' })
  const [first, last] = [endpoint(1), { ...endpoint(2, { endEarlierVersions: true }), name: 'b' }]
  expect(last.version).toBe(endpoint(2).version)
  await recordVersions(store, [{ before: null, after: first }], null, at(1))
  await recordVersions(store, [{ before: { endpoint: first, since: at(1) }, after: last }], null, at(2))
  expect((await listVersions(store, 'a')).map(({ ended }) => ended)).toEqual([true])
  // Such as one that another process stored meanwhile.
  await recordVersions(store, [{ before: null, after: { ...endpoint(3), name: 'b' } }], null, at(3))
  await recordVersions(store, [{ before: { endpoint: last, since: at(2) }, after: null }], null, at(4))
  expect((await listVersions(store, 'b')).map(({ ended }) => ended)).toEqual([true, undefined])
  await store.close()
})

test('a version that is remembered is ended as soon as the definition that ends it is known', async () => {
  const store = openSqlite({ file: ':memory:' })
  const [first, last] = [endpoint(1), endpoint(2, { endEarlierVersions: true })]
  const endpoints = openEndpoints(store, { rememberMs: 60_000, maxResultBytes: 1 })
  await apply(store, first, 1)
  expect(await endpoints.version(endpoint(2), first.version)).toMatchObject({ sql: first.sql })
  await apply(store, last, 2, first)
  expect(await endpoints.version(endpoint(2), first.version)).toMatchObject({ sql: first.sql })
  expect(await endpoints.version(last, first.version)).toBeNull()
  await store.close()
})

test('at most 200 versions of an endpoint are stored, the current one among them', async () => {
  const store = openSqlite({ file: ':memory:' })
  const applied = Array.from({ length: 205 }, (_, n) => ({ before: null, after: endpoint(n) }))
  for (let from = 0; from < 200; from += 50)
    await recordVersions(store, applied.slice(from, from + 50), null, at(from))
  for (const [n, one] of applied.slice(200).entries()) await recordVersions(store, [one], null, at(200 + n))
  const kept = (await listVersions(store, 'a')).map(({ endpoint: { sql } }) => sql)
  expect(kept).toHaveLength(200)
  expect(kept[0]).toBe('SELECT 204 AS n')
  await store.close()
})
