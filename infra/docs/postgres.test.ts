/** The recipes of clients.md, "PostgreSQL": `file_fdw` in PostgreSQL itself, and Wrappers' requests, read by its own rules. */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { edgeRow } from '../../functions/testing/edges.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'

const page = readFileSync(join(import.meta.dirname, 'clients.md'), 'utf8')
const [file, wrappers] = [...page.matchAll(/```sql\n(.*?)```/gs)].map(([, sql]) => sql!)
const project = 'mine'
/** With all that CSV and COPY have a meaning for. */
const event_message = '=say "x", \\.\n\\N\u001e\u001f é;'
const folder = mkdtempSync(join(tmpdir(), 'postgres-'))
let service: TestService

beforeAll(async () => {
  const row = edgeRow('a', new Date(Date.now() - 2_000).toISOString(), project, '/rest/v1/items')
  service = await startService({ tables: { 'cloudflare.logs.prod': [{ ...row, event_message }] } })
})

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

describe('Wrappers', () => {
  type Value = string | number | boolean | null | object

  /** `json_value_to_cell` of logflare_fdw.rs (0.1.1): the JSON that a column of a type takes. */
  const takes: Record<string, (value: Value) => boolean> = {
    boolean: value => typeof value === 'boolean',
    bigint: value => Number.isInteger(value),
    float8: value => typeof value === 'number',
    numeric: value => typeof value === 'number',
    text: value => typeof value === 'string',
    timestamp: value => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
    date: value => typeof value === 'string' && !Number.isNaN(Date.parse(value)),
  }

  /** `begin_scan`: one GET, with the parameters as a form has them; 404 is an empty table. */
  async function scan(
    endpoint: string,
    columns: Record<string, string>,
    parameters: Record<string, string>,
    apiUrl = `${service.url}/api/endpoints/query/`,
  ): Promise<Record<string, Value>[]> {
    const url = new URL(endpoint, apiUrl)
    for (const [name, value] of Object.entries(parameters)) url.searchParams.append(name, value)
    const response = await fetch(url, { headers: { 'x-api-key': service.key, accept: '*/*' } })
    if (response.status === 404) return []
    if (!response.ok) throw new Error(`HTTP status ${response.status}`)
    const { result } = (await response.json()) as { result: Record<string, Value>[] }
    return result.map(record => {
      const cells = Object.entries(columns).map(([name, type]) => {
        if (name === '_result') return [name, JSON.stringify(record)]
        if (name.startsWith('_param_')) return [name, parameters[name.slice('_param_'.length)] ?? null]
        if (!Object.hasOwn(record, name)) return [name, null]
        if (!takes[type]!(record[name]!)) throw new Error(`column '${name}' data type not match`)
        return [name, record[name]!]
      })
      return Object.fromEntries(cells) as Record<string, Value>
    })
  }

  test('get the rows of the page’s table, with its parameters', async () => {
    const [, list = '', endpoint = ''] = /create foreign table \w+ \((.*?)\) server.*endpoint '(.*?)'/s.exec(
      wrappers!,
    )!
    const columns = Object.fromEntries(
      list
        .trim()
        .split(/,\s*/)
        .map(column => column.split(' ')),
    )
    const parameters = Object.fromEntries(
      [...wrappers!.matchAll(/_param_(\w+) = '(\w+)'/g)].map(([, name, value]) => [name!, value!]),
    )
    const [, apiUrl = ''] = /api_url '(.*?)'/.exec(wrappers!)!
    const rows = await scan(
      endpoint,
      columns,
      parameters,
      apiUrl.replace('http://localhost:8080', service.url),
    )
    expect(rows).toEqual([
      {
        timestamp: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00$/),
        total_rest_requests: 1,
        _param_interval: 'daily',
        _param_project: project,
        _result: expect.stringContaining('total_auth_requests'),
      },
    ])
  })

  const cell = (sql: string, type: string) =>
    scan('logs.all', { x: type }, { project, sql: `SELECT ${sql} AS x` }).then(
      ([row]) => row!['x'],
      (error: Error) => error.message,
    )
  const refused = "column 'x' data type not match"

  test.each([
    ["TIMESTAMP '2026-01-31 12:00:00Z'", 'bigint', 1_769_860_800_000_000],
    ["TIMESTAMP '2026-01-31 12:00:00Z'", 'timestamp', refused],
    ["DATETIME '2026-01-31 12:00:00'", 'timestamp', '2026-01-31T12:00:00'],
    ["DATE '2026-01-31'", 'date', '2026-01-31'],
    ['TRUE', 'boolean', true],
    ["'a'", 'text', 'a'],
    ['5', 'bigint', 5],
    ['9007199254740993', 'bigint', refused],
    ['CAST(9007199254740993 AS STRING)', 'text', '9007199254740993'],
    ["NUMERIC '1.5'", 'numeric', refused],
    ["NUMERIC '1.5'", 'text', '1.5'],
    ['1.5', 'float8', 1.5],
    ["CAST('nan' AS FLOAT64)", 'float8', refused],
    ['CAST(NULL AS STRING)', 'text', refused],
  ])('read %s as %s: %j', async (sql, type, value) => expect(await cell(sql, type)).toEqual(value))

  test('send times as PostgreSQL prints them, in any zone', async () => {
    for (const start of [
      '2026-01-31 12:00:00+00',
      '2026-01-31 17:30:00.5+05:30',
      '2026-01-31 12:00:00',
      '2026-01-31',
    ])
      expect(await scan('logs.all', { id: 'text' }, { project, iso_timestamp_start: start })).toEqual([
        { id: 'a' },
      ])
  })

  test('have no rows of an endpoint that is not there, and NULL for a column that is not', async () => {
    expect(await scan('usage.api-count', { x: 'bigint' }, {})).toEqual([])
    expect(await scan('logs.all', { other: 'text' }, { project })).toEqual([{ other: null }])
  })
})

