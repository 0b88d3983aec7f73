/** Attacks on the language that callers with redacted answers may use (`shared/sandbox/README.md`): against names, places and digits. */
import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { rounds } from '../../shared/testing/rounds.ts'
import { planted, startPlanted } from '../testing/planted.ts'
import { readingQueries, redactedQueries } from '../testing/redacted-queries.ts'

let service: Awaited<ReturnType<typeof startPlanted>>
beforeAll(async () => void (service = await startPlanted()))
afterAll(() => service.stop())

const attacks = `
  SELECT AS VALUE STRUCT('x' AS c) UNION ALL SELECT AS VALUE STRUCT(cookie) FROM seen
  SELECT AS STRUCT 'x' AS c UNION ALL SELECT AS STRUCT cookie FROM seen
  SELECT STRUCT('x' AS c) AS s UNION ALL SELECT STRUCT(cookie) FROM seen
  SELECT s.c FROM (SELECT STRUCT('x' AS c) AS s UNION ALL SELECT STRUCT(cookie) FROM seen)
  SELECT x.c FROM (SELECT STRUCT(cookie AS c) AS x FROM seen)
  SELECT x FROM (SELECT STRUCT(cookie AS c) AS x FROM seen)
  SELECT x.* FROM (SELECT STRUCT(cookie AS c) AS x FROM seen)
  SELECT card/1e15 AS token FROM seen
  SELECT card/1e15 AS ratio FROM seen
  SELECT cardf/1e15 AS token FROM seen
  SELECT SAFE_CAST(cardtext AS INT64)/1e15 AS ratio FROM seen
  SELECT SAFE_CAST(cardtext AS FLOAT64)/1e15 AS passwords FROM seen
  SELECT card/1e14 AS tokens, card/1e13 AS keys, card/1e12 AS secrets FROM seen
  SELECT card/1e9 AS tokens FROM seen
  SELECT SUM(card)/2e9 AS tokens FROM seen
  SELECT card/1e15 AS id, card/1e15 AS version FROM seen
  SELECT t.token FROM (SELECT card/1e15 AS token FROM seen) AS t
  SELECT otp AS tokens, cvv AS secrets, SAFE_CAST(token AS INT64) AS passwords FROM seen
  SELECT j.otp AS tokens FROM seen
  SELECT otp AS tokens FROM seen
  SELECT MAX(otp) AS keys FROM seen
  SELECT ANY_VALUE(otp) AS tokens, MIN(cvv) AS phones FROM seen
  SELECT IF(TRUE, otp, 1) AS tokens FROM seen
  SELECT otp * 1 AS tokens FROM seen
  SELECT ROUND(otp / 10) AS tokens FROM seen
  SELECT SUM(otp) AS tokens FROM seen
  SELECT AVG(otp) AS mean FROM seen
  SELECT APPROX_QUANTILES(otp, 2)[OFFSET(1)] AS half FROM seen
  SELECT ARRAY_AGG(otp) AS tokens FROM seen
  SELECT ARRAY_AGG(otp)[OFFSET(0)] AS tokens FROM seen
  SELECT x AS tokens FROM (SELECT otp AS x FROM seen)
  SELECT tokens FROM (SELECT otp AS tokens FROM seen)
  WITH w AS (SELECT otp AS tokens FROM seen) SELECT * FROM w
  SELECT 1 AS tokens UNION ALL SELECT otp FROM seen
  SELECT otp AS tokens FROM seen UNION ALL SELECT 1
  SELECT password.tokens FROM seen
  SELECT password.tokens AS tokens FROM seen
  SELECT j.password.tokens FROM seen
  SELECT INT64(j.otp) AS tokens FROM seen
  SELECT LAX_INT64(j.otp) AS tokens FROM seen
  SELECT INT64(j.card) AS id FROM seen
  SELECT SAFE_CAST(JSON_VALUE(body, '$.otp') AS INT64) AS tokens FROM seen
  SELECT SAFE_CAST(JSON_VALUE(body, '$.card') AS INT64) / 1e15 AS tokens FROM seen
  SELECT m.otp AS tokens FROM seen, UNNEST(metadata) AS m
  SELECT metadata[SAFE_OFFSET(0)].otp AS emails FROM seen
  SELECT SAFE_CAST(cvvtext AS INT64) AS secrets FROM seen
  SELECT LAG(otp) OVER (ORDER BY id) AS tokens FROM seen
  SELECT (SELECT MAX(otp) FROM seen) AS tokens
  SELECT COALESCE(otp, 0) AS tokens FROM seen
  SELECT a.otp AS tokens FROM seen AS a JOIN seen AS b USING (otp)
  SELECT ARRAY_TO_STRING(['pw=<', event_message], ',') AS x FROM seen
  SELECT STRING_AGG(event_message, ',' ORDER BY id) AS x FROM seen
  SELECT CONCAT('x', event_message) AS x FROM seen
  SELECT 'x' || event_message AS x FROM seen
  SELECT FORMAT('%s', event_message) AS x FROM seen
  SELECT [event_message, 'x'] AS x FROM seen
  SELECT ['pw=<', event_message] AS x FROM seen
  SELECT ARRAY_CONCAT(['pw=<'], args) AS x FROM seen
  SELECT ARRAY_TO_STRING(['{"id":[0', cardtext, '0]}'], ',') AS x FROM seen
  SELECT STRING_AGG(cardtext, '0') AS id FROM seen
  SELECT TO_JSON_STRING(u) AS x FROM (SELECT id, cookie FROM seen) UNPIVOT(v FOR n IN (cookie)) AS u
  SELECT TO_JSON_STRING(u) AS x FROM (SELECT id, cookie FROM seen) PIVOT(MAX(cookie) FOR id IN ('a' AS c)) AS u
  SELECT u.v FROM (SELECT id, cookie FROM seen) UNPIVOT(v FOR n IN (cookie)) AS u
  SELECT TO_JSON_STRING(APPROX_TOP_COUNT(password, 100)) AS x FROM seen
  SELECT APPROX_TOP_COUNT(password, 100) AS x FROM seen
  SELECT APPROX_TOP_COUNT(otp, 100)[OFFSET(0)].value AS tokens FROM seen
  SELECT APPROX_TOP_SUM(cookie, 1, 100) AS x FROM seen
  SELECT s FROM (SELECT STRUCT('x' AS c) AS s) FULL JOIN (SELECT STRUCT(cookie) AS s FROM seen) USING (s)
  SELECT c FROM (SELECT 'x' AS c) FULL JOIN (SELECT cookie AS c FROM seen) USING (c)
  SELECT c FROM (SELECT 'opaque-zebra1' AS d) RIGHT JOIN (SELECT cookie AS c FROM seen) ON TRUE
  SELECT c FROM (SELECT path AS c FROM seen) JOIN (SELECT cookie AS c FROM seen) USING (c)
  SELECT t FROM (SELECT card*10 FROM seen) AS t
  SELECT * FROM (SELECT card/1e15 FROM seen) AS t
  SELECT card/1e15 FROM seen
  SELECT x.t FROM (SELECT t FROM (SELECT card*10 AS n FROM seen) AS t) AS x
  SELECT a FROM seen, UNNEST(args) AS a
  SELECT UPPER(a) AS a FROM seen, UNNEST(args) AS a
  SELECT MAX(a) AS a FROM seen, UNNEST(args) AS a WHERE a LIKE '%3'
  SELECT TRIM(a) AS a FROM seen, UNNEST(args) AS a
  SELECT CAST(a AS STRING) AS a FROM seen, UNNEST(args) AS a
  SELECT (SELECT a FROM UNNEST(args) AS a LIMIT 1 OFFSET 1) AS a FROM seen
  SELECT (SELECT MAX(a) FROM UNNEST(args) AS a) AS a FROM seen
  SELECT ARRAY_AGG(a) AS a FROM seen, UNNEST(args) AS a WHERE a LIKE 'z%'
  SELECT ARRAY(SELECT a FROM UNNEST(args) AS a WHERE a LIKE 'z%') AS a FROM seen
  SELECT a, COUNT(*) AS n FROM seen, UNNEST(args) AS a GROUP BY a
  SELECT a.c FROM (SELECT a AS c FROM seen, UNNEST(args) AS a) AS a
  SELECT args[SAFE_OFFSET(1)] AS a FROM seen
  SELECT args[OFFSET(1)] AS a FROM seen
  SELECT args[1] AS a FROM seen
  SELECT j.args[1] AS a FROM seen
  SELECT LAX_STRING(j.args[1]) AS a FROM seen
  SELECT JSON_VALUE(j, '$.args[1]') AS a FROM seen
  SELECT JSON_VALUE(body, '$.args[1]') AS a FROM seen
  SELECT JSON_VALUE(t, '$.args[1]') AS a FROM seen AS t
  SELECT JSON_VALUE(TO_JSON(t), '$.args[1]') AS a FROM seen AS t
  SELECT JSON_VALUE(TO_JSON(args), '$[1]') AS a FROM seen
  SELECT JSON_QUERY(body, '$.args[1]') AS a FROM seen
  SELECT JSON_VALUE_ARRAY(body, '$.args')[SAFE_OFFSET(1)] AS a FROM seen
  SELECT ARRAY_LAST(args) AS a FROM seen
  SELECT ARRAY_SLICE(args, 1, 1) AS a FROM seen
  SELECT ARRAY_REVERSE(args) AS a FROM seen
  SELECT m.args[SAFE_OFFSET(1)] AS a FROM seen, UNNEST(metadata) AS m
  SELECT id FROM seen WHERE STRUCT('203.0.113.97' AS k) IN (SELECT AS STRUCT CONCAT('203.0.113.', CAST(a AS STRING)) FROM UNNEST(GENERATE_ARRAY(0, 99)) AS a INTERSECT DISTINCT SELECT AS STRUCT peer FROM seen)
  SELECT k AS v FROM (SELECT AS VALUE STRUCT(CONCAT('203.0.113.', CAST(a AS STRING)) AS k) FROM UNNEST(GENERATE_ARRAY(0, 99)) AS a INTERSECT DISTINCT SELECT AS VALUE STRUCT(peer) FROM seen)
  SELECT REPLACE(k, '.', '-') AS v FROM (SELECT CONCAT('203.0.113.', CAST(a AS STRING)) AS k FROM UNNEST(GENERATE_ARRAY(0, 99)) AS a) JOIN seen ON peer = k
  SELECT password AS x FROM seen
  SELECT password AS \`hash\` FROM seen
  SELECT password.hash AS x FROM seen
  SELECT password.hash FROM seen
  SELECT password.nested.word AS name FROM seen
  SELECT p.* FROM seen, UNNEST(passwords) AS p
  SELECT p.hash FROM seen, UNNEST(passwords) AS p
  SELECT p FROM seen, UNNEST(passwords) AS p
  SELECT \`hash\` FROM seen, UNNEST(passwords)
  SELECT passwords[SAFE_OFFSET(0)].hash AS x FROM seen
  SELECT j.password AS x, j.password.hash AS y FROM seen
  SELECT JSON_VALUE(body, '$.password.hash') AS x FROM seen
  SELECT JSON_VALUE(body, "$['password']['prefix']") AS x FROM seen
  SELECT JSON_VALUE(PARSE_JSON(body).password, '$.hash') AS x FROM seen
  SELECT STRUCT(password AS x) AS y FROM seen
  SELECT STRUCT(password AS x).x.hash AS y FROM seen
  SELECT IF(TRUE, password, NULL).hash AS y FROM seen
  SELECT ANY_VALUE(password).hash AS y FROM seen
  SELECT w.p.hash AS y FROM (SELECT password AS p FROM seen) AS w
  SELECT p.hash AS y FROM (SELECT password AS p FROM seen)
  SELECT q.p.hash AS y FROM (SELECT w AS q FROM (SELECT password AS p FROM seen) AS w)
  SELECT WITH(p AS password, p.hash) AS y FROM seen
  SELECT password[OFFSET(0)] AS y FROM seen
  SELECT CAST(password AS STRING) AS y FROM seen
  SELECT MAX(password) AS y FROM seen
  SELECT password AS y FROM seen UNION ALL SELECT password FROM seen
  SELECT path AS y FROM seen UNION ALL SELECT password.hash FROM seen
  SELECT TRIM(path) AS y FROM seen UNION ALL SELECT TRIM(password.hash) FROM seen
  SELECT id AS x, cookie AS x FROM seen
  SELECT id AS x, cookie AS X FROM seen
  SELECT * FROM (SELECT id AS x, cookie AS x FROM seen)
  SELECT TO_JSON_STRING(login) AS x FROM seen
  SELECT login FROM seen
  SELECT TO_JSON_STRING(TO_JSON_STRING(login)) AS x FROM seen
  SELECT SUM(IF(id = 'a', card, -4532015100000000)) AS n FROM seen
  SELECT SUM(v) AS n FROM (SELECT card AS v FROM seen UNION ALL SELECT -4532015100000000)
  SELECT SUM(LEAST(card, 4532015100000000)) AS n FROM seen
  SELECT SUM(LAG(card, 1, 5) OVER (ORDER BY id)) AS n FROM seen
  SELECT card - SUM(card) OVER () AS n FROM seen
  SELECT card / SUM(bytes) OVER () / 1e15 AS token FROM seen
  SELECT SUM(card) / SUM(bytes) AS tokens FROM seen
  SELECT SUM(card) / COUNT(*) AS tokens FROM seen
  SELECT EXTRACT(MICROSECOND FROM TIMESTAMP_MICROS(card)) AS n FROM seen
  SELECT n AS k FROM UNNEST(GENERATE_ARRAY(0, 99)) AS n JOIN seen ON CAST(n AS STRING) = cvvtext
  SELECT CAST(card AS STRING) AS id FROM seen
  SELECT cardtext AS id FROM seen
  SELECT ARRAY_AGG(cardtext) AS id FROM seen
  SELECT ARRAY_AGG(card) AS seq FROM seen
  SELECT peer AS version, tel AS id, note AS trace FROM seen
  SELECT t.\`count_star()\`, t.\`max(cookie)\` FROM (SELECT COUNT(*), MAX(cookie) FROM seen) AS t
  SELECT \`max(cookie)\` AS x FROM (SELECT MAX(cookie) FROM seen)
  SELECT f0_ AS x FROM (SELECT MAX(cookie) FROM seen)
`
  .split('\n')
  .flatMap(line => line.trim() || [])

