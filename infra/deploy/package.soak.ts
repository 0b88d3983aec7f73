/**
 * The package as somebody gets it who has no repository: packed, and installed in an empty folder. As root these steps are another
 * user's, in a network of their own that reaches nothing, so that an installed package needs none.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { openRehearsal } from '../google/control/rehearsal.ts'

const place = mkdtempSync(join(tmpdir(), 'package-'))
const cache = join(place, 'cache')
const nobody = 65_534
const isRoot = process.getuid?.() === 0
const apart = ['unshare', '-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
let tarball = ''

const npm = (...args: string[]) =>
  execFileSync('npm', [...args, '--no-audit', '--no-fund'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

/** In a folder of its own, by that Node. @returns what the last command prints */
function run(folder: string, major: string, script: string): string {
  const node = join(place, major, `node_modules/node-${process.platform}-${process.arch}/bin`)
  const env = {
    PATH: `${node}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    PORT: '8080',
    npm_config_cache: cache,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
  const [file, ...args] = [...(isRoot ? [...apart, ...asNobody] : []), 'sh', '-ec', script]
  return execFileSync(file, args, { cwd: folder, env, encoding: 'utf8', timeout: 120_000 })
}

beforeAll(() => {
  chmodSync(place, 0o755)
  const [packed] = JSON.parse(
    npm('pack', '--json', `--pack-destination=${place}`, '--loglevel=silent').replace(/^[^[]*/, ''),
  ) as [{ filename: string }]
  tarball = join(place, packed.filename)
  npm('install', `--prefix=${join(place, 'first')}`, `--cache=${cache}`, tarball)
  for (const major of ['22', '24'])
    npm('install', `--prefix=${join(place, major)}`, `node-${process.platform}-${process.arch}@${major}`)
  if (isRoot) execFileSync('chown', ['-R', `${nobody}:${nobody}`, cache, join(place, 'first')])
}, 300_000)
afterAll(() => rmSync(place, { recursive: true, force: true }))

test('is under ten megabytes, and brings fewer than 140 packages', () => {
  expect(statSync(tarball).size).toBeLessThan(10_000_000)
  const listed = npm('ls', '--all', '--parseable', `--prefix=${join(place, 'first')}`)
    .trim()
    .split('\n')
  expect(listed.length - 1).toBeLessThan(140)
})

describe.each(['22', '24'])('on Node %s', major => {
  const folder = join(place, `folder-${major}`)
  const start = `
    npx lqe start > printed 2>&1 & trap "kill $!" EXIT
    until grep -qs '^  curl' printed || ! kill -0 $!; do sleep 0.1; done`

  beforeAll(() => {
    mkdirSync(folder)
    if (isRoot) chownSync(folder, nobody, nobody)
  })

  test('installs within 20 s', () => {
    run(folder, major, `npm install ${tarball} --no-audit --no-fund`)
  }, 20_000)

  test('a folder is made, its tests pass, and the first call of lqe start has an answer within a minute', () => {
    const printed = run(
      folder,
      major,
      `npx lqe init && npx lqe test && ${start}\n sh -c "$(grep -m1 '^  curl' printed)"`,
    )
    expect(printed).toMatch(/^= app\.latest passed/m)
    const answer = JSON.parse(printed.split('\n').at(-1)!) as { result: object[] }
    expect(answer.result.length).toBe(100)
  }, 60_000)

  test('the page and an agent’s tools are served', () => {
    const key = `-H "X-API-KEY: $(cat .data/local-key)"`
    const accept = '-H "Accept: application/json, text/event-stream" -H "Content-Type: application/json"'
    const list = `'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}'`
    const printed = run(
      folder,
      major,
      `${start}\n curl -s localhost:8080/ && curl -s localhost:8080/mcp ${key} ${accept} -d ${list}`,
    )
    expect(printed).toMatch(/<script[^>]*page-/)
    expect(printed).toContain('app.latest')
  }, 60_000)

  test('without DuckDB it says what to install', () => {
    expect(run(folder, major, 'rm -r node_modules/@duckdb; npx lqe start 2>&1 || true')).toMatch(
      /npm install @duckdb\/node-api/,
    )
  })
})

test('a folder is deployed by what was installed, and its endpoint answers there', async () => {
  const folder = join(place, 'first')
  run(folder, '24', 'npx lqe init')
  const lqe = 'node_modules/.bin/lqe'
  const { deploy, ask, stop } = await openRehearsal({ out: () => {}, folder, program: lqe })
  try {
    expect(await deploy()).toContain('+ app.latest created')
    const answer = await ask('/api/endpoints/query/app.latest')
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { result: [], meta: expect.objectContaining({ endpoint: 'app.latest' }) },
    ])
    expect(readdirSync(join(folder, 'deploy'))).toHaveLength(1)
  } finally {
    await stop()
  }
}, 300_000)
