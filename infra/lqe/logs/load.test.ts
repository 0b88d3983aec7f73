import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { openDuckDb } from '../../../shared/engines/duckdb/engine.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import { CommandError } from '../command.ts'
import { loadLogs, type LoadOptions } from './load.ts'
import { files, newFolder, query, tablesFolder } from './testing/folder.ts'
import { rounds } from '../../../shared/testing/rounds.ts'

/** Loads bytes, as a file, into the table of a fresh folder or of `folder`. */
async function load(content: string | Buffer, options: Partial<LoadOptions> & { folder?: string } = {}) {
  const folder = options.folder ?? newFolder()
  const file = join(folder, 'input')
  writeFileSync(file, content)
  const report: string[] = []
  const out = (line: string) => report.push(line.replaceAll(folder, ''))
  const all = {
    logsFolder: join(folder, 'logs'),
    tablesFolder,
    table: 'postgres.logs',
    files: [file],
    out,
    ...options,
  }
  const loaded = await loadLogs(all)
  const rows = (sql: string) => query(all.logsFolder, all.table, sql)
  return { folder, loaded, report, rows, logs: all.logsFolder }
}

const line = (entry: object) =>
  `${JSON.stringify({ timestamp: '2026-01-31T12:00:00Z', project: 'p', ...entry })}\n`

describe('a load of CSV', () => {
  const rows = Array.from({ length: 500 }, (_, i) => `2026-01-31T12:00:00Z,p,${(i * 7919) % 1000}\n`).join('')
  const csv = `timestamp,project,event_message\n${rows}`
  const packed = gzipSync(csv)

  test.each(['log[1].csv', 'a?.csv', 'a*.csv', '{a,b}.csv', "it's.csv", '**'])(
    'reads the file %s, and no other by its name',
    async name => {
      const folder = newFolder()
      for (const other of ['log1.csv', 'ab.csv', 'a.csv']) writeFileSync(join(folder, other), csv)
      writeFileSync(join(folder, name), csv.slice(0, csv.indexOf('\n', 40) + 1))
      const { loaded } = await load('', { format: 'csv', files: [join(folder, name)] })
      expect(loaded).toMatchObject({ rows: 1, badLines: 0 })
    },
  )

  test.each<[string, (whole: Buffer) => Buffer]>([
    ['ends early', whole => whole.subarray(0, -8)],
    ['ends in the middle', whole => whole.subarray(0, whole.length / 2)],
    ['has another checksum', whole => whole.fill(0xff, whole.length - 8, whole.length - 4)],
    ['has other bytes', whole => whole.fill(0xff, whole.length / 2, whole.length / 2 + 1)],
  ])('of gzip data that %s is refused, and what the file brought before stays', async (_what, damaged) => {
    const folder = newFolder()
    const { rows } = await load(packed, { folder, format: 'csv' })
    const again = load(damaged(Buffer.from(packed)), { folder, format: 'csv' })
    await expect(again).rejects.toThrow('the gzip data is damaged or ends early. Nothing was loaded.')
    expect(await rows('SELECT COUNT(*) AS n FROM logs')).toEqual([{ n: '500' }])
  })
})

