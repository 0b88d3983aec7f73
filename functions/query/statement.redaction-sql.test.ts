/** What the SQL of a caller shows whose answers are redacted: attacks written against the rule, and what has to work. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../testing/edges.ts'
import { startService, type TestService } from '../testing/service.ts'

let folder: string
let service: TestService
let keys: { redacted: string; plain: string }

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'redaction-sql-'))
  writeFileSync(
    join(folder, 'logs.sql'),
    `WITH seen AS (
      SELECT 'a' AS id, '203.0.113.97' AS peer, 'from kimberley@example.com' AS note, 'opaque-zebra' AS cookie,
        'GET' AS method, '/rest/v1/users' AS path, '15.4' AS version, 503 AS status, TIMESTAMP '2026-01-01 10:00:00+00' AS timestamp,
        [STRUCT(STRUCT('203.0.113.97' AS peer, 'opaque-zebra' AS cookie) AS request)] AS metadata,
        '{"user":{"mail":"kimberley@example.com","password":"opaque-zebra"},"ms":12,"ｔｏｋｅｎ":"opaque-zebra"}' AS body,
        'userPwd=zebrax customerPhone=0203113' AS camel, 'login with password=p@zebraX ok' AS login, '+31133023405' AS tel, 5 AS small,
        4000000000000010 AS num, 4000000000000010.0 AS numf
    ) SELECT id FROM seen`,
  )
  const definition = (id: string, sandbox: string) =>
    `id: 00000000-0000-4000-8000-00000000000${id}\ndescription: d\n` +
    `parameters: {properties: {}}\nsandbox: ${sandbox}\ncache: {seconds: 60}\n`
  writeFileSync(join(folder, 'logs.yaml'), definition('1', 'true'))
  writeFileSync(
    join(folder, 'lenient.sql'),
    `WITH seen AS (SELECT '203.0.113.97' AS peer) SELECT peer FROM seen`,
  )
  writeFileSync(join(folder, 'lenient.yaml'), definition('2', '{redacted: allow}'))
  writeFileSync(
    join(folder, 'named.sql'),
    'WITH seen AS (SELECT l.id, l.event_message FROM `cloudflare.logs.prod` AS l) SELECT id FROM seen',
  )
  writeFileSync(join(folder, 'named.yaml'), definition('8', 'true'))
  cards.forEach((card, at) => {
    writeFileSync(
      join(folder, `card${at}.sql`),
      `WITH seen AS (SELECT * FROM UNNEST([
        STRUCT('a' AS id, ${card} AS card, '${card}' AS note, JSON '{"card":${card}}' AS body, 12.5 AS ms, 7 AS trace),
        ('b', 5500005555555559, '', JSON '{"card":5500005555555559}', 3.5, 8)])) SELECT id FROM seen`,
    )
    writeFileSync(join(folder, `card${at}.yaml`), definition(`${3 + at}`, 'true'))
  })
  const rows = [edgeRow('a', '2026-01-01T10:00:00Z', 'abcdefghijklmnopqrst', '/rest/v1/items')]
  service = await startService({ tables: { 'cloudflare.logs.prod': rows }, queries: folder })
  keys = { redacted: await service.issue({ redacted: true }), plain: await service.issue({}) }
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

async function ask(sql: string, { key = keys.redacted, endpoint = 'logs', headers = {} } = {}) {
  const path = `/api/endpoints/query/${endpoint}?sql=${encodeURIComponent(sql)}`
  const response = await service.fetch(path, { key, headers })
  const body = (await response.json()) as {
    result?: Record<string, unknown>[]
    code?: string
    detail?: string
    errors?: { detail: string }[]
  }
  return { status: response.status, ...body }
}

/** Alike in the first ten digits. */
const cards = [4532015112830366, 4532015112123457]

/** The address, the e-mail address and the cookie, whole, in parts and in the forms that the attacks make. */
const leaks =
  /203|302\b|113|311|\b97\b|79\.|kimb|berley|yelreb|example\.com|zebra|arbez|3405803873|cb00|y2lt|a2lt|MjAz|323033|50,48|5a656272|6b696d|40{9}|e\+15/i

const attacks = `
  REVERSE(peer) | TO_HEX(CAST(peer AS BYTES)) | TO_BASE64(CAST(note AS BYTES)) | ARRAY_TO_STRING(SPLIT(peer, '.'), '-')
  SPLIT(peer, '.') | SPLIT(note, '@') | SUBSTR(peer, 1, 5) | SUBSTR(peer, 2) || 'x' | LEFT(peer, 5) | RIGHT(peer, 5)
  REPLACE(peer, '.', '-') | REPLACE(note, '@', ' at ') | FORMAT('%s', REPLACE(peer, '.', ',')) | FORMAT('v%s', peer)
  CONCAT('v', peer) | 'version ' || peer | CONCAT(peer, '.1') | TO_JSON_STRING(SPLIT(peer, '.')) | TO_CODE_POINTS(peer)
  TRANSLATE(peer, '.', '_') | TRANSLATE(peer, '0123456789', 'abcdefghij') | REGEXP_REPLACE(peer, r'\\.', ' ')
  REGEXP_EXTRACT(peer, r'^\\d+') | REGEXP_EXTRACT_ALL(peer, r'\\d+') | REGEXP_SUBSTR(note, '[a-z]+@') | ASCII(peer) | UNICODE(peer)
  CODE_POINTS_TO_STRING(TO_CODE_POINTS(peer)) | SAFE_CONVERT_BYTES_TO_STRING(CAST(peer AS BYTES)) | INITCAP(note)
  LPAD(peer, 20, '1') | RPAD(peer, 20, '.1') | REPEAT(peer, 2) | NET.IPV4_TO_INT64(NET.IP_FROM_STRING(peer))
  NET.IP_FROM_STRING(peer) | NET.IP_TO_STRING(NET.IP_TRUNC(NET.IP_FROM_STRING(peer), 24)) | MD5(peer) | SHA1(peer)
  TO_HEX(SHA256(peer)) | FARM_FINGERPRINT(peer) | SOUNDEX(note) | CAST(peer AS BYTES) | CAST(peer AS BYTES FORMAT 'UTF-8')
  CAST(SPLIT(peer, '.')[OFFSET(0)] AS INT64) | SAFE_CAST(SUBSTR(peer, 1, 3) AS INT64) | TRIM(note, 'from kimb')
  LTRIM(note, 'from ') | STRPOS(note, 'kim') | INSTR(peer, '.') | REGEXP_INSTR(peer, '3') | EDIT_DISTANCE(peer, '203')
  PARSE_TIME('%H.%M.%S', peer) | PARSE_DATE('%d', SUBSTR(peer, 1, 2)) | FORMAT_DATE(peer, DATE '2026-01-01')
  REVERSE(FORMAT_TIMESTAMP(note, timestamp)) | STRING_AGG(peer, '.') | STRING_AGG(peer, ' version ') | COALESCE(REVERSE(peer), '')
  IF(status > 1, REVERSE(peer), 'x') | CASE WHEN TRUE THEN SUBSTR(peer, 1, 3) END | ARRAY_AGG(SUBSTR(peer, 1, 3)) | MAX(REVERSE(peer))
  (SELECT REVERSE(peer)) | ARRAY(SELECT c FROM UNNEST(SPLIT(peer, '')) AS c) | [REVERSE(peer)] | STRUCT(REVERSE(peer) AS a)
  JSON_VALUE(CONCAT('["', REPLACE(peer, '.', '","'), '"]'), '$[0]') | JSON_OBJECT('version', peer) | JSON_ARRAY(peer, 'x')
  RANGE_BUCKET(peer, ['0', '1', '2', '3']) | GREATEST(SUBSTR(peer, 1, 3), '') | NORMALIZE(REVERSE(note)) | UPPER(REVERSE(note))
  peer AS version | COALESCE(peer, '') AS version | STRUCT(peer AS version) AS s | cookie AS c | cookie AS \`Ä\` | COALESCE(cookie, '') AS c
  [cookie] AS c | ARRAY_AGG(cookie) AS c | STRUCT(cookie AS c) AS s | (cookie, 1) AS c | STRUCT<c STRING>(cookie) AS s
  MAX(cookie) AS m | cookie || 'x' AS c | UPPER(cookie) AS c | JSON_VALUE(body, '$.user.password') AS p | CAST(cookie AS INT64)
  JSON_QUERY(body, '$.user') AS u | TO_JSON_STRING(STRUCT(cookie AS c)) | TO_JSON_STRING(STRUCT(peer AS oid)) | PARSE_JSON(cookie)
  APPROX_TOP_COUNT(cookie, 1) AS top | APPROX_TOP_COUNT(cookie, 1) AS cookie | APPROX_TOP_COUNT(cookie, 1)[OFFSET(0)].value AS v
  TO_JSON(APPROX_TOP_COUNT(cookie, 1)) AS j | PARSE_JSON(body)['user'][LOWER('PASSWORD')] AS p
  PARSE_JSON(body)[CONCAT('us', 'er')][CONCAT('pass', 'word')] AS p | LAX_STRING(PARSE_JSON(body).user[IF(TRUE, 'password', '')]) AS p
  COALESCE(CAST(NULL AS STRUCT<a STRING, b STRING>), metadata[OFFSET(0)].request) AS s
  IF(FALSE, SAFE_CAST(NULL AS STRUCT<a STRING, b STRING>), metadata[OFFSET(0)].request).b AS s
  CASE WHEN FALSE THEN CAST(NULL AS STRUCT<a STRING, b STRING>) ELSE metadata[OFFSET(0)].request END AS s
  IF(FALSE, ARRAY<STRUCT<r STRUCT<a STRING, b STRING>>>[], metadata) AS s | STRUCT<STRING, STRING>(peer, cookie) AS s
  ARRAY<STRUCT<a STRING, b STRING>>[metadata[OFFSET(0)].request] AS s | ARRAY<STRUCT<STRING, STRING>>[STRUCT(peer, cookie)] AS s
  ARRAY<STRUCT<a STRING, b STRING>>[metadata[OFFSET(0)].request][OFFSET(0)].b AS s | STRUCT<a STRING>(cookie).a AS s
  STRUCT<r STRUCT<a STRING, b STRING>>(metadata[OFFSET(0)].request) AS s
  ARRAY_CONCAT(CAST([] AS ARRAY<STRUCT<a STRING, b STRING>>), [metadata[OFFSET(0)].request]) AS s
  CASE SUBSTR(peer, 1, 1) WHEN '2' THEN SUBSTR(peer, 2, 1) END | IF(SUBSTR(peer, 1, 1) = '2', SUBSTR(peer, 2, 1), '')
  (SELECT MAX(SUBSTR(p, 1, 3)) FROM UNNEST([peer]) AS p) | NULLIF(SUBSTR(peer, 1, 3), 'x') | SAFE_CAST(SUBSTR(peer, 1, 3) AS INT64) + 1
  WITH(version AS peer, version) | WITH(version AS peer, version) AS version | WITH(v AS REVERSE(peer), v) AS v | WITH(c AS cookie, c)
  WITH(c AS cookie, c) AS c | WITH(c AS cookie, d AS c, [d]) AS d | WITH(c AS cookie, STRUCT(c)) AS s | WITH(v AS peer, SUBSTR(v, 1, 3)) AS p
  TO_JSON_STRING(WITH(version AS peer, STRUCT(version))) | WITH(k AS 'password', PARSE_JSON(body).user[k]) AS p
  WITH(r AS metadata[OFFSET(0)].request, r.cookie) AS c | WITH(c AS '', WITH(c AS cookie, c)) AS c | (peer).REVERSE() | (peer).SUBSTR(1, 5)
  metadata[OFFSET(0)].request[OFFSET(0)] AS v | metadata[OFFSET(0)].request[1] AS v | (SELECT m.request[ORDINAL(2)] FROM UNNEST(metadata) AS m) AS v
  (SELECT r[OFFSET(1)] FROM UNNEST(metadata) AS m, UNNEST([m.request]) AS r) AS v | seen[OFFSET(3)] AS v | seen[3] AS v | STRUCT(cookie, 1)[OFFSET(0)] AS v
  ARRAY_AGG(STRUCT(1 AS a, cookie))[OFFSET(0)][OFFSET(1)] AS v | ANY_VALUE(STRUCT(1 AS a, cookie))[OFFSET(1)] AS v | IF(TRUE, seen, NULL)[OFFSET(3)] AS v
  WITH(r AS metadata[OFFSET(0)].request, r[OFFSET(1)]) AS v | (SELECT AS STRUCT 1 AS a, cookie)[OFFSET(1)] AS v | [STRUCT(cookie, 1)][OFFSET(0)][OFFSET(0)] AS v
  LOWER(camel) | UPPER(camel) AS c | INITCAP(camel) | MAX(LOWER(camel)) | LOWER(TRIM(camel)) AS c | (SELECT LOWER(camel)) AS c | [UPPER(camel)] AS c
  NET.HOST(login) | NET.REG_DOMAIN(login) | NET.PUBLIC_SUFFIX(login) | NET.HOST(note) | MAX(NET.HOST(login)) AS h | SAFE.NET.HOST(login) AS h
  CAST(numf AS STRING) AS s | TO_JSON_STRING(numf) AS s | CAST(IF(TRUE, num, 0.5) AS STRING) AS s | TO_JSON([numf]) AS s
  STRING_AGG(CAST(numf AS STRING)) AS s | STRING_AGG(CAST(IF(TRUE, num, 0.5) AS STRING), '; ') AS s | ARRAY_TO_STRING([CAST(numf AS STRING), 'x'], ',') AS s
  COALESCE(num, 0.5) AS s | numf | num | GREATEST(num, 0.5) AS s | [numf, 0.5] AS l | TO_JSON_STRING([num, 0.5]) AS s
  JSON_VALUE(body, '$."ｔｏｋｅｎ"') AS v | JSON_EXTRACT_SCALAR(body, "$['ｔｏｋｅｎ']") AS v | PARSE_JSON(body)['ｔｏｋｅｎ'] AS v
  JSON_VALUE(body, '$.ｔｏｋｅｎ') AS v | JSON_QUERY(body, '$."ｔｏｋｅｎ"') AS v | LAX_STRING(PARSE_JSON(body)['ｔｏｋｅｎ']) AS v | JSON_VALUE(body, '$.user."password"') AS v
  SAFE_CAST(tel AS INT64) AS n | CAST(tel AS FLOAT64) AS n | SAFE_CAST(tel AS NUMERIC) / 1 AS n | MAX(SAFE_CAST(tel AS INT64)) AS n | SAFE_CAST(tel AS INT64)
  CAST(SAFE_CAST(tel AS INT64) AS STRING) AS n | FORMAT('%d', SAFE_CAST(tel AS INT64)) AS n | LAX_INT64(TO_JSON(tel)) AS n | LAX_FLOAT64(TO_JSON(tel)) AS n
  [SAFE_CAST(tel AS INT64)] AS n | STRUCT(SAFE_CAST(tel AS INT64) AS n) AS s | TO_JSON_STRING(SAFE_CAST(tel AS INT64)) AS n 
  metadata[OFFSET(0)].request.cookie AS c | (SELECT m.request.cookie FROM UNNEST(metadata) AS m) AS c | IF(cookie > 'a', cookie, '') AS x
`
  .split(/ \| |\n\s*/)
  .filter(text => text.trim() !== '')
  .map(text => `SELECT ${text} FROM seen`)

