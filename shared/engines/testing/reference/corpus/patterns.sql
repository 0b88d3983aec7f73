-- Regular expressions over log lines, and the parts of URLs.
--- each row of lines
REGEXP_CONTAINS(line, r'«\d{3}¦^GET¦(?i)error¦\| 5\d\d \|¦[äöüß]¦\p{L}+¦.*¦^$¦\bselect\b¦a|b¦x.y¦(a|b)=¦\[\d+\.\d+\]»')
NOT REGEXP_CONTAINS(line, r'(?i)(error|fatal)')
REGEXP_EXTRACT(line, r'«\d+¦(\d+)¦^(\w+)¦status=(\d+)¦https?://([^/ ]+)¦relation "([^"]+)"¦(?:user|level)=(\w+)¦took=(.*?) ¦€ (für)¦()¦(x)?GET¦.$¦user=(\w+)?¦^(.)(?:.)¦\S+$»')
REGEXP_EXTRACT(line, r'\w+', «1¦2¦5¦1, 1¦1, 2¦3, 2¦1, 99¦100000»)
REGEXP_SUBSTR(line, r'\d+«', 2¦», '\d»')
REGEXP_EXTRACT_ALL(line, r'«\d+¦(\w+)=¦\w+=(\w*)¦[A-Z]+¦x¦€¦»')
ARRAY_LENGTH(REGEXP_EXTRACT_ALL(line, r'\w+'))
REGEXP_REPLACE(line, r'«\d+¦\s+¦(\w+)=(\w+)¦[^a-zA-Z]¦^¦(?i)select .*¦\|¦»', '«¦#¦x»')
REGEXP_REPLACE(line, r'(\w+)=(\w+)', r'«\2=\1¦<\0>¦\1¦\\¦\3»')
REGEXP_REPLACE(line, r'\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}', 'IP')
REGEXP_INSTR(line, r'«\d+¦x¦€¦$¦^¦=(\w)»')
REGEXP_INSTR(line, r'\d+', «1¦5¦1, 2¦1, 1, 1¦3, 2, 1¦1, 1, 0»)
SAFE_CAST(REGEXP_EXTRACT(line, r'duration: ([\d.]+) ms') AS FLOAT64)
CAST(REGEXP_EXTRACT(line, r' \| (\d{3}) \| ') AS INT64)
TRIM(SPLIT(line, '|')[SAFE_OFFSET(«0¦1¦2¦-1»)])
SPLIT(line, ' | ')
SPLIT(line, '=')[SAFE_OFFSET(1)]
LOWER(REGEXP_EXTRACT(line, r'^[A-Za-z]+'))
STRPOS(line, '|')
SUBSTR(line, STRPOS(line, ':') + 1)
IF(line LIKE '%ERROR%', 'error', IF(line LIKE '%warn%', 'warning', 'info'))
CASE WHEN REGEXP_CONTAINS(line, r'\| 2\d\d \|') THEN 'ok' WHEN REGEXP_CONTAINS(line, r'\| [45]\d\d \|') THEN 'bad' END
line LIKE «'GET%'¦'%items%'¦'%"%'¦'%¦%¦%'¦'%\n%'¦'_%'¦'% %'»
TO_JSON_STRING(line)
--- each row of urls
NET.«HOST¦REG_DOMAIN¦PUBLIC_SUFFIX»(url)
REGEXP_EXTRACT(url, r'«^https?://([^/?#]+)¦://[^/]+(/[^?#]*)¦[?&]limit=(\d+)¦\?(.*)$¦\.(\w+)$¦^(?:[^:/]+:)?//(?:[^@/]*@)?([^:/?#]+)»')
REGEXP_REPLACE(url, r'\?.*$', '')
SPLIT(SPLIT(url, '?')[SAFE_OFFSET(0)], '/')[SAFE_OFFSET(«2¦3»)]
STARTS_WITH(url, 'https://')
REGEXP_CONTAINS(url, r'«/rest¦^https¦example\.co»')
LOWER(NET.HOST(url))
COALESCE(NET.REG_DOMAIN(url), 'none')
--- queries
SELECT text, pattern, REGEXP_INSTR(text, pattern) AS place, REGEXP_INSTR(text, pattern, 2, 2, 1) AS second FROM UNNEST([STRUCT('ab@cd-ef' AS text, '@[^-]*' AS pattern), ('abc-ef', '@[^-]*'), ('abc', ''), (NULL, 'a'), ('a', NULL), ('axbxb', 'x|b'), ('über', '[^a-z]')]);
SELECT REGEXP_CONTAINS('«abc¦ABC¦¦a\nc¦ä»', r'«^a.c$¦(?s)^a.c$¦(?i)abc¦^$¦\w»');
SELECT REGEXP_EXTRACT('ab12cd345', r'«([a-z]+)(\d+)¦(¦[¦a{1001}¦\1¦(?=a)¦(?<x>\d+)¦(?P<x>\d+)¦*¦a**»');
SELECT REGEXP_REPLACE('«abc¦aaa¦¦日本»', r'«a¦b*¦$¦(.)¦x»', r'«-¦\0\0¦\1»');
SELECT «REGEXP_CONTAINS(NULL, 'a')¦REGEXP_CONTAINS('a', NULL)¦REGEXP_EXTRACT('a', NULL)¦REGEXP_EXTRACT(NULL, 'a')¦REGEXP_REPLACE('a', NULL, 'b')¦REGEXP_REPLACE('a', 'a', NULL)¦REGEXP_EXTRACT_ALL(NULL, 'a')¦REGEXP_INSTR(NULL, 'a')¦REGEXP_INSTR('a', NULL)¦REGEXP_CONTAINS(1, '1')¦REGEXP_EXTRACT('a', 'a', 0)¦REGEXP_EXTRACT('a', 'a', 1, 0)¦REGEXP_EXTRACT('aXb', '(a)(b)')¦REGEXP_INSTR('a', 'a', 0)¦REGEXP_EXTRACT(b'abc', b'b.')¦REGEXP_CONTAINS(b'\xff', b'\\xff')»;
SELECT REGEXP_EXTRACT_ALL('a1b22c333', r'«\d+¦[a-z](\d+)¦\d¦z¦(\d)(\d)¦.¦»');
SELECT REGEXP_INSTR('banana', '«an¦a¦n(a)¦z¦»'«¦, 3¦, 1, 2¦, 1, 1, 1»);
SELECT NET.HOST('«http://a.b/c¦HTTP://A.B¦a.b¦//x¦http://¦http:///x¦http://a:1¦http://[::1]/¦  http://a.b  ¦https://a.b?x¦https://a_b.c/¦https://a%2Eb/»');
SELECT NET.REG_DOMAIN('«a.b.co.uk¦http://x.github.io¦com¦a.com¦192.168.0.1¦http://日本.jp¦x.y.unknowntld¦»');
SELECT NET.PUBLIC_SUFFIX('«a.b.co.uk¦http://x.github.io¦com¦localhost¦x.y.unknowntld»');
SELECT h, NET.HOST(h) AS host, NET.REG_DOMAIN(h) AS domain, NET.PUBLIC_SUFFIX(h) AS suffix FROM UNNEST(['EXAMPLE.Com', 'a.b.example.CO.UK', 'co.uk', 'example.com.', 'a.example.com..', '.example.com', '.com', 'com.', 'foo.github.io', 'x.foo.github.io', 'a.localhost', '[::1]', '::1', 'a.www.ck', 'www.ck', 'a.foo.ck', 'a.city.kawasaki.jp', 'a.foo.kawasaki.jp', 'münchen.de', 'xn--mnchen-3ya.de', 'www.食狮.公司.cn', 'a..b.com', 'a..com', '-a.com', 'a_b.com', 'b.s3.amazonaws.com', 'pvt.k12.ma.us', 'ex%61mple.com', 'a b.com', '.', 'a.', 'com..', 'https://x.y.co.uk:80/p?q#f', 'user:pw@h.co.uk', '//a.b.com', '/path/x', 'http://a.b.com.:80/', 'http://[::1]:80/x', 'http://1.2.3.4/', 'http://', 'ftp://foo.co.uk', 'Straße.de', 'abc.supabase.co', 'android-app://com.example.app/', 'mailto:user@host.com', 'about:blank']) AS h;
SELECT NET.REG_DOMAIN(url) AS site, COUNT(*) AS n FROM urls GROUP BY site ORDER BY n DESC, site;
SELECT NET.REG_DOMAIN(CAST(NULL AS STRING)), NET.PUBLIC_SUFFIX(NULL);
SELECT NET.REG_DOMAIN(1);
SELECT h, NET.HOST(h) AS host FROM UNNEST(['[a]b', '[a', 'a]', '[a]:1', '[::1].', 'a.b.:80', 'a:b@c:1', 'a@b@c', 'x://y@z.com..?q', 'a.b \t/x', 'a\nb.com', '\ta.b', 'http:// a.b', 'HTTP+x://a', '1http://a', ':80', '...a...', 'a..', 'a.\u00a0', '@', 'a@', '@a', '//', '///a', 'a#b', '?']) AS h;
SELECT REGEXP_INSTR('abcabc', 'b', 7, -3);
SELECT REGEXP_INSTR('abcabc', 'b', 17, «0¦2»);
SELECT h, NET.HOST(h) FROM UNNEST(['100%_\\x', 'a\\b', 'http:\\\\a\\b', 'a:b://c', 'x y://z', 'a.b://c', 'a:1//c', 'a?b://c', 'a#b://c', ':://c', 'a::b', '[a]b:c', '[a:b]c[d:e]', '[a/b]c', 'a[b:c]', '[a:b', '://a', 'a//b', 'a b//c', '//[a]', 'a:b@[c:d]:1', 'a@b//c', ' x : //a']) h;
SELECT s, t, INSTR(s, t, -1), INSTR(s, t, -2), INSTR(s, t, 1), INSTR(s, t, 3), INSTR(s, t, 1, 2) FROM UNNEST([STRUCT('' AS s, '' AS t), ('abc', ''), ('', 'a'), ('a', 'a'), ('aaa', 'aa'), ('日本', '')]);
SELECT INSTR('abc', '', -1, 2), INSTR('abc', '', 4), INSTR('abc', '', 5), INSTR('abc', '', -4), INSTR('abc', '', -3), INSTR('abc', 'c', -1), INSTR('abc', 'c', -2), INSTR('abcabc', 'bc', -2), INSTR('abcabc', 'bc', -1), INSTR('', '', 1), INSTR('', '', 2), INSTR('', '', -2);
SELECT n, NET.HOST(line), REGEXP_INSTR(line, '') FROM lines ORDER BY n;
