import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadLogs } from '../../infra/lqe/logs/load.ts'
import { loadConfig } from '../../shared/config.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const now = '2026-03-10T12:30:30.000Z'
const project = 'abcdefghijklmnopqrst'
const logs = `/api/endpoints/query/logs.all?project=${project}`

interface Body {
  result: { id: string; timestamp: number }[]
  meta: { next?: string; newest?: string; truncated: boolean; redacted: boolean; rows: number }
}

/** 250 rows in pairs and fours of one moment, so that pages end among equal times. */
const rows = Array.from({ length: 250 }, (_, at) => {
  const second = new Date(Date.parse(now) - Math.floor(at / 4) * 1000).toISOString()
  return edgeRow(`row-${String(at).padStart(3, '0')}@example.com`, second, project, `/rest/v1/${at}`)
})

let service: TestService
let queries: string

beforeAll(async () => {
  queries = mkdtempSync(join(tmpdir(), 'queries-'))
  cpSync('queries', queries, { recursive: true })
  const edit = (file: string, change: (text: string) => string) =>
    writeFileSync(join(queries, file), change(readFileSync(join(queries, file), 'utf8')))
  // The same with a cache, under another name.
  for (const ending of ['sql', 'yaml'])
    cpSync(join(queries, `logs.all.${ending}`), join(queries, `logs.cached.${ending}`))
  edit('logs.cached.yaml', text =>
    text.replace(/id: .*/, 'id: 0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e99').replace('seconds: 0', 'seconds: 900'),
  )
  service = await startService({
    tables: { 'cloudflare.logs.prod': rows },
    queries,
    env: { FROZEN_NOW: now },
  })
})

afterAll(async () => {
  await service.stop()
  rmSync(queries, { recursive: true, force: true })
})

async function get(path: string, init: Parameters<TestService['fetch']>[1] = {}) {
  const response = await service.fetch(path, init)
  if (response.status !== 200) throw new Error(JSON.stringify(service.logged.at(-1)))
  return { response, body: (await response.json()) as Body }
}

async function refusal(path: string, init: Parameters<TestService['fetch']>[1] = {}) {
  const response = await service.fetch(path, init)
  const { code, detail } = (await response.json()) as { code: string; detail: string }
  return `${response.status} ${code}: ${detail}`
}

const idsOf = ({ result }: Body) => result.map(({ id }) => id)

async function load(added: ReturnType<typeof edgeRow>[]): Promise<void> {
  const { dataDir, tablesDir } = loadConfig(service.env)
  const file = join(queries, `${Math.random()}.ndjson`)
  writeFileSync(file, added.map(row => `${JSON.stringify(row)}\n`).join(''))
  const table = 'cloudflare.logs.prod'
  await loadLogs({
    logsFolder: join(dataDir, 'logs'),
    tablesFolder: tablesDir,
    table,
    files: [file],
    out: () => {},
  })
}

