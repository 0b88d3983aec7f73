/** What callers get where runs together need more memory than the local engine has. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../testing/edges.ts'
import { asShipped, startService, type TestService } from '../testing/service.ts'

let service: TestService
let other: string

beforeAll(async () => {
  const rows = Array.from({ length: 50 }, (_, n) =>
    edgeRow(`r${n}`, new Date(Date.now() - n * 60_000).toISOString(), 'abcdefgh', '/rest/v1/a'),
  )
  const env = { ...asShipped, ENGINE_MEMORY_BYTES: '60000000' }
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env, bundle: null })
  other = await service.issue({ name: 'other' })
})

afterAll(() => service.stop())

/** An array of so many texts of 10 kB, all in memory at once. */
function arrayOf(texts: number): string {
  const sql = `SELECT ARRAY_LENGTH(ARRAY_AGG(CONCAT(REPEAT('x', 10000), CAST(a AS STRING)))) AS n
    FROM UNNEST(GENERATE_ARRAY(1, ${texts})) AS a`
  return `/api/endpoints/query/logs.all?${new URLSearchParams({ project: 'abcdefgh', sql }).toString()}`
}

const tooMuch = arrayOf(10_000)

async function answer(path: string, key?: string) {
  const response = await service.fetch(path, key === undefined ? {} : { key })
  const { code = null } = (await response.json()) as { code?: string }
  return { status: response.status, code, retryAfter: response.headers.get('retry-after') }
}

describe('a query that needs more memory than there is', () => {
  test('is told so where it runs alone', async () => {
    expect(await answer(tooMuch)).toEqual({ status: 422, code: 'result_too_large', retryAfter: null })
  })

  test('is told so, or to come back, where several run; those of another key get their answers', async () => {
    const ended = new AbortController()
    const heavy: Awaited<ReturnType<typeof answer>>[] = []
    const callers = Array.from({ length: 4 }, async () => {
      while (!ended.signal.aborted) heavy.push(await answer(tooMuch))
    })
    const plain = []
    for (let n = 0; n < 6; n++) {
      const path =
        n % 2 === 0 ? `logs.all?project=abcdefgh` : `usage.api-counts?interval=hourly&project=p${n}`
      plain.push(await answer(`/api/endpoints/query/${path}`, other))
    }
    ended.abort()
    await Promise.all(callers)
    expect(plain.filter(({ status }) => status !== 200)).toEqual([])
    expect(heavy.length).toBeGreaterThanOrEqual(4)
    for (const { status, code, retryAfter } of heavy)
      expect([status, code, retryAfter]).toEqual(
        status === 503 ? [503, 'overloaded', '5'] : [422, 'result_too_large', null],
      )
  })

  test('is answered where it fits alone, though others run that it does not fit beside', async () => {
    const path = arrayOf(1_500)
    const answers = await Promise.all([answer(path), answer(path, other), answer(path)])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  })
})
