/** The register of changes to vendors' code is true: versions, titles of tests, and the settings of npm. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'

const text = readFileSync('infra/docs/surgery.md', 'utf8')
const { dependencies, devDependencies, overrides, allowScripts } = readJson('package.json') as Record<
  string,
  Record<string, string>
>

interface Locked {
  hasInstallScript?: boolean
  dependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}
const locked = (readJson('package-lock.json') as { packages: Record<string, Locked> }).packages

function readJson(file: string): unknown {
  return JSON.parse(readFileSync(file, 'utf8'))
}

test('each version is the one that is pinned', () => {
  const pinned = { ...devDependencies, ...dependencies, ...overrides }
  const named = [...text.matchAll(/`([@\w/-]+)` (\d+\.\d+\.\d+(?:-\w+\.\d+)?)/g)].map(([, name, version]) => [
    name,
    version,
  ])
  const ours = named.filter(([name]) => pinned[name!] !== undefined)
  expect(ours.length).toBeGreaterThan(4)
  expect(ours).toEqual(ours.map(([name]) => [name, pinned[name!]]))
})

test('each row names a test that exists', () => {
  const sections = text.split(/^## /m).filter(section => section.includes('| test, in '))
  const tests = sections.flatMap(section => {
    const folder = /\| test, in `([^`]+)`/.exec(section)![1]!
    return [...section.matchAll(/`([\w.]+\.test\.ts)`: "([^"]+)"/g)].map(([, file, title]) => ({
      file: join(folder, file!),
      title: title!,
    }))
  })
  expect(tests.length).toBeGreaterThan(12)
  const missing = tests.filter(({ file, title }) => !readFileSync(file, 'utf8').includes(`'${title}'`))
  expect(missing).toEqual([])
})

test('the override of unrs-resolver: Jest asks for a range that admits later versions', () => {
  expect(locked['node_modules/jest-resolve']?.dependencies?.['unrs-resolver']).toMatch(/^\^1\./)
})

test('the lock file names every platform’s binary of each package', () => {
  const missing = Object.values(locked)
    .flatMap(({ optionalDependencies = {} }) => Object.keys(optionalDependencies))
    .filter(name => !Object.keys(locked).some(path => path.endsWith(`node_modules/${name}`)))
  expect(missing).toEqual([])
})

test('allowScripts names the packages with an install script, and no others', () => {
  const scripted = Object.entries(locked).filter(([, { hasInstallScript }]) => hasInstallScript)
  const names = scripted.map(([path]) => path.split('node_modules/').at(-1)!)
  expect(Object.keys(allowScripts!).toSorted()).toEqual([...new Set(names)].toSorted())
})