describe('pages', () => {
  test('have every row once, newest first, and the last one leads no further', async () => {
    const seen: string[] = []
    let path: string | null = logs
    const sizes: number[] = []
    while (path) {
      const { response, body }: Awaited<ReturnType<typeof get>> = await get(path)
      seen.push(...idsOf(body))
      sizes.push(body.meta.rows)
      expect(body.meta.truncated).toBe(false)
      const [, target] = /^<([^>]*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? []
      expect(target !== undefined).toBe(body.meta.next !== undefined)
      path =
        target === undefined
          ? null
          : new URL(target, `http://x${path}`).pathname + new URL(target, `http://x${path}`).search
    }
    expect(sizes).toEqual([100, 100, 50])
    expect(seen).toEqual(seen.toSorted((a, b) => timeOf(b) - timeOf(a) || (a < b ? 1 : -1)))
    expect(new Set(seen).size).toBe(250)
  })

  const timeOf = (id: string) => Date.parse(rows.find(row => row.id === id)!.timestamp)

  test('that are full to the last row have no empty one behind them', async () => {
    const start = new Date(Date.parse(now) - 25_000).toISOString()
    const { body } = await get(`${logs}&iso_timestamp_start=${start}`)
    expect([body.meta.rows, body.meta.next]).toEqual([100, undefined])
  })

  test('are had as CSV, too, by the Link, which leaves out what is not declared', async () => {
    const response = await service.fetch(`${logs}&format=csv&other=${'x'.repeat(20_000)}`)
    expect(response.headers.get('link')).toMatch(/^<\?project=\w+&format=csv&cursor=[\w-]+>; rel="next"$/)
  })

  test('keep relative times as they were on the first page', async () => {
    const { body, response } = await get(`${logs}&iso_timestamp_start=-50s`)
    const second = await get(`${logs}&iso_timestamp_start=-50s&cursor=${body.meta.next}`)
    expect(second.response.headers.get('x-resolved-times')).toBe(response.headers.get('x-resolved-times'))
    expect(body.meta.rows + second.body.meta.rows).toBe(200)
  })

  test('of a cached endpoint are cached each by itself, redacted or not', async () => {
    const path = logs.replace('logs.all', 'logs.cached')
    const first = await get(path)
    const cursor = `${path}&cursor=${first.body.meta.next}`
    const second = await get(cursor)
    const again = await get(cursor)
    expect(again.response.headers.get('cache-status')).toMatch(/hit/)
    expect(again.body).toEqual(second.body)
    expect(idsOf(second.body)).not.toEqual(idsOf(first.body))
    const headers = { 'SVC-ENDPOINT-REDACT-PII': 'true' }
    const redacted = await get(path, { headers })
    expect(redacted.body.meta).toEqual({ ...first.body.meta, redacted: true })
    expect(JSON.stringify(redacted.body)).not.toContain('@example.com')
    expect((await get(path)).response.headers.get('link')).toBe(first.response.headers.get('link'))
  })

  test('go on behind a tie-breaker that redaction takes out, and the cursor does not tell it', async () => {
    const headers = { 'SVC-ENDPOINT-REDACT-PII': 'true' }
    const { body } = await get(logs, { headers })
    expect(new Set(idsOf(body))).toEqual(new Set(['REDACTED']))
    const decoded = Buffer.from(body.meta.next!, 'base64url').toString('latin1')
    expect(decoded).not.toMatch(/row|example/)
    const { body: second } = await get(`${logs}&cursor=${body.meta.next}`)
    expect(idsOf(second)).toEqual(
      idsOf((await get(`${logs}&cursor=${(await get(logs)).body.meta.next}`)).body),
    )
  })

  test('keep to the pins of a key', async () => {
    const key = await service.issue({ pins: { project } })
    const { body } = await get(logs.replace(/\?.*/, ''), { key })
    expect((await get(`${logs.replace(/\?.*/, '')}?cursor=${body.meta.next}`, { key })).body.meta.rows).toBe(
      100,
    )
    const other = await service.issue({ pins: { project: 'zzzz' } })
    expect(await refusal(`${logs.replace(/\?.*/, '')}?cursor=${body.meta.next}`, { key: other })).toMatch(
      /^400 invalid_parameter: cursor is of other parameters/,
    )
  })
})

describe('a cursor is refused', () => {
  let next: string
  let newest: string
  beforeAll(async () => {
    const { meta } = (await get(logs)).body
    next = meta.next!
    newest = meta.newest!
  })

  test('where it is damaged, of another endpoint, of other parameters, or leads the other way', async () => {
    const changed = next.replace(/^./, first => (first === 'A' ? 'B' : 'A'))
    expect(await refusal(`${logs}&cursor=${changed}`)).toBe(
      '400 invalid_parameter: cursor is damaged, or its time is over: send it as meta.next or meta.newest had it, or begin with the first page',
    )
    for (const text of ['x', next.slice(1), `${next}A`, `${next}=`, next.slice(0, -1)])
      expect(await refusal(`${logs}&cursor=${encodeURIComponent(text)}`)).toMatch(/cursor is damaged/)
    expect(await refusal(`${logs.replace('all', 'cached')}&cursor=${next}`)).toMatch(
      /cursor is of another endpoint/,
    )
    expect(await refusal(`${logs}x&cursor=${next}`)).toMatch(/cursor is of other parameters/)
    expect(await refusal(`${logs}&iso_timestamp_start=2026-01-01&follow=${newest}`)).toMatch(
      /follow is of other/,
    )
    expect(await refusal(`${logs}&cursor=${newest}`)).toMatch(/cursor leads the other way/)
    expect(await refusal(`${logs}&follow=${next}`)).toMatch(/follow leads the other way/)
    expect(await refusal(`${logs}&cursor=${next}&follow=${newest}`)).toMatch(/send one of them/)
    expect(await refusal(`${logs}&cursor=${next}&cursor=${next}`)).toMatch(/cursor is given more than once/)
  })

  test('beside SQL of the caller’s own, which has no marks either', async () => {
    const sql = 'SELECT id, timestamp FROM edge_logs ORDER BY timestamp DESC LIMIT 10'
    expect(await refusal(`${logs}&cursor=${next}&sql=${encodeURIComponent(sql)}`)).toMatch(
      /cursor does not go with sql/,
    )
    const { body, response } = await get(`${logs}&sql=${encodeURIComponent(sql)}`)
    expect(body.meta).not.toHaveProperty('next')
    expect(body.meta).not.toHaveProperty('newest')
    expect(response.headers.has('link')).toBe(false)
  })

  test('nowhere where the endpoint has no pages: it is named as ignored', async () => {
    const { response, body } = await get(
      `/api/endpoints/query/usage.api-counts?interval=daily&project=x&cursor=${next}`,
    )
    expect(response.headers.get('x-ignored-parameters')).toBe('cursor')
    expect(body.meta).not.toHaveProperty('newest')
  })
})

describe('follow', () => {
  const other = 'followedprojectabcde'
  const path = logs.replace(project, other)
  const entry = (id: string, seconds: number) =>
    edgeRow(id, new Date(Date.parse(now) + seconds * 1000).toISOString(), other, '/rest/v1/a')

  test('gives what is newer, oldest first, from nothing on, and ends nowhere', async () => {
    const { body: empty } = await get(path)
    expect(empty.result).toEqual([])
    const nothing = await get(`${path}&follow=${empty.meta.newest}`)
    expect(nothing.body.meta.newest).toBe(empty.meta.newest)
    await load([entry('b', 1), entry('a', 1), entry('c', 3)])
    const { body: first } = await get(`${path}&follow=${empty.meta.newest}`)
    expect(idsOf(first)).toEqual(['a', 'b', 'c'])
    expect(first.meta).not.toHaveProperty('next')
    await load([entry('d', 3), entry('late', 2), entry('e', 4)])
    const { body: second } = await get(`${path}&follow=${first.meta.newest}`)
    expect(idsOf(second)).toEqual(['d', 'e'])
    const newest = (await get(path)).body
    expect(idsOf(newest)).toEqual(['e', 'd', 'c', 'late', 'b', 'a'])
    expect((await get(`${path}&follow=${newest.meta.newest}`)).body.result).toEqual([])
  })

  test('gives many newer ones page by page', async () => {
    const { body } = await get(path)
    await load(Array.from({ length: 120 }, (_, at) => entry(`m${at}`, 60)))
    const first = (await get(`${path}&follow=${body.meta.newest}`)).body
    const second = (await get(`${path}&follow=${first.meta.newest}`)).body
    expect([first.meta.rows, second.meta.rows]).toEqual([100, 20])
    expect(new Set([...idsOf(first), ...idsOf(second)]).size).toBe(120)
  })
})
