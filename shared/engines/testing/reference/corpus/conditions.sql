-- Logic with NULL, CASE, IF, IN, and comparisons.
--- each row of bools
a «AND¦OR» b
NOT a
a «=¦!=¦<¦>» b
a IS «TRUE¦FALSE¦NULL¦NOT TRUE¦NOT FALSE¦NOT NULL»
a IS «¦NOT »DISTINCT FROM b
IF(a, 'yes', 'no')
«IFNULL¦COALESCE¦NULLIF»(a, b)
CASE WHEN a THEN 1 WHEN b THEN 2 END
CASE a WHEN TRUE THEN 't' WHEN FALSE THEN 'f' ELSE 'n' END
CASE a WHEN NULL THEN 'never' ELSE 'else' END
NOT a AND b OR a AND NOT b
a IN (b, NULL)
a NOT IN (b)
(a AND NULL) IS NULL
«GREATEST¦LEAST»(a, b)
a = b AND a IS NOT NULL
CAST(a AS INT64) + IF(b, 10, 0)
--- each row of ints
i = j
i IS NULL OR j IS NULL
i IN UNNEST([1, 7, NULL])
i NOT IN UNNEST([1, 7])
i IN UNNEST([])
i IN (SELECT x FROM UNNEST([1, 255, NULL]) AS x)
i NOT IN (SELECT x FROM UNNEST([1, 255]) AS x)
EXISTS (SELECT 1 FROM UNNEST([1, 255]) AS x WHERE x = i)
CASE WHEN i IS NULL THEN 'none' WHEN i < 0 THEN 'minus' WHEN i = 0 THEN 'zero' WHEN i < 1000 THEN 'some' ELSE 'many' END
CASE i WHEN 0 THEN 'a' WHEN 1 THEN 'b' ELSE CAST(i AS STRING) END
IF(i > j, i, j)
IF(i > 0, 'p', NULL)
(SELECT MAX(x) FROM UNNEST([i, j]) AS x)
(SELECT COUNT(*) FROM UNNEST([i, j, NULL]) AS x WHERE x IS NOT NULL)
i > ALL (SELECT x FROM UNNEST([1, 2]) AS x)
i = ANY (SELECT x FROM UNNEST([1, 2]) AS x)
--- each row of strings
s IS NULL OR s = ''
s LIKE ANY ('a%', '%b')
s LIKE «SOME¦ALL» ('%a%', '%b%')
s NOT LIKE ANY ('a%', '%b')
s IN ('abc', 'aaa', '')
CASE s WHEN 'abc' THEN 1 WHEN 'aaa' THEN 2 ELSE 0 END
STRUCT(s, t) IN (STRUCT('abc', 'b'), STRUCT('aaa', 'aa'))
(s, t) = ('abc', 'b')
--- queries
SELECT «TRUE AND NULL¦FALSE AND NULL¦TRUE OR NULL¦FALSE OR NULL¦NOT NULL¦NULL AND NULL¦NULL = NULL¦NULL != 1¦1 IN (NULL)¦1 IN (1, NULL)¦1 NOT IN (NULL)¦1 NOT IN (2, NULL)¦NULL IN (1)¦NULL BETWEEN 1 AND 2¦1 BETWEEN NULL AND 0¦1 BETWEEN NULL AND 2¦NULL LIKE '%'¦NULL IS TRUE¦NULL IS NOT FALSE¦NULL IS DISTINCT FROM NULL¦1 IS DISTINCT FROM NULL»;
SELECT «IF(TRUE, 1, 1 / 0)¦CASE WHEN TRUE THEN 1 ELSE 1 / 0 END¦COALESCE(1, 1 / 0)¦IFNULL(1, 1 / 0)¦SAFE.LOG(-1)¦IF(NULL, 1, 2)¦CASE WHEN NULL THEN 1 ELSE 2 END¦CASE NULL WHEN NULL THEN 1 ELSE 2 END¦ERROR('stop')¦IF(FALSE, ERROR('x'), 'fine')»;
SELECT «IF(TRUE, 1)¦CASE END¦CASE WHEN TRUE THEN END¦NULLIF(1)¦COALESCE()¦IFNULL(1)¦1 IN ()¦NOT¦1 = = 1¦1 <> 2¦1 != 2¦1 == 1¦TRUE && FALSE¦NOT TRUE = FALSE¦NOT NOT TRUE¦1 BETWEEN 0 AND 2 AND TRUE¦-(-1)¦- -1¦2 * -3¦1 - -1¦5 - 3 - 1¦2 + 3 * 4¦(2 + 3) * 4¦8 / 4 / 2¦1 | 2 & 3¦1 ^ 3 | 4¦1 << 2 + 1¦~1 + 1¦'a' || 'b' = 'ab'¦1 = 1 IS TRUE¦NOT FALSE AND FALSE¦TRUE OR FALSE AND FALSE»;
SELECT id FROM requests WHERE status IN (200, 404, NULL) ORDER BY id;
SELECT id FROM requests WHERE status NOT IN (200, 404«¦, NULL») ORDER BY id;
SELECT id FROM requests WHERE NOT (status = 200 OR method = 'GET') ORDER BY id;
SELECT id FROM requests WHERE (status, method) IN ((200, 'GET'), (400, 'POST')) ORDER BY id;
SELECT id FROM requests WHERE status IN UNNEST([200, 503]) ORDER BY id;
SELECT id FROM requests WHERE country «= ''¦IS NULL¦IS NOT NULL¦!= 'US'¦NOT IN ('US', 'DE')¦IS DISTINCT FROM 'US'¦< 'E'» ORDER BY id;
SELECT id FROM requests WHERE ms «> 10¦<= 10¦= CAST('inf' AS FLOAT64)¦!= 12.5¦IS NULL¦BETWEEN 0 AND 100¦NOT BETWEEN 0 AND 100» ORDER BY id;
SELECT id FROM requests WHERE LOWER(path) LIKE '%items%' AND IFNULL(status, 0) < 500 ORDER BY id;
SELECT COUNT(*) FROM requests WHERE NULL;
SELECT id FROM requests WHERE status ORDER BY id;
SELECT id FROM requests WHERE COUNT(*) > 1;
--- each row of bools
STRUCT(a, b) «=¦!=¦IS NOT DISTINCT FROM» STRUCT(«TRUE, FALSE¦b, a¦TRUE, NULL»)
STRUCT(a, b) «IN¦NOT IN» «(STRUCT(TRUE, FALSE), (FALSE, TRUE))¦UNNEST([STRUCT(TRUE, FALSE), (FALSE, NULL)])¦(SELECT AS STRUCT TRUE, FALSE)¦(SELECT AS STRUCT x.a, x.b FROM bools AS x WHERE x.n > 3)¦(SELECT AS STRUCT x.a, x.b FROM bools AS x WHERE x.n > 300)¦(SELECT AS STRUCT b, a)»
(a, (b, a)) IN «((b, (a, b)))¦UNNEST([(TRUE, (TRUE, TRUE)), (FALSE, (NULL, TRUE))])¦(SELECT AS STRUCT x.b, (x.a, x.b) FROM bools AS x)»
CASE STRUCT(a, b) WHEN STRUCT(TRUE, TRUE) THEN 1 WHEN (TRUE, NULL) THEN 2 WHEN (FALSE, FALSE) THEN 3 END
STRUCT(a, b) BETWEEN STRUCT(a, b) AND STRUCT(a, b)
--- each row of floats
«x¦STRUCT(x)¦STRUCT(x, 1)» «IN (¦NOT IN (»«SELECT AS STRUCT x, 1¦SELECT AS STRUCT f.x, 1 FROM floats AS f¦SELECT f.x FROM floats AS f WHERE f.x IS NOT NULL¦SELECT f.x FROM floats AS f»)
x «IN¦NOT IN» UNNEST([x«¦, NULL»])
STRUCT(x) IN «(STRUCT(x))¦UNNEST([STRUCT(x)])»
--- queries
SELECT id FROM requests WHERE (method, status) IN (SELECT AS STRUCT method, status FROM requests WHERE id < 4) ORDER BY id;
SELECT id FROM requests WHERE (method, country) NOT IN (SELECT AS STRUCT method, country FROM requests WHERE id > 9) ORDER BY id;
SELECT id, (q.method, q.country) IN (SELECT (r.method, r.country) FROM requests AS r WHERE r.id > q.id) AS later FROM requests AS q ORDER BY id;
SELECT STRUCT(method, status) IN (SELECT AS STRUCT 'GET', 200) AS found, COUNT(*) AS n FROM requests GROUP BY found ORDER BY found;
SELECT method, (method, COUNT(*)) IN (('GET', 7)) AS found FROM requests GROUP BY method ORDER BY method;
SELECT «STRUCT([1]) IN (STRUCT([1]))¦STRUCT(1) IN (SELECT 1)¦(1, 2) IN (SELECT 1, 2)¦(1, 2) IN (SELECT (1, 2))¦CAST(NULL AS STRUCT<a INT64>) IN (STRUCT(1))¦STRUCT(1) IN (CAST(NULL AS STRUCT<a INT64>), STRUCT(2))» AS v;
