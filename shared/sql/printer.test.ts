import { describe, expect, test } from '@jest/globals'
import * as fc from 'fast-check'
import { corpus } from './testing/corpus.ts'
import { parse } from './parser.ts'
import { print } from './printer.ts'
import { randomQuery } from './testing/random-trees.ts'
import type { AnyNode, Expression, From, Identifier, Query } from './tree.ts'
import { descendants } from './walk.ts'
import { rounds } from '../testing/rounds.ts'

const queries = corpus.flatMap(([, texts]) => texts)
const limits = { bytes: Infinity, tokens: Infinity, selects: Infinity, ctes: Infinity }

/** The tree without offsets. */
function withoutOffsets(query: Query): unknown {
  return JSON.parse(JSON.stringify(query, (key, value: unknown) => (key === 'at' ? undefined : value)))
}

/** The tree without offsets and parentheses, which the printer may add. */
function bare(query: Query): unknown {
  return JSON.parse(
    JSON.stringify(query, (key, value: unknown) => {
      if (key === 'at') return undefined
      let inside = value as Partial<AnyNode> | null
      while (inside?.kind === 'Parenthesized') inside = inside.expression ?? null
      return inside
    }),
  )
}

describe('what is printed', () => {
  test('reads as the same tree, for every query of the corpus', () => {
    for (const sql of queries) {
      const tree = parse(sql)
      expect(withoutOffsets(parse(print(tree)))).toEqual(withoutOffsets(tree))
    }
  })

  test('does not change when it is printed again', () => {
    for (const sql of queries) {
      const text = print(parse(sql))
      expect(print(parse(text))).toBe(text)
    }
  })

  test('reads as the same tree, for trees of any shape', () => {
    fc.assert(
      fc.property(randomQuery, tree => {
        const text = print(tree)
        const again = parse(text, limits)
        expect(bare(again)).toEqual(bare(tree))
        expect(print(again)).toBe(text)
      }),
      { numRuns: rounds(80, 20_000) },
    )
  })

  test('leaves the tree as it was', () => {
    fc.assert(
      fc.property(randomQuery, tree => {
        const before = JSON.stringify(tree)
        print(tree)
        expect(JSON.stringify(tree)).toBe(before)
      }),
      { numRuns: 20 },
    )
  })
})

describe('both kinds of tree have every kind of node', () => {
  const kinds: Record<AnyNode['kind'], true> = {
    ArrayLiteral: true,
    ArraySubquery: true,
    Between: true,
    Binary: true,
    Call: true,
    Case: true,
    CaseBranch: true,
    Cast: true,
    CommonTable: true,
    DerivedTable: true,
    Exists: true,
    Extract: true,
    FieldAccess: true,
    Frame: true,
    FrameBound: true,
    GroupBy: true,
    HavingExtreme: true,
    In: true,
    InList: true,
    InQuery: true,
    InUnnest: true,
    IntervalLiteral: true,
    Is: true,
    IsDistinctFrom: true,
    Join: true,
    JoinInParentheses: true,
    Lambda: true,
    Like: true,
    LikeAny: true,
    Literal: true,
    NamedArgument: true,
    NamedWindow: true,
    OrderItem: true,
    ParameterReference: true,
    Parenthesized: true,
    Path: true,
    Pivot: true,
    Query: true,
    QueryInParentheses: true,
    ScalarSubquery: true,
    Select: true,
    SelectColumn: true,
    SelectStar: true,
    SetOperation: true,
    StructLiteral: true,
    Subscript: true,
    TableReference: true,
    Tuple: true,
    TypedLiteral: true,
    Unary: true,
    UnnestReference: true,
    Unpivot: true,
    UnpivotGroup: true,
    Window: true,
    With: true,
    WithExpression: true,
  }
  const kindsOf = (trees: Query[]) =>
    new Set(trees.flatMap(tree => [...descendants(tree)].map(({ kind }) => kind)))

  test('the corpus', () => {
    expect([...kindsOf(queries.map(sql => parse(sql)))].toSorted()).toEqual(Object.keys(kinds))
  })

  test('random trees, once parentheses are printed', () => {
    const trees = fc.sample(randomQuery, { numRuns: 100, seed: 1 })
    const read = trees.map(tree => parse(print(tree), limits))
    expect([...kindsOf(read)].toSorted()).toEqual(Object.keys(kinds))
  })
})

