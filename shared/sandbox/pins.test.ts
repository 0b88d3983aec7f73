/** A key with pins may send its own SQL to an endpoint only if every table there filters by each pin. */
import { describe, expect, test } from '@jest/globals'
import { ApiError } from '../errors.ts'
import { assertPinsHold } from './pins.ts'
import { savedQuery } from './testing/endpoints.ts'

function refusalOf(sql: string, pins: Record<string, string>): string | null {
  try {
    assertPinsHold({ sql }, pins)
    return null
  } catch (error) {
    if (error instanceof ApiError && error.code === 'sandbox_violation') return error.message
    throw error
  }
}

const holds = (table: string) =>
  refusalOf(`WITH t AS (${table}) SELECT 1`, { project: 'secret-value' }) === null

describe('a table filters by a pin where', () => {
  test.each([
    'SELECT id FROM logs WHERE project = @project',
    'SELECT id FROM logs AS t WHERE t.project = @project',
    'SELECT id FROM `a.b.c` AS t WHERE @project = t.project',
    'SELECT id FROM a.b.logs WHERE logs.project = @project',
    'SELECT id FROM logs AS t WHERE t.time > @from AND (t.project = @project AND t.level = 1)',
    'SELECT id FROM logs AS t WHERE (t.project = @project) AND (t.a OR t.b)',
    'SELECT id FROM logs AS t WHERE t.meta.project = @project',
    'SELECT id FROM logs AS t CROSS JOIN UNNEST(t.metadata) AS m CROSS JOIN UNNEST(m.request) AS r WHERE r.p = @project',
    'SELECT id FROM logs AS t LEFT JOIN UNNEST(t.metadata) AS m ON TRUE WHERE m.project = @project',
    'SELECT id FROM logs, UNNEST(metadata) AS m WHERE m.project = @project',
    'SELECT id FROM logs AS t WHERE EXISTS (SELECT 1 FROM UNNEST(t.metadata) AS m WHERE m.project = @project)',
    'SELECT id FROM logs WHERE EXISTS (SELECT 1 FROM UNNEST(metadata) AS m WHERE project = @project)',
    'SELECT id FROM logs AS t WHERE EXISTS (SELECT NULL FROM UNNEST(t.projects) AS p WHERE p = @project AND TRUE)',
    'SELECT id FROM logs AS t WHERE EXISTS (SELECT 1 FROM UNNEST(t.m) AS m, UNNEST(m.r) AS r WHERE r.p = @project)',
    'SELECT project, COUNT(*) FROM logs WHERE project = @project GROUP BY project',
    'SELECT a FROM (SELECT id, level FROM logs WHERE project = @project) PIVOT (COUNT(id) FOR level IN (1 AS a))',
    'SELECT v FROM (SELECT a, b FROM logs WHERE project = @project) AS x UNPIVOT (v FOR k IN (x.a, x.b)) AS y',
    'SELECT id FROM a WHERE p = @project FULL OUTER UNION ALL BY NAME SELECT n FROM b WHERE b.p = @project',
    'FROM logs |> WHERE project = @project |> SELECT id, level |> PIVOT (COUNT(id) FOR level IN (1 AS a))',
    'FROM logs |> WHERE project = @project |> AGGREGATE COUNT(*) AS n GROUP BY level',
    'SELECT level FROM logs WHERE project = @project GROUP BY GROUPING SETS (level, ())',
    'SELECT id FROM (SELECT id FROM logs WHERE project = @project) WHERE id > 1 OR id < 1',
    'SELECT id FROM a WHERE p = @project UNION ALL SELECT id FROM b WHERE p = @project',
    'SELECT a.id FROM a JOIN b USING (id) WHERE a.project = @project AND b.project = @project',
    'SELECT id FROM a WHERE a.p = @project AND a.id IN (SELECT b.id FROM b WHERE b.p = @project)',
    'WITH u AS (SELECT id FROM logs WHERE project = @project) SELECT id FROM u',
    "SELECT 'debug' AS level UNION ALL SELECT 'info'",
  ])('it is %s', table => {
    expect(holds(table)).toBe(true)
  })
})

