/** Every bound of the table, met and passed, by arguments that are the same in all rows and by values of rows. */
import { describe, expect, test } from '@jest/globals'
import type { Binding } from '../../engine.ts'
import { describeDuckDb } from '../../testing/describe-engines.ts'
import { bounds } from './bounds.ts'
import { expectProcessorTime } from '../../../testing/processor-time.ts'

/** In a query of its own, since the rows of a window are counted, not what is in them. */
const inWindow = (call: string) =>
  `(SELECT COUNTIF(a IS NULL) FROM (SELECT ${call} OVER () AS a FROM UNNEST(GENERATE_ARRAY(1, @N)) AS x))`

/**
 * For each function a call that does a number of what its bound counts, and the number that it takes for so many. `t` is a
 * text of so many letters, `n` the number itself, `items` an array of so many elements.
 */
const calls: Record<string, [call: string, numberFor: (units: number) => number]> = {
  ...Object.fromEntries(
    [
      'CONTAINS_SUBSTR(t, t)',
      'INSTR(t, t)',
      `REPLACE(t, t, '')`,
      'SPLIT(t, t)',
      'STRPOS(t, t)',
      `REGEXP_EXTRACT_ALL(t, '(?:b|a*c)' || SUBSTR(t, 1, 0))`,
      `REGEXP_REPLACE(t, 'a*b|c', '')`,
    ].map(call => [`steps of ${/^\w+/.exec(call)![0]}`, [call, Math.sqrt]] as const),
  ),
  LIKE: [`t LIKE REPEAT('%b', 500)`, units => units / 1000],
  REPEAT: [`REPEAT('a', n)`, units => units],
  LPAD: [`LPAD('', n)`, units => units],
  RPAD: [`RPAD('', n)`, units => units],
  CONCAT: ['CONCAT(t, t)', units => units / 2],
  '||': ['t || t', units => units / 2],
  REPLACE: [`REPLACE(t, 'a', 'bb')`, units => units / 2],
  REGEXP_REPLACE: [`REGEXP_REPLACE(t, 'a', 'bb')`, units => units / 2 - 1],
  ARRAY_TO_STRING: [`ARRAY_TO_STRING(SPLIT(t, ''), '${'-'.repeat(20)}')`, units => units / 20],
  FORMAT: [`FORMAT('%s', t)`, units => units],
  JSON_ARRAY: ['JSON_ARRAY(t)', units => units - '[""]'.length],
  JSON_OBJECT: [`JSON_OBJECT('a', t)`, units => units - '{"a":""}'.length],
  TO_BASE64: ['TO_BASE64(CAST(t AS BYTES))', units => (units / 4) * 3],
  TO_BASE32: [`TO_BASE32(CAST(t AS BYTES))`, units => (units / 8) * 5],
  TO_HEX: ['TO_HEX(CAST(t AS BYTES))', units => units / 2],
  TO_JSON: ['TO_JSON(t)', units => units - '""'.length],
  TO_JSON_STRING: ['TO_JSON_STRING(t)', units => units - '""'.length],
  SPLIT: [`SPLIT(t, '')`, units => units / 16],
  REGEXP_EXTRACT_ALL: [`REGEXP_EXTRACT_ALL(t, 'a+')`, units => units],
  TO_CODE_POINTS: ['TO_CODE_POINTS(t)', units => units / 16],
  GENERATE_ARRAY: ['GENERATE_ARRAY(1, n)', units => units],
  GENERATE_DATE_ARRAY: [
    `GENERATE_DATE_ARRAY('0001-01-01', DATE_ADD(DATE '0001-01-01', INTERVAL n - 1 DAY))`,
    units => units,
  ],
  GENERATE_TIMESTAMP_ARRAY: [
    `GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '2026-01-01', TIMESTAMP_ADD(TIMESTAMP '2026-01-01', INTERVAL n - 1 SECOND), INTERVAL 1 SECOND)`,
    units => units,
  ],
  ARRAY_CONCAT: ['ARRAY_CONCAT(items, items)', units => units / 2],
  ARRAY_AGG: [inWindow('ARRAY_AGG(x)'), units => units],
  ARRAY_CONCAT_AGG: [inWindow('ARRAY_CONCAT_AGG([x])'), units => units],
  STRING_AGG: [inWindow(`STRING_AGG('a')`), units => units],
  '%*': [`FORMAT('%*d', n, 7)`, units => units],
  EDIT_DISTANCE: [`EDIT_DISTANCE(t, 'aaaaaaaaaa')`, units => units / 10],
  REGEXP_CONTAINS: [`REGEXP_CONTAINS(t, 'a{993}b')`, units => units / 1000],
  REGEXP_EXTRACT: [`REGEXP_EXTRACT(t, 'a{993}b')`, units => units / 1000],
  REGEXP_INSTR: [`REGEXP_INSTR(t, 'a{993}b')`, units => units / 1000],
  REGEXP_SUBSTR: [`REGEXP_SUBSTR(t, 'a{993}b')`, units => units / 1000],
}