const queries = [
  `WITH u AS (SELECT ABS(small) AS cookie FROM seen) SELECT cookie FROM seen`,
  `WITH u AS (SELECT small * 2 AS request, 'x' AS cookie FROM seen) SELECT m.request FROM seen, UNNEST(metadata) AS m`,
  `WITH u AS (SELECT AVG(small) AS password FROM seen) SELECT JSON_VALUE(body, '$.user.password') AS password FROM seen`,
  `WITH u AS (SELECT AVG(small) AS tel FROM seen) SELECT SAFE_CAST(tel AS INT64) AS n FROM seen`,
  `WITH u AS (SELECT ARRAY_AGG(small) AS request FROM seen) SELECT m.request[OFFSET(1)] AS v FROM seen, UNNEST(metadata) AS m`,
  `WITH u AS (SELECT ARRAY_AGG(small) AS r FROM seen) SELECT r[OFFSET(1)] AS v FROM (SELECT m.request AS r FROM seen, UNNEST(metadata) AS m)`,
  `WITH u AS (SELECT ARRAY_AGG(small) AS request FROM seen) SELECT request[OFFSET(1)] AS v FROM (SELECT m.request FROM seen, UNNEST(metadata) AS m)`,
  `WITH u AS (SELECT ARRAY_AGG(small) AS request FROM seen) SELECT request[OFFSET(1)] AS v FROM (SELECT metadata[OFFSET(0)].request FROM seen)`,
  `WITH u AS (SELECT ARRAY_AGG(small) AS seen FROM seen) SELECT seen[OFFSET(3)] AS v FROM seen`,
  `SELECT m[OFFSET(0)][OFFSET(1)] AS v FROM seen, UNNEST(metadata) AS m`,
  `SELECT n FROM (SELECT SAFE_CAST(tel AS INT64) AS n FROM seen)`,
  `SELECT * FROM (SELECT id, SAFE_CAST(tel AS INT64) FROM seen)`,
  `SELECT w FROM (SELECT SAFE_CAST(tel AS INT64) AS n FROM seen) AS w`,
  `SELECT LOWER(camel) AS c, COUNT(*) AS n FROM seen GROUP BY c`,
  `WITH w AS (SELECT LOWER(camel) AS c FROM seen) SELECT c FROM w WHERE c = 'x' OR TRUE`,
  `SELECT c, o FROM seen, UNNEST(SPLIT(peer, '')) AS c WITH OFFSET AS o`,
  `SELECT c FROM seen, UNNEST(TO_CODE_POINTS(note)) AS c`,
  `FROM seen |> EXTEND REVERSE(peer) AS r |> SELECT r`,
  `FROM seen |> SET peer = REPLACE(peer, '.', '-') |> SELECT peer`,
  `FROM seen |> RENAME cookie AS c |> SELECT c`,
  `FROM seen |> RENAME peer AS build |> SELECT build`,
  `SELECT * FROM (SELECT id, peer, path FROM seen) PIVOT(MAX(REVERSE(peer)) FOR path IN ('/rest/v1/users' AS a))`,
  `SELECT * FROM (SELECT id, peer, path FROM seen) PIVOT(MAX(peer) FOR path IN ('/rest/v1/users' AS version))`,
  `SELECT * FROM (SELECT id, cookie, path FROM seen) PIVOT(MAX(cookie) FOR path IN ('/rest/v1/users' AS a))`,
  `SELECT v FROM (SELECT cookie, note FROM seen) UNPIVOT(v FOR n IN (cookie, note))`,
  `SELECT version FROM (SELECT peer, note FROM seen) UNPIVOT(version FOR n IN (peer, note))`,
  `SELECT COUNT(*), REVERSE(peer) FROM seen GROUP BY 2`,
  `SELECT COUNT(*) FROM seen GROUP BY SUBSTR(peer, 1, 3) ORDER BY SUBSTR(peer, 1, 3)`,
  `WITH w AS (SELECT cookie AS c FROM seen) SELECT c AS d FROM w`,
  `WITH w AS (SELECT peer AS version FROM seen) SELECT version AS release FROM w`,
  `WITH w AS (SELECT REVERSE(peer) AS peer FROM seen) SELECT peer FROM w`,
  `WITH w AS (SELECT peer AS version FROM seen) SELECT TO_JSON_STRING(w) FROM w`,
  `WITH w AS (SELECT peer AS oid FROM seen) SELECT TO_JSON_STRING(w) AS j FROM w`,
  `WITH w AS (SELECT cookie AS c FROM seen) SELECT w FROM w`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, 'x' AS a, cookie AS b FROM seen UNION ALL SELECT n + 1, b, a FROM r WHERE n < 2) SELECT a FROM r`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, peer AS version FROM seen UNION ALL SELECT n + 1, version FROM r WHERE n < 2) SELECT version FROM r`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, '' AS version, '' AS b, peer AS c FROM seen UNION ALL SELECT n + 1, b, c, '' FROM r WHERE n < 3) SELECT version FROM r`,
  `WITH RECURSIVE x AS (SELECT version FROM r), r AS (SELECT 1 AS n, '' AS version, peer FROM seen UNION ALL SELECT n + 1, peer, version FROM r WHERE n < 3) SELECT version AS release FROM x`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, '' AS a UNION ALL SELECT n + 1, cookie FROM r, seen WHERE n < 2) SELECT a FROM r`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, peer AS a FROM seen UNION ALL SELECT n + 1, REVERSE(a) FROM r WHERE n < 2) SELECT a FROM r`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, '' AS a UNION ALL SELECT n + 1, SUBSTR(peer, n, 1) FROM r, seen WHERE n < 15) SELECT a FROM r`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, '' AS p UNION ALL SELECT n + 1, CONCAT(p, d) FROM r, seen, UNNEST(['2', '0', '3']) AS d WHERE n < 4 AND STARTS_WITH(peer, CONCAT(p, d))) SELECT p FROM r`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, '' AS a, STRUCT('' AS x) AS s UNION ALL SELECT n + 1, s.x, STRUCT(cookie) FROM r, seen WHERE n < 3) SELECT a FROM r`,
  `WITH RECURSIVE r AS (SELECT 1 AS n, '' AS version UNION ALL SELECT n + 1, peer FROM r, seen WHERE n < 2) SELECT TO_JSON_STRING(r) FROM r`,
  `SELECT 'x' AS c UNION ALL SELECT cookie FROM seen`,
  `SELECT '1' AS version UNION ALL SELECT peer FROM seen`,
  `(SELECT 'x' AS c UNION ALL SELECT 'y') UNION ALL (SELECT cookie FROM seen)`,
  `SELECT s.a FROM (SELECT STRUCT('' AS a, '' AS b) AS s UNION ALL SELECT m.request FROM seen, UNNEST(metadata) AS m)`,
  `SELECT IF(FALSE, STRUCT('' AS a, '' AS b), m.request) AS s FROM seen, UNNEST(metadata) AS m`,
  `SELECT v FROM (SELECT AS VALUE cookie FROM seen) AS v`,
  `SELECT c FROM seen, UNNEST([cookie]) AS c`,
  `SELECT version FROM seen, UNNEST([peer]) AS version`,
  `SELECT d, COUNT(*) FROM seen JOIN UNNEST(['1', '20', '3']) AS d ON STARTS_WITH(peer, d) GROUP BY d`,
  `SELECT d FROM seen JOIN UNNEST(['203', '204']) AS d ON peer LIKE CONCAT(d, '%')`,
  `SELECT LAG(REVERSE(peer)) OVER (ORDER BY id) AS a, REVERSE(peer) AS b FROM seen`,
  `SELECT ROW_NUMBER() OVER (ORDER BY SUBSTR(peer, 2, 1)) FROM seen`,
  `SELECT SAFE.SUBSTR(peer, 1, 4) AS a FROM seen`,
  "SELECT ARRAY_TO_STRING(['version', peer], '\\n') AS a FROM seen",
  `SELECT ARRAY_TO_STRING(['version', peer], ', ') AS a FROM seen`,
  `SELECT v.value AS x FROM (SELECT APPROX_TOP_COUNT(cookie, 1) AS p FROM seen), UNNEST(p) AS v`,
  `SELECT p FROM (SELECT APPROX_TOP_COUNT(cookie, 1) AS p FROM seen)`,
  `SELECT CAST(NULL AS STRUCT<a STRING, b STRING>) AS s UNION ALL SELECT m.request FROM seen, UNNEST(metadata) AS m`,
  `SELECT ARRAY<STRUCT<r STRUCT<a STRING, b STRING>>>[] AS s UNION ALL SELECT metadata FROM seen`,
  `SELECT x.b AS y FROM seen, UNNEST(ARRAY<STRUCT<a STRING, b STRING>>[metadata[OFFSET(0)].request]) AS x`,
  `WITH w AS (SELECT STRUCT('' AS a, '' AS b) AS request) SELECT IF(FALSE, w.request, m.request) AS s FROM w, seen, UNNEST(metadata) AS m`,
  `WITH w AS (SELECT version AS peer FROM seen) SELECT s.peer AS build FROM seen AS s, w`,
  `SELECT PARSE_JSON(body)['user'][n] AS p FROM seen, UNNEST(['password']) AS n`,
  `SELECT d FROM seen, UNNEST(['1', '203']) AS d WHERE SUBSTR(peer, 1, LENGTH(d)) = d`,
  `SELECT d FROM seen, UNNEST(['1', '2']) AS d WHERE REPLACE(SUBSTR(peer, 1, 1), d, '') = ''`,
  `SELECT i FROM seen, UNNEST(GENERATE_ARRAY(1, 15)) AS i WHERE SUBSTR(peer, i, 1) = '0'`,
  `SELECT i FROM seen, UNNEST(GENERATE_ARRAY(1, 15)) AS i WHERE STRPOS(note, 'kim') = i`,
  `SELECT d FROM UNNEST(['1', '203']) AS d WHERE d IN (SELECT SPLIT(peer, '.')[OFFSET(0)] FROM seen)`,
  `WITH w AS (SELECT SUBSTR(peer, 1, 3) AS r FROM seen) SELECT r FROM w WHERE r = '203'`,
  `SELECT REVERSE(STRING(CAST(JSON_QUERY(PARSE_JSON(body), '$.user.mail') AS JSON))) AS a FROM seen`,
  `SELECT REVERSE(LAX_STRING(SAFE_CAST(PARSE_JSON(body).user.mail AS JSON))) AS a FROM seen`,
]

