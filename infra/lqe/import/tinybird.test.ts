import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { apply } from '../apply/apply.ts'
import { readQueries } from '../apply/read.ts'
import { answerOf } from '../query.ts'
import { googleSqlOf } from './clickhouse.ts'
import { Import } from './testing/import.ts'

let here: Import
beforeEach(() => {
  here = new Import()
})
afterEach(() => here.close())

const pipe = `TOKEN "dashboard" READ

DESCRIPTION >
    Entries by hour

NODE parts
SQL >
    %
    SELECT id, timestamp, event_message
    FROM \`postgres.logs\`
    WHERE timestamp >= now() - interval 1 day
        {% if defined(word) %}
        AND event_message LIKE {{String(word, description="What is in it")}}
        {% end %}

NODE answer
DESCRIPTION >
    Not what the pipe is for
SQL >
    %
    WITH hours AS (SELECT toStartOfHour(timestamp) AS hour, count() AS entries FROM parts GROUP BY hour)
    SELECT hour, entries FROM hours
    WHERE entries > {{Int32(least, 0)}}
    ORDER BY hour
    LIMIT {{UInt16(top, 10, description='How many',)}}
TYPE endpoint
`

describe('a pipe', () => {
  test('becomes one query over the tables of its nodes, with the types and defaults of its parameters', async () => {
    const { lines, refused } = await here.run('by_hour.pipe', pipe)
    expect(refused).toEqual([])
    expect(lines.slice(0, 2)).toEqual([
      '+ by_hour from by_hour.pipe:20',
      '! by_hour was read by the tokens "dashboard"; here by keys',
    ])
    const { endpoint } = readQueries(here.queries)[0]!
    expect(endpoint).toMatchObject({
      description: 'Entries by hour',
      required: [],
      parameters: {
        word: { type: 'string', description: 'What is in it' },
        least: { type: 'integer', minimum: -2147483648, maximum: 2147483647, default: 0 },
        top: { type: 'integer', minimum: 0, maximum: 65535, default: 10, description: 'How many' },
      },
    })
    expect(
      endpoint.sql
        .split('\n')
        .map(line => line.trim())
        .filter(line => line !== ''),
    ).toEqual([
      'WITH `parts` AS (',
      'SELECT id, timestamp, event_message',
      'FROM `postgres.logs`',
      'WHERE timestamp >= TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), SECOND) - interval 1 day',
      'AND (@word IS NULL OR (event_message LIKE @word))',
      ')',
      '(',
      'WITH hours AS (SELECT TIMESTAMP_TRUNC(timestamp, HOUR) AS hour, count(*) AS entries FROM parts GROUP BY 1)',
      'SELECT hour, entries FROM hours',
      'WHERE entries > @least',
      'ORDER BY hour NULLS LAST',
      'LIMIT @top',
      ')',
    ])
  })

  test('answers once it is applied', async () => {
    await here.run('by_hour.pipe', pipe)
    const services = await here.services()
    await apply(services, { queries: here.queries, dryRun: false, out: () => {} })
    const endpoint = (await services.endpoints.find('by_hour'))!
    const options = { sql: null, redact: false, fresh: true }
    for (const query of ['', 'word=%25x%25&top=3']) {
      const { answer } = await answerOf(services, endpoint, query, options)
      expect(await answer.rows()).toEqual([])
    }
  })

  test('takes no negative LIMIT', async () => {
    await here.run('top.pipe', 'NODE n\nSQL >\n    %\n    SELECT 1 AS one LIMIT {{Int32(top, 5)}}\n')
    expect(readQueries(here.queries)[0]!.endpoint.parameters).toMatchObject({ top: { minimum: 0 } })
  })

  test('with a misspelt node gets the near one, and says which is not read', async () => {
    const { lines } = await here.run('by_hour.pipe', pipe.replace('FROM parts', 'FROM prats'))
    expect(lines.slice(2, 4)).toEqual([
      '! by_hour has the node parts, which is left out: answer does not read it',
      expect.stringContaining('! by_hour reads prats (did you mean the node parts?), which is not here'),
    ])
  })

  test('of one node needs no TYPE', async () => {
    const { refused } = await here.run('one.pipe', 'NODE n\nSQL >\n    SELECT 1 AS one\n')
    expect(refused).toEqual([])
    expect(here.read('one.sql')).toBe('SELECT 1 AS one\n')
  })
})

