/** A caller's query becomes a statement with the tables that it needs and no more, or a refusal that helps. */
import { describe, expect, test } from '@jest/globals'
import { ApiError } from '../errors.ts'
import { placeOf } from '../sql/error.ts'
import { placeInCaller, sandbox } from './sandbox.ts'
import { endpoint, logs } from './testing/endpoints.ts'

const shop = endpoint(
  `WITH Orders AS (SELECT id, shop FROM \`p.d.orders\` WHERE shop = @shop),
   refunds AS (SELECT id FROM p.d.refunds),
   net AS (SELECT id FROM orders EXCEPT DISTINCT SELECT id FROM refunds),
   best AS (SELECT id FROM net LIMIT 10)
   SELECT id FROM net JOIN elsewhere USING (id)`,
  'shop',
  'from',
)

function refusal(sql: string, of = shop): ApiError {
  try {
    sandbox(of, sql)
  } catch (error) {
    if (error instanceof ApiError) return error
    throw error
  }
  throw new Error(`not refused: ${sql}`)
}

describe('the statement', () => {
  test('has the endpoint table in its WITH and the query in parentheses', () => {
    expect(sandbox(shop, 'select id from Refunds').sql).toBe(
      'WITH refunds AS (SELECT id FROM p.d.refunds) (SELECT id FROM Refunds)',
    )
  })

  test('has the tables that a table reads, in their order, and no others', () => {
    expect(sandbox(shop, 'SELECT id FROM net').sql).toBe(
      'WITH Orders AS (SELECT id, shop FROM `p.d.orders` WHERE shop = @shop), ' +
        'refunds AS (SELECT id FROM p.d.refunds), ' +
        'net AS (SELECT id FROM orders EXCEPT DISTINCT SELECT id FROM refunds) (SELECT id FROM net)',
    )
    expect(sandbox(shop, 'SELECT id FROM best').sql).toMatch(/^WITH Orders .* refunds .* net .* best AS/)
    expect(sandbox(shop, 'SELECT id FROM orders').sql).not.toMatch(/refunds|net|best/)
  })

  test('holds a pipe of as many operators as a query may have, which are queries inside one another', () => {
    const pipe = (count: number) =>
      `FROM refunds ${Array.from({ length: count }, (_, at) => `|> EXTEND id AS c${at}`).join(' ')}`
    expect(sandbox(shop, pipe(190)).sql).toContain('AS c189')
    expect(refusal(pipe(201)).problems[0]!.detail).toContain('let one EXTEND or SELECT make several columns')
  })

  test('is the query alone where that uses no table', () => {
    expect(sandbox(shop, 'SELECT @shop AS shop').sql).toBe('SELECT @shop AS shop')
  })

  test("keeps a caller's WITH inside the parentheses, ORDER BY and LIMIT too", () => {
    const { sql } = sandbox(shop, 'WITH a AS (SELECT id FROM refunds) SELECT id FROM a ORDER BY 1 LIMIT 5')
    expect(sql).toMatch(/\) \(WITH a AS \(SELECT id FROM refunds\) SELECT id FROM a ORDER BY 1 LIMIT 5\)$/)
  })

  test("never has the endpoint's own final query", () => {
    expect(sandbox(shop, 'SELECT id FROM best').sql).not.toContain('elsewhere')
  })

  test('has SAFE before the functions of NET that may fail', () => {
    const sql = "SELECT SAFE.NET.IP_TRUNC(safe.net.ip_from_string('x'), 24) AS network"
    expect(sandbox(shop, sql).sql).toBe(sql)
  })

  test('holds a string of SQL as the string that it is', () => {
    const { sql } = sandbox(shop, `SELECT "' or exists(select 1 from secret) or '" AS x FROM refunds -- ' "`)
    expect(sql).toMatch(/\(SELECT "' or exists\(select 1 from secret\) or '" AS x FROM refunds\)$/)
  })

  test('has a CTE of the caller before one of the same name further out', () => {
    const sql =
      'WITH a AS (SELECT id FROM refunds) SELECT id FROM (WITH a AS (SELECT id FROM a) SELECT id FROM a)'
    expect(sandbox(shop, sql).tables).toEqual(['refunds'])
  })
})