/** A constant of the same name elsewhere is another value. */
const namesakes = [
  'SELECT REVERSE(r.peer) AS x FROM (SELECT s AS r FROM seen AS s), UNNEST([1]) AS peer',
  'SELECT SUBSTR(r.cookie, 1) AS y FROM (SELECT s AS r FROM seen AS s), (SELECT 1 AS cookie)',
  'WITH c AS (SELECT 1 AS peer) SELECT REVERSE(r.peer) AS x FROM (SELECT s AS r FROM seen AS s), c',
  `FROM seen |> SELECT metadata[SAFE_OFFSET(0)] AS m |> EXTEND 'a' AS peer |> SELECT REVERSE(m.request.peer) AS x`,
  `FROM seen AS s |> SELECT s AS r |> EXTEND 'a' AS note |> SELECT REVERSE(r.note) AS x`,
  'SELECT REVERSE(STRING(j.mail)) AS x FROM (SELECT PARSE_JSON(body).user AS j FROM seen), (SELECT 1 AS mail)',
  'SELECT REVERSE(r.peer) AS x FROM (SELECT ANY_VALUE(s) AS r FROM seen AS s), (SELECT 1 AS peer)',
  'SELECT REVERSE(k) AS x FROM (SELECT s AS r FROM seen AS s), UNNEST([r.peer]) AS k, (SELECT 1 AS k2)',
  'SELECT REVERSE(m.request.peer) AS x FROM seen, UNNEST(metadata) AS m, (SELECT 1 AS peer)',
  'SELECT (SELECT REVERSE(peer) FROM (SELECT 1 AS peer2)) AS x FROM seen, (SELECT 1 AS one)',
  'SELECT (SELECT REVERSE(peer) FROM UNNEST(s.metadata) AS m) AS x FROM seen AS s',
  'SELECT (SELECT REVERSE(PEER) FROM (SELECT 1 AS x, 2 AS k) PIVOT(MAX(x) FOR k IN (2 AS z))) AS x FROM seen',
  'SELECT (SELECT REVERSE(peer) FROM (SELECT 1 AS peer, 2 AS k) PIVOT(MAX(peer) FOR k IN (2 AS z))) AS x FROM seen',
  `SELECT (SELECT REVERSE(peer) FROM (SELECT 'a' AS peer, 'b' AS q) UNPIVOT(v FOR k IN (peer, q)) LIMIT 1) AS x FROM seen`,
  'SELECT (SELECT REVERSE(peer) FROM (SELECT m.* EXCEPT (peer) FROM UNNEST([STRUCT(1 AS peer, 2 AS y)]) AS m)) AS x FROM seen',
  'SELECT REVERSE(seen.peer) AS x FROM seen JOIN (SELECT 1 AS status, 2 AS peer) AS c ON seen.status > c.status',
  `SELECT WITH(peer AS 'a', REVERSE(seen.peer)) AS x FROM seen`,
  'SELECT c AS d FROM (SELECT m.* FROM UNNEST(ARRAY(SELECT AS STRUCT cookie AS c FROM seen)) AS m)',
  'SELECT (SELECT s.c FROM UNNEST(metadata) AS q) AS x FROM (SELECT STRUCT(cookie AS c) AS s, metadata FROM seen)',
  `SELECT REVERSE(r.a) AS x FROM (SELECT 'x' AS a UNION ALL SELECT note FROM seen) AS r`,
  `SELECT REVERSE(a) AS x FROM (SELECT 'x' AS a, 'y' AS b UNION ALL BY NAME SELECT 'z' AS b, note AS a FROM seen)`,
  'WITH RECURSIVE r AS (SELECT 1 AS n, note AS a FROM seen UNION ALL SELECT n + 1, a FROM r WHERE n < 2) SELECT REVERSE(r.a) AS x FROM r, (SELECT 1 AS b)',
]

