/** The recipes of own-logs.md, run as a newcomer would while the service runs. */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { shapeOf } from '../../functions/explorer/logs/shape.ts'
import { rowsSql } from '../../functions/explorer/logs/sql.ts'
import { initial } from '../../functions/explorer/logs/state.ts'
import type { DraftAnswer } from '../../functions/query/draft.ts'
import type { TableDescription } from '../../functions/query/endpoints.ts'
import { millisOf } from '../../shared/answers/times.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'
import { describeInChromium } from '../../functions/testing/tab.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { buildExplorer } from '../deploy/build-explorer.ts'
import { program, runProgram } from '../lqe/testing/command.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(import.meta.dirname, 'own-logs.md'), 'utf8')
const home = mkdtempSync(join(tmpdir(), 'own-logs-'))
const explorer = join(home, 'explorer')

/** A folder of a newcomer's own, and the service that runs beside it. */
interface Newcomer {
  folder: string
  service: TestService
}

const newcomers = new Map<string, Newcomer>()
const newcomerOf = (recipe: string) => newcomers.get(recipe)!

const request = (second: number, path: string, status: number) =>
  `203.0.113.9 - - [17/May/2015:10:05:0${second} +0000] "GET ${path} HTTP/1.1" ${status} 512 "-" "curl/8.5.0"\n`

/** The block of a format in the page. */
const blockOf = (language: string) => new RegExp(`\`\`\`${language}\n(.*?)\`\`\``, 's').exec(page)![1]!

const recipes = [
  {
    recipe: 'An nginx or Apache access log',
    file: 'access.log',
    content: request(0, '/a', 200) + request(1, '/b', 404) + request(2, '/b', 404),
    names: { latest: 'access.latest', chart: 'access.status', severity: 'status' },
    columns: ['ok', 'client_errors', 'server_errors'],
    entry: { path: '/b', client: '203.0.113.9' },
    rows: 3,
  },
  {
    recipe: 'Any NDJSON',
    file: 'app.ndjson',
    content: blockOf('json'),
    names: { latest: 'app.latest', chart: 'app.levels', severity: 'level' },
    columns: ['level', 'entries'],
    entry: { message: 'failed', status: '500' },
    rows: 2,
  },
  {
    recipe: 'CSV',
    file: 'app.csv',
    content: blockOf('csv'),
    names: { latest: 'app.latest', chart: 'app.levels', severity: 'level' },
    columns: ['level', 'entries'],
    entry: { message: 'failed', took_ms: '3' },
    rows: 2,
  },
]

beforeAll(async () => {
  await buildExplorer(explorer)
  for (const { recipe, file, content } of recipes) {
    const folder = mkdtempSync(join(home, 'newcomer-'))
    for (const [from, to] of [
      ['infra/tables', 'tables'],
      ['infra/docs/own-logs', 'infra/docs/own-logs'],
    ] as const)
      cpSync(join(root, from), join(folder, to), { recursive: true })
    writeFileSync(join(folder, file), content)
    const queries = folderOfOne(folder)
    const env = { TABLES_DIR: join(folder, 'tables'), REMEMBER_MS: '1', EXPLORER_DIR: explorer }
    newcomers.set(recipe, { folder, service: await startService({ tables: {}, queries, env }) })
  }
})

afterAll(async () => {
  for (const { service } of newcomers.values()) await service.stop()
  rmSync(home, { recursive: true })
})

/** A newcomer's `queries/`, with one endpoint: each `apply` would check all that ship, and that takes half the time here. */
function folderOfOne(folder: string): string {
  const queries = join(folder, 'queries')
  for (const file of ['service.usage.sql', 'service.usage.yaml'])
    cpSync(join(root, 'queries', file), join(queries, file))
  return queries
}

