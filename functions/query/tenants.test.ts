/** Two tenants, each with a key that pins its project, at every address, in every form: neither sees a row of the other. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import pMap from 'p-map'
import { rounds } from '../../shared/testing/rounds.ts'
import { addresses, gatewayPath } from '../http/addresses.ts'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const tenants = ['abcdefghijklmnopqrst', 'tsrqponmlkjihgfedcba'] as const
const now = '2026-03-10T12:00:30.000Z'
const id = '6d1c2f0e-7a55-4d0b-8f3a-1c9e5b7d2a44'
const calls = rounds(120, 10_000)

let folder: string
let service: TestService
let keys: string[]

const marker = (tenant: string) => `row-of-${tenant}`

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tenants-'))
  cpSync('queries', folder, { recursive: true })
  writeFileSync(join(folder, 'kept.sql'), 'SELECT id FROM `cloudflare.logs.prod` WHERE project = @project')
  writeFileSync(
    join(folder, 'kept.yaml'),
    `id: ${id}\ndescription: d\naliases: [Kept Rows]\ncache: {seconds: 60}\nparameters: {properties: {project: {type: string}}}\n`,
  )
  const rows = tenants.map(tenant => edgeRow(marker(tenant), '2026-03-10T12:00:00Z', tenant, '/rest/v1/a'))
  service = await startService({
    tables: { 'cloudflare.logs.prod': rows },
    queries: folder,
    env: { FROZEN_NOW: now },
  })
  keys = await Promise.all(tenants.map(project => service.issue({ pins: { project } })))
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

const paths = addresses
  .filter(({ handler }) => handler === 'answer')
  .flatMap(({ path, also = [] }) => [path, ...also])
  .flatMap(path => [path, gatewayPath + path])
const names = ['logs.all', 'kept', id, id.toUpperCase(), 'Kept%20Rows']
const forms = ['GET', 'HEAD', 'POST'] as const
const sqls = [null, 'select id from edge_logs', 'select id, identifier from edge_logs']

/** The call of this number: each choice is made in turn, with another period. */
function callOf(n: number) {
  const [mine, other] = n % 2 === 0 ? tenants : tenants.toReversed()
  const pick = <T>(all: readonly T[], every: number): T => all[Math.floor(n / every) % all.length]!
  const [path, name, form] = [pick(paths, 2), pick(names, 3), pick(forms, 5)]
  const sql = name === 'logs.all' ? pick(sqls, 7) : null
  const asked = pick([null, mine, other, mine], 11)
  const ref = pick([mine, other, mine], 13)
  const parameters = {
    ...(sql ? { sql } : {}),
    ...(asked && !path.includes('{ref}') ? { project: asked } : {}),
  }
  const isOwn = path.includes('{ref}') ? ref === mine : asked !== other
  return {
    mine,
    other,
    key: keys[n % 2]!,
    isOwn,
    form,
    parameters,
    path: path.replace('{ref}', ref).replace('{name}', name),
  }
}

test(`no call of ${calls} shows a row of the other, and each shows its own where it asks for them`, async () => {
  const seen = { own: 0, refused: 0 }
  await pMap(
    Array.from({ length: calls }, (_, n) => callOf(n)),
    async ({ mine, other, key, isOwn, form, parameters, path }) => {
      const query = new URLSearchParams(parameters).toString()
      const response = await service.fetch(form === 'POST' ? path : `${path}?${query}`, {
        method: form,
        key,
        ...(form === 'POST'
          ? { body: JSON.stringify(parameters), headers: { 'Content-Type': 'application/json' } }
          : {}),
      })
      const text = await response.text()
      const what = `${form} ${path} ${query}`
      expect([what, response.status]).toEqual([what, isOwn ? 200 : 403])
      expect([what, text.includes(marker(other))]).toEqual([what, false])
      if (isOwn && form !== 'HEAD') expect([what, text.includes(marker(mine))]).toEqual([what, true])
      seen[isOwn ? 'own' : 'refused']++
    },
    { concurrency: 8 },
  )
  expect(seen.own).toBeGreaterThan(calls / 3)
  expect(seen.refused).toBeGreaterThan(calls / 8)
})

test('a key is told of no endpoint that its pins close', async () => {
  const key = await service.issue({ pins: { nowhere: 'x' } })
  const told = async (path: string, method?: string) => {
    const body = method && JSON.stringify({ jsonrpc: '2.0', id: 1, method })
    const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' }
    return (await service.fetch(path, { key, ...(body ? { method: 'POST', body, headers } : {}) })).text()
  }
  expect(JSON.parse(await told('/api/endpoints'))).toMatchObject({ result: [] })
  expect(JSON.parse(await told('/api/endpoints/kept/tables'))).toMatchObject({ status: 404 })
  expect(await told('/api/endpoints/query/kep')).not.toContain('kept')
  for (const open of [told('/openapi.json'), told('/mcp', 'tools/list'), told('/mcp', 'resources/list')])
    expect(await open).not.toMatch(/kept|lqe:\/\//)
})
