/** Attacks on rules 4 and 5: which table a name in FROM stands for. */
import type { Attacks } from './attack.ts'

const outside = /is not a table of this endpoint/

export const attacksOnTables: Attacks[] = [
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
      'an alias as a dataset, inside ON':
        'SELECT 1 FROM edge_logs AS d JOIN auth_logs ON EXISTS (SELECT 1 FROM d.secret)',
      'an alias as a dataset, in the other branch of a set operation':
        'SELECT d.id FROM edge_logs AS d UNION ALL SELECT s FROM d.secret',
      'an alias as a dataset, before it is there': 'SELECT s FROM d.secret, edge_logs AS d',
      'an alias as a dataset, left of RIGHT JOIN': 'SELECT s FROM edge_logs AS d RIGHT JOIN d.secret ON TRUE',
      'an alias as a dataset, in a correlated subquery':
        'SELECT (SELECT MAX(s) FROM d.secret) FROM edge_logs AS d',
      'a CTE as a dataset': 'WITH d AS (SELECT 1 AS x) SELECT s FROM d.secret',
      'the array of a row, without UNNEST': 'SELECT m FROM edge_logs AS e, e.metadata AS m',
      'the array of a row, joined': 'SELECT m FROM edge_logs AS e LEFT JOIN e.metadata AS m',
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
]
