/** What dashboards ask has to pass; `functions/query/statement.redaction-sql.test.ts` has the attacks. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { storedTextIn } from './redacted-sql.ts'
import { sandbox } from './sandbox.ts'
import { masks } from './message-patterns.ts'
import { expectProcessorTime } from '../testing/processor-time.ts'
import { logs } from './testing/endpoints.ts'

const harmless = `
  SELECT id, timestamp, peer, method, path, status FROM seen ORDER BY timestamp DESC LIMIT 100
  SELECT * FROM seen
  SELECT * EXCEPT (cookie, body) FROM seen
  SELECT t.* FROM seen AS t WHERE t.status >= 500
  SELECT m.* FROM seen, UNNEST(metadata) AS m
  SELECT m.request.peer, m.request.cookie FROM seen, UNNEST(metadata) AS m
  SELECT COUNT(*) AS n FROM seen
  SELECT COUNT(DISTINCT peer) AS clients, COUNT(DISTINCT cookie) AS sessions FROM seen
  SELECT APPROX_COUNT_DISTINCT(peer) AS clients FROM seen
  SELECT peer, COUNT(*) AS n FROM seen GROUP BY peer ORDER BY n DESC LIMIT 10
  SELECT path, COUNT(*) AS n FROM seen GROUP BY ALL ORDER BY 2 DESC
  SELECT path, method, COUNT(*) AS n FROM seen GROUP BY ROLLUP (path, method)
  SELECT path, method, COUNT(*) AS n FROM seen GROUP BY GROUPING SETS ((path), (method), ())
  SELECT status, COUNT(*) AS n FROM seen GROUP BY CUBE (status)
  SELECT status BETWEEN 500 AND 599 AS failed, COUNT(*) AS n FROM seen GROUP BY 1
  SELECT COUNTIF(status >= 500) / COUNT(*) AS share FROM seen
  SELECT SAFE_DIVIDE(COUNTIF(status >= 500), COUNT(*)) * 100 AS percent FROM seen
  SELECT ROUND(100 * COUNTIF(status < 400) / COUNT(*), 2) AS ok FROM seen
  SELECT TIMESTAMP_TRUNC(timestamp, MINUTE) AS minute, COUNT(*) AS n FROM seen GROUP BY minute ORDER BY minute
  SELECT TIMESTAMP_TRUNC(timestamp, HOUR) AS hour, status, COUNT(*) AS n FROM seen GROUP BY 1, 2
  SELECT DATE(timestamp) AS day, COUNT(*) AS n FROM seen GROUP BY day
  SELECT EXTRACT(HOUR FROM timestamp) AS hour, COUNT(*) AS n FROM seen GROUP BY hour
  SELECT EXTRACT(DAYOFWEEK FROM timestamp) AS day, AVG(status) AS mean FROM seen GROUP BY day
  SELECT FORMAT_TIMESTAMP('%Y-%m-%d %H:%M', timestamp) AS t, COUNT(*) AS n FROM seen GROUP BY t
  SELECT UNIX_SECONDS(timestamp) AS s FROM seen
  SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), MAX(timestamp), SECOND) AS age FROM seen
  SELECT timestamp FROM seen WHERE timestamp > TIMESTAMP_SUB(CURRENT_TIMESTAMP(), INTERVAL 3650 DAY)
  SELECT LENGTH(path) AS l, BYTE_LENGTH(body) AS bytes FROM seen
  SELECT MAX(LENGTH(body)) AS largest FROM seen
  SELECT SUM(LENGTH(body)) AS volume FROM seen
  SELECT APPROX_QUANTILES(status, 100)[OFFSET(95)] AS p95 FROM seen
  SELECT APPROX_QUANTILES(LENGTH(path), 4) AS q FROM seen
  SELECT PERCENTILE_CONT(status, 0.5) OVER (PARTITION BY path) AS median FROM seen
  SELECT STDDEV(n) AS s FROM (SELECT path, COUNT(*) AS n FROM seen GROUP BY path)
  SELECT path FROM seen WHERE path LIKE '/rest/%'
  SELECT path FROM seen WHERE LOWER(path) LIKE '%users%' OR method IN ('POST', 'PUT')
  SELECT path FROM seen WHERE REGEXP_CONTAINS(path, r'^/rest/v\\d+')
  SELECT path FROM seen WHERE NOT REGEXP_CONTAINS(note, r'(?i)error')
  SELECT path FROM seen WHERE STARTS_WITH(path, '/rest') AND ENDS_WITH(path, 'users')
  SELECT path FROM seen WHERE CONTAINS_SUBSTR(note, 'EXAMPLE')
  SELECT path FROM seen WHERE STRPOS(path, 'rest') > 0
  SELECT path FROM seen WHERE STRPOS(LOWER(CAST(note AS STRING)), 'from') > 0
  SELECT path FROM seen WHERE INSTR(path, 'rest') != 0
  SELECT path FROM seen WHERE SPLIT(path, '/')[SAFE_OFFSET(1)] = 'rest'
  SELECT path FROM seen WHERE SUBSTR(path, 1, 5) = '/rest'
  SELECT path FROM seen WHERE LEFT(path, 5) IN ('/rest', '/auth')
  SELECT path FROM seen WHERE SAFE_CAST(REGEXP_EXTRACT(path, r'v(\\d+)') AS INT64) >= 1
  SELECT path FROM seen WHERE ARRAY_LENGTH(SPLIT(path, '/')) > 2
  SELECT COUNTIF(STRPOS(path, '/storage') > 0) AS storage, COUNTIF(path LIKE '/rest%') AS rest FROM seen
  SELECT CASE WHEN STRPOS(path, '/rest') = 1 THEN 'rest' WHEN STRPOS(path, '/auth') = 1 THEN 'auth' ELSE 'other' END AS api, COUNT(*) AS n FROM seen GROUP BY api
  SELECT CASE WHEN REGEXP_CONTAINS(path, '^/rest') THEN 'rest' ELSE 'other' END AS api FROM seen
  SELECT CASE DIV(status, 100) WHEN 5 THEN 'server' WHEN 4 THEN 'client' ELSE 'fine' END AS class, COUNT(*) AS n FROM seen GROUP BY class
  SELECT IF(status >= 500, path, NULL) AS failed FROM seen
  SELECT IFNULL(method, '-') AS method, COALESCE(path, '-') AS path FROM seen
  SELECT NULLIF(method, '') AS method FROM seen
  SELECT method, TRIM(note) AS note FROM seen WHERE UPPER(method) = 'GET' AND LOWER(path) IN ('/', '/rest')
  SELECT CAST(status AS STRING) AS s, CAST(status AS FLOAT64) AS f FROM seen
  SELECT SAFE_CAST(version AS FLOAT64) AS v FROM seen
  SELECT MIN(timestamp) AS first, MAX(timestamp) AS last FROM seen
  SELECT ANY_VALUE(path) AS path, MAX(note) AS note FROM seen GROUP BY status
  SELECT ANY_VALUE(path HAVING MAX timestamp) AS last FROM seen
  SELECT MAX_BY(path, status) AS worst FROM seen
  SELECT ARRAY_AGG(path ORDER BY timestamp DESC LIMIT 5) AS paths FROM seen
  SELECT ARRAY_AGG(DISTINCT method) AS methods FROM seen
  SELECT ROW_NUMBER() OVER (PARTITION BY path ORDER BY timestamp) AS r, path FROM seen
  SELECT RANK() OVER (ORDER BY status DESC) AS r, path FROM seen
  SELECT LAG(timestamp) OVER (ORDER BY timestamp) AS before, timestamp FROM seen
  SELECT TIMESTAMP_DIFF(timestamp, LAG(timestamp) OVER (ORDER BY timestamp), MILLISECOND) AS gap FROM seen
  SELECT SUM(status) OVER (ORDER BY timestamp ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS s FROM seen
  SELECT COUNT(*) OVER (PARTITION BY peer) AS n, path FROM seen
  SELECT path FROM seen QUALIFY ROW_NUMBER() OVER (PARTITION BY path ORDER BY timestamp DESC) = 1
  WITH w AS (SELECT path, COUNT(*) AS n FROM seen GROUP BY path) SELECT path, n, n / SUM(n) OVER () AS share FROM w
  WITH a AS (SELECT * FROM seen WHERE status >= 500), b AS (SELECT path, COUNT(*) AS n FROM a GROUP BY path) SELECT * FROM b ORDER BY n DESC
  WITH failed AS (SELECT path, COUNT(*) AS n FROM seen WHERE status >= 500 GROUP BY path), total AS (SELECT path, COUNT(*) AS n FROM seen GROUP BY path) SELECT t.path, f.n AS failed, t.n AS total FROM total AS t LEFT JOIN failed AS f USING (path)
  WITH minutes AS (SELECT m FROM UNNEST(GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '2026-01-01 09:58:00+00', TIMESTAMP '2026-01-01 10:02:00+00', INTERVAL 1 MINUTE)) AS m) SELECT m, COUNT(s.id) AS n FROM minutes LEFT JOIN seen AS s ON TIMESTAMP_TRUNC(s.timestamp, MINUTE) = m GROUP BY m ORDER BY m
  SELECT a.path, b.status FROM seen AS a JOIN seen AS b ON a.id = b.id
  SELECT path FROM seen WHERE id IN (SELECT id FROM seen WHERE status >= 500)
  SELECT path FROM seen AS t WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.request.peer IS NOT NULL)
  SELECT path FROM seen WHERE EXISTS (SELECT 1 FROM seen AS x WHERE x.status = 503)
  SELECT (SELECT COUNT(*) FROM seen) AS total, path FROM seen
  SELECT path, (SELECT m.request.peer FROM UNNEST(metadata) AS m) AS who FROM seen
  SELECT m.request.peer AS who, m.request FROM seen, UNNEST(metadata) AS m
  SELECT q[OFFSET(50)] AS p50, r.q[OFFSET(95)] AS p95 FROM (SELECT APPROX_QUANTILES(ms, 100) AS q FROM seen) AS r
  SELECT JSON_VALUE(body, '$.ms') AS ms, JSON_VALUE(body, '$.user.mail') AS mail FROM seen
  SELECT AVG(SAFE_CAST(JSON_VALUE(body, '$.ms') AS FLOAT64)) AS ms FROM seen
  SELECT PARSE_JSON(body).ms AS ms FROM seen
  SELECT INT64(PARSE_JSON(body).ms) AS ms FROM seen
  SELECT PARSE_JSON(body)['ms'] AS ms FROM seen
  SELECT COUNTIF(NET.HOST(url) = 'example.com') AS ours FROM seen WHERE REGEXP_CONTAINS(LOWER(url), 'get')
  SELECT RANGE_BUCKET(status, [200, 300, 400, 500]) AS bucket, COUNT(*) AS n FROM seen GROUP BY bucket
  SELECT WITH(ms AS LENGTH(body), IF(ms > 100, 'long', 'short')) AS size, COUNT(*) AS n FROM seen GROUP BY size
  SELECT WITH(p AS TRIM(path), p) AS path FROM seen WHERE (path).UPPER() LIKE '/REST%'
  SELECT IF(status > 599, ERROR('no such status'), status) AS status FROM seen
  SELECT 'errors' AS kind, COUNT(*) AS n FROM seen WHERE status >= 500 UNION ALL SELECT 'others', COUNT(*) FROM seen WHERE status < 500
  SELECT path, status FROM seen UNION ALL BY NAME SELECT status, path FROM seen
  FROM seen |> WHERE status >= 500 |> AGGREGATE COUNT(*) AS n GROUP BY path |> ORDER BY n DESC |> LIMIT 10
  FROM seen |> EXTEND DIV(status, 100) AS class |> AGGREGATE COUNT(*) AS n GROUP BY class
  FROM seen |> SELECT id, path, peer |> WHERE path LIKE '%users'
  FROM seen |> SET status = status * 2 |> SELECT status
  FROM seen |> RENAME peer AS client |> SELECT client, path
  FROM seen |> DROP cookie |> SELECT *
  FROM seen AS s |> EXTEND LENGTH(s.body) AS l |> WHERE s.status >= 500 |> SELECT s.path, s.peer, l
  SELECT label, COUNT(*) AS n FROM seen JOIN UNNEST([STRUCT('fine' AS label, 200 AS low, 399 AS high), STRUCT('bad' AS label, 400 AS low, 599 AS high)]) ON status BETWEEN low AND high GROUP BY label
  SELECT b.label, COUNT(*) AS n FROM seen, UNNEST(ARRAY<STRUCT<label STRING, low INT64>>[('a', 0), ('b', 400)]) AS b WHERE status >= b.low GROUP BY 1
  SELECT x.name, COUNT(*) AS n FROM seen JOIN UNNEST([STRUCT('GET' AS method, 'read' AS name), ('POST', 'write')]) AS x ON seen.method = x.method GROUP BY 1
  SELECT version, COUNT(*) AS n FROM seen GROUP BY version
  SELECT version AS v FROM seen
  SELECT id AS request_id, peer AS client_ip FROM seen
  SELECT cookie AS session FROM seen
  SELECT path, SUM(bytes) / 1024 / 1024 AS mb, SUM(bytes) / SUM(SUM(bytes)) OVER () AS share FROM seen GROUP BY path
  SELECT ROUND(100 * SAFE_DIVIDE(SUM(IF(status >= 500, bytes, 0)), SUM(bytes)), 2) AS percent FROM seen
  SELECT SUM(IF(status >= 500, bytes, 0)) AS failed, SUM(CASE WHEN method = 'GET' THEN bytes END) AS gets FROM seen
  SELECT SUM(ms) / 1000 AS s, AVG(ms / 1000) AS mean, ROUND(AVG(ms), 1) AS rounded FROM seen
  SELECT t.n AS n FROM (SELECT path AS n FROM seen) AS t
  SELECT CAST(path AS STRING) AS text FROM seen UNION ALL SELECT note FROM seen
  SELECT ARRAY_AGG(path)[OFFSET(0)] AS path FROM seen
  SELECT COALESCE(m.args, []) AS args FROM seen, UNNEST(metadata) AS m
  SELECT a.request.peer FROM seen, UNNEST(metadata) AS a WITH OFFSET AS o, UNNEST(metadata) AS b WITH OFFSET AS p WHERE o = p
  SELECT path FROM seen, UNNEST(metadata) AS m WHERE EXISTS (SELECT 1 FROM UNNEST(m.args) AS a WHERE a = 'x')
  SELECT AVG(COALESCE(ms, 0)) AS ms, SUM(SAFE_CAST(JSON_VALUE(body, '$.ms') AS INT64)) AS total FROM seen
  SELECT APPROX_QUANTILES(ms, 100)[OFFSET(95)] / 1000 AS p95, PERCENTILE_CONT(ms, 0.99) OVER () / 1e3 AS p99 FROM seen
  SELECT TIMESTAMP_TRUNC(timestamp, MINUTE) AS t, AVG(SAFE_DIVIDE(ms, 1000)) AS s FROM seen GROUP BY t
  SELECT COUNT(*) - COUNTIF(status >= 500) AS fine, (COUNT(*) + 1) * 2 AS n, MOD(COUNT(*), 7) AS r FROM seen
  SELECT TIMESTAMP_DIFF(CURRENT_TIMESTAMP(), timestamp, SECOND) + 1 AS age, timestamp + INTERVAL 1 HOUR AS later FROM seen
  WITH a AS (SELECT path, COUNT(*) AS n FROM seen GROUP BY path), b AS (SELECT path, COUNT(*) AS m FROM seen GROUP BY path) SELECT path, n - m AS more, SUM(n + 1) OVER () AS s FROM a JOIN b USING (path)
  SELECT hour, failed - fixed AS left_over FROM (SELECT EXTRACT(HOUR FROM timestamp) AS hour, COUNTIF(status >= 500) AS failed, COUNTIF(status = 200) AS fixed FROM seen GROUP BY 1)
  WITH base AS (SELECT COALESCE(ms, SAFE_CAST(JSON_VALUE(body, '$.us') AS FLOAT64) / 1000) AS ms FROM seen) SELECT AVG(ms) AS mean FROM base
  SELECT SUM(bytes) AS bytes FROM (SELECT bytes FROM seen UNION ALL SELECT bytes FROM others)
  SELECT LOGICAL_OR(status >= 500) AS any_failed FROM seen
  SELECT path IS NULL AS absent, note IS NOT NULL AS present FROM seen
  SELECT IF(peer = '203.0.113.97', 'ours', 'theirs') AS whose FROM seen
  SELECT path FROM seen WHERE (method, status) IN (('GET', 503), ('POST', 500))
  SELECT path FROM seen WHERE path LIKE ANY ('/rest/%', '/auth/%')
  SELECT path FROM seen WHERE REGEXP_EXTRACT(path, r'^/(\\w+)') = 'rest' AND REPLACE(method, 'G', 'g') = 'gET'
  SELECT path FROM seen WHERE CONCAT(method, ' ok') = 'GET ok'
  SELECT IF(LENGTH(note) > 10 AND STRPOS(note, 'from') = 1, 'mail', 'other') AS kind, COUNT(*) AS n FROM seen GROUP BY kind
  SELECT path FROM seen ORDER BY LENGTH(path) DESC, path
  SELECT DATE_TRUNC(DATE(timestamp), WEEK(MONDAY)) AS week, COUNT(*) AS n FROM seen GROUP BY week
  SELECT TIMESTAMP_BUCKET(timestamp, INTERVAL 5 MINUTE) AS t, COUNT(*) AS n FROM seen GROUP BY t
  SELECT FORMAT_TIMESTAMP('%A', timestamp, 'Europe/Amsterdam') AS day, COUNT(*) AS n FROM seen GROUP BY day
  SELECT CAST(timestamp AS STRING) AS t, STRING(timestamp) AS u FROM seen
  SELECT SUM(IF(status >= 500, 1, 0)) AS failed, SUM(CASE WHEN method = 'GET' THEN 1 ELSE 0 END) AS reads FROM seen
  SELECT COALESCE(SUM(status), 0) AS s, COALESCE(MAX(path), '-') AS p FROM seen WHERE FALSE
  SELECT CONCAT('a', 'b') AS c, UPPER('x') AS d, SUBSTR('abc', 2) AS e, COUNT(*) AS n FROM seen
  SELECT id FROM seen WHERE timestamp >= DATE_TRUNC(CURRENT_DATE(), MONTH) AND status > 5 * 100 AND path = CONCAT('/rest', '/v1')
  SELECT t, COUNT(s.id) AS n FROM UNNEST(GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '2026-01-01', TIMESTAMP '2026-01-02', INTERVAL 1 HOUR)) AS t LEFT JOIN seen AS s ON s.timestamp >= t AND s.timestamp < TIMESTAMP_ADD(t, INTERVAL 1 HOUR) GROUP BY t
  SELECT h, COUNT(*) AS n FROM UNNEST(GENERATE_ARRAY(0, 23)) AS h LEFT JOIN seen ON EXTRACT(HOUR FROM timestamp) = h GROUP BY h
  SELECT id FROM seen WHERE ms > 100 AND bytes > ms AND NORMALIZE(path, NFC) = '/'
  SELECT path, AVG(bytes), SUM(ms) FROM seen GROUP BY path HAVING SUM(bytes) > 1000 AND AVG(ms) / 1000 < 5
  SELECT (COUNTIF(ms < 300) + COUNTIF(ms < 1200) * 0.5) / COUNT(*) AS apdex, AVG(IF(status >= 500, 1, 0)) * 100 AS percent FROM seen
  SELECT AVG(CASE WHEN ms < 300 THEN 1 WHEN ms < 1200 THEN 0.5 ELSE 0 END) AS apdex, MAX(CAST(status >= 500 AS INT64)) AS failed FROM seen
  SELECT IF(COUNT(*) = 0, 0, COUNTIF(status >= 500) / COUNT(*)) AS share FROM seen
  SELECT COUNT(s.id) AS n FROM UNNEST([2, 4, 5]) AS c LEFT JOIN seen AS s ON DIV(s.status, 100) = c GROUP BY c
  SELECT FORMAT('%.1f%%', 100 * COUNTIF(status >= 500) / COUNT(*)) AS share, CONCAT(CAST(COUNT(*) AS STRING), ' calls') AS n FROM seen
  SELECT JSON_VALUE(body, '$."a 1"."b-2"') AS v FROM seen
  SELECT id FROM seen WHERE status IN UNNEST(GENERATE_ARRAY(500, 599))
  WITH peer AS (SELECT UPPER('x') AS note) SELECT peer.note AS l, note = 'X' AS m FROM peer
  SELECT x FROM UNNEST(['203.0.113.97', '203.0.113.98']) AS x WHERE EXISTS (SELECT 1 FROM seen WHERE peer = x)
  SELECT x.n + 1 AS m FROM (SELECT STRUCT(COUNT(*) AS n, path) AS x FROM seen GROUP BY path) WHERE x.n > 5 ORDER BY x.n
`
  .split('\n')
  .flatMap(line => line.trim() || [])

/** A query, and words of the remedy in its refusal. */
const refused = `
  SELECT FORMAT('%d', status) AS s FROM seen -- select both columns
  SELECT FORMAT('%05.1f %%', 100 * AVG(status)) AS s FROM seen -- select both columns
  SELECT CONCAT(CAST(DIV(status, 100) * 100 AS STRING), '-') AS class FROM seen -- select the column itself
  SELECT CONCAT(method, path) AS call FROM seen -- select both columns
  SELECT method || ' ' || path AS call FROM seen -- select both columns
  SELECT STRING_AGG(DISTINCT method, ', ' ORDER BY method) AS methods FROM seen -- select both columns
  SELECT STRING_AGG(path, '; ') AS paths FROM seen -- select both columns
  SELECT ARRAY_TO_STRING(ARRAY_AGG(path), ',') AS paths FROM seen -- select both columns
  SELECT LOWER(path) AS p, COUNT(*) AS n FROM seen GROUP BY p -- group by CASE WHEN x LIKE
  SELECT SPLIT(path, '/')[SAFE_OFFSET(1)] AS api FROM seen -- ask for a column of the endpoint
  SELECT APPROX_TOP_COUNT(path, 3) AS top FROM seen -- write GROUP BY
  SELECT ARRAY_AGG(STRUCT(path, status) ORDER BY status DESC LIMIT 5) AS worst FROM seen -- select the fields
  SELECT STRUCT(method, path) AS call, COUNT(*) AS n FROM seen GROUP BY method, path -- select the fields
  SELECT t FROM seen AS t -- select the fields
  SELECT AS STRUCT path FROM seen -- select the fields
  SELECT TO_JSON_STRING(t) AS j FROM seen AS t -- select the fields
  SELECT TO_JSON_STRING(metadata) AS j FROM seen -- select the fields
  SELECT JSON_QUERY(body, '$.user') AS user FROM seen -- select the fields
  SELECT PARSE_JSON(body) AS j FROM seen -- select the fields
  SELECT PARSE_JSON(body)['list'][0] AS first FROM seen -- write the name
  SELECT JSON_VALUE(body, '$.list[1]') AS second FROM seen -- names, '$.a.b'
  SELECT m FROM seen, UNNEST(metadata) AS m -- select the list itself, or a field
  SELECT metadata[SAFE_OFFSET(0)] AS m FROM seen -- select the list itself, or a field
  SELECT metadata[OFFSET(0)] AS m FROM seen -- SAFE_OFFSET for a list
  SELECT ARRAY(SELECT m.request FROM UNNEST(metadata) AS m) AS requests FROM seen -- select the list itself
  SELECT [path, note] AS both FROM seen -- select the list itself
  SELECT path AS text FROM seen UNION ALL SELECT note FROM seen -- CAST(x AS STRING)
  SELECT COALESCE(path, note) AS text FROM seen -- CAST(x AS STRING)
  SELECT 'max' AS metric, MAX(ms) AS v FROM seen UNION ALL SELECT 'n', COUNT(*) FROM seen -- compare with a literal
  SELECT * FROM (SELECT method, status FROM seen) PIVOT(COUNT(*) FOR status IN (200, 503)) -- aggregate IF(condition, column, NULL)
  SELECT * FROM (SELECT path, note FROM seen) UNPIVOT(text FOR name IN (path, note)) -- under names of your own
  SELECT GREATEST(status, 500) AS s FROM seen -- select the column itself
  SELECT -status AS negative FROM seen -- select both and compute with the answer
  SELECT MAX(ms) - MIN(ms) AS d FROM seen -- TIMESTAMP_DIFF
  SELECT MAX(ms) / COUNT(*) AS m FROM seen -- compare with a literal
  SELECT id FROM seen WHERE ms > (SELECT AVG(ms) * 2 FROM seen) -- compare with a literal
  SELECT id FROM seen GROUP BY id HAVING SUM(ms) > SUM(bytes) -- compare with a literal
  SELECT id FROM seen GROUP BY id HAVING SUM(ms) / SUM(bytes) > 1 -- compare with a literal
  SELECT id FROM seen WHERE bytes - ms > 100 -- compare columns as they are
  SELECT id FROM seen WHERE STRPOS(note, path) > 0 -- compare columns as they are
  SELECT IF(status >= 500, 1, 0) + IF(ms > 100, 1, 0) AS points FROM seen -- group, count or sum it as it is
  SELECT CONCAT(CASE WHEN status >= 500 THEN 'bad' ELSE 'fine' END, '!') AS class FROM seen -- group, count or sum it as it is
  SELECT COUNTIF(ms > 1) + COUNTIF(ms > 2) + COUNTIF(ms > 3) + COUNTIF(ms > 4) AS steps FROM seen -- select them and compute with the answer
  SELECT JSON_VALUE(body, '$.list."1"') AS second FROM seen -- names, '$.a.b'
  SELECT SUM(IF(status = 1, bytes, -5)) AS n FROM seen -- 0 or NULL in its place
  SELECT SUM(IF(status = 1, bytes, 5)) AS n FROM seen -- 0 or NULL in its place
  SELECT m.path FROM seen AS m FULL JOIN others USING (bytes) -- use ON
  SELECT path AS x, note AS x FROM seen -- a name of its own
  SELECT COALESCE(note, [])[SAFE_OFFSET(0)] AS x FROM seen -- an element by itself
  SELECT x FROM seen, UNNEST(IF(TRUE, note, [NULL])) AS x -- records
  SELECT IFNULL(NULLIF(note, []), [5])[OFFSET(0)] AS x FROM seen -- records
  SELECT IF(TRUE, metadata, STRUCT(NULL AS a)).a[OFFSET(0)] AS x FROM seen -- records
  SELECT ARRAY(SELECT x FROM UNNEST([3, 1, 2]) AS x ORDER BY x) AS sorted FROM seen -- group, count or sum it as it is
  WITH peer AS (SELECT UPPER('x') AS note) SELECT LOWER(peer.note) AS l, LOWER(note) AS m FROM peer -- group, count or sum it as it is
  SELECT LOWER(cookie) AS l FROM UNNEST(['A', 'B']) AS cookie -- group, count or sum it as it is
  SELECT REVERSE(s.peer) AS l FROM (SELECT 'a' AS peer) AS s -- group, count or sum it as it is
`
  .split('\n')
  .flatMap(line => (line.trim() ? [line.trim().split(' -- ') as [string, string]] : []))

