/** An error that DuckDB gives while it plans or runs has the place of its cause in the query, where that is certain. */
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { EngineError } from './engine.ts'
import { duckDb, type OpenEngine } from './testing/adapters.ts'
import { tables } from './testing/reference/tables.ts'

let open: OpenEngine

beforeAll(async () => {
  const { requests } = tables
  open = await duckDb.open({ requests: requests!.columns })
  await open.append('requests', requests!.rows)
})

afterAll(() => open.close())

/** The message and the text from its place on. */
async function errorOf(sql: string): Promise<[message: string, text: string | null]> {
  try {
    await open.engine.run({ sql, bindings: [] }, { maxRows: 100, timeoutMs: 10_000 })
  } catch (error) {
    if (!(error instanceof EngineError)) throw error
    const { place, message } = error
    return [message, place && sql.split('\n')[place.line - 1]!.slice(place.column - 1)]
  }
  throw new Error(`not refused: ${sql}`)
}

test.each([
  ['SELECT method, COUNT(*) FROM requests', 'neither grouped nor aggregated', 'method,'],
  ['SELECT COUNT(*), UPPER(r.path)\nFROM requests AS r GROUP BY r.method', 'neither grouped', 'r.path)'],
  ['SELECT method AS m, COUNT(*), status + 1 FROM requests GROUP BY m', 'neither grouped', 'status +'],
  ['SELECT method, path, COUNT(*) FROM requests GROUP BY 1', 'write ANY_VALUE(path)', 'path,'],
  [
    'SELECT ts, COUNT(*) FROM requests GROUP BY TIMESTAMP_TRUNC(ts, DAY)',
    'add ts, or the expression around it, to GROUP BY',
    'ts, C',
  ],
  ['SELECT id FROM requests ORDER BY COUNT(*)', 'neither grouped', 'id FROM'],
  ["SELECT REGEXP_CONTAINS(path, '(?=a)') FROM requests", 'RE2 has no look-ahead', 'REGEXP_'],
  ['SELECT id FROM requests HAVING COUNT(*) > 1', 'HAVING needs a GROUP BY', 'COUNT(*)'],
  ['SELECT COUNT(*) FROM requests GROUP BY method HAVING status > 1', 'neither grouped', 'status >'],
  ['SELECT id FROM requests WHERE COUNT(*) > 1', 'HAVING filters groups', 'COUNT(*) >'],
  ['SELECT id FROM requests WHERE RANK() OVER (ORDER BY id) = 1', 'QUALIFY filters by it', 'RANK()'],
  ['SELECT MAX(COUNT(*)) FROM requests', 'put the inner one into a subquery', 'COUNT(*)'],
  ['SELECT id / (id - 1) FROM requests', 'Division by zero: SAFE_DIVIDE', 'id / (id'],
  ['SELECT 1 + MOD(id, 0) FROM requests', 'Division by zero: SAFE.MOD(a, b) gives NULL', 'MOD('],
  ['SELECT GENERATE_ARRAY(1, id, 0) FROM requests', 'its step is not 0', 'GENERATE'],
  [
    "SELECT GENERATE_DATE_ARRAY('2026-01-01', '2026-01-02', INTERVAL id - id DAY) FROM requests",
    'its step is not 0',
    'GENERATE',
  ],
  ['SELECT DATE(2026, 2, 29)', 'A number or date is out of range: in DATE', 'DATE('],
  ['SELECT 9223372036854775807 + id FROM requests', 'out of range: in +', '9223'],
  ['SELECT SUM(9223372036854775807) FROM requests', 'out of range: in SUM', 'SUM('],
  ['SELECT CHR(-1)', 'A function refuses a value that it is given: in CHR', 'CHR('],
  ['SELECT SQRT(-1)', 'out of range: in SQRT', 'SQRT('],
  ['SELECT EXP(1e10)', 'A number is out of range: in EXP', 'EXP('],
  ["SELECT SUBSTR('a', 1, -1)", 'Length must not be negative: in SUBSTR', 'SUBSTR('],
  ['SELECT 1 << -1', 'Bitwise shifts take no negative number: in <<', '1 <<'],
  ["SELECT INT64(JSON '1.5')", 'write LAX_INT64(x)', 'INT64('],
  ["SELECT ASCII('é')", 'write UNICODE(x)', 'ASCII('],
  [
    "SELECT FORMAT_TIMESTAMP('%Q', ts, 'Europe/Berlyn') FROM requests",
    "Unknown time zone: 'Europe/Berlyn'; did you mean 'Europe/Berlin'?",
    "'Europe/",
  ],
  ['SELECT id, CAST(path AS INT64) FROM requests', 'cannot be converted', 'CAST('],
  ['SELECT id, TIMESTAMP(path) FROM requests', 'SAFE.TIMESTAMP gives NULL', 'TIMESTAMP('],
  ['SELECT id, FROM_BASE64(path) FROM requests', 'SAFE.FROM_BASE64 gives NULL', 'FROM_BASE64('],
  [
    "SELECT id FROM requests WHERE ts > 'yesterday'",
    "a time is written '2026-01-31 12:00:00'",
    "'yesterday'",
  ],
  [
    "SELECT id FROM requests WHERE ts BETWEEN '2026-01-01' AND '2026-02-30'",
    'a time is written',
    "'2026-02-30'",
  ],
  ["SELECT DATE '2024-02-30'", "literal: a date is written '2026-01-31'", "DATE '2024"],
  ["SELECT JSON '{a: 1}'", 'Invalid JSON literal: names and texts have double quotes', 'JSON'],
  ["SELECT id FROM requests WHERE FALSE AND ts > 'today'", 'Could not cast this literal to', "'today'"],
  ['SELECT id + 9223372036854775808 FROM requests', 'Invalid integer literal: it is over', '92233'],
  [
    'SELECT SUM(id) OVER (ORDER BY id ROWS 3 FOLLOWING) FROM requests',
    'needs its end: write ROWS',
    '3 FOLLOWING)',
  ],
  [
    'SELECT SUM(id) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND 1 PRECEDING) FROM requests',
    'A frame cannot begin at CURRENT ROW and end at PRECEDING',
    '1 PRECEDING)',
  ],
  ['SELECT SUM(id) OVER (ORDER BY id RANGE 0.5 PRECEDING) FROM requests', 'is a whole number', '0.5 PREC'],
  ['SELECT id FROM requests QUALIFY id = 1', 'QUALIFY needs a window function', 'id = 1'],
  ['SELECT ARRAY(SELECT AS STRUCT id, 2 AS ID FROM requests)', 'two fields of one name', 'SELECT AS'],
  ['SELECT id FROM requests AS id JOIN requests AS r USING (id)', 'that of a table', 'id)'],
  ['SELECT id AS method', 'Unrecognized name: id: the query has no FROM', 'id AS'],
  ['SELECT tags[OFFSET(99)] FROM requests', '[SAFE_OFFSET(n)] gives NULL', 'tags['],
  ['SELECT id, (SELECT r.id FROM requests AS r) FROM requests', 'add LIMIT 1, or aggregate', '(SELECT r.id'],
  ["SELECT PARSE_TIMESTAMP('%Y', path) FROM requests", 'does not have the format', 'PARSE_TIMESTAMP('],
  [
    "SELECT id FROM requests WHERE REGEXP_CONTAINS(path, '(')",
    'Bad regular expression: missing )',
    'REGEXP_',
  ],
])('%s', async (sql, message, text) => {
  const [said, from] = await errorOf(sql)
  expect(said).toContain(message)
  expect(from?.startsWith(text)).toBe(true)
})

