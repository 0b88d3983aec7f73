/** The operator's commands against the cloud's store and engine, as they run after a deployment. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../shared/config.ts'
import { missingEmulator } from './google/firestore-emulator.ts'
import { type Backends, startBackends } from './google/backends.ts'
import { writeSample } from './lqe/logs/sample.ts'
import { withRemedy } from './lqe/print.ts'
import { program, programEnds, runProgram } from './lqe/testing/command.ts'

const root = join(import.meta.dirname, '..')

test('a command whose reader has read enough goes on without an error', () => {
  const command = '"$0" infra/lqe/bin.cjs logs tables | true'
  const folder = mkdtempSync(join(tmpdir(), 'lqe-'))
  const env = { ...process.env, DATA_DIR: folder }
  const { stderr } = spawnSync('sh', ['-c', command, process.execPath], { cwd: root, encoding: 'utf8', env })
  rmSync(folder, { recursive: true })
  expect(stderr).toBe('')
})

test.each([
  ['logs sample', /^EEXIST: .* mkdir '.*logs'\. A file is where a folder should be: .*\n$/],
  ['logs tables', /^The local engine cannot open its tables: ENOTDIR: .*\. A file is where .*\n$/],
])('what the file system refuses is one line, without a stack: %s', async (command, line) => {
  const folder = mkdtempSync(join(tmpdir(), 'lqe-'))
  writeFileSync(join(folder, 'logs'), 'a file where a folder should be')
  const { err, code } = await programEnds(command.split(' '), { env: { DATA_DIR: folder } })
  rmSync(folder, { recursive: true })
  expect(err).toMatch(line)
  expect(code).toBe(1)
})

test.each(['logs clear cloudflare.logs.prod', 'table add x'])(
  'lqe %s writes nothing here where the logs are in BigQuery',
  async command => {
    const folder = mkdtempSync(join(tmpdir(), 'lqe-'))
    const cloud = { ENGINE: 'bigquery', BIGQUERY_DATASET: 'logs', GOOGLE_CLOUD_PROJECT: 'my-project' }
    const env = { DATA_DIR: join(folder, 'data'), ...cloud }
    const { err, code } = await programEnds(command.split(' '), { env })
    expect(err).toMatch(/^ENGINE is bigquery, and this changes the logs of this machine: .*\n$/)
    expect([code, existsSync(join(folder, 'data'))]).toEqual([1, false])
    rmSync(folder, { recursive: true })
  },
)

test('a disk that takes no more ends a command, in words and without a stack', () => {
  const folder = mkdtempSync(join(tmpdir(), 'lqe-'))
  const env = { PATH: process.env['PATH'], DATA_DIR: folder }
  const line = ['exec', process.execPath, ...program, 'key list > /dev/full'].join(' ')
  const ended = spawnSync('sh', ['-c', line], { cwd: root, encoding: 'utf8', env })
  rmSync(folder, { recursive: true })
  const err = /^Standard output takes no more: ENOSPC: .*\. Make room on the disk, .*\n$/
  expect(ended).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(err) })
})

test.each([
  ['loop', / cannot be read \(ELOOP\)\. Its links lead in a circle: .*\n$/],
  ['.', / cannot be read \(EISDIR\)\. It is a folder: name a file\.\n$/],
  ['pipe', / is no regular file: pipe it in, cat FILE \| .* import -\n$/],
  ['utf16', / is not in UTF-8: save it in that encoding\n$/],
])('lqe import %s ends, in words and without a stack', async (file, err) => {
  const folder = mkdtempSync(join(tmpdir(), 'lqe-'))
  spawnSync('sh', ['-c', 'ln -s loop loop && mkfifo pipe && printf "\\377\\376t\\0" > utf16'], {
    cwd: folder,
  })
  const env = { DATA_DIR: join(folder, 'data'), INIT_CWD: folder }
  const ended = await programEnds(['import', file, '--dry-run'], { env })
  rmSync(folder, { recursive: true })
  expect(ended).toEqual({
    code: 1,
    out: expect.stringMatching(/./),
    err: expect.stringMatching(err),
  })
})

test.each([
  [
    'IO Error: Could not write file "a": No space left on device',
    'Make room on the disk, then run it again.',
  ],
  ['EFBIG: file too large, write', 'Raise the limit on the size of a file (ulimit -f), then run it again.'],
  ['TABLES_DIR: a cannot be written (EROFS)', 'What is there can only be read: name another place.'],
])('%s comes with what to do', (line, remedy) => expect(withRemedy(line)).toBe(`${line}. ${remedy}`))

test('an error shows the escapes of a terminal and does not print them', () => {
  for (const word of ['\u001b[31mcmd', '--\u001b[31mx']) {
    const { stderr } = spawnSync(process.execPath, [...program, word], { cwd: root, encoding: 'utf8' })
    expect(stderr).toMatch(/^error: unknown .*\\u\{1b\}/)
    expect(stderr).not.toContain('\u001b')
  }
})

const missing = missingEmulator()
if (missing !== null) process.stdout.write(`Left out: lqe against Firestore, as ${missing}\n`)

describe(missing === null ? 'lqe --store firestore' : `lqe --store firestore (left out: ${missing})`, () => {
  const claim = missing === null ? test : test.skip
  const folder = mkdtempSync(join(tmpdir(), 'lqe-'))
  let backends: Backends | undefined

  beforeAll(async () => {
    if (missing !== null) return
    const config = loadConfig({ DATA_DIR: folder })
    const logsFolder = join(folder, 'logs')
    await writeSample({ logsFolder, tablesFolder: config.tablesDir, now: new Date(), rows: 500 })
    backends = await startBackends(config)
  })

  afterAll(async () => {
    await backends?.stop()
    rmSync(folder, { recursive: true })
  })

  /** Runs commands. The project is named on the command line alone. */
  async function lqe(...commands: string[]): Promise<string[]> {
    const { ENGINE: _, STORE: __, GOOGLE_CLOUD_PROJECT: project = '', ...env } = backends!.env
    const cloud = ['--store', 'firestore', '--project', project]
    const printed = await runProgram(
      commands.map(command => [...command.split(' '), ...cloud]),
      { cwd: root, env: { PATH: process.env['PATH'], DATA_DIR: folder, ...env } },
    )
    return printed.map(({ out }) => out)
  }

  claim(
    'applies once, plans with an estimate of bytes for each choice, issues, lists and revokes keys, exports and imports',
    async () => {
      const create = 'key create --name cloud --all --never'
      const [applied, plan, created = ''] = await lqe('apply --no-test', 'apply --dry-run --no-test', create)
      expect(applied).toMatch(/^\+ logs\.all created$/m)
      expect(applied).toMatch(/^3 changed\.$/m)
      expect(plan).toMatch(/^ {2}usage\.api-counts interval=daily reads about [\d.]+ [kM]B$/m)
      expect(plan).toMatch(/^0 to change; nothing was done/m)
      const [, id = ''] = /lqe_(\w{11})_/.exec(created) ?? []
      const file = join(folder, 'export.json')
      const [kept, again] = await lqe(`store export ${file}`, `store import ${file}`)
      expect([kept, again]).toEqual([
        `Wrote ${file}: endpoints 3, versions 3, keys 1, views 0.\n`,
        '0 written.\n',
      ])
      const [list, revoked] = await lqe('key list', `key revoke ${id}`)
      expect(list).toContain(`${id}  active   cloud: every endpoint, never expires`)
      expect(revoked).toContain(`Revoked ${id}`)
    },
  )
})
