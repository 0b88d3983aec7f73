import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startService, type TestService } from '../testing/service.ts'

const address = '203.0.113.7'
let folder: string
let service: TestService
let plain: string
let calls = 0

function define(name: string, id: string, redact: boolean, sandbox = 'false'): void {
  writeFileSync(
    join(folder, `${name}.sql`),
    `WITH seen AS (SELECT '${address}' AS ip)
    SELECT ip, [STRUCT('mail to kim@example.com' AS text)] AS nested, @nonce AS nonce FROM seen`,
  )
  writeFileSync(
    join(folder, `${name}.yaml`),
    `id: 00000000-0000-4000-8000-0000000000${id}
description: d
parameters: {properties: {nonce: {type: string}}}
redact: ${redact}
sandbox: ${sandbox}
cache: {seconds: 60}
`,
  )
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'redaction-'))
  define('open', '01', false)
  define('closed', '02', true)
  define('own', '03', true, 'true')
  define('lenient', '04', true, '{redacted: allow}')
  define('clear', '05', false, 'true')
  service = await startService({ tables: {}, queries: folder })
  plain = await service.issue({})
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const fresh = (name: string) => `/api/endpoints/query/${name}?nonce=${++calls}`

interface Body {
  result: { ip: string; mirrored?: string; nested: { text: string }[] }[]
  meta: { redacted: boolean }
  code?: string
}

async function send(path: string, headers: Record<string, string>, key = plain) {
  const response = await service.fetch(path, { headers, key })
  return { response, body: (await response.json()) as Body, cache: response.headers.get('cache-status') }
}

const on = { 'SVC-ENDPOINT-REDACT-PII': 'true' }
const off = { 'SVC-ENDPOINT-REDACT-PII': 'false' }

describe('a call with the header for redaction', () => {
  test.each([on, { 'svc-endpoint-redact-pii': 'TRUE' }, { 'LF-ENDPOINT-REDACT-PII': 'True' }])(
    'by %j gets it, in every nested value',
    async headers => {
      const { body } = await send(fresh('open'), headers)
      expect(body.result[0]).toMatchObject({ ip: 'REDACTED', nested: [{ text: 'mail to REDACTED' }] })
      expect(body.meta.redacted).toBe(true)
    },
  )

  test('gets it in CSV and NDJSON too', async () => {
    for (const format of ['csv', 'ndjson']) {
      const response = await service.fetch(`${fresh('open')}&format=${format}`, { headers: on })
      const text = await response.text()
      expect(text).toContain('REDACTED')
      expect(text).not.toMatch(/203\.0\.113\.7|kim@/)
    }
  })

  test('is never served from a clear answer, nor a clear call from a redacted one', async () => {
    const path = fresh('open')
    expect((await send(path, {})).body.result[0]!.ip).toBe(address)
    expect((await send(path, on)).body.result[0]!.ip).toBe('REDACTED')
    expect((await send(path, {})).body.result[0]!.ip).toBe(address)
    const other = fresh('open')
    expect((await send(other, on)).body.result[0]!.ip).toBe('REDACTED')
    const clear = await send(other, {})
    expect([clear.cache, clear.body.result[0]!.ip]).toEqual(['lqe; fwd=miss; stored', address])
  })

  test('is made from a fresh clear answer without another run, with its age', async () => {
    const path = fresh('open')
    const clear = await send(path, {})
    const redacted = await send(path, on)
    expect(redacted.response.headers.get('server-timing')).not.toContain('engine')
    expect(redacted.response.headers.get('last-modified')).toBe(clear.response.headers.get('last-modified'))
  })

  test('has a tag of its own', async () => {
    const path = fresh('open')
    const [clear, redacted] = [await send(path, {}), await send(path, on)]
    expect(redacted.response.headers.get('etag')).not.toBe(clear.response.headers.get('etag'))
  })
})

