import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { apply } from '../apply/apply.ts'
import { readQueries } from '../apply/read.ts'
import { answerOf } from '../query.ts'
import { Import } from './testing/import.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { startBigQueryServer } from '../../google/bigquery/server.ts'

let here: Import
beforeEach(() => {
  here = new Import()
})
afterEach(() => here.close())

/** Both forms of the file, of the same tool. */
const forms = {
  'a map of tools': `sources:
  warehouse: { kind: bigquery, project: acme, maxQueryResultRows: 20 }
tools:
  slow-requests:
    kind: bigquery-sql
    source: warehouse
    description: Requests that took long.
    statement: |
      SELECT COUNT(*) AS requests, @service AS service
      FROM \`postgres.logs\`
      WHERE event_message LIKE @service AND @least > 0 AND (@exact IS NULL OR @exact)
    parameters:
      - { name: service, type: string, description: Which one., allowedValues: [^api$, ^web$] }
      - { name: least, type: integer, default: 5, minValue: 1, maxValue: 60 }
      - { name: exact, type: boolean, required: false }
toolsets:
  all: [slow-requests]
`,
  'documents with a kind': `kind: source
name: warehouse
type: bigquery
project: acme
maxQueryResultRows: 20
---
kind: tool
name: slow-requests
type: bigquery-sql
source: warehouse
description: Requests that took long.
statement: |
    SELECT COUNT(*) AS requests, ? AS service
    FROM \`postgres.logs\`
    WHERE event_message LIKE '%' AND ? > 0 AND (? OR TRUE)
parameters:
    - { name: service, type: string, description: Which one., allowedValues: [^api$, ^web$] }
    - { name: least, type: integer, default: 5, minValue: 1, maxValue: 60 }
    - { name: exact, type: boolean, required: false }
---
kind: toolset
name: all
tools: [slow-requests]
`,
}

describe.each(Object.entries(forms))('a tools.yaml that is %s', (_, text) => {
  test('becomes an endpoint with the types, defaults, choices and bounds of its parameters', async () => {
    const { refused, lines } = await here.run('tools.yaml', text)
    expect(refused).toEqual([])
    expect(lines).toHaveLength(2)
    expect(readQueries(here.queries)[0]!.endpoint).toMatchObject({
      name: 'slow-requests',
      description: 'Requests that took long.',
      required: ['service'],
      maxRows: 20,
      cacheSeconds: 0,
      parameters: {
        service: { type: 'string', description: 'Which one.', enum: ['api', 'web'] },
        least: { type: 'integer', default: 5, minimum: 1, maximum: 60 },
        exact: { type: 'boolean' },
      },
    })
  })

  test('answers once it is applied', async () => {
    await here.run('tools.yaml', text)
    const services = await here.services()
    await apply(services, { queries: here.queries, dryRun: false, out: () => {} })
    const endpoint = (await services.endpoints.find('slow-requests'))!
    const options = { sql: null, redact: false, fresh: true }
    const { answer } = await answerOf(services, endpoint, 'service=api', options)
    expect(await answer.rows()).toEqual([{ requests: 0, service: 'api' }])
  })
})

test('an import again gives a tool the same id', async () => {
  await here.run('tools.yaml', forms['a map of tools'])
  const first = here.read('slow-requests.yaml')
  const again = await here.run('tools.yaml', forms['a map of tools'])
  expect(again.refused).toEqual(['4:3 slow-requests: would replace queries/slow-requests.yaml: --force does'])
  await here.run('tools.yaml', forms['a map of tools'], { force: true })
  expect(here.read('slow-requests.yaml')).toBe(first)
})

test('an import without --force writes through no link, though it leads nowhere', async () => {
  mkdirSync(here.queries)
  symlinkSync('../elsewhere.yaml', join(here.queries, 'slow-requests.yaml'))
  const { refused } = await here.run('tools.yaml', forms['a map of tools'])
  expect(refused).toEqual(['4:3 slow-requests: would replace queries/slow-requests.yaml: --force does'])
  expect(existsSync(join(here.folder, 'elsewhere.yaml'))).toBe(false)
})

test('what is refused is in the order of the lines, whatever finds it', async () => {
  const tool = (name: string, kind: string, sql: string) =>
    `  ${name}: { kind: ${kind}, description: d, statement: ${sql} }\n`
  const text = `tools:\n${tool('a', 'bigquery-sql', 'DELETE FROM t')}${tool('b', 'mysql-sql', 'SELECT 1')}${tool('c', 'bigquery-sql', 'SELECT')}`
  const { refused } = await here.run('tools.yaml', text)
  expect(refused.map(line => line.split(':', 1)[0])).toEqual(['2', '3', '4'])
})

