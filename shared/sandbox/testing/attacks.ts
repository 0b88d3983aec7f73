/** Attacks on the sandbox, by the rules of `shared/sandbox/README.md`, "Rules". */
import type { ErrorCode } from '../../errors.ts'

/** Queries that try the same way out, the rule that stops them, and the words of its message. */
export interface Attacks {
  rule: string
  code: Extract<ErrorCode, 'sandbox_violation' | 'invalid_query'>
  stops: RegExp
  /** By title. */
  attempts: Record<string, string>
}

const times = (count: number, text: string, between = '') => Array(count).fill(text).join(between)
const outside = /is not a table of this endpoint/
const secret = '(SELECT MAX(s) FROM secret)'

export const attacks: Attacks[] = [
  // ---- rules 1, 2 and 3: what is one query, and where its tokens begin and end

  {
    rule: 'rule 1: a comment ends where GoogleSQL ends it, and hides nothing',
    code: 'sandbox_violation',
    stops: /is not a table of this endpoint/,
    attempts: {
      'a comment ended by a carriage return': 'SELECT 1 -- \rUNION ALL SELECT s FROM secret',
      'a # comment ended by a carriage return': 'SELECT 1 # \rUNION ALL SELECT s FROM secret',
      'a block comment that is not nested': 'SELECT 1 /* /* */ UNION ALL SELECT s FROM secret -- */',
      'a comment marker inside a string': "SELECT '--' UNION ALL SELECT s FROM secret",
      'a comment marker inside a name': 'SELECT 1 AS `--` UNION ALL SELECT s FROM secret',
      'a comment in the middle of the table': 'SELECT s FROM/**/secret',
      'a comment between the table and its dataset': 'SELECT s FROM dataset/* */./* */secret',
      'a hint of another dialect': 'SELECT /*+ x */ s FROM secret',
      'an executable comment of another dialect': 'SELECT /*! 1 */ s FROM secret',
      'a form feed for a space': 'SELECT\fs\fFROM\fsecret',
      'a raw string that ends in a backslash and a quote': String.raw`SELECT r'\'' , s FROM secret --'`,
      'a string with an escaped quote': String.raw`SELECT 'a\'b' UNION ALL SELECT s FROM secret`,
      'a doubled quote, which is a quote to others': 'SELECT s FROM secret WHERE x = "" OR y = """"""',
      'a string of three quotes with quotes inside': 'SELECT """a""b""", s FROM secret',
    },
  },
  {
    rule: 'rule 2: one statement',
    code: 'invalid_query',
    stops: /only one statement|; twice|where it cannot be|only SELECT queries/,
    attempts: {
      'a second query': 'SELECT 1; SELECT s FROM secret',
      'a second statement': 'SELECT 1; DROP TABLE secret',
      'a second statement behind a comment': 'SELECT 1; -- \nDELETE FROM secret WHERE TRUE',
      'two semicolons': 'SELECT 1;;',
      'a query that ends the parentheses around it': 'SELECT 1) UNION ALL (SELECT s FROM secret',
      'a query that ends the parentheses and comments the rest':
        'SELECT 1) UNION ALL SELECT s FROM secret --',
      'a query that ends the WITH around it': 'SELECT 1), x AS (SELECT s FROM secret) (SELECT s FROM x',
      'a semicolon in the middle': 'SELECT 1; UNION ALL SELECT s FROM secret',
      INSERT: 'INSERT INTO secret (s) VALUES (1)',
      UPDATE: 'UPDATE secret SET s = 1 WHERE TRUE',
      DELETE: 'DELETE FROM secret WHERE TRUE',
      MERGE: 'MERGE secret USING edge_logs ON FALSE WHEN NOT MATCHED THEN INSERT ROW',
      'CREATE TABLE AS': 'CREATE TABLE x AS SELECT s FROM secret',
      'CREATE TEMP FUNCTION': 'CREATE TEMP FUNCTION f() AS ((SELECT MAX(s) FROM secret)); SELECT f()',
      'DROP TABLE': 'DROP TABLE secret',
      'EXPORT DATA': "EXPORT DATA OPTIONS (uri = 'gs://x/*') AS SELECT 1",
      'LOAD DATA': "LOAD DATA INTO x FROM FILES (uris = ['gs://x'])",
      'EXECUTE IMMEDIATE': "EXECUTE IMMEDIATE 'SELECT s FROM secret'",
      CALL: 'CALL dataset.procedure()',
      DECLARE: 'DECLARE x INT64 DEFAULT (SELECT MAX(s) FROM secret); SELECT x',
      'BEGIN and END': 'BEGIN SELECT s FROM secret; END',
      ASSERT: "ASSERT EXISTS (SELECT 1 FROM secret) AS 'x'",
      'COPY, which DuckDB has': "COPY secret TO '/tmp/x'",
      'ATTACH, which DuckDB has': "ATTACH '/tmp/x.db'",
      'PRAGMA, which DuckDB has': 'PRAGMA database_list',
      'INSTALL, which DuckDB has': 'INSTALL httpfs',
      EXPLAIN: 'EXPLAIN SELECT s FROM secret',
      DESCRIBE: 'DESCRIBE secret',
    },
  },
  {
    rule: 'rule 2: a query has its bounds',
    code: 'invalid_query',
    stops: /longer than|over \d+ |nested|too deep/,
    attempts: {
      'more than 64 KB': `SELECT '${times(65_536, 'x')}'`,
      'more than 64 KB of bytes in fewer characters': `SELECT '${times(22_000, '\u20ac')}'`,
      'more than 50,000 tokens': `SELECT ${times(25_001, '1', ',')}`,
      'parentheses, 10,000 deep': `SELECT ${times(10_000, '(')}1${times(10_000, ')')}`,
      'subqueries, 200 deep': `${times(200, 'SELECT (')}SELECT s FROM secret${times(200, ')')}`,
      'subqueries of FROM, 200 deep': `${times(200, 'SELECT 1 FROM (')}SELECT 1${times(200, ')')}`,
      'NOT, 10,000 times': `SELECT ${times(10_000, 'NOT ')}TRUE`,
      'minus, 10,000 times': `SELECT ${times(10_000, '- ')}1`,
      'arrays of arrays': `SELECT ${times(5_000, '[')}1${times(5_000, ']')}`,
      'CASE in CASE': `SELECT ${times(500, 'CASE WHEN ')}TRUE${times(500, ' THEN 1 END')}`,
      'types in types': `SELECT CAST(NULL AS ${times(500, 'ARRAY<STRUCT<')}INT64${times(1_000, '>')})`,
      'calls in calls': `SELECT ${times(500, 'ABS(')}1${times(500, ')')}`,
      'a chain of OR': `SELECT ${times(500, 'TRUE', ' OR ')}`,
      'a chain of ||': `SELECT ${times(500, "'a'", ' || ')}`,
      'a chain of fields': `SELECT ${times(500, 'a', '.')}`,
      'a chain of indexes': `SELECT a${times(500, '[0]')}`,
      'a chain of joins': `SELECT 1 FROM ${times(500, 'edge_logs', ', ')}`,
      'a chain of pipes': `FROM edge_logs${times(250, ' |> EXTEND 1 AS a |> DROP a')}`,
      'a chain of UNION ALL': times(300, 'SELECT 1', ' UNION ALL '),
      'chains in chains': `SELECT ${times(100, '(')}1${times(100, `${times(12, ' + 1')})`)}`,
      'more than 32 CTEs': `WITH ${Array.from({ length: 33 }, (_, i) => `c${i} AS (SELECT 1)`).join(', ')} SELECT 1`,
      'more than 200 SELECTs': `SELECT ${times(200, '(SELECT 1)', ', ')}`,
    },
  },
  {
    rule: 'rule 3: outside quotes there is only ASCII, and one way to read it',
    code: 'invalid_query',
    stops:
      /not allowed here|side by side|a number ends|in backticks|NUL|Unicode|space is missing|not closed|on its own line|is not an escape/,
    attempts: {
      'a zero-width space outside quotes': 'SELECT\u200b1',
      'a byte order mark': '\ufeffSELECT 1',
      'a line separator that might end a comment': 'SELECT\u20281',
      'a Cyrillic letter in a name': 'SELECT id FROM \u0435dge_logs',
      'a full-width semicolon': 'SELECT 1\uff1b SELECT 2',
      'typographic quotes': 'SELECT \u2018x\u2019',
      'a NUL': 'SELECT 1\0 FROM secret',
      'half a surrogate pair': "SELECT '\ud800'",
      'a backslash inside backticks': 'SELECT id FROM `edge\\`_logs`',
      'an escape inside backticks': 'SELECT id FROM `\\x65dge_logs`',
      'a line break inside backticks': 'SELECT id FROM `edge_logs\n`',
      'empty backticks': 'SELECT id FROM ``',
      'backticks that are not closed': 'SELECT id FROM `edge_logs',
      'a number before a letter': 'SELECT 1FROM secret',
      'a number before a dot': 'SELECT 1.2.3',
      'a number that ends in a table': 'SELECT 1e5x',
      'two strings side by side': "SELECT 'a' 'b'",
      'two strings with a comment between': "SELECT 'a' /* */ 'b'",
      'a string before a word': "SELECT 'a'FROM secret",
      'a string that is not closed': "SELECT 'a",
      'a string over two lines': "SELECT 'a\nb'",
      'a block comment that is not closed': 'SELECT 1 /* FROM secret',
      'a dollar-quoted string of another dialect': 'SELECT $$a$$',
      'a backslash': 'SELECT 1 \\g',
      'an escape that is none': String.raw`SELECT '\q'`,
    },
  },

  // ---- rules 4 and 5: the table that a name in FROM stands for

  {
    rule: 'rule 4: a name in FROM is a table of the caller or of the endpoint',
    code: 'sandbox_violation',
    stops: outside,
    attempts: {
      'a real table by its bare name': 'SELECT s FROM secret',
      'a real table in capitals': 'SELECT s FROM SECRET',
      'a real table in backticks': 'SELECT s FROM `secret`',
      'a real table under an alias': 'SELECT x.s FROM secret AS x',
      'a real table under an alias that is a table of the endpoint':
        'SELECT edge_logs.s FROM secret AS edge_logs',
      'a real table behind a comma': 'SELECT s FROM edge_logs, secret',
      'a real table behind a comma and an alias': 'SELECT y.s FROM edge_logs AS x, secret AS y',
      'a real table in a WITH expression': 'SELECT WITH(a AS (SELECT MAX(s) FROM secret), a)',
      'a real table under a name of a WITH expression':
        'SELECT WITH(secret AS [1], (SELECT MAX(x) FROM secret AS x))',
      'a real table after the names of a WITH expression':
        'SELECT WITH(a AS 1, a + (SELECT MAX(s) FROM secret))',
      'a real table before the dot of a call': 'SELECT ((SELECT MAX(s) FROM secret)).UPPER()',
      'a real table on the right of JOIN': 'SELECT s FROM edge_logs JOIN secret ON TRUE',
      'a real table on the left of JOIN': 'SELECT s FROM secret JOIN edge_logs ON TRUE',
      'a real table joined with USING': 'SELECT s FROM edge_logs JOIN secret USING (id)',
      'a real table on the right of LEFT JOIN':
        'SELECT s FROM edge_logs AS e LEFT JOIN secret AS x ON x.id = e.id',
      'a real table on the right of RIGHT JOIN':
        'SELECT s FROM edge_logs AS e RIGHT JOIN secret AS x ON x.id = e.id',
      'a real table on the right of FULL JOIN':
        'SELECT s FROM edge_logs AS e FULL OUTER JOIN secret AS x USING (id)',
      'a real table on the right of CROSS JOIN': 'SELECT s FROM edge_logs CROSS JOIN secret',
      'a real table at the end of a chain of joins':
        'SELECT s FROM edge_logs AS a JOIN postgres_logs AS b USING (id) JOIN auth_logs AS c USING (id) JOIN secret USING (id)',
      'a real table in a join in parentheses': 'SELECT s FROM (edge_logs CROSS JOIN secret)',
      'a real table in two pairs of parentheses':
        'SELECT s FROM ((edge_logs CROSS JOIN secret) CROSS JOIN auth_logs)',
      'a real table behind UNNEST':
        'SELECT s FROM edge_logs AS e CROSS JOIN UNNEST(e.metadata) AS m CROSS JOIN secret',
      'a real table in a subquery of FROM': 'SELECT s FROM (SELECT s FROM secret)',
      'a real table three subqueries down':
        'SELECT s FROM (SELECT s FROM (SELECT s FROM (SELECT s FROM secret)))',
      'a real table in a query in parentheses': '((SELECT s FROM secret))',
      'a real table behind UNION ALL': 'SELECT id FROM edge_logs UNION ALL SELECT s FROM secret',
      'a real table before UNION ALL': 'SELECT s FROM secret UNION ALL SELECT id FROM edge_logs',
      'a real table behind UNION DISTINCT': 'SELECT id FROM edge_logs UNION DISTINCT (SELECT s FROM secret)',
      'a real table behind EXCEPT DISTINCT': 'SELECT id FROM edge_logs EXCEPT DISTINCT SELECT s FROM secret',
      'a real table behind INTERSECT DISTINCT':
        'SELECT id FROM edge_logs INTERSECT DISTINCT SELECT s FROM secret',
      'a real table in the third branch': 'SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT s FROM secret',
      'the name of a CTE of the endpoint with a letter more': 'SELECT id FROM edge_logs2',
      'the start of the name of an endpoint table': 'SELECT id FROM edge_log',
      'the catalogue of DuckDB': 'SELECT sql FROM duckdb_tables',
      'the catalogue of SQLite': 'SELECT sql FROM sqlite_master',
      'a name that every JavaScript object has': 'SELECT x FROM constructor',
      'a name that begins with __proto__': 'SELECT x FROM __proto__',
      'a pseudo-table': 'SELECT table_id FROM __TABLES__',
    },
  },
  {
    rule: 'rule 4: a dot in FROM always leads out',
    code: 'sandbox_violation',
    stops: outside,
    attempts: {
      'a dataset': 'SELECT s FROM dataset.secret',
      'a project': 'SELECT s FROM project.dataset.secret',
      'a project with dashes': 'SELECT s FROM my-project-1.dataset.secret',
      'a path in backticks': 'SELECT s FROM `project.dataset.secret`',
      'a path of parts in backticks': 'SELECT s FROM `project`.`dataset`.`secret`',
      'a path half in backticks': 'SELECT s FROM `project.dataset`.secret',
      'an endpoint table of another dataset': 'SELECT id FROM dataset.edge_logs',
      'an endpoint table as a dataset': 'SELECT s FROM edge_logs.secret',
      'the real table behind an endpoint table': 'SELECT id FROM `cloudflare.logs.prod`',
      'the real table behind an endpoint table, without backticks': 'SELECT id FROM cloudflare.logs.prod',
      'the real table behind an endpoint table, with its dashes': 'SELECT id FROM `deno-relay-logs`',
      'an alias as a dataset, in a subquery of FROM':
        'SELECT x.s FROM edge_logs AS d, (SELECT s FROM d.secret) AS x',
      'an alias as a dataset, right of a JOIN':
        'SELECT x.s FROM edge_logs AS d CROSS JOIN (SELECT s FROM d.secret) AS x',
      'an alias as a dataset, in the other branch of a set operation':
        'SELECT d.id FROM edge_logs AS d UNION ALL SELECT s FROM d.secret',
      'an alias as a dataset, before it is there': 'SELECT s FROM d.secret, edge_logs AS d',
      'an alias as a dataset, left of RIGHT JOIN': 'SELECT s FROM edge_logs AS d RIGHT JOIN d.secret ON TRUE',
      'an alias as a dataset, in PIVOT':
        "SELECT s FROM edge_logs AS d, d.secret PIVOT (COUNT(*) FOR s IN ('a'))",
      'an alias as a dataset, in UNPIVOT': 'SELECT a FROM edge_logs AS d, d.secret UNPIVOT (a FOR b IN (s))',
      'an alias as a dataset, under PIVOT':
        "SELECT s FROM (SELECT id FROM edge_logs) AS d PIVOT (COUNT(*) FOR id IN ('a')), d.secret",
      'an alias as a dataset, beside a query by name':
        'SELECT d.id FROM edge_logs AS d UNION ALL BY NAME SELECT s AS id FROM d.secret',
      'a CTE as a dataset': 'WITH d AS (SELECT 1 AS x) SELECT s FROM d.secret',
      'an alias as a dataset, right of FULL JOIN':
        'SELECT s FROM edge_logs AS d FULL JOIN d.secret USING (id)',
      'an alias as a dataset, in a join in parentheses':
        'SELECT s FROM edge_logs AS d CROSS JOIN (d.secret CROSS JOIN auth_logs)',
      'an alias that is a whole path as a dataset': 'SELECT s FROM edge_logs AS `d.e`, d.secret',
      'an alias in backticks with the dot': 'SELECT s FROM edge_logs AS d, `d.secret`',
      'a window name as a dataset':
        'SELECT (SELECT MAX(s) FROM w.secret) FROM edge_logs WINDOW w AS (ORDER BY id)',
      'the views of a dataset': 'SELECT table_name FROM dataset.INFORMATION_SCHEMA.TABLES',
      'the jobs of a region': 'SELECT query FROM `region-us`.INFORMATION_SCHEMA.JOBS',
      'the views without a dataset': 'SELECT table_name FROM INFORMATION_SCHEMA.TABLES',
      'the catalogue of Postgres, which DuckDB has': 'SELECT tablename FROM pg_catalog.pg_tables',
      'a keyword behind the dot': 'SELECT s FROM dataset.SELECT',
    },
  },
  {
    rule: 'rule 4: a name in FROM is plain, with or without backticks',
    code: 'sandbox_violation',
    stops: outside,
    attempts: {
      'a wildcard table': 'SELECT id FROM `edge_logs*`',
      'a wildcard over everything': 'SELECT id FROM `*`',
      'a wildcard in a dataset': 'SELECT id FROM `dataset.edge_*`',
      'a partition decorator': 'SELECT id FROM `edge_logs$20260101`',
      'a snapshot decorator': 'SELECT id FROM `edge_logs@-3600000`',
      'a file of the machine': 'SELECT id FROM `/etc/passwd`',
      'a file that DuckDB would read': 'SELECT id FROM `secrets.parquet`',
      'a dashed name without backticks': 'SELECT id FROM edge-logs',
      'a Cyrillic letter that looks Latin': 'SELECT id FROM `\u0435dge_logs`',
      'a full-width letter': 'SELECT id FROM `\uff45dge_logs`',
      'a letter that is an ASCII one when lowered': 'SELECT id FROM `auth_log\u017f`',
      'the Kelvin sign': 'WITH k AS (SELECT 1 AS x) SELECT x FROM `\u212a`',
      'the Turkish capital I': 'SELECT id FROM `realt\u0130me_logs`',
      'a combining mark': 'SELECT id FROM `edge_logs\u0301`',
      'a zero-width space': 'SELECT id FROM `edge_logs\u200b`',
      'a right-to-left mark': 'SELECT id FROM `\u202eedge_logs`',
      'a space at the end': 'SELECT id FROM `edge_logs `',
      'a space at the start': 'SELECT id FROM ` edge_logs`',
      'a name that ends the quoting': 'SELECT id FROM `edge_logs" UNION ALL SELECT s FROM secret --`',
      'a project with a colon': 'SELECT s FROM `project:dataset.secret`',
    },
  },
  {
    rule: 'rule 5: a common table is there only behind its definition and inside its query',
    code: 'sandbox_violation',
    stops: outside,
    attempts: {
      'a CTE used before it is defined':
        'WITH a AS (SELECT s FROM secret), secret AS (SELECT 1 AS s) SELECT s FROM a',
      'a CTE used before it is defined, in capitals':
        'WITH a AS (SELECT s FROM Secret), SECRET AS (SELECT 1 AS s) SELECT s FROM a',
      'a CTE that calls itself': 'WITH secret AS (SELECT s FROM secret) SELECT s FROM secret',
      'a CTE that calls itself from a subquery':
        'WITH secret AS (SELECT (SELECT MAX(s) FROM secret)) SELECT 1 FROM secret',
      'a CTE of a subquery, outside it':
        'SELECT s FROM (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret), secret',
      'a CTE of a scalar subquery, outside it':
        'SELECT (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret) FROM secret',
      'a CTE of one branch, in the other':
        '(WITH secret AS (SELECT 1 AS s) SELECT s FROM secret) UNION ALL SELECT s FROM secret',
      'a CTE of a CTE, outside it':
        'WITH a AS (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret) SELECT s FROM secret',
      'a CTE of a CTE, in the next CTE':
        'WITH a AS (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret), b AS (SELECT s FROM secret) SELECT s FROM b',
      'a CTE of WHERE, in the select list':
        'SELECT (SELECT MAX(s) FROM secret) FROM edge_logs WHERE EXISTS (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret)',
      'a CTE that ends with parentheses':
        'SELECT s FROM secret, (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret)',
      'an alias as a table': 'SELECT x.s FROM edge_logs AS secret, secret AS x',
      'an alias of UNNEST as a table': 'SELECT x FROM UNNEST([1]) AS secret, secret AS x',
      'a column alias as a table': 'SELECT 1 AS secret, (SELECT MAX(s) FROM secret)',
      'a window as a table':
        'SELECT (SELECT MAX(s) FROM secret) FROM edge_logs WINDOW secret AS (ORDER BY id)',
    },
  },
  {
    rule: 'rule 5: no common table takes the place of an endpoint table',
    code: 'sandbox_violation',
    stops: /is a table of this endpoint: choose another name/,
    attempts: {
      'the same name': 'WITH edge_logs AS (SELECT 1 AS id) SELECT id FROM edge_logs',
      'the same name in capitals': 'WITH EDGE_LOGS AS (SELECT 1 AS id) SELECT id FROM edge_logs',
      'the same name in backticks': 'WITH `edge_logs` AS (SELECT 1 AS id) SELECT id FROM edge_logs',
      'the same name for a copy': 'WITH edge_logs AS (SELECT id FROM edge_logs) SELECT id FROM edge_logs',
      'the same name in a subquery':
        'SELECT id FROM (WITH edge_logs AS (SELECT 1 AS id) SELECT id FROM edge_logs)',
      'the same name, never used': 'WITH auth_logs AS (SELECT 1 AS id) SELECT 1',
      'the same name in a CTE of a CTE':
        'WITH a AS (WITH auth_logs AS (SELECT 1 AS id) SELECT id FROM auth_logs) SELECT id FROM a',
    },
  },
  {
    rule: 'rule 5: common tables have plain names',
    code: 'sandbox_violation',
    stops: /cannot name a table/,
    attempts: {
      'the name of the real table': 'WITH `cloudflare.logs.prod` AS (SELECT 1 AS id) SELECT 1',
      'a dot in backticks': 'WITH `a.b` AS (SELECT 1 AS id) SELECT 1',
      'a letter from another script': 'WITH `\u0435dge_logs` AS (SELECT 1 AS id) SELECT 1',
      'SQL in a name': 'WITH `x AS (SELECT s FROM secret), y` AS (SELECT 1 AS id) SELECT 1',
    },
  },
  {
    rule: 'rule 5: a WITH names a table once',
    code: 'invalid_query',
    stops: /names ".*" twice/,
    attempts: {
      'the second, to be taken for the first':
        'WITH a AS (SELECT 1 AS x), a AS (SELECT 2 AS x) SELECT x FROM a',
      'the second in capitals': 'WITH a AS (SELECT 1 AS x), A AS (SELECT x FROM a) SELECT x FROM a',
    },
  },

  // ---- rules 6, 7 and 8: parts of the language that reach further than a SELECT over tables

  {
    rule: 'rule 5: WITH RECURSIVE brings the tables of its own WITH into sight, and no others',
    code: 'sandbox_violation',
    stops: outside,
    attempts: {
      'a table beside the recursive one':
        'WITH RECURSIVE a AS (SELECT s, 1 AS n FROM secret UNION ALL SELECT s, n + 1 FROM a WHERE n < 2) SELECT s FROM a',
      'a table in the recursive query':
        "WITH RECURSIVE a AS (SELECT '' AS s UNION ALL SELECT x.s FROM a CROSS JOIN secret AS x) SELECT s FROM a",
      'a table behind the WITH': 'WITH RECURSIVE a AS (SELECT 1 AS n) SELECT s FROM a, secret',
      'a table of a WITH inside a common table':
        'WITH RECURSIVE a AS (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret) SELECT s FROM secret',
      'a table of a WITH inside another':
        'WITH RECURSIVE a AS (WITH secret AS (SELECT 1 AS s) SELECT s FROM secret), b AS (SELECT s FROM secret) SELECT s FROM b',
      'a table of a later WITH inside':
        'WITH RECURSIVE a AS (WITH b AS (SELECT s FROM secret), secret AS (SELECT 1 AS s) SELECT s FROM b) SELECT s FROM a',
      'a dataset under the name of a recursive table':
        'WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM a WHERE n < 2) SELECT s FROM a.secret',
      'the real table behind an endpoint table':
        'WITH RECURSIVE a AS (SELECT id FROM `cloudflare.logs.prod` UNION ALL SELECT id FROM a WHERE FALSE) SELECT id FROM a',
    },
  },
  {
    rule: 'rule 5: no table of a WITH RECURSIVE takes the place of an endpoint table',
    code: 'sandbox_violation',
    stops: /is a table of this endpoint: choose another name|cannot name a table/,
    attempts: {
      'a copy that reads itself':
        'WITH RECURSIVE edge_logs AS (SELECT id FROM edge_logs UNION ALL SELECT id FROM edge_logs WHERE FALSE) SELECT id FROM edge_logs',
      'a later table, which an earlier one reads':
        'WITH RECURSIVE a AS (SELECT id FROM auth_logs), auth_logs AS (SELECT 1 AS id) SELECT id FROM a',
      'a table that only the endpoint reads':
        'WITH RECURSIVE `cloudflare.logs.prod` AS (SELECT 1 AS id) SELECT id FROM edge_logs',
    },
  },
  {
    rule: 'rule 6: WITH RECURSIVE stands at the beginning of the whole query',
    code: 'invalid_query',
    stops: /allowed at the beginning of the whole query only/,
    attempts: {
      'RECURSIVE in a subquery': 'SELECT n FROM (WITH RECURSIVE a AS (SELECT 1 AS n) SELECT n FROM a)',
      'RECURSIVE in an expression': 'SELECT (WITH RECURSIVE a AS (SELECT 1 AS n) SELECT n FROM a)',
      'RECURSIVE in parentheses': '(WITH RECURSIVE a AS (SELECT 1 AS n) SELECT n FROM a)',
      'RECURSIVE in a common table':
        'WITH b AS (WITH RECURSIVE a AS (SELECT 1 AS n) SELECT n FROM a) SELECT n FROM b',
      'RECURSIVE in a recursive table':
        'WITH RECURSIVE b AS (WITH RECURSIVE a AS (SELECT 1 AS n) SELECT n FROM a) SELECT n FROM b',
      'RECURSIVE in a set operation':
        'SELECT 1 AS n UNION ALL (WITH RECURSIVE a AS (SELECT 1 AS n) SELECT n FROM a)',
      'RECURSIVE in EXISTS': 'SELECT EXISTS (WITH RECURSIVE a AS (SELECT 1 AS n) SELECT n FROM a)',
    },
  },
  {
    rule: 'rule 6: common tables do not read each other in a circle',
    code: 'invalid_query',
    stops: /read each other/,
    attempts: {
      'two tables': 'WITH RECURSIVE a AS (SELECT n FROM b), b AS (SELECT n FROM a) SELECT n FROM a',
      'two recursive tables':
        'WITH RECURSIVE a AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM b), b AS (SELECT 1 AS n UNION ALL SELECT n FROM a) SELECT 1',
      'three tables':
        'WITH RECURSIVE a AS (SELECT n FROM c), b AS (SELECT n FROM a), c AS (SELECT n FROM edge_logs, b) SELECT n FROM a',
      'two tables in other letters':
        'WITH RECURSIVE A AS (SELECT n FROM b), B AS (SELECT n FROM a) SELECT n FROM a',
      'an expression':
        'WITH RECURSIVE a AS (SELECT (SELECT MAX(n) FROM b) AS n), b AS (SELECT n FROM a) SELECT n FROM a',
    },
  },
  {
    rule: 'rule 6: what is more than a plain SELECT does not parse',
    code: 'invalid_query',
    stops:
      /not supported|need a name|cannot be|should be|reserved word|only SELECT|is missing|needs parentheses of its own|takes no subquery/,
    attempts: {
      'a table function': 'SELECT x FROM dataset.f(1)',
      'a table function without a dataset': 'SELECT x FROM f(1)',
      EXTERNAL_QUERY: "SELECT x FROM EXTERNAL_QUERY('connection', 'SELECT 1')",
      'ML.PREDICT': 'SELECT x FROM ML.PREDICT(MODEL dataset.model, TABLE secret)',
      VECTOR_SEARCH: "SELECT x FROM VECTOR_SEARCH(TABLE secret, 'x', TABLE secret)",
      APPENDS: 'SELECT x FROM APPENDS(TABLE secret, NULL, NULL)',
      'the files of the machine, which DuckDB reads': "SELECT content FROM read_text('/etc/passwd')",
      'a file as a table, which DuckDB reads': "SELECT x FROM '/etc/passwd'",
      'a table by its name, which DuckDB has': "SELECT x FROM query_table('secret')",
      'a query in a string, which DuckDB has': "SELECT x FROM query('SELECT s FROM secret')",
      'a TABLE argument': 'SELECT ABS(TABLE secret)',
      'a MODEL argument': 'SELECT ABS(MODEL secret)',
      'FOR SYSTEM_TIME': 'SELECT id FROM edge_logs FOR SYSTEM_TIME AS OF (SELECT MAX(s) FROM secret)',
      TABLESAMPLE: 'SELECT id FROM edge_logs TABLESAMPLE SYSTEM (1 PERCENT)',
      'a pipe that calls a table function': 'FROM edge_logs |> CALL dataset.f()',
      'a pipe that samples': 'FROM edge_logs |> TABLESAMPLE SYSTEM (1 PERCENT)',
      'a pipe that asserts': "FROM edge_logs |> ASSERT EXISTS (SELECT 1 FROM secret), 'x'",
      'a pipe that writes': 'FROM edge_logs |> INSERT INTO secret',
      'a pipe that makes a table': 'FROM edge_logs |> CREATE TABLE x',
      'a pipe that forks': 'FROM edge_logs |> FORK (|> SELECT id)',
      'a pipe that ends the parentheses': 'FROM edge_logs |> SELECT id) |> UNION ALL (SELECT s FROM secret',
      'a hint on the statement': '@{x=1} SELECT 1',
      'a hint on a table': 'SELECT id FROM edge_logs @{force_index=x}',
      'a hint on a join': 'SELECT 1 FROM edge_logs JOIN @{x=1} auth_logs USING (id)',
      'a system variable': 'SELECT @@project_id',
      'a system variable with dots': 'SELECT @@error.message',
      'TABLE first': 'TABLE secret',
      'VALUES first': 'VALUES (1)',
      'a positional parameter': 'SELECT ?',
      LATERAL: 'SELECT 1 FROM edge_logs AS e, LATERAL (SELECT s FROM secret)',
      'NATURAL JOIN': 'SELECT 1 FROM edge_logs NATURAL JOIN secret',
      'SELECT INTO': 'SELECT 1 INTO x FROM secret',
      'SELECT WITH': 'SELECT WITH DIFFERENTIAL_PRIVACY id FROM secret',
      'a subquery as an argument, without parentheses': 'SELECT ABS(SELECT MAX(s) FROM secret)',
      'a query in LIMIT': 'SELECT 1 LIMIT (SELECT MAX(s) FROM secret)',
      'a query in OFFSET': 'SELECT 1 LIMIT 1 OFFSET (SELECT MAX(s) FROM secret)',
      'LIKE ANY of a subquery': "SELECT 'a' LIKE ANY (SELECT s FROM secret)",
      MATCH_RECOGNIZE: 'SELECT 1 FROM edge_logs MATCH_RECOGNIZE (ORDER BY id PATTERN (a) DEFINE a AS TRUE)',
      'a new protocol buffer': 'SELECT NEW dataset.message(1 AS a)',
      'an extension in parentheses': 'SELECT a.(dataset.extension) FROM edge_logs AS a',
      'a cast of another dialect': "SELECT 'secret'::regclass",
      'a lock': 'SELECT id FROM edge_logs FOR UPDATE',
      'UNNEST with a table inside': 'SELECT 1 FROM UNNEST(TABLE secret)',
    },
  },
  {
    rule: 'rule 7: only functions of the list are called',
    code: 'sandbox_violation',
    stops: /^(the function ".*" is (not allowed|written without)|there is no function ".*" here)/,
    attempts: {
      'ERROR, whose message is no row': 'SELECT ERROR(event_message) FROM edge_logs',
      'ERROR of more than a text': "SELECT ERROR(CONCAT('x', event_message)) FROM edge_logs",
      'ERROR behind a dot': 'SELECT (event_message).ERROR() FROM edge_logs',
      'a function of a dataset behind a dot': 'SELECT (1).(dataset.f)()',
      SESSION_USER: 'SELECT SESSION_USER()',
      CURRENT_USER: 'SELECT CURRENT_USER()',
      RAND: 'SELECT RAND()',
      GENERATE_UUID: 'SELECT GENERATE_UUID()',
      'a function of a dataset': 'SELECT dataset.f(1)',
      'a function of a project': 'SELECT project.dataset.f(1)',
      'a function of a dataset named like a built-in': 'SELECT dataset.abs(1)',
      'a path in backticks': 'SELECT `project.dataset.f`(1)',
      'a built-in in backticks': 'SELECT `abs`(1)',
      'a built-in half in backticks': 'SELECT SAFE.`abs`(1)',
      'SAFE in backticks': 'SELECT `SAFE`.abs(1)',
      'SAFE before what is not allowed': "SELECT SAFE.ERROR('x')",
      'SAFE before SAFE': 'SELECT SAFE.SAFE.abs(1)',
      'SAFE before NET': 'SELECT SAFE.NET.FORMAT_IP(1)',
      'NET before what is not allowed': 'SELECT NET.FORMAT_IP(1)',
      'NET before a built-in': 'SELECT NET.ABS(1)',
      KEYS: "SELECT KEYS.NEW_KEYSET('AEAD_AES_GCM_256')",
      'KEYS that talk to a key service': "SELECT KEYS.KEYSET_CHAIN('gcp-kms://x', b'x')",
      AEAD: "SELECT AEAD.DECRYPT_STRING(b'x', b'y', 'z')",
      DETERMINISTIC_ENCRYPT: "SELECT DETERMINISTIC_ENCRYPT(b'x', 'y', 'z')",
      'EXTERNAL_QUERY as a value': "SELECT EXTERNAL_QUERY('connection', 'SELECT 1')",
      'AI.GENERATE': "SELECT AI.GENERATE('x')",
      'ML.DISTANCE': 'SELECT ML.DISTANCE([1.0], [2.0])',
      HLL_COUNT: 'SELECT HLL_COUNT.INIT(id) FROM edge_logs',
      'an object of Cloud Storage': "SELECT OBJ.FETCH_METADATA(OBJ.MAKE_REF('gs://x', 'c'))",
      'a function that does not exist': 'SELECT f(1)',
      'the environment, which DuckDB reads': "SELECT getenv('HOME')",
      'a setting, which DuckDB reads': "SELECT current_setting('secret_directory')",
      'a table by name, which DuckDB counts': "SELECT pg_relation_size('secret')",
      'a sequence': "SELECT nextval('s')",
      'a name that every JavaScript object has': 'SELECT constructor(1)',
      'another name that every object has': 'SELECT __proto__(1)',
      'a refused function inside an allowed one': 'SELECT ABS(ABS(RAND()))',
      'a refused function as an aggregate': 'SELECT ST_UNION_AGG(id) FROM edge_logs',
      'a refused function with a window': 'SELECT f(id) OVER (ORDER BY id) FROM edge_logs',
      'a method of a value': 'SELECT e.metadata.f(1) FROM edge_logs AS e',
      'a refused function in UNNEST': 'SELECT 1 FROM UNNEST(f(1))',
    },
  },
  {
    rule: 'rule 8: columns are named',
    code: 'sandbox_violation',
    stops: /^\* cannot stand for columns here, since .* not known/,
    attempts: {
      'a star over the fields of a value': 'SELECT * FROM (SELECT AS VALUE e FROM edge_logs AS e)',
      'a star over a star that is not known':
        'SELECT * FROM (SELECT * FROM edge_logs AS e, UNNEST(e.metadata) AS m)',
      'a star in the second branch':
        'SELECT 1 UNION ALL SELECT * FROM (SELECT * FROM edge_logs AS e CROSS JOIN UNNEST(e.metadata))',
      'a star in EXISTS with DISTINCT':
        'SELECT EXISTS (SELECT DISTINCT * FROM (SELECT m.* FROM edge_logs AS e, UNNEST(e.metadata) AS m))',
      'a star over fields that USING has merged':
        'SELECT * FROM edge_logs AS e JOIN UNNEST(e.metadata) AS m USING (id)',
    },
  },
  {
    rule: 'rule 8: a star stands for columns that are there',
    code: 'sandbox_violation',
    stops: /^\* (cannot stand for columns here(, since (FROM has no table|two columns)|: name)|needs a FROM)/,
    attempts: {
      'the star of a table that is not in FROM': 'SELECT secret.* FROM edge_logs',
      'a star without FROM': 'SELECT *',
      'a star over two columns of one name': 'SELECT * FROM (SELECT 1 AS x, 2 AS x)',
      'the star of a row outside': 'SELECT (SELECT AS STRUCT e.* FROM UNNEST([1]) AS x) FROM edge_logs AS e',
      'the star of an array with the name of a table':
        'SELECT e.* FROM UNNEST(ARRAY(SELECT e FROM edge_logs AS e)) AS e',
    },
  },
  {
    rule: 'rule 8: PIVOT passes on columns that are known',
    code: 'sandbox_violation',
    stops: /^(UN)?PIVOT cannot pass columns on here, since/,
    attempts: {
      'PIVOT of a star that is not known':
        "SELECT a FROM (SELECT m.* FROM edge_logs AS e, UNNEST(e.metadata) AS m) PIVOT (COUNT(*) FOR level IN ('a'))",
      'UNPIVOT of the fields of a value':
        'SELECT a FROM (SELECT AS VALUE e FROM edge_logs AS e) UNPIVOT (a FOR b IN (id))',
    },
  },
  {
    rule: 'rule 8: a star does not make a statement without end',
    code: 'invalid_query',
    stops: /^\* stands for too many columns|^a list has over 1000 columns/,
    attempts: {
      'many stars': `SELECT ${times(10_000, '*', ', ')} FROM edge_logs`,
      'a star over many columns, many times': `WITH a AS (SELECT ${Array.from({ length: 500 }, (_, i) => `1 AS c${i}`).join(', ')}) SELECT ${times(100, '*', ', ')} FROM a`,
    },
  },
  {
    rule: 'rule 8: parameters are the declared ones',
    code: 'sandbox_violation',
    stops: /^the endpoint has no parameter @/,
    attempts: {
      'a parameter that is not declared': 'SELECT @secret',
      'a declared one in capitals': 'SELECT @PROJECT',
      'a name that every JavaScript object has': 'SELECT @constructor',
      'a name that is an object itself': 'SELECT @__proto__',
      'in LIMIT': 'SELECT 1 LIMIT @secret',
      'in OFFSET': 'SELECT 1 LIMIT 1 OFFSET @secret',
      'in the frame of a window': 'SELECT SUM(1) OVER (ORDER BY id ROWS @secret PRECEDING) FROM edge_logs',
      'in the LIMIT of an aggregate': 'SELECT ARRAY_AGG(id LIMIT @secret) FROM edge_logs',
    },
  },

  // ---- rule 10: a subquery over a real table wherever the grammar takes an expression

  {
    rule: 'rule 10: no corner of the tree is left out',
    code: 'sandbox_violation',
    stops: /"secret" is not a table of this endpoint/,
    attempts: {
      'the select list': `SELECT ${secret}`,
      'FROM first': 'FROM secret',
      'FROM first in a subquery': 'SELECT (FROM secret)',
      'FROM first in a subquery of FROM': 'SELECT s FROM (FROM secret)',
      'FROM first in ARRAY': 'SELECT ARRAY(FROM secret |> SELECT s)',
      'a pipe behind a query': 'SELECT 1 |> WHERE EXISTS (SELECT 1 FROM secret)',
      'a pipe with WHERE': `FROM edge_logs |> WHERE id = ${secret}`,
      'a pipe with SELECT': `FROM edge_logs |> SELECT ${secret} AS s`,
      'a pipe with EXTEND': `FROM edge_logs |> EXTEND ${secret} AS s`,
      'a pipe with SET': `FROM edge_logs |> SET id = ${secret}`,
      'a pipe with AGGREGATE': `FROM edge_logs |> AGGREGATE MAX(${secret}) AS s`,
      'a pipe with GROUP BY': `FROM edge_logs |> AGGREGATE COUNT(*) AS n GROUP BY ${secret} AS s`,
      'a pipe with ORDER BY': `FROM edge_logs |> ORDER BY ${secret}`,
      'a pipe with JOIN': 'FROM edge_logs |> JOIN secret USING (id)',
      'a pipe with CROSS JOIN': 'FROM edge_logs |> CROSS JOIN secret',
      'a pipe with ON': `FROM edge_logs |> JOIN auth_logs ON ${secret} = 1`,
      'a pipe with UNION ALL': 'FROM edge_logs |> SELECT id |> UNION ALL (SELECT s FROM secret)',
      'a pipe with EXCEPT DISTINCT': 'FROM edge_logs |> SELECT id |> EXCEPT DISTINCT (FROM secret)',
      'a pipe with WITH': 'FROM edge_logs |> WITH a AS (SELECT s FROM secret) |> SELECT id',
      'a pipe under the name of the table': 'FROM edge_logs |> AS secret |> CROSS JOIN secret AS x',

      'a pipe with PIVOT': `FROM edge_logs |> PIVOT (MAX(${secret}) FOR id IN ('a'))`,
      'a pipe that turns the table': "FROM secret |> PIVOT (COUNT(*) FOR id IN ('a'))",
      'a pipe with UNION by name': 'FROM edge_logs |> LEFT UNION ALL BY NAME (SELECT s AS id FROM secret)',

      'PIVOT of the table': "SELECT a FROM secret PIVOT (COUNT(*) FOR id IN ('a'))",
      'PIVOT of a subquery over the table':
        "SELECT a FROM (SELECT s FROM secret) PIVOT (COUNT(*) FOR s IN ('a'))",
      'an aggregate of PIVOT': `SELECT a FROM edge_logs PIVOT (MAX(${secret}) FOR id IN ('a'))`,
      'the condition of an aggregate of PIVOT':
        "SELECT a FROM edge_logs PIVOT (COUNTIF(EXISTS (SELECT 1 FROM secret)) FOR id IN ('a'))",
      'FOR of PIVOT': `SELECT a FROM edge_logs PIVOT (COUNT(*) FOR ${secret} IN ('a'))`,
      'a value of PIVOT': `SELECT a FROM edge_logs PIVOT (COUNT(*) FOR id IN (${secret} AS a))`,
      'PIVOT on the right of a join': `SELECT 1 FROM edge_logs, secret PIVOT (COUNT(*) FOR id IN ('a')) AS p`,
      'UNPIVOT of the table': 'SELECT a FROM secret UNPIVOT (a FOR b IN (s))',
      'UNPIVOT of a subquery over the table':
        'SELECT a FROM (SELECT s FROM secret) AS x UNPIVOT (a FOR b IN (x.s))',
      'UNION by name': 'SELECT id FROM edge_logs UNION ALL BY NAME SELECT s AS id FROM secret',
      'FULL UNION by name': 'SELECT id FROM edge_logs FULL OUTER UNION ALL BY NAME SELECT s FROM secret',
      'EXCEPT by name and a list':
        'SELECT id FROM edge_logs LEFT EXCEPT DISTINCT BY NAME ON (id) SELECT s AS id FROM secret',

      'REPLACE of a star': `SELECT * REPLACE (${secret} AS id) FROM edge_logs`,
      'REPLACE of the star of a row': `SELECT e.* REPLACE (${secret} AS id) FROM edge_logs AS e`,
      'REPLACE of a star in EXISTS': `SELECT EXISTS (SELECT * REPLACE (${secret} AS id) FROM edge_logs)`,
      'a star over the table': 'SELECT * FROM secret',
      'a star over a subquery over the table': 'SELECT * FROM (SELECT * FROM secret)',
      'a star in EXISTS': 'SELECT EXISTS (SELECT * FROM secret)',
      WHERE: `SELECT id FROM edge_logs WHERE id = ${secret}`,
      'GROUP BY': `SELECT 1 FROM edge_logs GROUP BY ${secret}`,
      'GROUP BY ROLLUP': `SELECT 1 FROM edge_logs GROUP BY ROLLUP (id, ${secret})`,
      'GROUP BY CUBE': `SELECT 1 FROM edge_logs GROUP BY CUBE (id, ${secret})`,
      'GROUP BY GROUPING SETS': `SELECT 1 FROM edge_logs GROUP BY GROUPING SETS (id, ${secret})`,
      'a set of GROUPING SETS': `SELECT 1 FROM edge_logs GROUP BY GROUPING SETS ((), (id, ${secret}))`,
      'LIKE ANY of a list': `SELECT 'a' LIKE ANY ('b', ${secret})`,
      'LIKE ALL of an array': `SELECT 'a' NOT LIKE ALL UNNEST([${secret}])`,
      'left of LIKE SOME': `SELECT ${secret} LIKE SOME ('a')`,
      HAVING: `SELECT 1 FROM edge_logs GROUP BY id HAVING COUNT(*) > ${secret}`,
      QUALIFY: `SELECT 1 FROM edge_logs QUALIFY ROW_NUMBER() OVER () = ${secret}`,
      'ORDER BY': `SELECT 1 FROM edge_logs ORDER BY ${secret}`,
      'ORDER BY behind a set operation': `SELECT 1 UNION ALL SELECT 2 ORDER BY ${secret}`,
      ON: `SELECT 1 FROM edge_logs JOIN auth_logs ON ${secret} = 1`,
      UNNEST: `SELECT 1 FROM UNNEST([${secret}])`,
      'UNNEST of an array subquery': 'SELECT 1 FROM UNNEST(ARRAY(SELECT s FROM secret))',
      'UNNEST with an offset': `SELECT 1 FROM edge_logs, UNNEST([${secret}]) AS x WITH OFFSET AS o`,
      'IN and a list': `SELECT 1 IN (2, ${secret})`,
      'IN and a query': 'SELECT 1 IN (SELECT s FROM secret)',
      'NOT IN and a query': 'SELECT 1 FROM edge_logs WHERE id NOT IN (SELECT s FROM secret)',
      'IN and UNNEST': `SELECT 1 IN UNNEST([${secret}])`,
      'left of IN': `SELECT ${secret} IN (1)`,
      EXISTS: 'SELECT EXISTS (SELECT 1 FROM secret)',
      'NOT EXISTS': 'SELECT NOT EXISTS (SELECT 1 FROM secret)',
      'ARRAY of a query': 'SELECT ARRAY(SELECT s FROM secret)',
      'an array': `SELECT [1, ${secret}]`,
      'a typed array': `SELECT ARRAY<INT64>[${secret}]`,
      'a struct': `SELECT STRUCT(${secret} AS a)`,
      'a typed struct': `SELECT STRUCT<a INT64>(${secret})`,
      'a tuple': `SELECT (1, ${secret})`,
      'a struct in SELECT AS STRUCT': `SELECT (SELECT AS STRUCT ${secret})`,
      'SELECT AS VALUE': `SELECT AS VALUE ${secret}`,
      'the operand of CASE': `SELECT CASE ${secret} WHEN 1 THEN 2 END`,
      'WHEN of CASE': `SELECT CASE WHEN ${secret} = 1 THEN 2 END`,
      'THEN of CASE': `SELECT CASE WHEN TRUE THEN ${secret} END`,
      'ELSE of CASE': `SELECT CASE WHEN TRUE THEN 1 ELSE ${secret} END`,
      CAST: `SELECT CAST(${secret} AS STRING)`,
      'FORMAT of CAST': `SELECT CAST(1 AS STRING FORMAT ${secret})`,
      SAFE_CAST: `SELECT SAFE_CAST(${secret} AS STRING)`,
      EXTRACT: `SELECT EXTRACT(DAY FROM ${secret})`,
      'AT TIME ZONE': `SELECT EXTRACT(DAY FROM CURRENT_TIMESTAMP() AT TIME ZONE ${secret})`,
      INTERVAL: `SELECT INTERVAL ${secret} DAY`,
      'left of BETWEEN': `SELECT ${secret} BETWEEN 1 AND 2`,
      'the low end of BETWEEN': `SELECT 1 BETWEEN ${secret} AND 2`,
      'the high end of BETWEEN': `SELECT 1 BETWEEN 1 AND ${secret}`,
      'left of LIKE': `SELECT ${secret} LIKE 'a'`,
      'right of LIKE': `SELECT 'a' LIKE ${secret}`,
      'IS NULL': `SELECT ${secret} IS NULL`,
      'IS TRUE': `SELECT ${secret} IS NOT TRUE`,
      'left of IS DISTINCT FROM': `SELECT ${secret} IS DISTINCT FROM 1`,
      'right of IS DISTINCT FROM': `SELECT 1 IS NOT DISTINCT FROM ${secret}`,
      'a sign': `SELECT -${secret}`,
      NOT: `SELECT NOT ${secret}`,
      'left of an operator': `SELECT ${secret} + 1`,
      'right of an operator': `SELECT 1 || ${secret}`,
      'deep in a chain of AND': `SELECT TRUE AND TRUE AND (TRUE OR ${secret} = 1) AND TRUE`,
      'an index': `SELECT [1][${secret}]`,
      'an index with OFFSET': `SELECT [1][SAFE_OFFSET(${secret})]`,
      'what is indexed': 'SELECT ARRAY(SELECT s FROM secret)[OFFSET(0)]',
      'a field of a subquery': 'SELECT (SELECT AS STRUCT MAX(s) AS s FROM secret).s',
      parentheses: `SELECT (((${secret})))`,
      'an argument': `SELECT ABS(${secret})`,
      'the last argument': `SELECT COALESCE(NULL, NULL, ${secret})`,
      'the argument of SAFE': `SELECT SAFE.ABS(${secret})`,
      'the argument of COUNT DISTINCT': `SELECT COUNT(DISTINCT ${secret}) FROM edge_logs`,
      'a named argument': `SELECT PARSE_JSON('1', wide_number_mode => ${secret})`,
      'a lambda': `SELECT ABS(x -> ${secret})`,
      'a lambda with two parameters': `SELECT ABS((x, y) -> x + ${secret})`,
      'a lambda behind other arguments': `SELECT COALESCE(1, x -> ${secret})`,
      'HAVING MAX of an aggregate': `SELECT ANY_VALUE(id HAVING MAX ${secret}) FROM edge_logs`,
      'HAVING MIN of an aggregate': `SELECT ANY_VALUE(id HAVING MIN ${secret}) FROM edge_logs`,
      'ORDER BY of an aggregate': `SELECT ARRAY_AGG(id IGNORE NULLS ORDER BY ${secret} LIMIT 1) FROM edge_logs`,
      'PARTITION BY': `SELECT SUM(1) OVER (PARTITION BY ${secret}) FROM edge_logs`,
      'ORDER BY of a window': `SELECT SUM(1) OVER (ORDER BY ${secret}) FROM edge_logs`,
      'PARTITION BY of a named window': `SELECT SUM(1) OVER w FROM edge_logs WINDOW w AS (PARTITION BY ${secret})`,
      'ORDER BY of a named window that is not used': `SELECT 1 FROM edge_logs WINDOW w AS (ORDER BY ${secret})`,
      'a window of a window': `SELECT SUM(1) OVER (w ORDER BY ${secret}) FROM edge_logs WINDOW w AS (PARTITION BY id)`,
      'a CTE that is not used': 'WITH a AS (SELECT s FROM secret) SELECT 1',
      'the ORDER BY of a CTE': `WITH a AS (SELECT 1 AS x ORDER BY ${secret}) SELECT x FROM a`,
      'a CTE of a CTE': 'WITH a AS (WITH b AS (SELECT s FROM secret) SELECT s FROM b) SELECT s FROM a',
      'a correlated subquery':
        'SELECT (SELECT MAX(x.s) FROM secret AS x WHERE x.id = e.id) FROM edge_logs AS e',
      'a subquery in a subquery in UNNEST in ON':
        'SELECT 1 FROM edge_logs JOIN auth_logs ON EXISTS (SELECT 1 FROM UNNEST([(SELECT MAX(s) FROM secret)]))',
      'IF that is never true': `SELECT IF(FALSE, ${secret}, 0)`,
      'a date part': `SELECT TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), DAY, ${secret})`,
    },
  },
]
