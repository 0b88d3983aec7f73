/**
 * The image without docker: each line of the Dockerfile is carried out in a bare root of Debian, with a layer for each stage, and
 * what comes of it runs as the image would: as its user, on a root that cannot be written. Not tried are docker's own builder, the
 * packages of the image of Node, and docker's network.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { makeBareRoot } from '../google/control/cloudbuild.ts'
import { registry } from '../google/control/open-rehearsal.ts'

const file = 'infra/deploy/Dockerfile'
const place = mkdtempSync(join(tmpdir(), 'image-'))
const bare = makeBareRoot()
if ('missing' in bare) process.stderr.write(`SKIPPED: the image: ${bare.missing}\n`)
const testWithRoot = 'missing' in bare ? test.skip : test
const lower = 'root' in bare ? bare.root : ''

/** What is known of an image after a line: its layer, and what its process gets. */
interface Stage {
  folder: string
  cwd: string
  env: Record<string, string>
  user: string
  volumes: string[]
  health: string
  command: string[]
}

/** Runs a script outside, which finds the image in `$root`. @returns what it prints */
function inRoot({ folder }: Stage, script: string, env: Record<string, string> = {}): string {
  const [upper, work, root] = ['upper', 'work', 'root'].map(name => join(folder, name))
  const binds = ['/dev', '/proc', '/etc/resolv.conf', '/etc/hosts', '/etc/ssl', join(homedir(), '.npmrc')]
  const mounts = binds.map(path => {
    const make = statSync(path).isDirectory()
      ? `mkdir -p "$root${path}"`
      : `mkdir -p "$root${dirname(path)}"; touch "$root${path}"`
    return `${make}; mount --rbind ${path} "$root${path}"`
  })
  const overlay = `mount -t overlay overlay -o lowerdir=${lower},upperdir=${upper},workdir=${work} "$root"`
  const whole = ['set -e', `root=${root}`, overlay, ...mounts, script].join('\n')
  const { PATH = '' } = process.env
  return execFileSync(
    'unshare',
    ['--mount', '--net', 'sh', '-c', whole].filter(word => word !== '--net' || env['APART']),
    {
      env: { PATH, ...env },
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
}

/** A shell's words for a program in the image. */
function inside({ cwd, env, user }: Stage, command: string): string {
  const set = Object.entries({ PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/tmp', ...env })
  const words = set.map(([name, value]) => `'${name}=${value}'`).join(' ')
  return `/usr/sbin/chroot --userspec=${user} "$root" env -i ${words} sh -c 'cd ${cwd} && ${command.replaceAll("'", `'\\''`)}'`
}

const stages: Record<string, Stage> = {}
let stage: Stage

/** A layer over Debian with Node and npm, as the image of Node has them. */
function begin(name: string): void {
  const folder = join(place, name)
  for (const part of ['upper', 'work', 'root']) mkdirSync(join(folder, part), { recursive: true })
  stages[name] = stage = { folder, cwd: '/', env: {}, user: '0:0', volumes: [], health: '', command: [] }
  const npm = dirname(
    dirname(realpathSync(execFileSync('sh', ['-c', 'command -v npm'], { encoding: 'utf8' }).trim())),
  )
  inRoot(
    stage,
    `mkdir -p "$root/usr/local/lib/node_modules"
    cp ${process.execPath} "$root/usr/local/bin/node"; cp -r ${npm} "$root/usr/local/lib/node_modules/npm"
    ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
    echo node:x:1000:1000::/home/node:/bin/sh >> "$root/etc/passwd"; echo node:x:1000: >> "$root/etc/group"`,
  )
}

/** This machine's is not for an image to clean. */
const ownCache = { npm_config_cache: '/tmp/.npm' }

/** By the name of the instruction; another one has no meaning here, and fails. */
const instructions: Record<string, (rest: string) => unknown> = {
  FROM: rest => {
    const [, name = 'image'] = /^node:24-bookworm-slim(?: AS (\w+))?$/.exec(rest)!
    begin(name)
  },
  WORKDIR: rest => inRoot(stage, `mkdir -p "$root${(stage.cwd = rest)}"`),
  COPY: rest => {
    const [, from, what, to] = /^(?:--from=(\w+) )?(\S+) (\S+)$/.exec(rest)!
    const source = from ? join(stages[from]!.folder, 'upper', what!) : copyContext(resolve(what!))
    inRoot(
      stage,
      `mkdir -p "$root${resolve(stage.cwd, to!)}"; cp -r ${source}/. "$root${resolve(stage.cwd, to!)}"`,
    )
  },
  RUN: rest => inRoot(stage, inside({ ...stage, env: { ...registry(), ...ownCache, ...stage.env } }, rest)),
  ENV: rest => Object.assign(stage.env, Object.fromEntries(rest.split(' ').map(pair => pair.split('=')))),
  VOLUME: rest => stage.volumes.push(rest),
  USER: rest => (stage.user = rest),
  EXPOSE: () => {},
  HEALTHCHECK: rest => (stage.health = /CMD (.*)$/.exec(rest)![1]!),
  ENTRYPOINT: rest => stage.command.push(...(JSON.parse(rest) as string[])),
  CMD: rest => stage.command.push(...(JSON.parse(rest) as string[])),
}

/** What docker would be sent. */
function copyContext(folder: string): string {
  const ignored = readFileSync(`${file}.dockerignore`, 'utf8').trim().split('\n')
  const to = join(place, 'context')
  for (const name of globSync('{*,.*}', { cwd: folder }))
    if (!ignored.includes(name)) cpSync(join(folder, name), join(to, name), { recursive: true })
  return to
}

beforeAll(() => {
  if ('missing' in bare) return
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter(line => line !== '' && !line.startsWith('#'))
  for (const line of lines) {
    process.stderr.write(`in a bare root: ${line}\n`)
    const [, name, rest] = /^([A-Z]+) (.*)$/.exec(line)!
    instructions[name!]!(rest!)
  }
}, 600_000)
afterAll(() => rmSync(place, { recursive: true, force: true }))

/** What a script prints beside the service, which runs as the image has it; `inside` is a shell's word for its programs. */
function served(script: string): string {
  const mounts = stage.volumes.map(path => {
    const volume = join(place, 'volume', path)
    return `mkdir -p ${volume}; cp -rp "$root${path}/." ${volume}; chown --reference="$root${path}" ${volume}; mount --bind ${volume} "$root${path}"`
  })
  return inRoot(
    stage,
    `ip link set lo up
    ${mounts.join('\n')}
    mount -t tmpfs tmpfs "$root/tmp"; mount -o remount,ro "$root"
    ${inside(stage, `exec ${stage.command.join(' ')}`)} > ${place}/printed 2>&1 & service=$!
    until ${inside(stage, stage.health)} 2> /dev/null; do kill -0 $service || { cat ${place}/printed; exit 1; }; sleep 1; done
    ${script}
    kill $service; wait $service || echo "ended with $?"`,
    { APART: 'yes' },
  )
}

testWithRoot(
  'it serves as a user of its own, writes its volume alone, and ends by a signal',
  () => {
    const call = `sh -c "$(grep -m1 '^  curl' ${place}/printed)"`
    const tries = [
      'id -u',
      'touch /project/a 2>&1 || true',
      'touch /usr/a 2>&1 || true',
      'ls /data',
      'lqe --version',
    ]
    const printed = served(`${call}\necho\n${tries.map(command => inside(stage, command)).join('\n')}`)
    const [answer, ...lines] = printed.trim().split('\n')
    expect((JSON.parse(answer!) as { result: object[] }).result.length).toBeGreaterThan(0)
    expect(lines.join('\n')).toMatch(
      /^1000\n.*\/project\/a': Read-only file system\n.*\/usr\/a': Read-only file system\n(.*\n)*store\.sqlite\n(.*\n)*\d+\.\d+\.\d+$/,
    )
  },
  120_000,
)

testWithRoot('it holds the package and what that needs, and no sources', () => {
  const folders = spawnSync(
    'sh',
    [
      '-c',
      `find ${stage.folder}/upper -name '*.ts' ! -name '*.d.ts' ! -name '*.d.mts' ! -path '*/node_modules/*/node_modules/*' | head; du -sm ${stage.folder}/upper | cut -f1`,
    ],
    { encoding: 'utf8' },
  )
  const lines = folders.stdout.trim().split('\n')
  expect(lines.slice(0, -1)).toEqual([])
  process.stderr.write(`over Debian: ${lines.at(-1)} MB, Node and npm with it\n`)
  expect(Number(lines.at(-1))).toBeLessThan(400)
})