const cases = bounds.flatMap(({ functions, of, most, inRows }) =>
  functions.split(' ').map(name => ({
    name,
    id: /^pairs of (a byte|bytes)/.test(of) ? `steps of ${name}` : name,
    most,
    inRows,
  })),
)

test('every function of the table is tried', () => {
  expect(Object.keys(calls).toSorted()).toEqual(cases.map(({ id }) => id).toSorted())
})

const array = 'GENERATE_ARRAY(1, n)'

describeDuckDb('a bound', {}, ({ rows, failure }) => {
  const bind = (number: number): Binding[] => [
    { name: 't', type: { kind: 'STRING' }, value: 'a'.repeat(number) },
    { name: 'n', type: { kind: 'INT64' }, value: number },
  ]
  /** The text is not sent back: it is as long as it is large. */
  const ofParameters = (call: string) =>
    `SELECT (${call.replaceAll('items', array).replaceAll(/\b[tn]\b/g, '@$&')}) IS NULL AS missing`
  const ofRows = (call: string) =>
    `SELECT (${call}) IS NULL AS missing FROM (SELECT @t AS t, @n AS n, ${call.includes('items') ? 'GENERATE_ARRAY(1, @n)' : '[]'} AS items)`

  describe.each(cases)('of $id', ({ name, id, most, inRows }) => {
    const [call, numberFor] = calls[id]!
    test.each([
      ['parameters', ofParameters(call), most],
      ['rows', ofRows(call), inRows],
    ])('holds for values of %s', async (_, sql, units) => {
      const number = Math.floor(numberFor(units))
      expect(await rows(sql, bind(number))).toHaveLength(1)
      const { reason, message } = await failure(sql, bind(number + 1))
      expect(reason).toBe('rejected')
      expect(message).toContain(`${name} takes at most ${units.toLocaleString('en')} `)
    })
  })
})

