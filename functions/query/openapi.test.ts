import { mkdtempSync, rmSync, writeFileSync, cpSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { errorCodes, type ErrorCode } from '../../shared/errors.ts'
import { edgeRow } from '../testing/edges.ts'
import { serveBehind } from '../testing/prefix.ts'
import { startService, type TestService } from '../testing/service.ts'
import { openApiOf } from './openapi.ts'

const project = 'qhzvnxwtrkdplmcoyaeb'
let folder: string
let service: TestService
let document: OpenApi

interface Operation {
  operationId: string
  parameters: {
    name: string
    in: string
    required?: boolean
    schema: { enum?: string[]; examples?: string[] }
  }[]
  responses: Record<string, Response_>
}

interface Response_ {
  content?: Record<string, { schema: object; examples?: Record<string, { value: Documented }> }>
}

interface Documented {
  detail: string
  errors: object[]
}

interface OpenApi {
  servers: { url: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, object> }
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'openapi-'))
  cpSync('queries', folder, { recursive: true })
  writeFileSync(join(folder, 'plain.sql'), "SELECT '203.0.113.7' AS ip")
  writeFileSync(
    join(folder, 'plain.yaml'),
    'id: 00000000-0000-4000-8000-00000000000c\ndescription: d\nparameters: {properties: {}}\nredact: true\n',
  )
  const rows = [edgeRow('a', new Date().toISOString(), project, '/rest/v1/items')]
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, queries: folder })
  document = (await (await service.fetch('/openapi.json')).json()) as OpenApi
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1, with a key and without one', async () => {
    const general = (await (await service.fetch('/openapi.json', { key: null })).json()) as OpenApi
    for (const checked of [document, general]) {
      const { valid, errors } = await new Validator().validate({ ...structuredClone(checked) })
      expect([valid, errors]).toEqual([true, undefined])
    }
    expect(Object.keys(general.paths)).toEqual([
      '/v1/projects/{ref}/analytics/endpoints/{name}',
      '/platform/projects/{ref}/analytics/endpoints/{name}',
      '/api/endpoints',
      '/api/endpoints/{name}/tables',
      '/api/endpoints/{name}/explain',
      '/api/endpoints/{name}/views',
      '/api/alerts',
      '/api/endpoints/{name}/alerts',
      '/health',
    ])
  })

  test('names the address that it came from, at the root of a host and behind the path of a function', async () => {
    const proxy = await serveBehind('/query', service.url)
    try {
      for (const root of [service.url, proxy.url]) {
        const at = `${root}/openapi.json`
        const { servers, paths } = (await (await fetch(at)).json()) as OpenApi
        const server = new URL(servers[0]!.url, at).href
        expect(server).toBe(`${root}/`)
        // As the specification says, and as clients do that take the slash away first.
        for (const base of [server, server.replace(/\/$/, '')])
          for (const path of Object.keys(paths))
            expect([200, 401]).toContain(
              (await fetch(base + path.replace('{ref}', 'a').replace('{name}', 'b'))).status,
            )
      }
    } finally {
      await proxy.stop()
    }
  })

  test('shows a key only the endpoints that it may call', async () => {
    const key = await service.issue({ endpoints: ['plain'] })
    const own = (await (await service.fetch('/openapi.json', { key })).json()) as OpenApi
    expect(Object.keys(own.paths).filter(path => path.includes('/query/'))).toEqual([
      '/api/endpoints/query/plain',
    ])
    expect((await service.fetch('/openapi.json', { key: 'lqe_wrong' })).status).toBe(401)
  })

  test('names each operation once, and as before where another endpoint is added', async () => {
    const operations = ({ paths }: OpenApi) =>
      Object.values(paths).flatMap(item => Object.values(item).map(({ operationId }) => operationId))
    const { columnsOf, endpoints } = service.services
    const [first] = await endpoints.all()
    const names =
      'logs.all logs.all.sql logs logs.sql my.errors my-errors my_errors My.errors a.5x a5x health list.tables'
    const all = names.split(' ').map(name => ({ ...first!, name }))
    const alone = await Promise.all(
      all.map(async endpoint => operations((await openApiOf([endpoint], columnsOf)) as OpenApi)),
    )
    const together = operations((await openApiOf(all, columnsOf)) as OpenApi)
    const general = operations((await openApiOf([], columnsOf)) as OpenApi).length
    expect(together).toEqual([...alone[0]!.slice(0, general), ...alone.flatMap(ids => ids.slice(general))])
    expect(new Set(together).size).toBe(together.length)
    expect(together).toEqual(expect.arrayContaining(['logsAll', 'logsAllSql', 'myErrors']))
    expect(operations(document)).toContain('usageApiCounts')
  })

  test('has examples of parameters that work, and the answers fit its schemas', async () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    ajv.addSchema({ $id: 'document', ...document })
    for (const [path, { get }] of Object.entries(document.paths).filter(([name]) =>
      name.includes('/query/'),
    )) {
      const required = get!.parameters.filter(parameter => parameter.required)
      const query = required.map(({ name, schema }) => {
        const value = schema.examples?.[0] ?? schema.enum?.[0]
        return `${name}=${encodeURIComponent(value!)}`
      })
      const response = await service.fetch(`${path}?${query.join('&')}`)
      const pointer = `#/paths/${path.replaceAll('/', '~1')}/get/responses/200/content/application~1json/schema`
      const validate = ajv.getSchema(`document${pointer}`)!
      expect([path, response.status, validate(await response.json()), validate.errors]).toEqual([
        path,
        200,
        true,
        null,
      ])
    }
  })
})

