import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { corpus } from './testing/corpus.ts'
import { SqlError } from './error.ts'
import { defaultLimits } from './limits.ts'
import { parse } from './parser.ts'
import { print } from './printer.ts'
import { tablesOf } from './tables.ts'
import { tokenize } from './tokens.ts'
import type { Query } from './tree.ts'
import { descendants } from './walk.ts'
import { rounds } from '../testing/rounds.ts'
import { anyCharacter } from '../testing/characters.ts'

/** The tree or the SqlError; any other error is thrown. */
function read(sql: string): Query | SqlError {
  try {
    return parse(sql)
  } catch (error) {
    if (error instanceof SqlError) return error
    throw error
  }
}

function messageOf(sql: string): string {
  const result = read(sql)
  return result instanceof SqlError ? result.message : 'accepted'
}

/** An accepted text can be walked, printed and parsed again. */
function checkWhole(sql: string): void {
  const result = read(sql)
  if (result instanceof SqlError) return
  const text = print(result)
  expect(print(parse(text, { bytes: Infinity }))).toBe(text)
  expect([...descendants(result)].length).toBeGreaterThan(tablesOf(result).length)
}

const times = (text: string, count: number) => text.repeat(count)
const chain = (part: string, link: string, links: number) => part + times(link + part, links)

describe('a limit is reached, and one more is refused', () => {
  const { bytes, tokens, nesting, links, selects, sources, ctes, columns } = defaultLimits
  const parentheses = (count: number) => `select ${times('(', count)}1${times(')', count)}`
  const unions = (count: number) =>
    times('(', 2) + chain('select 1', ' union all ', count - 1) + times(')', 2)
  const common = (count: number) =>
    `with ${Array.from({ length: count }, (_, i) => `c${i} as (select 1)`).join(', ')} select 1`

  test.each([
    ['bytes', (n: number) => `select '${times('é', (n - 10) / 2)}' `, bytes, 'bytes'],
    ['tokens', (n: number) => `select [${times('1,', n / 2 - 2)}1]`, tokens, 'tokens'],
    ['nesting', (n: number) => parentheses(n - 2), nesting, 'levels deep'],
    ['links of operators', (n: number) => `select ${chain('1', '+', n)}`, links, 'links'],
    ['links of logic', (n: number) => `select ${chain('a', ' or ', n)}`, links, 'links'],
    ['links of fields', (n: number) => `select ${chain('a', '.', n)}`, links, 'links'],
    ['links of subscripts', (n: number) => `select a${times('[0]', n)}`, links, 'links'],
    ['links of joins', (n: number) => `select 1 from ${chain('a', ' cross join ', n)}`, links, 'links'],
    ['links of commas', (n: number) => `select 1 from ${chain('a', ',', n)}`, links, 'links'],
    ['SELECTs', unions, selects, 'SELECTs'],
    [
      'items of FROM',
      (n: number) =>
        `select ${chain('exists (select 1 from a, a b, a c, unnest(d))', ' or ', Math.ceil(n / 4) - 1)}`,
      sources,
      'in FROM',
    ],
    ['common tables', common, ctes, 'common tables'],
    ['columns', (n: number) => `select ${times('1,', n - 1)}1`, columns, 'columns'],
    [
      'columns of USING',
      (n: number) => `select 1 from a join b using (${times('c,', n - 1)}c)`,
      columns,
      'columns',
    ],
    [
      'columns of PIVOT',
      (n: number) => `select 1 from a pivot(sum(b) for c in (${times('1,', n - 1)}1))`,
      columns,
      'columns',
    ],
    ['names of WITH', (n: number) => `select with(${times('a as 1,', n + 1)} a)`, links, 'links'],
  ])('%s', (_what, make, limit, message) => {
    expect(messageOf(make(limit))).toBe('accepted')
    expect(messageOf(make(limit + 2))).toContain(message)
  })

  test('chains inside chains are refused before they make a tree too high to walk', () => {
    const sum = (inside: string) => `(${inside}${times('+1', 300)})`
    expect(messageOf(`select ${sum(sum(sum('1')))}`)).toBe('accepted')
    expect(messageOf(`select ${sum(sum(sum(sum('1'))))}`)).toContain('too deep')
    checkWhole(`select ${sum(sum(sum('1')))}`)
  })

  test('limits may be raised', () => {
    const sql = `select '${times('a', 100_000)}'`
    expect(messageOf(sql)).toContain('longer than 65536 bytes')
    expect(parse(sql, { bytes: 200_000 }).kind).toBe('Query')
  })
})