describe('a table does not filter by a pin where', () => {
  test.each([
    ['there is no condition', 'SELECT id FROM logs'],
    ['the parameter is another', 'SELECT id FROM logs WHERE project = @other'],
    ['the parameter is spelled another way', 'SELECT id FROM logs WHERE project = @PROJECT'],
    ['the condition is one of several', 'SELECT id FROM logs WHERE project = @project OR level = 1'],
    ['an OR stands above the AND', 'SELECT id FROM logs WHERE (project = @project AND a) OR b'],
    ['the condition is negated', 'SELECT id FROM logs WHERE NOT project = @project'],
    ['the condition is negated twice', 'SELECT id FROM logs WHERE NOT (NOT project = @project)'],
    ['the condition is an inequality', 'SELECT id FROM logs WHERE project != @project'],
    ['the condition is a range', 'SELECT id FROM logs WHERE project >= @project'],
    ['the pin is compared with itself', 'SELECT id FROM logs WHERE @project = @project'],
    ['the pin is compared with a constant', "SELECT id FROM logs WHERE 'a' = @project"],
    ['the column is compared with itself', 'SELECT id FROM logs WHERE project = project'],
    ['the column stands in a function', 'SELECT id FROM logs WHERE LOWER(project) = @project'],
    ['the column is a constant', "SELECT id FROM logs WHERE IFNULL(project, '') = @project"],
    ['the pin stands in a function', 'SELECT id FROM logs WHERE project = COALESCE(@project, project)'],
    ['the pin is one of a list', "SELECT id FROM logs WHERE project IN (@project, 'other')"],
    ['the pin is a pattern of LIKE', 'SELECT id FROM logs WHERE project LIKE @project'],
    [
      'the pin is part of a pattern',
      "SELECT id FROM logs WHERE REGEXP_CONTAINS(url, CONCAT(@project, '|.'))",
    ],
    ['the pin is searched for', 'SELECT id FROM logs WHERE REGEXP_CONTAINS(url, @project)'],
    ['the pin is searched for safely', 'SELECT id FROM logs WHERE SAFE.REGEXP_CONTAINS(url, @project)'],
    ['a search is compared', 'SELECT id FROM logs WHERE REGEXP_CONTAINS(url, @project) = TRUE'],
    ['the pin is a prefix', 'SELECT id FROM logs WHERE STARTS_WITH(url, @project)'],
    ['the pin has a place in the column', 'SELECT id FROM logs WHERE STRPOS(url, @project) > 0'],
    ['the pin is a bound', 'SELECT id FROM logs WHERE project BETWEEN @project AND @project'],
    [
      'an array of the row is searched',
      'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(t.m) AS m WHERE REGEXP_CONTAINS(m.url, @project))',
    ],
    [
      'one table of two is only searched',
      'SELECT a.id FROM a, b WHERE a.p = @project AND REGEXP_CONTAINS(b.url, @project)',
    ],
    ['the pin is searched in', 'SELECT id FROM logs WHERE REGEXP_CONTAINS(@project, url)'],
    ['the pattern is on a function', "SELECT id FROM logs WHERE REGEXP_CONTAINS(CONCAT(url, ''), @project)"],
    ['a function of a dataset decides', 'SELECT id FROM logs WHERE d.REGEXP_CONTAINS(url, @project)'],
    ['CASE decides', 'SELECT id FROM logs WHERE CASE WHEN a THEN project = @project ELSE TRUE END'],
    ['IF decides', 'SELECT id FROM logs WHERE IF(a, project = @project, TRUE)'],
    ['the condition is compared', 'SELECT id FROM logs WHERE (project = @project) = FALSE'],
    ['the condition is NULL-safe for others', 'SELECT id FROM logs WHERE (project = @project) IS NOT TRUE'],
    ['HAVING has the condition', 'SELECT project FROM logs GROUP BY project HAVING project = @project'],
    ['QUALIFY has the condition', 'SELECT id FROM logs QUALIFY project = @project'],
    ['the select list has the condition', 'SELECT id, project = @project FROM logs'],
    [
      'ON has the condition',
      'SELECT a.id FROM a LEFT JOIN b ON a.project = @project AND b.project = @project',
    ],
    ['a second table does not', 'SELECT b.id FROM a, b WHERE a.project = @project'],
    ['a joined table does not', 'SELECT b.id FROM a JOIN b USING (project) WHERE a.project = @project'],
    ['the column is of one of two tables', 'SELECT id FROM a, b WHERE project = @project'],
    ['an array of constants does', 'SELECT id FROM logs, UNNEST([@project]) AS p WHERE p = @project'],
    ['an array of constants may', 'SELECT id FROM logs, UNNEST([STRUCT(@project AS x)]) WHERE x = @project'],
    [
      'the place in an array does',
      'SELECT id FROM logs AS t, UNNEST(t.m) AS m WITH OFFSET AS o WHERE o = @project',
    ],
    [
      'the filter is behind PIVOT',
      'SELECT id FROM logs PIVOT (COUNT(*) FOR level IN (1 AS a)) WHERE project = @project',
    ],
    [
      'the filter is behind PIVOT with a name',
      'SELECT id FROM logs AS t PIVOT (COUNT(*) FOR level IN (1 AS a)) AS t WHERE t.project = @project',
    ],
    [
      'the filter is behind UNPIVOT',
      'SELECT id FROM logs UNPIVOT (v FOR k IN (a, b)) WHERE project = @project',
    ],
    [
      'PIVOT counts by it',
      'SELECT a FROM logs PIVOT (COUNTIF(project = @project) FOR project IN (@project AS a))',
    ],
    [
      'an aggregate of PIVOT reads another table',
      'SELECT a FROM (SELECT l FROM logs WHERE p = @project) PIVOT (MAX((SELECT MAX(x) FROM b)) FOR l IN (1 AS a))',
    ],
    ['a query by name does not', 'SELECT id FROM a WHERE p = @project UNION ALL BY NAME SELECT id FROM b'],
    [
      'a pipe filters after an aggregate',
      'FROM logs |> AGGREGATE COUNT(*) AS n GROUP BY p |> WHERE p = @project',
    ],
    ['a pipe filters after a PIVOT', 'FROM logs |> PIVOT (COUNT(*) FOR l IN (1 AS a)) |> WHERE p = @project'],
    ['a pipe unites', 'FROM logs |> WHERE p = @project |> UNION ALL (SELECT id FROM b)'],
    [
      'EXISTS makes a row of that name',
      'SELECT id FROM logs AS t WHERE EXISTS (SELECT 1 FROM (SELECT STRUCT(@project AS p) AS t) WHERE t.p = @project)',
    ],
    [
      'EXISTS makes an array with a field of that name',
      'SELECT id FROM logs AS t WHERE EXISTS (SELECT 1 FROM UNNEST([STRUCT(STRUCT(@project AS p) AS t)]) AS m WHERE t.p = @project)',
    ],
    ['one branch does not', 'SELECT id FROM a WHERE p = @project UNION ALL SELECT id FROM b'],
    [
      'the filter is behind a subquery',
      'SELECT id FROM (SELECT id, project FROM logs) WHERE project = @project',
    ],
    ['the filter is behind a CTE', 'WITH u AS (SELECT id, p FROM logs) SELECT id FROM u WHERE p = @project'],
    ['a subquery of it does not', 'SELECT (SELECT MAX(x) FROM b) FROM logs WHERE project = @project'],
    ['a subquery of its WHERE does not', 'SELECT id FROM a WHERE p = @project AND id IN (SELECT id FROM b)'],
    [
      'a subquery filters the row outside',
      'SELECT (SELECT MAX(x) FROM b WHERE t.p = @project) FROM a AS t WHERE t.p = @project',
    ],
    [
      'a subquery may do so',
      'SELECT (SELECT MAX(x) FROM b WHERE p = @project) FROM a AS t WHERE t.p = @project',
    ],
    [
      'a subquery of UNNEST may do so',
      'SELECT 1 FROM a, UNNEST(ARRAY(SELECT x FROM b WHERE p = @project)) WHERE a.p = @project',
    ],
    [
      'a subquery of ORDER BY may do so',
      'SELECT p FROM a WHERE a.p = @project ORDER BY (SELECT MAX(x) FROM b WHERE p = @project)',
    ],
    [
      'EXISTS counts',
      'SELECT id FROM t WHERE EXISTS (SELECT COUNT(*) FROM UNNEST(t.m) AS m WHERE m.p = @project)',
    ],
    ['EXISTS is of another table', 'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.p = @project)'],
    [
      'EXISTS has OR',
      'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(t.m) AS m WHERE m.p = @project OR m.q)',
    ],
    [
      'EXISTS is negated',
      'SELECT id FROM t WHERE NOT EXISTS (SELECT 1 FROM UNNEST(t.m) AS m WHERE m.p = @project)',
    ],
    [
      'EXISTS has two branches',
      'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(t.m) AS m WHERE m.p = @project UNION ALL SELECT 1)',
    ],
    [
      'EXISTS groups',
      'SELECT id FROM t WHERE EXISTS (SELECT 1 FROM UNNEST(t.m) AS m WHERE m.p = @project GROUP BY ROLLUP (m))',
    ],
  ])('%s', (_, table) => {
    expect(holds(table)).toBe(false)
  })
})

