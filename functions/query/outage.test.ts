/** What callers get while the store does not answer, shown by its file, which is taken away under a running service. */
import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const now = '2026-03-10T12:30:30.000Z'
const project = 'abcdefghijklmnopqrst'
const answer = `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`

let service: TestService

beforeAll(async () => {
  const rows = [edgeRow('a', now, project, '/rest/v1/items')]
  service = await startService({
    tables: { 'cloudflare.logs.prod': rows },
    // Each call reads the key and the definition: nothing but the memory for outages has them.
    env: { FROZEN_NOW: now, REMEMBER_MS: '1' },
    bundle: null,
  })
})

afterAll(() => service.stop())

/** The store's files under another name. */
function moveStore(from: string, to: string): void {
  const folder = service.env['DATA_DIR']!
  for (const end of ['', '-wal', '-shm']) renameSync(join(folder, from + end), join(folder, to + end))
}

test('known keys get what memory holds, others get 503, and all is well when the store is back', async () => {
  const stranger = await service.issue({})
  const before = await service.fetch(answer)
  const body = await before.text()
  await service.fetch('/api/endpoints')
  moveStore('store.sqlite', 'away.sqlite')
  try {
    const calls = Array.from({ length: 200 }, async () => {
      const response = await service.fetch(answer)
      return [response.status, (await response.text()) === body]
    })
    expect(new Set((await Promise.all(calls)).map(String))).toEqual(new Set(['200,true']))
    expect((await service.fetch('/api/endpoints')).status).toBe(200)

    const refused = await service.fetch(answer, { key: stranger })
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await refused.json()).toMatchObject({ code: 'store_unavailable' })
    expect(service.logged.at(-1)).toMatchObject({
      severity: 'ERROR',
      message: 'request',
      details: { status: 503, error: 'store_unavailable', reason: 'unavailable', code: 'ENOENT' },
    })
  } finally {
    moveStore('away.sqlite', 'store.sqlite')
  }
  expect((await service.fetch(answer, { key: stranger })).status).toBe(200)
})