type Recipe = [path: string, init: Parameters<TestService['fetch']>[1]]

describe('every documented problem', () => {
  const usage = '/api/endpoints/query/usage.api-counts'
  const logs = `/api/endpoints/query/logs.all?project=${project}`
  const json = { 'Content-Type': 'application/json' }

  /** A request for each; the others need a failing engine or a limit, and have tests of their own. */
  const recipes: Partial<Record<ErrorCode, (issue: TestService['issue']) => Recipe | Promise<Recipe>>> = {
    invalid_parameter: () => [`${usage}?interval=weekly&project=a`, {}],
    invalid_query: () => [`${usage}?interval=daily&project=(`, {}],
    invalid_request: () => [logs, { method: 'POST', headers: json, body: '{' }],
    sandbox_disabled: () => ['/api/endpoints/query/plain?sql=SELECT%201', {}],
    unauthenticated: () => [logs, { key: null }],
    sandbox_violation: () => [`${usage}?interval=daily&project=a&sql=SELECT%20path%20FROM%20edge_logs`, {}],
    pinned_parameter: async issue => [logs, { key: await issue({ pins: { project: 'mine' } }) }],
    right_missing: async issue => ['/api/endpoints/plain/explain', { key: await issue({}) }],
    redaction_locked: async issue => [
      '/api/endpoints/query/plain',
      { key: await issue({}), headers: { 'SVC-ENDPOINT-REDACT-PII': 'false' } },
    ],
    not_found: () => ['/api/endpoints/query/nothing', {}],
    conflict: async issue => {
      const key = await issue({ name: 'console', rights: ['views:write'] })
      const body = JSON.stringify({ name: 'Errors', address: '#plain' })
      const save: Recipe = ['/api/endpoints/plain/views', { method: 'POST', headers: json, body, key }]
      await service.fetch(...save)
      return save
    },
    method_not_allowed: () => [logs, { method: 'DELETE' }],
    not_acceptable: () => [logs, { headers: { Accept: 'image/png' } }],
    payload_too_large: () => [logs, { method: 'POST', headers: json, body: 'x'.repeat(262_145) }],
    uri_too_long: () => [`${logs}&x=${'x'.repeat(33_000)}`, {}],
  }

  const codes = Object.keys(errorCodes) as ErrorCode[]

  test.each(codes)('%s has an example that is a problem document', code => {
    const { get } = document.paths['/api/endpoints/query/logs.all']!
    const example = exampleOf(get!, code)
    const ajv = new Ajv2020({ strict: false, validateFormats: false })
    expect(ajv.validate(document.components.schemas['Problem']!, example)).toBe(true)
  })

  test.each(codes.filter(code => code in recipes))('%s is the service’s own answer', async code => {
    const [path, init] = await recipes[code]!(service.issue)
    const { detail, errors, status } = (await (await service.fetch(path, init)).json()) as Documented & {
      status: number
    }
    const { get } = document.paths['/api/endpoints/query/logs.all']!
    const example = exampleOf(get!, code)
    expect({ detail, errors, status }).toEqual({
      detail: example.detail,
      errors: example.errors,
      status: errorCodes[code].status,
    })
  })

  function exampleOf({ responses }: Operation, code: ErrorCode): Documented {
    const content = responses[errorCodes[code].status]?.content?.['application/problem+json']
    return content!.examples![code]!.value
  }
})
