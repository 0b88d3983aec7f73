/** What a person installs: the files that `npm pack` would take, and the size of the programs among them. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { buildPrograms } from './build.ts'

const manifest = JSON.parse(readFileSync('package.json', 'utf8')) as {
  bin: Record<string, string>
  exports: Record<string, string>
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
    names.filter(name => /\.[cm]?tsx?$|\/testing\/|\.soak\.|^infra\/(bench|google|studio)\//.test(name)),
  ).toEqual([])
  expect(names.length).toBeLessThan(80)
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

test('its programs are a few megabytes, and load no package that it does not bring', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'programs-'))
  try {
    copyFileSync('package.json', join(folder, 'package.json'))
    expect(await buildPrograms(join(folder, 'dist'))).toBeLessThan(6_000_000)
    const help = execFileSync(process.execPath, [join(folder, 'dist/lqe.js'), '--version'], {
      cwd: folder,
      encoding: 'utf8',
    })
    expect(help).toMatch(/^\d+\.\d+\.\d+\n$/)
  } finally {
    rmSync(folder, { recursive: true })
  }
})