const endpoint = {
  sql:
    'WITH seen AS (SELECT id, timestamp, peer, method, path, status, cookie, body, note, version, url, ms, bytes, tel, metadata FROM logs), ' +
    'others AS (SELECT bytes FROM more) SELECT id FROM seen',
  parameters: {},
}

function judged(sql: string, by: Parameters<typeof sandbox>[0] = endpoint) {
  const { tree, resolution } = sandbox(by, sql)
  return storedTextIn(tree, resolution)
}

test.each(harmless)('%s', sql => {
  expect(judged(sql).problem).toBeNull()
})

test.each(refused)('%s is refused with what to write: %s', (sql, remedy) => {
  expect(judged(sql).problem?.message).toContain(remedy)
})

test('a text is grouped by as it is when masked, and neither shown so nor grouped by anything else', () => {
  const literal = (text: string) => `'${text.replaceAll(/[\\']/g, '\\$&')}'`
  const replaced = (of: string, pattern: string, by: string) =>
    `REGEXP_REPLACE(${of}, ${literal(pattern)}, ${literal(by)})`
  const masked = masks.reduce((of, { pattern, by }) => replaced(of, pattern, by), 'note')
  const grouped = (key: string) =>
    judged(`SELECT MIN(note) AS example, COUNT(*) AS n FROM seen GROUP BY ${key}`).problem
  expect(grouped(masked)).toBeNull()
  expect(judged(`SELECT ${masked} AS shape FROM seen`).problem?.message).toContain('makes another text')
  expect(judged(`SELECT ${masked} AS shape, COUNT(*) FROM seen GROUP BY 1`).problem).not.toBeNull()
  expect(judged(`SELECT id FROM seen ORDER BY ${masked}`).problem).not.toBeNull()
  const [{ pattern, by }] = masks as [(typeof masks)[number]]
  const others = [
    replaced('note', pattern, ''),
    replaced('note', '[a-m]', by),
    replaced('UPPER(note)', pattern, by),
  ]
  for (const other of others) expect(grouped(other)?.message).toContain('makes another text')
})

