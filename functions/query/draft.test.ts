/** Drafts of endpoints over HTTP: who gets one, what is refused, and where they are written. Their rows: `../explorer/logs/as-endpoint.test.ts`. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startService, type TestService } from '../testing/service.ts'
import type { DraftAnswer } from './draft.ts'

const folder = mkdtempSync(join(tmpdir(), 'draft-'))
const usual = join(folder, 'usual')
writeFileSync(usual, '') // as a person's files are, before the service makes its own private
const usualMode = statSync(usual).mode
rmSync(usual)
const path = '/api/endpoints/logs.all/draft'
const wish = {
  name: 'app.errors',
  description: 'Errors.',
  sql: 'SELECT id FROM edge_logs LIMIT 5',
  parameters: {},
  values: {},
  redact: false,
}
let service: TestService

beforeAll(async () => {
  service = await startService({ tables: {}, env: { QUERIES_DIR: folder } })
})
afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

interface Answer {
  status: number
  result: DraftAnswer
  code: string
  detail: string
  errors: { parameter: string }[]
}

async function draft(body: object, key?: string, headers: Record<string, string> = {}): Promise<Answer> {
  const response = await service.fetch(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify({ ...wish, ...body }),
    ...(key ? { key } : {}),
  })
  return { status: response.status, ...((await response.json()) as Omit<Answer, 'status'>) }
}

describe('a draft', () => {
  test('is for keys that may see the SQL of endpoints, within what their own SQL may read', async () => {
    const { status, result } = await draft({})
    expect([status, result.written, result.folder]).toEqual([200, false, folder])
    expect(result.files.map(({ name }) => name)).toEqual(['app.errors.sql', 'app.errors.yaml'])
    expect(readdirSync(folder)).toEqual([])
    const reader = await service.issue({ rights: ['definitions:read'] })
    expect(await draft({}, reader)).toMatchObject({ status: 200, result: { folder: null } })
    const refused = [await service.issue({}), await service.issue({ rights: ['definitions:write'] })]
    for (const key of refused)
      expect(await draft({}, key)).toMatchObject({ status: 403, code: 'right_missing' })
    for (const sql of ['SELECT * FROM `cloudflare.logs.prod`', 'SELECT id FROM edge_logs WHERE id = @id'])
      expect(await draft({ sql })).toMatchObject({ status: 403, code: 'sandbox_violation' })
  })

  const alert = {
    name: 'many',
    parameters: {},
    condition: { value: 'rows', above: 5 },
    severity: 'info',
    text: 'Many.',
    channels: [],
  }

  test('may be an alert on the endpoint, which needs no SQL, or one with the endpoint that it is on', async () => {
    const project = { parameters: { project: 'p', stranger: 'x' } }
    const own = await draft({ sql: undefined, alert: { ...alert, ...project } })
    expect(own.result.files.map(({ name }) => name)).toEqual(['many.alert.yaml'])
    expect(own.result.files[0]!.text).toContain(
      '\nendpoint: logs.all\nparameters:\n  project: p\ncondition:\n',
    )
    const both = await draft({ alert: { ...alert, ...project } })
    expect(both.result.files.map(({ name }) => name)).toEqual([
      'app.errors.sql',
      'app.errors.yaml',
      'many.alert.yaml',
    ])
    expect(both.result.files[2]!.text).toContain('\nendpoint: app.errors\n')
    expect(await draft({ sql: undefined, alert }, await service.issue({}))).toMatchObject({ status: 403 })
  })

  test.each([
    [{ name: 'Many' }, 'name'],
    [{ name: undefined }, 'alert.name'],
    [{ parameters: { project: 1 } }, 'alert.parameters'],
    [{ parameters: {} }, 'parameters.project'],
    [{ condition: { value: 'errors', above: 5 } }, 'condition.value'],
    [{ condition: { value: 'rows' } }, 'condition'],
    [{ condition: { value: 'rows', before: 'PT1H', above: 2 } }, 'condition.before'],
    [{ text: '{{ nothing }}' }, 'text'],
    [{ severity: 'loud' }, 'severity'],
    [{ sets: [] }, 'sets'],
  ])('is refused of an alert %j', async (change, parameter) => {
    const given = { ...alert, parameters: { project: 'p' }, ...change }
    const { status, code, errors } = await draft({ sql: undefined, alert: given })
    expect([status, code, errors[0]!.parameter]).toEqual([400, 'invalid_parameter', parameter])
  })

  const text = { type: 'string' }
  test.each([
    [{ name: undefined }, 'name'],
    [{ name: '../x' }, 'name'],
    [{ name: 'Errors' }, 'name'],
    [{ name: 'con' }, 'name'],
    [{ name: 'x.test' }, 'name'],
    [{ description: '' }, 'description'],
    [{ description: 'x'.repeat(2001) }, 'description'],
    [{ parameters: [] }, 'parameters'],
    [{ values: { project: 1 } }, 'values'],
    [{ values: { iso_timestamp_start: 'yesterday' } }, 'iso_timestamp_start'],
    [
      { sql: 'SELECT @n AS a FROM edge_logs', parameters: { n: { type: 'colour' } }, values: { n: 'red' } },
      'parameters.properties.n.type',
    ],
    [{ sql: 'SELECT @n AS a FROM edge_logs', parameters: { n: null } }, 'parameters.properties.n'],
    [{ redact: 'no' }, 'redact'],
    [{ sql: 'SELECT id FROM edge_logs WHERE' }, 'sql'],
    [{ sql: 'SELECT nothing FROM edge_logs' }, 'sql'],
    [{ sql: 'SELECT id FROM edge_logs WHERE id = @project', parameters: { project: text } }, 'project'],
    [{ sql: 'SELECT @sql AS a FROM edge_logs', parameters: { sql: text } }, 'parameters.properties.sql'],
    [{ sql: 'SELECT @n AS a FROM edge_logs', parameters: { n: { type: 'integer', default: 1.5 } } }, 'n'],
  ])('is refused where a field is wrong: %.100j', async (body, parameter) => {
    const answer = await draft({ ...body, write: true })
    expect([answer.status, answer.errors[0]?.parameter]).toEqual([400, parameter])
    expect(readdirSync(folder)).toEqual([])
  })

  test('leaves parameters out that its SQL does not read', async () => {
    const { result } = await draft({ sql: 'SELECT 1 AS one', parameters: { unread: text } })
    expect(result.files[1]!.text).toContain('parameters:\n  type: object\n  properties: {}\n')
  })
})

describe('the files of a draft', () => {
  test('are written once, as a person’s own files, and the log says so', async () => {
    const { status, result } = await draft({ write: true })
    expect([status, result.written]).toEqual([201, true])
    for (const { name, text } of result.files) expect(readFileSync(join(folder, name), 'utf8')).toBe(text)
    expect(readdirSync(folder)).toHaveLength(2)
    expect(statSync(join(folder, 'app.errors.sql')).mode).toBe(usualMode)
    expect(service.logged.at(-1)!.details).toMatchObject({
      endpoint: 'logs.all',
      saved: 'app.errors',
      status: 201,
    })
    const again = await draft({ write: true, sql: 'SELECT 2 AS two' })
    expect(again).toMatchObject({ status: 409, code: 'conflict' })
    expect(readFileSync(join(folder, 'app.errors.sql'), 'utf8')).toBe(result.files[0]!.text)
  })

  test.each(['app.half.sql', 'app.half.yaml'])('are both written or none: %s is there', async name => {
    const file = join(folder, name)
    symlinkSync(join(folder, 'nowhere'), file) // a write would follow it
    const before = readdirSync(folder)
    expect(await draft({ name: 'app.half', write: true })).toMatchObject({
      status: 409,
      detail: `There is a file ${file} already: take another name, or move it away.`,
    })
    expect(readdirSync(folder)).toEqual(before)
    expect(existsSync(join(folder, 'nowhere'))).toBe(false)
    rmSync(file)
  })

  test('take no name of an endpoint that is there', async () => {
    expect(await draft({ name: 'usage.api-counts', write: true })).toMatchObject({
      status: 409,
      detail: 'There is an endpoint usage.api-counts already: take another name.',
    })
  })

  test('need the right definitions:write, and a key whose answers are not redacted', async () => {
    const rights = ['definitions:read' as const]
    for (const grant of [{ rights }, { rights: [...rights, 'definitions:write' as const], redacted: true }])
      expect(await draft({ name: 'app.other', write: true }, await service.issue(grant))).toMatchObject({
        status: 403,
        code: 'right_missing',
      })
    expect(existsSync(join(folder, 'app.other.sql'))).toBe(false)
  })

  test.each([
    [{ 'X-Forwarded-For': '203.0.113.7' }],
    [{ Forwarded: 'for=203.0.113.7' }],
    [{ Via: '1.1 proxy' }],
    [{ Origin: 'https://example.com' }],
    [{ Origin: 'null' }],
    [{ Host: 'example.com' }],
    [{ Host: '127.0.0.1.example.com:8080' }],
  ])('are for calls of this machine alone: %j', async headers => {
    const answer = await from(headers)
    expect([answer.status, answer.body]).toEqual([
      403,
      expect.stringContaining('on the machine where npm start runs'),
    ])
    expect(existsSync(join(folder, 'app.far.sql'))).toBe(false)
  })

  test('may be asked for by the page at any name of this machine', async () => {
    for (const [i, host] of ['localhost', '127.0.0.1', '[::1]'].entries()) {
      const headers = { Host: `${host}:8080`, Origin: `http://${host}:8080` }
      expect((await from(headers, `app.near-${i}`)).status).toBe(201)
    }
  })
})

/** `fetch` lets nobody say what the host is. */
async function from(
  headers: Record<string, string>,
  name = 'app.far',
): Promise<{ status: number; body: string }> {
  const all = { 'Content-Type': 'application/json', 'X-API-KEY': service.key, ...headers }
  return new Promise((resolve, reject) => {
    const sent = request(service.url + path, { method: 'POST', headers: all }, response => {
      let body = ''
      response
        .on('data', part => (body += part))
        .on('end', () => resolve({ status: response.statusCode!, body }))
    })
    sent.on('error', reject).end(JSON.stringify({ ...wish, name, write: true }))
  })
}

test('a service without a folder for it writes none', async () => {
  const other = mkdtempSync(join(tmpdir(), 'draft-'))
  mkdirSync(join(other, 'queries'))
  writeFileSync(join(other, 'queries/a.sql'), 'WITH t AS (SELECT 1 AS n) SELECT n FROM t')
  const yaml =
    'id: 5c7d1f60-57c1-4f0c-9d0e-6f6f2a1c9b11\ndescription: A.\nparameters: { properties: {} }\nsandbox: true\n'
  writeFileSync(join(other, 'queries/a.yaml'), yaml)
  const bare = await startService({ tables: {}, queries: join(other, 'queries') })
  const body = JSON.stringify({ ...wish, sql: 'SELECT n FROM t', write: true })
  const headers = { 'Content-Type': 'application/json' }
  const answer = await bare.fetch('/api/endpoints/a/draft', { method: 'POST', headers, body })
  expect(answer.status).toBe(403)
  await bare.stop()
  rmSync(other, { recursive: true })
})
