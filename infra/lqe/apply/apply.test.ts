import { execFileSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { StoreError } from '../../../shared/stores/store.ts'
import { failedTests } from '../endpoint-tests/command.ts'
import { readTests } from '../endpoint-tests/read.ts'
import { apply } from './apply.ts'
import { Passed, programFiles, type Unless } from './passed.ts'
import { carryOut, planFor } from './plan.ts'
import { readQueries } from './read.ts'
import { QueriesError } from './yaml.ts'

let queries: string
let services: Services

const folder = mkdtempSync(join(tmpdir(), 'apply-'))

beforeEach(() => {
  queries = mkdtempSync(join(folder, 'queries-'))
  cpSync('queries', queries, { recursive: true })
})

afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function open(): Promise<void> {
  services = await openServices(
    loadConfig({ DATA_DIR: mkdtempSync(join(folder, 'data-')), ENGINE_PROCESSES: '0' }),
  )
}

const close = () => services.close()

async function run(dryRun = false): Promise<string[]> {
  const lines: string[] = []
  await apply(services, { queries, dryRun, out: line => lines.push(line) })
  return lines
}

function edit(file: string, change: (text: string) => string): void {
  const path = join(queries, file)
  writeFileSync(path, change(readFileSync(path, 'utf8')))
}

/** The same, with its endpoint alone in the folder: each of the others takes as long to check. */
function editAlone(file: string, change: (text: string) => string): void {
  const own = /^(logs\.all|usage\.api-counts)\./.exec(file)![0]
  for (const other of readdirSync(queries)) if (!other.startsWith(own)) rmSync(join(queries, other))
  edit(file, change)
}

async function refusal(): Promise<string> {
  const error = await run().catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(QueriesError)
  return (error as QueriesError).message.replaceAll(`${queries}/`, '')
}

describe('what passed', () => {
  let dataDir: string
  let tables: string

  beforeEach(async () => {
    dataDir = mkdtempSync(join(folder, 'data[1]-'))
    tables = join(dataDir, 'tables[1]')
    cpSync('infra/tables', tables, { recursive: true })
    services = await openServices(
      loadConfig({ DATA_DIR: dataDir, TABLES_DIR: tables, ENGINE_PROCESSES: '0' }),
    )
    edit('usage.api-counts.yaml', text =>
      text.replace(/examples: \[.*\]/, 'examples: [abcdefghijklmnopqrst]'),
    ) // of many
    // A folder's name is no pattern.
    renameSync(queries, (queries = `${queries}[1]`))
  })
  afterEach(() => services.close())

  const applied = async (more: { compareRollups?: boolean; tablesFolder?: string } = {}) => {
    const passed = new Passed(dataDir, queries, tables)
    await apply(services, { queries, dryRun: true, passed, out: () => {}, ...more })
  }
  /** Each check of SQL over the table fails from now on. */
  const damage = () =>
    writeFileSync(join(dataDir, 'logs', 'cloudflare.logs.prod', 'mine.parquet'), 'no Parquet')

  test('is checked again where an endpoint or a table schema is another, and not before', async () => {
    await applied()
    damage()
    await applied()
    edit('logs.all.yaml', text => `${text}\n`)
    await expect(applied()).rejects.toThrow('cloudflare.logs.prod')
    edit('logs.all.yaml', text => text.slice(0, -1))
    await applied()
    const schema = join(tables, 'postgres.logs.json')
    writeFileSync(schema, `${readFileSync(schema, 'utf8')}\n`)
    await expect(applied()).rejects.toThrow('cloudflare.logs.prod')
  })

  test('with more checks has passed with fewer, and with more again', async () => {
    await applied({ compareRollups: true })
    damage()
    await applied()
    await applied({ compareRollups: true })
  })

  test('without a check has not passed it', async () => {
    await applied()
    damage()
    await expect(applied({ compareRollups: true })).rejects.toThrow('could not be compared')
  })

  test('is not remembered where its file cannot be written, and nothing else comes of it', async () => {
    mkdirSync(join(dataDir, 'apply-passed'))
    await applied()
    damage()
    await expect(applied()).rejects.toThrow('cloudflare.logs.prod')
  })

  test('is tested again alone where only one endpoint is another', async () => {
    const made: string[] = []
    const problem = { file: 'x', line: 1, column: 1, detail: 'wrong' }
    const run = (failing: string[]) => {
      const passed = new Passed(dataDir, queries, tables)
      const unless: Unless = (check, _make, files) =>
        passed.unless(
          check,
          () => {
            made.push(check)
            return Promise.resolve(failing.includes(check) ? [problem] : [])
          },
          files,
        )
      return failedTests(queries, readQueries(queries), tables, unless)
    }
    const [logs, usage, calls] = ['logs.all', 'service.usage', 'usage.api-counts'].map(
      name => `tests of ${name}`,
    ) as [string, string, string]
    expect(await run([usage])).toHaveLength(1)
    expect(made.splice(0)).toEqual([logs, usage, calls])
    expect(await run([])).toEqual([])
    expect(made.splice(0)).toEqual([usage])
    edit('logs.all.test.yaml', text => `${text}\n`)
    expect(await run([])).toEqual([])
    expect(made).toEqual([logs])
  })
})

test('the program that a check depends on is every file that apply imports, and what is installed', () => {
  const imported = new Set<string>()
  const visit = (path: string) => {
    if (imported.has(path)) return
    imported.add(path)
    for (const [, name] of readFileSync(path, 'utf8').matchAll(/(?:from |import\()'(\.[^']+)'/g))
      visit(join(dirname(path), name!))
  }
  visit('infra/lqe/apply/apply.ts')
  expect([...imported]).toContain('infra/lqe/endpoint-tests/tests.schema.json')
  expect(programFiles()).toEqual(expect.arrayContaining([...imported, 'package-lock.json']))
})

describe('apply', () => {
  beforeEach(open)
  afterEach(close)

  test('refuses YAML that is nested deeply or in itself, in its one line of words', async () => {
    for (const file of ['logs.all.yaml', 'logs.all.test.yaml'])
      for (const content of ['['.repeat(10_000), `${'- '.repeat(900)}a`, 'a: &a { b: *a }']) {
        const before = readFileSync(join(queries, file), 'utf8')
        editAlone(file, () => content)
        const reading = () =>
          file.includes('.test.')
            ? readTests(queries, readQueries(queries), 'infra/tables')
            : readQueries(queries)
        expect(reading).toThrow(/^\S+yaml:1:1 is nested deeper than 500 levels$/)
        edit(file, () => before)
      }
  })

  test('refuses folders and pipes in place of files, by name', async () => {
    for (const file of ['dir.yaml', 'dir.sql']) mkdirSync(join(queries, file))
    execFileSync('mkfifo', [join(queries, 'pipe.yaml')])
    expect(() => new Passed(folder, queries, 'infra/tables')).not.toThrow() // nor waits for the pipe
    writeFileSync(join(queries, 'pipe.sql'), 'SELECT 1')
    expect((await refusal()).split('\n')).toEqual([
      'dir.yaml:1:1 cannot be read (EISDIR)',
      'pipe.yaml:1:1 is no regular file: put a file there',
    ])
  })

  test('refuses YAML and SQL in another encoding, by name', async () => {
    for (const name of ['logs.all.yaml', 'logs.all.sql']) {
      const file = join(queries, name)
      const text = readFileSync(file, 'utf8')
      for (const bytes of [
        Buffer.from(`\uFEFF${text}`, 'utf16le'),
        Buffer.from(text, 'utf16le'),
        Buffer.from('# \xe9', 'latin1'),
      ]) {
        writeFileSync(file, bytes)
        expect(await refusal()).toBe(`${name}:1:1 is not in UTF-8: save it in that encoding`)
      }
      writeFileSync(file, `\uFEFF${text}`)
      expect(() => readQueries(queries)).not.toThrow()
      writeFileSync(file, text)
    }
  })

  test('refuses a definition whose name ends otherwise, in place of leaving it out', async () => {
    writeFileSync(join(queries, 'other.yml'), 'description: d')
    expect(await refusal()).toBe('other.yml:1:1 is not read: definitions end in .yaml')
  })

  test('creates new endpoints, and changes nothing when it is called again', async () => {
    expect(await run()).toEqual([
      '+ logs.all created',
      '+ service.usage created',
      '+ usage.api-counts created',
      '+ usage.api-counts.rollup to be made by the engine',
      '+ usage.api-counts.hours.rollup to be made by the engine',
      '3 changed.',
    ])
    const before = await services.endpoints.all()
    const unchanged = ['logs.all', 'service.usage', 'usage.api-counts'].map(name => `= ${name} unchanged`)
    expect(await run()).toEqual([...unchanged, '0 changed.'])
    expect(await services.endpoints.all()).toEqual(before)
  })

  test('with --dry-run prints the plan and does nothing', async () => {
    const lines = await run(true)
    expect(lines.at(-1)).toBe('3 to change; nothing was done (--dry-run).')
    // This engine makes no estimates, and there is nothing to say of that.
    expect(lines.join('\n')).not.toContain('estimate')
    expect(await services.endpoints.all()).toEqual([])
  })

  test('shows the lines that change, and removes an endpoint whose files are gone', async () => {
    await run()
    edit('usage.api-counts.yaml', text => text.replace('seconds: 900', 'seconds: 600'))
    rmSync(join(queries, 'logs.all.sql'))
    rmSync(join(queries, 'logs.all.yaml'))
    const lines = await run()
    expect(lines).toContain('- logs.all removed')
    const [diff] = lines.filter(line => line.startsWith('    '))
    expect(diff?.split('\n').map(line => line.trim())).toEqual(
      expect.arrayContaining(['-  "cacheSeconds": 900,', '+  "cacheSeconds": 600,']),
    )
    expect((await services.endpoints.all()).map(({ name }) => name)).toEqual([
      'service.usage',
      'usage.api-counts',
    ])
  })

  test('warns of an endpoint that redacts and takes SQL, which shows values past redaction', async () => {
    editAlone('logs.all.yaml', text => text.replace('redact: false', 'redact: true'))
    expect((await run(true)).filter(line => line.startsWith('!'))).toEqual([
      '! logs.all redacts: its callers’ SQL takes a key with pii:read; sandbox: { redacted: allow } lifts that',
    ])
    edit('logs.all.yaml', text => text.replace('sandbox: true', 'sandbox: { redacted: allow }'))
    expect((await run(true)).filter(line => line.startsWith('!'))).toEqual([
      '! logs.all redacts: sandbox allows it all the same, so every caller can read any value through SQL',
    ])
    edit('logs.all.yaml', text => text.replace('redact: true', 'redact: false'))
    expect((await run(true)).filter(line => line.startsWith('!'))).toEqual([])
  })

  test('is all or nothing when another process changes the store meanwhile', async () => {
    await run()
    edit('logs.all.yaml', text => text.replace('maxRows: 1000', 'maxRows: 500'))
    edit('usage.api-counts.yaml', text => text.replace('seconds: 900', 'seconds: 800'))
    const wanted = readQueries(queries).map(({ endpoint }) => endpoint)
    const plan = await planFor(wanted, services.store)
    await services.store.update({ collection: 'endpoints', id: wanted.at(-1)!.id }, { set: { other: 1 } })
    await expect(carryOut(plan, services.store, null)).rejects.toThrow(StoreError)
    expect((await services.endpoints.all()).map(({ maxRows }) => maxRows)).toEqual([1000, 5000, 1000])
  })
})

describe('apply refuses, naming file, line and column,', () => {
  beforeAll(open)
  afterAll(close)

  test.each([
    [
      '{ app: { time: timestamp } }',
      'explore.app is no table of the WITH; here are edge_logs, postgres_logs',
    ],
    [
      '{ edge_log: { time: timestamp } }',
      'explore.edge_log is no table of the WITH; did you mean edge_logs?',
    ],
    [
      '{ edge_logs: { time: timestmp } }',
      'names timestmp, and there is no timestmp; did you mean timestamp?',
    ],
    ['{ edge_logs: { time: id } }', 'explore.edge_logs.time must be TIMESTAMP, and id is STRING'],
    ['{ edge_logs: { severity: metadata.response } }', 'which has fields of its own: name one of them'],
    [
      '{ edge_logs: { fields: [id, metadata.request.pth] } }',
      'fields.1 names metadata.request.pth, and there is no pth',
    ],
    ['{ edge_logs: { colour: id } }', 'is not known'],
  ])('explore where it is %s', async (explore, expected) => {
    editAlone('logs.all.yaml', text => `${text}explore: ${explore}\n`)
    const text = await refusal()
    expect(text).toMatch(/^logs\.all\.yaml:\d+:\d+ /)
    expect(text).toContain(expected)
  })

  test.each([
    [
      '{ interval: { weekly: { bucket: P7D, last: P30D } } }',
      'chart.interval.weekly must be one of minutely',
    ],
    ['{ width: { daily: { bucket: P1D, last: P7D } } }', 'names width, not declared'],
    ['{ interval: { daily: { bucket: 1d, last: P7D } } }', 'must match pattern'],
  ])('chart where it is %s', async (chart, expected) => {
    editAlone('usage.api-counts.yaml', text => text.replace(/^chart:[\s\S]*/m, `chart: ${chart}\n`))
    const text = await refusal()
    expect(text).toMatch(/^usage\.api-counts\.yaml:\d+:\d+ /)
    expect(text).toContain(expected)
  })

  test('explore without a sandbox', async () => {
    editAlone(
      'logs.all.yaml',
      text => `${text.replace('sandbox: true', 'sandbox: false')}explore: { edge_logs: { time: id } }\n`,
    )
    expect(await refusal()).toMatch(/^logs\.all\.yaml:\d+:\d+ .*needs sandbox: true/)
  })

  test.each([
    [/DESC\nLIMIT 100\s*$/, '\nLIMIT 100', /^logs\.all\.sql:\d+:10 .*must be sorted by its time/],
    [/LIMIT 100\s*$/, '', /^logs\.all\.sql:\d+:1 .*needs a LIMIT/],
    [
      /t.project = @project/,
      't.id != CAST(@iso_timestamp_start AS STRING)',
      /^logs\.all\.sql:\d+:22 .*may only bound/,
    ],
  ])('newestFirst where %s is %j', async (from, to, expected) => {
    editAlone('logs.all.sql', text =>
      text.replace(from, to).replace(/t.project = @project/, 't.id = @project'),
    )
    expect(await refusal()).toMatch(expected)
  })

  test.each([
    [
      'logs.all.sql',
      /DESC\nLIMIT 100\s*$/,
      'DESC, event_message\nLIMIT 100',
      /^logs\.all\.sql:\d+:10 pages need ORDER BY timestamp DESC/,
    ],
    [
      'logs.all.yaml',
      'by: [timestamp, id]',
      'by: [timestamp, uuid]',
      /^logs\.all\.sql:\d+:1 pages need uuid among/,
    ],
    [
      'logs.all.yaml',
      'by: [timestamp, id]',
      'by: [timestamp, metadata]',
      /yaml:\d+:\d+ page.by.1 must be a STRING, and is metadata ARRAY/,
    ],
    ['logs.all.yaml', 'cache:', 'warm: { seconds: 60 }\ncache:', /yaml:\d+:\d+ page does not go with warm/],
    [
      'logs.all.yaml',
      '    project:\n',
      '    cursor: { type: string }\n    project:\n',
      /yaml:\d+:\d+ parameters.properties.cursor has a name that pages take/,
    ],
  ])('pages where %s has for %s %j', async (file, from, to, expected) => {
    editAlone(file, text => text.replace(from, to))
    expect(await refusal()).toMatch(expected)
  })

  test('newestFirst without its parameters, or with steps that do not grow', async () => {
    editAlone('logs.all.yaml', text =>
      text.replace('start: iso_timestamp_start', 'start: project').replace('P7D', 'P1D'),
    )
    expect((await refusal()).split('\n')).toEqual([
      expect.stringMatching(
        /yaml:\d+:10 newestFirst.start names project, which must be a parameter with the format/,
      ),
      expect.stringMatching(/yaml:\d+:28 newestFirst.steps.3 must be longer than the one before/),
    ])
  })

  test('an endpoint whose name takes files of another', async () => {
    const copy = (name: string, id: string) => {
      cpSync(join(queries, 'logs.all.sql'), join(queries, `${name}.sql`))
      const yaml = readFileSync(join(queries, 'logs.all.yaml'), 'utf8')
      writeFileSync(join(queries, `${name}.yaml`), yaml.replace(/id: .*/, `id: ${id}`))
    }
    copy('mine.test', '0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e91')
    copy('usage.api-counts.rollup', '0b1f3c5e-6d3c-4f6e-9a55-1f0a4c2d7e92')
    expect((await refusal()).split('\n')).toEqual([
      expect.stringMatching(
        /^usage\.api-counts\.yaml:\d+:\d+ rollup\.query names usage\.api-counts\.rollup\.sql, which is the query of the endpoint/,
      ),
      'mine.test.sql:1:1 the name must not end with .test: such files are tests of the endpoint before it',
    ])
  })

  test('SQL that does not parse', async () => {
    editAlone('usage.api-counts.sql', text => text.replace('GROUP BY bucket', 'GROUPED BY bucket'))
    expect(await refusal()).toMatch(/^usage\.api-counts\.sql:37:9 .*BY/)
  })

  test('a parameter in the SQL that is not declared', async () => {
    editAlone('usage.api-counts.sql', text =>
      text.replace('REGEXP_CONTAINS(r.url, @project)', 'r.url = @proyect'),
    )
    expect(await refusal()).toMatch(/usage\.api-counts\.sql:28:17 @proyect is not declared in .*yaml/)
  })

  test('a declared parameter that is not in the SQL', async () => {
    editAlone('usage.api-counts.sql', text => text.replace('REGEXP_CONTAINS(r.url, @project)', 'TRUE'))
    expect(await refusal()).toMatch(
      /usage\.api-counts\.yaml:\d+:\d+ project is declared, but @project is not in the SQL/,
    )
  })

  test('a query whose dry run fails', async () => {
    editAlone('usage.api-counts.sql', text => text.replace('r.path AS path', 'r.patch AS path'))
    expect(await refusal()).toMatch(/usage\.api-counts\.sql:10:\d+ .*patch.*path/)
  })

  test('a missing table', async () => {
    editAlone('usage.api-counts.sql', text => text.replace('cloudflare.logs.prod', 'cloudflare.logs.test'))
    expect(await refusal()).toMatch(/usage\.api-counts\.sql:11:\d+ /)
  })

  test('a setting that the schema does not know', async () => {
    editAlone('usage.api-counts.yaml', text => text.replace('sandbox: true', 'maxRows: none'))
    expect(await refusal()).toMatch(/usage\.api-counts\.yaml:21:10 maxRows must be integer/)
  })

  test.each([
    [
      'a default of another type',
      'type: string',
      'type: string\n      default: 5',
      '9:16',
      'must be one of minutely, hourly, daily, 15min, 30min, 3hr, 1day, 3day, 1hr, 7day; must be string',
    ],
    [
      'a whole number with more digits than are kept',
      'type: string\n      format: regular-expression',
      'type: integer\n      default: 9007199254740993',
      '13:16',
      'must be a whole number within ±(2^53 - 1)',
    ],
    [
      'a default that is no choice',
      'type: string',
      'type: string\n      default: weekly',
      '9:16',
      'must be one of minutely',
    ],
    [
      'a default over a bound',
      'maxLength: 500',
      'maxLength: 2\n      default: abc',
      '16:16',
      'is longer than 2 characters',
    ],
    [
      'an example that does not fit',
      'maxLength: 500',
      'maxLength: 3',
      '16:18',
      'project.examples.0 is longer than 3',
    ],
    [
      'a choice of another type',
      'enum: [minutely, hourly, daily, 15min,',
      'enum: [minutely, hourly, daily, 1, 15min,',
      '9:39',
      'interval.enum.3 must be string',
    ],
    [
      'a regular expression that is none',
      'maxLength: 500',
      'maxLength: 500\n      default: "("',
      '16:16',
      'project.default is refused: Bad regular expression',
    ],
  ])('%s', async (_, from, to, place, message) => {
    editAlone('usage.api-counts.yaml', text => text.replace(from, to))
    const text = await refusal()
    expect(text).toContain(message)
    expect(text).toMatch(new RegExp(`^usage\\.api-counts\\.yaml:${place} `))
  })

  test('a time that is none, and takes one', async () => {
    const withDefault = (time: string) => (text: string) =>
      text.replace('format: iso-timestamp', `format: iso-timestamp\n      default: ${time}`)
    editAlone('logs.all.yaml', withDefault('yesterday'))
    expect(await refusal()).toContain('iso_timestamp_start.default must be an ISO 8601 time')
    editAlone('logs.all.yaml', text => text.replace('default: yesterday', "default: '2026-01-31'"))
    expect((await run(true)).at(-1)).toBe('1 to change; nothing was done (--dry-run).')
  })

  test.each([
    [
      'a field that there is not',
      (text: string) => `${text}\nmaxrows: 5\n`,
      /:\d\d:1 maxrows is not known; did you mean maxRows\?/,
    ],
    [
      'a name that no parameter can have',
      (text: string) => text.replace('    project:\n', '    pro-ject:\n'),
      /:\d\d:5 parameters\.properties\.pro-ject as a name must match/,
    ],
    [
      'two documents',
      (text: string) => `${text}\n---\nname: b\n`,
      /holds several documents: write one a file/,
    ],
    [
      'aliases of aliases',
      (text: string) => {
        const lists = Array.from(
          { length: 9 },
          (_, at) => `a${at + 1}: &a${at + 1} [${`*a${at}, `.repeat(9)}]\n`,
        )
        return `${text}\na0: &a0 [x]\n${lists.join('')}`
      },
      /aliases \(\*name\) stand for too much/,
    ],
    ['an alias without an anchor', (text: string) => `${text}\nx: *y\n`, /:\d\d:4 there is no anchor &y/],
    [
      'a tab',
      (text: string) => text.replace('  when: {', '\twhen: {'),
      /:\d\d:1 Tabs are not allowed as indentation$/m,
    ],
  ])('%s', async (_, change, message) => {
    editAlone('usage.api-counts.yaml', change)
    expect(await refusal()).toMatch(message)
  })

  test('malformed YAML', async () => {
    edit('usage.api-counts.yaml', text => text.replace('sandbox: true', 'sandbox: [true'))
    expect(await refusal()).toMatch(/usage\.api-counts\.yaml:\d+:\d+ /)
  })

  test('a file without its other half', async () => {
    rmSync(join(queries, 'logs.all.sql'))
    writeFileSync(join(queries, 'alone.sql'), 'SELECT 1')
    expect(await refusal()).toBe(
      'logs.all.yaml:1:1 has no .sql beside it\nalone.sql:1:1 has no .yaml beside it, and no other .yaml names it',
    )
  })

  test('two endpoints of one id', async () => {
    cpSync(join(queries, 'logs.all.sql'), join(queries, 'logs.copy.sql'))
    cpSync(join(queries, 'logs.all.yaml'), join(queries, 'logs.copy.yaml'))
    expect(await refusal()).toMatch(
      /logs\.copy\.yaml:2:5 id is also that of logs\.all\.yaml: .* needs its own, such as [0-9a-f-]{36}$/,
    )
    const long = new Date('2020-01-01')
    utimesSync(join(queries, 'logs.copy.yaml'), long, long)
    expect(await refusal()).toMatch(/logs\.all\.yaml:2:5 id is also that of logs\.copy\.yaml/)
  })

  test.each([
    ['edge_logs', 'edge_logs is a table inside the endpoint logs.all'],
    ['postgres_logs', 'postgres_logs is a table inside the endpoint logs.all', 'postgres.logs'],
    [
      'Edge_log',
      'Table not found: edge_log; did you mean edge_logs? That is a table inside the endpoint logs.all',
    ],
  ])(
    'a table %s that another endpoint makes for callers, and what to read',
    async (table, said, real = '') => {
      writeFileSync(join(queries, 'mine.sql'), `SELECT id FROM ${table}`)
      const id = '92a7c4e8-0d5b-4e16-b3f9-c68d1e7a2f46'
      writeFileSync(
        join(queries, 'mine.yaml'),
        `id: ${id}\ndescription: M.\nparameters: { properties: {} }\n`,
      )
      const [made, source] = real ? [table, real] : ['edge_logs', 'cloudflare.logs.prod']
      const remedy = `copy ${made} from the WITH of logs.all.sql, or read FROM \`${source}\``
      expect(await refusal()).toBe(`mine.sql:1:16 ${said}, which others do not see: ${remedy}`)
    },
  )

  test('a table that several endpoints make, for callers or for themselves, and names all of them', async () => {
    for (const [name, id] of [
      ['a.logs', '92a7c4e8-0d5b-4e16-b3f9-c68d1e7a2f46'],
      ['b.logs', '92a7c4e8-0d5b-4e16-b3f9-c68d1e7a2f47'],
      ['mine', '92a7c4e8-0d5b-4e16-b3f9-c68d1e7a2f48'],
    ] as const) {
      const own = `WITH own_rows AS (SELECT id FROM \`postgres.logs\`) SELECT id FROM own_rows`
      const [sql, more] = name === 'mine' ? ['SELECT id FROM own_rows', ''] : [own, 'sandbox: true\n']
      writeFileSync(join(queries, `${name}.sql`), sql)
      const yaml = `id: ${id}\ndescription: M.\nparameters: { properties: {} }\n${name === 'a.logs' ? more : ''}`
      writeFileSync(join(queries, `${name}.yaml`), yaml)
    }
    const ways = ['a', 'b'].map(
      n => `copy own_rows from the WITH of ${n}.logs.sql, or read FROM \`postgres.logs\``,
    )
    expect(await refusal()).toBe(
      'mine.sql:1:16 own_rows is a table inside each of the endpoints a.logs, b.logs, which others do not see: ' +
        `of the one that you mean ${ways.join('; ')}`,
    )
  })

  test('a definition without an id, with one to paste', async () => {
    edit('logs.all.yaml', text => text.replace(/^id: .*\n/m, ''))
    expect(await refusal()).toMatch(
      /^logs\.all\.yaml:\d+:1 needs id, such as id: [0-9a-f-]{36} \(made now, yours to paste\)$/,
    )
  })

  test('every file at once, and then changes nothing', async () => {
    edit('logs.all.sql', text => `${text} oops`)
    edit('usage.api-counts.sql', text => `${text} oops`)
    expect((await refusal()).split('\n')).toHaveLength(2)
    expect(await services.endpoints.all()).toEqual([])
  })
})