/** Each keeps of the values that it makes those which are stored. */
const spellings = [
  'SELECT keep FROM (SELECT 10 * a + b AS n, 10 * a + b AS keep FROM UNNEST(GENERATE_ARRAY(0, 60)) AS a, UNNEST(GENERATE_ARRAY(0, 9)) AS b) WHERE EXISTS (SELECT 1 FROM seen AS s WHERE s.status = n)',
  'SELECT n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n JOIN seen ON status = n',
  'SELECT n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n, seen WHERE status - n = 0',
  'SELECT n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n, seen WHERE status / n = 1',
  'SELECT n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n WHERE n IN (SELECT status FROM seen)',
  'SELECT n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n, seen WHERE n IS NOT DISTINCT FROM status',
  'SELECT n AS keep, NULLIF(n, status) AS x FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n, seen',
  'SELECT n AS keep, GREATEST(n, status) AS x FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n, seen',
  'SELECT n AS keep, CASE status WHEN n THEN 1 END AS x FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n, seen',
  'SELECT keep FROM (SELECT n AS status, n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n) JOIN seen USING (status)',
  'SELECT n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n INTERSECT DISTINCT SELECT status FROM seen',
  'SELECT MAX(keep) AS keep, COUNT(*) AS c FROM (SELECT n, n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n UNION ALL SELECT status, NULL FROM seen) GROUP BY n',
  'SELECT keep, LAG(keep) OVER (PARTITION BY n ORDER BY keep) AS x FROM (SELECT n, n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n UNION ALL SELECT status, NULL FROM seen)',
  'SELECT keep, RANK() OVER (ORDER BY v) AS x FROM (SELECT n AS keep, v FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n, seen, UNNEST([n, status]) AS v)',
  'SELECT keep, COUNT(DISTINCT v) AS x FROM (SELECT n AS keep, v FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n, seen, UNNEST([n, status]) AS v) GROUP BY keep',
  'SELECT k AS keep FROM (SELECT ROW_NUMBER() OVER (ORDER BY a) AS k FROM UNNEST(GENERATE_ARRAY(1, 99)) AS a) JOIN seen ON status = k',
  'SELECT k AS keep FROM (SELECT COUNT(*) OVER (ORDER BY a) AS k FROM UNNEST(GENERATE_ARRAY(1, 99)) AS a) JOIN seen ON status = k',
  `SELECT a || b AS keep FROM UNNEST(['20', '30']) AS a, UNNEST(['3.0.113.97', '4']) AS b JOIN seen ON peer = a || b`,
  `SELECT p AS keep FROM (SELECT STRING_AGG('5', '') AS p FROM UNNEST([1, 2, 3]) AS n GROUP BY n) JOIN seen ON CAST(small AS STRING) = p`,
  'SELECT o AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS x WITH OFFSET AS o JOIN seen ON status = o',
  'SELECT n AS keep FROM (SELECT SUM(IF(a > 1, 100, 3)) AS n FROM UNNEST(GENERATE_ARRAY(1, 6)) AS a) JOIN seen ON status = n',
  'SELECT b AS keep FROM (SELECT b, SUM(small) AS p FROM seen, UNNEST(GENERATE_ARRAY(1, 99)) AS n, UNNEST(GENERATE_ARRAY(1, 99)) AS b WHERE n <= b GROUP BY b) JOIN seen ON status = p',
  'SELECT keep FROM (SELECT id AS keep, SUM(small) OVER (ORDER BY id) AS p FROM seen) JOIN seen ON status - p = 0',
  'SELECT n AS v, n AS keep FROM UNNEST(GENERATE_ARRAY(1, 99)) AS n UNION ALL SELECT status, NULL FROM seen ORDER BY 1',
  `SELECT x.* FROM UNNEST(ARRAY(SELECT AS STRUCT peer AS w, '' AS k FROM seen UNION ALL SELECT AS STRUCT CONCAT('203.0.113.', CAST(n AS STRING)), 'made' FROM UNNEST(GENERATE_ARRAY(0, 99)) AS n)) AS x ORDER BY 1`,
  `SELECT x.* EXCEPT (k), MAX(x.k) AS k FROM UNNEST(ARRAY(SELECT AS STRUCT peer AS w, '' AS k FROM seen UNION ALL SELECT AS STRUCT CONCAT('203.0.113.', CAST(n AS STRING)), 'made' FROM UNNEST(GENERATE_ARRAY(0, 99)) AS n)) AS x GROUP BY ALL`,
  `SELECT DISTINCT x.* FROM UNNEST(ARRAY(SELECT AS STRUCT peer AS w FROM seen UNION ALL SELECT AS STRUCT CONCAT('203.0.113.', CAST(n AS STRING)) FROM UNNEST(GENERATE_ARRAY(0, 99)) AS n)) AS x`,
  ...[
    'GROUPING SETS((1))',
    'GROUPING SETS((1), ())',
    'ROLLUP((1))',
    'CUBE((1))',
    'GROUPING SETS((1, 2), (1))',
  ].map(
    keys =>
      `SELECT w, MAX(k) AS k FROM (SELECT peer AS w, '' AS k FROM seen UNION ALL SELECT CONCAT('203.0.113.', CAST(n AS STRING)), 'made' FROM UNNEST(GENERATE_ARRAY(0, 99)) AS n) GROUP BY ${keys}`,
  ),
]

/** By numbers that differ from row to row. */
const scalings = [
  'SELECT COUNT(NULLIFZERO(DIV(status, 400 + n))) AS x FROM seen, UNNEST(GENERATE_ARRAY(0, 99)) AS n',
  'SELECT MAX(IF(CAST(DIV(status, 400 + n) AS BOOL), n, NULL)) AS x FROM seen, UNNEST([1, 2, 3]) AS n',
  'SELECT n, DIV(status, n) AS x FROM seen, UNNEST([501, 502, 503, 504]) AS n',
  'SELECT COUNT(SAFE_DIVIDE(1, TRUNC(status / (400 + n)))) AS x FROM seen, UNNEST(GENERATE_ARRAY(0, 99)) AS n',
  'SELECT SAFE_MULTIPLY(status, n) IS NULL AS x FROM seen, (SELECT ROW_NUMBER() OVER (ORDER BY id) AS n FROM seen)',
  'SELECT ROUND(status, n) AS x FROM seen, UNNEST([1, 2]) AS n',
]

const generators = [
  `WITH RECURSIVE r AS (SELECT 0 AS n, '' AS p UNION ALL SELECT n + 1, CONCAT(p, d) FROM r, UNNEST(['2', '0', '3']) AS d WHERE n < 3 AND EXISTS (SELECT 1 FROM seen WHERE peer >= CONCAT(p, d) AND peer < CONCAT(p, d, '~'))) SELECT p AS keep FROM r`,
  `WITH RECURSIVE r AS (SELECT 0 AS n, '' AS p, '' AS hi UNION ALL SELECT n + 1, p || d, p || d || '~' FROM r, UNNEST(['2', '0', '3']) AS d WHERE n < 4) SELECT p AS keep FROM r WHERE EXISTS (SELECT 1 FROM seen WHERE peer BETWEEN p AND hi)`,
  'WITH RECURSIVE r AS (SELECT 1 AS n, peer, path AS p FROM seen UNION ALL SELECT n + 1, peer, p FROM r WHERE n < 3) SELECT peer, p FROM r',
  'SELECT n FROM UNNEST(GENERATE_ARRAY(1, 600)) AS n, seen',
  'SELECT n FROM UNNEST(GENERATE_ARRAY(1, 60, 0.01)) AS n, seen',
  'SELECT n FROM seen, (SELECT n FROM UNNEST(GENERATE_ARRAY(1, 60 * 10)) AS n)',
  `SELECT o FROM UNNEST(SPLIT(REPEAT('a,', 1000))) AS x WITH OFFSET AS o, seen`,
  `SELECT x FROM UNNEST(TO_CODE_POINTS(REPEAT('a', 1000))) AS x, seen`,
]

/** Engines read a step of digits as an index. */
const indexes = `
  JSON_VALUE(body, '$.args."1"') | JSON_VALUE(body, '$.args."01"') | JSON_VALUE(body, '$."args"."1"') | JSON_VALUE(body, "$['args']['1']")
  JSON_EXTRACT_SCALAR(body, "$['args']['1']") | JSON_EXTRACT_SCALAR(body, "$['args']['01']") | SAFE.JSON_VALUE(body, '$.args."1"')
  JSON_VALUE(PARSE_JSON(body), '$.args."1"') | JSON_VALUE(PARSE_JSON(body).args, '$."1"') | MAX(JSON_VALUE(body, '$.args."0".a')) | JSON_VALUE(body, '$.args."-1"')
`

const cumulated =
  '(SELECT SUM(CASE m.k WHEN 1 THEN DIV(s.num, 1000) * 1000 ELSE m.status / 5 END) FROM n AS m WHERE m.k <= n.k)'
const n = 'WITH n AS (SELECT status, ROW_NUMBER() OVER (ORDER BY id) AS k FROM seen) '

/** Sums that the query makes, beside what is stored. */
const compared = [
  ...[
    `${cumulated} <= s.num`,
    `NOT ${cumulated} > s.num`,
    `s.num BETWEEN 0 AND ${cumulated}`,
    `s.num IN (${cumulated}, 5)`,
    `NULLIF(s.num, ${cumulated}) IS NULL`,
    `s.num / ${cumulated} >= 1`,
    `s.num - ${cumulated} >= 0`,
    `${cumulated} >= (SELECT AVG(x.num) FROM seen AS x)`,
    `s.num IS NOT DISTINCT FROM ${cumulated}`,
    `(SELECT SUM(s.num) FROM UNNEST([1])) / (SELECT SUM(m.status) FROM n AS m) >= 1`,
    `${cumulated} >= 4532015112830000`,
    `(SELECT AVG(m.status) FROM n AS m WHERE m.k <= n.k) <= s.num`,
    `(SELECT SUM(m.status) / COUNT(*) FROM n AS m) <= s.num`,
    `[s.num] = [${cumulated}]`,
    `(SELECT APPROX_QUANTILES(m.status, 2)[OFFSET(1)] FROM n AS m) <= s.num`,
    `CASE s.num WHEN ${cumulated} THEN TRUE END`,
    `(s.num, 1) = (${cumulated}, 1)`,
  ].map(condition => `${n}SELECT COUNT(*) AS k FROM seen AS s, n WHERE ${condition}`),
  ...[
    'CUBE (id, path)',
    'ROLLUP (id, path)',
    'GROUPING SETS ((id), (path), ())',
    'id',
    'DIV(status, 100)',
  ].flatMap(keys => [
    `WITH w AS (SELECT SUM(status * 2) AS p FROM seen GROUP BY ${keys}) SELECT p FROM w WHERE p IN (SELECT num FROM seen)`,
    `WITH w AS (SELECT SUM(status * 2) AS p FROM seen GROUP BY ${keys}) SELECT (SELECT MAX(p) FROM w WHERE p <= s.num) AS v FROM seen AS s`,
  ]),
  'SELECT id FROM seen GROUP BY id HAVING SUM(status) > MAX(num)',
  'SELECT id FROM seen GROUP BY id HAVING AVG(num) > SUM(status)',
  'SELECT id FROM seen GROUP BY id HAVING AVG(num) / SUM(status) > 1',
  'SELECT id FROM seen QUALIFY SUM(status) OVER (ORDER BY id) <= num',
  'SELECT id FROM seen QUALIFY PERCENTILE_CONT(status, 0.5) OVER () = num',
  'SELECT s.id FROM seen AS s JOIN (SELECT SUM(status) AS num FROM seen) AS w USING (num)',
  'SELECT num AS v FROM seen INTERSECT DISTINCT SELECT SUM(status) FROM seen',
  'SELECT num AS v, 0 AS k FROM seen UNION ALL SELECT SUM(status), 1 FROM seen ORDER BY v',
  'SELECT num * 1 AS v, 0 AS k FROM seen UNION ALL SELECT status * 1e12, 1 FROM seen ORDER BY v',
  'SELECT IF(k = 1, DIV(num, 1), SUM(status) OVER (ORDER BY id)) AS v FROM seen, UNNEST([1, 2]) AS k ORDER BY v',
  'SELECT k FROM (SELECT id AS k, DIV(num, 1) AS v FROM seen UNION ALL SELECT id, DIV(status, 1) FROM seen) GROUP BY k HAVING SUM(v) > 4532015112830000',
  'SELECT k FROM seen, UNNEST([1, 2]) AS k GROUP BY k HAVING SUM(IF(k = 1, DIV(num, 1), DIV(status, 1))) > 4532015112830000',
  'SELECT s.num / (SELECT SUM(m.status) FROM seen AS m) AS x FROM seen AS s',
  'SELECT s.num / SUM(status) OVER () AS x FROM seen AS s',
]

