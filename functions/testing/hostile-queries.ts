/** Queries that would take all of the time or memory there is, and random calls of every function with awkward arguments. */
import { netFunctions, plainFunctions } from '../../shared/sql/functions.ts'
import { questionsOf, subjects } from '../../shared/engines/testing/reference/corpus.ts'
import { tables } from '../../shared/engines/testing/reference/tables.ts'
import type { Random } from '../../shared/sandbox/testing/random.ts'

const many = (count: number, part: (at: number) => string, between = ', ') =>
  Array.from({ length: count }, (_, at) => part(at)).join(between)

const rows = (count: number) => `UNNEST(GENERATE_ARRAY(1, ${count})) AS n`

/** Each alone took seconds, gigabytes, or the process, before something bounded it. */
export const hostileQueries: Record<string, string> = {
  'a wide FORMAT': `SELECT FORMAT('%1000000000d', 1)`,
  'a FORMAT as wide as an argument': `SELECT FORMAT('%*d', 1000000000, 1)`,
  'a FORMAT as wide as a value of a row': `SELECT LENGTH(FORMAT('%*d', n * 100000, 1)) FROM ${rows(3000)}`,
  'a FORMAT with a long fraction': `SELECT FORMAT('%.999999999f', 1.5)`,
  'REPEAT of REPEAT': `SELECT LENGTH(REPEAT(REPEAT(REPEAT('a', 1000), 1000), 1000))`,
  'REPEAT by values of rows': `SELECT SUM(LENGTH(REPEAT('a', 1000000 + MOD(n, 7)))) FROM ${rows(100_000)}`,
  'many REPEATs by values of rows': `SELECT ${many(300, at => `LENGTH(REPEAT('a', 10000 + n + ${at}))`)} FROM ${rows(5000)}`,
  'many REPEATs': `SELECT ${many(500, at => `LENGTH(REPEAT('a', 1000000 + ${at}))`)}`,
  'LPAD by values of rows': `SELECT SUM(LENGTH(LPAD('', 1000000 + MOD(n, 7), 'ü'))) FROM ${rows(100_000)}`,
  'REPLACE that grows': `SELECT LENGTH(${many(12, () => 'REPLACE(', '')}event_message${many(12, () => `, 'e', 'eeeeeeeeee')`, '')}) FROM edge_logs`,
  'REPLACE by long texts': `SELECT LENGTH(REPLACE(REPEAT('a', 1000000), 'a', REPEAT('b', 1000000)))`,
  'REGEXP_REPLACE of nothing by a long text': `SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 100000), '', REPEAT('b', 100000)))`,
  'REGEXP_REPLACE that doubles': `SELECT LENGTH(${many(40, () => 'REGEXP_REPLACE(', '')}event_message${many(40, () => String.raw`, r'(.)', r'\1\1')`, '')}) FROM edge_logs`,
  'texts that double': `WITH ${many(30, at => `c${at} AS (SELECT x || x AS x FROM ${at ? `c${at - 1}` : '(SELECT event_message AS x FROM edge_logs)'})`)} SELECT LENGTH(x) FROM c29`,
  'a chain of texts': `SELECT LENGTH(${many(390, () => 'TO_JSON_STRING(metadata)', ' || ')}) FROM edge_logs`,
  'a CONCAT of thousands': `SELECT LENGTH(CONCAT(${many(5000, () => 'event_message')})) FROM edge_logs`,
  'hexadecimal of hexadecimal': `SELECT LENGTH(${many(40, () => 'TO_HEX(CAST(', '')}event_message${many(40, () => ' AS BYTES))', '')}) FROM edge_logs`,
  'JSON of JSON': `SELECT LENGTH(${many(60, () => 'TO_JSON_STRING(', '')}metadata${many(60, () => ')', '')}) FROM edge_logs`,
  'structs that double': `WITH ${many(30, at => `c${at} AS (SELECT STRUCT(x AS a, x AS b) AS x FROM ${at ? `c${at - 1}` : '(SELECT id AS x FROM edge_logs)'})`)} SELECT x.a FROM c29`,
  'columns that double': `WITH ${many(30, at => `c${at} AS (SELECT a.*, ${many(3, i => `x AS x${at}_${i}`)} FROM ${at ? `c${at - 1}` : '(SELECT id AS x FROM edge_logs)'} AS a)`)} SELECT x FROM c29`,
  'joins with itself that double': `WITH ${many(20, at => `c${at} AS (SELECT a.x AS x FROM ${at ? `c${at - 1}` : 'c'} AS a JOIN ${at ? `c${at - 1}` : 'c'} AS b ON a.x = b.x)`).replace('c0 AS', 'c AS (SELECT id AS x FROM edge_logs), c0 AS')} SELECT COUNT(*) FROM c19`,
  'arrays of rows': `SELECT SUM(ARRAY_LENGTH(GENERATE_ARRAY(1, 1000000 + n))) FROM ${rows(100_000)}`,
  'dates of rows': `SELECT SUM(ARRAY_LENGTH(GENERATE_DATE_ARRAY('0001-01-01', DATE_ADD(DATE '2900-01-01', INTERVAL n DAY)))) FROM ${rows(10_000)}`,
  'times of rows': `SELECT SUM(ARRAY_LENGTH(GENERATE_TIMESTAMP_ARRAY('2020-01-01', TIMESTAMP_ADD('2026-01-01', INTERVAL n SECOND), INTERVAL 1 MICROSECOND))) FROM ${rows(10_000)}`,
  'a cross join': `SELECT COUNT(*) FROM ${rows(1_000_000)}, UNNEST(GENERATE_ARRAY(1, 1000000)) AS m, UNNEST(GENERATE_ARRAY(1, 1000000)) AS k WHERE MOD(n * m + k, 7) = 3`,
  'all rows sorted': `SELECT n, m FROM ${rows(1_000_000)}, UNNEST(GENERATE_ARRAY(1, 1000)) AS m ORDER BY MOD(n * m, 1000003), n`,
  'an array of all rows': `SELECT ARRAY_AGG(REPEAT('a', 4000 + MOD(n, 9))) FROM ${rows(1_000_000)}`,
  'a text of all rows': `SELECT LENGTH(STRING_AGG(REPEAT('a', 4000 + MOD(n, 9)))) FROM ${rows(1_000_000)}`,
  'distinct texts of all rows': `SELECT COUNT(DISTINCT CONCAT(REPEAT('a', 4000), CAST(n * 1000003 AS STRING))) FROM ${rows(1_000_000)}`,
  'arrays of windows': `SELECT MAX(l) FROM (SELECT ARRAY_LENGTH(ARRAY_AGG(n) OVER (ORDER BY n)) AS l FROM ${rows(100_000)})`,
  'texts of windows': `SELECT MAX(l) FROM (SELECT LENGTH(STRING_AGG(CAST(n AS STRING)) OVER (ORDER BY n)) AS l FROM ${rows(100_000)})`,
  'a window of all rows': `SELECT SUM(s) FROM (SELECT COUNT(DISTINCT MOD(n, 1000)) OVER (ORDER BY n ROWS BETWEEN 50000 PRECEDING AND 50000 FOLLOWING) AS s FROM ${rows(1_000_000)})`,
  'a pattern with counts': `SELECT COUNTIF(REGEXP_CONTAINS(REPEAT('ab', 1000 + MOD(n, 9)), r'[ab]{0,500}a{500}c[ab]{500}')) FROM ${rows(10_000)}`,
  'patterns of rows': `SELECT COUNTIF(REGEXP_CONTAINS(event_message, CONCAT('(x{1,500}y{1,500}z{1,500}', CAST(n AS STRING), ')'))) FROM edge_logs, ${rows(10_000)}`,
  'a pattern that backtracks': `SELECT REGEXP_CONTAINS(REPEAT('a', 100000), r'(a+)+$'), REGEXP_EXTRACT(REPEAT('a', 100000), r'((a|aa)*)b')`,
  'a pattern too large': `SELECT REGEXP_CONTAINS('a', '(((a{100}){100}){100}){100}')`,
  'LIKE with many wildcards': `SELECT REPEAT('a', 100000) LIKE '${many(30, () => '%a_', '')}b'`,
  'LIKE with many wildcards of a row': `SELECT COUNTIF(REPEAT('a', 1000) LIKE CONCAT(REPEAT('%a_', 30), CAST(n AS STRING))) FROM ${rows(3000)}`,
  'SPLIT into letters': `SELECT SUM(ARRAY_LENGTH(SPLIT(REPEAT('a', 4000 + MOD(n, 9)), ''))) FROM ${rows(100_000)}`,
  'all matches of nothing': `SELECT SUM(ARRAY_LENGTH(REGEXP_EXTRACT_ALL(REPEAT('a', 4000 + MOD(n, 9)), ''))) FROM ${rows(100_000)}`,
  'the last place of a letter': `SELECT SUM(INSTR(REPEAT('ü', 1000 + MOD(n, 9)), 'ü', -1, 1000)) FROM ${rows(100_000)}`,
  'a delimiter that is long': `SELECT LENGTH(ARRAY_TO_STRING(SPLIT(REPEAT('a', 100000), ''), '${many(3000, () => 'x', '')}'))`,
  'JSON that is deep': `SELECT PARSE_JSON(CONCAT(REPEAT('[', 5000), REPEAT(']', 5000)))`,
  'JSON that is very deep': `SELECT JSON_VALUE(CONCAT(REPEAT('{"a":', 200000), '1', REPEAT('}', 200000)), '$.a')`,
  'JSON in a literal that is deep': `SELECT JSON '${'['.repeat(5000)}${']'.repeat(5000)}'`,
  'a path that is long': `SELECT JSON_VALUE('{}', '$${'.a'.repeat(5000)}')`,
  'sums beyond INT64': `SELECT SUM(9223372036854775807) FROM ${rows(10)}`,
  'exponents beyond FLOAT64': `SELECT EXP(n * 1000), POW(10, n * 1000) FROM ${rows(10)}`,
  'thousands of columns': `SELECT ${many(3000, at => `n + ${at} AS c${at}`)} FROM ${rows(10)}`,
  'thousands of columns, sorted and grouped': `SELECT ${many(900, at => `n + ${at}`)}, COUNT(*) FROM ${rows(10)} GROUP BY ${many(900, at => String(at + 1))} ORDER BY ${many(900, at => String(at + 1))}`,
  'hundreds of UNIONs': many(190, at => `SELECT id FROM edge_logs WHERE id = '${at}'`, ' UNION ALL '),
  'hundreds of UNION DISTINCTs': many(
    190,
    at => `SELECT id FROM edge_logs WHERE id = '${at}'`,
    ' UNION DISTINCT ',
  ),
  'hundreds of joins': `SELECT COUNT(*) FROM edge_logs AS t0 ${many(120, at => `JOIN edge_logs AS t${at + 1} USING (id)`, ' ')}`,
  'hundreds of cross joins': `SELECT COUNT(*) FROM edge_logs AS t0 ${many(120, at => `CROSS JOIN edge_logs AS t${at + 1}`, ' ')}`,
  'joins on everything': `SELECT COUNT(*) FROM edge_logs AS t0 ${many(14, at => `JOIN edge_logs AS t${at + 1} ON ${many(at + 1, i => `t${i}.id = t${at + 1}.id`, ' AND ')}`, ' ')}`,
  'joins of all nine tables': `SELECT COUNT(*) FROM ${many(30, at => `${['edge_logs', 'postgres_logs', 'auth_logs', 'storage_logs'][at % 4]} AS t${at}`)} WHERE ${many(29, at => `t${at}.timestamp < t${at + 1}.timestamp`, ' AND ')}`,
  'subqueries inside one another': `SELECT ${many(60, () => '(SELECT MAX(id) FROM edge_logs WHERE id < ', '')}'a'${many(60, () => ')', '')}`,
  'correlated subqueries inside one another': `SELECT ${many(11, at => `(SELECT MAX(t${at}.id) FROM edge_logs AS t${at} WHERE t${at}.id ${at ? `< t${at - 1}.id AND t${at}.id` : ''} > `, '')}'a'${many(11, () => ')', '')}`,
  'many correlated subqueries': `SELECT ${many(150, at => `(SELECT COUNT(*) FROM edge_logs AS b WHERE b.id < a.id AND b.id != '${at}')`)} FROM edge_logs AS a`,
  'thirty common tables that double': `WITH ${many(30, at => `c${at} AS (SELECT COUNT(*) AS n FROM ${at ? `c${at - 1} CROSS JOIN c${at - 1} AS b` : 'edge_logs'})`)} SELECT n FROM c29`,
  'derived tables inside one another': `${many(60, () => 'SELECT * FROM (', '')}SELECT id FROM edge_logs${many(60, () => ')', '')}`,
  'thousands of values in IN': `SELECT COUNT(*) FROM edge_logs WHERE id IN (${many(8000, at => `'${at}'`)})`,
  'thousands of WHENs': `SELECT CASE ${many(3000, at => `WHEN id = '${at}' THEN ${at}`, ' ')} END FROM edge_logs`,
  'a chain of ANDs': `SELECT COUNT(*) FROM edge_logs WHERE ${many(390, at => `id != '${at}'`, ' AND ')}`,
  'hundreds of windows': `SELECT ${many(150, at => `SUM(n) OVER (PARTITION BY MOD(n, ${at + 2}) ORDER BY n)`)} FROM ${rows(2000)}`,
  'calls inside one another': `SELECT ${many(100, () => 'COALESCE(', '')}id${many(100, () => `, 'a')`, '')} FROM edge_logs`,
  'calls that repeat their arguments': `SELECT ${many(25, () => 'REVERSE(', '')}id${many(25, () => ')', '')} FROM edge_logs`,
  'JSON functions inside one another': `SELECT ${many(25, () => 'JSON_VALUE(', '')}event_message${many(25, () => `, '$.a')`, '')} FROM edge_logs`,
  'a name of every object': `SELECT FORMAT_TIMESTAMP('constructor', CURRENT_TIMESTAMP()), FORMAT('%constructor', 1)`,
  'a format of every object': `SELECT FORMAT_DATE('%__proto__ %constructor', CURRENT_DATE())`,
  'a hexadecimal LIMIT': `SELECT id FROM edge_logs LIMIT 0x10`,
  'ARRAY_CONCAT of nothing': `SELECT ARRAY_CONCAT()`,
  'a path with a star':
    'SELECT JSON_VALUE(event_message, `$.*`), JSON_VALUE(event_message, "$.*") FROM edge_logs',
  'a path with a star in backticks': 'SELECT `$.a.*` FROM edge_logs',
  'cubes of many columns': `SELECT COUNT(*) FROM edge_logs GROUP BY CUBE(${many(14, at => `SUBSTR(id, ${at + 1}, 1)`)})`,
  'quantiles of all rows': `SELECT APPROX_QUANTILES(n, 1000), APPROX_TOP_COUNT(n, 1000000) FROM ${rows(1_000_000)}`,
}