describe('WITH RECURSIVE', () => {
  const days = 'd AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM d WHERE n < 7)'
  const shadowed = endpoint(
    `WITH logs AS (SELECT id FROM logs WHERE shop = @shop), recent AS (SELECT id FROM logs UNION ALL SELECT id FROM raw)
     SELECT id FROM recent`,
    'shop',
  )

  test("goes on with the endpoint's WITH, as BigQuery takes RECURSIVE in the outermost one only", () => {
    expect(sandbox(shop, `WITH RECURSIVE ${days} SELECT id FROM refunds, d ORDER BY 1 LIMIT 5`).sql).toBe(
      `WITH RECURSIVE refunds AS (SELECT id FROM p.d.refunds), ${days} SELECT id FROM refunds, d ORDER BY 1 LIMIT 5`,
    )
  })

  test('is the query alone where that uses no table', () => {
    const sql = `WITH RECURSIVE ${days} SELECT n FROM d`
    expect(sandbox(shop, sql)).toMatchObject({ sql, tables: [], parameters: [] })
  })

  test('writes out the columns of tables that read themselves, or others behind them', () => {
    const sql = `WITH RECURSIVE week AS (SELECT * FROM d), ${days} SELECT * FROM week`
    expect(sandbox(shop, sql).sql).toBe(
      `WITH RECURSIVE week AS (SELECT d.n FROM d), ${days} SELECT week.n FROM week`,
    )
  })

  test("lets no common table be read in place of the endpoint's real tables", () => {
    const sql =
      "WITH RECURSIVE raw AS (SELECT 'mine' AS id), raw_ AS (SELECT id FROM raw) SELECT raw.id FROM recent, raw, raw_"
    expect(sandbox(endpoint('WITH recent AS (SELECT id FROM RAW) SELECT 1'), sql).sql).toBe(
      "WITH RECURSIVE recent AS (SELECT id FROM RAW), raw__ AS (SELECT 'mine' AS id), " +
        'raw_ AS (SELECT id FROM raw__ AS raw) SELECT raw.id FROM recent, raw__ AS raw, raw_',
    )
  })

  test('two tables with names of real ones get two other names', () => {
    const two = endpoint('WITH t AS (SELECT s FROM x), u AS (SELECT s FROM x_) SELECT 1')
    const sql = 'WITH RECURSIVE x AS (SELECT 1 AS n), x_ AS (SELECT 2 AS m) SELECT x.n, x_.m FROM x, x_, t, u'
    expect(sandbox(two, sql).sql).toBe(
      'WITH RECURSIVE t AS (SELECT s FROM x), u AS (SELECT s FROM x_), x__ AS (SELECT 1 AS n), ' +
        'x___ AS (SELECT 2 AS m) SELECT x.n, x_.m FROM x__ AS x, x___ AS x_, t, u',
    )
  })

  test('lets no endpoint table be read in place of a real one', () => {
    const sql = `WITH RECURSIVE ${days} SELECT logs.id FROM recent, d, Logs AS x, logs`
    const { sql: statement, tables, parameters } = sandbox(shadowed, sql)
    expect(statement).toBe(
      'WITH RECURSIVE logs_ AS (SELECT id FROM logs WHERE shop = @shop), ' +
        `recent AS (SELECT id FROM logs_ AS logs UNION ALL SELECT id FROM raw), ${days} ` +
        'SELECT logs.id FROM recent, d, logs_ AS x, logs_ AS logs',
    )
    expect([tables, parameters]).toEqual([['logs', 'recent'], ['shop']])
    expect(sandbox(shadowed, 'SELECT id FROM logs').sql).toBe(
      'WITH logs AS (SELECT id FROM logs WHERE shop = @shop) (SELECT id FROM logs)',
    )
  })

  test('says so where a table reads itself without it', () => {
    const { message } = refusal('WITH d AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM d) SELECT n FROM d')
    expect(message).toContain('begin with WITH RECURSIVE')
  })
})

describe('beside the statement', () => {
  test('the tables are those the caller reads, in the spelling and order of the endpoint', () => {
    expect(sandbox(shop, 'SELECT 1 FROM `NET` JOIN ORDERS USING (id)').tables).toEqual(['Orders', 'net'])
  })

  test("the parameters are the statement's: those of its tables and the caller's", () => {
    expect(sandbox(shop, 'SELECT id FROM orders WHERE id > @from').parameters).toEqual(['shop', 'from'])
    expect(sandbox(shop, 'SELECT id FROM refunds').parameters).toEqual([])
  })

  test('the normal form is the same for another layout, other comments and keywords in other letters', () => {
    const one = sandbox(shop, 'SELECT COUNT(*) AS n FROM refunds WHERE id IS NOT NULL;').normal
    const other = sandbox(
      shop,
      '-- how many\nselect COUNT( * ) n,from refunds where id is not null # all',
    ).normal
    expect(other).toBe(one)
  })

  test('the normal form differs where a literal does', () => {
    const normal = (literal: string) => sandbox(shop, `SELECT ${literal}`).normal
    expect(normal("'a'")).not.toBe(normal("'A'"))
  })
})

