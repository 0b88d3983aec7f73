/** The usage chart of one project, which its roll-up answers. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, jest, test } from '@jest/globals'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const project = 'qhzvnxwtrkdplmcoyaeb'
const usage = `/api/endpoints/query/usage.api-counts?interval=daily&project=${project}`
const table = 'cloudflare.logs.prod'

let service: TestService
beforeAll(async () => {
  const before = new Date(Date.now() - 2_000).toISOString()
  // The roll-up that is broken here is DuckDB's; shared/engines/bigquery/rollups.test.ts breaks BigQuery's.
  const tables = { [table]: [edgeRow('a', before, project, '/rest/v1/items')] }
  service = await startService({ tables, bundle: null })
})
afterAll(() => service.stop())

const counted = async (response: Response) => {
  const { result } = (await response.json()) as { result: Record<string, number>[] }
  return result.reduce((sum, row) => sum + row['total_rest_requests']!, 0)
}

test('has the requests of the last seconds, and its age counts from the run', async () => {
  const asked = Math.floor(Date.now() / 1000) * 1000
  const miss = await service.fetch(usage)
  expect(await counted(miss)).toBe(1)
  const made = Date.parse(miss.headers.get('Last-Modified')!)
  expect(made).toBeGreaterThanOrEqual(asked)
  expect(made).toBeLessThanOrEqual(Date.now())
})

test('comes from the log table where one of its roll-ups cannot be read, and the log says so', async () => {
  const folder = join(service.env['DATA_DIR']!, 'logs', table)
  const parts = join(
    folder,
    readdirSync(folder).find(name => name.startsWith('rollup-'))!,
  )
  rmSync(parts, { recursive: true })
  writeFileSync(parts, 'no folder')
  const written: string[] = []
  const write = jest.spyOn(process.stdout, 'write').mockImplementation(text => written.push(String(text)) > 0)
  const response = await service.fetch(usage.replace(project, encodeURIComponent(`^https://${project}\\.`)))
  write.mockRestore()
  expect(response.status).toBe(200)
  expect(Date.now() - Date.parse(response.headers.get('Last-Modified')!)).toBeLessThan(120_000)
  expect(Number(response.headers.get('Age'))).toBeLessThan(120)
  const lines = written.filter(line => line.includes('a roll-up could not be read'))
  expect(lines.map(line => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ severity: 'WARNING', endpoint: 'usage.api-counts', reason: 'no_rollup' }),
  ])
})
