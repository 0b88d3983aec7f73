/** The last check of a statement stands where the resolver is wrong, by which the rules judge a query. */
import { beforeAll, expect, jest, test } from '@jest/globals'
import type { Resolution } from '../sql/resolve/resolution.ts'
import * as right from '../sql/resolve/resolve.ts'
import { endpoint } from './testing/endpoints.ts'

const shop = endpoint('WITH refunds AS (SELECT id FROM p.d.refunds) SELECT id FROM refunds')

/** It takes every name in FROM but the endpoint's for that of a common table. */
function resolve(...given: Parameters<typeof right.resolve>): Resolution {
  const resolution = right.resolve(...given)
  const tables = new Map(resolution.tables)
  for (const node of tables.keys()) if (node.path[0]!.name !== 'refunds') tables.set(node, 'common')
  return { ...resolution, tables }
}

let sandboxed: typeof import('./sandbox.ts')

beforeAll(async () => {
  jest.unstable_mockModule('../sql/resolve/resolve.ts', () => ({ resolve }))
  sandboxed = await import('./sandbox.ts')
})

test.each([
  'SELECT s FROM secret',
  'SELECT id FROM refunds, secret',
  'WITH a AS (SELECT s FROM secret), secret AS (SELECT 1 AS s) SELECT s FROM a',
  'SELECT (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret) AS s FROM refunds AS r, secret',
  'WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n FROM a) SELECT a.n FROM a, refunds, secret',
])('a table that the rules take for a common table is not read: %s', sql => {
  expect(() => sandboxed.sandbox(shop, sql)).toThrow(
    expect.objectContaining({
      code: 'internal',
      cause: new Error('the printed statement reads a table outside'),
    }),
  )
})

test('a common table is read', () => {
  const sql = 'WITH a AS (SELECT id FROM refunds) SELECT id FROM a'
  expect(sandboxed.sandbox(shop, sql).tables).toEqual(['refunds'])
})
