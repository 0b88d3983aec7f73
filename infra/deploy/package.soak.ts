/**
 * The package as somebody gets it who has no repository: packed, and installed in an empty folder. As root these steps are another
 * user's, in a network of their own that reaches nothing, so that an installed package needs none.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { chromiumPath, launch } from '../../functions/testing/browser.ts'
import { freePort } from '../../shared/testing/free-port.ts'
import { version } from '../../shared/version.ts'
import { openRehearsal } from '../google/control/open-rehearsal.ts'

const place = mkdtempSync(join(tmpdir(), 'package-'))
const cache = join(place, 'cache')
const nobody = 65_534
const isRoot = process.getuid?.() === 0
const apart = ['unshare', '-n', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
const asNobody = ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
let tarball = ''

/** The release before; where there is none, a commit that stands for it. */
const tag = spawnSync('git', ['describe', '--tags', '--abbrev=0', '--match=v*', 'HEAD^'], {
  encoding: 'utf8',
})
const earlier = tag.stdout.trim() || '624558cc'

const npm = (...args: string[]) =>
  execFileSync('npm', [...args, '--no-audit', '--no-fund'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })

/** @returns its file */
function pack(folder: string): string {
  const to = mkdtempSync(join(place, 'packed-'))
  execFileSync('npm', ['pack', `--pack-destination=${to}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  chmodSync(to, 0o755)
  return join(to, readdirSync(to)[0]!)
}

/** Of the release before, by another number, and built with the packages that it had. */
function packEarlier(): string {
  const folder = join(place, 'earlier')
  mkdirSync(folder)
  execFileSync('sh', ['-ec', `git archive ${earlier} | tar -x -C ${folder}`])
  execFileSync('npm', ['ci', '--prefer-offline'], { cwd: folder, stdio: 'ignore' })
  const manifest = readFileSync(join(folder, 'package.json'), 'utf8')
  writeFileSync(join(folder, 'package.json'), manifest.replace(/"version": "[^"]+"/, '"version": "0.0.9"'))
  return pack(folder)
}

function environmentOf(folder: string, major: string, port = 8080) {
  const node = join(place, major, `node_modules/node-${process.platform}-${process.arch}/bin`)
  return {
    PATH: `${node}:${process.env['PATH'] ?? ''}`,
    HOME: folder,
    PORT: String(port),
    npm_config_cache: cache,
    npm_config_offline: 'true',
    npm_config_update_notifier: 'false',
  }
}

/** In a folder of its own, by that Node. @returns what the last command prints */
function run(folder: string, major: string, script: string): string {
  const env = environmentOf(folder, major)
  const [file, ...args] = [...(isRoot ? [...apart, ...asNobody] : []), 'sh', '-ec', script]
  return execFileSync(file, args, { cwd: folder, env, encoding: 'utf8', timeout: 120_000 })
}

const testWithBrowser = chromiumPath ? test : test.skip

beforeAll(() => {
  chmodSync(place, 0o755)
  tarball = pack('.')
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

/** An empty one of whom the steps are. */
function makeFolder(name: string): string {
  const folder = join(place, name)
  mkdirSync(folder)
  if (isRoot) chownSync(folder, nobody, nobody)
  return folder
}

const start = `
  rm -f printed; npx lqe start > printed 2>&1 & trap "kill $!" EXIT
  until grep -qs '^  curl' printed || ! kill -0 $!; do sleep 0.1; done`

describe.each(['22', '24'])('on Node %s', major => {
  let folder: string
  beforeAll(() => void (folder = makeFolder(`folder-${major}`)))

  test('installs within 20 s', () => {
    run(folder, major, `npm install ${tarball} --no-audit --no-fund`)
  }, 20_000)

  test('a folder is made, its tests pass, and the first call of lqe start has an answer within a minute', () => {
    const printed = run(
      folder,
      major,
      `npx lqe init && npx lqe test\n ${start}\n sh -c "$(grep -m1 '^  curl' printed)"`,
    )
    expect(printed).toMatch(/^= app\.latest passed/m)
    expect(readFileSync(join(folder, 'printed'), 'utf8')).not.toMatch(/Warning/)
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

  testWithBrowser(
    'the page shows the rows of the folder',
    async () => {
      const port = await freePort()
      const [file, ...args] = [...(isRoot ? asNobody : []), 'npx', 'lqe', 'start']
      const service = spawn(file, args, { cwd: folder, env: environmentOf(folder, major, port) })
      let printed = ''
      service.stdout.on('data', text => (printed += String(text)))
      const browser = await launch(chromiumPath!)
      try {
        while (service.exitCode === null && !/^ {2}curl /m.test(printed)) await sleep(100)
        const page = await browser.newPage()
        await page.goto(/http:\S+#\S+/.exec(printed)![0])
        await page.getByLabel('API key').fill(/lqe_\w+/.exec(printed)![0])
        await page.keyboard.press('Enter')
        await page.locator('.row:not(.head)').nth(1).waitFor()
      } finally {
        await browser.close()
        service.kill()
        if (service.exitCode === null) await once(service, 'exit')
      }
    },
    60_000,
  )

  test('without DuckDB it says what to install', () => {
    expect(run(folder, major, 'rm -r node_modules/@duckdb; npx lqe start 2>&1 || true')).toMatch(
      /npm install @duckdb\/node-api/,
    )
  })
})

test('what a folder has of the release before is read: keys, versions, answers', () => {
  const folder = makeFolder('upgraded')
  const call = `sh -c "$(grep '^  curl' printed | tail -n 1) -i"`
  /** What each part prints. */
  const parts = (...scripts: string[]) =>
    run(folder, '24', scripts.join('\necho; echo ==\n')).split(/\n?==\n/)
  const kept = ['npx lqe key list', 'npx lqe versions app.latest', 'npx lqe --version']
  const make = `npm install ${packEarlier()} && npx lqe init\n sed -i 's/seconds: 0/seconds: 3600/' queries/app.latest.yaml\n ${start}`
  const [, created, made, ...before] = parts(
    make,
    'npx lqe key create --name=console --all --expires=90d',
    call,
    ...kept,
  )
  const [key] = /lqe_\w{20,}/.exec(created!)!
  const list = `curl -s localhost:8080/api/endpoints -H 'X-API-KEY: ${key}'`
  const line = `grep -m1 '"serviceVersion"' printed`
  const upgrade = `npm install ${tarball}\n ${start}`
  const [, found, listed, status, logged, ...after] = parts(
    upgrade,
    call,
    list,
    'npx lqe status',
    line,
    ...kept,
  )
  const bodyOf = (answer: string) => answer.split('\r\n\r\n')[1]
  expect(made).toMatch(/^cache-status: lqe; fwd=miss; stored/im)
  expect(found).toMatch(/^cache-status: lqe; hit/im)
  expect(bodyOf(found!)).toBe(bodyOf(made!))
  expect(listed).toContain('"name":"app.latest"')
  expect(status).toContain(`${version} serves at http://localhost:8080.`)
  expect(status).toContain('= app.latest unchanged')
  expect(logged).toContain(`"serviceVersion":"${version}"`)
  expect(before.join('\n')).toMatch(/console[^]*\n0\.0\.9\n/)
  // A laptop's own key is another where this release has rights that the one before did not have; that one stays.
  const [keys, ...others] = before.map(text => text.replace('0.0.9', version))
  expect(after).toEqual([expect.stringContaining(keys!), ...others])
}, 300_000)

test('a folder is deployed by what was installed, and its endpoint answers there', async () => {
  const folder = join(place, 'first')
  run(folder, '24', 'npx lqe init')
  const lqe = 'node_modules/.bin/lqe'
  const rehearsal = await openRehearsal({ out: () => {}, folder, program: lqe })
  const { deploy, ask, project, stop } = rehearsal
  try {
    expect(await deploy()).toContain('+ app.latest created')
    const answer = await ask('/api/endpoints/query/app.latest')
    expect([answer.status, await answer.json()]).toEqual([
      200,
      { result: [], meta: expect.objectContaining({ endpoint: 'app.latest' }) },
    ])
    expect(readdirSync(join(folder, 'deploy'))).toHaveLength(1)
    const status = await rehearsal.lqe('status', `--project=${project.id}`)
    expect(status).toMatch(
      new RegExp(`^  query: ${version.replaceAll('.', '\\.')}, http\\S+, query-\\S+ 100%$`, 'm'),
    )
    expect(status).toMatch(
      /^ {2}= app\.latest unchanged\n+What npx lqe deploy --project=\S+ would change, by deploy\/\S+:\s*$/m,
    )
  } finally {
    await stop()
  }
}, 300_000)