describe('a load of NDJSON', () => {
  test('keeps every field of plain and of listed metadata', async () => {
    const parsed = { process_id: 7, hint: 'h' }
    const { rows, loaded, report } = await load(
      line({ id: 'a', event_message: 'm', project: 'p', metadata: { host: 'db', parsed } }) +
        line({ id: 'b', project: 'q', metadata: [{ host: 'db', parsed: [parsed] }] }),
    )
    expect(loaded).toMatchObject({ rows: 2, badLines: 0 })
    expect(report).toEqual([])
    const sql = `SELECT id, event_message, project, metadata[1].host AS host, metadata[1].parsed[1].process_id AS pid,
      metadata[1].parsed[1].hint AS hint, metadata[1].parsed[1].detail AS detail FROM logs ORDER BY id`
    const same = { host: 'db', pid: '7', hint: 'h', detail: null }
    expect(await rows(sql)).toEqual([
      { id: 'a', event_message: 'm', project: 'p', ...same },
      { id: 'b', event_message: null, project: 'q', ...same },
    ])
  })

  test('keeps times to the microsecond, from ISO 8601 and from integers', async () => {
    const { rows, loaded } = await load(
      [
        '"2026-01-31T12:00:00.123456Z"',
        '"2026-01-31T13:00:00.123457+01:00"',
        '1769860800123458',
        '"1769860800123459"',
        '253402300799999999',
      ]
        .map(timestamp => `{"timestamp":${timestamp}}\n`)
        .join(''),
    )
    expect(await rows('SELECT epoch_us(timestamp) AS us FROM logs ORDER BY 1')).toEqual([
      { us: '1769860800123456' },
      { us: '1769860800123457' },
      { us: '1769860800123458' },
      { us: '1769860800123459' },
      { us: '253402300799999999' },
    ])
    expect(loaded).toMatchObject({
      first: '2026-01-31T12:00:00.123456Z',
      last: '9999-12-31T23:59:59.999999Z',
    })
  })

  test('reads gzip, CRLF, a byte order mark and blank lines', async () => {
    const { rows, loaded } = await load(
      gzipSync(`\ufeff${line({ id: 'a' })}\r\n  \r\n${line({ id: 'b' }).trim()}\r\n`),
    )
    expect(loaded).toMatchObject({ rows: 2, badLines: 0 })
    expect(await rows('SELECT id FROM logs ORDER BY id')).toEqual([{ id: 'a' }, { id: 'b' }])
  })

  test('reads standard input', async () => {
    const { loaded } = await load('', { files: ['-'], stdin: Readable.from([Buffer.from(line({}))]) })
    expect(loaded.rows).toBe(1)
  })

  test('makes U+FFFD of bytes that are not UTF-8, and reports them', async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"timestamp":1,"project":"p","event_message":"a'),
      Buffer.from([0xff]),
      Buffer.from('"}'),
    ])
    const { rows, report } = await load(bytes)
    expect(await rows('SELECT event_message FROM logs')).toEqual([{ event_message: 'a\ufffd' }])
    expect(report).toEqual(['bytes that are not UTF-8 became U+FFFD; lines: 1'])
  })

  test('reports bad lines by number and reason, and loads the others', async () => {
    const { loaded, report } = await load(
      `${line({})}{"timestamp":"noon"}\nnot json\n${line({ metadata: { parsed: 5 } })}${line({})}`,
    )
    expect(loaded).toMatchObject({ rows: 2, badLines: 3 })
    expect(report).toEqual([
      '/input:2: timestamp must be an ISO 8601 time or a time since 1970, not the string "noon"',
      expect.stringMatching(/^\/input:3: not JSON: /),
      '/input:4: metadata.parsed must be an object, not 5',
    ])
  })

  test('reports twenty bad lines, and the number of the others', async () => {
    const { report } = await load('x\n'.repeat(25))
    expect(report).toHaveLength(21)
    expect(report[20]).toBe('... and 5 more')
  })

  test('reports a field that the table lacks once, with the number of its lines', async () => {
    const { report } = await load(line({ metadata: { colour: 1 } }).repeat(3) + line({ size: 1 }))
    expect(report).toEqual([
      'left out: metadata.colour, unknown to the table; lines: 3',
      'left out: size, unknown to the table; lines: 1',
    ])
  })

  test('counts, by name, the rows that lack their project, and the lines without a time', async () => {
    const { loaded, report } = await load(
      `${line({ project: null })}${line({ project: '' })}${line({})}{"a":1}\n`,
    )
    expect(loaded).toMatchObject({ rows: 3, badLines: 1, withoutProject: 2, unknownFields: 1 })
    expect(report).toEqual([
      '/input:4: timestamp is missing',
      'left out, as they have no timestamp; lines: 1',
      'left out: a, unknown to the table; lines: 1',
      'without project, so that an endpoint such as logs.all does not find them; rows: 2',
    ])
  })

  test.each([
    ['deno-relay-logs', 'metadata.project_ref', { project_ref: 'p' }],
    ['storage.logs.prod.2', 'metadata.project', { project: 'p' }],
  ])('knows that %s has it as %s', async (table, field, metadata) => {
    const entries = [{ metadata }, { metadata: [metadata] }, { metadata: {} }, {}]
    const { loaded, report } = await load(
      entries.map(entry => line({ ...entry, project: undefined })).join(''),
      { table },
    )
    expect(loaded).toMatchObject({ rows: 4, withoutProject: 2, unknownFields: 0 })
    expect(report).toEqual([expect.stringMatching(`^without ${field}, .*; rows: 2$`)])
  })

  test('shows no control characters of a log on the terminal', async () => {
    const { report } = await load(line({ '\u001b[2Jname': 1 }))
    expect(report[0]).toContain('left out: \u001b[2Jname')
  })

  test('reports a huge line, and loads the others', async () => {
    const { loaded, report } = await load(line({ event_message: 'x'.repeat(10_000_000) }) + line({}))
    expect(loaded).toMatchObject({ rows: 1, badLines: 1 })
    expect(report).toEqual(['/input:1: longer than 10000000 bytes; is it one JSON array?'])
  })

  test('takes a line of nearly that size', async () => {
    const { rows } = await load(line({ event_message: '€'.repeat(3_000_000) }))
    expect(await rows('SELECT length(event_message) AS length FROM logs')).toEqual([{ length: '3000000' }])
  })

  test('is sorted by time', async () => {
    const minutes = [5, 3, 9, 1, 7]
    const { rows } = await load(
      minutes.map(minute => line({ timestamp: `2026-01-31T12:0${minute}:00Z` })).join(''),
    )
    const read = await rows('SELECT minute(timestamp) AS minute FROM logs')
    expect(read.map(({ minute }) => Number(minute))).toEqual([1, 3, 5, 7, 9])
  })
})

