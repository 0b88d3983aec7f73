/** Every limit of planning.ts, met and passed. */
import { describe, expect, test } from '@jest/globals'
import { rewrite } from './rewrite.ts'

const many = (count: number, part: (at: number) => string, between = ', ') =>
  Array.from({ length: count }, (_, at) => part(at)).join(between)

const joins = (count: number) =>
  `SELECT COUNT(*) AS n FROM c AS t0 ${many(count - 1, at => `JOIN c AS t${at + 1} USING (id)`, ' ')}`

const nestedIn = (depth: number) =>
  `${many(depth + 1, at => `SELECT id FROM c AS t${at} WHERE id IN (`, '')}1${')'.repeat(depth + 1)}`

/** The largest query within a limit and the smallest beyond it, from a number; and what the refusal says. */
const cases: [what: string, query: (size: number) => string, most: number, message: string][] = [
  ['tables of a SELECT', joins, 40, 'A SELECT that joins more than 40 tables'],
  [
    'tables of a SELECT, those of IN among them',
    count => `${joins(20)} WHERE ${many(count - 20, () => 'id IN (SELECT id FROM c)', ' AND ')}`,
    40,
    'A SELECT that joins more than 40 tables',
  ],
  [
    'SELECTs with many tables',
    count => many(count, () => joins(40), ' UNION ALL '),
    2,
    'A query of so many SELECTs with many joins',
  ],
  [
    'columns',
    count => `SELECT ${many(count, at => `id AS c${at}`)} FROM c`,
    2000,
    'A SELECT of more than 2,000 columns',
  ],
  [
    'fields',
    count =>
      `SELECT s.a${at(count)} IS NULL AS x FROM (SELECT STRUCT(${many(count, at => `id AS a${at}`)}) AS s FROM c)`,
    4000,
    'A STRUCT of more than 4,000 fields',
  ],
  [
    'columns of a CUBE',
    count => `SELECT COUNT(*) AS n FROM c GROUP BY CUBE(${many(count, at => `id + ${at}`)})`,
    12,
    'A CUBE of more than 12 columns',
  ],
  ['subqueries inside one another', nestedIn, 12, 'A subquery more than 12 deep'],
]

const at = (count: number) => count - 1

const run = (sql: string) => rewrite(`WITH c AS (SELECT 1 AS id) ${sql}`, new Map(), new Map())

describe.each(cases)('the number of %s', (_, query, most, message) => {
  test(`is at most ${most}`, () => {
    expect(run(query(most)).sql).toMatch(/^WITH/)
    expect(() => run(query(most + 1))).toThrow(`${message} is not supported by the local engine`)
  })
})

describe('a query that grows in DuckDB SQL', () => {
  const nested = (depth: number) =>
    `${'CASE '.repeat(depth)}id${' WHEN 1 THEN id WHEN 2 THEN 1 END'.repeat(depth)}`

  test('is refused where an expression does, however deep', () => {
    expect(run(`SELECT ${nested(8)} AS x FROM c`).sql.length).toBeGreaterThan(10_000)
    for (const depth of [20, 50])
      expect(() => run(`SELECT ${nested(depth)} AS x FROM c`)).toThrow(
        'An expression of this size is not supported',
      )
  })

  test.each([
    ['POW(', ', 2)'],
    ['LEAST(1.5, ', ')'],
    ['ROUND(', ', 2)'],
    ['2 / (', ')'],
    ['NULLIF(', ', 2)'],
    ['SAFE_ADD(', ', 2)'],
    ['[7, 8][OFFSET(', ')]'],
    ['1 << (', ')'],
  ])(
    'grows in proportion where a long operand is repeated, and is refused where lambdas are deep: %s',
    (open, close) => {
      const inside = (depth: number) => `SELECT ${open.repeat(depth)}id${close.repeat(depth)} AS x FROM c`
      expect(run(inside(30)).sql.length).toBeLessThan(4 * run(inside(10)).sql.length)
      expect(() => run(inside(60))).toThrow('An expression of this size is not supported')
    },
  )

  test.each([
    ['CAST((', ', 1) IN ((1, 1), (2, 2)) AS INT64)'],
    ['CAST(1.5 IN UNNEST([', ']) AS INT64)'],
    [`LENGTH(FORMAT('%f', CAST(`, ' AS FLOAT64)))'],
    [`REGEXP_INSTR(CAST(`, ` AS STRING), '1', 1, 1)`],
    [`UNIX_SECONDS(PARSE_TIMESTAMP('%F', FORMAT_TIMESTAMP('%F', TIMESTAMP_SECONDS(`, `), 'Asia/Tokyo')))`],
  ])('grows in proportion where a rule of its own repeats an operand: %s', (open, close) => {
    const inside = (depth: number) => `SELECT ${open.repeat(depth)}id${close.repeat(depth)} AS x FROM c`
    expect(run(inside(9)).sql.length).toBeLessThan(4 * run(inside(3)).sql.length)
  })

  test('evaluates a long operand of CASE once where its branches are constant', () => {
    const branches = many(80, at => `WHEN 'a${at}' THEN 'b${at}'`, ' ')
    const operand = `UPPER(JSON_VALUE(TO_JSON_STRING(STRUCT(id, id AS a, id AS b)), '$.a.b'))`
    expect(run(`SELECT CASE ${operand} ${branches} END AS x FROM c`).sql.length).toBeLessThan(20_000)
  })

  test('compares tuples field by field where they are written out', () => {
    const tuples = many(400, at => `(${at}, 'a')`)
    expect(run(`SELECT (id, 'a') IN (${tuples}) AS x FROM c`).sql.length).toBeLessThan(60_000)
  })

  test('writes a STRUCT once, however many fields of it become JSON', () => {
    const nested = `${'STRUCT('.repeat(12)}id${' AS a, 1 AS b)'.repeat(12)}`
    expect(run(`SELECT TO_JSON_STRING(${nested}) AS x FROM c`).sql.length).toBeLessThan(15_000)
  })

  test('is refused where many expressions do', () => {
    const columns = (count: number) => `SELECT ${many(count, at => `${nested(8)} AS x${at}`)} FROM c`
    expect(run(columns(5)).columns).toHaveLength(5)
    expect(() => run(columns(100))).toThrow('A query that needs so many steps is not supported')
  })

  test('is refused where a STRUCT holds itself twice again and again', () => {
    const tables = many(
      30,
      at => `c${at} AS (SELECT STRUCT(x AS a, x AS b) AS x FROM ${at ? `c${at - 1}` : '(SELECT 1 AS x)'})`,
    )
    expect(() => run(`, ${tables} SELECT x.a FROM c29`)).toThrow('A STRUCT of more than 4,000 fields')
  })
})
