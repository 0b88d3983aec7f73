import { readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { apply } from '../apply/apply.ts'
import { readQueries } from '../apply/read.ts'
import { answerOf } from '../query.ts'
import { Import } from './testing/import.ts'

let here: Import
beforeEach(() => {
  here = new Import()
})
afterEach(() => here.close())

/** An endpoint as Logflare's API shows it. */
const shown = {
  id: 7,
  token: '3f2c1d80-5b1e-4a64-9c0d-7e0a4b8f1122',
  name: 'errors.by-level',
  description: 'Errors of one level',
  query: `WITH errors AS (SELECT event_message FROM \`postgres.logs\` WHERE event_message LIKE @pattern)
SELECT COUNT(*) AS errors, @pattern AS pattern FROM errors`,
  language: 'bq_sql',
  source_mapping: { 'postgres.logs': 'aaaa-bbbb' },
  sandboxable: true,
  cache_duration_seconds: 120,
  proactive_requerying_seconds: 60,
  max_limit: 50,
  enable_auth: true,
  redact_pii: true,
  enable_dynamic_reservation: false,
  labels: 'team=web,session,user=@pattern',
  backend_id: null,
}

function json(...endpoints: unknown[]): string {
  return JSON.stringify(endpoints, null, 2)
}

describe('an endpoint of Logflare', () => {
  test('becomes two files with its UUID, its times, limits, rules and labels', async () => {
    const { lines, refused } = await here.run('endpoints.json', json(shown))
    expect(refused).toEqual([])
    expect(lines).toEqual([
      '+ errors.by-level from endpoints.json:2',
      '! errors.by-level has the label user=@pattern; here its callers send that in SVC-ENDPOINT-LABELS',
      '1 imported to queries; 0 refused.',
    ])
    expect(readQueries(here.queries)[0]!.endpoint).toMatchObject({
      id: shown.token,
      name: shown.name,
      description: shown.description,
      sql: `${shown.query}\n`,
      parameters: { pattern: { type: 'string' } },
      required: [],
      maxRows: 50,
      cacheSeconds: 120,
      warm: { seconds: 60 },
      sandbox: true,
      redact: true,
      labels: { team: 'web' },
      callerLabels: ['session', 'user'],
    })
  })

  test('answers under its UUID once it is applied', async () => {
    await here.run('endpoints.json', json({ ...shown, redact_pii: false }))
    const services = await here.services()
    await apply(services, { queries: here.queries, dryRun: false, out: () => {} })
    const endpoint = (await services.endpoints.find(shown.token))!
    const options = { sql: null, redact: false, fresh: true }
    const { answer } = await answerOf(services, endpoint, 'pattern=%25deadlock%25', options)
    expect(await answer.rows()).toEqual([{ errors: 0, pattern: '%deadlock%' }])
  })

  test('alone, as the API shows one, has the defaults of Logflare', async () => {
    await here.run('endpoint.json', JSON.stringify({ name: 'plain', query: 'select current_date() as date' }))
    expect(here.read('plain.sql')).toBe('select current_date() as date\n')
    expect(readQueries(here.queries)[0]!.endpoint).toMatchObject({
      maxRows: 1000,
      cacheSeconds: 3600,
      warm: { seconds: 1800 },
      sandbox: false,
    })
  })

  test('is never older than it was, where it was refreshed more often than the warmer does', async () => {
    const often = { ...shown, labels: null, cache_duration_seconds: 30, proactive_requerying_seconds: 5 }
    const { lines } = await here.run('often.json', json(often))
    expect(lines[1]).toContain('was refreshed every 5 s')
    expect(readQueries(here.queries)[0]!.endpoint).toMatchObject({ cacheSeconds: 5, warm: null })
  })

  test('is imported with the tables that are not here named', async () => {
    const query = 'SELECT a FROM `my.source`, `my-project.data.other`'
    const { lines, refused } = await here.run(
      'missing.json',
      json({ name: 'missing', query, enable_auth: false, source_mapping: { 'my.source': 'ab-cd' } }),
    )
    expect(refused).toEqual([])
    expect(lines.slice(1, 4)).toEqual([
      '! missing was open to anyone with its UUID; here every call needs a key',
      '! missing reads my.source (Logflare’s table ab_cd), which is not here: before apply, lqe table add makes it, or BIGQUERY_TABLES names it',
      '! missing reads my-project.data.other, which is not here: before apply, lqe table add makes it, or BIGQUERY_TABLES names it',
    ])
  })
})

test('a table that is another endpoint of the file is named as one', async () => {
  const { lines } = await here.run(
    'two.json',
    json({ name: 'my.date', query: 'select 1 as a' }, { name: 'reader', query: 'select a from `my.date`' }),
  )
  expect(lines[2]).toContain('! reader reads my.date (an endpoint: `upstream` in the definition reads one)')
})

describe('what is refused, with its place and the reason', () => {
  const cases: [claim: string, endpoint: object, refusal: RegExp][] = [
    ['PostgreSQL', { language: 'pg_sql' }, /^6:17 a is in PostgreSQL’s SQL; here queries are GoogleSQL/],
    ['ClickHouse', { language: 'ch_sql' }, /^6:17 a is in ClickHouse’s SQL/],
    ['Logflare’s query language', { language: 'lql' }, /^6:17 a is in Logflare’s own query language/],
    ['a backend of an unknown kind', { backend_id: 3 }, /^6:19 a has a backend and no language/],
    ['a field that is not known', { retries: 3 }, /^6:5 a has retries, no field of Logflare’s endpoints/],
    ['a field of another type', { sandboxable: 'yes' }, /^6:20 a has sandboxable that is no boolean/],
    ['too long a cache', { cache_duration_seconds: 100_000 }, /^6:31 a cache\.seconds must be <= 86400/],
    ['a token that is no UUID', { token: 'x' }, /^6:14 a id must match/],
    ['SQL that does not parse', { query: 'select 1\nfrm t' }, /^4:14 a line 2, column 1 of its query: /],
    ['a statement that writes', { query: 'delete from t' }, /^4:15 a only SELECT queries are allowed/],
    ['a column that is not there', { query: 'select zzz from `postgres.logs`' }, /^4:22 a .*zzz/],
    [
      'a parameter named as one of the service',
      { query: 'select @sql as x' },
      /^4:14 a parameters\.properties/,
    ],
    ['a name that no file can have', { name: '../a' }, /^2:3 \.\.\/a the name must match/],
    ['no query', { query: null }, /^2:3 a has no query/],
  ]

  test.each(cases)('%s', async (_, endpoint, refusal) => {
    // Four fields stand before the one of the case, which is on line 6.
    const base = { name: 'a', query: 'select 1 as one', enable_auth: true }
    const { refused, lines } = await here.run('refused.json', json({ ...base, ...endpoint }))
    expect(refused).toEqual([expect.stringMatching(refusal)])
    expect(lines).toEqual(['0 imported to queries; 1 refused.'])
  })

  test('while the others of its file are written', async () => {
    const { refused } = await here.run(
      'some.json',
      json({ name: 'good', query: 'select 1 as one' }, { name: 'good', query: 'select 2 as two' }, 5),
    )
    expect(refused).toEqual([
      expect.stringMatching(/endpoint 3 has no name/),
      '6:3 good has the name of an endpoint before it',
    ])
    expect(readdirSync(here.queries)).toEqual(['good.sql', 'good.yaml'])
  })

  test('JSON that ends too early', async () => {
    expect((await here.run('broken.json', '[{"name": "a",')).refused[0]).toMatch(/^1:\d+ /)
  })
})

describe('property', () => {
  const name = fc.stringMatching(/^[a-z][a-z0-9._-]{0,20}$/)
  const endpoint = fc.record(
    {
      token: fc.uuid(),
      name,
      description: fc.option(fc.string({ maxLength: 40 })),
      query: fc.constantFrom(
        'select @a as x, @b as y',
        'with t as (select @a as x) select x from t',
        'select id\nfrom `postgres.logs`\nwhere id = @a',
        'select 1 as one;',
      ),
      sandboxable: fc.option(fc.boolean()),
      cache_duration_seconds: fc.nat(90_000),
      proactive_requerying_seconds: fc.nat(90_000),
      max_limit: fc.integer({ min: 1, max: 10_000 }),
      redact_pii: fc.boolean(),
      labels: fc.option(fc.constantFrom('', 'a=b', 'a,b=@c', 'A=b')),
    },
    { requiredKeys: ['name', 'query'] },
  )

  test('what is imported passes the checks of apply, and holds what Logflare has', async () => {
    await fc.assert(
      fc.asyncProperty(endpoint, async one => {
        const run = new Import()
        try {
          const { refused } = await run.run('one.json', json(one))
          if (refused.length > 0) return expect(refused[0]).toMatch(/must (be <=|match)/)
          const services = await run.services()
          await apply(services, { queries: run.queries, dryRun: true, out: () => {} })
          const [{ endpoint: ours }] = readQueries(run.queries) as [ReturnType<typeof readQueries>[0]]
          expect(ours.sql).toBe(`${one.query}\n`)
          expect(ours.maxRows).toBe(one.max_limit ?? 1000)
          expect(ours.cacheSeconds).toBeLessThanOrEqual(one.cache_duration_seconds ?? 3600)
          if (one.token !== undefined) expect(ours.id).toBe(one.token)
        } finally {
          await run.close()
        }
      }),
      { numRuns: 15 },
    )
  })

  test('whatever the fields hold, an endpoint is imported or refused at a place', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...Object.keys(shown)),
        fc.jsonValue({ maxDepth: 1 }),
        async (field, value) => {
          const { lines, refused } = await here.run('any.json', json({ ...shown, [field]: value }), {
            dryRun: true,
          })
          expect(lines.at(-1)).toMatch(refused.length === 0 ? /^1 to import/ : /^0 to import/)
        },
      ),
      { numRuns: 60 },
    )
  })
})