/** Two stored values of which the query knows one. */
const related = `
  DIV(s.num, 100000000000000) - MOD(w.status, 100) = 0 | MOD(s.num - w.status, 1000) = 0 | s.num - w.status BETWEEN 4532015112800000 AND 4532015112830000
  EDIT_DISTANCE(SUBSTR(s.cookie, 1, 1), SUBSTR(w.path, 2, 1)) = 0 | STRPOS(s.peer, w.id) = 1 | STRPOS(s.peer, SUBSTR(w.id, 1, 3)) = 1
  CONCAT(SUBSTR(s.peer, 1, 1), SUBSTR(w.path, 1, 1)) IN ('00', '11', '22') | SUBSTR(s.peer, 1, 1) || w.path = '2/' | SAFE_DIVIDE(MOD(s.num, 100), MOD(w.status, 100)) = 1
  REGEXP_EXTRACT(SUBSTR(s.peer, 1, 2), SUBSTR(w.path, 1, 2)) IS NOT NULL | REPLACE(SUBSTR(s.peer, 1, 2), w.path, '') = '' | BIT_COUNT(MOD(s.num, 100) ^ w.status) = 0
  GREATEST(s.num, w.status) = 5 | LEAST(s.peer, w.path) LIKE '2%' | SAFE_SUBTRACT(s.num, w.status) < 0 | s.num >= w.status * 1.5e11 | DIV(s.num, 10) = w.status
  s.num = w.status + 400000 | SUBSTR(s.peer, 1, 1) = w.path | SUBSTR(s.peer, 1, 1) = SUBSTR(w.path, 2, 1) | SUBSTR(s.peer, 1, 1) IN (w.path) | w.path IN (SUBSTR(s.peer, 1, 1))
  NULLIF(MOD(s.num, 100), w.status) IS NULL | CASE MOD(s.num, 100) WHEN w.status THEN TRUE END | (SUBSTR(s.peer, 1, 1), 1) = (w.path, 1) | [SUBSTR(s.peer, 1, 1)] = [w.path]
  STRUCT(SUBSTR(s.peer, 1, 1)) = STRUCT(w.path) | w.path IN (SELECT SUBSTR(x.peer, 1, 1) FROM seen AS x) | EXISTS (SELECT 1 FROM seen AS x WHERE STRPOS(x.peer, w.id) = 1)
  EDIT_DISTANCE(s.peer, (SELECT MAX(x.path) FROM seen AS x)) = 0 | EDIT_DISTANCE(s.peer, ARRAY(SELECT x.path FROM seen AS x)[OFFSET(0)]) = 0
  TO_JSON_STRING((s.peer, w.path)) LIKE '%2%' | TO_JSON_STRING([s.peer, w.path]) LIKE '%2%' | WITH(a AS s.peer, b AS w.path, STRPOS(a, b) = 1) | STRPOS(TO_JSON_STRING(s), w.path) = 1
  TIMESTAMP_DIFF(TIMESTAMP_MICROS(s.num), TIMESTAMP_MICROS(w.status), SECOND) = 0 | TIMESTAMP_ADD(TIMESTAMP_SECONDS(s.num), INTERVAL w.status SECOND) IS NULL | FORMAT('%d%d', s.num, w.status) LIKE '45%'
`

const relatedQueries = [
  'SELECT COUNTIF(MOD(s.num, 1000) - MOD(w.status, 1000) < 0) AS below FROM seen AS s, seen AS w',
  'SELECT COUNTIF(STRPOS(peer, LAG(path) OVER (ORDER BY id)) = 1) AS x FROM seen',
  'SELECT id FROM (SELECT id, TRIM(path) AS v, LAG(TRIM(peer)) OVER (ORDER BY id) AS l FROM seen) AS a WHERE EDIT_DISTANCE(l, v) = 0',
  'SELECT id FROM seen QUALIFY STRPOS(peer, FIRST_VALUE(path) OVER (ORDER BY id)) = 1',
  'SELECT STRPOS(a.v[OFFSET(0)], a.v[OFFSET(1)]) = 1 AS x FROM (SELECT ARRAY_AGG(v) AS v FROM (SELECT TRIM(peer) AS v FROM seen UNION ALL SELECT TRIM(path) FROM seen)) AS a',
  'SELECT STRPOS(TO_JSON_STRING(t), SUBSTR(TO_JSON_STRING(t), 9)) = 1 AS x FROM (SELECT s.peer, w.path FROM seen AS s, seen AS w) AS t',
  'WITH c AS (SELECT peer FROM seen) SELECT COUNTIF(STRPOS(x.peer, y.peer) = 1) AS n FROM c AS x, c AS y',
]

const bit = (place: number) => `IF(MOD(DIV(num, ${place}), 2) = 1, ${place}, 0)`
const letter = (at: number) => `IF(SUBSTR(peer, ${at}, 1) = '2', '2', 'x')`

/** What conditions choose. */
const chosen = `
  ${bit(1)} + ${bit(2)} | ${bit(1)} - ${bit(2)} | 2 * ${bit(1)} | ${bit(1)} + ${bit(1)} | MAX(${bit(1)}) + MAX(${bit(2)}) | -${bit(1)} | CHR(${bit(64)}) | ${bit(1)} / ${bit(2)}
  CONCAT(${letter(1)}, ${letter(2)}) | ${letter(1)} || ${letter(2)} | CONCAT(CHR(${bit(64)} + ${bit(2)})) | STRING_AGG(${letter(1)}, '') | SUBSTR('0123', ${bit(1)}, 1)
  [${letter(1)}, ${letter(2)}] | ARRAY_AGG(${letter(1)}) | ARRAY_TO_STRING([${letter(1)}, ${letter(2)}], '') | TO_JSON_STRING([${letter(1)}]) | JSON_OBJECT('a', ${letter(1)})
  FORMAT('%s%s', ${letter(1)}, ${letter(2)}) | ['a', 'b'][SAFE_OFFSET(${bit(1)})] | REPEAT('a', ${bit(2)}) | LENGTH(${letter(1)}) | GREATEST(${bit(1)}, 5) | BIT_OR(${bit(1)})
  CAST(MOD(num, 2) = 1 AS INT64) + 1 | CAST(peer LIKE '2%' AS STRING) || 'x' | CONCAT(CAST(${bit(1)} AS STRING), CAST(${bit(2)} AS STRING)) | COALESCE(NULLIF(${bit(1)}, 0), 9) + 1
  (SELECT ${bit(1)}) + (SELECT ${bit(2)}) | WITH(a AS ${bit(1)}, b AS ${bit(2)}, a + b) | CASE WHEN peer LIKE '2%' THEN ${bit(1)} ELSE ${bit(2)} END + 1 | CAST(num AS BOOL) || 'x'
  (SELECT 50 FROM UNNEST([1]) WHERE peer LIKE '2%') + 1 | LAG(50) OVER (PARTITION BY path ORDER BY id) + 1 | CAST(EXISTS (SELECT 1 FROM seen AS x WHERE x.peer LIKE '2%') AS INT64) + 1
  SUM(${bit(1)}) + SUM(${bit(2)}) + SUM(${bit(4)}) + SUM(${bit(8)}) | COUNTIF(MOD(num, 2) = 1) + 2 * COUNTIF(num > 1) + 4 * COUNTIF(num > 2) + 8 * COUNTIF(num > 3)
  (SELECT STRING_AGG(c, '') FROM UNNEST(['2', '0']) AS c WHERE peer LIKE '2%') | ARRAY_TO_STRING(ARRAY(SELECT c FROM UNNEST(['2', '0']) AS c WHERE peer >= c), '')
  TIMESTAMP_ADD(TIMESTAMP '2020-01-01', INTERVAL ${bit(1)} SECOND) | DATE_ADD(DATE '2020-01-01', INTERVAL ${bit(2)} DAY) | TIMESTAMP_SECONDS(${bit(2)}) | INTERVAL ${bit(1)} DAY
  RANGE_BUCKET(num, [1, 5]) + 10 * RANGE_BUCKET(num, [2]) + 100 * RANGE_BUCKET(num, [3]) + 1000 * RANGE_BUCKET(num, [4]) | TO_JSON_STRING(STRUCT(${bit(1)} AS a))
`