test('a number that is computed is known by the name that it gets', () => {
  const sql =
    'WITH w AS (SELECT ms / 10 AS tenth, SUM(ms) AS sum FROM seen GROUP BY ms) SELECT sum AS id, tenth AS n, tenth AS token FROM w'
  const { problem, names } = judged(sql)
  expect(problem).toBeNull()
  expect(Object.fromEntries(names)).toEqual({ id: 'number', n: 'number', token: 'number' })
  expect(judged('SELECT ms, id FROM seen').names.size).toBe(0)
})

test('quantiles of a column that the engine calls a time are times, a column without a name has that of BigQuery', () => {
  const columns = [
    { name: 'timestamp', type: { kind: 'TIMESTAMP' as const } },
    { name: 'ms', type: { kind: 'FLOAT64' as const } },
  ]
  const sql = 'SELECT APPROX_QUANTILES(timestamp, 2) AS q, SUM(ms), COUNT(*), AVG(ms) FROM seen'
  const { tree, resolution } = sandbox(endpoint, sql, new Map([['seen', columns]]))
  const { problem, names } = storedTextIn(tree, resolution)
  expect([problem, Object.fromEntries(names)]).toEqual([null, { f0_: 'number', f2_: 'number' }])
})

const typed = {
  ...endpoint,
  sql: `WITH seen AS (SELECT 'a' AS id, 'b' AS path, CURRENT_TIMESTAMP() AS timestamp, CURRENT_TIMESTAMP() AS ended, [200, 500] AS codes, ['a'] AS words,
    [STRUCT('x' AS word)] AS metadata, 5 AS ms, 7 AS bytes, '5' AS note, CURRENT_DATE() AS password) SELECT id FROM seen`,
}