const texts = [
  `''`, `'a'`, `'ab c'`, `'ß'`, `'😀'`, `'%'`, `'_'`, `'%_%_%'`, `'\\\\'`, `'constructor'`, `'__proto__'`, `'toString'`, `r'(a+)+$'`,
  `r'\\d{1,3}'`, `'('`, `'$.a[0]'`, `'$.*'`, `'$'`, `'{"a":[1,{"b":null}]}'`, `'2026-03-14'`, `'2026-03-14 25:00:00'`, `'UTC'`,
  `'Europe/Berlin'`, `'%F %T'`, `'%E*S%Ez'`, `'%Q'`, `'%d %s %t %T'`, 'event_message', 'id', 'TO_JSON_STRING(metadata)',
  `REPEAT('ab', 5000)`, `REPEAT('ü', n)`, 'CAST(NULL AS STRING)', '@project', `'1e400'`, `'-0'`, `'\\x00'`, `'0x1F'`,
] // prettier-ignore
const integers = [
  '0', '1', '-1', '2', '63', '64', '1000000', '9223372036854775807', '-9223372036854775808', 'NULL', 'n', 'n * 1000003', '0x7F',
] // prettier-ignore
const floats = [
  '0.5',
  '-0.0',
  `CAST('nan' AS FLOAT64)`,
  `CAST('-inf' AS FLOAT64)`,
  '1e308',
  '1e-320',
  'n / 3',
]
const numerics = [
  `NUMERIC '99999999999999999999999999999.999999999'`,
  `NUMERIC '-0.000000001'`,
  `NUMERIC '0.5'`,
]
const others = [
  '[]', '[1, NULL, 2]', `['a', NULL]`, 'GENERATE_ARRAY(1, 100)', 'ARRAY<STRING>[]', `[STRUCT(1 AS a, 'b' AS b)]`, `STRUCT(1 AS a)`, 'metadata',
  `DATE '0001-01-01'`, `DATE '9999-12-31'`, `TIMESTAMP '2026-03-14 09:00:00+00'`, `TIMESTAMP '9999-12-31 23:59:59.999999+00'`, 'timestamp',
  `DATETIME '2026-03-29 02:30:00'`, `TIME '23:59:59.999999'`, 'INTERVAL 1 DAY', 'INTERVAL -9999 YEAR', 'CURRENT_TIMESTAMP()',
  `JSON '{"a": [1, "x", null]}'`, 'PARSE_JSON(event_message)', `b'\\xff\\x00'`, `CAST(event_message AS BYTES)`, 'TRUE', 'NULL', 'DAY', 'WEEK(MONDAY)',
  'MICROSECOND', 'x -> x > 1', '(SELECT MAX(id) FROM auth_logs)', 'ARRAY(SELECT id FROM auth_logs)', 'DISTINCT id', '*',
] // prettier-ignore