describeDuckDb('the calls of a query', {}, ({ rows, value, failure }) => {
  test('share what is for the values of rows', async () => {
    const lengths = (n: number) =>
      `(SELECT LENGTH(REPEAT('a', n)) + LENGTH(LPAD('', n)) FROM (SELECT ${n} AS n))`
    expect(await value(lengths(8192))).toBe(16_384)
    expect((await failure(`SELECT ${lengths(8193)}`)).message).toBe(
      'REPEAT takes at most 8,192 bytes of text in each row; ask for less',
    )
  })

  test('count what a pattern that is no literal costs: its counts multiply', async () => {
    const found = (pattern: string) =>
      `SELECT COUNTIF(REGEXP_CONTAINS(REPEAT('x', 9000), p)) AS n FROM UNNEST(['${pattern}']) AS p`
    expect(await rows(found('^/v[0-9]{1,3}/[a-z]{2,5}/[^/]*$'))).toEqual([{ n: 0 }])
    expect((await failure(found('(a{30}){30}b'))).message).toContain('REGEXP_CONTAINS takes at most')
  })

  // Each over a text of 16,000 letters: a pattern of few places is one of many times the text.
  test.each([
    ['[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}', true],
    [String.raw`\x{2028}\p{Lu}{3}\{1000}`, true],
    ['(x{3}y{3}){3}', true],
    ['a{1000}', false],
    [String.raw`\w{1000}`, false],
    [String.raw`(x\x{79}){1000}`, false],
    ['((x?){30}){30}', false],
  ])('count the places of a pattern, literal or sent: %s', async (pattern, taken) => {
    const text = `CONCAT(CAST(n AS STRING), REPEAT('-', 16000)) AS t FROM UNNEST([1, 2]) AS n`
    const p: Binding = { name: 'p', type: { kind: 'STRING' }, value: pattern }
    for (const value of [`r'${pattern}'`, '@p']) {
      const sql = `SELECT COUNTIF(REGEXP_CONTAINS(t, ${value})) AS n FROM (SELECT ${text})`
      if (taken) expect(await rows(sql, [p])).toEqual([{ n: 0 }])
      else expect((await failure(sql, [p])).message).toContain('REGEXP_CONTAINS takes at most')
    }
  })

  // By the shortest match, over 160,000 letters: a list of texts that are no shorter than 16 bytes is no larger than the text.
  test.each([
    ['[a-z]{20,}', true],
    ['(?:ab|[^x]{3}){8}', true],
    [String.raw`(?i)\d{2}(?:[a-z]+-){8}`, true],
    ['[a-z]{20}?', false],
    ['a|[a-z]{20}', false],
    ['(a{20})?b', false],
    ['(?:a*|b{20})z', false],
    [String.raw`\x61`, false],
  ])('give a list of long matches the room of its text: %s', async (pattern, taken) => {
    const text = `CONCAT(CAST(n AS STRING), REPEAT('z', 160000)) AS t FROM UNNEST([1, 2]) AS n`
    const sql = `SELECT COUNTIF(REGEXP_EXTRACT_ALL(t, r'${pattern}') IS NULL) AS n FROM (SELECT ${text})`
    if (taken) expect(await rows(sql)).toEqual([{ n: 0 }])
    else expect((await failure(sql)).message).toContain('REGEXP_EXTRACT_ALL takes at most')
  })

  test('are one where || is a chain', async () => {
    const chain = Array.from({ length: 60 }, () => 't').join(' || ')
    expect(await value(`(SELECT LENGTH(${chain}) FROM (SELECT REPEAT('a', 100) AS t))`)).toBe(6000)
  })

  test('are refused for one row that asks for too much', async () => {
    const sql = `SELECT LENGTH(REPEAT('a', IF(n = 900, 17000, n))) FROM UNNEST(GENERATE_ARRAY(1, 1000)) AS n`
    expect((await failure(sql)).message).toContain('REPEAT takes at most')
  })

  // DuckDB plans 2^20 calls of what its own macros and its BETWEEN repeat: the plan alone took minutes from 12 levels on.
  test.each([
    [`REPLACE(CONCAT(LOWER(x), ' '), ' ', '%20')`, `a%20b${'%20'.repeat(20)}`],
    [`ARRAY_TO_STRING(SPLIT(x, ' '), '-')`, 'a-b'],
    [`CAST(x BETWEEN 'a' AND 'z' AS STRING)`, 'true'],
    [`NULLIF(x, '-')`, 'a b'],
  ])('measure a value once, however deep they are inside one another: %s', async (call, expected) => {
    let nested = 'given'
    for (let level = 0; level < 20; level++) nested = call.replaceAll('x', () => nested)
    expect(await value(`(SELECT ${nested} FROM (SELECT 'a b' AS given))`)).toEqual(expected)
  })

  test('give NULL for what SAFE calls beyond the bound', async () => {
    expect(await value(`(SELECT SAFE.REPEAT('a', n) FROM (SELECT 20000 AS n))`)).toBeNull()
  })
})

