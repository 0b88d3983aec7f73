/** The addresses of hosted Supabase, where the project is in the path and times have bounds. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

const [mine, other] = ['abcdefghijklmnopqrst', 'tsrqponmlkjihgfedcba']
const now = '2026-03-10T12:00:00.000Z'
const [day, minute] = [86_400, 60]
/** So many seconds ago. */
const ages = [30, 90, 3600, 2 * day]

let service: TestService

beforeAll(async () => {
  const at = (age: number) => new Date(Date.parse(now) - age * 1000).toISOString()
  const rows = [mine, other].flatMap(ref =>
    ages.map(age => edgeRow(`${ref} ${age}`, at(age), ref, '/rest/v1/a')),
  )
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, env: { FROZEN_NOW: now } })
})

afterAll(() => service.stop())

const time = (age: number) => new Date(Date.parse(now) - age * 1000).toISOString()

async function ask(path: string, parameters: Record<string, string> = {}, key = service.key) {
  const response = await service.fetch(`${path}?${new URLSearchParams(parameters).toString()}`, { key })
  const body = (await response.json()) as { result?: { id: string }[]; message?: string; code?: string }
  return { status: response.status, ...body, ids: body.result?.map(({ id }) => id) }
}

const management = `/v1/projects/${mine}/analytics/endpoints/logs.all`
const platform = `/platform/projects/${mine}/analytics/endpoints/logs.all`
const of = (ref: string, ...some: number[]) => some.map(age => `${ref} ${age}`)

describe('the address of the Management API', () => {
  test.each<[what: string, sent: Record<string, string>, ages: number[]]>([
    ['neither bound', {}, [30]],
    ['two that are empty', { iso_timestamp_start: '', iso_timestamp_end: '' }, [30]],
    ['a start alone', { iso_timestamp_start: time(120) }, [90]],
    ['an end alone', { iso_timestamp_start: '', iso_timestamp_end: time(80) }, [90]],
    ['a start before now', { iso_timestamp_start: '-2m' }, [90]],
    ['both', { iso_timestamp_start: time(day), iso_timestamp_end: time(0) }, [30, 90, 3600]],
  ])('with %s has the rows that hosted Supabase has', async (_, sent, expected) => {
    expect((await ask(management, sent)).ids).toEqual(of(mine, ...expected))
    const sql = 'select id, timestamp from edge_logs order by timestamp desc'
    expect((await ask(management, { ...sent, sql })).ids).toEqual(of(mine, ...expected))
  })

  test('refuses more than 24 hours, but for the moment between two looks at a clock, and says where they can be had', async () => {
    const clock = { iso_timestamp_start: time(day + 1), iso_timestamp_end: time(0) }
    expect((await ask(management, clock)).status).toBe(200)
    const sent = { iso_timestamp_start: time(day + 2 * minute), iso_timestamp_end: time(0) }
    const { status, message } = await ask(management, sent)
    expect([status, message]).toEqual([
      400,
      'iso_timestamp_end is more than 24 hours after iso_timestamp_start, the most at this address; /api/endpoints/query/NAME takes any times',
    ])
    expect((await ask('/api/endpoints/query/logs.all', { ...sent, project: mine })).status).toBe(200)
  })

  test('leaves a time that cannot be read to its refusal', async () =>
    expect((await ask(management, { iso_timestamp_start: 'soon' })).message).toMatch(
      /^iso_timestamp_start must be/,
    ))
})

test('the address of Studio has no bounds of its own', async () =>
  expect((await ask(platform)).ids).toEqual(of(mine, ...ages)))

test('a body of JSON counts as at any address', async () => {
  const body = JSON.stringify({ sql: 'select id from edge_logs' })
  const headers = { 'Content-Type': 'application/json' }
  const response = await service.fetch(management, { method: 'POST', body, headers })
  expect(await response.json()).toMatchObject({ result: [{ id: `${mine} 30` }] })
})

test.each([management, platform])(
  '%s is refused to a key of another project as a parameter is',
  async path => {
    const key = await service.issue({ pins: { project: other } })
    const asParameter = await ask('/api/endpoints/query/logs.all', { project: mine }, key)
    const inAddress = await ask(path, {}, key)
    for (const member of ['status', 'code', 'message'] as const)
      expect(inAddress[member]).toBe(asParameter[member])
    expect(inAddress.code).toBe('pinned_parameter')
    expect((await ask(path.replace(mine, other), {}, key)).ids![0]).toBe(`${other} 30`)
  },
)

test('a second project beside the address is refused', async () =>
  expect(await ask(platform, { project: other })).toMatchObject({ status: 400, code: 'invalid_parameter' }))

test('an endpoint that has no project is refused there, and not asked for all', async () => {
  const { status, message } = await ask(`/platform/projects/${mine}/analytics/endpoints/service.usage`)
  expect([status, message]).toEqual([
    400,
    'project is in the address, and service.usage has no such parameter: ask at /api/endpoints/query/service.usage',
  ])
})