const chosenQueries = [
  `WITH one AS (SELECT 1 AS b) SELECT CHR(IFNULL(j0.b, 0) * 64 + IFNULL(j1.b, 0) * 2) AS x FROM seen LEFT JOIN one AS j0 ON peer LIKE '2%' LEFT JOIN one AS j1 ON peer LIKE '%7'`,
  `SELECT q.t + 1 AS x FROM (SELECT IF(y = 1, n + 8, n) AS t, n FROM (SELECT LENGTH(id) AS n, peer FROM seen) LEFT JOIN UNNEST([1]) AS y ON peer LIKE '2%') AS q LEFT JOIN UNNEST([1]) AS z ON q.n > 0 WHERE q.t + q.t + q.t > z`,
  `SELECT TO_JSON_STRING(t) AS x FROM (SELECT COUNTIF(peer LIKE '2%') AS a, COUNTIF(peer LIKE '_0%') AS b, COUNTIF(peer LIKE '%9_') AS c, COUNTIF(peer LIKE '%7') AS d FROM seen) AS t`,
  `SELECT k AS x FROM UNNEST(JSON_KEYS(PARSE_JSON(CONCAT('{"203.0.113.97":', '1}')))) AS k JOIN seen ON peer = k`,
  `SELECT k.n AS x FROM seen JOIN (SELECT DATE_DIFF(DATE '1970-01-01', day, DAY) AS n FROM UNNEST(GENERATE_DATE_ARRAY(DATE '1967-01-01', DATE '1970-01-01')) AS day) AS k ON status = k.n`,
  `SELECT x || y AS z FROM (SELECT ${letter(1)} AS x, ${letter(2)} AS y FROM seen)`,
  `SELECT SUM(v) AS x FROM (${[1, 2, 4, 8].map(place => `SELECT ${bit(place)} AS v FROM seen`).join(' UNION ALL ')})`,
  `SELECT a || b || d || e AS x FROM seen, UNNEST(['0', '2']) AS a, UNNEST(['0', '2']) AS b, UNNEST(['0', '2']) AS d, UNNEST(['0', '2']) AS e WHERE peer >= a`,
]

const expressions = (text: string) => text.split(/ \| (?!\|)|\n\s*/).filter(each => each.trim() !== '')

test.each([
  ...expressions(indexes).map(each => `SELECT ${each} AS x FROM seen`),
  ...compared,
  ...expressions(related).map(
    each => `SELECT s.id, MIN(w.status) AS x FROM seen AS s JOIN seen AS w ON ${each} GROUP BY s.id`,
  ),
  ...relatedQueries,
  ...expressions(chosen).map(each => `SELECT ${each} AS x FROM seen`),
  ...chosenQueries,
])('what is stored is not computed by %s', async sql => {
  expect(await ask(sql)).toMatchObject({ code: 'redaction_locked' })
})

test('answers of conditions are shown, grouped, counted and summed', async () => {
  const { result, detail } = await ask(
    `SELECT ${letter(1)} AS a, peer LIKE '2%' AS b, SUM(${bit(1)}) AS c, COUNTIF(num > 5) / COUNT(*) AS d, AVG(IF(status > 500, 1, 0)) * 100 AS e,
       MAX(IF(peer LIKE '2%', IF(peer LIKE '20%', 'x', 'y'), 'z')) AS f FROM seen WHERE num > status AND peer != path GROUP BY a, b ORDER BY a`,
  )
  expect([detail, result]).toEqual([undefined, [{ a: '2', b: true, c: 0, d: 1, e: 100, f: 'x' }]])
})

test('a column without a name has that of BigQuery, and eight digits', async () => {
  const { result, detail } = await ask('SELECT SUM(num), MAX(cookie), COUNT(*) FROM seen')
  expect([detail, result]).toEqual([undefined, [{ f0_: 4000000000000000, f1_: 'REDACTED', f2_: 1 }]])
})

describe('SQL under a redacted key shows no personal data', () => {
  test('there are over 120 attacks', () => {
    expect(new Set([...attacks, ...queries, ...namesakes]).size).toBeGreaterThan(120)
  })

  test.each([...attacks, ...queries, ...namesakes])('by %s', async sql => {
    const answer = await ask(sql)
    expect(answer.status).toBeLessThan(500)
    expect(JSON.stringify(answer.result ?? [])).not.toMatch(leaks)
    expect(JSON.stringify(answer.errors ?? []).replaceAll(/\(.*?\)/g, '')).not.toMatch(/203\.|kimb|zebra/)
    if (!answer.result) expect([answer.code, answer.errors]).toEqual(['redaction_locked', expect.anything()])
  })

  test.each([
    'SELECT REVERSE(peer) AS x FROM (SELECT metadata[SAFE_OFFSET(0)].request FROM seen), UNNEST([request]) AS r, (SELECT 1 AS peer)',
    'SELECT metadata[SAFE_OFFSET(0)].request[SAFE_OFFSET(0)] AS v FROM seen',
    'SELECT r[SAFE_ORDINAL(2)] AS v FROM seen, UNNEST(metadata) AS m, UNNEST([m.request]) AS r',
    'SELECT s[SAFE_OFFSET(3)] AS v FROM seen AS s',
  ])('nor by an element: %s', async sql => {
    expect(await ask(sql)).toMatchObject({ code: 'redaction_locked' })
  })
})

test.each(spellings)('values that a query makes are not compared with stored ones: %s', async sql => {
  expect(await ask(sql)).toMatchObject({
    code: 'redaction_locked',
    errors: [
      {
        detail: expect.stringMatching(
          /compares what is stored .* compare with a literal|compare columns as they are|goes into no function|: use ON|select the fields/,
        ),
      },
    ],
  })
})

test.each(scalings)('what is stored is not scaled row by row: %s', async sql => {
  expect(await ask(sql)).toMatchObject({ code: 'redaction_locked' })
})

test.each(generators)('rows are not made beside what is stored: %s', async sql => {
  expect(await ask(sql)).toMatchObject({
    code: 'redaction_locked',
    errors: [{ detail: expect.stringMatching(/makes rows, .* write a list/) }],
  })
})