/** Each took seconds or minutes. */
const hostile = [
  `INSTR(REPEAT('a', 1000000), REPEAT('a', 500000), 1, 500001)`,
  `INSTR(REPEAT('a', 100000), REPEAT('a', 50000), 1, 50002)`,
  `(SELECT SUM(LENGTH(FORMAT_TIMESTAMP(REPEAT('%c', 500000), TIMESTAMP_SECONDS(x)))) FROM UNNEST(GENERATE_ARRAY(1, 100)) AS x)`,
  `LENGTH(TO_JSON_STRING(PARSE_JSON(CONCAT('[', REPEAT('1,', 425000), '1]'))))`,
  `LENGTH(NORMALIZE_AND_CASEFOLD(REPEAT('é', 500000)))`,
  String.raw`LENGTH(NORMALIZE(REPEAT('\u0301\u0316', 100000)))`,
  `NET.REG_DOMAIN(REPEAT('é.', 300000))`,
  `PARSE_NUMERIC(CONCAT('1', REPEAT(' ', 100000), 'x'))`,
  ...[`'a*b|(a)'`, `'a(.*b)?'`, `CONCAT('a*b|', 'a')`, `'(?:a+b)*?a'`].flatMap(pattern => [
    `LENGTH(REGEXP_REPLACE(REPEAT('a', 300000), ${pattern}, 'c'))`,
    `ARRAY_LENGTH(REGEXP_EXTRACT_ALL(REPEAT('a', 300000), ${pattern}))`,
    `REGEXP_SUBSTR(REPEAT('a', 300000), ${pattern}, 1, 2)`,
  ]),
  ...[
    'CONTAINS_SUBSTR(t, p)',
    'INSTR(t, p)',
    `LENGTH(REPLACE(t, p, ''))`,
    'ARRAY_LENGTH(SPLIT(t, p))',
    'STRPOS(t, p)',
    't LIKE p',
  ].map(
    call => `(SELECT ${call} FROM (SELECT REPEAT('a', 1000000) AS t, CONCAT(REPEAT('a', 500000), 'b') AS p))`,
  ),
]

describeDuckDb('one call over a large text', {}, ({ engine }) => {
  test.each(hostile)('ends soon, by an answer or the word of a bound: %s', async call => {
    let message = ''
    await expectProcessorTime(1_500, async () => {
      message = await engine()
        .run({ sql: `SELECT ${call} AS value`, bindings: [] }, { maxRows: 1, timeoutMs: 60_000 })
        .then(
          () => '',
          (error: Error) => error.message,
        )
    })
    expect(message).toMatch(/^$|takes at most|not a number/)
  })

  test.each([
    [String.raw`r'(?:\w+)=(\w+)'`, 20_000],
    [String.raw`r'\d+'`, 20_000],
    [String.raw`r'\d+|[0-9a-f-]{36}|"x'`, 20_000],
    [`'[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'`, 20_000],
    [`'(GET|POST) /[^ ]*'`, 20_000],
    [`'a*b|(a)'`, 2_800],
  ])('takes an ordinary pattern over messages of each row: %s', async (pattern, size) => {
    const calls = `LENGTH(REGEXP_REPLACE(t, ${pattern}, '')) + ARRAY_LENGTH(REGEXP_EXTRACT_ALL(t, ${pattern}))`
    const sql = `SELECT ${calls} AS n FROM (SELECT SUBSTR(CONCAT(REPEAT('x=1 ', 4000), CAST(n AS STRING), REPEAT('-', 4000)), 1, ${size}) AS t FROM UNNEST([1, 2]) AS n)`
    const { rows } = await engine().run({ sql, bindings: [] }, { maxRows: 9, timeoutMs: 60_000 })
    expect(rows).toHaveLength(2)
  })

  test('looks for texts of 500 characters in messages of 10,000', async () => {
    const calls = `INSTR(t, p) + STRPOS(t, p) + ARRAY_LENGTH(SPLIT(t, p)) + LENGTH(REPLACE(t, p, '')) + IF(CONTAINS_SUBSTR(t, p) OR t LIKE CONCAT('%', p, '%'), 1, 0)`
    const sql = `SELECT ${calls} AS n FROM (SELECT REPEAT('x', 10000) AS t, CONCAT(REPEAT('x', 499), CAST(n AS STRING)) AS p FROM UNNEST([1, 2]) AS n)`
    const { rows } = await engine().run({ sql, bindings: [] }, { maxRows: 9, timeoutMs: 60_000 })
    expect(rows).toEqual([{ n: 10_001 }, { n: 10_001 }])
  })
})