describe('a refusal', () => {
  test.each([
    ['SELECT id\nFROM refunds\n  JOIN secret USING (id)', 3, 8],
    ['SELECT id FROM refunds\r\nWHERE RAND() < 0.5', 2, 7],
    ['SELECT 1,\rf(2)', 2, 1],
    ['SELECT 1 FROM refunds LIMIT @x', 1, 29],
    ['SELECT id,\n  elsewhere.*\nFROM refunds', 2, 3],
  ])('of %j names line %i, column %i', (sql, line, column) => {
    const { code, problems } = refusal(sql)
    expect(code).toBe('sandbox_violation')
    expect(problems).toMatchObject([{ parameter: 'sql', line, column, detail: expect.any(String) }])
  })

  test('of a table names it as the caller wrote it, and those the query may read', () => {
    const { message, problems } = refusal('SELECT 1 FROM Secret')
    expect(message).toBe('"Secret" is not a table of this endpoint.')
    expect(problems[0]!.tables).toEqual(['Orders', 'refunds', 'net', 'best'])
  })

  test('that asks "did you mean" ends in one mark', () => {
    expect(refusal('SELECT COUTN(*) FROM refunds').message).toMatch(/did you mean COUNT\?$/)
  })

  test('of a table of an endpoint without tables says that there is none', () => {
    const none = endpoint('SELECT id FROM `p.d.t`')
    expect(refusal('SELECT 1 FROM t', none).problems[0]!.tables).toEqual([])
  })

  test('of what does not parse is a 400 with the place', () => {
    const { code, problems } = refusal('SELECT id\nFROM')
    expect(code).toBe('invalid_query')
    expect(problems).toMatchObject([{ parameter: 'sql', line: 2, column: 5 }])
  })

  test.each([
    ['SELECT toStartOfMinute(timestamp) FROM edge_logs', 'write TIMESTAMP_TRUNC(x, MINUTE)'],
    ['SELECT sumIf(1, TRUE)', 'write SUM(IF(condition, x, 0))'],
    ['SELECT now()', 'write CURRENT_TIMESTAMP()'],
    ['SELECT COUNTIFF(TRUE)', 'did you mean COUNTIF?'],
    ['SELECT SAFE(1)', 'there is no function "SAFE" here'],
    ['SELECT NOSUCH(1)', 'there is no function "NOSUCH" here'],
    ['SELECT `COUNT`(1)', 'the function "COUNT" is written without backticks'],
    ['SELECT SAFE.RAND()', 'is not allowed, as its value differs from run to run'],
    ["SELECT SEARCH('a', 'b')", "write CONTAINS_SUBSTR(x, 'text')"],
    ['SELECT HLL_COUNT.INIT(1)', 'write COUNT(DISTINCT x)'],
    ['SELECT SAFE.NET.FORMAT_IP(1)', 'a name with a dot may be a routine that reads tables'],
    ['SELECT ML.TRANSLATE(1)', 'is not allowed, as it takes a table, a model or a connection'],
    ['WITH a AS (SELECT 1 FROM b), b AS (SELECT 1) SELECT 1 FROM a', 'write it before all that read it'],
    ['SELECT @other', 'the endpoint has no parameter @other; it has @project, @iso_timestamp_start'],
    ['SELECT date_part(1)', 'write EXTRACT(HOUR FROM x)'],
    ['SELECT nvl(1, 2)', 'write IFNULL(x, other)'],
    ['SELECT hour(timestamp) FROM edge_logs', 'write EXTRACT(HOUR FROM x)'],
    ["SELECT id FROM logs WHERE source = 'edge_logs'", 'FROM edge_logs'],
    ['SELECT table_name FROM information_schema.columns', 'GET /api/endpoints/NAME/tables lists the tables'],
    ['SELECT relname FROM pg_class', 'GET /api/endpoints/NAME/tables lists the tables'],
    ['SELECT id FROM public.edge_logs', ': write edge_logs alone'],
    ['SELECT id FROM edge_log', '; did you mean edge_logs?'],
    ['SELECT id FROM `edge-logs`', '; did you mean edge_logs?'],
    ['SELECT id FROM postgres', '; did you mean postgres_logs?'],
    ['WITH counted AS (SELECT 1 AS n) SELECT n FROM countd', '; did you mean counted?'],
    ['SELECT 1 FROM edge_logs, metadata', 'read with UNNEST, as in FROM logs AS t, UNNEST(t.metadata) AS m'],
    ['SELECT @projct', 'no parameter @projct; did you mean @project?'],
    [
      "SELECT toStartOfHour(timestamp) AS timestamp, countIf(NOT (toInt32OrZero(log_attributes['response.status_code']) >= 500)) AS ok FROM logs WHERE source = 'edge_logs' GROUP BY timestamp",
      'CROSS JOIN UNNEST(m.request) AS r and write r.path',
    ],
    [
      "SELECT id FROM logs WHERE source = 'edge_logs' AND (log_attributes['identifier'] = 'a' OR event_message ILIKE '%x%')",
      'CROSS JOIN UNNEST(m.request) AS r and write r.path',
    ],
    [
      "SELECT log_attributes['request.path'] FROM `logs.all.otel`",
      'CROSS JOIN UNNEST(m.request) AS r and write r.path',
    ],
  ])('of another dialect, %s, says what to write', (sql, instead) => {
    expect(refusal(sql, logs).problems[0]!.detail).toContain(instead)
  })

  test('of a long name cuts it', () => {
    expect(refusal(`SELECT 1 FROM \`${'\u{1f600}'.repeat(9_000)}\``).message.length).toBeLessThan(200)
    expect(refusal(`SELECT 1 FROM refunds ${'x'.repeat(9_000)} y`).message.length).toBeLessThan(400)
  })
})

