/** What a first start says where something is in its way: one sentence, with what to do. */
import { type ChildProcess, execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { connect, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { freePort } from '../../shared/testing/free-port.ts'

const root = join(import.meta.dirname, '../..')
const folder = mkdtempSync(join(tmpdir(), 'start-'))

afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Everything that a start prints which comes to nothing. */
async function startFails(env: Record<string, string>, cwd = root): Promise<string> {
  const all = { PATH: process.env['PATH'], DATA_DIR: folder, PORT: String(await freePort()), ...env }
  const args = [join(root, 'infra/lqe/bin.cjs'), 'start'] // as `npm start`
  return new Promise((resolve, reject) =>
    execFile(process.execPath, args, { env: all, cwd }, (error, stdout, stderr) =>
      error ? resolve(stdout + stderr) : reject(new Error('the start came to something')),
    ),
  )
}

/** The same of several starts, one after the other in one process: a process for each takes most of the time to load. */
async function startsFail(envs: Record<string, string>[]): Promise<string[]> {
  const all: Record<string, string>[] = []
  // Each holds its port until its process ends.
  for (const env of envs) all.push({ DATA_DIR: folder, PORT: String(await freePort()), ...env })
  const loop = `
    const { startHere } = await import('./infra/local/start.ts')
    const { exit, env: { PATH } } = process
    for (const env of ${JSON.stringify(all)}) {
      process.env = { PATH, ...env }
      await new Promise(ended => {
        process.exit = ended
        void startHere()
      })
      for (const stream of [process.stdout, process.stderr]) stream.write('\\0')
    }
    exit()`
  const args = ['--disable-warning=ExperimentalWarning', '--input-type=module', '-e', loop]
  const env = { PATH: process.env['PATH'], NODE_COMPILE_CACHE: getCompileCacheDir() }
  const printed = await promisify(execFile)(process.execPath, args, { env, cwd: root, timeout: 60_000 })
  const [out, err] = [printed.stdout, printed.stderr].map(text => text.split('\0'))
  return envs.map((_, at) => out![at]! + err![at]!)
}

function folderOfTables(text: string): string {
  const tables = mkdtempSync(join(folder, 'tables-'))
  copyFileSync('infra/tables/postgres.logs.json', join(tables, 'postgres.logs.json'))
  writeFileSync(join(tables, 'bad.json'), text)
  return tables
}

/** A folder of data in which one thing is wrong. */
function folderOfData(spoil: (data: string) => void): string {
  const data = mkdtempSync(join(folder, 'data-'))
  mkdirSync(join(data, 'logs/postgres.logs'), { recursive: true })
  spoil(data)
  return data
}

const port = 'PORT must be a port from 1 to 65535\n'
const sentences: [what: string, env: () => Record<string, string>, said: string | RegExp][] = [
  ['a port that is no number', () => ({ PORT: 'http' }), port],
  ['a port past the last', () => ({ PORT: '70000' }), port],
  ['a folder that is a file', () => ({ DATA_DIR: '/dev/null/x' }), /^DATA_DIR: .* cannot be written.*\n$/],
  ['a folder that cannot be made', () => ({ DATA_DIR: '/proc/x' }), /^DATA_DIR: .* cannot be written.*\n$/],
  [
    'no folder of tables',
    () => ({ TABLES_DIR: '/nowhere' }),
    /TABLES_DIR: \/nowhere cannot be read \(ENOENT\)\n$/,
  ],
  [
    'a folder without tables',
    () => ({ TABLES_DIR: mkdtempSync(join(folder, 'empty-')) }),
    /TABLES_DIR: .* has no schema files.*\n$/,
  ],
  ['a table file that is no JSON', () => ({ TABLES_DIR: folderOfTables('{') }), /bad\.json is not .*\n$/],
  [
    'a table file with an unknown type',
    () => ({ TABLES_DIR: folderOfTables('[{"name":"a","type":"TEXT"}]') }),
    /bad\.json is not a BigQuery table schema: field a has the unknown type TEXT\n$/,
  ],
  [
    'a store that is no database',
    () => ({
      DATA_DIR: folderOfData(data => writeFileSync(join(data, 'store.sqlite'), 'x'.repeat(9_000))),
    }),
    /^\/\S+store\.sqlite cannot be used: file is not a database; correct that, or move the file away: npm start makes another.*\n$/,
  ],
  [
    'a store that is a folder',
    () => ({ DATA_DIR: folderOfData(data => mkdirSync(join(data, 'store.sqlite'))) }),
    /^\/\S+store\.sqlite cannot be used: unable to open database file; .*\n$/,
  ],
  [
    'a damaged record of loads',
    () => ({
      DATA_DIR: folderOfData(data => writeFileSync(join(data, 'logs/postgres.logs/loads.1.json'), '[')),
    }),
    /^The record of loads in \S+postgres\.logs is damaged\. Remove loads\.\*\.json there, and load again\.\n$/,
  ],
  [
    'a folder of logs that is a file',
    () => ({
      DATA_DIR: folderOfData(data => {
        rmSync(join(data, 'logs'), { recursive: true })
        writeFileSync(join(data, 'logs'), '')
      }),
    }),
    /^ENOTDIR: not a directory, scandir '\S+logs'; let this user read and write it, or set DATA_DIR to a folder elsewhere\n$/,
  ],
]

describe('a start', () => {
  test.each([
    ['linux', 'npm ci brings its own, which npm start and npx lqe take'],
    ['darwin', 'install Node 24, as from https://nodejs.org'],
  ])('by an older Node says where a newer one is: %s', (platform, where) => {
    const older = `Object.defineProperty(process.versions, 'node', { value: '20.20.2' })
      Object.defineProperty(process, 'platform', { value: '${platform}' }); require('./infra/local/node-version.cjs')`
    const { status, stderr } = spawnSync(process.execPath, ['-e', older], { encoding: 'utf8' })
    expect([status, stderr]).toEqual([1, `This needs Node >=22.18, and this is 20.20.2: ${where}.\n`])
  })

  let printedOf: string[]
  beforeAll(async () => {
    printedOf = await startsFail(sentences.map(([, env]) => env()))
  })

  test.each(sentences)('says in a sentence that there is %s', (what, _, said) => {
    const printed = printedOf[sentences.findIndex(([each]) => each === what)]!
    if (typeof said === 'string') expect(printed).toBe(said)
    else expect(printed).toMatch(said)
    expect(printed).not.toMatch(/^ {4}at /m)
  })

  test('says that another program has the port, before it writes anything', async () => {
    const other = createServer().listen(0)
    await once(other, 'listening')
    const { port: taken } = other.address() as { port: number }
    const printed = await startFails({ PORT: String(taken), DATA_DIR: join(folder, 'untouched') })
    other.close()
    expect(printed).toBe(`Port ${taken} is not free: set another one, as in PORT=8081 npm start\n`)
  })

  test('ends when the process that began it was killed', async () => {
    const child = `['--import', './infra/local/with-parent.ts', '-e', 'console.log(process.pid); setInterval(() => {}, 1000)']`
    const parent = spawn(process.execPath, [
      '-e',
      `child_process.spawn(process.execPath, ${child}, { stdio: ['ignore', 'inherit', 'ignore'] })`,
    ])
    const [pid] = (await once(parent.stdout, 'data')) as [Buffer]
    parent.kill('SIGKILL')
    await expect(untilGone(Number(pid))).resolves.toBeUndefined()
  })
})

describe('a start that serves', () => {
  const [place, data] = [join(folder, 'served'), join(folder, 'served/data')]
  const fixed = { TABLES_DIR: join(root, 'infra/tables'), DATA_DIR: data, EXPLORER_DIR: 'off' }
  let port: number
  let child: ChildProcess
  let printed = ''
  let knocks = 0
  beforeAll(async () => {
    for (const file of ['logs.all.sql', 'logs.all.yaml'])
      cpSync(join('queries', file), join(place, 'queries', file))
    port = await freePort()
    const env = { PATH: process.env['PATH'], PORT: String(port), DRAIN_MS: '500', ...fixed }
    child = spawn(process.execPath, [join(root, 'infra/lqe/bin.cjs'), 'start'], { env, cwd: place })
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', text => (printed += String(text)))
    // With the first line it has the port, and goes on to make sample logs.
    while (child.exitCode === null && !printed.includes('Serving at')) {
      if (knocks === 0 || printed === '') connect(port, 'localhost', () => knocks++).on('error', () => {})
      await sleep(20)
    }
  })
  afterAll(() => void child.kill('SIGKILL'))

  test('makes sample logs, and is not held up by a browser that knocks meanwhile', () => {
    expect(knocks).toBeGreaterThan(0)
    expect(printed).toMatch(/^Making sample logs in .*\n  cloudflare\.logs\.prod: 6000 rows$/m)
  })

  test('puts an endpoint in force that the page saves in queries/', async () => {
    const key = readFileSync(join(data, 'local-key'), 'utf8').trim()
    const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' }
    const at = `http://localhost:${port}/api/endpoints`
    const wish = {
      name: 'app.ids',
      description: 'Ids.',
      parameters: {},
      values: { project: 'a' },
      redact: false,
    }
    const body = JSON.stringify({ ...wish, sql: 'SELECT id FROM edge_logs LIMIT 5', write: true })
    const saved = await fetch(`${at}/logs.all/draft`, { method: 'POST', headers, body })
    expect([saved.status, (await saved.json()) as object]).toMatchObject([201, { result: { written: true } }])
    const call = () => fetch(`${at}/query/app.ids?project=qhzvnxwtrkdplmcoyaeb`, { headers })
    while ((await call()).status === 404) await sleep(50)
    expect(await (await call()).json()).toMatchObject({ meta: { endpoint: 'app.ids', rows: 5 } })
  })

  test('ends in time with a service that is too busy to see the signal', async () => {
    const served = Number(
      execFileSync('ps', ['-o', 'pid=', '--ppid', String(child.pid)], { encoding: 'utf8' }),
    )
    process.kill(served, 'SIGSTOP')
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([1, null])
    await expect(untilGone(served)).resolves.toBeUndefined()
    expect(printed).not.toContain('begins it again')
  })

  test('says by what signal its service was ended', async () => {
    const kill = "process.argv.includes('--target=query')&&process.kill(process.pid,'SIGKILL')"
    expect(
      await startFails({ ...fixed, NODE_OPTIONS: `--import=data:text/javascript,${kill}` }, place),
    ).toMatch(/\nThe service was ended by SIGKILL: npm start begins it again\.\n$/)
  })

  test('says that a file in queries/ keeps it from starting, and what to do', async () => {
    const bad = mkdtempSync(join(folder, 'bad-'))
    cpSync('queries', join(bad, 'queries'), { recursive: true })
    writeFileSync(join(bad, 'queries/logs.all.yaml'), 'id: 1')
    expect(await startFails(fixed, bad)).toMatch(
      /^queries\/logs\.all\.yaml:1:[^]*\nThe service was not started: correct queries\/, then run npm start again\.\n$/,
    )
  })
})

async function untilGone(pid: number): Promise<void> {
  for (;;) {
    try {
      process.kill(pid, 0)
    } catch {
      return
    }
    await sleep(50)
  }
}