describe('what is refused, with its place and the reason', () => {
  const node = (sql: string) => `NODE n\nSQL >\n    %\n    ${sql.replaceAll('\n', '\n    ')}\nTYPE endpoint\n`
  const cases: [claim: string, text: string, refusal: string | RegExp][] = [
    [
      'a materialized pipe',
      'NODE n\nSQL >\n    SELECT 1\nTYPE materialized\nDATASOURCE d\n',
      '4:6 a: is of the TYPE materialized: only an endpoint answers calls',
    ],
    [
      'no endpoint among nodes',
      'NODE n\nSQL >\n    SELECT 1\nNODE m\nSQL >\n    SELECT 2\n',
      /^1:1 a: has 0 nodes of the TYPE endpoint/,
    ],
    [
      'an include',
      'INCLUDE "x.incl"\nNODE n\nSQL >\n    SELECT 1\n',
      /^1:1 a: has INCLUDE, which is no part of an endpoint/,
    ],
    [
      'SQL that a parameter chooses',
      node('SELECT 1 AS one\n{% if x == 1 %} LIMIT 1 {% end %}'),
      /^5:5 a: has \{% if x == 1 %\}, which chooses SQL/,
    ],
    [
      'a block that is more than a condition',
      node('SELECT a FROM t\n{% if defined(x) %} LIMIT 1 {% end %}'),
      /^5:5 a: has a block of x that is more/,
    ],
    [
      'OR in a block',
      node('SELECT a FROM t WHERE TRUE\n{% if defined(x) %} AND a = {{String(x)}} OR b {% end %}'),
      /^5:5 a: has a block of x with OR/,
    ],
    [
      'a condition that goes on behind its block',
      node('SELECT a FROM t WHERE TRUE {% if defined(x) %} AND a = {{String(x)}} {% end %} OR b'),
      /^4:32 a: has a block of x that is more/,
    ],
    [
      'a parameter without a meaning when it is absent',
      node('SELECT {{String(x)}} AS x'),
      /^4:12 a: has x without a default/,
    ],
    [
      'a parameter with two defaults',
      node("SELECT {{String(x, 'a')}} AS x,\n{{String(x, 'b')}} AS y"),
      '5:5 a: has x with another type or default than before',
    ],
    [
      'a list',
      node("SELECT 1 AS a FROM t WHERE a IN {{Array(x, 'Int32')}}"),
      /^4:37 a: has \{\{Array\(x, 'Int32'\)\}\}, which is no parameter/,
    ],
    [
      'a default that is an expression',
      node('SELECT {{Int32(x, 1 + 1)}} AS x'),
      /^4:12 a: has \{\{Int32\(x, 1 \+ 1\)\}\}, whose arguments/,
    ],
    [
      'a function of ClickHouse',
      node('SELECT 1 AS one,\n  arrayJoin(x) AS y FROM t'),
      '5:7 a: arrayJoin is a function of ClickHouse without a sure equal (node n)',
    ],
    [
      'nodes that read each other',
      'NODE n\nSQL >\n    SELECT 1 AS a FROM m\nNODE m\nSQL >\n    SELECT 1 AS a FROM n\nTYPE endpoint\n',
      /reads itself by its node/,
    ],
    ['a column that is not there', node('SELECT zzz FROM `postgres.logs`'), /^4:12 a: .*zzz/],
  ]

  test.each(cases)('%s', async (_, text, refusal) => {
    const { refused } = await here.run('a.pipe', text)
    const expected: unknown = typeof refusal === 'string' ? refusal : expect.stringMatching(refusal)
    expect(refused).toEqual([expected])
  })
})

test('property: a damaged pipe is imported or refused at a place', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(pipe.length), fc.nat(40), fc.string({ maxLength: 6 }), async (at, length, by) => {
      const text = `${pipe.slice(0, at)}${by}${pipe.slice(at + length)}\nNODE end\nSQL > SELECT 1`
      const { lines, refused } = await here.run('any.pipe', text, { dryRun: true })
      expect(lines.at(-1)).toMatch(refused.length === 0 ? /^1 to import/ : /^0 to import/)
    }),
    { numRuns: 60 },
  )
})

