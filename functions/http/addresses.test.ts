import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { startService, type TestService } from '../testing/service.ts'
import { addresses, finderOf, gatewayPath, pathsOf } from './addresses.ts'

const find = finderOf(addresses)
const paths = addresses.flatMap(address => pathsOf(address).map(path => [path, address] as const))
const filled = (path: string) =>
  path.replace('{ref}', 'default').replace('{name}', 'logs.all').replace('{view}', 'a1')

describe('a path', () => {
  test.each(paths)(
    '%s leads to its address, also with a slash behind it and behind the gateway',
    (path, address) => {
      const found = {
        address,
        name: path.includes('{name}') ? 'logs.all' : '',
        ref: path.includes('{ref}') ? 'default' : null,
        view: path.includes('{view}') ? 'a1' : null,
      }
      const sent = filled(path)
      for (const each of [sent, sent === '/' ? sent : `${sent}/`, gatewayPath + sent])
        expect(find(each)).toEqual(found)
    },
  )

  test.each([
    '',
    '/api',
    '/api/endpoints/query//',
    '/api/endpoints//tables',
    '/api/endpoints/query/a/b',
    '//',
    '/{name}',
  ])('%j leads nowhere', path => expect(find(path)).toBeNull())

  test('may name an endpoint by a word that other addresses have', () =>
    expect(find('/api/endpoints/query/name')).toMatchObject({ name: 'name', ref: null }))
})

describe('an address', () => {
  let service: TestService
  beforeAll(async () => {
    const [issuer, scopes] = ['https://id.example.com', { read: ['logs.all'] }]
    const agents = { name: 'agents', issuer, jwks: issuer, audience: 'logs', pins: {}, scopes }
    service = await startService({ tables: {}, env: { JWT_ISSUERS: JSON.stringify([agents]) } })
  })
  afterAll(() => service.stop())

  const served = paths.filter(([, { handler }]) => handler !== 'page' && handler !== 'file')

  test.each(served)('%s takes a key exactly where the table says so', async (path, { key, methods }) => {
    const { status } = await service.fetch(filled(path), { key: null, method: methods[0]! })
    expect(status).toBe(key ? 401 : 200)
  })

  test.each(served)('%s takes the methods of the table, and no other', async (path, { methods }) => {
    const refused = await service.fetch(filled(path), { method: 'PATCH' })
    const both = methods.flatMap(method => (method === 'GET' ? ['GET', 'HEAD'] : method))
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, [...both, 'OPTIONS'].join(', ')])
    expect((await service.fetch(filled(path), { method: 'OPTIONS', key: null })).status).toBe(204)
  })
})
