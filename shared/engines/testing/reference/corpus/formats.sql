-- Times as text and back, and FORMAT.
--- each row of times
FORMAT_TIMESTAMP('%«A¦a¦B¦b¦C¦c¦D¦d¦e¦F¦G¦g¦H¦h¦I¦j¦k¦l¦M¦m¦n¦P¦p¦Q¦R¦S¦s¦T¦t¦U¦u¦V¦W¦w¦X¦x¦Y¦y¦Z¦z¦%¦E3S¦E6S¦E0S¦E*S¦E4Y¦Ez¦E3f¦EY¦Od¦f¦i¦L¦q¦»', ts)
FORMAT_TIMESTAMP('«%Y-%m-%d %H:%M:%S¦%Y-%m-%dT%H:%M:%E3SZ¦%b %d, %H:%M¦%d/%b/%Y:%H:%M:%S %z¦%G-W%V-%u¦¦text ü %%¦%H:00¦%Y-%m-%d %H:00:00»', ts)
FORMAT_TIMESTAMP('«%F %T %Z¦%z¦%Ez¦%H¦%A»', ts, «'Europe/Berlin'¦'America/New_York'¦'+05:30'¦'UTC'»)
--- each row of dates
FORMAT_DATE('%«A¦a¦B¦b¦C¦D¦d¦e¦F¦G¦g¦j¦m¦Q¦U¦u¦V¦W¦w¦x¦Y¦y¦E4Y¦h¦c¦H»', d)
FORMAT_DATE('«%Y-W%V¦%b %Y¦%d.%m.%y»', d)
--- each row of datetimes
FORMAT_DATETIME('«%F %T¦%c¦%E6S¦%E*S¦%I:%M %p¦%s¦%Z¦%A %j¦%x %X»', d)
--- each row of clocks
FORMAT_TIME('«%T¦%H:%M¦%E3S¦%E*S¦%I %p¦%R¦%X¦%k¦%Y»', c)
--- each row of ints
FORMAT("%'d", i)
FORMAT('%«d¦i¦o¦x¦X¦+d¦ d¦05d¦-6d|¦6d|¦t¦T¦#x¦d%%¦,d¦2d»', i)
FORMAT('%d/%d', i, j)
FORMAT('%*d', 6, i)
CAST(i AS STRING FORMAT '«999¦000¦9,999¦S999»')
--- each row of floats
FORMAT('%«f¦.2f¦.0f¦e¦E¦.3e¦g¦G¦.3g¦10.1f|¦-10.1f|¦+.1f¦010.2f¦t¦T¦.10g»', x)
FORMAT("%'.2f", x)
--- each row of numerics
FORMAT('%«f¦.2f¦t¦T¦e¦g»', d)
FORMAT("%'.2f", d)
--- queries
SELECT FORMAT('«%t¦%T¦%f¦%g¦%e¦%5.1f|¦%.0f¦%+g»', «-0.0¦-0.04¦CAST('-0' AS FLOAT64)»);
SELECT FORMAT('%t %T', [0.0, -0.0], STRUCT(-0.0)), CAST(-0.0 AS STRING), CONCAT(ROUND(-0.4));
SELECT PARSE_TIMESTAMP('%Y-%m-%d %H:%M:%S', '«2024-03-31 02:30:00¦2024-3-1 1:2:3¦2024-03-31¦2024-03-31 02:30:00 ¦ 2024-03-31 02:30:00¦2024-13-31 00:00:00¦x¦¦2024-02-30 00:00:00¦2024-03-31 24:00:00¦2024-03-31 23:59:60»');
SELECT PARSE_TIMESTAMP('«%FT%TZ', '2024-03-31T02:30:00Z¦%FT%H:%M:%E*S%Ez', '2024-03-31T02:30:00.123456+02:00¦%FT%H:%M:%E*S%Ez', '2024-03-31T02:30:00.5Z¦%F %T%z', '2024-03-31 02:30:00+0200¦%F %T %Z', '2024-03-31 02:30:00 Europe/Berlin¦%s', '1710408413¦%s', '-1¦%d/%b/%Y:%H:%M:%S %z', '31/Mar/2024:02:30:00 -0700¦%a %b %e %T %Y', 'Sun Mar 31 02:30:00 2024¦%H:%M', '02:30¦%Y', '2024¦%m/%d/%y', '03/31/24¦%m/%d/%y', '03/31/70¦%j %Y', '091 2024¦%I:%M %p', '02:30 PM¦%c', 'Sun Mar 31 02:30:00 2024¦%D', '03/31/24¦%R', '02:30¦%Y%m%d', '20240331¦%Q', '1¦%U', '13¦%F', '2024-03-31 x¦%F %%', '2024-03-31 %¦%E4Y-%m', '2024-03¦%F%n%T', '2024-03-31  02:30:00¦%k:%M', ' 2:30¦%l %P', '2 pm¦%C%y', '2024¦%Y-%m-%d %H:%M:%E3S', '2024-03-31 02:30:00.123456¦%B %d, %Y', 'march 31, 2024¦%x¦%Y-%m-%dT%H:%M:%SZ', '2024-03-31T02:30:00Z»');
SELECT PARSE_TIMESTAMP('%F %T', '«2024-03-31 02:30:00¦2024-10-27 02:30:00¦2024-07-01 12:00:00»', '«Europe/Berlin¦America/New_York¦+01:00¦Moon/Base»');
SELECT SAFE.PARSE_TIMESTAMP('%F %T', '«x¦2024-03-31¦2024-03-31 02:30:00»');
SELECT PARSE_DATE('«%F', '2024-02-29¦%F', '2023-02-29¦%Y%m%d', '20240229¦%d %B %Y', '29 February 2024¦%m/%d/%y', '02/29/24¦%Y', '2024¦%m', '02¦%x', '02/29/24¦%F', '2024-02-29 12:00:00¦%A, %F', 'Monday, 2024-02-29¦%j', '60¦%F', '¦%s', '0¦%Q %Y', '3 2024»');
SELECT PARSE_DATETIME('«%F %T', '2024-02-29 12:34:56¦%FT%T', '2024-02-29T12:34:56¦%c', 'Thu Feb 29 12:34:56 2024¦%F %T%z', '2024-02-29 12:34:56+02¦%H', '12¦%F %I:%M:%S %p', '2024-02-29 12:34:56 AM¦%Y-%m-%d %H:%M:%E*S', '2024-02-29 12:34:56.789»');
SELECT PARSE_TIME('«%T', '12:34:56¦%H:%M', '12:34¦%I:%M %p', '12:34 PM¦%E*S', '56.789¦%H', '24¦%F', '2024-01-01¦%H:%M:%E3S', '12:34:56.7»');
SELECT FORMAT(«'%s', 'a'¦'%s', 1¦'%d', 1.5¦'%d', 'a'¦'%t', NULL¦'%T', NULL¦'%s', NULL¦'%d', NULL¦'%t', [1, 2]¦'%T', [1, NULL]¦'%T', 'it\'s'¦'%T', b'a\xff'¦'%T', DATE '2024-01-01'¦'%T', STRUCT(1, 'a')¦'%t', STRUCT(1 AS a, 'b' AS b)¦'%T', NUMERIC '1.50'¦'%T', 1.0¦'%T', 1e30¦'%T', CAST('NaN' AS FLOAT64)¦'%t', TRUE¦'%%'¦'%'¦'%s'¦'%s', 'a', 'b'¦'%y', 1¦'%p', JSON '{"a":1}'¦'%P', JSON '{"a":1}'¦'%5s|%-5s|', 'ä', 'b'¦'%.2s', 'äöü'¦'%s %d%%', 'x', 5¦'%i', -5¦'%x', -255¦'%o', 8¦"%'d", 1234567¦'%f', 1¦'%e', 12345¦'%g', 0.0001¦'%t', JSON '[1, 2]'¦'%T', TIMESTAMP '2024-01-01'¦'%T', INTERVAL 1 DAY¦'%c', 65¦NULL, 1¦'no', 1¦''»);
SELECT CAST(TIMESTAMP '2024-03-05 14:07:09.123456' AS STRING FORMAT '«YYYY-MM-DD¦YYYY-MM-DD HH24:MI:SS¦HH12:MI AM¦DAY¦Day¦DY¦MON¦Month¦D¦DDD¦Q¦YY¦FF3¦SSSSS¦TZH:TZM¦"year" YYYY¦RR¦bad»');
SELECT CAST('«2024-03-05¦05/03/2024¦x»' AS DATE FORMAT '«YYYY-MM-DD¦DD/MM/YYYY»');
SELECT CAST('«2024-03-05 14:07:09¦2024-03-05»' AS TIMESTAMP FORMAT 'YYYY-MM-DD HH24:MI:SS');
SELECT CAST(«123.456¦-1¦0¦1234567» AS STRING FORMAT '«999.99¦9,999,999¦$999¦000¦9.99EEEE¦S999¦999MI»');
SELECT «FORMAT_TIMESTAMP('%F', '2024-03-31')¦FORMAT_TIMESTAMP('%F', DATE '2024-03-31')¦FORMAT_TIMESTAMP('%F', NULL)¦FORMAT_TIMESTAMP(NULL, TIMESTAMP '2024-03-31')¦FORMAT_DATE('%F', '2024-03-31')¦FORMAT_DATE('%H', DATE '2024-03-31')¦FORMAT_DATETIME('%F', '2024-03-31 00:00:00')¦FORMAT_DATETIME('%F', TIMESTAMP '2024-03-31 00:00:00')¦FORMAT_TIME('%H', '12:00:00')¦FORMAT_DATE('%F', TIMESTAMP '2024-03-31 00:00:00')¦FORMAT_TIMESTAMP('%F', TIMESTAMP '2024-03-31', 'Nowhere')¦FORMAT_TIMESTAMP('%F')¦FORMAT_TIMESTAMP('constructor', TIMESTAMP '2024-03-31')»;
SELECT DISTINCT FORMAT_TIMESTAMP('%Y-%m-%d %H:%M', TIMESTAMP_TRUNC(ts, MINUTE)) AS label FROM requests ORDER BY label;
--- each row of ints
FORMAT("%.5d|%8.3d|%-8.3d|%+.3d|%08.3d|% .3d|%.*d", i, i, i, i, i, i, 4, i)
FORMAT("%.5x|%.3o|%08.4X", i, i, i)
FORMAT("%08x|%04X|%#08x|%+09x|%06o", i, i, i, i, i)
