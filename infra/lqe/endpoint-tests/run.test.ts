import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { apply } from '../apply/apply.ts'
import { readQueries } from '../apply/read.ts'
import { runCommand } from '../testing/command.ts'
import { testCommand } from './command.ts'
import { readTests } from './read.ts'
import { runTests } from './run.ts'

const { tablesDir } = loadConfig({})

describe.each(readQueries('queries').map(({ endpoint }) => endpoint.name))('%s of queries/', name => {
  test('answers as its tests expect', async () => {
    const tests = readTests('queries', readQueries('queries'), tablesDir).find(
      ({ endpoint }) => endpoint.name === name,
    )!
    const outcomes = await runTests(tests)
    expect(outcomes.flatMap(({ problem }) => problem ?? [])).toEqual([])
    expect(outcomes.length).toBeGreaterThan(5)
  })
})

const folder = mkdtempSync(join(tmpdir(), 'endpoint-tests-'))
let queries: string

const yaml = `
id: 0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e11
description: Entries after a time.
parameters:
  required: [since]
  properties:
    since: { type: string, format: iso-timestamp, examples: ['-1h'] }
redact: true
`
const sql = 'SELECT id, event_message FROM `pgbouncer.logs.prod` WHERE timestamp > @since ORDER BY timestamp'
const tests = `
now: '2026-01-07T12:00:00Z'
tables:
  pgbouncer.logs.prod:
    - { id: a, timestamp: '2026-01-07T11:00:00Z', event_message: from tom@example.com }
    - { id: b, timestamp: '2026-01-07T11:30:00Z', event_message: from tom@example.com }
cases:
  # A relative time counts from now.
  - name: the last hour
    parameters: { since: -1h }
    rows:
      - { id: b, event_message: from REDACTED }
  - parameters: { since: -2h }
    redact: false
    columns: [event_message]
    rows: [{ event_message: from tom@example.com }, { event_message: from tom@example.com }]
  - parameters: { since: -2h }
    rows: 2
  - name: a time is needed
    error: { code: invalid_parameter, detail: since is required and must not be empty }
`

function write(file: string, text: string): void {
  writeFileSync(join(queries, file), text)
}

beforeEach(() => {
  queries = mkdtempSync(join(folder, 'queries-'))
  write('a.yaml', yaml)
  write('a.sql', sql)
  write('a.test.yaml', tests)
})

afterAll(() => rmSync(folder, { recursive: true }))

const lqeTest = (...args: string[]) =>
  runCommand(
    testCommand(() => tablesDir),
    [...args, '--queries', queries],
  )

const inFolder = (text: string) => text.replaceAll(`${queries}/`, '')