describe('one text stands for', () => {
  test.each([
    ['any layout, comments and case of keywords', 'select/**/A\nfrom  T -- x', 'SELECT A FROM T'],
    ['both spellings of a join', 'select 1 from a inner join b using(c)', 'SELECT 1 FROM a JOIN b USING (c)'],
    ['an alias with and without AS', 'select 1 a from t b', 'SELECT 1 AS a FROM t AS b'],
    ['a type and its alias', 'select cast(a as integer)', 'SELECT CAST(a AS INT64)'],
    ['a cast to text of PostgreSQL', "select a[0]::text || 'b'", "SELECT CAST(a[0] AS STRING) || 'b'"],
    [
      'its cast to any type',
      'select a::date > b() - @c::int8',
      'SELECT CAST(a AS DATE) > b() - CAST(@c AS INT64)',
    ],
    ['an end with and without ;', 'select 1;', 'SELECT 1'],
    ['a chained call', 'select (a).lower().substr(1)', 'SELECT substr(lower(a), 1)'],
    ['a chained call with clauses', 'select (a).array_agg(order by b)', 'SELECT array_agg(a ORDER BY b)'],
    ['a chained call of a dotted name', 'select f(a).(net.host)()', 'SELECT net.host(f(a))'],
    ['a last comma or none', 'select 1, from t', 'SELECT 1 FROM t'],
  ])('%s', (_what, sql, expected) => {
    expect(print(parse(sql))).toBe(expected)
  })
})

describe('text for tables', () => {
  const table = ({ path }: { path: Identifier[] }) => (path[0]!.name === 'logs' ? '`p.d.t`' : null)

  test.each([
    ['a name keeps its name', 'select logs.a from logs', 'SELECT logs.a FROM `p.d.t` AS logs'],
    ['an alias stays', 'select 1 from logs as l', 'SELECT 1 FROM `p.d.t` AS l'],
    ['a path goes by its last part', 'select 1 from logs.`a.edge`', 'SELECT 1 FROM `p.d.t` AS `edge`'],
    ['what is not replaced is printed as it is', 'select 1 from a.b', 'SELECT 1 FROM a.b'],
    [
      'subqueries and joins are reached',
      'select (select 1 from logs)',
      'SELECT (SELECT 1 FROM `p.d.t` AS logs)',
    ],
  ])('%s', (_what, sql, expected) => {
    expect(print(parse(sql), { table })).toBe(expected)
  })
})

/** `SELECT x` around an expression made by hand. */
function around(expression: object, from: object | null = null): Query {
  const query = parse('select 1')
  if (query.body.kind === 'Select') {
    query.body.items = [{ kind: 'SelectColumn', expression: expression as Expression, alias: null, at: 0 }]
    query.body.from = from as From | null
  }
  return query
}

const one = { kind: 'Literal', literal: 'INTEGER', text: '1', value: '' }
const tableNamed = (name: string) => ({ kind: 'TableReference', path: [{ name, quoted: true }], alias: null })
const comma = { kind: 'Join', type: 'COMMA', left: tableNamed('a'), right: tableNamed('b'), using: [] }

describe('a tree made by hand is refused', () => {
  test.each([
    ['with a literal that closes early', { ...one, literal: 'STRING', text: "'a' or 'b'", value: 'a' }],
    ['with a literal that is not closed', { ...one, literal: 'STRING', text: "'a", value: 'a' }],
    ['with a literal and a comment', { ...one, text: '1 -- ' }],
    ['with a literal of another kind', { ...one, text: "'1'" }],
    ['with a literal that is a name', { ...one, literal: 'NULL', text: 'secret' }],
    ['with an empty literal', { ...one, text: '' }],
    ['with a signed number', { ...one, text: '-1' }],
    ['with a value that its text does not have', { ...one, literal: 'STRING', text: "'a'", value: 'b' }],
    ['with a backtick in a name', { kind: 'Path', parts: [{ name: 'a`b', quoted: true }] }],
    ['with a backslash in a name', { kind: 'Path', parts: [{ name: 'a\\', quoted: false }] }],
    ['with a line break in a name', { kind: 'Path', parts: [{ name: 'a\nb', quoted: true }] }],
    ['with an empty name', { kind: 'Path', parts: [{ name: '', quoted: false }] }],
    ['with half a character in a name', { kind: 'Path', parts: [{ name: '\ud800', quoted: true }] }],
    ['with a path of no names', { kind: 'Path', parts: [] }],
    ['with an odd parameter', { kind: 'ParameterReference', name: 'a, secret' }],
    ['with an odd part of time', { kind: 'IntervalLiteral', value: one, part: 'DAY, x', to: null }],
    ['with an odd size', { kind: 'Cast', operand: one, type: { kind: 'STRING', size: [-1] }, format: null }],
    ['with an unknown node', { kind: 'SystemVariable', name: 'x' }],
  ])('%s', (_what, expression) => {
    expect(() => print(around(expression))).toThrow()
  })

  test.each([
    ['with a comma to the right of a join', { ...comma, type: 'CROSS', right: comma }],
    ['with a comma to the right of a comma', { ...comma, right: comma }],
    ['with a comma in parentheses', { kind: 'JoinInParentheses', join: comma }],
    ['with a comma before a RIGHT JOIN', { ...comma, type: 'RIGHT', left: comma }],
  ])('%s', (_what, from) => {
    expect(() => print(around(one, from))).toThrow('comma')
  })

  test('with an OFFSET and no LIMIT', () => {
    expect(() => print({ ...parse('select 1 limit 1 offset 1'), limit: null })).toThrow(
      'OFFSET needs a LIMIT',
    )
  })
})