describe('ClickHouse’s SQL', () => {
  const same: [string, string][] = [
    ['SELECT countIf(a > 1) AS n FROM t', 'SELECT COUNTIF(a > 1) AS n FROM t'],
    [
      'SELECT toDate(ts) AS d, uniqExact(u) AS n FROM t GROUP BY d ORDER BY d DESC',
      'SELECT DATE(ts) AS d, COUNT(DISTINCT u) AS n FROM t GROUP BY 1 ORDER BY d DESC',
    ],
    [
      'SELECT toMonday(ts) AS w, max(a) AS m FROM t GROUP BY w',
      'SELECT DATE_TRUNC(DATE(ts), ISOWEEK) AS w, max(a) AS m FROM t GROUP BY 1',
    ],
    [
      'SELECT toHour(now()) AS h, today() AS d',
      'SELECT EXTRACT(HOUR FROM TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), SECOND)) AS h, CURRENT_DATE() AS d',
    ],
    [
      'SELECT a FROM t ORDER BY if(a = 1, 2, 3), b LIMIT 3',
      'SELECT a FROM t ORDER BY IF(a = 1, 2, 3) NULLS LAST, b NULLS LAST LIMIT 3',
    ],
    ['SELECT a / 2 AS h, a - 1 AS l FROM t -- half', 'SELECT a / 2 AS h, a - 1 AS l FROM t -- half'],
  ]

  test.each(same)('%s', (sql, expected) => {
    expect(googleSqlOf(sql)).toBe(expected)
  })

  test('in one another, functions are each written as they are alone', () => {
    const pairs: [string, (of: string) => string][] = [
      ['toDate', of => `DATE(${of})`],
      ['toStartOfMonth', of => `DATE_TRUNC(DATE(${of}), MONTH)`],
      ['toHour', of => `EXTRACT(HOUR FROM ${of})`],
      ['abs', of => `ABS(${of})`],
    ]
    const leaf = fc.constantFrom<[string, string]>(
      ['ts', 'ts'],
      ['now()', 'TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), SECOND)'],
    )
    const calls = fc.array(fc.constantFrom(...pairs), { maxLength: 6 })
    fc.assert(
      fc.property(leaf, calls, ([theirs, ours], around) => {
        const from = around.reduce<string>((of, [name]) => `${name}(${of})`, theirs)
        const to = around.reduce<string>((of, [, write]) => write(of), ours)
        expect(googleSqlOf(`SELECT ${from} AS x FROM t`)).toBe(`SELECT ${to} AS x FROM t`)
      }),
    )
  })

  const different: [string, RegExp][] = [
    ['SELECT sum(a) AS s FROM t', /^sum without GROUP BY/],
    ['SELECT uniq(a) AS s FROM t', /^uniq estimates/],
    ['SELECT lower(a) AS s FROM t', /^lower changes ASCII only/],
    ['SELECT a FROM t FINAL', /^FINAL has no equal/],
    ['SELECT t.a FROM t ASOF JOIN u ON t.a = u.a', /^ASOF has no equal/],
    ['SELECT t.a FROM t LEFT JOIN u ON t.a = u.a', /LEFT JOIN, which fills in/],
    ['SELECT * FROM t JOIN u ON t.a = u.a', /\* differs/],
    ["SELECT '''a''' AS x", /has a backslash or quotes/],
    ['SELECT coalesce(a = 1, 0) AS b FROM t', /is 1 or 0 in ClickHouse/],
    ['SELECT count() AS n FROM t HAVING max(a) > 1', /^max without GROUP BY/],
    ['SELECT "a" FROM t', /^"a" is a name in ClickHouse/],
    [String.raw`SELECT 'a\d' AS x`, /backslash|not an escape/],
    ['SELECT a = 1 AS b FROM t', /is 1 or 0 in ClickHouse/],
    ['SELECT lowerUTF8(a) AS a FROM t WHERE a = 1', /is a name of the same SELECT/],
    ['SELECT a + 1 AS b, b + 1 AS c FROM t', /is a name of the same SELECT/],
    [
      'SELECT abs(a) AS a, count() AS n FROM t GROUP BY a HAVING a > 1',
      /is a name of the same SELECT and a column/,
    ],
    ['SELECT a / b AS c FROM t', /is divided by what may be 0/],
    ['SELECT a / 0 AS c FROM t', /is divided by what may be 0/],
    ['SELECT b - a AS c FROM t', /is in a subtraction/],
    ['SELECT today() - interval 1 day AS c', /becomes a DATETIME/],
    ['SELECT a[1] AS c FROM t', /no sure equal/],
    ['SELECT CAST(a AS STRING) AS c FROM t', /no sure equal/],
    ['SELECT row_number() OVER (ORDER BY a) AS c FROM t', /OVER/],
    ['SELECT a FROM t WHERE a IN (1, NULL)', /passed over/],
    ['SELECT a FROM t WHERE a NOT IN (SELECT b FROM u)', /no sure equal/],
    ['SELECT 1 AS a UNION ALL SELECT 2 AS a ORDER BY a', /of the last SELECT alone/],
    ['SELECT a FROM t EXCEPT DISTINCT SELECT b FROM u', /which differs/],
    ['SELECT a, count() AS n FROM t GROUP BY ROLLUP (a)', /ROLLUP/],
    ['SELECT a FROM t LIMIT 1 BY a', /BY/],
    ['SELECT a FROM numbers(10)', /table functions/],
  ]

  test.each(different)('%s is refused', (sql, reason) => {
    expect(() => googleSqlOf(sql)).toThrow(reason)
  })
})