test.each([
  ['COALESCE(id, path)', null],
  ['IF(ms > 5, bytes, ms)', null],
  ['codes[OFFSET(0)]', null],
  ['(SELECT MAX(c) FROM UNNEST(codes) AS c)', null],
  ["FORMAT('%t', timestamp)", null],
  ['ended - timestamp', null],
  ["CONCAT('at ', FORMAT_TIMESTAMP('%H', timestamp), DATE(ended))", null],
  ['CAST(ms AS FLOAT64)', null],
  ['metadata[OFFSET(0)].word', null],
  ['words[OFFSET(0)]', 'an element by itself'],
  ['(SELECT MAX(w) FROM UNNEST(words) AS w)', 'an element by itself'],
  ['metadata[OFFSET(0)]', 'an element by itself'],
  ['CONCAT(id, path)', 'one column'],
  ["FORMAT('%t %s', timestamp, id)", 'values that the query computes'],
  ['TIMESTAMP_SECONDS(ms)', 'another text or number'],
  ['IF(TRUE, timestamp, TIMESTAMP_SECONDS(bytes))', 'another text or number'],
  ["FORMAT('%t', password)", 'another text or number'],
  ['ms - bytes', 'one column'],
  ['UNIX_MICROS(timestamp) = bytes', 'values that the query computes'],
])('the types of columns are known of %s: %s', (sql, problem) => {
  const { message = null } = judged(`SELECT ${sql} AS x FROM seen`, typed).problem ?? {}
  expect(message).toEqual(problem && expect.stringContaining(problem))
})