test.each(attacks)('no secret leaves by %s', async sql => {
  const { status, result, errors } = await service.ask(sql)
  expect(status).toBeLessThan(500)
  expect(JSON.stringify(result ?? [])).not.toMatch(planted)
  expect(
    JSON.stringify((errors ?? []).map(({ detail }) => detail.replaceAll(/".*?"|\(.*?\)/g, ''))),
  ).not.toMatch(/zebra|kimb/)
})

test('nor by sums, functions and conditions that read it digit by digit', async () => {
  const readings = fc.asyncProperty(readingQueries, async sql => {
    const { status, result } = await service.ask(sql)
    expect([200, 400, 403]).toContain(status)
    for (const row of result ?? []) expect(Object.values(row).join('')).not.toMatch(planted)
  })
  await fc.assert(readings, { numRuns: rounds(25, 5_000) })
})

const count = Number(process.env['QUERIES'] ?? rounds(25, 100_000))
const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31))

test(`nor by ${count} random queries from seed ${seed} on, of which some are answered`, async () => {
  let answered = 0
  await fc.assert(
    fc.asyncProperty(redactedQueries, async sql => {
      const { status, result } = await service.ask(sql)
      expect(status).toBeLessThan(500)
      expect(JSON.stringify(result ?? [])).not.toMatch(planted)
      if (status === 200) answered++
    }),
    { numRuns: count, seed },
  )
  expect(answered).toBeGreaterThan(count / 20)
})
