import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { apply } from '../apply/apply.ts'
import { runCommand } from '../testing/command.ts'
import { diffCommand, restoreCommand, versionsCommand } from './commands.ts'

const folder = mkdtempSync(join(tmpdir(), 'versions-'))
const queries = join(folder, 'queries')
let services: Services
/** Of usage.api-counts, in the order in which they were applied. */
const versions: string[] = []

const applyNow = (by: string) => apply(services, { queries, dryRun: false, by, out: () => {} })

async function inForce(): Promise<{ version: string; cacheSeconds: number } | undefined> {
  return (await services.endpoints.all()).find(({ name }) => name === 'usage.api-counts')
}

function edit(from: string | RegExp, to: string): void {
  const file = join(queries, 'usage.api-counts.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to))
}

beforeAll(async () => {
  cpSync('queries', queries, { recursive: true })
  services = await openServices(loadConfig({ DATA_DIR: join(folder, 'data'), ENGINE_PROCESSES: '0' }))
  for (const seconds of [900, 600, 300]) {
    edit(/^cache: .*$/m, `cache: { seconds: ${seconds} }`)
    await applyNow(`ann ${seconds}`)
    versions.push((await inForce())!.version)
  }
})

afterAll(async () => {
  await services.close()
  rmSync(folder, { recursive: true })
})

const run = (command: typeof versionsCommand | typeof diffCommand, ...args: string[]) =>
  runCommand(
    command(act => act(services)),
    args,
  )
const restore = (...args: string[]) =>
  runCommand(
    restoreCommand(
      act => act(services),
      () => 'bob',
    ),
    args,
  )
const name = 'usage.api-counts'

test('lqe versions lists what was applied, when and by whom, and marks what is in force', async () => {
  const { out } = await run(versionsCommand, name)
  const time = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/
  expect(out.replaceAll(new RegExp(time, 'g'), 'TIME').split('\n')).toEqual([
    `* ${versions[2]}  TIME by ann 300`,
    `  ${versions[1]}  TIME by ann 600`,
    `  ${versions[0]}  TIME by ann 900`,
    '',
  ])
})

test('lqe diff prints the lines in which two versions differ, by their beginnings', async () => {
  const { out } = await run(diffCommand, name, versions[0]!.slice(0, 8), versions[1]!)
  expect(out).toContain('-  "cacheSeconds": 900,\n+  "cacheSeconds": 600,')
  for (const before of [[versions[1]!], ['previous'], []])
    expect((await run(diffCommand, name, ...before)).out).toContain(
      '-  "cacheSeconds": 600,\n+  "cacheSeconds": 300,',
    )
  expect((await run(diffCommand, name, versions[2]!)).out).toBe('They do not differ.\n')
})

describe('lqe restore', () => {
  test('puts a version in force, as its author', async () => {
    const { out, err } = await restore(name, versions[0]!)
    expect([err, out]).toEqual([
      '',
      expect.stringMatching(`^Restored ${versions[0]} of ${name}; in force every`),
    ])
    expect(await inForce()).toMatchObject({ version: versions[0], cacheSeconds: 900 })
    expect((await run(versionsCommand, name)).out).toMatch(
      new RegExp(`^\\* ${versions[0]}  .*Z by bob, first .*Z by ann 900\n`),
    )
    expect((await restore(name, versions[0]!)).out).toBe(`${versions[0]} is in force.\n`)
    expect((await restore(name, 'previous')).out).toMatch(`Restored ${versions[2]} of`)
    expect((await restore(name, 'previous')).out).toMatch(`Restored ${versions[0]} of`)
  })

  test('brings back an endpoint that was removed, with its roll-up', async () => {
    const kept = join(folder, 'kept')
    cpSync(queries, kept, { recursive: true })
    rmSync(queries, { recursive: true })
    cpSync(kept, queries, { recursive: true, filter: file => !file.includes('usage.api-counts') })
    await applyNow('ann')
    expect(await inForce()).toBeUndefined()
    expect((await run(versionsCommand, name)).out).toContain(
      `${name} was removed; lqe restore ${name} VERSION`,
    )
    expect((await run(diffCommand, name, versions[0]!)).err).toContain('was removed: name two versions')
    expect((await restore(name, versions[1]!)).err).toBe('')
    expect(await inForce()).toMatchObject({ version: versions[1] })
    cpSync(kept, queries, { recursive: true })
  })

  test('refuses one whose SQL the engine refuses now, and changes nothing', async () => {
    const { endpoints, engine, ...rest } = services
    const broken = Object.assign(Object.create(engine) as typeof engine, {
      describe: () => engine.describe({ sql: 'SELECT 1 FROM `gone`', bindings: [] }),
    })
    const command = restoreCommand(
      act => act({ ...rest, endpoints, engine: broken }),
      () => null,
    )
    const { err, code } = await runCommand(command, [name, versions[2]!])
    expect([code, err]).toEqual([1, expect.stringContaining('cannot be restored as the tables are now')])
    expect(await inForce()).toMatchObject({ version: versions[1] })
  })
})

test('lqe versions --forget removes one that is not in force', async () => {
  for (const text of ['', versions[2]!.slice(0, 3)])
    expect((await run(versionsCommand, name, '--forget', text)).err).toContain('at least 4 characters')
  expect((await run(versionsCommand, name, '--forget', versions[1]!)).err).toContain('is in force')
  expect((await run(versionsCommand, name, '--forget', versions[2]!)).out).toContain(`Forgot ${versions[2]}`)
  expect((await run(versionsCommand, name)).out).not.toContain(versions[2])
})

test('a definition may end the versions before it: apply says which can be called, and versions marks them', async () => {
  const say = async () => {
    const lines: string[] = []
    await apply(services, { queries, dryRun: false, out: line => lines.push(line) })
    return lines.filter(line => line.startsWith('!'))
  }
  edit(/^ {2}seconds: \d+$/m, '  seconds: 200')
  expect(await say()).toEqual([
    `! ${name}: its earlier versions can still be called; endEarlierVersions: true ends them`,
  ])
  edit(/$/, 'endEarlierVersions: true\n')
  expect(await say()).toEqual([`! ${name}: callers have no earlier version any more (endEarlierVersions)`])
  const listed = (await run(versionsCommand, name)).out.trimEnd().split('\n')
  const others = listed.slice(1).map(() => [' ', true])
  expect(others.length).toBeGreaterThan(1)
  expect(listed.map(line => [line[0], line.endsWith(', ended')])).toEqual([['*', false], ...others])
  expect(await say()).toEqual([])
})

test.each([
  [['nothing', 'a'], /^No version of nothing is kept/],
  [[name, 'ffffffffffffffff'], /^ffffffffffffffff is no version of usage\.api-counts\./],
])('%j says what is wrong', async (args, said) => {
  const { err, code } = await restore(...args)
  expect(code).toBe(1)
  expect(err).toMatch(said)
})
