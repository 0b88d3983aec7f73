/** What a person installs: the files that `npm pack` would take, and the size of the programs among them. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, globSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { buildExplorer } from './build-explorer.ts'
import { buildPrograms } from './build.ts'
import { writeNotices } from './notices.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  bin: Record<string, string>
  exports: Record<string, string>
  dependencies: Record<string, string>
  engines: { node: string }
}

/** Without those of dist/, which is there only after a build. */
const names = (
  JSON.parse(
    execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  ) as [{ files: { path: string }[] }]
)[0].files
  .map(({ path }) => path)
  .filter(path => !path.startsWith('dist/'))

test('it holds no sources, and nothing of tests, stand-ins and benchmarks', () => {
  expect(
    names.filter(name => /\.[cm]?tsx?$|\/testing\/|\.soak\.|^infra\/(bench|google)\//.test(name)),
  ).toEqual([])
  expect(names.length).toBeLessThan(90)
})

test('it holds what its documents tell readers to copy', () => {
  const pages = names.filter(name => name.endsWith('.md')).map(name => readFileSync(name, 'utf8'))
  const copied = pages.flatMap(page =>
    [...page.matchAll(/^cp (.+) queries\/$/gm)].flatMap(([, from]) => from!.split(' ')),
  )
  expect(copied.length).toBeGreaterThan(5)
  const files = copied.flatMap(from => globSync(from.replace(/^node_modules\/log-query-endpoints\//, '')))
  expect(files.filter(file => !names.includes(file))).toEqual([])
})

test('it holds what its command, its exports and the programs of a folder need', () => {
  const needed = [
    ...Object.values(manifest.bin),
    ...Object.values(manifest.exports).map(path => path.replace('./', '')),
    'LICENSE',
    'infra/local/node-version.cjs',
    'infra/lqe/init/folder/gitignore', // npm packs no `.gitignore`
    'infra/lqe/init/own/tables/app.json',
    'infra/lqe/logs/sample.yaml',
    'infra/tables/service.requests.json',
    'queries/logs.all.sql',
  ]
  expect(needed.filter(name => !names.includes(name) || !existsSync(name))).toEqual([])
})

/** Packages that programs import, by the sources, and some that those bring along. */
function imported(): string[] {
  const sources = globSync('{functions,shared,infra/lqe,infra/local}/**/*.ts').filter(
    file => !/\.(test|soak)\.ts$|\/testing\//.test(file),
  )
  const found = sources.flatMap(file => [
    ...readFileSync(file, 'utf8').matchAll(
      /^import (?!type).* from '(?!node:)((?:@[a-z-]+\/)?[a-z][\w-]*)[^']*'$/gm,
    ),
  ])
  const names = found.map(([, name]) => name!).filter(name => !(name in manifest.dependencies))
  expect(names.length).toBeGreaterThan(9)
  return ['protobufjs', '@grpc/grpc-js', 'ms', 'zod', ...new Set(names)]
}

test('its programs are a few megabytes, load no package that it does not bring, and name whose work they hold', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'programs-'))
  try {
    copyFileSync('package.json', join(folder, 'package.json'))
    expect(await buildPrograms(join(folder, 'dist'))).toBeLessThan(6_000_000)
    const help = execFileSync(process.execPath, [join(folder, 'dist/lqe.js'), '--version'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(help).toMatch(/^\d+\.\d+\.\d+\n$/)
    await buildExplorer(join(folder, 'page'))
    writeNotices(folder)
    const notices = readFileSync(join(folder, 'notices.txt'), 'utf8').split(`\n${'-'.repeat(80)}\n`)
    const named = notices.flatMap(part =>
      [...part.matchAll(/^(\S+) \d\S+ \(.+\)$/gm)].map(([, name]) => name),
    )
    expect(imported().filter(name => !named.includes(name))).toEqual([])
    const licence = /permission|terms and conditions|redistribution|licen[cs]e (MIT|Apache-2.0), by \w/i
    for (const part of notices.filter(part => / \d\S+ \(/.test(part))) expect(part).toMatch(licence)
    // What a package has in its own files of others.
    expect(notices.join()).toMatch(/content-type\s+\*? ?Copyright/)
    expect(readdirSync(folder, { recursive: true, encoding: 'utf8' }).join()).not.toContain('LEGAL')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
