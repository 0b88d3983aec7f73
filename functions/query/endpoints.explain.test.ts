import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import type { ExplainedPart } from '../../shared/warm/explain.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const project = 'qhzvnxwtrkdplmcoyaeb'
const path = '/api/endpoints/usage.api-counts/explain'
let service: TestService

beforeAll(async () => {
  const rows = [edgeRow('a', new Date().toISOString(), project, '/rest/v1/items')]
  service = await startService({ tables: { 'cloudflare.logs.prod': rows } })
})
afterAll(() => service.stop())

const answerTo = async (key: string, of = path) => {
  const response = await service.fetch(of, { key })
  return [response.status, ((await response.json()) as { code?: string }).code]
}

test('the queries that answer, made ones too, are for keys with the right alone, which may have pins', async () => {
  const own = { rights: ['definitions:read' as const] }
  const pinned = await service.issue({ ...own, pins: { project } })
  const response = await service.fetch(path, { key: pinned })
  expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const { result } = (await response.json()) as { result: ExplainedPart[] }
  expect(result.map(({ title, made }) => [made, title.slice(0, 40)])).toEqual([
    [true, 'made of query 2 answers where {"allOf":['],
    [false, 'query 2 answers where {"properties":{"pr'],
    [false, 'query 3 answers every other call'],
    [false, 'usage.api-counts.rollup is partitioned b'],
    [true, 'usage.api-counts.hours.rollup is made of'],
  ])
  expect(result[2]!.sql).toBe(readFileSync('queries/usage.api-counts.sql', 'utf8'))
  expect(result[0]!.notes[1]).toMatch(/^warmed every 300 s by one statement, which for \d sets reads /)
  for (const rights of [[], ['pii:read' as const, 'cache:bypass' as const]])
    expect(await answerTo(await service.issue({ rights }))).toEqual([403, 'right_missing'])
})

test('an endpoint that is not there, or not one of the key’s, gets 404, and HEAD no body', async () => {
  const rights = ['definitions:read' as const]
  expect(await answerTo(service.key, '/api/endpoints/nothing/explain')).toEqual([404, 'not_found'])
  for (const grant of [{ endpoints: ['logs.all'] }, { pins: { customer: 'a' } }])
    expect(await answerTo(await service.issue({ ...grant, rights }))).toEqual([404, 'not_found'])
  const head = await service.fetch(path, { method: 'HEAD' })
  expect([head.status, await head.text()]).toEqual([200, ''])
})
