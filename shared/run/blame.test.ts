import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { EngineError } from '../engines/engine.ts'
import { ApiError } from '../errors.ts'
import { SqlError } from '../sql/error.ts'
import { blame, risksOf } from './blame.ts'

const everything = ['column', 'pattern', 'value']
const risks = (sql: string) => [...(risksOf(sql).get('p') ?? [])].sort()

describe('a parameter', () => {
  test.each([
    'SELECT 1 FROM t WHERE a = @p',
    'SELECT 1 FROM t WHERE a IN (@p, 1) AND b BETWEEN @p AND 2 OR NOT c IS DISTINCT FROM @p',
    'SELECT 1 FROM t WHERE a > COALESCE(@p, TIMESTAMP "2026-01-01")',
    'SELECT COUNTIF(a = @p), SUM(CASE @p WHEN "a" THEN 1 END) FROM t',
    'SELECT CAST(IF(a = @p, b, c) AS INT64) FROM t',
    'SELECT 1 FROM t WHERE STARTS_WITH(a, @p) AND SAFE_CAST(@p AS INT64) = 1 AND SAFE.PARSE_DATE("%F", @p) = b',
  ])('that is only compared cannot fail: %s', sql => {
    expect(risks(sql)).toEqual([])
  })

  test.each([
    ['SELECT 1 FROM t WHERE REGEXP_CONTAINS(a, @p)', ['pattern']],
    ['SELECT COUNTIF(REGEXP_CONTAINS(a, CONCAT("^", @p))) FROM t', ['pattern', 'value']],
    ['SELECT COUNTIF(REGEXP_CONTAINS(a, @p)) FROM t', ['pattern']],
    ['SELECT 1 FROM t WHERE REGEXP_EXTRACT(a, @p) = "x"', ['pattern', 'value']],
    ['SELECT 1 FROM t WHERE CAST(@p AS INT64) = a', ['value']],
    ['SELECT 1 FROM t WHERE a / @p > 1', ['value']],
    ['SELECT 1 FROM t WHERE a LIKE @p', ['value']],
    ['SELECT 1 FROM t WHERE a = TIMESTAMP_SUB(b, INTERVAL @p DAY)', ['value']],
    ['SELECT a FROM t LIMIT @p', ['value']],
    ['WITH s AS (SELECT @p AS q) SELECT 1 FROM t, s WHERE REGEXP_CONTAINS(t.a, s.q)', everything],
    ['SELECT 1 FROM t WHERE a = (SELECT CAST(x AS INT64) FROM UNNEST([@p]) AS x)', everything],
    ['SELECT CAST(@p AS INT64) AS a FROM t', everything],
  ])('can fail as it is used: %s', (sql, expected) => {
    expect(risks(sql)).toEqual(expected)
  })

  test('of the endpoints that ship cannot fail, but for the regular expression', () => {
    const shipped = ['logs.all', 'usage.api-counts'].map(name => readFileSync(`queries/${name}.sql`, 'utf8'))
    const found = shipped.flatMap(sql => [...risksOf(sql)].map(([name, risks]) => [name, [...risks]]))
    expect(Object.fromEntries(found)).toMatchObject({
      iso_timestamp_start: [],
      iso_timestamp_end: [],
      interval: [],
      project: ['pattern'],
    })
  })
})

describe('a refusal of the engine', () => {
  const sql = 'WITH logs AS (SELECT id FROM `app.logs` WHERE REGEXP_CONTAINS(id, @p)) SELECT id FROM logs'
  const endpoint = { name: 'e', sql }
  const own = { endpoint, statement: { sql, bindings: [] }, sql: null }
  const pattern = new ApiError('invalid_query', 'Bad regular expression: missing )')
  const value = new ApiError('invalid_query', 'A value cannot be converted to the type asked for')
  const large = new ApiError('result_too_large', 'Ask for less.')
  const at = (line: number, column: number) =>
    new ApiError('invalid_query', 'Table not found', {
      problems: [{ parameter: 'sql', line, column, detail: '' }],
    })
  const casts = 'SELECT id FROM t WHERE CAST(@p AS INT64) = CAST(id AS INT64)'
  const cast = { endpoint: { name: 'e', sql: casts }, statement: { sql: casts, bindings: [] }, sql: null }
  const columns = 'WITH s AS (SELECT @p AS q) SELECT id FROM t, s WHERE CAST(q AS INT64) = 1'
  const column = {
    endpoint: { name: 'e', sql: columns },
    statement: { sql: columns, bindings: [] },
    sql: null,
  }
  const text = new ApiError('invalid_query', 'Function not found', {
    problems: [{ parameter: 'sql', line: 1, column: casts.indexOf('CAST(@p') + 1, detail: '' }],
    cause: new EngineError('rejected', 'Function not found', {
      cause: new SqlError('Function not found', { line: 1, column: 1 }),
    }),
  })
  const mine = 'SELECT id FROM logs'
  const composed = `WITH logs AS (SELECT id FROM \`app.logs\`) (${mine})`
  const callers = { endpoint, statement: { sql: composed, bindings: [] }, sql: mine }

  test.each([
    ['a pattern that the caller sent', pattern, { ...own, sent: ['p'] }, 'invalid_query'],
    ['a pattern of the definition or the key', pattern, { ...own, sent: [] }, 'internal'],
    ['a value that no parameter can be', value, { ...own, sent: ['p'] }, 'internal'],
    ['the endpoint’s own text', at(1, 30), { ...own, sent: ['p'] }, 'internal'],
    [
      'a part with a value that was sent',
      at(1, casts.indexOf('CAST(@p') + 1),
      { ...cast, sent: ['p'] },
      'invalid_query',
    ],
    ['another part', at(1, casts.indexOf('CAST(id') + 1), { ...cast, sent: ['p'] }, 'internal'],
    [
      'a part that reads a value as a column',
      at(1, columns.indexOf('CAST(q') + 1),
      { ...column, sent: ['p'] },
      'invalid_query',
    ],
    ['text that no value makes right', text, { ...cast, sent: ['p'] }, 'internal'],
    ['too large a result of what the caller asked for', large, { ...own, sent: ['p'] }, 'result_too_large'],
    ['too large a result of what no parameter narrows', large, { ...own, sent: [] }, 'internal'],
    ['a value in a caller’s SQL', value, { ...callers, sent: [] }, 'invalid_query'],
    [
      'a place in a caller’s SQL',
      at(1, composed.indexOf(mine) + 8),
      { ...callers, sent: [] },
      'invalid_query',
    ],
    ['a place in the endpoint’s tables', at(1, 30), { ...callers, sent: [] }, 'internal'],
  ])('for %s', (_, error, asked, code) => {
    const blamed = blame(error, asked)
    expect(blamed.code).toBe(code)
    expect(blame(blamed, asked)).toBe(blamed)
  })

  test('that is the operator’s gives its words to the log alone', () => {
    const { message, problems, cause } = blame(at(1, 30), { ...own, sent: [] })
    expect(`${message} ${JSON.stringify(problems)}`).not.toMatch(/Table|app/)
    expect(cause).toMatchObject({
      reason: 'misconfigured',
      message: 'e: its own query fails: Table not found',
    })
  })
})