describe('an endpoint that cannot be read', () => {
  test('is an internal error that says nothing of its SQL', () => {
    const { code, message } = refusal('SELECT 1', endpoint('SELECT secret FROM WHERE'))
    expect({ code, message }).toEqual({ code: 'internal', message: 'An internal error.' })
  })
})

test('a query as large as a query may be composes with the tables of the endpoint', () => {
  const ctes = Array.from({ length: 32 }, (_, i) => `c${i} AS (SELECT id FROM edge_logs)`).join(', ')
  expect(sandbox(logs, `WITH ${ctes} SELECT id FROM c0, auth_logs`).tables).toEqual([
    'edge_logs',
    'auth_logs',
  ])
  const subqueries = `${'SELECT ('.repeat(38)}SELECT MAX(id) FROM edge_logs${')'.repeat(38)}`
  expect(sandbox(logs, subqueries).tables).toEqual(['edge_logs'])
  const chain = (left: string, links: number) => `(${left}${' + 1'.repeat(links)})`
  const tall = `SELECT ${chain(chain(chain('1', 390), 390), 190)} FROM edge_logs`
  expect(sandbox(logs, tall).tables).toEqual(['edge_logs'])
})

const small = {
  sql: 'WITH logs AS (SELECT id, path FROM `real.table`) SELECT id FROM logs',
  parameters: {},
}

/** Where the caller's text has the complaint that an engine makes about `name` in the composed statement. */
function found(callerSql: string, name: string) {
  const sandboxed = sandbox(small, callerSql)
  return placeInCaller(sandboxed, callerSql, placeOf(sandboxed.sql, sandboxed.sql.lastIndexOf(name)))
}

describe('a complaint about the composed statement', () => {
  test('is placed in the text that the caller sent, with its own layout and comments', () => {
    const text = '-- a comment\nselect\n  id,\n  patth   as x -- here\nfrom logs;'
    expect(found(text, 'patth')).toEqual({ line: 4, column: 3 })
  })

  test('is found where the caller’s keywords are written otherwise', () => {
    expect(found('select id from logs where ( patth=1 )', 'patth')).toEqual({ line: 1, column: 29 })
  })

  test('is found in a WITH RECURSIVE, whose tables follow the endpoint’s', () => {
    const text = 'with recursive a as (\n select patth from logs)\nselect path\nfrom a, loggs'
    expect(found(text.replace('loggs', 'logs'), 'patth')).toEqual({ line: 2, column: 9 })
    expect(found(text.replace('loggs', 'logs'), 'path')).toEqual({ line: 3, column: 8 })
    expect(found(text.replace('loggs', 'logs'), 'real.table')).toBeNull()
  })

  test('about the endpoint’s own part has no place', () => {
    const callerSql = 'SELECT id FROM logs'
    const sandboxed = sandbox(small, callerSql)
    expect(
      placeInCaller(sandboxed, callerSql, placeOf(sandboxed.sql, sandboxed.sql.indexOf('path'))),
    ).toBeNull()
  })

  test('is found behind a * that has become columns', () => {
    expect(found('SELECT *, 1 AS one\nFROM logs WHERE patth = 1', 'patth')).toEqual({ line: 2, column: 17 })
    expect(found('SELECT 2 AS two,\n  * FROM logs', 'logs.path')).toEqual({ line: 2, column: 3 })
  })

  test('of a query without the endpoint’s tables is placed too', () => {
    expect(found('SELECT   nothing', 'nothing')).toEqual({ line: 1, column: 10 })
  })
})
