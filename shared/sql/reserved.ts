/** Words that name nothing unless they stand in backticks or after a dot. */
export const reservedWords: ReadonlySet<string> = new Set(
  `ALL AND ANY ARRAY AS ASC ASSERT_ROWS_MODIFIED AT BETWEEN BY CASE CAST COLLATE CONTAINS CREATE CROSS CUBE
  CURRENT DEFAULT DEFINE DESC DISTINCT ELSE END ENUM ESCAPE EXCEPT EXCLUDE EXISTS EXTRACT FALSE FETCH FOLLOWING
  FOR FROM FULL GROUP GROUPING GROUPS HASH HAVING IF IGNORE IN INNER INTERSECT INTERVAL INTO IS JOIN LATERAL LEFT
  LIKE LIMIT LOOKUP MERGE NATURAL NEW NO NOT NULL NULLS OF ON OR ORDER OUTER OVER PARTITION PRECEDING PROTO
  QUALIFY RANGE RECURSIVE RESPECT RIGHT ROLLUP ROWS SELECT SET SOME STRUCT TABLESAMPLE THEN TO TREAT TRUE
  UNBOUNDED UNION UNNEST USING WHEN WHERE WINDOW WITH WITHIN`.split(/\s+/),
)

/** Reserved words that are functions too, where a parenthesis follows. */
export const reservedFunctions: ReadonlySet<string> = new Set(['GROUPING', 'IF', 'LEFT', 'RIGHT'])

/** What GoogleSQL knows and this front end does not, by the word or symbol that gives it away. */
export const unsupported: ReadonlyMap<string, string> = new Map([
  ['|>', 'pipe syntax is not supported'],
  ['?', 'parameters need a name: write @name'],
  ['{', 'braces are not supported'],
  ['COLLATE', 'COLLATE is not supported'],
  ['FETCH', 'FETCH is not supported: write LIMIT'],
  ['FOR', 'FOR SYSTEM_TIME is not supported'],
  ['GROUPING', 'GROUPING SETS is not supported'],
  ['LATERAL', 'LATERAL is not supported'],
  ['MATCH_RECOGNIZE', 'MATCH_RECOGNIZE is not supported'],
  ['NATURAL', 'NATURAL JOIN is not supported'],
  ['NEW', 'NEW is not supported'],
  ['PIVOT', 'PIVOT is not supported'],
  ['RANGE', 'RANGE values are not supported'],
  ['TABLESAMPLE', 'TABLESAMPLE is not supported'],
  ['UNPIVOT', 'UNPIVOT is not supported'],
])

/** What `INTERVAL` and `EXTRACT` count in. */
export const intervalParts: ReadonlySet<string> = new Set(
  'YEAR QUARTER MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND NANOSECOND'.split(' '),
)

export const extractParts: ReadonlySet<string> = new Set([
  ...intervalParts,
  ...'DATE DATETIME DAYOFWEEK DAYOFYEAR ISOWEEK ISOYEAR TIME'.split(' '),
  ...'SUNDAY MONDAY TUESDAY WEDNESDAY THURSDAY FRIDAY SATURDAY'.split(' ').map(day => `WEEK(${day})`),
])