describe('loading again', () => {
  const content = line({ event_message: 'a' }) + line({ event_message: 'a' })
  const ids = 'SELECT DISTINCT id FROM logs ORDER BY id'

  test('replaces what the same file brought, packed or not, with the same ids', async () => {
    const { folder, rows } = await load(content)
    const before = await rows(ids)
    await load(gzipSync(content), { folder })
    expect(before).toHaveLength(2)
    expect(await rows(ids)).toEqual(before)
    expect(await rows('SELECT count(*) AS count FROM logs')).toEqual([{ count: '2' }])
  })

  const count = 'SELECT count(*) AS count FROM logs'
  const more = line({ event_message: 'b' })

  test('replaces what a file brought before it grew, and says so', async () => {
    const { folder, rows } = await load(content)
    const { report } = await load(content + more, { folder })
    expect(await rows(count)).toEqual([{ count: '3' }])
    expect(report).toEqual(['/input: replaces the rows that it brought before: 2'])
  })

  test('replaces what the same path brought, and warns where that may have been rotated away', async () => {
    const { folder, rows } = await load(content)
    const { report } = await load(more, { folder })
    expect(await rows(count)).toEqual([{ count: '1' }])
    expect(report).toEqual([
      '/input: replaces the rows that it brought before: 2. It has other content now; if that was rotated away, load the older file under its new name',
    ])
  })

  test('finds a file that has grown under another name, packed or not, and standard input', async () => {
    const { folder, rows } = await load(content)
    const rotated = join(folder, 'input.1.gz')
    writeFileSync(rotated, gzipSync(content + more))
    const { report } = await load('', { folder, files: [rotated] })
    expect(await rows(count)).toEqual([{ count: '3' }])
    expect(report).toEqual(['/input.1.gz: replaces the rows that /input brought: 2'])
    await load(line({ event_message: 'new' }), { folder })
    expect(await rows(count)).toEqual([{ count: '4' }])
    const input = (text: string) => ({ folder, files: ['-'], stdin: Readable.from([Buffer.from(text)]) })
    await load('', input(line({ event_message: 'c' })))
    await load('', input(line({ event_message: 'd' })))
    expect(await rows(count)).toEqual([{ count: '6' }])
    await load('', input(line({ event_message: 'd' }) + more))
    expect(await rows(count)).toEqual([{ count: '7' }])
  })

  test('adds another file', async () => {
    const { folder, rows } = await load(content)
    const other = join(folder, 'other')
    writeFileSync(other, more)
    expect((await load('', { folder, files: [other] })).report).toEqual([])
    expect(await rows(count)).toEqual([{ count: '3' }])
  })

  test('takes copies within one load once', async () => {
    const { folder } = await load(content)
    const copies = ['one', 'two'].map(name => join(folder, name))
    for (const copy of copies) writeFileSync(copy, content)
    const { loaded } = await load('', { folder, files: copies })
    expect(loaded.rows).toBe(2)
  })
})

