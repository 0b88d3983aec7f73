/** Views of endpoints, saved for others, over HTTP. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mostViews, type View } from '../../shared/endpoints/views.ts'
import { startService, type TestService } from '../testing/service.ts'

const path = '/api/endpoints/logs.all/views'
const address = '#logs.all?project=abc&.severity=error&.from=now-6h'
let service: TestService

beforeAll(async () => void (service = await startService({ tables: {} })))
afterAll(() => service.stop())

interface Answer {
  status: number
  view: View
  views: View[]
  code: string
  detail: string
}

async function ask(
  method: string,
  at: string,
  { key, body, seen }: { key?: string; body?: object; seen?: string } = {},
): Promise<Answer> {
  const headers = {
    'Content-Type': 'application/json',
    ...(seen === undefined ? {} : { 'If-Match': `"${seen}"` }),
  }
  const response = await service.fetch(at, {
    method,
    headers,
    ...(key ? { key } : {}),
    ...(body ? { body: JSON.stringify(body) } : {}),
  })
  const text = await response.text()
  const { result, ...problem } = (text === '' ? {} : JSON.parse(text)) as { result?: unknown }
  return { status: response.status, view: result, views: result, ...problem } as Answer
}

const namesFor = async (key?: string, at = path) =>
  (await ask('GET', at, key ? { key } : {})).views.map(({ name }) => name)

describe('a view', () => {
  test('is saved by a key with the right, and read by any key that may call the endpoint', async () => {
    const saver = await service.issue({ name: 'on call', rights: ['views:write'] })
    const { status, view } = await ask('POST', path, { key: saver, body: { name: 'Errors', address } })
    expect([status, view]).toEqual([201, expect.objectContaining({ name: 'Errors', address, by: 'on call' })])
    const reader = await service.issue({ endpoints: ['logs.all'] })
    const { views } = await ask('GET', path, { key: reader })
    expect(views).toContainEqual(view)
    expect(Math.abs(Date.parse(view.at) - Date.now())).toBeLessThan(60_000)
    expect(await namesFor(undefined, '/api/endpoints/usage.api-counts/views')).toEqual([])
    for (const grant of [{ endpoints: ['usage.api-counts'] }, { pins: { customer: 'a' } }])
      expect(await ask('GET', path, { key: await service.issue(grant) })).toMatchObject({ code: 'not_found' })
    const at = `${path}/${view.id}`
    const own = { key: reader, body: { name: 'Own', address }, seen: view.version }
    for (const [method, to] of [
      ['POST', path],
      ['PUT', at],
      ['DELETE', at],
    ] as const)
      expect(await ask(method, to, own)).toMatchObject({ status: 403, code: 'right_missing' })
    expect(service.logged.at(-1)!.details).toMatchObject({
      method: 'DELETE',
      endpoint: 'logs.all',
      status: 403,
      key: reader.split('_')[1],
    })
  })

  test('is changed, renamed and removed by who has read its last version; who has not is told', async () => {
    const body = { name: 'Slow', address }
    const { view } = await ask('POST', path, { body })
    const at = `${path}/${view.id}`
    const longer = { name: 'Slow', address: `${address}&.search=timeout` }
    const later = await ask('PUT', at, { body: longer, seen: view.version })
    expect(later).toMatchObject({ status: 200, view: { id: view.id, address: longer.address } })
    for (const stale of [
      ask('PUT', at, { body, seen: view.version }),
      ask('PUT', at, { body: { name: 'Slower', address }, seen: view.version }),
      ask('DELETE', at, { seen: view.version }),
    ])
      expect(await stale).toMatchObject({
        status: 409,
        detail: 'The view was changed by test: nothing was changed; read the views again.',
      })
    const renamed = await ask('PUT', at, {
      body: { name: 'Slower', address: longer.address },
      seen: later.view.version,
    })
    expect(renamed).toMatchObject({ status: 200, view: { name: 'Slower', address: longer.address } })
    expect(await namesFor()).not.toContain('Slow')
    const gone = await ask('DELETE', `${path}/${renamed.view.id}`, { seen: renamed.view.version })
    expect(gone.status).toBe(204)
    expect(await namesFor()).not.toContain('Slower')
    expect(await ask('DELETE', `${path}/${renamed.view.id}`, { seen: renamed.view.version })).toMatchObject({
      status: 409,
      detail: expect.stringContaining('is not there any more'),
    })
  })

  test('keeps a name that another has: of several people at once one saves, and the others are told', async () => {
    const body = { name: 'At once', address }
    const all = await Promise.all([1, 2, 3, 4].map(() => ask('POST', path, { body })))
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409])
    expect(all.find(({ status }) => status === 409)!.detail).toBe(
      'There is a view “At once” already, by test: take another name, or save over that one.',
    )
    const other = await ask('POST', path, { body: { name: 'Other', address } })
    const onto = await ask('PUT', `${path}/${other.view.id}`, { body, seen: other.view.version })
    expect(onto).toMatchObject({ status: 409, code: 'conflict' })
    expect(await namesFor()).toEqual(expect.arrayContaining(['At once', 'Other']))
  })

  test.each([
    [{ address }, 'name'],
    [{ name: '', address }, 'name'],
    [{ name: 'x'.repeat(101), address }, 'name'],
    [{ name: ' x', address }, 'name'],
    [{ name: 'a\u202eb', address }, 'name'],
    [{ name: 'x' }, 'address'],
    [{ name: 'x', address: '#usage.api-counts' }, 'address'],
    [{ name: 'x', address: '#logs.allx' }, 'address'],
    [{ name: 'x', address: 'https://example.com/#logs.all' }, 'address'],
    [{ name: 'x', address: `#logs.all?sql=${'x'.repeat(20_000)}` }, 'address'],
    [{ name: 'x', address: '#logs.all?\ud800' }, 'address'],
  ])('is refused where a field is wrong: %.60j', async (body, parameter) => {
    const answer = await ask('POST', path, { body })
    expect(answer).toMatchObject({ status: 400, errors: [{ parameter }] })
  })

  test('is changed by its id and the version that was read alone', async () => {
    const body = { name: 'x', address }
    const bare = await ask('PUT', `${path}/${'a'.repeat(32)}`, { body })
    expect(bare).toMatchObject({ status: 400, errors: [{ header: 'If-Match' }] })
    expect(await ask('DELETE', `${path}/..%2Fa`, { seen: '1' })).toMatchObject({ status: 404 })
  })

  test('is not saved past so many of an endpoint', async () => {
    const at = '/api/endpoints/usage.api-counts/views'
    const own = { address: '#usage.api-counts?interval=daily' }
    for (let i = 0; i < mostViews; i++) await ask('POST', at, { body: { name: `View ${i}`, ...own } })
    const more = await ask('POST', at, { body: { name: 'One more', ...own } })
    expect(more).toMatchObject({ status: 400, detail: expect.stringContaining('has 200 views') })
    expect(await namesFor(undefined, at)).toHaveLength(mostViews)
  })
})

test('keys with other pins have views of their own', async () => {
  const rights = ['views:write' as const]
  const [a, alike, b] = await Promise.all(
    ['a', 'a', 'b'].map(project => service.issue({ rights, pins: { project } })),
  )
  const body = { name: 'Ours', address: '#logs.all?.search=merger' }
  expect((await ask('POST', path, { key: a!, body })).status).toBe(201)
  expect((await ask('POST', path, { key: b!, body })).status).toBe(201)
  expect((await ask('POST', path, { key: alike!, body })).status).toBe(409)
  expect([await namesFor(a), await namesFor(alike), await namesFor(b)]).toEqual([
    ['Ours'],
    ['Ours'],
    ['Ours'],
  ])
  expect(await namesFor()).not.toContain('Ours')
})

test('a key whose answers are redacted neither saves nor reads a view with personal data', async () => {
  const redacted = await service.issue({ redacted: true, rights: ['views:write', 'pii:read'] })
  const personal = [
    { name: 'of ann@example.com', address },
    { name: 'Sign-ins', address: '#logs.all?project=abc&.search=ann%40example.com' },
    {
      name: 'Client',
      address: '#logs.all?project=abc&.where=metadata.request.headers.ip%3D%22203.0.113.7%22',
    },
    { name: 'A parameter', address: '#logs.all?email=ann' },
    { name: 'Cookie', address: '#logs.all?project=abc&.where=headers.cookie%3D%22abc-def-ghi%22' },
    {
      name: 'SQL',
      address: "#logs.all?project=abc&sql=SELECT+1+AS+n+FROM+edge_logs+WHERE+'203.0.113.7'='a'",
    },
  ]
  for (const body of personal) {
    expect(await ask('POST', path, { key: redacted, body })).toMatchObject({
      status: 403,
      code: 'redaction_locked',
    })
    expect((await ask('POST', path, { body })).status).toBe(201)
  }
  expect((await ask('POST', path, { key: redacted, body: { name: 'Fine', address } })).status).toBe(201)
  const seen = await namesFor(redacted)
  expect(seen).toContain('Fine')
  for (const { name } of personal) expect(seen).not.toContain(name)
  expect(await namesFor()).toEqual(expect.arrayContaining(personal.map(({ name }) => name)))
})

test('a page asks first, and sends the key in a header alone', async () => {
  const { headers } = await service.fetch(`${path}/${'a'.repeat(32)}`, { method: 'OPTIONS', key: null })
  expect(headers.get('access-control-allow-methods')).toBe('PUT, DELETE, OPTIONS')
  const cookie = { Cookie: `X-API-KEY=${service.key}` }
  const body = JSON.stringify({ name: 'Forged', address })
  const forged = await service.fetch(path, { method: 'POST', key: null, headers: cookie, body })
  expect(forged.status).toBe(401)
})
