-- Arrays and structs.
--- each row of arrays
a
s
ARRAY_LENGTH(«a¦s»)
«ARRAY_REVERSE¦ARRAY_FIRST¦ARRAY_LAST»(«a¦s»)
SAFE.ARRAY_«FIRST¦LAST»(a)
a[«0¦OFFSET(0)¦SAFE_OFFSET(0)¦ORDINAL(1)¦SAFE_ORDINAL(1)¦SAFE_OFFSET(3)¦SAFE_OFFSET(-1)¦SAFE_ORDINAL(0)¦OFFSET(3)»]
s[SAFE_OFFSET(ARRAY_LENGTH(s) - 1)]
ARRAY_CONCAT(«a, [9]¦a, a¦s, ['z'], []»)
ARRAY_TO_STRING(s, «','¦''¦NULL¦', ', 'none'»)
ARRAY_SLICE(a, «0, 1¦1, 2¦-2, -1¦1, -1¦5, 9¦2, 1¦-100, 100»)
3 IN UNNEST(a)
'b' «¦NOT »IN UNNEST(s)
a IS NULL
ARRAY(SELECT x FROM UNNEST(a) AS x ORDER BY x «¦DESC»)
ARRAY(SELECT DISTINCT x FROM UNNEST(s) AS x ORDER BY x)
ARRAY(SELECT x * 2 FROM UNNEST(a) AS x WITH OFFSET o WHERE x < 100 ORDER BY o)
ARRAY(SELECT AS STRUCT x, o FROM UNNEST(s) AS x WITH OFFSET AS o ORDER BY o)
ARRAY(SELECT UPPER(x) FROM UNNEST(s) AS x WITH OFFSET AS o WHERE x LIKE '%b%' ORDER BY o)
(SELECT «COUNT(*)¦COUNT(x)¦MAX(x)¦MIN(x)¦ARRAY_AGG(x ORDER BY x)» FROM UNNEST(a) AS x)
(SELECT SUM(x) FROM UNNEST(a) AS x WHERE x < 1000)
(SELECT STRING_AGG(x, '|' ORDER BY x) FROM UNNEST(s) AS x)
(SELECT x FROM UNNEST(a) AS x ORDER BY x DESC LIMIT 1)
(SELECT x FROM UNNEST(s) AS x WITH OFFSET AS o WHERE o = 1)
EXISTS (SELECT 1 FROM UNNEST(a) AS x WHERE x > 2)
EXISTS (SELECT 1 FROM UNNEST(s))
COALESCE(a, [])
IFNULL(s, ['none'])
IF(ARRAY_LENGTH(a) > 1, a, [])
STRUCT(a AS list, ARRAY_LENGTH(s) AS n)
TO_JSON_STRING(«a¦s»)
FORMAT('%t', a)
FORMAT('%T', s)
GENERATE_ARRAY(1, ARRAY_LENGTH(a))
--- queries
SELECT GENERATE_ARRAY(«1, 5¦5, 1¦1, 10, 3¦5, 1, -2¦1, 2, 0.5¦0, 1, 0.3¦1, 1¦1, NULL¦1, 5, 0¦1, 3, -1¦NUMERIC '1', NUMERIC '2', NUMERIC '0.25'¦9223372036854775805, 9223372036854775807¦'a', 'b'»);
SELECT «[1, 2, 3]¦ARRAY[1, 2]¦ARRAY<INT64>[]¦ARRAY<STRING>['a']¦[STRUCT(1 AS a), STRUCT(2)]¦[[1], [2]]¦[NULL]¦CAST(NULL AS ARRAY<INT64>)¦ARRAY<FLOAT64>[1, 2]¦[1, 2][OFFSET(5)]¦[1, 2][ORDINAL(0)]¦[1, 2][SAFE_OFFSET(5)]¦[1, 2][2]¦ARRAY_CONCAT()¦ARRAY_CONCAT([1], NULL)¦ARRAY_CONCAT([1], ['a'])¦ARRAY_TO_STRING([1, 2], ',')¦ARRAY_TO_STRING(['a', NULL, 'b'], '-')¦ARRAY_TO_STRING(['a', NULL, 'b'], '-', '?')¦ARRAY_FIRST([])¦ARRAY_LENGTH(NULL)¦ARRAY_REVERSE([1, NULL, 3])[OFFSET(0)]¦ARRAY(SELECT 1, 2)¦ARRAY_AGG(1)¦1 IN UNNEST(NULL)¦[1] || [2]¦'a' || ['b']»;
SELECT «STRUCT(1 AS a, 'x' AS b)¦STRUCT(1, 'x')¦(1, 'x')¦STRUCT<a INT64, b STRING>(1, 'x')¦STRUCT(STRUCT(1 AS x) AS s)¦STRUCT<INT64>(1)¦STRUCT()¦STRUCT(1 AS a).a¦STRUCT(1 AS a).b¦STRUCT(1 AS a, 2 AS a).a¦STRUCT<a INT64>('x')¦CAST(NULL AS STRUCT<a INT64>)¦CAST(NULL AS STRUCT<a INT64>).a¦STRUCT(NULL AS a)¦STRUCT([1, 2] AS list).list[OFFSET(1)]¦(SELECT AS STRUCT 1 AS a, 'b' AS c)¦(SELECT AS STRUCT 1 AS a).a¦STRUCT(1 AS A).a¦ARRAY(SELECT AS STRUCT 1 AS a, 2 AS b)¦STRUCT(1 AS `a b`)¦STRUCT(DATE '2024-01-01' AS d, TIMESTAMP '2024-01-01' AS t, 1.5 AS f, b'x' AS y)»;
SELECT x, o FROM UNNEST(['b', 'a', NULL]) AS x WITH OFFSET AS o ORDER BY o;
SELECT x FROM UNNEST(«[]¦[3, 1, 2]¦CAST(NULL AS ARRAY<INT64>)¦GENERATE_ARRAY(1, 3)¦SPLIT('b,a', ',')¦[NULL, 1]¦[1, 1, 2]») AS x ORDER BY x;
SELECT a, b FROM UNNEST([STRUCT(1 AS a, 'x' AS b), (2, 'y'), STRUCT(NULL, NULL)]) ORDER BY a;
SELECT s.a, s.b FROM UNNEST([STRUCT(1 AS a, 'x' AS b), STRUCT(2, 'y')]) AS s WHERE s.b != 'x';
SELECT * FROM UNNEST([STRUCT(1 AS a, STRUCT('x' AS c) AS b)]);
SELECT id, tag FROM requests«, UNNEST(tags) AS tag¦ CROSS JOIN UNNEST(tags) AS tag¦ LEFT JOIN UNNEST(tags) AS tag¦ LEFT JOIN UNNEST(tags) AS tag ON TRUE¦ INNER JOIN UNNEST(tags) AS tag¦ JOIN UNNEST(tags) AS tag ON tag = 'a'¦, requests.tags AS tag¦ AS r, r.tags AS tag¦ AS r LEFT JOIN r.tags AS tag¦ AS r, UNNEST(r.tags) AS tag WHERE tag > 'a'» ORDER BY id, tag;
SELECT id, tag, place FROM requests, UNNEST(tags) AS tag WITH OFFSET AS place ORDER BY id, place;
SELECT id, h.name, h.value FROM requests«, UNNEST(headers) AS h¦ LEFT JOIN UNNEST(headers) AS h¦ AS r CROSS JOIN UNNEST(r.headers) AS h¦ LEFT JOIN UNNEST(headers) AS h ON h.name = 'via'» ORDER BY id, name, value;
SELECT id, name, value FROM requests, UNNEST(headers) ORDER BY id, name, value;
SELECT id, name FROM requests LEFT JOIN UNNEST(headers) ON LOWER(name) = 'host' ORDER BY id, name;
SELECT tag, COUNT(*) AS n, COUNT(DISTINCT id) AS requests FROM requests, UNNEST(tags) AS tag GROUP BY tag ORDER BY n DESC, tag;
SELECT h.name, ARRAY_AGG(DISTINCT h.value IGNORE NULLS ORDER BY h.value) AS texts FROM requests, UNNEST(headers) AS h GROUP BY h.name ORDER BY name;
SELECT id, (SELECT h.value FROM UNNEST(headers) AS h WHERE h.name = 'host' «LIMIT 1¦ORDER BY h.value LIMIT 1») AS host FROM requests WHERE id != 11 ORDER BY id;
SELECT id, (SELECT value FROM UNNEST(headers) WHERE name = 'host') AS host FROM requests ORDER BY id;
SELECT id, ARRAY(SELECT h.name FROM UNNEST(headers) AS h ORDER BY h.name) AS names FROM requests ORDER BY id;
SELECT id FROM requests WHERE EXISTS (SELECT 1 FROM UNNEST(headers) AS h WHERE h.name = 'via'«¦ AND h.value IS NULL») ORDER BY id;
SELECT id FROM requests WHERE «'a' IN UNNEST(tags)¦'a' NOT IN UNNEST(tags)¦ARRAY_LENGTH(tags) > 1¦ARRAY_LENGTH(tags) = 0¦tags IS NULL¦tags[SAFE_OFFSET(0)] = 'b'¦tags[OFFSET(0)] = 'b'» ORDER BY id;
SELECT id, headers[SAFE_OFFSET(0)].name AS first, headers[SAFE_OFFSET(1)].value AS second FROM requests ORDER BY id;
SELECT ARRAY_AGG(STRUCT(id, method) ORDER BY id LIMIT 3) AS top FROM «requests¦nothing»;
SELECT method, ARRAY_AGG(id «ORDER BY id¦ORDER BY id DESC¦ORDER BY id LIMIT 2¦ORDER BY ms, id») AS ids FROM requests GROUP BY method ORDER BY method;
SELECT ARRAY_AGG(country «ORDER BY id¦IGNORE NULLS ORDER BY id¦RESPECT NULLS ORDER BY id») AS countries FROM requests WHERE id «< 4¦> 0»;
SELECT ARRAY_CONCAT_AGG(tags ORDER BY id) AS tags FROM «requests¦nothing»;
SELECT ARRAY_LENGTH(ARRAY_AGG(x)) FROM UNNEST([1, NULL, 3]) AS x;
SELECT r.id, t FROM requests AS r, UNNEST(ARRAY_CONCAT(tags, ['+'])) AS t WHERE r.id < 4 ORDER BY id, t;
SELECT id, n FROM requests, UNNEST(GENERATE_ARRAY(1, ARRAY_LENGTH(tags))) AS n ORDER BY id, n;
SELECT x, y FROM UNNEST([1, 2]) AS x, UNNEST([x, x * 10]) AS y ORDER BY x, y;
SELECT x, y FROM UNNEST([1, 2]) AS x CROSS JOIN UNNEST(['a', 'b']) AS y ORDER BY x, y;
SELECT part FROM requests, UNNEST(SPLIT(path, '/')) AS part WHERE part != '' GROUP BY part ORDER BY part;
SELECT [STRUCT(1 AS a, 'x' AS b)][«SAFE_OFFSET¦SAFE_ORDINAL¦OFFSET¦ORDINAL»(NULL)] AS x, 1 AS one;
SELECT [STRUCT(1 AS a)][SAFE_OFFSET(NULL)].a AS a, STRUCT([STRUCT(1 AS a)][SAFE_OFFSET(NULL)] AS b) AS s;
