import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import { openServices } from '../../../shared/services.ts'
import { logsCommand } from '../logs/command.ts'
import { newFolder } from '../logs/testing/folder.ts'
import { runCommand } from '../testing/command.ts'
import { tableCommand } from './command.ts'

const entries = [
  '{"ts": 1769860800, "level": "info", "msg": "started", "http": {"status": 200}, "mixed": 1}',
  '{"ts": 1769860801.5, "level": "error", "msg": "failed", "http": {"status": 500}, "mixed": "x"}',
].join('\n')
const access = [
  '203.0.113.9 - ann [31/Jan/2026:12:00:00 +0000] "GET /a?b=c HTTP/1.1" 200 512 "https://example.com/" "curl/8"',
  '203.0.113.9 - - [31/Jan/2026:12:00:01 +0000] "-" 400 0 "-" "-"',
].join('\n')

/** A machine with one table, and a file. */
function prepared(file: string, content: string | Buffer) {
  const folder = newFolder()
  const tablesFolder = join(folder, 'tables')
  mkdirSync(tablesFolder)
  cpSync('infra/tables/postgres.logs.json', join(tablesFolder, 'postgres.logs.json'))
  const path = join(folder, file)
  writeFileSync(path, content)
  const add = (...flags: string[]) => {
    const settings = () => ({ logsFolder: join(folder, 'data/logs'), tablesFolder })
    return runCommand(tableCommand(settings), ['add', path, ...flags])
  }
  const load = (table: string) => {
    const settings = () => ({ logsFolder: join(folder, 'data/logs'), tablesFolder })
    const command = logsCommand(settings, async () => {})
    return runCommand(command, ['load', table, path, '--format', file.endsWith('.csv') ? 'csv' : 'ndjson'])
  }
  const open = () =>
    openServices(
      loadConfig({ DATA_DIR: join(folder, 'data'), TABLES_DIR: tablesFolder, ENGINE_PROCESSES: '0' }),
    )
  return { add, load, open, path, schema: (name: string) => join(tablesFolder, `${name}.json`) }
}

