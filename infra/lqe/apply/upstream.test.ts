/** What `apply` and `lqe test` make of endpoints that read others. */
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { testCommand } from '../endpoint-tests/command.ts'
import { runCommand } from '../testing/command.ts'
import { apply } from './apply.ts'
import { inFolder, queries, services, write } from './testing/folder.ts'

let made = 0
function define(name: string, yaml: string, sql: string): void {
  const id = `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`
  write(`${name}.yaml`, `id: ${id}\ndescription: A test.\n${yaml}`)
  write(`${name}.sql`, sql)
}
const none = 'parameters: { properties: {} }\n'
const run = () => apply(services, { queries, dryRun: true, out: () => {} }).then(() => 'applied', String)

const part = () =>
  define(
    'part',
    `parameters:
  required: [p]
  properties: { p: { type: string, enum: [x, y] }, since: { type: string, format: iso-timestamp }, n: { type: integer, default: 3 } }
`,
    'SELECT @p AS p, @since AS since, @n AS n',
  )
const reader = (upstream: string, more = '', sql = 'SELECT * FROM t') =>
  define(
    'reader',
    `parameters: { required: [a], properties: { a: { type: string }, i: { type: integer }, b: { type: string } } }
upstream:
  t: ${upstream}
${more}`,
    `${sql} WHERE @a IS NULL OR @i IS NULL OR @b IS NULL`,
  )

test('apply takes constants, parameters that are passed on, and defaults', async () => {
  part()
  reader('{ endpoint: part, parameters: { p: x, n: "@i" } }')
  expect(await run()).toBe('applied')
})

test.each([
  [
    '{ endpoint: prat, parameters: { p: x } }',
    'reader.yaml:5:18 upstream.t.endpoint names prat, which is not there; did you mean part?',
  ],
  ['{ endpoint: part }', 'upstream.t gets no p, which part requires'],
  ['{ endpoint: part, parameters: { p: "@b" } }', 'upstream.t gets no p, which part requires'],
  ['{ endpoint: part, parameters: { p: z } }', 'upstream.t.parameters.p must be one of x, y'],
  [
    '{ endpoint: part, parameters: { p: x, other: 1 } }',
    'upstream.t.parameters.other is no parameter of part; here are p, since, n',
  ],
  ['{ endpoint: part, parameters: { p: "@i" } }', 'upstream.t.parameters.p must be STRING, and i is INT64'],
  [
    '{ endpoint: part, parameters: { p: "@c" } }',
    'upstream.t.parameters names c, not declared in properties',
  ],
  [
    '{ endpoint: part, parameters: { p: x } }\npage: { by: [a, b], order: descending }',
    'page does not go with upstream',
  ],
])('apply refuses %s: %s', async (upstream, words) => {
  part()
  reader(upstream)
  expect(inFolder(await run())).toContain(words)
})

test('apply says where the SQL is wrong, as it is written', async () => {
  define('part', none, 'SELECT 1 AS n')
  for (const sql of [
    'SELECT n, m FROM t',
    'WITH u AS (SELECT n, m FROM t) SELECT n FROM u',
    'SELECT n,\n m FROM t',
  ]) {
    define('reader', `${none}upstream: { t: { endpoint: part } }`, sql)
    const before = sql.slice(0, sql.indexOf('m FROM')).split('\n')
    expect(inFolder(await run())).toContain(
      `reader.sql:${before.length}:${before.at(-1)!.length + 1} Unrecognized name: m`,
    )
  }
})

test('apply refuses a circle with its path, and a chain that is too long', async () => {
  for (const [name, next] of ['ab', 'bc', 'ca'])
    define(name!, `${none}upstream: { t: { endpoint: ${next} } }`, 'SELECT 1 AS n FROM t')
  expect(await run()).toContain('upstream.t.endpoint leads back to itself: a -> b -> c -> a')
  for (const name of ['a', 'b', 'c']) rmSync(join(queries, `${name}.yaml`))
  for (const [name, next] of ['ab', 'bc', 'cd', 'de', 'ef'])
    define(name!, `${none}upstream: { t: { endpoint: ${next} } }`, 'SELECT n FROM t')
  define('f', none, 'SELECT 1 AS n')
  expect(await run()).toContain('is too far from a: a -> b -> c -> d -> e')
})

test('apply refuses a table that the SQL does not read, a missing redact: true, and a column that cannot be read', async () => {
  define('part', `${none}redact: true`, 'SELECT 1 AS n')
  define('reader', `${none}upstream: { t: { endpoint: part } }`, 'WITH t AS (SELECT 2 AS n) SELECT n FROM t')
  const refused = await run()
  expect(refused).toContain('upstream.t is declared, but the SQL reads no table of that name (FROM t)')
  expect(refused).toContain('upstream.t redacts, so that this endpoint needs redact: true')
  define('part', none, 'SELECT INTERVAL 1 DAY AS d')
  define('reader', `${none}upstream: { t: { endpoint: part } }`, 'SELECT 1 AS n FROM t')
  expect(await run()).toContain('names part, whose d is INTERVAL: CAST it to STRING there')
})

test('the example of reference.md applies beside the shipped endpoints, and its tests run those over the same rows', async () => {
  cpSync('queries', queries, { recursive: true })
  const document = readFileSync('infra/docs/reference.md', 'utf8').split('## Endpoints that read others')[1]!
  for (const ending of ['yaml', 'sql']) {
    const [, code] = new RegExp(`\`\`\`${ending}\n(.*?)\`\`\``, 's').exec(document)!
    write(`usage.rest-share.${ending}`, code!)
  }
  const row = (path: string) =>
    `{ timestamp: 2026-03-10T11:30:00Z, metadata: { request: { url: https://qhzvnxwtrkdplmcoyaeb.example.co${path}, path: ${path} } } }`
  write(
    'usage.rest-share.test.yaml',
    `now: 2026-03-10T12:30:30Z
tables:
  cloudflare.logs.prod: [${[row('/rest/v1/a'), row('/rest/v1/b'), row('/auth/v1/c')].join(', ')}]
cases:
  - parameters: { interval: daily, project: qhzvnxwtrkdplmcoyaeb }
    rows: [{ timestamp: 2026-03-10T00:00:00, share: 0.667 }]
  - parameters: { interval: daily, project: qhzvnxwtrkdplmcoyaeb }
    rows: 2
`,
  )
  const { out, err } = await runCommand(
    testCommand(() => 'infra/tables'),
    ['usage.rest-share', '--queries', queries],
  )
  expect(out + err).toContain('cases.1 answers otherwise')
  expect(out + err).not.toContain('cases.0')
  expect(await run()).toBe('applied')
})