/** The commands of a section: those in its shell blocks, and whole ones within its sentences. */
function commandsOf(section: string): string[] {
  const text = page.split(/^## /m).find(part => part.startsWith(section)) ?? ''
  const blocks = [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(match => match[1]!.trim().split('\n'))
  const inline = [...text.replaceAll(/```.*?```/gs, '').matchAll(/`((?:npx lqe|cat \*) [^`]+)`/g)]
  return [...blocks, ...inline.map(match => match[1]!.replaceAll(/\s+/g, ' '))]
}

/** CSV goes the way of NDJSON, with a file of its own. */
function recipeOf(recipe: string): string[] {
  if (recipe !== 'CSV') return commandsOf(recipe)
  const [add, ...others] = commandsOf(recipe)
  const shared = commandsOf('Any NDJSON').slice(1)
  return [add!, ...shared.filter(command => !command.includes('http.')), ...others]
}

/**
 * What they print: of `npx lqe`, without npm and in one process where several follow each other, and of others as a shell
 * runs them. A question is answered by the flag that spares it.
 */
async function run({ folder, service }: Newcomer, commands: string[]): Promise<string[]> {
  const env = {
    ...process.env,
    ...service.env,
    INIT_CWD: folder,
    BASE: `${service.url}/api/endpoints/query`,
    KEY: service.key,
  }
  const options = { cwd: folder, env }
  const lqe = [process.execPath, ...program.map(word => word.replace(/^(\.\/)?infra/, join(root, 'infra')))]
  const printed: string[] = []
  for (const part of commands.join('\n').split(/^(?!npx lqe)(.*)\n?/m)) {
    if (part === '') continue
    if (!part.startsWith('npx lqe')) {
      const command = part.replace('npx lqe', lqe.join(' '))
      printed.push((await promisify(execFile)('sh', ['-c', command], options)).stdout)
      continue
    }
    const lines = part.trim().split('\n')
    const words = lines.map(line =>
      line
        .replace(/table add .*/, '$& --yes')
        .split(/ +/)
        .slice(2),
    )
    printed.push(...(await runProgram(words, options)).map(({ out }) => out))
  }
  return printed
}

function rowsOf(answer: string): number | undefined {
  return (JSON.parse(answer) as { meta?: { rows: number } }).meta?.rows
}

async function get<T>({ service }: Newcomer, path: string): Promise<T> {
  return (await service.fetch(`/api/endpoints/${path}`)).json() as Promise<T>
}

describe.each(recipes)('$recipe', ({ recipe, names: { latest, chart, severity }, columns, rows }) => {
  const answers: string[] = []

  test('becomes a table and two endpoints by the commands of the page', async () => {
    const commands = recipeOf(recipe)
    answers.push(...(await run(newcomerOf(recipe), commands)))
    expect(answers).toHaveLength(commands.length)
    expect(answers[0]).toContain(`rows loaded: ${rows}; bad lines: 0`)
    expect(answers.join('')).not.toContain('one by one')
    const counts = answers.filter(answer => answer.startsWith('{')).map(rowsOf)
    expect(counts).toEqual(
      commands.filter(command => command.startsWith('curl')).map(() => expect.any(Number)),
    )
  })

  test('is shown as logs, with a time, a message and a severity', async () => {
    const { result } = await get<{ result: TableDescription[] }>(newcomerOf(recipe), `${latest}/tables`)
    const shape = shapeOf(result[0]!)
    expect([shape?.time.path, shape?.id?.path, shape?.severity?.path]).toEqual(['timestamp', 'id', severity])
    expect(shape?.message.path).toMatch(/message$/)
  })

  test('is shown as a chart', async () => {
    const { result } = await get<{ result: Row[] }>(newcomerOf(recipe), `query/${chart}`)
    expect(result.map(row => Object.keys(row).slice(1))).toEqual(result.map(() => columns))
    for (const { hour, [columns.at(-1)!]: count } of result)
      expect([millisOf(hour), count]).toEqual([expect.any(Number), expect.any(Number)])
  })

  test('is read page by page', async () => {
    const newcomer = newcomerOf(recipe)
    const { meta } = await get<{ meta: { rows: number; newest: string } }>(newcomer, `query/${latest}`)
    expect(meta).toMatchObject({ rows, newest: expect.any(String) })
    const { result } = await get<{ result: Row[] }>(newcomer, `query/${latest}?follow=${meta.newest}`)
    expect(result).toEqual([])
  })
})

describeInChromium('in Chromium', { width: 1280, height: 900 }, tab => {
  test.each(recipes)('$recipe: an entry opens, filters, and there is a chart', async each => {
    const { recipe, names, columns, entry, rows } = each
    const { service } = newcomerOf(recipe)
    const { page } = tab
    await page.goto(`${service.url}/#${names.latest}`)
    await page.getByLabel('API key').fill(service.key)
    await page.keyboard.press('Enter')
    const counted = (count: number) => page.locator('.logs-facts', { hasText: new RegExp(`^${count} row`) })
    await counted(rows).waitFor()
    const lines = page.locator('.row:not(.head)')
    await lines.first().click()
    for (const [name, value] of Object.entries(entry)) {
      const leaf = page.locator('.tree .leaf').filter({ has: page.locator('.name', { hasText: name }) })
      expect(await leaf.first().locator('.value').textContent()).toBe(value)
    }
    const [name] = Object.keys(entry) as [string]
    const field = page.getByRole('button', { name: `Filter for ${name}`, exact: true })
    await page.locator('.leaf').filter({ has: field }).hover()
    await field.click()
    await counted(recipe.includes('access') ? 2 : 1).waitFor()
    await page.getByRole('combobox', { name: 'Endpoint' }).selectOption(names.chart)
    await page.getByRole('button', { name: 'Chart' }).waitFor()
    const legend = await page.locator('.legend button').allTextContents()
    // Of levels, a line for each.
    expect(legend).toEqual(columns[0] === 'level' ? expect.arrayContaining(['info']) : columns)
    await page.goto(`${service.url}/#${names.latest}?.view=query&sql=${encodeURIComponent(starOver(recipe))}`)
    await page.getByText('This link brings a query of its own.').waitFor()
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByRole('columnheader', { name: 'timestamp' }).waitFor()
  })
})

