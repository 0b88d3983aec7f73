-- Functions of strings and bytes.
--- each row of strings
«UPPER¦LOWER¦INITCAP¦LENGTH¦CHAR_LENGTH¦BYTE_LENGTH¦OCTET_LENGTH¦REVERSE¦TRIM¦LTRIM¦RTRIM¦ASCII¦UNICODE¦NORMALIZE¦NORMALIZE_AND_CASEFOLD¦TO_CODE_POINTS»(s)
NORMALIZE(s, «NFC¦NFD¦NFKC¦NFKD»)
«TRIM¦LTRIM¦RTRIM»(s, t)
«TRIM¦LTRIM¦RTRIM»(s, 'aeßx ')
«CONCAT(s, t)¦s || t¦CONCAT(s, '-', t)¦s || '-' || t¦CONCAT(s)»
«STARTS_WITH¦ENDS_WITH¦STRPOS¦INSTR»(s, t)
INSTR(s, t, «1¦2¦-1¦-2¦1, 2¦-1, 2¦3, 1»)
SUBSTR(s, «0¦1¦2¦3¦-1¦-2¦-100¦100¦1, 0¦1, 1¦2, 2¦-2, 1¦0, 2¦-100, 3¦1, 100»)
SAFE.SUBSTR(s, 1, -1)
«LEFT¦RIGHT»(s, «0¦1¦3¦100»)
«LPAD¦RPAD»(s, «0¦2¦8¦8, '*'¦8, 'ab'¦12, 'ß'»)
REPEAT(s, «0¦1¦2»)
REPLACE(s, t, «''¦'#'¦'aa'»)
REPLACE(s, '', '#')
SPLIT(s«¦, ','¦, ' '¦, ''¦, 'll'»)
SPLIT(s, t)
SPLIT(s, ',')[«OFFSET(0)¦SAFE_OFFSET(0)¦SAFE_OFFSET(2)¦SAFE_ORDINAL(1)¦SAFE_ORDINAL(9)¦SAFE_OFFSET(-1)¦0»]
ARRAY_LENGTH(SPLIT(s, ','))
TRANSLATE(s, «'abc', 'xyz'¦'abc', 'x'¦'äÖ ', 'ao_'»)
s LIKE «'a%'¦'%a%'¦'_'¦'___'¦'%'¦''¦'%\\%%'¦'%ß%'¦'%\n%'¦'%_\\\\x'»
s NOT LIKE '%a%'
s LIKE t
s LIKE CONCAT('%', t, '%')
s «=¦!=¦<¦<=¦>¦>=» t
s «=¦<» «''¦'abc'¦'ä'¦'Z'»
s IN ('abc', 'aaa', t)
s BETWEEN 'A' AND 'a'
«GREATEST¦LEAST¦NULLIF¦IFNULL¦COALESCE»(s, t)
COALESCE(NULLIF(TRIM(s), ''), 'none')
«MD5¦SHA1¦SHA256¦SHA512»(s)
TO_HEX(«MD5¦SHA1¦SHA256»(s))
«TO_BASE64¦TO_HEX»(CAST(s AS BYTES))
FARM_FINGERPRINT(s)
FROM_BASE64(TO_BASE64(CAST(s AS BYTES)))
SAFE_CONVERT_BYTES_TO_STRING(CAST(s AS BYTES))
SAFE_CONVERT_BYTES_TO_STRING(SUBSTR(CAST(s AS BYTES), 2))
LENGTH(CAST(s AS BYTES))
«REVERSE¦UPPER¦LOWER»(CAST(s AS BYTES))
SUBSTR(CAST(s AS BYTES), 2, 3)
CODE_POINTS_TO_STRING(TO_CODE_POINTS(s))
UPPER(LOWER(s)) = UPPER(s)
LOWER(LEFT(s, 3)) || '…' || RIGHT(s, 2)
IF(LENGTH(s) > 5, CONCAT(LEFT(s, 5), '...'), s)
FORMAT('%«s¦t¦T¦10s¦-10s¦.3s»', s)
TO_JSON_STRING(s)
--- queries
SELECT CHR(«65¦0¦228¦128512¦-1¦1114112¦NULL»);
SELECT CODE_POINTS_TO_STRING(«[65, 255, 513, 1024]¦[]¦[97, NULL]¦[-1]¦NULL»), 1;
SELECT CODE_POINTS_TO_BYTES(«[65, 255]¦[256]¦[]»);
SELECT «SUBSTR('abc', 2, -1)¦LEFT('abc', -1)¦RIGHT('abc', -1)¦REPEAT('a', -1)¦LPAD('a', -1)¦LPAD('a', 3, '')¦SPLIT('a', NULL)¦SPLIT(NULL)¦TRANSLATE('a', 'aa', 'bc')¦INSTR('a', 'a', 0)¦INSTR('banana', 'an', 1, 0)¦UPPER(1)¦LENGTH(1)¦CONCAT(1, 'a')¦'a' || 1¦STARTS_WITH('a', 1)¦TRIM('a', 1)¦SPLIT('a,b', ',')[OFFSET(2)]¦SPLIT('a')[ORDINAL(0)]¦REPLACE('a', 'b')¦ASCII('é')¦INITCAP()»;
SELECT FROM_«HEX¦BASE64»('«¦00ff¦4142¦YWJj¦zz¦YQ¦YQ==¦A»');
SELECT SAFE.FROM_«HEX¦BASE64»('«zz¦abc¦YWJj¦%»');
SELECT «'it''s'¦'a\'b'¦"a'b"¦r'\d+\n'¦'''a
b'''¦'\u00e9\U0001F600'¦'\x41\101'¦b'\x00\xff'¦rb'\x'¦'tab\tend'¦"quote\"inside"¦''¦r"\""»;
SELECT INITCAP('«hello world¦HELLO-wORLD¦a1b c_d¦ßig¦éa éb¦x.y,z»');
SELECT INITCAP('hello-world foo_bar', '«-¦_¦ -_¦¦o»');
SELECT «'a' < 'B'¦'a' = 'A'¦'ä' > 'z'¦'' < 'a'¦'Z' < 'a'¦'a' < 'aa'¦'é' = 'e\u0301'¦'\u0000' < 'a'»;
SELECT «'abc' LIKE 'a_c'¦'a%c' LIKE 'a\\%c'¦'abc' LIKE 'a\\%c'¦'abc' LIKE 'abc\\'¦'ABC' LIKE 'abc'¦'a\nb' LIKE 'a_b'¦'😀' LIKE '_'¦NULL LIKE 'a'¦'a' LIKE NULL¦b'ab' LIKE b'a%'¦1 LIKE '1'»;
SELECT UPPER('«ß¦ŉ¦ǆ¦ﬁ¦ı¦i¦ÿ¦ΐ¦ς¦straße»');
SELECT LOWER('«İ¦ẞ¦Σ¦ΑΣ¦Ǆ¦K¦Å¦ÀÉ»');
SELECT NORMALIZE('«ﬁ¦e\u0301¦Å¦①¦Ａ»', «NFC¦NFD¦NFKC¦NFKD»);
SELECT STRING_AGG(DISTINCT UPPER(c), '' ORDER BY UPPER(c)) FROM UNNEST(['b', 'a', 'B', 'ü']) AS c;
SELECT REVERSE('«abc¦e\u0301¦a😀¦»');
SELECT LENGTH('«😀¦e\u0301¦日本»');
SELECT BYTE_LENGTH('«😀¦é»');
SELECT SAFE_CONVERT_BYTES_TO_STRING(b'«\xc2¦abc¦\xff\xfe¦\xc3\xa4»');
SELECT FARM_FINGERPRINT('«¦a¦hello world¦日本語»');
SELECT FARM_FINGERPRINT(b'\xff');
--- queries
SELECT '\uFEFFabc' AS x, LENGTH('\uFEFFabc') AS n, UPPER('\uFEFFabc') AS u, ['\uFEFFa'] AS l, STRUCT('\uFEFFa' AS b) AS s, '\uFEFF' AS o, 'a\uFEFF' AS p;
SELECT x, LENGTH(x), TO_JSON_STRING(x), SUBSTR(x, 1, 1), INITCAP(x), TO_HEX(CAST(x AS BYTES)), FORMAT('%T', x), TO_JSON(x), JSON_VALUE(CONCAT('{"a":"', x, '"}'), '$.a') FROM UNNEST(['\uFEFFé', '\uFEFF', 'a\uFEFF', '\uFEFF\uFEFFx']) AS x;
