import { describe, expect, test } from '@jest/globals'
import { parse } from '../sql/parser.ts'
import { tableQueries, tablesOfEndpoint } from './offered-tables.ts'
import { endpoint, logs } from './testing/endpoints.ts'

describe('the queries for the columns of each table', () => {
  test('name each table of the endpoint in its order', () => {
    expect(tableQueries(logs).map(({ name }) => name)).toEqual([
      'edge_logs',
      'postgres_logs',
      'function_edge_logs',
      'function_logs',
      'auth_logs',
      'realtime_logs',
      'storage_logs',
      'postgrest_logs',
      'pgbouncer_logs',
    ])
  })

  test('hold what a table needs and nothing else', () => {
    const some = endpoint('WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM A), c AS (SELECT 2 AS y) SELECT 1')
    expect(tableQueries(some).map(({ sql }) => sql)).toEqual([
      'WITH a AS (SELECT 1 AS x) (SELECT * FROM `a`)',
      'WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM A) (SELECT * FROM `b`)',
      'WITH c AS (SELECT 2 AS y) (SELECT * FROM `c`)',
    ])
  })

  test('are queries', () => {
    for (const { sql } of tableQueries(logs)) expect(() => parse(sql)).not.toThrow()
  })
})

describe('the tables of an endpoint', () => {
  test('are read once for one text', () => {
    expect(tablesOfEndpoint(logs)).toBe(tablesOfEndpoint({ sql: logs.sql }))
  })

  test('do not include those of its final query', () => {
    const own = endpoint(
      'WITH a AS (SELECT 1 AS x) SELECT 1 FROM (WITH b AS (SELECT 2 AS y) SELECT y FROM b), p.d.t',
    )
    expect([...tablesOfEndpoint(own).byKey.keys()]).toEqual(['a'])
    expect(tablesOfEndpoint(own).real).toEqual([])
  })

  test('a table whose name comes later is a real one', () => {
    const own = endpoint('WITH a AS (SELECT x FROM b), b AS (SELECT 1 AS x) SELECT x FROM a')
    expect(tablesOfEndpoint(own).real.map(({ path }) => path[0]!.name)).toEqual(['b'])
    expect(tableQueries(own)[0]!.sql).toBe('WITH a AS (SELECT x FROM b) (SELECT * FROM `a`)')
  })

  test('all come along where the WITH is recursive, since each may read each', () => {
    const own = endpoint('WITH RECURSIVE a AS (SELECT x FROM b), b AS (SELECT 1 AS x) SELECT x FROM a')
    expect(tableQueries(own)[0]!.sql).toMatch(/^WITH RECURSIVE a AS .*, b AS .* \(SELECT \* FROM `a`\)$/)
  })
})
