import { expect, test } from '@jest/globals'
import type { EngineError } from '../engine.ts'
import { describeDuckDb, plenty } from '../testing/describe-engines.ts'

describeDuckDb('the end of a run', {}, ({ engine }) => {
  test('at any time leaves it all its rows or none', async () => {
    const sql = 'SELECT x FROM UNNEST(GENERATE_ARRAY(1, 3000)) AS x'
    const outcomes = Array.from({ length: 60 }, async (_, delay) => {
      const abort = new AbortController()
      setTimeout(() => abort.abort(), delay)
      return engine()
        .run({ sql, bindings: [] }, { ...plenty, signal: abort.signal })
        .then(({ rows }) => rows.length)
        .catch((error: EngineError) => error.reason)
    })
    for (const outcome of await Promise.all(outcomes)) expect([3000, 'cancelled']).toContain(outcome)
  })

  test('does not come at once if set for later than timers reach', async () => {
    const result = await engine().run(
      { sql: 'SELECT 1 AS a', bindings: [] },
      { maxRows: 1, timeoutMs: 2 ** 40 },
    )
    expect(result.rows).toEqual([{ a: 1 }])
  })
})

describeDuckDb(
  'a column of few values',
  { log: [{ name: 'text', type: { kind: 'STRING' } }] },
  ({ append, rows }) => {
    test.each([
      [`SELECT DISTINCT JSON_TYPE(PARSE_JSON(text)) AS v FROM log WHERE STARTS_WITH(text, '{')`, 'object'],
      [`SELECT MAX(IF(text = '7', PARSE_NUMERIC(text), 0)) AS v FROM log`, '7'],
      [`SELECT COUNT(*) AS v FROM log WHERE IF(text LIKE '{%', BOOL(PARSE_JSON(text).a), FALSE)`, 1000],
    ])('is computed with only where a query asks for it: %s', async (sql, value) => {
      const texts = ['{"a":true}', 'plain', '7']
      if ((await rows('SELECT text FROM log LIMIT 1')).length === 0)
        await append(
          'log',
          Array.from({ length: 3000 }, (_, at) => ({ text: texts[at % 3]! })),
        )
      expect(await rows(sql)).toEqual([{ v: value }])
    })
  },
)
