/** The operator's guide against the code: what it names is there, and what the service logs is in it; `guide.soak.ts` runs its commands. */
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { settings } from '../../shared/config.ts'
import { lint, testWithGcloud } from '../google/testing/gcloud.ts'
import { blocksOfGuide, notRun } from './testing/guide.ts'

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

const commands = blocksOfGuide().flatMap(block => block.commands)

testWithGcloud()('gcloud has every command and flag of the guide', async () => {
  const ofGcloud = commands.flatMap(command => /^gcloud .*?(?= > \S+$|$)/.exec(command) ?? [])
  const wrong = `${ofGcloud[0]} --no-such-flag`
  expect(ofGcloud.length).toBeGreaterThan(15)
  // All at once: gcloud takes seconds to learn its own flags.
  expect(await lint([...ofGcloud, wrong])).toEqual([expect.stringContaining('--no-such-flag')])
})

test('each reason not to run a command is that of one', () => {
  for (const [pattern] of notRun) expect(commands).toContainEqual(expect.stringMatching(pattern))
})
