import { readdirSync, rmSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { rounds } from '../../../shared/testing/rounds.ts'
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

  test.each([
    ['exposed service_role advisor hack', 'exposed-service_role-advisor-hack'],
    ['My.Errors', 'my.errors'],
    ['01HZX4T0Q2V7C5J9_logs.all', 'e-01hzx4t0q2v7c5j9_logs.all'],
    ['12345678-errors', 'e-12345678-errors'],
    ['../a', 'a'],
    ['日志', 'e-7dbac1c2'],
  ])('keeps the name %j, by which its callers ask, beside that of its files', async (name, file) => {
    const { lines, refused } = await here.run('one.json', json({ name, query: 'select 1 as a' }))
    expect(refused).toEqual([])
    expect(lines).toContain(`! ${file} was ${name}, and callers may go on with that (aliases)`)
    expect(readQueries(here.queries)[0]!.endpoint).toMatchObject({ name: file, aliases: [name] })
  })

  test('gives JSON as text, and is public where it was and may be', async () => {
    const open = { name: 'open', query: 'select 1 as a', enable_auth: false, redact_pii: true }
    await here.run('open.json', json(open))
    const [source] = readQueries(here.queries)
    expect(source!.endpoint).toMatchObject({ jsonAsText: true, publicCallsPerMinute: 60 })
  })

  test('is imported with the tables that are not here named', async () => {
    const query = 'SELECT a FROM `my.source`, `my-project.data.other`'
    const { lines, refused } = await here.run(
      'missing.json',
      json({ name: 'missing', query, enable_auth: false, source_mapping: { 'my.source': 'ab-cd' } }),
    )
    expect(refused).toEqual([])
    expect(lines.slice(1, 4)).toEqual([
      '! missing was open to anyone; here `public: true` does that with cache.seconds, redact: true and no sandbox',
      '! missing reads my.source (Logflare’s table ab_cd), which is not here: before apply, lqe table add makes it, or BIGQUERY_TABLES names it',
      '! missing reads my-project.data.other, which is not here: before apply, lqe table add makes it, or BIGQUERY_TABLES names it',
    ])
  })
})

describe('a table that is an endpoint', () => {
  const reader = { name: 'reader', query: 'select a from `my.date`' }
  const words =
    'my.date is an endpoint: read FROM my_date, with upstream: { my_date: { endpoint: my.date } } in the definition'
  const said = `! reader reads ${words.replace(' is an', ', which is an')}`

  test('of the same file is named as one, and apply says the same', async () => {
    const { lines } = await here.run('two.json', json({ name: 'my.date', query: 'select 1 as a' }, reader))
    expect(lines[2]).toBe(said)
    const applied = apply(await here.services(), { queries: here.queries, dryRun: true, out: () => {} })
    await expect(applied).rejects.toThrow(words)
  })

  test('with its own name is a table all the same', async () => {
    const { lines } = await here.run('own.json', json({ name: 'own', query: 'select a from own' }))
    expect(lines[1]).toContain('! own reads own, which is not here: before apply')
  })

  test('of the folder, or in the store, is named as one', async () => {
    await here.run('one.json', json({ name: 'my.date', query: 'select 1 as a' }))
    expect((await here.run('reader.json', json(reader), { dryRun: true })).lines[1]).toBe(said)
    await apply(await here.services(), { queries: here.queries, dryRun: false, out: () => {} })
    rmSync(here.queries, { recursive: true })
    expect((await here.run('reader.json', json(reader))).lines[1]).toBe(said)
  })
})

test('a table whose name here has other characters is named, as no other can be made beside it', async () => {
  const { lines } = await here.run('a.json', json({ name: 'a', query: 'select id from postgres_logs' }))
  expect(lines[1]).toBe('! a reads postgres_logs, which is postgres.logs here: write that name in its SQL')
})