test.each([
  ['nested deeply', `tools: ${'{a: '.repeat(20_000)}1${'}'.repeat(20_000)}`, 'nested deeper than 500'],
  ['nested as lists of a line', `tools:\n  ${'- '.repeat(20_000)}a`, 'nested deeper than 500'],
  ['nested in names', `tools:\n  ${'? '.repeat(20_000)}a`, 'nested deeper than 500'],
  ['of aliases', `tools:\n  a0: &a0 [x]\n${aliases(30)}`, 'aliases (*name) stand for too much'],
  ['of itself', 'tools: &all { again: *all }', 'nested deeper than 500'],
])('a file that is %s is refused in words', async (_, text, words) => {
  expect((await here.run('tools.yaml', text)).refused).toEqual([expect.stringContaining(words)])
})

/** Each has the one before nine times. */
function aliases(count: number): string {
  const line = (_: unknown, at: number) =>
    `  a${at + 1}: &a${at + 1} [${Array(9).fill(`*a${at}`).join(', ')}]`
  return Array.from({ length: count }, line).join('\n')
}

test.each([
  ['a.test', 'the name must not end with .test: such files are tests'],
  ['A.Test', 'the name must not end with .test'],
  ['con', 'the name must not begin with a device of Windows'],
  ['lpt1.logs', 'the name must not begin with a device of Windows'],
  ['usage.api-counts.rollup', 'has the name of a query of usage.api-counts, usage.api-counts.rollup.sql'],
])(
  'a tool called %s is refused, as its files would be others’, and replaces none by force',
  async (name, why) => {
    cpSync('queries', here.queries, { recursive: true })
    const before = readdirSync(here.queries).map(file => [file, here.read(file)])
    const text = `tools:\n  ${name}:\n    kind: bigquery-sql\n    description: d\n    statement: SELECT 1 AS one\n`
    const { refused } = await here.run('tools.yaml', text, { force: true })
    expect(refused).toEqual([expect.stringContaining(why)])
    expect(readdirSync(here.queries).map(file => [file, here.read(file)])).toEqual(before)
  },
)

test('--dry-run shows both files and writes none', async () => {
  const { lines } = await here.run('tools.yaml', forms['a map of tools'], { dryRun: true })
  expect(lines.join('\n')).toContain('queries/slow-requests.sql\nSELECT COUNT(*) AS requests, @service')
  expect(lines.at(-1)).toBe('1 to import; nothing was written (--dry-run); 0 refused.')
  expect(() => here.read('slow-requests.sql')).toThrow('ENOENT')
})

test('a tool reads a source of another file, and has the rows that Toolbox gives without a limit: 50', async () => {
  const tool = (source: string) =>
    `kind: tool\nname: of-${source}\ntype: bigquery-sql\nsource: ${source}\ndescription: d\nstatement: SELECT 1 AS one\n`
  const sources =
    'sources:\n  limited: { kind: bigquery, maxQueryResultRows: 7 }\n  plain: { kind: bigquery }\n'
  const { refused } = await here.runAll({
    'tools.yaml': `${tool('limited')}---\n${tool('plain')}`,
    'sources.yaml': sources,
  })
  expect(refused).toEqual([])
  const rows = readQueries(here.queries).map(({ endpoint: { name, maxRows } }) => [name, maxRows])
  expect(rows).toEqual([
    ['of-limited', 7],
    ['of-plain', 50],
  ])
})

test('variables are those of the environment, as Toolbox reads them, or their defaults', async () => {
  const text = `sources:
  s: { kind: bigquery, project: "\${UNSET}", maxQueryResultRows: \${ROWS:9} }
tools:
  a:
    kind: bigquery-sql
    source: s
    description: d
    statement: SELECT COUNT(*) AS n FROM \`\${TABLE}\`
`
  const { refused } = await here.run('tools.yaml', text, { environment: { TABLE: 'postgres.logs' } })
  expect(refused).toEqual([])
  expect(here.read('a.sql')).toBe('SELECT COUNT(*) AS n FROM `postgres.logs`\n')
  expect(readQueries(here.queries)[0]!.endpoint.maxRows).toBe(9)
})