const [server = ''] = spawnSync('sh', ['-c', 'readlink -f "$(command -v postgres)"'], {
  encoding: 'utf8',
}).stdout.split('\n')
const bin = join(server, '..')
const hasPrograms = ['initdb', 'psql'].every(each => existsSync(join(bin, each)))
const isInstalled = server !== '' && hasPrograms && process.getuid?.() === 0
if (!isInstalled) console.warn('PostgreSQL is not installed, or this is not root: file_fdw is skipped')

;(isInstalled ? describe : describe.skip)('PostgreSQL', () => {
  let postgres: ChildProcess
  // It refuses to run as root.
  const [uid, gid] = ['-u', '-g'].map(flag =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout),
  )
  const as = { uid: uid!, gid: gid!, cwd: folder }
  const psql = (sql: string) =>
    promisify(execFile)(join(bin, 'psql'), ['-h', folder, '-d', 'postgres', '-XAtq', '-c', sql], as)

  beforeAll(async () => {
    chownSync(folder, as.uid, as.gid)
    const data = join(folder, 'data')
    execFileSync(join(bin, 'initdb'), ['-D', data, '-A', 'trust', '--no-sync'], { ...as, stdio: 'ignore' })
    const args = [
      '-D',
      data,
      '-k',
      folder,
      '-c',
      'listen_addresses=',
      '-c',
      'fsync=off',
      '-c',
      'TimeZone=UTC',
    ]
    postgres = spawn(server, args, { ...as, stdio: 'ignore' })
    while (!(await psql('select 1').catch(() => null))) await sleep(50)
  })

  afterAll(async () => {
    const ended = new Promise(resolve => postgres.once('exit', resolve))
    postgres.kill('SIGINT')
    await ended
  })

  const key = join(folder, 'lqe.header')
  const here = (sql: string) =>
    sql.replaceAll('http://localhost:8080', service.url).replaceAll('/etc/lqe.header', key)

  test('reads an endpoint by the page’s statements, any text as it is, and a refusal as an error', async () => {
    writeFileSync(key, `X-API-KEY: ${service.key}\n`)
    chownSync(key, as.uid, as.gid)
    const rows = await psql(
      `${here(file!)} select rest, timestamp = date_trunc('day', timestamp) from counts`,
    )
    expect(rows).toEqual({ stdout: '1|t\n', stderr: '' })
    const address = `${service.url}/api/endpoints/query`
    const program = (path: string) =>
      `alter foreign table counts_json options (set program 'curl -sSf -H @${key} "${address}/${path}"');`
    const message = await psql(
      `${program(`logs.all?project=${project}&format=ndjson`)} select to_json(row->>'event_message') from counts_json`,
    )
    expect(JSON.parse(message.stdout)).toBe(event_message)
    await expect(psql(`${program('none')} select * from counts`)).rejects.toThrow(/program "curl.*" failed/)
  })
})
