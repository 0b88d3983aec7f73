import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from '@jest/globals'
import type { EngineError } from '../engine.ts'
import { describeDuckDb, plenty } from '../testing/describe-engines.ts'

/** Takes minutes: joins ten thousand rows four times over. */
const endless = `SELECT COUNT(*) FROM ${['a', 'b', 'c', 'd']
  .map(name => `UNNEST(GENERATE_ARRAY(1, 10000)) AS ${name}`)
  .join(' CROSS JOIN ')} WHERE MOD(a * b + c * d, 7) = 3`

describeDuckDb('the end of a run', {}, ({ engine, value, failure }) => {
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

  test('comes also while it waits for other runs', async () => {
    const abort = new AbortController()
    const others = Array.from({ length: 3 }, () => failure(endless, [], { signal: abort.signal }))
    await sleep(50)
    const started = performance.now()
    expect(await failure('SELECT 1', [], { timeoutMs: 100 })).toMatchObject({ reason: 'overloaded' })
    expect(performance.now() - started).toBeLessThan(5_000)
    abort.abort()
    expect((await Promise.all(others)).map(error => error.reason)).toEqual(Array(3).fill('cancelled'))
    expect(await value('1')).toBe(1)
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