test('who read before is said, as here the service’s account does for every key', async () => {
  const settings = 'impersonateServiceAccount: a@b.example, maximumBytesBilled: 9'
  const text = `sources: { s: { kind: bigquery, ${settings} } }
tools: { a: { kind: bigquery-sql, source: s, description: d, statement: SELECT 1 AS one } }
`
  const { lines } = await here.run('tools.yaml', text)
  expect(lines.slice(0, 3)).toEqual([
    '+ a from tools.yaml:2',
    '! a read as a@b.example; here the service’s account does',
    '! a had maximumBytesBilled 9; here the setting MAX_BYTES_BILLED is for all',
  ])
})

test('choices that are searched for become a pattern, and a name its lower case, and both are said', async () => {
  const text = `tools:
  byLevel:
    kind: bigquery-sql
    description: x
    statement: SELECT @level AS level
    authRequired: [login]
    parameters:
      - { name: level, type: string, description: d, allowedValues: [warn, 'err.*'] }
`
  const { lines } = await here.run('tools.yaml', text)
  expect(lines.slice(0, 3)).toEqual([
    '+ bylevel from tools.yaml:2',
    '! bylevel wanted a login of login; here it wants a key',
    '! bylevel was byLevel',
  ])
  expect(readQueries(here.queries)[0]!.endpoint.parameters).toEqual({
    level: { type: 'string', description: 'd', pattern: 'warn|err.*' },
  })
})

describe('what is refused, with its place and the reason', () => {
  const tool = (fields: string) => `tools:\n  a:\n    kind: bigquery-sql\n    description: d\n${fields}`
  const parameter = (fields: string) =>
    tool(`    statement: SELECT @p AS p\n    parameters:\n      - { name: p, ${fields} }\n`)
  const cases: [claim: string, text: string, refusal: string | RegExp][] = [
    [
      'another database',
      'tools:\n  a:\n    kind: postgres-sql\n    statement: SELECT 1\n',
      /^3:11 a: is of the kind postgres-sql, and is no saved query over BigQuery/,
    ],
    [
      'what the catalogue tells',
      'kind: tool\nname: a\ntype: bigquery-get-dataset-info\n',
      /^3:7 a: is of the kind bigquery-get-dataset-info, and tells of tables: GET \/api\/endpoints\/NAME\/tables/,
    ],
    [
      'any SQL',
      'kind: tool\nname: a\ntype: bigquery-execute-sql\n',
      /^3:7 a: is of the kind bigquery-execute-sql, and takes any SQL: write an endpoint with sandbox/,
    ],
    [
      'text that is pasted into SQL',
      tool(
        '    statement: SELECT * FROM {{.t}}\n    templateParameters:\n      - { name: t, type: string }\n',
      ),
      /^6:5 a: pastes templateParameters into its SQL/,
    ],
    [
      'a statement that writes',
      tool('    statement: |\n      -- why\n      UPDATE t SET x = 1\n'),
      '7:7 a: only SELECT queries are allowed: this starts with UPDATE',
    ],
    [
      'a variable that is not set',
      tool('    statement: SELECT * FROM `${DATASET}.t`\n'),
      /^5:16 a: has the variable \$\{DATASET\} in its statement, which is not set/,
    ],
    [
      'a list',
      parameter('type: array, items: { type: string }'),
      /^7:26 a: has the parameter p of type array/,
    ],
    [
      'a value of a login',
      parameter('type: string, authServices: [{ name: g, field: sub }]'),
      /^7:34 a: has authServices, at p, which a parameter has no equal of/,
    ],
    [
      'a regular expression that differs here',
      parameter('type: string, allowedValues: ["(?i)x"]'),
      /^7:49 a: has allowedValues at p in a syntax/,
    ],
    [
      'numbers as choices',
      parameter('type: integer, allowedValues: [1, 2]'),
      /^7:50 a: has allowedValues at p that are no strings/,
    ],
    [
      'a default that does not fit',
      parameter('type: integer, default: x'),
      /^7:\d+ a: parameters\.properties\.p\.default/,
    ],
    [
      'an unused parameter',
      tool('    statement: SELECT 1 AS one\n    parameters:\n      - { name: p, type: string }\n'),
      /^7:9 a: p is declared, but @p is not in the SQL/,
    ],
    [
      'marks without parameters',
      tool('    statement: SELECT ? AS a, ? AS b\n'),
      /^5:16 a: has 2 marks \(\?\) for 0 parameters/,
    ],
    [
      'rights of the caller',
      `sources:\n  s: { kind: bigquery, useClientOAuth: true }\n${tool('    source: s\n    statement: SELECT 1 AS one\n')}`,
      /^7:13 a: reads s as its caller/,
    ],
    [
      'a source that is not there, with its limit of rows',
      tool('    source: s\n    statement: SELECT 1 AS one\n'),
      /^5:13 a: reads the source s, which no file has/,
    ],
    [
      'a source that a variable names',
      tool('    source: ${SRC}\n    statement: SELECT 1 AS one\n'),
      /^5:13 a: has the variable \$\{SRC\} in its source/,
    ],
    [
      'a default that a variable names',
      parameter('type: string, default: "${DAY}"'),
      /^\d+:\d+ a: has the variable \$\{DAY\} in its parameters/,
    ],
    ['a statement that is no text', tool('    statement: 5\n'), /^5:16 a: has statement that is no string/],
    [
      'a field that is not known',
      tool('    statement: SELECT 1\n    retries: 3\n'),
      /^6:5 a: has retries, which an endpoint has no equal of/,
    ],
    ['no statement', tool(''), /^\d+:\d+ a: has no statement/],
    [
      'no description',
      'tools:\n  a:\n    kind: bigquery-sql\n    statement: SELECT 1 AS one\n',
      /^\d+:\d+ a: needs description: What/,
    ],
    ['YAML that is damaged', 'tools:\n  a: [\n', /^\d+:\d+ /],
    ['a file of no known format', 'hello: world\n', /^1:1 is neither JSON of Logflare.* nor a tools\.yaml/],
    ['a pipe', 'NODE a\nSQL >\n    SELECT 1 AS one\n', /^1:1 is neither JSON of Logflare/],
  ]

  test.each(cases)('%s', async (_, text, refusal) => {
    const { refused } = await here.run('tools.yaml', text)
    const expected: unknown = typeof refusal === 'string' ? refusal : expect.stringMatching(refusal)
    expect(refused[0]).toEqual(expected)
  })
})

