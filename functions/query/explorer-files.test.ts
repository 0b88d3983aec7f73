import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { buildExplorer } from '../../infra/deploy/build-explorer.ts'
import { startService, type TestService } from '../testing/service.ts'

const folder = mkdtempSync(join(tmpdir(), 'explorer-'))
let service: TestService
let gzipped = 0

beforeAll(async () => {
  gzipped = await buildExplorer(folder)
  service = await startService({ tables: {}, env: { EXPLORER_DIR: folder } })
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true, force: true })
})

describe('the page’s files', () => {
  const file = (ending: string) => readdirSync(folder).find(name => name.endsWith(ending))!

  test('are at most 300 KB gzipped together, and 120 KB before the editor is needed', () => {
    expect(gzipped).toBeLessThan(300 * 1024)
    const html = readFileSync(join(folder, 'index.html'), 'utf8')
    const first = [...html.matchAll(/explorer\/([\w-]+\.(?:js|css))/g)].map(([, name]) => name!)
    const needed = new Set(first)
    for (const name of needed)
      for (const [, other] of readFileSync(join(folder, name), 'utf8').matchAll(/from"\.\/([\w-]+\.js)"/g))
        needed.add(other!)
    const bytes = [...needed].reduce(
      (sum, name) => sum + gzipSync(readFileSync(join(folder, name))).length,
      0,
    )
    expect(first.length).toBe(2)
    expect(bytes).toBeLessThan(120 * 1024)
  })

  test('the page is revalidated each time, and gets 304 where it is the same', async () => {
    const page = await service.fetch('/', { key: null })
    expect(page.status).toBe(200)
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8')
    expect(page.headers.get('cache-control')).toBe('no-cache')
    const again = await service.fetch('/', { headers: { 'If-None-Match': page.headers.get('etag')! } })
    expect(again.status).toBe(304)
  })

  test('the page takes what reads it, and OPTIONS as every address does', async () => {
    const refused = await service.fetch('/', { method: 'POST', key: null })
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
    expect((await service.fetch('/', { method: 'OPTIONS', key: null })).status).toBe(204)
  })

  test('the page allows nothing from another host, nothing inline but its one script, and no frame', async () => {
    const { headers } = await service.fetch('/', { key: null })
    const policy = headers.get('content-security-policy')
    expect(policy).toMatch(/^default-src 'none'; script-src 'self' 'sha256-[\w+/]{43}='; style-src 'self';/)
    expect(policy).toContain("frame-ancestors 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('scripts and styles never go out of date under their names', async () => {
    for (const ending of ['.js', '.css']) {
      const response = await service.fetch(`/explorer/${file(ending)}`, { key: null })
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
      expect(response.headers.get('content-encoding')).toBe('gzip')
      expect(await response.text()).toBe(readFileSync(join(folder, file(ending)), 'utf8'))
      const plain = await service.fetch(`/explorer/${file(ending)}`, {
        headers: { 'Accept-Encoding': 'identity' },
      })
      expect(plain.headers.get('content-encoding')).toBeNull()
    }
  })

  test.each(['page.js', 'page-00000000.js', 'index.html', '..%2Findex.html'])(
    'there is no other file: %s',
    async name => {
      expect((await service.fetch(`/explorer/${name}`, { key: null })).status).toBe(404)
    },
  )

  test('one setting turns it off', async () => {
    const off = await startService({ tables: {}, env: { EXPLORER_DIR: 'off' } })
    expect((await off.fetch('/')).status).toBe(404)
    expect((await off.fetch(`/explorer/${file('.js')}`)).status).toBe(404)
    await off.stop()
  })
})