describe('an endpoint that redacts', () => {
  test('redacts without a header', async () => {
    expect((await send(fresh('closed'), {})).body.result[0]!.ip).toBe('REDACTED')
  })

  test('can be read in the clear only with the right pii:read', async () => {
    const refused = await send(fresh('closed'), off)
    expect([refused.response.status, refused.body.code]).toEqual([403, 'redaction_locked'])
    expect((await send(fresh('closed'), off, service.key)).body.result[0]!.ip).toBe(address)
  })

  test('stores no clear answer, not even for a key with pii:read', async () => {
    const path = fresh('closed')
    for (let i = 0; i < 2; i++) expect((await send(path, off, service.key)).cache).toBe('lqe; fwd=bypass')
    await service.services.cache.close()
    const { documents } = await service.services.store.query({ collection: 'answers', limit: 1000 })
    const kept = documents.map(({ fields }) => JSON.stringify(fields['question']))
    expect(kept.filter(question => question.includes('000000000002') && question.includes('clear'))).toEqual(
      [],
    )
  })

  test('stays redacted where one of two headers says so', async () => {
    const both = { ...off, 'LF-ENDPOINT-REDACT-PII': 'true' }
    expect((await send(fresh('closed'), both, service.key)).body.result[0]!.ip).toBe('REDACTED')
  })
})

test('a redacted key gets every answer so, and cannot lift it', async () => {
  const redacted = await service.issue({ redacted: true, rights: ['pii:read'] })
  expect((await send(fresh('open'), {}, redacted)).body.result[0]!.ip).toBe('REDACTED')
  const sql = '&sql=SELECT ip FROM seen'
  expect((await send(fresh('clear') + sql, {}, redacted)).body.result[0]!.ip).toBe('REDACTED')
  for (const name of ['open', 'closed'])
    expect((await send(fresh(name), off, redacted)).body.code).toBe('redaction_locked')
})

describe('SQL of a caller’s own', () => {
  const sql = '&sql=SELECT REVERSE(ip) AS mirrored FROM seen'
  const reversed = address.split('').toReversed().join('')

  test('on an endpoint that redacts is for keys with pii:read: it shows values in forms that redaction cannot know', async () => {
    const refused = await send(fresh('own') + sql, {})
    expect([refused.response.status, refused.body]).toEqual([
      403,
      expect.objectContaining({
        code: 'redaction_locked',
        errors: [{ parameter: 'sql', detail: 'needs the right pii:read on an endpoint that redacts' }],
      }),
    ])
    expect((await send(fresh('own') + sql, on)).response.status).toBe(403)
    expect((await send(fresh('own') + sql, {}, service.key)).body.result[0]!.mirrored).toBe(reversed)
    expect((await send(fresh('own'), {})).body.result[0]!.ip).toBe('REDACTED')
  })

  test('is for every key where the definition allows it', async () => {
    expect((await send(fresh('lenient') + sql, {})).body.result[0]!.mirrored).toBe(reversed)
  })

  test('on an endpoint that does not redact may ask for redaction', async () => {
    const plain = '&sql=SELECT ip FROM seen'
    expect((await send(fresh('clear') + plain, on)).body.result[0]!.ip).toBe('REDACTED')
    expect((await send(fresh('clear') + plain, {})).body.result[0]!.ip).toBe(address)
  })
})

test('what a call sends comes back redacted in errors and in the names that are ignored', async () => {
  const asked = `${fresh('clear')}&tom@example.com=1`
  const { body } = await send(asked, on)
  expect(JSON.stringify(body.meta)).toMatch(/"ignored":\["REDACTED"\]/)
  expect(JSON.stringify((await send(asked, {})).body.meta)).toContain('tom@example.com')
  const refused = await send(`${fresh('clear')}&sql=SELECT ip FROM \`tom@example.com\``, on)
  expect([refused.response.status, JSON.stringify(refused.body)]).toEqual([
    403,
    expect.not.stringContaining('tom@'),
  ])
})

test.each(['yes', '1', 'true, false'])('the header value %j is a 400 that names the header', async value => {
  const { response, body } = await send(fresh('open'), { 'SVC-ENDPOINT-REDACT-PII': value })
  expect([response.status, body]).toEqual([
    400,
    expect.objectContaining({
      errors: [{ header: 'svc-endpoint-redact-pii', detail: 'must be true or false' }],
    }),
  ])
})