test('property: whatever the fields hold, a tool is imported or refused at a place', async () => {
  const field = fc.constantFrom(
    'name',
    'kind',
    'source',
    'description',
    'statement',
    'parameters',
    'templateParameters',
    'authRequired',
  )
  const parameter = fc.dictionary(
    fc.constantFrom('name', 'type', 'default', 'required', 'allowedValues', 'minValue', 'items'),
    fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.constantFrom('p', 'string', 'integer', ['a'])),
  )
  const value = fc.oneof(fc.jsonValue({ maxDepth: 1 }), fc.array(parameter, { maxLength: 2 }))
  await fc.assert(
    fc.asyncProperty(fc.dictionary(field, value), async fields => {
      const whole = { kind: 'bigquery-sql', description: 'd', statement: 'SELECT 1 AS one', ...fields }
      const { lines, refused } = await here.run('any.yaml', `tools:\n  a: ${JSON.stringify(whole)}\n`, {
        dryRun: true,
      })
      expect(lines.at(-1)).toMatch(refused.length === 0 ? /^1 to import/ : /^0 to import/)
    }),
    { numRuns: 20 },
  )
})

test('with BigQuery, its dry run checks the SQL, and a missing table is no reason to refuse', async () => {
  const { folder, config } = here
  const tables = readTableSchemas(config.tablesDir)
  const server = await startBigQueryServer({
    logsFolder: join(folder, 'logs'),
    tables,
    dataset: 'acme-prod.logs',
  })
  const cloud = new Import({
    ENGINE: 'bigquery',
    STORE: 'sqlite',
    GOOGLE_CLOUD_PROJECT: 'acme-prod',
    BIGQUERY_DATASET: 'acme-prod.logs',
    BIGQUERY_EMULATOR_HOST: server.url,
    METADATA_SERVER_DETECTION: 'none',
  })
  try {
    const tool = (name: string, sql: string) =>
      `  ${name}: { kind: bigquery-sql, description: d, statement: ${sql} }\n`
    const text = `tools:\n${tool('good', 'SELECT id FROM `postgres.logs`')}${tool('bad', 'SELECT zzz FROM `postgres.logs`')}${tool('gone', 'SELECT a FROM `acme-prod.logs.gone`')}`
    const { lines, refused } = await cloud.run('tools.yaml', text)
    expect(lines.slice(0, 3)).toEqual([
      '+ good from tools.yaml:2',
      '+ gone from tools.yaml:4',
      expect.stringMatching(/^! gone waits for apply: .* is missing, or may not be used/),
    ])
    expect(refused).toEqual([expect.stringMatching(/^3:64 bad: /)])
  } finally {
    await cloud.close()
    await server.close()
  }
})
