/** The recipes of own-logs.md, run as a newcomer would while the service runs. */
import { execFile } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { shapeOf } from '../../functions/explorer/logs/shape.ts'
import type { TableDescription } from '../../functions/query/tables.ts'
import { millisOf } from '../../functions/query/times.ts'
import { startService, type TestService } from '../../functions/testing/service.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { runProgram } from '../lqe/testing/command.ts'

const root = join(import.meta.dirname, '../..')
const page = readFileSync(join(import.meta.dirname, 'own-logs.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'own-logs-'))
let service: TestService

const request = (second: number, path: string, status: number) =>
  `203.0.113.9 - - [17/May/2015:10:05:0${second} +0000] "GET ${path} HTTP/1.1" ${status} 512 "-" "curl/8.5.0"\n`

beforeAll(async () => {
  for (const [from, to] of [
    ['queries', 'queries'],
    ['infra/tables', 'tables'],
    ['infra/docs/own-logs', 'infra/docs/own-logs'],
  ] as const)
    cpSync(join(root, from), join(folder, to), { recursive: true, filter: hasNoTests })
  writeFileSync(
    join(folder, 'access.log'),
    request(0, '/a', 200) + request(1, '/b', 404) + request(2, '/b', 404),
  )
  writeFileSync(join(folder, 'app.ndjson'), /```json\n(.*?)```/s.exec(page)![1]!)
  service = await startService({ tables: {}, env: { TABLES_DIR: join(folder, 'tables'), REMEMBER_MS: '1' } })
}, 30_000)

afterAll(async () => {
  await service.stop()
  rmSync(folder, { recursive: true })
})

/** Each `apply` runs the tests of endpoints: here those of the shipped ones are left to `endpoint-tests/run.test.ts`. */
function hasNoTests(file: string): boolean {
  return !file.endsWith('.test.yaml')
}

/** The commands of a section, as they are in its shell blocks. */
function commandsOf(section: string): string[] {
  const text = page.split(/^## /m).find(part => part.startsWith(section)) ?? ''
  return [...text.matchAll(/```sh\n(.*?)```/gs)].flatMap(match => match[1]!.trim().split('\n'))
}

/**
 * What they print: of `npm run lqe`, without npm and in one process where several follow each other, and of others as a shell
 * runs them. A question is answered by the flag that spares it.
 */
async function run(commands: string[]): Promise<string[]> {
  const env = {
    ...process.env,
    ...service.env,
    INIT_CWD: folder,
    BASE: `${service.url}/api/endpoints/query`,
    KEY: service.key,
  }
  const options = { cwd: folder, env }
  const printed: string[] = []
  for (const part of commands.join('\n').split(/^(?!npm run lqe)(.*)\n/m)) {
    if (part === '') continue
    if (!part.startsWith('npm run lqe')) {
      printed.push((await promisify(execFile)('sh', ['-c', part], options)).stdout)
      continue
    }
    const lines = part.trim().split('\n')
    const words = lines.map(line =>
      line
        .replace(/table add .*/, '$& --yes')
        .split(/ +/)
        .slice(4),
    )
    printed.push(...(await runProgram(words, options)).map(({ out }) => out))
  }
  return printed
}

function rowsOf(answer: string): number | undefined {
  return (JSON.parse(answer) as { meta?: { rows: number } }).meta?.rows
}

async function get<T>(path: string): Promise<T> {
  return (await service.fetch(`/api/endpoints/${path}`)).json() as Promise<T>
}

describe.each([
  [
    'An nginx or Apache access log',
    'access.latest',
    'access.status',
    'status',
    ['ok', 'client_errors', 'server_errors'],
  ],
  ['Any NDJSON', 'app.latest', 'app.levels', 'level', ['level', 'entries']],
])('%s', (section, latest, chart, severity, columns) => {
  const answers: string[] = []

  test('becomes a table and two endpoints by the commands of the page', async () => {
    answers.push(...(await run(commandsOf(section))))
    expect(answers[0]).toMatch(/rows loaded: [23]; bad lines: 0/)
    expect(answers.filter(answer => answer.startsWith('{')).map(rowsOf)).toEqual([
      expect.any(Number),
      expect.any(Number),
    ])
  }, 60_000)

  test('is shown as logs, with a time, a message and a severity', async () => {
    const { result } = await get<{ result: TableDescription[] }>(`${latest}/tables`)
    const shape = shapeOf(result[0]!)
    expect([shape?.time.path, shape?.id?.path, shape?.severity?.path]).toEqual(['timestamp', 'id', severity])
    expect(shape?.message.path).toMatch(/message$/)
  })

  test('is shown as a chart', async () => {
    const { result } = await get<{ result: Row[] }>(`query/${chart}`)
    expect(result.map(row => Object.keys(row).slice(1))).toEqual(result.map(() => columns))
    for (const { hour, [columns.at(-1)!]: count } of result)
      expect([millisOf(hour), count]).toEqual([expect.any(Number), expect.any(Number)])
  })

  test('is read page by page', async () => {
    const { meta } = await get<{ meta: { rows: number; newest: string } }>(`query/${latest}`)
    expect(meta).toMatchObject({ rows: expect.any(Number), newest: expect.any(String) })
    const { result } = await get<{ result: Row[] }>(`query/${latest}?follow=${meta.newest}`)
    expect(result).toEqual([])
  })
})

test('the commands about loading work as they are', async () => {
  const printed = await run(commandsOf('Loading'))
  expect(printed).toHaveLength(commandsOf('Loading').length)
  expect(printed).not.toContain('')
}, 60_000)