const numbers = `
  card AS id | card AS uuid | card + 0 AS id | card - 1 AS id | 0 - card AS id | -card AS id | -(-card) AS id | ABS(card) AS uuid | card * 1 AS seq
  card * 2 AS n | card * -1 AS n | card / 1 AS trace | card / 3 | DIV(card, 1) AS id | DIV(card, 100) AS id | MOD(card, 100000000) AS id
  card | 0 AS id | card & -1 AS id | card ^ 0 AS id | card << 1 AS id | card >> 1 AS id | ~card AS id | card + ms AS n | ms - card AS n
  SUM(card) AS id | SUM(card) + 1 AS n | SUM(card) * 2 AS n | AVG(card) AS id | AVG(card) AS span | MIN(card) AS id | MAX(card) AS seq | ANY_VALUE(card) AS id
  SUM(card + 1) AS n | SUM(-card) AS n | SUM(card) - 4532015100000000 AS n | MAX(card) - MIN(card) AS n | SUM(card - 4532015100000000) AS n
  STDDEV_POP(card) * 2 AS n | VAR_POP(card) AS id | PERCENTILE_CONT(card, 0) OVER () AS id | PERCENTILE_DISC(card, 0) OVER () AS id
  APPROX_QUANTILES(card, 1) AS id | APPROX_QUANTILES(card, 1)[OFFSET(0)] AS id | APPROX_TOP_COUNT(card, 2) AS id
  BIT_AND(card) AS id | BIT_OR(card) AS id | BIT_XOR(card) AS id | COVAR_POP(card, ms) AS n
  SUM(IF(id = 'a', card, 0)) AS id | SUM(IF(id = 'a', card, -4532015100000000)) AS n | SUM(COALESCE(NULLIF(card, 1), 5)) AS id | SUM(DISTINCT card) AS id
  SUM(card) OVER () AS id | AVG(card) OVER (ORDER BY id) AS id | LAG(card) OVER (ORDER BY id DESC) AS id | LEAD(card, 1, 5) OVER (ORDER BY id) AS seq
  FIRST_VALUE(card) OVER (ORDER BY id) AS id | NTH_VALUE(card, 1) OVER (ORDER BY id) AS uuid | card - LAG(card) OVER (ORDER BY id) AS n
  GREATEST(card, 1) AS id | LEAST(card, 9e18) AS id | IF(TRUE, card, 1) AS id | CASE WHEN TRUE THEN card END AS id | COALESCE(card, 1) AS trace
  IFNULL(card, 1) AS id | NULLIF(card, 1) AS id | ZEROIFNULL(card) AS id | STRUCT(card AS id) AS s | STRUCT(card + 0 AS id) AS s | STRUCT(card * 2) AS s
  STRUCT<id INT64>(card) AS s | [card] AS id | [card + 1] AS id | ARRAY_AGG(card) AS id | ARRAY_AGG(card * 2) AS n | (SELECT card) AS id | ARRAY(SELECT card) AS id
  ARRAY(SELECT AS STRUCT card AS id) AS s | GENERATE_ARRAY(card, card) AS id | GENERATE_ARRAY(1, MOD(card, 1000)) AS id | RANGE_BUCKET(card + 1, [1]) AS n
  UNIX_MICROS(TIMESTAMP_MICROS(card)) AS id | UNIX_MILLIS(TIMESTAMP_MILLIS(card)) AS id | TIMESTAMP_MICROS(card) AS t | TIMESTAMP_SECONDS(DIV(card, 100000)) AS t
  UNIX_DATE(DATE_FROM_UNIX_DATE(MOD(card, 1000000))) AS id | TIMESTAMP_ADD(TIMESTAMP '2000-01-01', INTERVAL card MICROSECOND) AS t | MAKE_INTERVAL(day => MOD(card, 100)) AS i
  DATE_ADD(DATE '2000-01-01', INTERVAL MOD(card, 1000) DAY) AS d | DATE(DIV(card, 1000000000000), 1, 1) AS d | EXTRACT(MICROSECOND FROM TIMESTAMP_MICROS(card)) AS n
  FORMAT('%d', card) AS id | FORMAT('id=%d', card) AS n | FORMAT('%x', card) AS n | FORMAT('%X', card) AS n | FORMAT('%o', card) AS n | FORMAT('%020d', card) AS n
  FORMAT("%'d", card) AS n | FORMAT('seq %d!', card) AS n | FORMAT('%.20e', card * 1.0) AS n | FORMAT('%a', card * 1.0) AS n | FORMAT('%t', card) AS n
  FORMAT('%g', card / 1) AS n | FORMAT('%.0f', card / 7) AS n | FORMAT('%*d', 20, card) AS n | FORMAT('%d-%d', DIV(card, 10000), 1) AS n | FORMAT('%i', card) AS n
  CAST(card AS STRING) AS id | CAST(card AS FLOAT64) AS id | CAST(card AS NUMERIC) AS id | CAST(card AS NUMERIC) / 10 AS id | CAST(card + 1 AS STRING) AS n
  CAST(card * 2 AS STRING) AS n | 'id=' || CAST(card * 2 AS STRING) AS n | CONCAT('x', CAST(card / 3 AS STRING)) AS n | CAST(card AS STRING) || '' AS n
  SUBSTR(CAST(card * 2 AS STRING), 9) AS n | SUBSTR(FORMAT('%d', card), 9) AS n | REVERSE(CAST(card AS STRING)) AS n | SPLIT(CAST(card AS STRING), '1') AS n
  CAST(card AS BYTES) AS n | TO_HEX(CAST(CAST(card AS STRING) AS BYTES)) AS n | CHR(MOD(card, 128)) AS n | FARM_FINGERPRINT(CAST(card AS STRING)) AS n
  CAST(note AS INT64) + 1 AS n | SAFE_CAST(note AS INT64) AS id | SAFE_CAST(note AS NUMERIC) * 2 AS n | SAFE_CAST(note AS FLOAT64) / 4 AS n | note AS id
  INT64(body.card) AS id | INT64(body.card) + 1 AS n | FLOAT64(body.card) AS seq | LAX_INT64(body.card) * 3 AS n | body.card AS id | TO_JSON(card) AS id
  TO_JSON_STRING(card) AS id | TO_JSON_STRING(card * 2) AS n | TO_JSON(card * 2) AS n | TO_JSON(STRUCT(card AS id)) AS j | JSON_VALUE(body, '$.card') AS id
  POW(card, 1) AS id | EXP(LN(card)) AS id | LN(card) AS n | LOG10(card) AS n | LOG(card, 2) AS n | SQRT(card) AS n | SQRT(card) * SQRT(card) AS id | CBRT(card) AS n
  SIN(card) AS n | TAN(card / 1e15) AS n | SAFE_ADD(card, 1) AS n | SAFE_SUBTRACT(card, 1) AS n | SAFE_NEGATE(card) AS n | SAFE_MULTIPLY(card, 2) AS n
  SAFE_DIVIDE(card, 3) AS n | IEEE_DIVIDE(card, 1) AS id | ROUND(card) AS id | ROUND(card, -1) AS id | TRUNC(card) AS id | CEIL(card) AS id | FLOOR(card / 10) AS id
  card / 1e8 - FLOOR(card / 1e8) AS n | LN(card / (FLOOR(card / 1e8) * 1e8)) AS n | SIGN(card) * card AS id | card * trace / trace AS trace | WITH(id AS card, id) AS id
  WITH(n AS card * 2, n) AS id | WITH(n AS card, n + 1) AS n | [0, 1, 2, 3][OFFSET(MOD(card, 4))] AS n | ['a', 'b'][SAFE_OFFSET(DIV(card, 4000000000000000))] AS n
  STRUCT(card * 3 AS a, 1 AS b)[OFFSET(0)] AS v | STRUCT(card * 3 AS a, 1 AS b)[0] AS v | [STRUCT(card * 3 AS a)][OFFSET(0)][OFFSET(0)] AS v
  JSON_VALUE(FORMAT('{"a":%d}', card * 3), '$.a') AS v | JSON_QUERY(FORMAT('{"a":%d}', card * 3), '$.a') AS v | JSON_VALUE_ARRAY(FORMAT('[%d]', card * 3), '$') AS v
  JSON_VALUE(CONCAT('{"a":', CAST(card * 3 AS STRING), '}'), '$.a') AS v | JSON_EXTRACT_SCALAR('[' || FORMAT('%d', card * 3) || ']', '$[0]') AS v
  PARSE_JSON(FORMAT('{"a":%d}', card * 3)).a AS v | PARSE_JSON(FORMAT('{"a":%d}', card * 3))['a'] AS v | JSON_VALUE(TO_JSON([card * 3]), '$[0]') AS v
  TO_JSON(STRUCT(card * 3 AS a)).a AS v | JSON_VALUE(TO_JSON(STRUCT(card * 3 AS a)), '$.a') AS v
  (SELECT AS STRUCT card * 3, ms) AS s | ARRAY(SELECT AS STRUCT card * 3, ms) AS s | TO_JSON((SELECT AS STRUCT card * 3, ms)) AS s | TO_JSON_STRING((SELECT AS STRUCT card * 3)) AS s
  STDDEV(card) AS n | STDDEV_SAMP(card) AS n | STDDEV_POP(IF(id = 'a', card, 4532015100000000)) AS n | VARIANCE(card) AS n | VAR_SAMP(card / 10) AS n | CORR(card, ms) AS n
  card * card AS n | card * card * card * card AS n | SAFE_MULTIPLY(card / 1e15, card / 1e15) AS n | card / (1 / card) / (1 / card) / (1 / card) AS n
  SAFE_DIVIDE(card, SAFE_DIVIDE(1, card)) * card AS n | IEEE_DIVIDE(card / ms, 1 / card) AS n | DIV(card, trace) AS n | DIV(card, DIV(card, 10)) AS n | ROUND(card, -trace) AS n
  card / ms / trace AS n | (card / (1 / card)) / (1 / (card / (1 / card))) AS n | SUM(card) * SUM(card) AS n | SUM(card) / (1 / SUM(card)) * SUM(card) AS n
  ARRAY_SLICE(GENERATE_ARRAY(0, 10), trace, trace) AS n | ARRAY_SLICE(GENERATE_ARRAY(0, 10000), CAST(card / 1e12 AS INT64), 9999) AS n
  ARRAY_LENGTH(ARRAY_SLICE(GENERATE_ARRAY(0, 9999), 0, DIV(card, 1000000000000))) AS n | LAG(1, trace) OVER (ORDER BY id) AS n | LEAD(card, trace) OVER () AS id
  NTH_VALUE(id, trace) OVER (ORDER BY id) AS n | NTILE(card) OVER () AS n | DATE(trace, 1, 1) AS d | DATETIME(trace, 1, 1, 0, 0, 0) AS d | TIME(trace, 1, 1) AS t
  DATE(CAST(card / 1e12 AS INT64), 1, 1) AS d | EXTRACT(YEAR FROM DATE(trace, 1, 1)) AS n
  INTERVAL 1 MICROSECOND * card AS i | card * INTERVAL 1 MICROSECOND AS i | CAST(INTERVAL 1 MICROSECOND * card AS STRING) AS s | INTERVAL 1 DAY / card AS i
  EXTRACT(SECOND FROM INTERVAL 1 MICROSECOND * card) AS n | WITH(i AS INTERVAL 1 MICROSECOND, EXTRACT(MICROSECOND FROM i * card)) AS n
  WITH(i AS INTERVAL 1 MICROSECOND, (i * card) + INTERVAL 1 DAY) AS i | WITH(i AS INTERVAL 1 MICROSECOND, JUSTIFY_HOURS(i * card)) AS i | WITH(i AS INTERVAL 1 MICROSECOND, i * card) AS i
  WITH(i AS INTERVAL 1 MICROSECOND, TIMESTAMP '2000-01-01' + i * card) AS t | WITH(i AS INTERVAL 1 MICROSECOND, STRING(TIMESTAMP '2000-01-01' - i * card)) AS t
  CAST(FORMAT('0-0 0 0:0:%f', card / 1e12) AS INTERVAL) AS i | SAFE_CAST(FORMAT('2000-01-01 00:00:%f', card / 1e15) AS TIMESTAMP) AS t
  SAFE_CAST(CONCAT(CAST(DIV(card, 1000000000000) AS STRING), '-01-01') AS DATE) AS d | PERCENTILE_CONT(ms, card / 1e16) OVER () AS n
  (card).ABS() AS id | REPEAT('x', MOD(card, 100)) AS n | LENGTH(REPEAT('x', MOD(card, 100))) AS n | LPAD('', MOD(card, 50), 'x') AS n | ARRAY_LENGTH(GENERATE_ARRAY(1, MOD(card, 100))) AS n
`
  .split(/ \| (?!0 AS)|\n\s*/)
  .filter(text => text.trim() !== '')
  .map(text => `SELECT ${text} FROM seen`)

