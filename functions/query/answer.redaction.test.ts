import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { findLeaks } from '../testing/leaks.ts'
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

/** With a parameter whose name is near others. */
function definePaged(): void {
  writeFileSync(
    join(folder, 'paged.sql'),
    `WITH made AS (SELECT TIMESTAMP_SECONDS(n) AS time, CAST(n AS STRING) AS id FROM UNNEST(GENERATE_ARRAY(1, 9)) AS n)
    SELECT time, id FROM made
    WHERE @a_rather_long_name IS NOT NULL ORDER BY time DESC LIMIT 3`,
  )
  writeFileSync(
    join(folder, 'paged.yaml'),
    `id: 00000000-0000-4000-8000-000000000006
description: d
parameters: {properties: {a_rather_long_name: {type: string, default: x}}}
page: {by: [time, id], order: descending}
cache: {seconds: 0}
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
  definePaged()
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

describe('what a call sends comes back redacted', () => {
  const sensitive = ['tom@example.com', address, '4111111111111111', 'a'.repeat(50) + 'tom@example.com']
  const parts = /tom@|203\.0\.113|41111111/
  const all = async (path: string, headers: Record<string, string> = on) => {
    const response = await service.fetch(path, { headers, key: plain })
    return { status: response.status, text: JSON.stringify([...response.headers]) + (await response.text()) }
  }

  test('in names that are ignored, in meta and in the header', async () => {
    const asked = `${fresh('open')}&${sensitive.map(name => `${encodeURIComponent(name)}=1`).join('&')}`
    const { text } = await all(asked)
    expect(text).toMatch(/"ignored":\["REDACTED"/)
    expect(text).toMatch(/"x-ignored-parameters","REDACTED/)
    expect(text).not.toMatch(parts)
    expect((await all(asked, {})).text).toMatch(/"x-ignored-parameters","203\.0\.113\.7, 4111111111111111/)
  })

  test('in names that are near a declared one', async () => {
    const { text } = await all('/api/endpoints/query/paged?a_rather_long_name%40a.io=1&a_rather_long_nam=2')
    expect(text).toContain('"didYouMean":{"a_rather_long_nam":"a_rather_long_name"}')
    expect(text).not.toContain('@a.io')
  })

  test('in the path of an error, of any call', async () => {
    for (const name of sensitive)
      for (const headers of [on, {}]) {
        const { status, text } = await all(`/api/endpoints/query/${encodeURIComponent(name)}`, headers)
        expect([status, text]).toEqual([404, expect.stringMatching(/"instance":"[^"]*REDACTED"/)])
        expect(text).not.toMatch(parts)
      }
  })

  test('whole where a name or a path is longer than any, so that it costs nothing', async () => {
    const long = 'x'.repeat(501)
    expect((await all(`/${long}`, {})).text).toContain('"instance":"REDACTED"')
    expect((await all(`${fresh('open')}&${long}=1`)).text).toContain('"ignored":["REDACTED"]')
    expect((await all(`${fresh('open')}&${long}=1`, {})).text).toContain(`"ignored":["${'x'.repeat(64)}"]`)
  })

  test('in names in its SQL that are not there', async () => {
    for (const name of sensitive)
      for (const sql of [
        `SELECT ip FROM \`${name}\``,
        `SELECT \`${name}\` FROM seen`,
        `SELECT ip FROM seen LIMIT '${'a'.repeat(32)}${name}'`,
      ]) {
        const { status, text } = await all(`${fresh('clear')}&sql=${encodeURIComponent(sql)}`)
        expect([status >= 400 && status < 500, text]).toEqual([true, expect.not.stringMatching(parts)])
      }
  })

  test.each(['json', 'csv', 'ndjson'])(
    'in the names of its columns as %s, apart from each other',
    async format => {
      const columns = sensitive.map((name, at) => `${at} AS \`${name}\``).join(', ')
      const sql = encodeURIComponent(`SELECT ${columns}, nonce FROM seen`)
      const { status, text } = await all(
        `${fresh('clear')}&format=${format}&sql=${sql.replace('nonce', '9%20AS%20nonce')}`,
      )
      expect([status, text]).toEqual([200, expect.stringMatching(/REDACTED"?[:,].*REDACTED_2"?[:,].*nonce/s)])
      expect(text).not.toMatch(parts)
    },
  )

  test('in the link to the next page, which is left out then', async () => {
    const page = (nonce: string) =>
      `/api/endpoints/query/paged?a_rather_long_name=${encodeURIComponent(nonce)}`
    expect((await all(page('x'))).text).toContain('rel=\\"next\\"')
    const { text } = await all(page('tom@example.com'))
    expect(text).toContain('"next":"')
    expect(text).not.toMatch(/rel=|tom/)
    expect((await all(page('tom@example.com'), {})).text).toContain(
      'a_rather_long_name=tom%40example.com&cursor=',
    )
  })
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

test('processes leak no clear address and forget an old definition in time, whatever is interleaved', async () => {
  const result = await findLeaks({ calls: 150, changes: 1, rememberMs: 500 })
  expect(result).toMatchObject({ wrong: 0, outdated: 0, changes: 1 })
  expect(result.calls).toBeGreaterThanOrEqual(150)
})