const functions = [...plainFunctions, ...netFunctions]

const sources = [
  '', 'FROM edge_logs, UNNEST([7]) AS n', 'FROM postgres_logs CROSS JOIN UNNEST(metadata) AS m, UNNEST([7, 8]) AS n',
  `FROM (SELECT id, timestamp, event_message, metadata, 5000 AS n FROM auth_logs)`,
  `FROM function_logs LEFT JOIN UNNEST(GENERATE_ARRAY(0, 20)) AS n ON TRUE`,
] // prettier-ignore

/** A random query of one of three kinds: `mutated` makes the third. */
export function randomQuery(random: Random, mutated: () => string): string {
  return random.pick([randomCalls, randomQuestion, mutated])(random)
}

/** A query that calls one to three functions, mostly inside one another, over the endpoint's tables. */
function randomCalls(random: Random): string {
  const argument = (depth: number): string =>
    depth > 0 && random.oneIn(4)
      ? call(depth - 1)
      : random.pick(random.pick([texts, texts, integers, floats, others]))
  const call = (depth: number): string => {
    const name = (random.oneIn(12) ? 'SAFE.' : '') + random.pick(functions)
    const over = random.oneIn(15)
      ? ` OVER (${random.pick(['', 'PARTITION BY id', 'ORDER BY timestamp', 'ORDER BY n ROWS 3 PRECEDING'])})`
      : ''
    return `${name}(${random.some(0, 4, () => argument(depth)).join(', ')})${over}`
  }
  const expression = random.oneIn(8)
    ? `${argument(2)} ${random.pick(['||', '+', '/', 'LIKE', 'IN UNNEST', '<', '=', 'IS NOT DISTINCT FROM', '>>'])} ${argument(2)}`
    : call(2)
  const parts = [
    `SELECT ${expression} AS x`,
    random.pick(sources),
    random.oneIn(6) ? `WHERE ${call(1)}` : '',
    random.oneIn(8) ? 'GROUP BY 1' : '',
    random.oneIn(8) ? `ORDER BY ${random.pick(['1', 'x DESC', 'n'])}` : '',
    random.oneIn(8)
      ? `LIMIT ${random.pick(['0', '3', '0x10', '-1', '@project', 'NULL', '9223372036854775807'])}`
      : '',
  ]
  return parts.filter(Boolean).join(' ')
}