const starOver = (recipe: string) => `SELECT * FROM ${recipe.includes('access') ? 'requests' : 'entries'}`

test('what the page shows becomes an endpoint by the files that the page makes, and the commands here', async () => {
  const newcomer = newcomerOf('An nginx or Apache access log')
  const { result: tables } = await get<{ result: TableDescription[] }>(newcomer, 'access.latest/tables')
  const filter = { path: 'status', operator: '=' as const, value: 404, parameter: 'status' }
  const state = { ...initial, columns: ['path', 'client'], filters: [filter] }
  const wish = {
    name: 'my.notfound',
    description: 'Requests for what is not there.',
    sql: rowsSql(state, shapeOf(tables[0]!)!, { from: null, to: null }, 100),
    parameters: { status: { type: 'integer', description: 'status = this', default: 404 } },
    values: {},
    redact: false,
  }
  const headers = { 'Content-Type': 'application/json' }
  const body = JSON.stringify(wish)
  const path = '/api/endpoints/access.latest/draft'
  const drafted = await newcomer.service.fetch(path, { method: 'POST', headers, body })
  const { result } = (await drafted.json()) as { result: DraftAnswer }
  for (const { name, text } of result.files) writeFileSync(join(newcomer.folder, 'queries', name), text)
  const withoutId = (yaml: string) => yaml.replace(/^id: .*$/m, 'id:')
  expect(result.files[0]!.text).toBe(blockOf('sql'))
  expect(withoutId(result.files[1]!.text)).toBe(withoutId(blockOf('yaml')))
  const commands = commandsOf('From the page')
  const printed = await run(newcomer, commands)
  expect(printed).toHaveLength(2)
  expect(printed[0]).toContain('my.notfound')
  expect(printed[1]).toMatch(/2 rows/)
})

test('the commands about loading work as they are', async () => {
  const newcomer = newcomerOf('Any NDJSON')
  const { folder } = newcomer
  writeFileSync(join(folder, 'access.log'), recipes[0]!.content)
  writeFileSync(join(folder, 'app.1.gz'), gzipSync(readFileSync(join(folder, 'app.ndjson'))))
  const printed = await run(newcomer, commandsOf('Loading'))
  expect(printed).toHaveLength(commandsOf('Loading').length)
  expect(printed).not.toContain('')
})
