-- JSON, as text in messages and as values.
--- each row of bodies
JSON_VALUE(s«¦, '$'¦, '$.a'¦, '$.b'¦, '$.c'¦, '$.d'¦, '$.f.g'¦, '$.d[0]'¦, '$.d[2].e'¦, '$[1].a'¦, '$.a.a.a.a.a'¦, '$."a.b"'¦, '$."a b"'¦, '$.ü'¦, '$.nothing'»)
JSON_QUERY(s«, '$'¦, '$.a'¦, '$.b'¦, '$.c'¦, '$.d'¦, '$.f'¦, '$.d[0]'¦, '$[0]'¦, '$.a.a'¦, '$.nothing'»)
JSON_EXTRACT(s, «'$'¦'$.a'¦'$.c'¦'$.d'¦"$['a.b']"¦'$.d[1]'»)
JSON_EXTRACT_SCALAR(s, «'$.a'¦'$.b'¦'$.d'¦'$.c'¦"$['a b']"»)
JSON_QUERY_ARRAY(s«¦, '$.d'¦, '$.a'»)
JSON_VALUE_ARRAY(s«¦, '$.d'¦, '$.c'»)
JSON_EXTRACT_ARRAY(s, '$.d')
JSON_EXTRACT_STRING_ARRAY(s, '$.d')
ARRAY_LENGTH(JSON_QUERY_ARRAY(s, '$.d'))
SAFE_CAST(JSON_VALUE(s, '$.a') AS «INT64¦FLOAT64¦BOOL»)
CAST(JSON_VALUE(s, '$.«a¦c¦d»') AS FLOAT64)
COALESCE(JSON_VALUE(s, '$.b'), JSON_VALUE(s, '$.a'), 'none')
JSON_VALUE(s, '$.a') = '1'
JSON_VALUE(s, '$.c') IS NULL
JSON_QUERY(s, '$.c') IS NULL
SAFE.PARSE_JSON(s)
TO_JSON_STRING(SAFE.PARSE_JSON(s))
TO_JSON_STRING(s)
JSON_TYPE(SAFE.PARSE_JSON(s))
PARSE_JSON(s)
SAFE.PARSE_JSON(s, wide_number_mode=>'round')
JSON_VALUE(SAFE.PARSE_JSON(s), '$.«a¦d¦f.g»')
JSON_QUERY(SAFE.PARSE_JSON(s), '$.«a¦c¦d»')
SAFE.PARSE_JSON(s).«a¦b¦d[0]¦f.g»
--- each row of documents
PARSE_JSON(s)
TO_JSON_STRING(PARSE_JSON(s))
TO_JSON_STRING(PARSE_JSON(s), TRUE)
JSON_TYPE(PARSE_JSON(s))
«INT64¦FLOAT64¦BOOL¦STRING»(PARSE_JSON(s))
SAFE.«INT64¦FLOAT64¦BOOL¦STRING»(PARSE_JSON(s))
LAX_«INT64¦FLOAT64¦BOOL¦STRING»(PARSE_JSON(s))
LAX_INT64(PARSE_JSON(s).a)
LAX_STRING(PARSE_JSON(s).«a¦b¦d»)
PARSE_JSON(s).«a¦b¦c¦d¦a.b.c¦d[1]»
PARSE_JSON(s)['«a¦d»']
PARSE_JSON(s)[«0¦3¦9»]
PARSE_JSON(s) IS NULL
JSON_VALUE(PARSE_JSON(s)«¦, '$.a'¦, '$[0]'¦, '$.d[0]'»)
JSON_QUERY(PARSE_JSON(s)«, '$.a'¦, '$[4]'»)
JSON_«QUERY¦VALUE»_ARRAY(PARSE_JSON(s)«¦, '$.d'»)
JSON_STRIP_NULLS(PARSE_JSON(s))
JSON_REMOVE(PARSE_JSON(s), '$.a')
JSON_SET(PARSE_JSON(s), '$.a', 99)
JSON_ARRAY(PARSE_JSON(s), 1)
JSON_OBJECT('v', PARSE_JSON(s))
TO_JSON(PARSE_JSON(s))
FORMAT('%t', PARSE_JSON(s))
FORMAT('%T', PARSE_JSON(s))
--- queries
SELECT JSON_«VALUE¦QUERY»('{"a":{"b":[1,{"c":"x"}]}}', '«$.a.b[1].c¦$.a.b¦$.a.b[*]¦$..c¦$.a.b[-1]¦$.a.b[0]¦a.b¦$.¦$.a["b"]¦$.a.b[01]¦$[a]¦$.A¦¦$.a.b[9223372036854775807]»');
SELECT JSON_VALUE(«NULL, '$.a'¦'{}', NULL¦'{"a":1}'¦1, '$.a'¦'{"a":1}', '$.a', 'x'¦'{"a":"\u00e9\\n"}', '$.a'¦'{"a":1.10}', '$.a'¦'{"a":1e400}', '$.a'¦'{"a":12345678901234567890123}', '$.a'¦'{"a":-0.0}', '$.a'»);
SELECT JSON_QUERY(«'{"a":1.10}', '$.a'¦'{"a":"x\\/y"}', '$.a'¦'{"b":1,"a":2}', '$'¦'{"a": [1,  2]}', '$.a'¦'[1,2]', '$[5]'¦'{"a":null}', '$.a'¦'{"a":"é"}', '$'¦'{"a":"\\u00e9"}', '$'»);
SELECT TO_JSON_STRING(«NULL¦1¦9007199254740993¦9223372036854775807¦-1¦1.0¦0.1¦1e30¦1e-10¦CAST('NaN' AS FLOAT64)¦CAST('inf' AS FLOAT64)¦NUMERIC '1.50'¦NUMERIC '12345678901234567890.5'¦'a"b\\c/d\n\u2028<>&\''¦b'abc'¦TRUE¦DATE '2024-01-01'¦DATETIME '2024-01-01 01:02:03.5'¦TIMESTAMP '2024-01-01 00:00:00.123+00'¦TIME '01:02:03'¦[1, 2]¦[]¦['a', NULL]¦STRUCT(1 AS a, 'b' AS b, NULL AS c)¦STRUCT(1, 2)¦STRUCT([STRUCT(1 AS x)] AS list)¦INTERVAL 1 DAY¦JSON '{"a":1.0}'¦'😀\u0001\t'»);
SELECT TO_JSON_STRING(«STRUCT(1 AS a, [1, 2] AS b)¦[1, 2]¦[]¦1¦STRUCT(STRUCT(1 AS x) AS s, 'y' AS t)¦STRUCT()», TRUE);
SELECT TO_JSON(«NULL¦1¦9007199254740993¦1.5¦'x'¦[1, 2]¦STRUCT(1 AS a, 'b' AS b)¦DATE '2024-01-01'¦TIMESTAMP '2024-01-01'¦NUMERIC '1.5'¦TRUE¦CAST('NaN' AS FLOAT64)¦[STRUCT(1 AS a), STRUCT(2)]»);
SELECT JSON_OBJECT(«¦'a', 1¦'a', 1, 'b', NULL¦'a', [1, 2]¦'a'¦'a', 1, 'a', 2¦['a', 'b'], [1, 2]¦NULL, 1¦'a', STRUCT(1 AS x)»);
SELECT JSON_ARRAY(«¦1, 'a', NULL¦[1, 2], JSON '{"a":1}'¦DATE '2024-01-01'»);
SELECT JSON '«{"a":1}¦{"a":1,}¦[1, 2.0, 1e3]¦¦x¦null¦12345678901234567890¦"\u00e9"¦{"b":1,"a":{"d":1,"c":2}}¦0.1234567890123456789»';
SELECT PARSE_JSON('«{"a":1.00}¦12345678901234567890.123¦0.1¦1e400¦{"a":1}¦[1,]¦NaN¦"»'«¦, wide_number_mode=>'round'¦, wide_number_mode=>'exact'»);
SELECT JSON_SET(JSON '{"a":{"b":1},"c":[1,2]}', «'$.a.b', 2¦'$.x', 'y'¦'$.c[1]', NULL¦'$.c[5]', 9¦'$', 1¦'$.a.b.c', 1»);
SELECT JSON_REMOVE(JSON '{"a":{"b":1},"c":[1,2]}', «'$.a'¦'$.a.b'¦'$.c[0]'¦'$.x'¦'$.c[9]'¦'$.a', '$.c'¦'$'»);
SELECT JSON_STRIP_NULLS(JSON '{"a":null,"b":[null,1,null],"c":{"d":null},"e":[]}'«¦, remove_empty=>TRUE¦, include_arrays=>FALSE¦, '$.c'»);
SELECT JSON_ARRAY_«APPEND¦INSERT»(JSON '[1,2]', '$«¦[0]»', 9);
SELECT JSON '{"a":[1,{"b":"x"}]}'.«a¦a[1].b¦a[0]¦A¦x.y¦a.b»;
SELECT JSON '{"a b":1}'['a b'], JSON '[1,2]'[1];
SELECT «INT64(JSON '1')¦INT64(JSON '1.0')¦INT64(JSON '1.5')¦INT64(JSON '"1"')¦INT64(JSON 'null')¦FLOAT64(JSON '1')¦FLOAT64(JSON '9007199254740993')¦FLOAT64(JSON '9007199254740993', wide_number_mode=>'exact')¦BOOL(JSON 'true')¦STRING(JSON '"a"')¦STRING(JSON '1')¦LAX_INT64(JSON '"1.7"')¦LAX_INT64(JSON 'true')¦LAX_BOOL(JSON '"TRUE"')¦LAX_BOOL(JSON '0')¦LAX_FLOAT64(JSON '"NaN"')¦LAX_STRING(JSON '1.0')¦LAX_STRING(JSON 'null')»;
SELECT «JSON '1' = JSON '1'¦JSON '1' IS NULL¦CAST(JSON '1' AS INT64)¦CAST('1' AS JSON)¦JSON 'null' IS NULL¦PARSE_JSON(NULL)¦JSON_TYPE(NULL)¦JSON_TYPE(JSON 'null')¦COALESCE(NULL, JSON '1')¦[JSON '1', JSON '"a"']¦STRUCT(JSON '{"a":1}' AS j)¦CONCAT(JSON '"a"', 'b')¦IF(TRUE, JSON '1', NULL)»;
SELECT id, JSON_VALUE(body, '$.n') AS n, JSON_QUERY(body, '$.ok') AS ok FROM requests ORDER BY id;
SELECT JSON_VALUE(body, '$.ok') AS ok, COUNT(*) AS count, SUM(SAFE_CAST(JSON_VALUE(body, '$.n') AS FLOAT64)) AS total FROM requests GROUP BY ok ORDER BY ok;
SELECT id FROM requests WHERE JSON_VALUE(body, '$.ok') = 'true' ORDER BY id;
SELECT id FROM requests WHERE SAFE_CAST(JSON_VALUE(body, '$.n') AS INT64) > 1 ORDER BY id;
SELECT AVG(SAFE_CAST(JSON_VALUE(body, '$.n') AS FLOAT64)) AS mean, MAX(JSON_VALUE(body, '$.n')) AS top FROM «requests¦nothing»;
SELECT TO_JSON_STRING(r) FROM (SELECT id, method, tags, headers FROM requests WHERE id < 5) AS r ORDER BY r.id;
SELECT TO_JSON_STRING(STRUCT(id, ms, bytes, cost, ts)) AS line FROM requests ORDER BY id;
SELECT item, place FROM UNNEST(JSON_QUERY_ARRAY('[{"a":1},2,"x",null]')) AS item WITH OFFSET AS place ORDER BY place;
SELECT id, v FROM requests, UNNEST(JSON_VALUE_ARRAY(body)) AS v ORDER BY id, v;