/** What a condition on each character of a column adds to a value. */
const spelt = (start: string, add: (x: string, at: number) => string) =>
  Array.from({ length: 4 }).reduce<string>(
    (rows, _, at) =>
      `SELECT id, c, t, CASE WHEN c LIKE '${'_'.repeat(at)}1%' THEN ${add('x', at)} ELSE x END AS x FROM (${rows})`,
    `SELECT id, note AS c, timestamp AS t, ${start} AS x FROM seen`,
  )

test.each([
  `SELECT TIMESTAMP_DIFF(x, t, SECOND) AS w FROM (${spelt('timestamp', x => `TIMESTAMP_ADD(${x}, INTERVAL 10 SECOND)`)})`,
  `SELECT TIMESTAMP_DIFF(x, t, SECOND) AS w FROM (${spelt('TIMESTAMP_ADD(timestamp, INTERVAL 0 SECOND)', x => `TIMESTAMP_ADD(${x}, INTERVAL 10 SECOND)`)})`,
  `SELECT x AS w FROM (${spelt('LENGTH(id)', (x, at) => `${x} + ${10 ** at}`)})`,
  `SELECT y + 1 AS w FROM (${spelt('LENGTH(id)', (x, at) => `${x} + ${10 ** at}`)}), UNNEST([x]) AS y`,
  "SELECT LENGTH(CASE WHEN note LIKE '2%' THEN 'aa' ELSE id END) AS w FROM seen",
  "SELECT FORMAT_TIMESTAMP('%Y', IF(note LIKE '2%', TIMESTAMP '0203-01-01', timestamp)) AS w FROM seen",
  "SELECT UNIX_SECONDS(IF(note LIKE '2%', timestamp, TIMESTAMP '2000-01-01')) AS w FROM seen",
  "SELECT IF(note LIKE '2%', TIMESTAMP '2000-01-01', timestamp) - timestamp AS w FROM seen",
])('choices one inside another do not spell a value: %s', sql => {
  for (const by of [endpoint, typed]) expect(judged(sql, by).problem).not.toBeNull()
})