describe('table add', () => {
  test('shows the columns, and makes nothing without a yes', async () => {
    const { add, schema } = prepared('app.ndjson', entries)
    const { code, out, err } = await add()
    expect(out.split('\n').slice(0, 9)).toEqual([
      'app, with the time of the field ts:',
      '  id         STRING',
      '  timestamp  TIMESTAMP',
      '  level      STRING',
      '  msg        STRING',
      '  http       RECORD',
      '    status  INT64',
      '  mixed      JSON',
      '',
    ])
    expect({ code, err }).toEqual({ code: 1, err: expect.stringMatching(/^No table was made\. With --yes/) })
    expect(existsSync(schema('app'))).toBe(false)
  })

  test('loads lines that are nested 500 levels deep as JSON, and names deeper ones', async () => {
    const nested = (levels: number) =>
      `{"ts": 1769860800, "deep": ${'['.repeat(levels)}${']'.repeat(levels)}}`
    const { add, open } = prepared('app.ndjson', [499, 500, 100_000].map(nested).join('\n'))
    const { err } = await add('--yes')
    for (const line of [2, 3])
      expect(err).toContain(`app.ndjson:${line}: the entry is nested deeper than 500`)
    const { engine, close } = await open()
    const found = await engine.run(
      { sql: 'SELECT deep FROM app', bindings: [] },
      { maxRows: 10, timeoutMs: 30_000 },
    )
    expect(found.rows).toHaveLength(1)
    await close()
    expect((await prepared('deep.ndjson', nested(100_000)).add('--yes')).err).toContain(
      'deep.ndjson:1: the entry is',
    )
  })

  test('names a schema file that is nested too deeply', async () => {
    const { add, schema } = prepared('app.ndjson', entries)
    const deep = 10_000
    writeFileSync(
      schema('other'),
      '[{"name": "a", "type": "RECORD", "fields": '.repeat(deep) + '[]' + '}]'.repeat(deep),
    )
    expect((await add('--yes')).err).toMatch(/other\.json is not .*: it is nested deeper than 500 levels/)
  })

  test('makes a table that a running service has at once, and loads the file', async () => {
    const { add, open, schema } = prepared('app.ndjson.gz', gzipSync(entries))
    const { engine, close } = await open()
    const run = (sql: string) => engine.run({ sql, bindings: [] }, { maxRows: 10, timeoutMs: 30_000 })
    await run('SELECT COUNT(*) AS n FROM `postgres.logs`')
    await expect(run('SELECT level FROM app')).rejects.toThrow('Table not found')
    const { code, out, err } = await add('--yes')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out).toContain(`The table app is in ${schema('app')}; a running service has it at once.\n`)
    expect(out).toContain('app: rows loaded: 2; bad lines: 0; from 2026-01-31T12:00:00.000000Z to')
    const { rows } = await run(
      'SELECT UNIX_SECONDS(timestamp) AS s, level, http.status, mixed FROM app ORDER BY timestamp',
    )
    expect(rows).toEqual([
      { s: 1769860800, level: 'info', status: 200, mixed: 1 },
      { s: 1769860801, level: 'error', status: 500, mixed: 'x' },
    ])
    await close()
  })

  test('makes a table of an access log, with columns for its fields', async () => {
    const { add, open } = prepared('access.log.1', access)
    expect(await add('--yes', '--name', 'nginx.access')).toMatchObject({ code: 0, err: '' })
    const { engine, close } = await open()
    const sql =
      'SELECT client, user, method, path, search, status, bytes, STRPOS(event_message, client) AS place FROM `nginx.access` ORDER BY timestamp'
    const { rows } = await engine.run({ sql, bindings: [] }, { maxRows: 10, timeoutMs: 30_000 })
    const unknown = { method: null, path: null, search: null }
    expect(rows).toEqual([
      {
        client: '203.0.113.9',
        user: 'ann',
        method: 'GET',
        path: '/a',
        search: '?b=c',
        status: 200,
        bytes: 512,
        place: 1,
      },
      { client: '203.0.113.9', user: null, ...unknown, status: 400, bytes: 0, place: 1 },
    ])
    await close()
  })

  test('makes a table of CSV, whose types are those of all texts in a column', async () => {
    const csv = [
      'ts;level;took;ok;code;note',
      '1769860800;info;1;true;007;"two\nlines"',
      '1769860801;error;2.5;false;12;""',
      '1769860802;too;few',
      '1769860803;warn;;true;x;"a;""b"""',
    ].join('\r\n')
    const { add, open, path } = prepared('app.csv.gz', gzipSync(`\ufeff${csv}\r\n`))
    const { code, out, err } = await add('--yes')
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('app: rows loaded: 3; bad lines: 1;'),
    })
    expect(err).toMatch(`${path}:5: values: 3, names: 6`)
    const columns = [
      'timestamp TIMESTAMP',
      'level STRING',
      'took FLOAT64',
      'ok BOOL',
      'code STRING',
      'note STRING',
    ]
    expect(out.replaceAll(/ +/g, ' ')).toContain(` ${columns.join('\n ')}\n`)
    const { engine, close } = await open()
    const sql = 'SELECT UNIX_SECONDS(timestamp) AS s, level, took, ok, code, note FROM app ORDER BY timestamp'
    const { rows } = await engine.run({ sql, bindings: [] }, { maxRows: 10, timeoutMs: 30_000 })
    expect(rows).toEqual([
      { s: 1769860800, level: 'info', took: 1, ok: true, code: '007', note: 'two\nlines' },
      { s: 1769860801, level: 'error', took: 2.5, ok: false, code: '12', note: null },
      { s: 1769860803, level: 'warn', took: null, ok: true, code: 'x', note: 'a;"b"' },
    ])
    await close()
  })

  test.each([
    ['app.csv', (values: unknown[]) => values.join(',')],
    [
      'app.ndjson',
      (values: unknown[], names: string[]) =>
        JSON.stringify(Object.fromEntries(names.map((name, i) => [name, values[i]]))),
    ],
  ])(
    'loads fields of any names into the columns of %s, which add and load call alike',
    async (file, line) => {
      const names = ['date', 'took ms', 'is-ok', 'http.rate', '5xx', 'Group', 'a b', 'a_b', 'A-B', 'ID', '%']
      const values = [
        ['2026-11-22 10:00:00', 351.5, true, 0.25, 1, 'x', 'first', 1.5, 'other', 1, 2],
        ['2026-11-22 10:01:00', 7, false, 1, 2, 'y', 'second', 2, 'other', 2, 3],
      ]
      const head = file === 'app.csv' ? [names.join(',')] : []
      const { add, load, open, path } = prepared(
        file,
        [...head, ...values.map(each => line(each, names))].join('\n'),
      )
      const { out, err } = await add('--yes')
      expect(out).toContain('rows loaded: 2; bad lines: 0')
      for (const field of ['a b', 'A-B', 'ID', '%']) expect(err).toContain(`left out: ${field}, unknown`)
      const { engine, close } = await open()
      const sql =
        'SELECT took_ms, is_ok, http_rate, _5xx, `Group`, a_b FROM app WHERE id != "1" ORDER BY timestamp'
      const rows = async () =>
        (await engine.run({ sql, bindings: [] }, { maxRows: 10, timeoutMs: 30_000 })).rows
      const loaded = [
        { took_ms: 351.5, is_ok: true, http_rate: 0.25, _5xx: 1, Group: 'x', a_b: 1.5 },
        { took_ms: 7, is_ok: false, http_rate: 1, _5xx: 2, Group: 'y', a_b: 2 },
      ]
      expect(await rows()).toEqual(loaded)
      const others = { 'took ms': 'TOOK MS', Group: 'group' }
      const renamed = names.map(name => others[name as keyof typeof others] ?? name)
      writeFileSync(
        path,
        [...(file === 'app.csv' ? [renamed.join(',')] : []), ...values.map(each => line(each, renamed))].join(
          '\n',
        ),
      )
      expect((await load('app')).out).toContain('rows loaded: 2; bad lines: 0')
      expect(await rows()).toEqual(loaded)
      await close()
    },
  )

  test('takes the field with the time from --time, also for the load', async () => {
    const { add } = prepared('app.ndjson', '{"begin": "2026-01-31T12:00:00Z", "n": 1}\n')
    expect((await add('--yes')).err).toContain(
      'has no time under a usual name, such as timestamp, time or ts; of its fields begin hold times: choose one with --time <field>',
    )
    expect((await add('--yes', '--time', 'beginn')).err).toContain(
      '--time beginn: no field of that name holds the time',
    )
    const { out, code } = await add('--yes', '--time', 'begin')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('app: rows loaded: 1') })
  })

  test('leaves lines out that are bad, and says which', async () => {
    const { add, path } = prepared('app.ndjson', `oops\n${entries}\n{"ts": "soon"}\n`)
    const { code, out, err } = await add('--yes')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('rows loaded: 2; bad lines: 2') })
    expect(err).toMatch(`${path}:1: not JSON`)
    expect(err).toMatch(`${path}:4: timestamp must be`)
  })

  test.each<[string, string, string[], string | RegExp]>([
    ['app.ndjson', '', [], /app\.ndjson is empty\. No table was made/],
    ['app.csv', 'ts,level\n', [], /app\.csv is empty\. No table was made/],
    ['app.csv', 'level,msg\ninfo,started\n', [], 'none of its fields holds times'],
    ['app.ndjson', 'some text\nmore', [], /app\.ndjson:1: not JSON: .*No table was made/],
    [
      'app.json',
      '[{"a": 1}]',
      [],
      / is one JSON array; give each entry a line: jq -c '\.\[\]' "\S+" > app-lines\.ndjson; npx lqe table add app-lines\.ndjson --name app\. No table was made\./,
    ],
    ['app.ndjson', '{"a": 1}', [], 'none of its fields holds times; a log table needs one in each entry'],
    ['1.ndjson', entries, [], 'is no name of a table: --name takes'],
    ['a.Rollup.ndjson', entries, [], 'a.Rollup is a name of roll-ups: choose another --name'],
    ['app.ndjson', entries, ['--name', 'a/b'], 'is no name of a table: --name takes'],
    [
      'postgres.logs.ndjson',
      entries,
      ['--name', 'postgres_logs'],
      /There is a table postgres\.logs: load the file into it with npx lqe logs load postgres\.logs "\S+", or/,
    ],
    [
      'postgres.logs.csv',
      'begin,msg\n2026-01-31T12:00:00Z,x\n',
      ['--time', 'begin'],
      /logs load postgres\.logs "\S+\/postgres\.logs\.csv" --format csv --time begin, or choose another --name/,
    ],
    ['postgres.logs', access, [], 'There is a table postgres.logs: choose another --name'],
    ['notes.md', '# Notes\n\n{\n  "a": 1\n}\n', [], /notes\.md:1: not JSON: .*No table was made/],
  ])('of %s with %j and %j says what is wrong, and makes nothing', async (file, content, flags, message) => {
    const { add, open } = prepared(file, content)
    const { code, out, err } = await add('--yes', ...flags)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toMatch(message)
    await (await open()).close()
  })

  test('takes the table back whose file cannot be loaded, and makes it of a whole one', async () => {
    const lines = Array.from({ length: 120_000 }, (_, n) => `{"ts": 1769860800, "n": ${n}}\n`).join('')
    const whole = gzipSync(lines)
    const { add, path, schema } = prepared('app.ndjson.gz', whole.subarray(0, -8))
    const { code, err } = await add('--yes')
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringMatching(/^The table app is taken back, .*\n.* damaged or ends early/),
    })
    expect(existsSync(schema('app'))).toBe(false)
    writeFileSync(path, gzipSync(entries))
    expect(await add('--yes')).toMatchObject({ code: 0, out: expect.stringContaining('rows loaded: 2') })
  })

  test('reads files alone', async () => {
    const command = () => tableCommand(() => ({ logsFolder: newFolder(), tablesFolder: 'infra/tables' }))
    expect((await runCommand(command(), ['add', '-'])).err).toContain('name a file, not -')
    expect((await runCommand(command(), ['add', '/missing'])).err).toContain(
      '"/missing" cannot be read (ENOENT)',
    )
  })

  test('writes a schema that other tools read: BigQuery’s', async () => {
    const { add, schema } = prepared('app.ndjson', entries)
    await add('--yes')
    expect(JSON.parse(readFileSync(schema('app'), 'utf8'))).toEqual([
      { name: 'id', type: 'STRING', mode: 'REQUIRED' },
      { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
      { name: 'level', type: 'STRING', mode: 'NULLABLE' },
      { name: 'msg', type: 'STRING', mode: 'NULLABLE' },
      {
        name: 'http',
        type: 'RECORD',
        mode: 'NULLABLE',
        fields: [{ name: 'status', type: 'INT64', mode: 'NULLABLE' }],
      },
      { name: 'mixed', type: 'JSON', mode: 'NULLABLE' },
    ])
  })
})