const numberQueries = [
  'SELECT a * 2 AS n FROM (SELECT card / (1 / card) AS v, card AS a FROM seen) WHERE v * a > 0 OR v * v > 0',
  'WITH a AS (SELECT card / (1 / card) AS v FROM seen), b AS (SELECT v / (1 / v) AS w FROM a) SELECT w FROM b',
  'WITH RECURSIVE r AS (SELECT card / 1e15 AS v, card / 1e15 AS c, 1 AS n FROM seen UNION ALL SELECT v * c, c, n + 1 FROM r WHERE n < 16) SELECT v FROM r',
  'WITH RECURSIVE r AS (SELECT card / 1e15 AS v, 1 AS n FROM seen UNION ALL SELECT v / (1 / v), n + 1 FROM r WHERE n < 8) SELECT v FROM r',
  'SELECT * FROM seen AS s, UNNEST([card * 3])',
  'SELECT AS STRUCT card * 3, ms FROM seen',
  'SELECT s FROM (SELECT (SELECT AS STRUCT card * 3) AS s FROM seen)',
  'SELECT s[OFFSET(0)] AS v FROM (SELECT STRUCT(card * 3 AS a) AS s FROM seen)',
  `WITH w AS (SELECT FORMAT('{"a":%d}', card * 3) AS j FROM seen) SELECT JSON_VALUE(j, '$.a') AS v FROM w`,
  `WITH w AS (SELECT FORMAT('{"a":%d}', card * 3) AS j FROM seen) SELECT JSON_VALUE(STRING_AGG(j), '$.a') AS v FROM w`,
  'SELECT id FROM seen, UNNEST([card]) AS id',
  'SELECT id + 1 AS id FROM (SELECT card AS id FROM seen)',
  'WITH w AS (SELECT card / 10 AS v FROM seen) SELECT v AS id, v * 10 AS n FROM w',
  'WITH w AS (SELECT card * 2 AS id FROM seen) SELECT id, CAST(id AS STRING) AS s FROM w',
  'SELECT SUM(v) AS n FROM (SELECT card AS v FROM seen UNION ALL SELECT -4532015100000000)',
  'WITH w AS (SELECT -4532015100000000 AS c) SELECT SUM(v) AS n FROM (SELECT card AS v FROM seen UNION ALL SELECT c FROM w)',
  'WITH w AS (SELECT -4532015100000000 AS card) SELECT SUM(card) AS n FROM seen FULL JOIN w USING (card)',
  "SELECT SUM(v) AS n FROM seen, UNNEST([-4532015100000000]) AS c, UNNEST([card, c]) AS v WHERE id = 'a'",
  "SELECT SUM(IF(n = 1, card, -FLOOR(card / 1e8) * 1e8)) AS n FROM seen, UNNEST([1, 2]) AS n WHERE id = 'a'",
  "SELECT SUM(IF(n.k = 1, card, n.c)) AS n FROM seen, UNNEST(ARRAY<STRUCT<k INT64, c INT64>>[(1, 0), (2, -4532015100000000)]) AS n WHERE id = 'a'",
  `SELECT SUM(IF(n = 1, card, INT64(JSON_QUERY(j, '$.c')))) AS n FROM seen, UNNEST([JSON '{"c":-4532015100000000}']) AS j, UNNEST([1, 2]) AS n WHERE id = 'a'`,
  'SELECT v AS id FROM (SELECT id AS i, card, trace FROM seen) UNPIVOT(v FOR n IN (card, trace)) ORDER BY 1',
  "SELECT * FROM (SELECT id, card FROM seen) PIVOT(SUM(card) AS id FOR id IN ('a' AS seq))",
  "SELECT * FROM (SELECT id, card FROM seen) PIVOT(MAX(card) FOR id IN ('a' AS id, 'b' AS uuid))",
  'SELECT 1 AS id UNION ALL SELECT card FROM seen',
  'SELECT 1 AS id UNION ALL SELECT card + 1 FROM seen',
  'FROM seen |> SET trace = card |> SELECT trace',
  'FROM seen |> SET trace = card * 2 |> SELECT trace',
  'FROM seen |> EXTEND card + 0 AS seq |> SELECT seq',
  'FROM seen |> RENAME card AS uuid |> SELECT uuid',
  'FROM seen |> AGGREGATE SUM(card) AS id GROUP BY trace',
  'SELECT card * 2, ms, card / 3 FROM seen',
  'SELECT ms, SUM(card) FROM seen GROUP BY ms ORDER BY ms',
  'SELECT v FROM (SELECT AS VALUE card * 2 FROM seen) AS v',
  'SELECT AS STRUCT card AS id, card + 1 AS n FROM seen',
  'WITH RECURSIVE r AS (SELECT card AS v, 1 AS n FROM seen UNION ALL SELECT v - 4532015100000000, n + 1 FROM r WHERE n < 2) SELECT v FROM r',
  'WITH w AS (SELECT 1 AS card), v AS (SELECT card FROM seen) SELECT v.card + 1 AS n FROM v, w',
  'WITH w AS (SELECT 1 AS card), v AS (SELECT * FROM seen) SELECT v.card + 1 AS n FROM v, w',
  'WITH w AS (SELECT 1 AS card), v AS (SELECT t FROM seen AS t) SELECT v.t.card + 1 AS n FROM v, w',
  'WITH w AS (SELECT 1 AS card) SELECT seen.card + w.card AS n FROM seen, w',
  'SELECT COUNT(*) AS n FROM seen, UNNEST(GENERATE_ARRAY(1, MOD(card, 1000)))',
]

describe('SQL under a redacted key shows of a card no more than who issued it', () => {
  test.each([...numbers, ...numberQueries])('by %s', async sql => {
    const [one, other] = await Promise.all(cards.map((_, at) => ask(sql, { endpoint: `card${at}` })))
    expect(one!.status).toBeLessThan(500)
    expect(one!.code ?? 'redaction_locked').toBe('redaction_locked')
    expect([one!.status, one!.result]).toEqual([other!.status, other!.result])
  })
})

describe('SQL under a redacted key may', () => {
  const redacted = 'REDACTED'
  test.each([
    [
      'select columns',
      'SELECT id, peer, note, path FROM seen',
      ['a', redacted, 'from REDACTED', '/rest/v1/users'],
    ],
    [
      'search',
      `SELECT id FROM seen WHERE note LIKE '%example%' AND REGEXP_CONTAINS(path, '^/rest') AND LOWER(method) = 'get'`,
      ['a'],
    ],
    [
      'count',
      `SELECT COUNT(DISTINCT peer) AS n, COUNTIF(method = 'GET') AS m FROM seen WHERE cookie IS NOT NULL`,
      [1, 1],
    ],
    [
      'group',
      'SELECT method, status, COUNT(*) AS n FROM seen GROUP BY 1, 2 ORDER BY n DESC',
      ['GET', 503, 1],
    ],
    [
      'compute',
      'SELECT DIV(status, 100) * 100 AS class, ROUND(AVG(status), 1) AS mean, LENGTH(path) AS l FROM seen GROUP BY path, status',
      [500, 503, 14],
    ],
    [
      'chart numbers',
      `SELECT SUM(status) / 1000 AS s, AVG(status / 10) AS mean, ROUND(AVG(status), 1) AS rounded, SUM(IF(status > 500, status, 0)) AS failed,
         SUM(12345.678) AS own, COUNT(*) - 1 AS less, status - 500 > 2 AS more FROM seen GROUP BY status`,
      [0.503, 50.3, 503, 503, 12345.678, 0, true],
    ],
    [
      'show eight digits of what is computed',
      'SELECT status / 7 AS n, 22 / 7 AS own FROM seen',
      [71.857143, 22 / 7],
    ],
    [
      'name what it shows',
      `SELECT CASE WHEN path LIKE '/rest/%' THEN 'rest' ELSE 'other' END AS api, peer AS who, version AS v FROM seen`,
      ['rest', redacted, '15.4'],
    ],
    [
      'format times',
      `SELECT FORMAT_TIMESTAMP('%H:%M', TIMESTAMP_TRUNC(timestamp, HOUR)) AS t, CAST(status AS STRING) AS s FROM seen`,
      ['10:00', '503'],
    ],
    [
      'join and nest',
      `WITH w AS (SELECT id, MAX(path) AS p FROM seen GROUP BY id) SELECT w.p, COALESCE(s.method, '-') AS m FROM w JOIN seen AS s USING (id)`,
      ['/rest/v1/users', 'GET'],
    ],
    [
      'read JSON',
      `SELECT JSON_VALUE(body, '$.ms') AS ms, JSON_VALUE(body, '$.user.mail') AS mail, SUM(SAFE_CAST(JSON_VALUE(body, '$.ms') AS INT64)) * 2 AS n FROM seen GROUP BY body`,
      ['12', redacted, 24],
    ],
    [
      'name a personal column otherwise',
      'SELECT cookie AS c, m.request.peer FROM seen, UNNEST(metadata) AS m',
      [redacted, redacted],
    ],
    [
      'list values',
      `SELECT ARRAY_AGG(DISTINCT path ORDER BY path) AS paths, ARRAY_AGG(peer) AS l FROM seen`,
      [['/rest/v1/users'], [redacted]],
    ],
  ])('%s', async (_, sql, row) => {
    const { result, detail } = await ask(sql)
    expect([detail, Object.values(result?.[0] ?? {})]).toEqual([undefined, row])
  })
})

test('columns of a real table have the types that a dry run says', async () => {
  const { result, detail } = await ask(`SELECT COALESCE(event_message, id) AS x, 'y' AS y FROM seen`, {
    endpoint: 'named',
  })
  expect([detail, result?.length]).toEqual([undefined, 1])
})

test('a refusal says what to do, and where', async () => {
  const { status, detail, errors } = await ask('SELECT id,\n  REVERSE(peer) FROM seen')
  expect([status, detail, errors]).toEqual([
    403,
    expect.stringMatching(
      /^Answers for this API key are redacted, .*REVERSE makes another text .* select the column itself/,
    ),
    [expect.objectContaining({ parameter: 'sql', line: 2, column: 3 })],
  ])
})

test.each([
  ['MAX(small) - MIN(small)', /select both .* TIMESTAMP_DIFF/],
  ['id - small', /time between two with TIMESTAMP_DIFF/],
  ['small * small', /scale by positive literals/],
  ['metadata[OFFSET(0)]', /select the list itself, or a field of the element/],
  [
    'LOWER(path)',
    /LOWER makes another text .* group by CASE WHEN x LIKE .* ask for a column of the endpoint/,
  ],
  ['DATE(small, 1, 1)', /DATE makes another/],
  ['LAG(path, small) OVER (ORDER BY id)', /LAG here takes a constant/],
  [
    'RANGE_BUCKET(SAFE_CAST(cookie AS INT64), [1, 2])',
    /a column that no name redacts, and a list of numbers/,
  ],
  ['(SELECT AS STRUCT small * 3)', /select the fields/],
])('%s is refused with what to write', async (sql, says) => {
  const { code, errors } = await ask(`SELECT ${sql} AS x FROM seen`)
  expect([code, errors?.[0]?.detail]).toEqual(['redaction_locked', expect.stringMatching(says)])
})

test('the rule is for redaction that the caller cannot lift, unless the definition allows more', async () => {
  const mirrored = 'SELECT REVERSE(peer) AS m FROM seen'
  const off = { key: keys.plain, headers: { 'SVC-ENDPOINT-REDACT-PII': 'true' } }
  expect((await ask(mirrored, off)).result).toEqual([{ m: '79.311.0.302' }])
  expect((await ask(mirrored, { endpoint: 'lenient' })).result).toEqual([{ m: '79.311.0.302' }])
  expect((await ask('SELECT peer AS version, cookie AS c FROM seen', off)).result).toEqual([
    { version: 'REDACTED', c: 'REDACTED' },
  ])
})