test('a time that is null is no default of Logflare', async () => {
  const warm = { name: 'warm', query: 'select 1 as a', proactive_requerying_seconds: null }
  const kept = { name: 'kept', query: 'select 1 as a', cache_duration_seconds: null }
  const { lines } = await here.run('null.json', json(warm, kept))
  expect(lines).toEqual([
    expect.anything(),
    '! warm has proactive_requerying_seconds null; here it is not kept warm',
    expect.anything(),
    '! kept has cache_duration_seconds null; here it is not cached',
    expect.anything(),
  ])
  expect(readQueries(here.queries).map(({ endpoint }) => [endpoint.cacheSeconds, endpoint.warm])).toEqual([
    [0, null],
    [3600, null],
  ])
})

test('fields of Logflare’s database without an effect on rows are passed over, as is what is null', async () => {
  const row = { user_id: 3, inserted_at: '2026-01-01T00:00:00', updated_at: 'x', sandbox_query_id: null }
  const { refused } = await here.run('row.json', json({ name: 'a', query: 'select 1 as a', ...row }))
  expect(refused).toEqual([])
})

describe('what is refused, with its place and the reason', () => {
  const cases: [claim: string, endpoint: object, refusal: RegExp][] = [
    ['PostgreSQL', { language: 'pg_sql' }, /^6:17 a: is in PostgreSQL’s SQL; here queries are GoogleSQL/],
    ['ClickHouse', { language: 'ch_sql' }, /^6:17 a: is in ClickHouse’s SQL/],
    ['Logflare’s query language', { language: 'lql' }, /^6:17 a: is in Logflare’s own query language/],
    ['a backend of an unknown kind', { backend_id: 3 }, /^6:19 a: has a backend and no language/],
    ['a field that is not known', { retries: 3 }, /^6:5 a: has retries, no field of Logflare’s endpoints/],
    ['a field of another type', { sandboxable: 'yes' }, /^6:20 a: has sandboxable that is no boolean/],
    ['too long a cache', { cache_duration_seconds: 100_000 }, /^6:31 a: cache\.seconds must be <= 86400/],
    ['a token that is no UUID', { token: 'x' }, /^6:14 a: id must be a UUID, such as/],
    ['SQL that does not parse', { query: 'select 1\nfrm t' }, /^4:14 a: line 2, column 1 of its query: /],
    ['a statement that writes', { query: 'delete from t' }, /^4:15 a: only SELECT queries are allowed/],
    ['a column that is not there', { query: 'select zzz from `postgres.logs`' }, /^4:22 a: .*zzz/],
    [
      'a parameter named as one of the service',
      { query: 'select @sql as x' },
      /^4:14 a: parameters\.properties/,
    ],
    [
      'a name that no file can have',
      { name: 'Aux' },
      /^2:3 aux: the name must not begin with a device of Windows/,
    ],
    ['no query', { query: null }, /^2:3 a: has no query/],
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
      '6:3 good: has the name of an endpoint before it',
      expect.stringMatching(/^10:3 endpoint 3: has no name/),
    ])
    expect(readdirSync(here.queries)).toEqual(['good.sql', 'good.yaml'])
  })

  test.each([
    [
      '{"error": "Unauthorized"}',
      'but Logflare’s answer "Unauthorized": check the token that it was asked with',
    ],
    ['{"data": []}', 'but an object with data'],
  ])('%s, which is no endpoint', async (text, words) => {
    const { refused } = await here.run('answer.json', text)
    expect(refused).toEqual([`1:1 is no list of Logflare’s endpoints, and none of them, ${words}`])
  })

  test('an id that another endpoint of the file or the folder has', async () => {
    const second = { ...shown, name: 'second' }
    const words = `second: has the id of errors.by-level, ${shown.token}: of two, apply takes neither`
    const both = await here.run('both.json', json(shown, second))
    expect(both.refused).toEqual([`24:14 ${words}`])
    expect((await here.run('second.json', json(second))).refused).toEqual([`4:14 ${words}`])
    expect((await here.run('first.json', json(shown), { force: true })).refused).toEqual([])
    await apply(await here.services(), { queries: here.queries, dryRun: false, out: () => {} })
    rmSync(here.queries, { recursive: true })
    expect((await here.run('second.json', json({ ...second, labels: null }))).lines[1]).toBe(
      '! second has the id of errors.by-level, which is in force: apply renames that',
    )
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
      { numRuns: rounds(5, 500) },
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
      { numRuns: rounds(8, 2_000) },
    )
  })
})