test('an error that two parts can have caused has no place', async () => {
  const both = ['SELECT 1 / (id - 1), 2 / (id - 1)', 'SELECT CAST(path AS INT64), TIMESTAMP(path)']
  const errors = await Promise.all(both.map(sql => errorOf(`${sql} FROM requests`)))
  const converted = 'A value cannot be converted to the type asked for'
  expect(errors).toEqual([
    ['Division by zero', null],
    [converted, null],
  ])
})

test('a value out of range that two parts can have caused names both', async () => {
  const [message, text] = await errorOf('SELECT SQRT(id - 100) FROM requests')
  expect([message, text]).toEqual(['A number or date is out of range: in SQRT or -', null])
})

test('one that a parameter can have caused has no place: its value is at fault', async () => {
  const sql = 'SELECT id FROM requests WHERE REGEXP_CONTAINS(path, @pattern)'
  const bindings = [{ name: 'pattern', type: { kind: 'STRING' as const }, value: '(' }]
  const run = open.engine.run({ sql, bindings }, { maxRows: 100, timeoutMs: 10_000 })
  await expect(run).rejects.toMatchObject({ message: 'Bad regular expression: missing )', place: null })
})

test('a negative LIMIT or OFFSET has the name of the parameter, where there is one', async () => {
  const errorFor = async (sql: string) => {
    const bindings = ['a', 'b'].map(name => ({ name, type: { kind: 'INT64' as const }, value: -1 }))
    const run = open.engine.run({ sql, bindings }, { maxRows: 100, timeoutMs: 10_000 })
    return run.then(
      () => null,
      (error: EngineError) => error.message,
    )
  }
  const refusal = 'LIMIT and OFFSET take no negative number'
  const from = 'SELECT id, @a + @b AS n FROM requests'
  expect(await errorFor(`${from} LIMIT @a`)).toBe(`${refusal}: see parameter @a`)
  expect(await errorFor(`SELECT n FROM (${from} LIMIT 1 OFFSET @b)`)).toBe(`${refusal}: see parameter @b`)
  expect(await errorFor(`${from} LIMIT @a OFFSET @b`)).toBe(refusal)
})