describe('lqe test', () => {
  test('runs each case over the rows of the file, with its present', async () => {
    expect(await lqeTest()).toEqual({ out: '= a passed; cases: 4\n', err: '', code: 0 })
  })

  test('shows the lines in which an answer differs, at the place of its case', async () => {
    write('a.sql', sql.replace('>', '>='))
    const { err, code } = await lqeTest('a')
    expect(code).toBe(1)
    expect(inFolder(err)).toMatch(
      /^a\.test\.yaml:9:5 cases\.0 "the last hour" answers otherwise:\n.*@@.*\n +rows:\n +\+ {2}- id: a\n/,
    )
  })

  test('shows the first lines of a long difference, and the beginning of a long one, and counts the others', async () => {
    write(
      'a.sql',
      `SELECT i AS id, REPEAT('x', 1000) AS event_message FROM UNNEST(GENERATE_ARRAY(1, 90)) AS i`,
    )
    write('a.yaml', yaml.replace(/parameters:[^]*redact/, 'parameters: { properties: {} }\nredact'))
    write('a.test.yaml', tests.replace(/cases:[^]*/, 'cases: [{ name: all, rows: [] }]'))
    const lines = (await lqeTest()).err.trimEnd().split('\n')
    expect([lines.length, lines.at(-1)]).toEqual([42, '    and 143 more lines'])
    expect(Math.max(...lines.map(line => line.length))).toBeLessThan(400)
  })

  test('with --update writes what came, and leaves the rest of the file', async () => {
    write('a.sql', sql.replace('>', '>='))
    const { out, code } = await lqeTest('--update')
    expect([out, code]).toEqual([
      '~ a updated; cases: 1. See what changed before you commit it.\n= a passed; cases: 4\n',
      0,
    ])
    const text = readFileSync(join(queries, 'a.test.yaml'), 'utf8')
    expect(text).toContain('# A relative time counts from now.')
    expect(text).toContain('- { id: a, event_message: from REDACTED }\n      - { id: b, event_message')
    expect((await lqeTest()).code).toBe(0)
  })

  test('with --update writes no failure of the endpoint, and says where it is, as apply does', async () => {
    write('a.sql', sql.replace('event_message', 'evnt_message'))
    const { out, err, code } = await lqeTest('--update')
    expect([out, code]).toEqual(['', 1])
    expect(inFolder(err)).toMatch(/^a\.sql:1:12 .*evnt_message/)
    expect(inFolder(err)).toContain('a.test.yaml:9:5 cases.0 "the last hour" answers otherwise')
    expect(readFileSync(join(queries, 'a.test.yaml'), 'utf8')).toBe(tests)
  })

  test('says which endpoint has no tests', async () => {
    rmSync(join(queries, 'a.test.yaml'))
    expect(inFolder((await lqeTest()).out)).toBe(`? a has no tests; they would be in a.test.yaml\n`)
  })

  test.each([
    [
      'a case without an expectation',
      /\n {4}rows: 2/,
      '',
      /:17:5 cases\.2 says neither rows nor error; lqe test --update/,
    ],
    [
      'a field that is not known',
      'redact: false',
      'redcat: false',
      /:14:5 cases\.1\.redcat is not known; did you mean redact\?/,
    ],
    [
      'a row that is none of its table',
      'id: a,',
      'id: a, size: 5,',
      /:5:7 tables\..*\.0 has size, unknown to the table/,
    ],
    ['a row with a wrong value', 'id: a,', 'id: [a],', /:5:7 tables\..*\.0 id must be a string/],
    [
      'a table that is none',
      'pgbouncer.logs.prod',
      'pgbouncer',
      /:4:3 tables\.pgbouncer is no log table; here are/,
    ],
    ['a present that is none', "'2026-01-07T12:00:00Z'", 'today', /:2:6 now must be an ISO 8601 time/],
    [
      'both rows and an error',
      'rows: 2',
      'rows: 2\n    error: { code: a, detail: b }',
      /cases\.2 must NOT be valid/,
    ],
  ])('refuses %s, naming file, line and column', async (_, from, to, expected) => {
    write('a.test.yaml', tests.replace(from, to))
    const { err, code } = await lqeTest()
    expect(code).toBe(1)
    expect(inFolder(err)).toMatch(expected)
    expect(inFolder(err)).toMatch(/^a\.test\.yaml:\d/)
  })

  test('refuses tests without an endpoint, and the name of none', async () => {
    expect(inFolder((await lqeTest('b')).err)).toContain('has no endpoint b; here are a')
    write('b.test.yaml', tests)
    expect(inFolder((await lqeTest()).err)).toBe('b.test.yaml:1:1 has no endpoint beside it\n')
  })
})

describe('apply', () => {
  let services: Services
  const run = async (tablesFolder = tablesDir) => {
    const out: string[] = []
    await apply(services, { queries, dryRun: false, tablesFolder, out: line => out.push(line) })
    return out
  }

  beforeAll(async () => {
    services = await openServices(loadConfig({ DATA_DIR: join(folder, 'data'), ENGINE_PROCESSES: '0' }))
  })
  afterAll(() => services.close())

  test('runs them first, and changes nothing where one fails', async () => {
    write('a.sql', sql.replace('>', '>='))
    await expect(run()).rejects.toThrow(/"the last hour" answers otherwise/)
    expect(await services.endpoints.all()).toEqual([])
    write('a.sql', sql)
    expect(await run()).toEqual(['+ a created', '1 changed.'])
  })
})