describe('hostile text is refused and does no harm', () => {
  test.each([
    ['open parentheses', times('(', 60_000)],
    ['open parentheses in an expression', `select ${times('(', 60_000)}`],
    ['closed parentheses', `select ${times(')', 60_000)}`],
    ['open brackets', `select ${times('[', 60_000)}`],
    ['minus signs', `select ${times('- ', 30_000)}1`],
    ['NOTs', `select ${times('not ', 15_000)}1`],
    ['CASEs', `select ${times('case ', 12_000)}`],
    ['INTERVALs', `select ${times('interval ', 7_000)}`],
    ['nested types', `select cast(1 as ${times('array<', 10_000)}`],
    ['nested structs', `select cast(1 as ${times('struct<a ', 7_000)}`],
    ['nested calls', `select ${times('f(', 30_000)}`],
    ['nested lambdas', `select f(${times('x->', 20_000)}`],
    ['nested subqueries', times('select (', 8_000)],
    ['nested WITHs', times('with a as (', 5_000)],
    ['nested joins', `select 1 from ${times('(a join ', 8_000)}`],
    ['nested EXISTS', times('select exists(', 4_000)],
    ['a chain of 10,000 terms', `select ${chain('1', '+', 10_000)}`],
    ['a chain of 10,000 ANDs', `select ${chain('a', ' and ', 10_000)}`],
    ['a chain of 3,000 unions', chain('select 1', ' union all ', 3_000)],
    ['open comments', times('/*', 30_000)],
    ['quotes', times("'", 60_001)],
    ['triple quotes', times("'''", 20_001)],
    ['backticks', times('`', 60_001)],
    ['backslashes in a string', `select '${times('\\', 60_001)}`],
    ['dashes', times('a-', 30_000)],
    ['dashes in a table', `select 1 from ${times('a-', 30_000)}`],
    ['dots', `select a${times('.', 60_000)}`],
    ['digits', `select ${times('1', 60_000)}a`],
    ['spaces', times(' ', 65_000)],
    ['line breaks', times('\r\n', 30_000)],
    ['a NUL', 'select \0'],
  ])('%s', (_what, sql) => {
    expect(read(sql)).toBeInstanceOf(SqlError)
  })

  test('long texts that are queries are read', () => {
    checkWhole(`select ${times('1, ', 15_000)}1`)
    checkWhole(`select [${times('1,', 15_000)}1]`)
    checkWhole(`select ${times('9', 60_000)}`)
    checkWhole(`select a in (${times("'x',", 10_000)}'x')`)
    checkWhole(`select case ${times('when a then b ', 4_000)}end`)
  })
})

describe('every text gives a tree or an SqlError', () => {
  const pieces = [
    ...new Set(
      corpus
        .flatMap(([, queries]) => queries)
        .flatMap(sql => tokenize(sql))
        .map(({ text }) => text),
    ),
  ]
  const queries = corpus.flatMap(([, texts]) => texts)

  test('random characters', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCharacter }), sql => {
        checkWhole(sql)
        checkWhole(`select ${sql}`)
      }),
      { numRuns: rounds(150, 20_000) },
    )
  })

  test('random tokens', () => {
    const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 30 })
    fc.assert(
      fc.property(soup, words => checkWhole(`select ${words.join(' ')}`)),
      { numRuns: rounds(150, 20_000) },
    )
  })

  test('queries with a piece cut out, doubled or put elsewhere', () => {
    const edit = fc.tuple(
      fc.constantFrom(...queries),
      fc.constantFrom(...queries),
      fc.nat(80),
      fc.nat(20),
      fc.nat(80),
    )
    fc.assert(
      fc.property(edit, ([sql, other, from, length, to]) => {
        checkWhole(sql.slice(0, from) + sql.slice(from + length))
        checkWhole(sql.slice(0, from) + other.slice(to, to + length) + sql.slice(from))
      }),
      { numRuns: rounds(150, 20_000) },
    )
  })
})