const conditions = Array.from({ length: 8 }, (_, at) => `REGEXP_CONTAINS(note, '^.{${at}}[89]')`)
/** What adds to `x` of `q`, beside it as `j`. */
const padded = ['LEFT', 'FULL', 'INNER'].flatMap(join =>
  ['UNNEST([1]) AS b', '(SELECT 1 AS b) AS y', 'one AS y', 'UNNEST(GENERATE_ARRAY(1, 1)) AS b'].map(
    side => `${join} JOIN ${side} ON`,
  ),
)
const deep = (start: string, level: (of: string, condition: string) => string) =>
  conditions.reduce(level, `SELECT id, note, ms, timestamp, ${start} AS x FROM seen`)
const readers = [
  ...padded.map(join =>
    deep(
      'LENGTH(id)',
      (of, on) =>
        `SELECT id, note, ms, timestamp, IF(b = 1, q.x + 8, q.x) AS x FROM (${of}) AS q ${join} ${on}`,
    ),
  ),
  ...padded.map(join =>
    deep(
      'LENGTH(id)',
      (of, on) =>
        `SELECT id, note, ms, timestamp, IFNULL(q.x + 8 * b, q.x) AS x FROM (${of}) AS q ${join} ${on}`,
    ),
  ),
  ...[
    'x',
    'CAST(x AS STRING)',
    'MAX(x) OVER ()',
    'LAG(x) OVER (ORDER BY id)',
    '(SELECT x)',
    '[x][OFFSET(0)]',
    'STRUCT(x AS v).v',
    'PARSE_JSON(CAST(x AS STRING)).v',
  ].map(wrap =>
    deep(
      'IF(ms > 5, 1, 0)',
      (of, on) => `SELECT id, note, ms, timestamp, IF(${on}, ${wrap} + 8, ${wrap}) AS x FROM (${of})`,
    ),
  ),
  ...[
    'TIMESTAMP_ADD(X, INTERVAL 2 SECOND)',
    'TIMESTAMP_SUB(X, INTERVAL 2 SECOND)',
    'TIMESTAMP_TRUNC(X, DAY)',
    'TIMESTAMP_BUCKET(X, INTERVAL 2 SECOND)',
    'TIMESTAMP(DATETIME_ADD(DATETIME(X), INTERVAL 2 SECOND))',
    'TIMESTAMP(LAST_DAY(DATE(X)))',
    'X + INTERVAL 2 SECOND',
    'TIMESTAMP_SECONDS(Unix_seconds(X) + 2)',
  ].flatMap(move =>
    [
      `IFNULL(${move.replace('X', 'IF(C, x, NULL)')}, x)`,
      `IF(C, ${move.replace('X', 'x')}, x)`,
      `IFNULL(TIMESTAMP_ADD(TIMESTAMP_BUCKET(x, INTERVAL 1 SECOND, ${move.replace('X', 'IF(C, timestamp, NULL)')}), INTERVAL 2 SECOND), x)`,
      `COALESCE((SELECT ${move.replace('X', 'x')} FROM UNNEST([1]) WHERE C), x)`,
    ].map(choice =>
      deep(
        'TIMESTAMP_TRUNC(timestamp, DAY)',
        (of, on) =>
          `SELECT id, note, ms, timestamp, ${choice.replaceAll('C,', `${on},`).replace('WHERE C', `WHERE ${on}`)} AS x FROM (${of})`,
      ),
    ),
  ),
  deep(
    'LENGTH(id)',
    (of, on) =>
      `SELECT id, note, ms, timestamp, (SELECT MAX(v) FROM (SELECT x AS v UNION ALL SELECT x + 8 FROM UNNEST([1]) WHERE ${on})) AS x FROM (${of})`,
  ),
  deep(
    'LENGTH(id)',
    (of, on) =>
      `SELECT id, note, ms, timestamp, (SELECT SUM(x + 1) FROM UNNEST([1, 2]) AS k WHERE k = 1 OR ${on}) AS x FROM (${of})`,
  ),
].map(rows => {
  const shown = rows.includes('TIMESTAMP_TRUNC(timestamp, DAY) AS x')
    ? 'TIMESTAMP_DIFF(x, timestamp, SECOND)'
    : 'x + 1'
  return `WITH one AS (SELECT 1 AS b) SELECT ${shown} AS v FROM (${rows})`
})
const joins = ['LEFT', 'FULL', 'INNER'].map(join => {
  const sides = conditions.map((on, at) => `${join} JOIN one AS j${at} ON ${on}`).join(' ')
  const sum = conditions.map((_, at) => `IFNULL(j${at}.b, 0) * ${2 ** at}`).join(' + ')
  return `WITH one AS (SELECT 1 AS b) SELECT CONCAT(CHR(${sum}), CHR(${sum})) AS v FROM seen AS s ${sides}`
})

