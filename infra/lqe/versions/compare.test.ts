import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { loadConfig } from '../../../shared/config.ts'
import { openServices, type Services } from '../../../shared/services.ts'
import { apply } from '../apply/apply.ts'
import { answerOf, findEndpoint } from '../query.ts'
import { runCommand } from '../testing/command.ts'
import { compareCommand } from './compare.ts'

const folder = mkdtempSync(join(tmpdir(), 'compare-'))
const queries = join(folder, 'queries')
let services: Services
let first: string

function write(name: string, rows: string, settings = 'n: { type: integer, examples: [7] }'): void {
  const id = '3c0f5e7a-2f5e-4d0e-9a63-3f1b6a0c9d11'
  const parameters = `parameters: { required: [n], properties: { ${settings} } }`
  writeFileSync(
    join(queries, `${name}.yaml`),
    `id: ${id}\ndescription: A.\n${parameters}\ncache: { seconds: 60 }\n`,
  )
  writeFileSync(join(queries, `${name}.sql`), `SELECT * FROM UNNEST([${rows}]) WHERE n <= @n ORDER BY n`)
}

const row = (n: number, text: string) => `STRUCT(${n} AS n, '${text}' AS text)`

beforeAll(async () => {
  mkdirSync(queries)
  services = await openServices(
    loadConfig({ DATA_DIR: join(folder, 'data'), REMEMBER_MS: '1', ENGINE_PROCESSES: '0' }),
  )
  write('a', [row(1, 'one'), row(2, 'two'), row(4, 'four')].join())
  await apply(services, { queries, dryRun: false, out: () => {} })
  first = (await findEndpoint(services, 'a')).version
})

afterAll(async () => {
  await services.close()
  rmSync(folder, { recursive: true })
})

const compare = (...args: string[]) =>
  runCommand(
    compareCommand(act => act(services)),
    ['a', ...args],
  )
const file = () => join(queries, 'a.yaml')
const ask = async (n: number) =>
  answerOf(services, await findEndpoint(services, 'a'), `n=${n}`, { sql: null, redact: false, fresh: false })

test('says that there is no version before the first', async () => {
  expect(await compare()).toMatchObject({ err: 'a has no version before the one in force.\n', code: 1 })
})

test('takes the definition’s examples where no set is in use', async () => {
  const { out, code } = await compare('--with', file())
  expect(out).toBe(
    `= n=7\n${first} -> ${first}, parameter sets of examples, as none is in use: 1 of 1 answered alike.\n`,
  )
  expect(code).toBe(0)
})

test('shows the cells and rows that differ, for each set in use, the last used first', async () => {
  await ask(1)
  await ask(5)
  write('a', [row(1, 'one'), row(2, 'TWO'), row(3, 'three'), row(4, 'four')].join())
  const { out, code } = await compare('--with', file())
  const difference = [' - n: 2', '-  text: TWO', '-- n: 3', '-  text: three', '+  text: two', ' - n: 4']
  expect(out).toContain('= n=1\n')
  expect(out).toContain(`~ n=5\n    @@ -3,5 +3,3 @@\n${difference.map(line => `    ${line}\n`).join('')}`)
  expect(out).toMatch(/parameter sets in use: 1 of 2 answered alike\.\n$/)
  expect(code).toBe(1)
})

test('takes a stored version by its beginning, after another one was applied', async () => {
  await apply(services, { queries, dryRun: false, out: () => {} })
  const { out } = await compare('--with', first.slice(0, 6), '--sets', '1')
  const difference = [' - n: 2', '-  text: two', '+  text: TWO', '+- n: 3', '+  text: three', ' - n: 4']
  expect(out).toContain(`    @@ -3,3 +3,5 @@\n${difference.map(line => `    ${line}\n`).join('')}`)
  expect(out).toContain(
    `${first} -> ${(await findEndpoint(services, 'a')).version}, parameter sets in use: 0 of 1 answered alike.`,
  )
  expect((await compare('--sets', '1')).out).toBe(out) // the version before, by itself
})

test.each([
  [
    'needs another parameter',
    'n: { type: integer }, m: { type: integer }',
    'm is required and must not be empty',
  ],
  ['takes fewer values', 'n: { type: integer, maximum: 0 }', 'n must be at most 0'],
])('says that a version %s', async (_, settings, said) => {
  const names = settings.includes(', m: {') ? '[n, m]' : '[n]'
  write('a', row(1, 'one'), settings)
  const sql = names === '[n, m]' ? 'SELECT @n AS n, @m AS m' : 'SELECT @n AS n'
  writeFileSync(join(queries, 'a.sql'), sql)
  const yaml = file()
  writeFileSync(
    yaml,
    `id: 3c0f5e7a-2f5e-4d0e-9a63-3f1b6a0c9d11\ndescription: A.\nparameters: { required: ${names}, properties: { ${settings} } }\n`,
  )
  const { out, code } = await compare('--with', yaml, '--sets', '1')
  expect(out).toContain(`    cannot be compared: ${said}\n`)
  expect(code).toBe(1)
})

test.each([
  [['--with', 'ffff'], /^ffff is no version of a\./],
  [['--with', join(queries, 'b.yaml')], /b\.yaml is no file of an endpoint/],
  [['--with', 'a.sql'], /^A file is named by its definition: did you mean a\.yaml\?/],
])('%j says what is wrong', async (args, said) => {
  const { err, code } = await compare(...args)
  expect(err).toMatch(said)
  expect(code).toBe(1)
})