describe('an endpoint', () => {
  test('holds where each of its tables reads tables of its own that filter', () => {
    const sql = `WITH a AS (SELECT id FROM logs WHERE p = @p), b AS (SELECT id FROM a), c AS (SELECT 1 FROM a, b)
      SELECT 1`
    expect(refusalOf(sql, { p: 'x' })).toBeNull()
  })

  test('does not hold where one of many tables does not filter, even one that is not used', () => {
    const sql = 'WITH a AS (SELECT id FROM x WHERE p = @p), b AS (SELECT id FROM y) SELECT id FROM a'
    expect(refusalOf(sql, { p: 'x' })).toMatch(/table b does not filter by it/)
  })

  test('does not hold where a table is read before it is defined, which makes it another', () => {
    const sql = 'WITH a AS (SELECT id FROM b), b AS (SELECT id FROM y WHERE p = @p) SELECT id FROM a'
    expect(refusalOf(sql, { p: 'x' })).toMatch(/table a /)
  })

  test('holds for each pin or not at all', () => {
    const sql = 'WITH a AS (SELECT id FROM x WHERE p = @p AND q = @q) SELECT id FROM a'
    expect(refusalOf(sql, { p: 'x', q: 'y' })).toBeNull()
    expect(refusalOf(sql, { p: 'x', r: 'y' })).toMatch(/fixes @r/)
    expect(refusalOf(sql, {})).toBeNull()
  })

  test('is not judged by its final query, which callers do not reach', () => {
    expect(refusalOf('WITH a AS (SELECT id FROM x WHERE p = @p) SELECT id FROM y', { p: 'x' })).toBeNull()
  })

  test('says which parameter and which table, never the value or the real table', () => {
    const message = refusalOf('WITH a AS (SELECT id FROM `real.table`) SELECT id FROM a', {
      p: 'secret-value',
    })
    expect(message).toMatch(/@p.*table a /)
    expect(message).not.toMatch(/secret-value|real\.table/)
  })

  test('logs.all holds for a pinned project', () => {
    expect(refusalOf(savedQuery('logs.all'), { project: 'x' })).toBeNull()
  })

  test('usage.api-counts does not hold for a pinned project, which it searches for in the URL', () => {
    expect(refusalOf(savedQuery('usage.api-counts'), { project: 'x' })).toMatch(/requests.*column = @project/)
  })

  test('logs.all does not hold for a pinned time, for which it has only a bound', () => {
    expect(refusalOf(savedQuery('logs.all'), { iso_timestamp_start: 'x' })).toMatch(/edge_logs/)
  })
})