test.each([
  ...readers,
  ...joins,
  ...["DATE_DIFF(DATE '1970-01-01', day, DAY)", "DATE_DIFF(day, DATE '1970-01-01', DAY)"].map(
    n =>
      `SELECT n FROM seen AS l JOIN (SELECT ${n} AS n FROM UNNEST(GENERATE_DATE_ARRAY(DATE '1970-01-01', DATE '1990-01-01')) AS day) AS k ON l.bytes = k.n`,
  ),
  "SELECT UPPER(x) AS y FROM UNNEST(['a', 'b']) AS x",
  'SELECT TIMESTAMP_TRUNC(timestamp, DAY, second) AS x FROM (SELECT timestamp, note AS second FROM seen)',
  'SELECT k FROM UNNEST(JSON_KEYS(PARSE_JSON(CONCAT(\'{"a":1}\')))) AS k JOIN seen ON note = k',
  "SELECT k FROM (SELECT ['a', 'b'] AS l), UNNEST(l) AS k JOIN seen ON note = k",
  "SELECT k FROM UNNEST(IF(TRUE, ['a', 'b'], [])) AS k JOIN seen ON note = k",
  'SELECT v + 1 AS w FROM (SELECT IF(ms > 1, 1, 0) AS a, IF(ms > 2, 2, 0) AS b FROM seen) UNPIVOT(v FOR n IN (a, b)) WHERE v + v > 1',
  'SELECT a + b AS x FROM UNNEST([1, 2]) AS a JOIN seen ON a = ms JOIN UNNEST([1, 2]) AS b ON b = bytes',
  "SELECT STRING_AGG(IF(note LIKE '1%', 'a', 'b')) AS x FROM seen",
  "SELECT ARRAY_TO_STRING(ARRAY_AGG(IF(note LIKE '1%', 'a', 'b')), '') AS x FROM seen",
  "SELECT TO_JSON_STRING([IF(note LIKE '1%', 'a', 'b')]) AS x FROM seen",
  "SELECT TO_JSON_STRING(t) AS x FROM (SELECT COUNTIF(note LIKE '1%') AS a, COUNTIF(note LIKE '2%') AS b, COUNTIF(note LIKE '3%') AS c, COUNTIF(note LIKE '4%') AS d FROM seen) AS t",
  "SELECT TO_JSON_STRING(t) AS x FROM (SELECT COUNT(*) AS a, LOGICAL_OR(note LIKE '2%') AS b FROM seen) AS t",
  "SELECT JSON_OBJECT('a', note LIKE '1%', 'b', note LIKE '2%') AS x FROM seen",
])('what conditions choose is not put together: %s', sql => {
  for (const by of [endpoint, typed]) {
    expect(judged(sql, by).problem).not.toBeNull()
  }
})

test.each([
  'WITH p AS (SELECT 100 AS slow) SELECT IF(ms > p.slow, 1, 0) AS slow, COUNT(*) AS n FROM seen, p GROUP BY 1',
  'SELECT ROW_NUMBER() OVER (ORDER BY ms) - 1 AS place FROM seen',
  "WITH p AS (SELECT TIMESTAMP '2026-01-01' AS start) SELECT COUNT(*) AS n FROM seen, p WHERE timestamp >= TIMESTAMP_SUB(start, INTERVAL 1 DAY)",
  'WITH a AS (SELECT path, COUNT(*) AS n FROM seen GROUP BY path), b AS (SELECT path, COUNT(*) AS n FROM seen GROUP BY path) SELECT IFNULL(a.n, 0) / (a.n + IFNULL(b.n, 0)) AS share FROM a LEFT JOIN b USING (path)',
])('choices are compared and counted, counts and times put together in small numbers: %s', sql => {
  expect(judged(sql, typed).problem).toBeNull()
})

test.each([
  "SELECT SUM(IF(path LIKE '/a%', LENGTH(note), 0)) AS x FROM seen",
  'SELECT TIMESTAMP_TRUNC(COALESCE(ended, timestamp), HOUR) AS hour, COUNT(*) AS n FROM seen GROUP BY hour',
  "SELECT COUNT(DISTINCT COALESCE(note, 'none')) AS n FROM seen",
])('a choice is counted and summed: %s', sql => {
  expect(judged(sql, typed).problem).toBeNull()
})

test('a number that was a text is shown as a sum only', () => {
  const sql =
    'WITH w AS (SELECT id, SAFE_CAST(note AS INT64) AS n FROM seen) ' +
    'SELECT n, n * 2 AS twice, MAX(n) AS most, AVG(n) AS mean, APPROX_QUANTILES(n, 2)[OFFSET(1)] AS half FROM w'
  const { problem, names } = judged(sql)
  expect(problem).toBeNull()
  const datum = { n: 'datum', twice: 'datum', most: 'datum' }
  expect(Object.fromEntries(names)).toEqual({ ...datum, mean: 'number', half: 'number' })
})

