/** `npm version` in a repository of its own: what a release changes, and what it is refused for. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { afterAll, expect, test } from '@jest/globals'

const place = mkdtempSync(join(tmpdir(), 'release-'))
afterAll(() => rmSync(place, { recursive: true }))
const { version: script } = (
  JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
).scripts
const changes = 'infra/docs/changelog.md'

/** @returns how to run a program in a repository that has this as its list of changes */
function repository(text: string) {
  const folder = mkdtempSync(join(place, 'of-'))
  const version = script!.replace(/infra\/\S+/, file => resolve(file))
  const manifest = { name: 'a-package', version: '0.1.0', files: ['index.js'], scripts: { version } }
  mkdirSync(join(folder, dirname(changes)), { recursive: true })
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  writeFileSync(join(folder, changes), text)
  const env = {
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    HOME: folder,
    npm_config_offline: 'true',
    npm_config_cache: join(place, 'cache'),
    ...Object.fromEntries(
      ['AUTHOR', 'COMMITTER'].flatMap(who => [
        [`GIT_${who}_NAME`, 'a'],
        [`GIT_${who}_EMAIL`, 'a@example.com'],
      ]),
    ),
  }
  const run = (file: string, ...args: string[]) =>
    execFileSync(file, args, { cwd: folder, env, encoding: 'utf8', stdio: 'pipe' })
  run('git', 'init', '-q')
  run('git', 'add', '.')
  run('git', 'commit', '-qm', 'first')
  return run
}

test('gives what is not released its number and day in a commit with a tag, and prints the notes', () => {
  const run = repository('# Changes\n\n## 0.2.0, not released\n\n- New.\n\n## 0.1.0, 2026-01-31\n\n- Old.\n')
  const printed = run('npm', 'version', 'minor')
  expect(printed).toMatch(/a-package 0\.2\.0:\n\n- New\.\n\nNow: git push --follow-tags && npm publish/)
  expect(printed).not.toContain('Old')
  expect(printed).toMatch(/npm notice .*package\.json/)
  expect(run('git', 'show', `v0.2.0:${changes}`)).toMatch(
    /^# Changes\n\n## 0\.2\.0, \d{4}-\d\d-\d\d\n\n- New\.\n\n## 0\.1\.0, 2026-01-31\n\n- Old\.\n$/,
  )
  expect(run('git', 'status', '--porcelain')).toBe('')
})

test('is refused without notes, and changes none', () => {
  const run = repository('# Changes\n\n## 0.1.0, 2026-01-31\n\n- Old.\n')
  expect(() => run('npm', 'version', 'minor')).toThrow(/has no section "## \.\.\., not released"/)
  expect(run('git', 'tag')).toBe('')
  expect(run('git', 'diff', '--name-only')).not.toContain(changes)
})