/** Awkward values by type, for the columns of the reference's grids. */
const ofType: Record<string, string[]> = {
  STRING: texts,
  INT64: integers,
  FLOAT64: floats,
  NUMERIC: numerics,
  BIGNUMERIC: numerics,
  BOOL: ['TRUE', 'FALSE', 'NULL'],
  BYTES: [`b'\\xff\\x00'`, `b''`, 'CAST(event_message AS BYTES)', 'SHA256(id)'],
  DATE: [`DATE '0001-01-01'`, `DATE '9999-12-31'`, 'CURRENT_DATE()', 'NULL', `DATE '2024-02-29'`],
  DATETIME: [
    `DATETIME '0001-01-01 00:00:00'`,
    `DATETIME '2026-03-29 02:30:00'`,
    `DATETIME '9999-12-31 23:59:59.999999'`,
  ],
  TIME: [`TIME '00:00:00'`, `TIME '23:59:59.999999'`],
  TIMESTAMP: [
    'timestamp',
    `TIMESTAMP '0001-01-01 00:00:00+00'`,
    `TIMESTAMP '9999-12-31 23:59:59.999999+00'`,
    'CURRENT_TIMESTAMP()',
  ],
  JSON: [`JSON '{"a": [1, "x", null]}'`, 'PARSE_JSON(event_message)', 'TO_JSON(metadata)', `JSON 'null'`],
  ARRAY: ['[1, NULL, 2]', `['a', NULL]`, '[]', 'GENERATE_ARRAY(1, n)', 'metadata'],
  STRUCT: [`STRUCT(1 AS a)`, 'STRUCT(NULL)'],
}

const questions = subjects
  .flatMap(questionsOf)
  .filter(({ grid, sql }) => grid !== null || !/\bFROM [a-z]/.test(sql))

/** A question of the reference's corpus with awkward values in place of its columns and of one of its literals. */
function randomQuestion(random: Random): string {
  const { grid, sql } = random.pick(questions)
  let changed = sql
  for (const { name, type } of grid === null ? [] : tables[grid]!.columns)
    changed = changed.replaceAll(new RegExp(`\\b${name}\\b`, 'g'), () =>
      random.pick(ofType[type.kind] ?? texts),
    )
  const literals = [...changed.matchAll(/'(?:[^'\\]|\\.)*'|\b\d+(?:\.\d+)?\b/g)]
  if (literals.length > 0 && random.oneIn(2)) {
    const { index, 0: literal } = random.pick(literals)
    const other = random.pick(literal.startsWith("'") ? texts : literal.includes('.') ? floats : integers)
    changed = changed.slice(0, index) + other + changed.slice(index + literal.length)
  }
  return grid === null ? changed : `SELECT ${changed} AS x ${random.pick(sources)}`
}
