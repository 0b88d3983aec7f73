-- Functions inside one another, in aggregates and in windows, and casts with formats.
--- each row of times
CAST(ts AS STRING FORMAT «'YYYY-MM-DD HH24:MI:SS.FF3 TZH:TZM'¦'DY, DD MON YYYY'¦'HH12:MI AM'¦'YY-DDD SSSSS'»)
CAST(ts AS STRING FORMAT 'YYYY-MM-DD HH24:MI TZH' AT TIME ZONE 'Asia/Kolkata')
CAST(ts AS STRING FORMAT IF(EXTRACT(YEAR FROM ts) > 2000, 'YYYY', 'DD.MM.YYYY'))
FORMAT_TIMESTAMP(IF(EXTRACT(YEAR FROM ts) > 2000, '%F', '%c %Z'), ts, 'Europe/Berlin')
FORMAT_TIMESTAMP(«'%Y-W%V'¦'%G-%g-%V-%u'¦'%U-%W-%w'¦'%s|%E3f'¦'%I:%M %p'¦'%EY-%Om-%Od'», ts, «'UTC'¦'America/Sao_Paulo'»)
PARSE_TIMESTAMP('%F %H:%M:%E*S', FORMAT_TIMESTAMP('%F %H:%M:%E*S', ts))
SAFE.PARSE_TIMESTAMP('%Y-%m-%dT%H:%M:%E3S%Ez', FORMAT_TIMESTAMP('%E4Y-%m-%dT%H:%M:%E3S%Ez', ts, 'Asia/Tokyo'))
SAFE.PARSE_DATE('%d/%m/%y', FORMAT_TIMESTAMP('%d/%m/%y', ts))
TIMESTAMP_TRUNC(ts, HOUR, 'Asia/Kolkata')
DATE_DIFF(DATE(ts), DATE '2024-01-01', «WEEK(MONDAY)¦ISOYEAR¦QUARTER»)
TIMESTAMP_DIFF(ts, TIMESTAMP '2024-01-01', «DAY¦MINUTE¦MILLISECOND»)
EXTRACT(«HOUR¦DAY¦MINUTE» FROM ts - TIMESTAMP '2024-01-01')
TO_JSON_STRING(STRUCT(ts, DATE(ts) AS d, [ts] AS l))
FORMAT('%t | %T', ts, DATE(ts))
UNIX_SECONDS(ts) - MOD(UNIX_SECONDS(ts), 3600)
SAFE.TIMESTAMP_ADD(ts, INTERVAL 3000 DAY)
LAST_DAY(DATE(ts), «WEEK(SUNDAY)¦ISOWEEK¦QUARTER¦ISOYEAR»)
--- each row of texts
SAFE.PARSE_DATE('%F', s)
SAFE.PARSE_TIMESTAMP('%F %T', s)
SAFE_CAST(s AS DATE FORMAT 'YYYY-MM-DD')
SAFE_CAST(s AS TIMESTAMP FORMAT 'YYYY-MM-DD HH24:MI:SS')
IF(REGEXP_CONTAINS(s, r'^\d+$'), SAFE_CAST(s AS INT64) + 1, -1)
SAFE_DIVIDE(SAFE_CAST(s AS FLOAT64), 0.5)
FORMAT('%5.1f|%s', SAFE_CAST(s AS FLOAT64), s)
COALESCE(SAFE_CAST(s AS INT64), LENGTH(s))
SAFE_CAST(SAFE_CAST(s AS NUMERIC) AS STRING FORMAT '9,999.99')
TO_JSON_STRING([s, UPPER(s)])
REGEXP_EXTRACT(s, r'(\d+)(?:\.\d+)?$')
SPLIT(s, '-')[SAFE_OFFSET(1)]
SAFE_CAST(s AS «INTERVAL¦BIGNUMERIC¦BYTES¦JSON»)
CAST(s AS BYTES FORMAT 'ASCII')
--- each row of floats
CAST(x AS STRING FORMAT «'999.99'¦'S0000'¦'9.99EEEE'¦'FM999,999.0'¦'$9,999PR'¦'B99.9MI'»)
ROUND(x, 1) = ROUND(y, 1)
SAFE_ADD(x, y)
SAFE_SUBTRACT(x, y)
SAFE_MULTIPLY(x, 1e300)
SAFE_DIVIDE(y, x)
SIGN(x) * ABS(y)
SQRT(ABS(x))
TRUNC(x / 3, 2)
SAFE.LOG(x, 10)
FORMAT("%'.3f|%+e|%08.2f|%g", x, y, y, y)
TO_JSON_STRING(STRUCT(x, y, [x] AS l))
TO_JSON(STRUCT(y))
CAST(CAST(y AS STRING) AS FLOAT64) = y
IS_NAN(x) OR IS_INF(y)
GREATEST(x, y, 0) - LEAST(x, y, 0)
IF(x > y, 'more', IF(x = y, 'same', 'less'))
SAFE_CAST(x AS INT64)
SAFE_CAST(y AS NUMERIC)
--- each row of numerics
d * e - e
SAFE_DIVIDE(d, e) * 2
ROUND(SAFE_DIVIDE(d, 3), 2)
SAFE.POW(d, 2)
SAFE.SQRT(d)
MOD(d, 1)
CAST(d AS STRING FORMAT «'9,999,999.999'¦'S99'¦'0.0EEEE'»)
FORMAT('%.2f|%t|%T', d, d, e)
TO_JSON_STRING(STRUCT(d, [e] AS l))
CAST(CAST(d AS FLOAT64) AS NUMERIC) = d
TRUNC(d, 1) + CEIL(e) + FLOOR(d / 2)
--- each row of ints
CAST(i AS STRING FORMAT «'9,999,999'¦'XXXXXXXX'¦'09999MI'¦'9.9EEEE'»)
SAFE_ADD(i, j)
SAFE_MULTIPLY(i, j)
SAFE_NEGATE(i)
SAFE.DIV(i, j)
i & 255 | j << 2
SAFE_DIVIDE(i, j)
FORMAT("%'d|%08d|%x|%o", i, j, j, j)
TO_JSON_STRING(STRUCT(i, [j] AS l))
TO_HEX(CAST(CAST(i AS STRING) AS BYTES))
SAFE_CAST(CAST(i AS STRING) AS INT64) = i
CONCAT(i, '/', j)
i || ':' || j
--- each row of strings
NORMALIZE_AND_CASEFOLD(s, NFKD) = NORMALIZE_AND_CASEFOLD(t, NFKD)
INITCAP(REPLACE(s, '_', ' '))
TO_BASE64(SHA512(s))
MOD(ABS(FARM_FINGERPRINT(s)), 10)
SAFE_CONVERT_BYTES_TO_STRING(REVERSE(CAST(s AS BYTES)))
TO_CODE_POINTS(s)[SAFE_OFFSET(0)]
CODE_POINTS_TO_STRING(ARRAY(SELECT c + 1 FROM UNNEST(TO_CODE_POINTS(s)) AS c))
CODE_POINTS_TO_BYTES(TO_CODE_POINTS(CAST(s AS BYTES)))
SUBSTR(CAST(s AS BYTES), -3, 2)
LEFT(CAST(s AS BYTES), 2) || RIGHT(CAST(s AS BYTES), 1)
SPLIT(CAST(s AS BYTES), b',')
STARTS_WITH(CAST(s AS BYTES), b'a')
REGEXP_REPLACE(CAST(s AS BYTES), b'[aeiou]', b'.')
TRANSLATE(LOWER(s), 'aeiou', '43')
LPAD(s, 8, t)
INSTR(s, t, «1, 2¦-1, 2¦2»)
REGEXP_INSTR(s, '[[:alpha:]]+', 1, 2)
REGEXP_INSTR(s, 'l(l|o)', 1, 1, 1)
REGEXP_EXTRACT(s, r'(\w+)?\s', 1, 2)
SOUNDEX(TRIM(s))
FORMAT('%T', [s, t])
FORMAT('%10s|%-10s|%.3s', s, t, s)
ARRAY_TO_STRING(SPLIT(s, ' '), '-', '?')
ARRAY_LENGTH(SPLIT(s, t))
JSON_VALUE(TO_JSON_STRING(STRUCT(s AS v)), '$.v') = s
STRING(PARSE_JSON(TO_JSON_STRING(s)))
JSON_SET(JSON '{"k":[]}', '$.k[1]', s)
SAFE_CAST(s AS STRING(5))
s LIKE CONCAT('%', t, '%')
--- each row of bodies
SAFE_CAST(JSON_VALUE(s, '$.a') AS NUMERIC)
ARRAY_LENGTH(JSON_QUERY_ARRAY(s, '$.d'))
JSON_VALUE(JSON_QUERY(s, '$.f'), '$.g')
JSON_VALUE(s, «'$.d[2].e'¦'$[0].a'¦'$.a.a.a.a.a'¦'$."a b"'¦'$.0'»)
JSON_EXTRACT_SCALAR(s, "$['a.b']")
TO_JSON_STRING(JSON_SET(SAFE.PARSE_JSON(s), '$.z', 1))
TO_JSON_STRING(JSON_REMOVE(SAFE.PARSE_JSON(s), '$.a', '$.d[0]'))
TO_JSON_STRING(JSON_STRIP_NULLS(SAFE.PARSE_JSON(s), remove_empty => TRUE))
TO_JSON_STRING(SAFE.PARSE_JSON(s, wide_number_mode => 'round'), TRUE)
LAX_INT64(SAFE.PARSE_JSON(s).a)
LAX_STRING(SAFE.PARSE_JSON(s).b)
SAFE.INT64(SAFE.PARSE_JSON(s).a)
JSON_TYPE(SAFE.PARSE_JSON(s)) || '!'
FORMAT('%T', JSON_QUERY(SAFE.PARSE_JSON(s), '$.d'))
REGEXP_EXTRACT(s, r'"a"\s*:\s*([^,}]+)')
--- queries
SELECT method, SAFE_DIVIDE(COUNTIF(status >= 400), COUNT(*)) AS share FROM requests GROUP BY method ORDER BY method;
SELECT method, SAFE_DIVIDE(SUM(cost), COUNT(cost)) AS mean, AVG(cost) AS a FROM requests GROUP BY method ORDER BY method;
SELECT SAFE_CAST(MAX(JSON_VALUE(body, '$.n')) AS FLOAT64) AS n, SAFE.PARSE_JSON(MIN(body)) AS j FROM requests;
SELECT SAFE_DIVIDE(SUM(ms), MAX(status)) AS r, SAFE_MULTIPLY(MAX(bytes), COUNT(*)) AS m FROM requests WHERE id < 6;
SELECT SAFE.LN(SUM(id) - SUM(id)) AS l, SAFE.PARSE_DATE('%F', MAX(path)) AS d FROM requests;
SELECT id, SAFE_DIVIDE(bytes, SUM(bytes) OVER (PARTITION BY method)) AS share FROM requests WHERE id <> 9 ORDER BY id;
SELECT id, SAFE_CAST(LAG(status) OVER (ORDER BY id) AS STRING) AS p FROM requests ORDER BY id;
SELECT FORMAT_TIMESTAMP('%H:%M', TIMESTAMP_TRUNC(ts, MINUTE)) AS m, COUNT(*) AS n, COUNTIF(status >= 500) AS e FROM requests GROUP BY m ORDER BY m;
SELECT REGEXP_EXTRACT(path, r'^/([^/]+)') AS first, COUNT(DISTINCT country) AS c, MAX(LENGTH(path)) AS l FROM requests GROUP BY first ORDER BY first;
SELECT country, STRING_AGG(DISTINCT method, '|' ORDER BY method) AS m, ARRAY_AGG(STRUCT(id, status) ORDER BY id LIMIT 2) AS l FROM requests GROUP BY country ORDER BY country;
SELECT method, VAR_SAMP(ms) AS v, STDDEV_POP(ms) AS s, CORR(ms, bytes) AS c FROM requests WHERE id IN (1, 2, 5, 10, 11) GROUP BY method ORDER BY method;
SELECT method, SUM(bytes HAVING MAX status) AS b, ARRAY_AGG(id HAVING MIN ts) AS l, COUNT(path HAVING MAX country) AS n FROM requests WHERE id <> 9 GROUP BY method ORDER BY method;
SELECT id, PERCENTILE_CONT(bytes, 0.5 RESPECT NULLS) OVER (PARTITION BY method) AS p, PERCENTILE_DISC(status, 0.9 RESPECT NULLS) OVER () AS q FROM requests WHERE id <> 9 ORDER BY id;
SELECT id, JSON_VALUE(body, '$.ok') AS ok, TO_JSON_STRING(STRUCT(id, status, tags)) AS row_text FROM requests ORDER BY id;
SELECT id, TO_JSON(headers) AS h, FORMAT('%T', tags) AS t FROM requests WHERE id < 9 ORDER BY id;
SELECT tag, COUNT(*) AS n, MIN(UPPER(tag)) AS u FROM requests, UNNEST(tags) AS tag GROUP BY tag ORDER BY n DESC, tag;
SELECT (SELECT STRING_AGG(CONCAT(h.name, '=', IFNULL(h.value, '?')), ';' ORDER BY h.name, h.value) FROM UNNEST(headers) AS h) AS all_headers FROM requests ORDER BY id;
SELECT id, (status, method) = (200, 'GET') AS same, (status, method) IN ((200, 'GET'), (404, 'GET')) AS among FROM requests WHERE id < 9 ORDER BY id;
SELECT TIMESTAMP_SECONDS(DIV(UNIX_SECONDS(ts), 300) * 300) AS slot, COUNT(*) AS n FROM requests WHERE ts IS NOT NULL GROUP BY slot ORDER BY slot;
SELECT MAX(ts) - MIN(ts) AS span, EXTRACT(HOUR FROM MAX(ts) - MIN(ts)) AS h FROM requests WHERE id < 13;
SELECT SUM(x) AS s, AVG(x) AS a, CAST(SUM(x) AS STRING) AS t FROM UNNEST([INTERVAL 90 MINUTE, INTERVAL 2 HOUR, NULL]) AS x;
SELECT NET.IP_TO_STRING(NET.IP_TRUNC(NET.SAFE_IP_FROM_STRING(ip), 8)) AS net, COUNT(*) AS n FROM UNNEST(['10.1.2.3', '10.9.9.9', 'x', '192.168.0.1']) AS ip GROUP BY net ORDER BY net;
SELECT NET.IP_TO_STRING(NET.IP_TRUNC(NET.SAFE_IP_FROM_STRING(ip), 48)) AS net FROM UNNEST(['2001:db8:1:2::5', '::1', '::ffff:1.2.3.4', 'fe80::1%eth0']) AS ip;