test('a query sees a load of several files whole or not at all, while others follow', async () => {
  const folder = newFolder()
  const logsFolder = join(folder, 'logs')
  const paths = ['a', 'b', 'c'].map(name => join(folder, name))
  const loadAll = async (rows: number) => {
    for (const path of paths)
      writeFileSync(path, line({ event_message: String(rows), id: path }).repeat(rows))
    await load('', { folder, files: paths })
  }
  await loadAll(1)
  const engine = openDuckDb({ logsFolder, tables: readTableSchemas(tablesFolder) })
  const sql = `SELECT COUNT(*) AS entries, MIN(event_message) AS first, MAX(event_message) AS last FROM \`postgres.logs\``
  const done = new AbortController()
  const reading = (async () => {
    const seen = new Set<string>()
    while (!done.signal.aborted) {
      const { rows } = await engine.run({ sql, bindings: [] }, { maxRows: 1, timeoutMs: 30_000 })
      seen.add(JSON.stringify(rows[0]))
      await sleep(5)
    }
    return seen
  })()
  for (let rows = 2; rows <= 15; rows++) await loadAll(rows)
  done.abort()
  const seen = await reading
  const whole = Array.from({ length: 15 }, (_, at) => ({
    entries: 3 * (at + 1),
    first: String(at + 1),
    last: String(at + 1),
  }))
  expect(seen.size).toBeGreaterThan(3)
  expect([...seen].filter(state => !whole.some(each => JSON.stringify(each) === state))).toEqual([])
  await engine.close()
})

describe('a load that cannot be done', () => {
  const combined = { table: 'cloudflare.logs.prod', format: 'combined' } as const
  test.each<[string, Partial<LoadOptions>, string]>([
    [
      'names the tables there are',
      { table: 'nope' },
      'There is no log table "nope". The tables are:\n  cloudflare.logs.prod\n',
    ],
    ['names a missing file', { files: ['/missing.log'] }, '"/missing.log" cannot be read (ENOENT)'],
    ['refuses a folder', { files: ['/'] }, '"/" cannot be read (EISDIR)'],
    ['refuses a pipe and a device', { files: ['/dev/null'] }, '"/dev/null" is no regular file: pipe it in'],
    [
      'requires a table of web requests for an access log',
      { format: 'combined', project: 'p', host: 'h' },
      'load it into cloudflare.logs.prod, not postgres.logs, or make a table of it: npx lqe table add',
    ],
    ['requires a project', { ...combined, host: 'h' }, '--format combined needs --project'],
    ['requires a host', { ...combined, project: 'p' }, '--format combined needs --host'],
    [
      'requires a host, not a URL',
      { ...combined, project: 'p', host: 'https://h' },
      '--format combined needs --host',
    ],
    ['refuses a host for NDJSON', { host: 'h' }, '--project and --host are for --format combined'],
  ])('%s, and touches nothing', async (_what, options, message) => {
    const folder = newFolder()
    await expect(load('', { folder, ...options })).rejects.toThrow(CommandError)
    await expect(load('', { folder, ...options })).rejects.toThrow(message)
    expect(existsSync(join(folder, 'logs'))).toBe(false)
  })

  test.each<[string, string, Partial<LoadOptions>, string]>([
    [
      'is one JSON array',
      `[\n${line({}).trim()},\n${line({})}]`,
      {},
      `is one JSON array; give each entry a line: jq -c '.[]' "/input" | npx lqe logs load postgres.logs -`,
    ],
    ['is one JSON array in one line', `\n [${line({}).trim()}]`, {}, 'is one JSON array'],
    ['has entries of several lines', JSON.stringify({ timestamp: 1 }, null, 2), {}, 'jq -c . "/input"'],
    [
      'is an access log',
      '203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5 "-" "curl/8.5.0"\n',
      {},
      'is a web server\'s access log: npx lqe logs load cloudflare.logs.prod "/input" --format combined --project',
    ],
    [
      'is an access log in the common format',
      '203.0.113.9 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 5\n',
      {},
      '--format combined',
    ],
    [
      'is NDJSON, not an access log',
      line({}),
      { ...combined, project: 'p', host: 'h' },
      'holds JSON, not the combined format: leave out --format, --project and --host',
    ],
  ])('for a file that %s, says what to do, and touches nothing', async (_what, content, options, hint) => {
    const folder = newFolder()
    const error = await load(content, { folder, ...options }).catch((thrown: Error) => thrown)
    expect(error).toBeInstanceOf(CommandError)
    expect((error as Error).message.replaceAll(folder, '')).toContain(hint)
    expect((error as Error).message).toMatch(/Nothing was loaded\.$/)
    expect(readdirSync(join(folder, 'logs'))).toEqual([])
  })

  test('of bad lines alone leaves no table', async () => {
    const { loaded, logs } = await load('x\n')
    expect(loaded).toMatchObject({ rows: 0, badLines: 1, first: null, last: null })
    expect(readdirSync(logs)).toEqual([])
  })

  test('for a damaged second file leaves the table as it was', async () => {
    const { folder, logs } = await load(line({}))
    const before = files(logs, 'postgres.logs')
    const [good, bad] = [join(folder, 'good'), join(folder, 'bad')]
    writeFileSync(good, line({ id: 'x' }))
    writeFileSync(bad, gzipSync(line({ id: 'y' })).subarray(0, 20))
    await expect(load('', { folder, files: [good, bad] })).rejects.toThrow('bad: the gzip data is damaged')
    expect(files(logs, 'postgres.logs')).toEqual(before)
    expect(readdirSync(logs)).toEqual(['postgres.logs'])
  })

  test('for a damaged record of loads says what to do, and changes nothing', async () => {
    const { folder, logs } = await load(line({}))
    const record = join(logs, 'postgres.logs', 'loads.1.json')
    writeFileSync(record, '[')
    await expect(load(line({}), { folder })).rejects.toThrow(CommandError)
    await expect(load(line({}), { folder })).rejects.toThrow('Remove loads.*.json there, and load again')
    rmSync(record)
    expect((await load(line({}), { folder })).loaded.rows).toBe(1)
  })

  test('because it is stopped leaves the table as it was', async () => {
    const { folder, logs } = await load(line({}))
    const before = files(logs, 'postgres.logs')
    const controller = new AbortController()
    const stdin = new Readable({ read() {} })
    stdin.push(line({}).repeat(1000))
    setTimeout(() => controller.abort(new CommandError('Stopped.')), 50)
    const options = { folder, files: ['-'], stdin, signal: controller.signal }
    await expect(load('', options)).rejects.toThrow('Stopped.')
    expect(files(logs, 'postgres.logs')).toEqual(before)
    expect(readdirSync(logs)).toEqual(['postgres.logs'])
  })
})