test.each([
  ['cookie AS x', 'line'],
  ['metadata[SAFE_OFFSET(0)].password AS x', 'secret'],
  ['metadata[SAFE_OFFSET(0)].password.tokens AS x', 'secret'],
  ["IF(TRUE, JSON_VALUE(body, '$.password'), TRIM(cookie)) AS x", 'secret'],
  ['tel AS id', 'datum'],
  ['status AS id', 'other'],
  ['path AS version', 'other'],
  ['metadata[SAFE_OFFSET(0)].otp AS tokens', 'datum'],
  ['metadata[SAFE_OFFSET(0)].otp.tokens', 'datum'],
  ['id', undefined],
  ['id AS request_id', undefined],
  ['path AS p', undefined],
])('%s is redacted as %s, whatever its alias', (column, kind) => {
  const { problem, names } = judged(`SELECT ${column} FROM seen`)
  expect([problem, [...names.values()][0]]).toEqual([null, kind])
})

const listOf = `(SELECT ARRAY_AGG(JSON_VALUE(z.body, '$.metadata')) FROM seen AS z)`
test.each([
  `SELECT x FROM seen AS p, UNNEST(CASE WHEN FALSE THEN ${listOf} ELSE p.metadata END) AS x`,
  `SELECT (CASE WHEN FALSE THEN ${listOf} ELSE p.metadata END)[SAFE_OFFSET(1)] AS x FROM seen AS p`,
  `SELECT x FROM (SELECT ARRAY_AGG(JSON_VALUE(z.body, '$.metadata')) AS l FROM seen AS z WHERE FALSE UNION ALL SELECT p.metadata FROM seen AS p) AS q, UNNEST(q.l) AS x`,
])('an element of a stored list by itself is out, also where the query may have made the list: %s', sql => {
  expect(judged(sql).problem).not.toBeNull()
})

test('as many columns as a list may have are resolved in a moment', async () => {
  const columns = (of: string) => Array.from({ length: 1000 }, (_, at) => `${of}c${at}`).join(',')
  const rows = Array.from({ length: 64 }, (_, at) => `seen AS s${at}`).join(', ')
  const wide = `WITH a AS (SELECT ${columns('1 ')}) SELECT * FROM a`
  const byName = Array.from(
    { length: 60 },
    (_, at) => `SELECT ${columns(`1 d${at}`).split(',', 30).join(',')}`,
  )
  const narrow = 'WITH a AS (SELECT 1 p, 1 q, 1 r, 1 s, 1 t, 1 u, 1 v)'
  const many = `${Array.from({ length: 63 }, (_, at) => `a l${at}`).join(', ')}, (SELECT 1 y)`
  const sums = Array.from({ length: 500 }, (_, at) => `${'y+'.repeat(9)}y z${at}`).join(',')
  for (const sql of [
    byName.join(' FULL UNION ALL BY NAME '),
    `${narrow} SELECT ${sums} FROM ${many}`,
    `${narrow} SELECT 1 AS one FROM ${many} WHERE y IN (${'y, '.repeat(999)}y)`,
    `SELECT c0 FROM (SELECT * FROM (SELECT ${columns('1 ')}))`,
    `SELECT ${columns('')} FROM (SELECT ${columns('1 ')})`,
    `${wide} UNION ALL BY NAME SELECT * FROM a UNION ALL BY NAME SELECT * FROM a`,
    `${wide} JOIN a AS b USING (${columns('')})`,
    `${wide} UNPIVOT (v FOR n IN (${columns('')}))`,
    `SELECT ${'none, '.repeat(999)}none FROM ${rows}`,
    `SELECT WITH(${columns('path AS ')
      .replaceAll(/path AS (\w+)/g, '$1 AS path')
      .split(',', 390)
      .join(',')}, c0) FROM seen`,
  ])
    await expectProcessorTime(3_000, () => judged(sql))
  const chain = `${wide}${' UNION ALL BY NAME SELECT * FROM a'.repeat(63)}`
  await expectProcessorTime(3_000, () => {
    expect(() => sandbox(endpoint, chain)).toThrow('* stands for too many columns')
  })
})

test('a nested query and a chain of names are judged in time', async () => {
  const nested = (n: number): string => (n === 0 ? 'body' : `JSON_VALUE(${nested(n - 1)}, '$.a')`)
  const union = (n: number): string =>
    n === 0 ? 'SELECT id FROM seen' : `SELECT (${union(n - 1)}) AS x UNION ALL SELECT 'a'`
  const chain = Array.from({ length: 400 }, (_, i) => `c${i + 1} AS c${i}`).join(', ')
  const records = Array.from(
    { length: 90 },
    (_, i) => `s${i + 1} AS IF(TRUE, STRUCT(s${i} AS a, s${i} AS b), NULL)`,
  )
  for (const sql of [
    `SELECT ${nested(80)} AS x FROM seen`,
    `SELECT WITH(s0 AS 1, ${records.join(', ')}, IF(TRUE, s90, s90).a.b) AS x`,
    union(25),
    `SELECT ${chain} FROM (SELECT cookie AS c400 FROM seen)`,
  ])
    await expectProcessorTime(2_000, () => judged(sql))
})

test('so do the queries of Studio, but for those that change texts, and those with a row as a value', () => {
  const text = readFileSync(join(import.meta.dirname, 'testing/studio.sql'), 'utf8')
  const queries = [...text.matchAll(/^-- (.+)\n([\s\S]+?;)$/gm)]
  const refusals = queries.flatMap(([, shows, sql]) => (judged(sql!, logs).problem ? [shows] : []))
  expect(refusals).toEqual([
    'one list of all services, with NULLs for what a service lacks',
    'all of one request, with keys that may be missing at every level',
    'one call of a function with its output as a list',
    'a report: use of sign-ins, in one scan',
    'service flow: all of one call of a function',
    'service flow: all of one entry of the database',
    'service flow: an edge entry with its place, headers and gateway',
    'unified logs: calls of functions with the last line of their output',
    'Self-hosted: the health of services on the home page, in one query over all of them',
  ])
  expect(queries.length).toBeGreaterThan(50)
})
