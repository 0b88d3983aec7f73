import { describe, expect, test } from '@jest/globals'
import { corpus } from './testing/corpus.ts'
import { parse } from './parser.ts'
import type { AnyNode, Expression, From, Select } from './tree.ts'
import { children, descendants } from './walk.ts'

function selectOf(sql: string): Select {
  const { body } = parse(sql)
  if (body.kind !== 'Select') throw new Error(`${sql} is not a plain SELECT`)
  return body
}

function fromOf(text: string): From {
  return selectOf(`select 1 from ${text}`).from!
}

function expressionOf(text: string): Expression {
  const [item] = selectOf(`select ${text}`).items
  if (item?.kind !== 'SelectColumn') throw new Error(`${text} is not an expression`)
  return item.expression
}

/** What holds what: `(+ a (* b c))`. */
function shape(node: AnyNode): string {
  if (node.kind === 'Literal') return node.text
  if (node.kind === 'Path') return node.parts.map(({ name }) => name).join('.')
  if (node.kind === 'TableReference') return node.path.map(({ name }) => name).join('.')
  const label = 'operator' in node ? node.operator : node.kind === 'Join' ? node.type : node.kind
  return `(${[label, ...children(node).map(shape)].join(' ')})`
}

describe('the parser reads', () => {
  test.each(corpus)('%s', (_subject, queries) => {
    for (const sql of queries) expect(parse(sql).kind).toBe('Query')
  })

  test('over two hundred different queries in this test', () => {
    expect(new Set(corpus.flatMap(([, queries]) => queries)).size).toBeGreaterThan(200)
  })
})

describe('operators', () => {
  test.each([
    ['1 + 2 * 3', '(+ 1 (* 2 3))'],
    ['1\u00a0+\u2009\u30002', '(+ 1 2)'],
    ['1 - 2 - 3', '(- (- 1 2) 3)'],
    ['1 || 2 / 3', '(/ (|| 1 2) 3)'],
    ['a | b ^ c & d << e + f', '(| a (^ b (& c (<< d (+ e f)))))'],
    ['a << 1 >> 2', '(>> (<< a 1) 2)'],
    ['not a = b', '(NOT (= a b))'],
    ['not a and b', '(AND (NOT a) b)'],
    ['a or b and not c', '(OR a (AND b (NOT c)))'],
    ['a = b and c = d', '(AND (= a b) (= c d))'],
    ['- - 1', '(- (- 1))'],
    ['-a[0]', '(- (Subscript a 0))'],
    ['-a.b::text + 1', '(+ (- (Cast a.b)) 1)'],
    ['1 - -1', '(- 1 (- 1))'],
    ['not a is null', '(NOT (Is a))'],
    ['x between a and b and c', '(AND (Between x a b) c)'],
    ['x between 1 + 2 and 3 or y', '(OR (Between x (+ 1 2) 3) y)'],
    ['interval 1 + 2 day + x', '(+ (IntervalLiteral (+ 1 2)) x)'],
  ])('%s is %s', (sql, expected) => {
    expect(shape(expressionOf(sql))).toBe(expected)
  })
})

describe('parentheses hold', () => {
  test.each([
    ['((a))', 'Parenthesized'],
    ['(a, b)', 'Tuple'],
    ['((select 1))', 'ScalarSubquery'],
    ['((select 1) + 1)', 'Parenthesized'],
    ['((select 1), 2)', 'Tuple'],
    ['((select 1) union all (select 2))', 'ScalarSubquery'],
    ['((select 1) limit 1)', 'ScalarSubquery'],
    ['(with a as (select 1) select 2)', 'ScalarSubquery'],
  ])('%s: %s', (sql, kind) => {
    expect(expressionOf(sql).kind).toBe(kind)
  })

  test.each([
    ['(select 1)', 'DerivedTable'],
    ['((select 1))', 'DerivedTable'],
    ['((select 1) union all (select 2)) as x', 'DerivedTable'],
    ['((select 1) as x cross join y)', 'JoinInParentheses'],
    ['((select 1) cross join y)', 'JoinInParentheses'],
  ])('in FROM, %s: %s', (sql, kind) => {
    expect(fromOf(sql).kind).toBe(kind)
  })
})

test('commas and joins group from left to right', () => {
  expect(shape(fromOf('a, b join c on x = y, d'))).toBe('(COMMA (INNER (COMMA a b) c (= x y)) d)')
})

describe('a name', () => {
  test('with dashes is one name in the first part of a path', () => {
    const names = fromOf('my-project-12.logs.edge')
    expect(names).toMatchObject({
      path: [{ name: 'my-project-12', quoted: true }, { name: 'logs' }, { name: 'edge' }],
    })
  })

  test('in backticks stays one name, dots included', () => {
    expect(fromOf('`a.b.c`')).toMatchObject({ path: [{ name: 'a.b.c', quoted: true }] })
  })

  test('of a parameter keeps its case', () => {
    expect(expressionOf('@userId')).toMatchObject({ kind: 'ParameterReference', name: 'userId' })
  })

  test('of WITH OFFSET is offset when none is given', () => {
    expect(fromOf('unnest(a) with offset')).toMatchObject({ offset: { name: 'offset', quoted: false } })
  })
})

describe('a literal', () => {
  test.each([
    [String.raw`'a\tb\'\x41\101\u00e9\U0001F600'`, "a\tb'AAé😀"],
    [String.raw`r'\n\''`, String.raw`\n\'`],
    [`'''it's "so"'''`, `it's "so"`],
    ["'''a\r\nb\rc'''", 'a\nb\nc'],
    [String.raw`b'\xff\000a'`, '\xff\0a'],
    ["''", ''],
    // In a text \x and octal escapes are code points, in bytes they are bytes.
    [String.raw`'\a\b\f\n\r\t\v\\\?\"\'\`'`, '\x07\b\f\n\r\t\v\\?"\'`'],
    [String.raw`'\x00\X41\xe9\101\351\377'`, '\0AéAéÿ'],
    [String.raw`'\u0000\ud7ff\U0010ffff'`, '\0\ud7ff\u{10ffff}'],
    [String.raw`"""\x41"\x41"""`, 'A"A'],
    [String.raw`b'\x00\377é'`, '\0\xff\xc3\xa9'],
    [String.raw`RB'\xff'`, String.raw`\xff`],
  ])('%s is decoded', (sql, value) => {
    expect(expressionOf(sql)).toMatchObject({ kind: 'Literal', text: sql, value })
  })

  test('of an aliased type is in its canonical name', () => {
    expect(expressionOf("decimal '1'")).toMatchObject({ type: 'NUMERIC' })
    expect(expressionOf('cast(a as array<integer>)')).toMatchObject({
      type: { kind: 'ARRAY', element: { kind: 'INT64' } },
    })
  })
})

describe('offsets', () => {
  test('point at the first character of every node', () => {
    const sql =
      'with a as (select b.c + 1 as d from t) select f(x, y) over (order by z) from a join u on true'
    const words: Partial<Record<AnyNode['kind'], string>> = {
      CommonTable: 'a as',
      Binary: 'b.c + 1',
      SelectColumn: 'b.c',
      TableReference: 't)',
      Call: 'f(',
      Window: '(order',
      OrderItem: 'z)',
      Join: 'a join',
    }
    const first = new Map([...descendants(parse(sql))].toReversed().map(node => [node.kind, node.at]))
    for (const [kind, text] of Object.entries(words)) {
      expect(sql.startsWith(text, first.get(kind as AnyNode['kind']))).toBe(true)
    }
  })
})
