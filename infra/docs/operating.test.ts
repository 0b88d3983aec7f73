/** The operator's guide against the code: what it names is there, and what the service logs is in it. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { settings } from '../../shared/config.ts'

const guide = readFileSync('infra/docs/operating.md', 'utf8')

const production = ['functions', 'shared'].flatMap(folder =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && !/\.(test|soak)\.ts$|testing\//.test(file))
    .map(file => readFileSync(join(folder, file), 'utf8')),
)

describe('the operator’s guide', () => {
  test('explains every message that is logged', () => {
    const logged =
      /(?:\blog|\bnote)\(\s*(?:error|severity|[^,()]*?'(?:INFO|WARNING|ERROR)'[^,()]*),\s*'([^']+)'/g
    const messages = new Set(production.flatMap(text => [...text.matchAll(logged)].map(match => match[1]!)))
    expect(messages.size).toBeGreaterThanOrEqual(8)
    for (const message of messages) expect(guide).toContain(`\`${message}\``)
  })

  test('names files and settings that there are', () => {
    const files = [...guide.matchAll(/(?:`|\()((?:infra|queries|functions|shared)\/[\w./-]+\w)/g)].map(
      match => match[1]!,
    )
    expect(files.filter(file => !existsSync(file))).toEqual([])
    const build = readFileSync('cloudbuild.yaml', 'utf8')
    const names = [...guide.matchAll(/`(_?[A-Z]+(?:_[A-Z]+)+)`/g)].map(match => match[1]!)
    const known = Object.values(settings).map(({ variable }) => variable)
    expect(names.filter(name => !known.includes(name) && !build.includes(`${name}:`))).toEqual([])
  })
})
