/** The rules of the house: imports flow one way, without circles; one file reads the environment, one knows the adapters. */
import { readFileSync, readdirSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { describe, expect, test } from '@jest/globals'

const root = resolve(import.meta.dirname, '..')

interface Source {
  file: string
  text: string
  /** Files that it loads. */
  imports: string[]
  /** Files that it names, also for their types only. */
  mentions: string[]
  packages: string[]
}

const sources: Source[] = ['functions', 'shared', 'infra'].flatMap(folder =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter(name => /\.tsx?$/.test(name))
    .map(name => read(join(folder, name))),
)

const production = sources.filter(({ file }) => !/\.(test|soak)\.ts$|\/testing\//.test(file))

function read(file: string): Source {
  const text = readFileSync(join(root, file), 'utf8')
  const named = [...text.matchAll(/^(?:import|export)\b(?!\s+type\b)[^'"]*?from '([^']+)'/gms)]
  const types = [...text.matchAll(/^(?:import|export)\s+type\b[^'"]*?from '([^']+)'/gms)]
  const bare = [...text.matchAll(/^import '([^']+)'/gm)]
  const lazy = [...text.matchAll(/\bimport\('([^']+)'\)/g)]
  const targets = [...named, ...bare, ...lazy].map(match => match[1]!)
  const own = (all: string[]) =>
    all
      .filter(target => target.startsWith('.'))
      .map(target => relative(root, resolve(root, dirname(file), target)))
  return {
    file,
    text,
    imports: own(targets),
    mentions: own([...targets, ...types.map(match => match[1]!)]),
    packages: targets.filter(target => !target.startsWith('.')),
  }
}

const under = (folder: string) => (file: string) => file.startsWith(`${folder}/`)

function importsOf(folder: string): string[] {
  return production.filter(({ file }) => under(folder)(file)).flatMap(({ imports }) => imports)
}

describe('the direction of imports', () => {
  test('shared imports neither functions nor infra, but of package.json its version', () => {
    const others = importsOf('shared').filter(file => !under('shared')(file))
    expect(others).toEqual(['package.json'])
  })

  test('functions do not import infra', () => {
    expect(importsOf('functions').filter(under('infra'))).toEqual([])
  })

  test('the SQL front end stands alone', () => {
    expect(importsOf('shared/sql').filter(file => !under('shared/sql')(file))).toEqual([])
  })

  test('the leaves import nothing of the service but each other', () => {
    const leaves = [
      'shared/errors.ts',
      'shared/config.ts',
      'shared/package-folder.ts',
      'shared/engines/engine.ts',
      'shared/stores/store.ts',
    ]
    const imported = production.filter(({ file }) => leaves.includes(file)).flatMap(({ imports }) => imports)
    expect(imported.filter(file => !leaves.includes(file) && !under('shared/sql')(file))).toEqual([])
  })

  test('only services.ts knows the adapters', () => {
    const adapters = (file: string) => /^shared\/(engines|stores)\/[^/]+\//.test(file)
    const importers = production
      .filter(({ file }) => (under('shared')(file) || under('functions')(file)) && !adapters(file))
      .filter(({ imports }) => imports.some(adapters))
    expect(importers.map(({ file }) => file)).toEqual(['shared/services.ts'])
  })

  test('has no circles, not even of types', () => {
    expect(circlesIn(mentioned(file => file))).toEqual([])
  })

  test('has no circles of rooms either', () => {
    expect(circlesIn(mentioned(roomOf))).toEqual([])
  })
})

/** A folder two levels deep, or the file above it. */
function roomOf(file: string): string {
  return file.split('/').slice(0, 2).join('/')
}

/** What each mentions, files as `nameOf` names them. */
function mentioned(nameOf: (file: string) => string): Map<string, Set<string>> {
  const graph = new Map<string, Set<string>>()
  for (const { file, mentions } of production) {
    const name = nameOf(file)
    const others = graph.get(name) ?? new Set()
    graph.set(name, others)
    for (const other of mentions.map(nameOf)) if (other !== name) others.add(other)
  }
  return graph
}

function circlesIn(graph: Map<string, Set<string>>): string[] {
  const done = new Set<string>()
  const circles: string[] = []
  const visit = (name: string, path: string[]) => {
    if (path.includes(name)) circles.push([...path.slice(path.indexOf(name)), name].join(' -> '))
    if (done.has(name) || path.includes(name)) return
    for (const next of graph.get(name) ?? []) visit(next, [...path, name])
    done.add(name)
  }
  for (const name of graph.keys()) visit(name, [])
  return circles
}

test('the printer of DuckDB SQL looks at trees and types, never at text that it printed', () => {
  const texts = '(sql|zone|divisor|delimiter|interval|json|path)'
  const patterns = new RegExp(
    `(test|exec)\\((\\w+\\.)?${texts}\\)|\\b${texts}\\.(startsWith|endsWith|includes|match|slice|replace|split)\\(`,
  )
  const readers = production.filter(
    ({ file, text }) => under('shared/engines/duckdb/rewrite')(file) && patterns.test(text),
  )
  // Where a value is written twice, it may be one that costs nothing.
  expect(readers.map(({ file }) => file)).toEqual(['shared/engines/duckdb/rewrite/repeats.ts'])
})

describe('the environment', () => {
  test('is read by config.ts alone, which gets it from the programs', () => {
    const readers = production.filter(({ text }) => /process\.env/.test(text)).map(({ file }) => file)
    const programs = [
      'functions/index.ts',
      'infra/lqe/folder.ts',
      'infra/lqe.ts',
      'infra/lqe/path.ts', // where npm was called
      'infra/deploy/deploy.ts',
      'infra/deploy/entry.ts',
      'infra/deploy/google-api.ts',
      'infra/deploy/smoke.ts',
    ]
    expect(
      readers.filter(
        file =>
          !programs.includes(file) &&
          !under('infra/bench')(file) &&
          !under('infra/local')(file) &&
          !under('infra/google')(file),
      ),
    ).toEqual([])
  })
})

describe('the SDKs of the adapters', () => {
  const sdks = ['@google-cloud/bigquery', '@google-cloud/firestore', '@duckdb/node-api']

  test('are never loaded by functions or shared before they are used', () => {
    const eager = production
      .filter(({ file }) => !under('infra')(file))
      .filter(({ text }) =>
        sdks.some(sdk => new RegExp(`^import (?!type\\b)[^'"]*from '${sdk}'`, 'm').test(text)),
      )
    expect(eager.map(({ file }) => file)).toEqual([])
  })
})