describe('any bytes at all', () => {
  test.each(['ndjson', 'combined'] as const)('are loaded as %s or reported, line by line', async format => {
    const folder = newFolder()
    const site = format === 'combined' ? { project: 'p', host: 'www.example.com' } : {}
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 60 }).map(bytes => Buffer.from(bytes)),
      fc.json().map(text => Buffer.from(`{"timestamp":1,"metadata":${text}}`)),
      fc.constantFrom(Buffer.from('\n'), Buffer.from([0x1f, 0x8b]), Buffer.from(line({}))),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 10 }), async pieces => {
        // The start alone tells gzip and other formats, which are refused as a whole.
        const content = Buffer.concat([Buffer.from('x\n'), ...pieces])
        const { loaded } = await load(content, { folder, table: 'cloudflare.logs.prod', format, ...site })
        expect(loaded.rows + loaded.badLines).toBeLessThanOrEqual(
          content.toString('latin1').split('\n').length,
        )
      }),
      { numRuns: rounds(5, 2_000) },
    )
  })
})

describe('web server logs', () => {
  const web = {
    table: 'cloudflare.logs.prod',
    format: 'combined',
    project: 'shop',
    host: 'www.example.com',
  } as const
  const at = (time: string) => `203.0.113.9 - - [${time} +0000] "GET /a HTTP/1.1" 200 5 "-" "curl/8.5.0"\n`
  const content = at('17/May/2015:10:05:03') + at('17/May/2015:10:05:01')

  test('are requests at the edge', async () => {
    const { rows } = await load(content, web)
    const sql = `SELECT project, epoch_us(timestamp) AS us, metadata[1].request[1].url AS url,
      metadata[1].response[1].status_code AS status FROM logs`
    const same = { project: 'shop', url: 'https://www.example.com/a', status: '200' }
    expect(await rows(sql)).toEqual([
      { us: '1431857101000000', ...same },
      { us: '1431857103000000', ...same },
    ])
  })

  test('moved to now end there, and keep their distances', async () => {
    const now = new Date('2026-11-21T12:00:00.250Z')
    const { rows, loaded } = await load(content, { ...web, shiftToNow: true, now })
    expect(await rows('SELECT epoch_us(timestamp) - 1795262400000000 AS us FROM logs')).toEqual([
      { us: '-1750000' },
      { us: '250000' },
    ])
    expect(loaded).toMatchObject({
      first: '2026-11-21T11:59:58.250000Z',
      last: '2026-11-21T12:00:00.250000Z',
    })
  })

  test('moved again take the place of the first time', async () => {
    const { folder, rows } = await load(content, { ...web, shiftToNow: true })
    await load(content, { ...web, folder, shiftToNow: true })
    expect(await rows('SELECT count(*) AS count FROM logs')).toEqual([{ count: '2' }])
  })

  test('of another host are other entries', async () => {
    const { folder, rows } = await load(content, web)
    await load(content, { ...web, folder, host: 'api.example.com' })
    expect(await rows('SELECT count(*) AS count FROM logs')).toEqual([{ count: '4' }])
  })
})
