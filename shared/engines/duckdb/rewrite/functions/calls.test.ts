import { expect, test } from '@jest/globals'
import { SqlError } from '../../../../sql/error.ts'
import { functions } from '../../../../sql/functions.ts'
import type { Column } from '../../../../sql/types.ts'
import { questionsOf, subjects } from '../../../testing/reference/corpus.ts'
import { tables } from '../../../testing/reference/tables.ts'
import { UnsupportedError } from '../context.ts'
import { rewrite } from '../rewrite.ts'
import { rules } from './calls.ts'

const values = [`'a'`, '1', 'NULL', `['a', NULL]`, 'STRUCT(1 AS a)', `TIMESTAMP '2026-01-01'`]

/** Lists of up to four arguments, of one kind each, and of two kinds by turns. */
const argumentLists = ['', '*', ...[1, 2, 3, 4].flatMap(listsOf)]

function listsOf(count: number): string[] {
  const lists = values.flatMap(one =>
    values.map(other => Array.from({ length: count }, (_, at) => (at % 2 ? other : one)).join(', ')),
  )
  return [...new Set(lists)]
}

test.each(Object.keys(rules))('%s takes or refuses any arguments, and fails at none', name => {
  for (const list of argumentLists)
    try {
      rewrite(`SELECT ${name}(${list}) AS x`, new Map(), new Map())
    } catch (error) {
      if (!(error instanceof SqlError)) throw new Error(`${name}(${list})`, { cause: error })
    }
})

test('every rule is that of a signature', () => {
  const more = Object.entries(rules).filter(
    ([name, rule]) =>
      [rule].flat().length > (functions.get(name.replace('SAFE.', ''))?.signatures.length ?? 0),
  )
  expect(more.map(([name]) => name)).toEqual([])
})

test.each([
  ['CORR(1, 2) OVER ()', 'CORR'],
  ['COVAR_SAMP(DISTINCT 1, 2) OVER ()', 'COVAR_SAMP'],
  [`SAFE.EDIT_DISTANCE('a', 'b', max_distance => 2)`, 'EDIT_DISTANCE'],
  [`SOUNDEX('a')`, 'SOUNDEX'],
  [`NET.IP_TRUNC(b'a', 1)`, 'NET.IP_TRUNC'],
  [`NET.SAFE_IP_FROM_STRING('a')`, 'NET.SAFE_IP_FROM_STRING'],
  ['NET.IPV4_FROM_INT64(1)', 'NET.IPV4_FROM_INT64'],
  [`b'a' & b'b'`, 'operator & of BYTES'],
  [`b'a' << 1`, 'operator << of BYTES'],
  [`~b'a'`, 'operator ~ of BYTES'],
])('%s is said to run on BigQuery alone', (sql, what) => {
  const run = () => rewrite(`SELECT ${sql} AS x`, new Map(), new Map())
  expect(run).toThrow(UnsupportedError)
  expect(run).toThrow(`${what} is not supported by the local engine: only BigQuery runs it`)
})

/**
 * DuckDB 1.5.5 leaves memory unwritten where an error is raised in a COALESCE inside TRY: rows get the values of others, or the
 * process dies (`SELECT TRY(COALESCE(TRY_CAST(s AS BIGINT), CAST('x' || s AS BIGINT)))`, some hundred times).
 */
test('under SAFE nothing is raised in a COALESCE', () => {
  const known = new Map(Object.entries(tables).map(([name, { columns }]) => [name, columns]))
  let tried = 0
  for (const { sql, grid } of subjects.flatMap(questionsOf).filter(({ sql }) => sql.includes('SAFE')))
    for (const attempt of within('TRY', printed(grid ? `SELECT ${sql} FROM ${grid}` : sql, known))) {
      tried++
      expect([sql, ...within('COALESCE', attempt).filter(raises)]).toEqual([sql])
    }
  expect(tried).toBeGreaterThan(200)
})

function printed(sql: string, known: ReadonlyMap<string, Column[]>): string {
  try {
    return rewrite(sql, known, new Map()).sql
  } catch (error) {
    if (error instanceof SqlError) return ''
    throw error
  }
}

/** What stands in the parentheses of each call of a name. */
function within(name: string, sql: string): string[] {
  return [...sql.matchAll(new RegExp(`\\b${name}\\(`, 'g'))].map(({ index, 0: begin }) => {
    let depth = 1
    let end = index + begin.length
    for (; depth > 0; end++) depth += sql[end] === '(' ? 1 : sql[end] === ')' ? -1 : 0
    return sql.slice(index + begin.length, end - 1)
  })
}

/** By `raise` (`context.ts`), or by a function of ours. */
function raises(sql: string): boolean {
  return /\bCAST\('[A-Z]|\bgsql_|\berror\(/.test(sql)
}
