/** An agent without a key: it finds the authorization server, signs in, and calls what its scopes open. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { addIssuer, issuerIn } from '../../shared/keys/issuers.ts'
import { startService, type TestService } from '../testing/service.ts'
import { browse, startAuthorizationServer } from './testing/authorization-server.ts'

const callback = 'http://127.0.0.1/callback'
const project = 'abcdefghijklmnopqrst'
const wellKnown = '/.well-known/oauth-protected-resource'
let server: Awaited<ReturnType<typeof startAuthorizationServer>>
let service: TestService
let folder: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'oauth-'))
  cpSync('queries', folder, { recursive: true })
  server = await startAuthorizationServer(['logs:read', 'usage:read'], { app_metadata: { project } })
  const rows = [project, 'other'].map(ref => ({
    timestamp: '2026-01-31T12:00:00Z',
    project: ref,
    event_message: `of ${ref}`,
  }))
  service = await startService({
    tables: { 'cloudflare.logs.prod': rows },
    queries: folder,
    env: { FROZEN_NOW: '2026-01-31T12:00:30Z', REMEMBER_MS: '1' },
  })
})

afterAll(async () => {
  await Promise.all([service.stop(), server.stop()])
  rmSync(folder, { recursive: true })
})

const post = (headers = {}) =>
  service.fetch('/mcp', {
    key: null,
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      ...headers,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  })
const challengeOf = (response: Response) => response.headers.get('www-authenticate')

test('without an issuer that has scopes, there is no authorization server', async () => {
  expect(challengeOf(await post())).toBe('Bearer realm="log-query-endpoints"')
  expect((await service.fetch(wellKnown, { key: null })).status).toBe(404)
})

describe('with an issuer that has scopes', () => {
  beforeAll(async () => {
    const issuer = issuerIn({
      name: 'agents',
      issuer: server.issuer,
      jwks: `${server.issuer}/jwks`,
      audience: `${service.url}/mcp`,
      pins: { project: '$.app_metadata.project' },
      scopes: { 'logs:read': ['logs.all'], 'usage:read': ['usage.api-counts'] },
    })
    await addIssuer(service.services.store, issuer)
  })

  test('a call without a key or a token is told where it learns of it', async () => {
    const response = await post()
    expect(response.status).toBe(401)
    const address = `${service.url}${wellKnown}/mcp`
    expect(challengeOf(response)).toBe(`Bearer realm="log-query-endpoints", resource_metadata="${address}"`)
    for (const url of [address, service.url + wellKnown]) {
      const document = await fetch(url)
      expect(document.headers.get('access-control-allow-origin')).toBe('*')
      expect(await document.json()).toEqual({
        resource: `${service.url}/mcp`,
        resource_name: 'Log query endpoints',
        authorization_servers: [server.issuer],
        scopes_supported: ['logs:read', 'usage:read'],
        bearer_methods_supported: ['header'],
      })
    }
    const bad = await post({ Authorization: 'Bearer a.b.c' })
    expect(challengeOf(bad)).toMatch(/error="invalid_token".*resource_metadata="/)
    expect(challengeOf(await service.fetch('/api/endpoints', { key: null }))).not.toContain(
      'resource_metadata',
    )
  })

  test('the address is that of a gateway or the setting, where the service is behind one', async () => {
    const resource = async (path: string, headers = {}, url = service.url) =>
      ((await (await fetch(url + path, { headers })).json()) as { resource: string }).resource
    expect(await resource(`/analytics/v1${wellKnown}`)).toBe(`${service.url}/analytics/v1/mcp`)
    expect(await resource(wellKnown, { 'X-Forwarded-Proto': 'https' })).toBe(
      `${service.url.replace('http', 'https')}/mcp`,
    )
    const other = await startService({
      tables: {},
      queries: folder,
      env: {
        PUBLIC_URL: 'https://api.example.com/query',
        JWT_ISSUERS: JSON.stringify([
          {
            name: 'a',
            issuer: 'b',
            jwks: 'http://localhost/',
            audience: 'c',
            pins: {},
            scopes: { s: ['logs.all'] },
          },
        ]),
      },
    })
    expect(await resource(wellKnown, {}, other.url)).toBe('https://api.example.com/query/mcp')
    await other.stop()
  })

  test('the official client signs in, calls, and asks for another scope where one is missing', async () => {
    const agent = agentOf()
    server.agrees = ['logs:read']
    await expect(agent.connect()).rejects.toThrow(UnauthorizedError)
    const client = await agent.finish()
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toContain('logs_all')
    expect(tools.map(({ name }) => name)).not.toContain('usage_api-counts')
    const { content } = await client.callTool({ name: 'logs_all', arguments: {} })
    expect(JSON.stringify(content)).toContain(`of ${project}`)
    expect(JSON.stringify(content)).not.toContain('of other')

    server.agrees = ['logs:read', 'usage:read']
    const usage = { name: 'usage_api-counts', arguments: { interval: 'hourly' } }
    await expect(client.callTool(usage)).rejects.toThrow(UnauthorizedError)
    expect(agent.asked.at(-1)!.searchParams.get('scope')).toContain('usage:read')
    await agent.finish(client)
    expect((await client.callTool(usage)).isError).not.toBe(true)
    await client.close()
    const lines = service.logged.filter(({ details }) => details['key'] === 'agents')
    expect(new Set(lines.map(({ details }) => details['error']))).toEqual(
      new Set([undefined, 'insufficient_scope']),
    )
  })

  test('a token that opens nothing gets 403 with every scope, and a tool that none opens is unknown', async () => {
    const agent = agentOf()
    server.agrees = []
    await expect(agent.connect()).rejects.toThrow(UnauthorizedError)
    await agent.transport.finishAuth(await agent.code())
    const response = await post({ Authorization: `Bearer ${agent.token()}` })
    expect(response.status).toBe(403)
    expect(challengeOf(response)).toMatch(
      /error="insufficient_scope", scope="logs:read usage:read", resource_metadata="/,
    )
  })

  test('a key is a key as before', async () => {
    expect((await post({ 'X-API-KEY': service.key })).status).toBe(200)
  })
})

/** An agent as its library has it: what it keeps, and the browser that it opens. */
function agentOf() {
  const kept: { client?: object; tokens?: { access_token: string }; verifier?: string } = {}
  const asked: URL[] = []
  const provider: OAuthClientProvider = {
    redirectUrl: callback,
    clientMetadata: {
      client_name: 'agent',
      redirect_uris: [callback],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
    },
    clientInformation: () => kept.client as never,
    saveClientInformation: client => void (kept.client = client),
    tokens: () => kept.tokens as never,
    saveTokens: tokens => void (kept.tokens = tokens),
    redirectToAuthorization: url => void asked.push(url),
    saveCodeVerifier: verifier => void (kept.verifier = verifier),
    codeVerifier: () => kept.verifier!,
  }
  const made = () =>
    new StreamableHTTPClientTransport(new URL(`${service.url}/mcp`), { authProvider: provider })
  let transport = made()
  const code = async () => (await browse(asked.at(-1)!, callback)).searchParams
  const connect = async () => {
    const client = new Client({ name: 'agent', version: '1' })
    await client.connect(transport)
    return client
  }
  return {
    asked,
    get transport() {
      return transport
    },
    connect,
    code,
    token: () => kept.tokens!.access_token,
    /** Signs in, and goes on with the connection, or with a new one. */
    async finish(client?: Client): Promise<Client> {
      await transport.finishAuth(await code())
      if (client) return client
      transport = made()
      return connect()
    },
  }
}
