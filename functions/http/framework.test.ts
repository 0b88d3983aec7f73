import domain from 'node:domain'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, expect, jest, test } from '@jest/globals'
import { http } from '@google-cloud/functions-framework'
import { getTestServer } from '@google-cloud/functions-framework/testing'
import { withoutDomains } from './domain.ts'

const create = domain.create

/** Node's own: another test of this process may have put the guard there. */
beforeEach(() => {
  domain.create = () => new domain.Domain()
})

afterAll(() => {
  domain.create = create
})

/** What the framework's handling of one request sees as its domain. */
async function domainOfRequest(name: string): Promise<unknown> {
  let seen: unknown
  http(name, (_, res) => {
    seen = (domain as { active?: unknown }).active
    res.end()
  })
  const server = getTestServer(name)
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  } finally {
    server.closeAllConnections()
    server.close()
  }
  return seen
}

test('the framework makes a domain for each request; if it no longer does, the guard can go', async () => {
  const made = jest.spyOn(domain, 'create')
  expect(await domainOfRequest('with')).toBeInstanceOf(domain.Domain)
  expect(made).toHaveBeenCalledTimes(1)
})

test('with the guard a request runs in none', async () => {
  withoutDomains()
  expect(await domainOfRequest('without')).toBeFalsy()
})
