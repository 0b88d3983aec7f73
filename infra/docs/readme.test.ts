/** The README is run as a newcomer would: its commands are taken from it, and its answers are compared in shape. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { settings } from '../../shared/config.ts'
import { errorCodes } from '../../shared/errors.ts'
import { freePort } from '../../shared/testing/free-port.ts'
import { writeSample } from '../lqe/logs/sample.ts'
import { runProgram } from '../lqe/testing/command.ts'

const root = join(import.meta.dirname, '../..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const reference = readFileSync(join(root, 'infra/docs/reference.md'), 'utf8')
const ownSql = readFileSync(join(root, 'queries/README.md'), 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'readme-'))
const port = await freePort()
const project = /export PROJECT=(\w+)/.exec(readme)?.[1] ?? ''
const env = {
  PATH: process.env['PATH'] ?? '',
  DATA_DIR: join(folder, 'data'),
  TABLES_DIR: join(folder, 'tables'),
  PORT: String(port),
  ENGINE_PROCESSES: '0', // `infra/local/start.test.ts` has them
}

let service: ChildProcess
let printed = ''
let key = ''

beforeAll(async () => {
  for (const [from, to] of [
    ['queries', 'queries'],
    ['infra/tables', 'tables'],
    ['infra/docs/own-logs', 'node_modules/log-query-endpoints/infra/docs/own-logs'],
  ] as const)
    cpSync(join(root, from), join(folder, to), { recursive: true, filter: hasNoTests })
  writeFileSync(
    join(folder, 'my.ndjson.gz'),
    gzipSync('{"timestamp": "2026-01-31T12:00:00Z", "project": "mine"}\n'),
  )
  const line = '203.0.113.9 - - [31/Jan/2026:12:00:00 +0000] "GET /rest/a HTTP/1.1" 200 5 "-" "curl/8"'
  writeFileSync(join(folder, 'access.log'), `${line}\n`)
  // Fewer than `npm start` makes: each `apply` compares its queries over all of them.
  const logsFolder = join(folder, 'data/logs')
  await writeSample({ logsFolder, tablesFolder: env.TABLES_DIR, now: new Date(), rows: 1000 })
  service = spawn(process.execPath, ['infra/lqe/bin.cjs', 'start'], { cwd: root, env })
  for (const stream of [service.stdout!, service.stderr!])
    stream.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  while (!/usage\.api-counts.*X-API-KEY/s.test(printed)) await sleep(50)
  key = /API key: (lqe_\w+)/.exec(printed)?.[1] ?? ''
})

afterAll(async () => {
  const ended = new Promise(resolve => service.once('exit', resolve))
  service.kill('SIGTERM')
  await ended
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 })
})

/** Each `apply` runs the tests of endpoints: here those of the shipped ones are left to `endpoint-tests/run.test.ts`. */
function hasNoTests(file: string): boolean {
  return !file.endsWith('.test.yaml')
}

/** Blocks of the README: the text, and the language that it is marked with. */
const blocks = blocksOf(readme)

function blocksOf(page: string): { language: string; text: string }[] {
  return [...page.matchAll(/```(\w*)\n(.*?)```/gs)].map(match => ({ language: match[1]!, text: match[2]! }))
}

function commands(beginning: string | RegExp, from = blocks): string[] {
  return from
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'))
    .filter(line => line.search(beginning) === 0)
}

/** Asks what a `curl` line asks. Only the options that the README uses are known. */
async function curl(command: string): Promise<Response> {
  const values: Record<string, string> = {
    KEY: key,
    BASE: `http://localhost:${port}/api/endpoints/query`,
    PROJECT: project,
  }
  const line = command
    .replaceAll(/\$(\w+)/g, (_, name: string) => values[name] ?? '')
    .replaceAll(':8080', `:${port}`)
  const [, address] = /^curl \S+ (?:-G )?["']([^"']+)["']/.exec(line) ?? []
  const headers = [...line.matchAll(/-H ["']([^:]+): ([^"']+)["']/g)].map(
    match => [match[1]!, match[2]!] as [string, string],
  )
  const data = [...line.matchAll(/--data-urlencode (["'])(\w+)=(.*?)\1/g)]
  const query = data.map(match => `&${match[2]}=${encodeURIComponent(match[3]!)}`).join('')
  return fetch(address! + query, { headers })
}

/** Names and types, at every depth; `null` and empty lists fit everything, and a field `…` stands for further ones. */
function misfits(shown: unknown, real: unknown, path = ''): string[] {
  if (shown === null || real === null) return []
  if (Array.isArray(shown) && Array.isArray(real))
    return shown.length === 0 || real.length === 0 ? [] : misfits(shown[0], real[0], `${path}[0]`)
  if (typeof shown !== typeof real || Array.isArray(shown) !== Array.isArray(real)) return [path]
  if (typeof shown !== 'object') return []
  const [a, b] = [shown as Record<string, unknown>, real as Record<string, unknown>]
  const { '…': more, ...named } = a
  const keys = new Set([...Object.keys(named), ...(more === undefined ? Object.keys(b) : [])])
  return [...keys].flatMap(name =>
    name in named && name in b ? misfits(named[name], b[name], `${path}.${name}`) : [`${path}.${name}`],
  )
}

describe('npm start', () => {
  test('prints curl lines that work as they are', async () => {
    const lines = printed
      .split('\n')
      .map(line => line.trim())
      .filter(line => line.startsWith('curl '))
    expect(lines).toHaveLength(2)
    for (const line of lines) {
      const response = await curl(line)
      expect(response.status).toBe(200)
      expect(((await response.json()) as { result: unknown[] }).result.length).toBeGreaterThan(1)
    }
  })
})

describe('the page on SQL of one’s own', () => {
  const page = blocksOf(ownSql)

  test('has curl commands that work', async () => {
    const lines = commands('curl ', page)
    expect(lines.length).toBeGreaterThan(1)
    for (const line of lines) expect([line, (await curl(line)).status]).toEqual([line, 200])
  })

  const questions = page.filter(({ language }) => language === 'sql')

  test('has ten questions', () => {
    expect(questions).toHaveLength(10)
  })

  test.each(questions.map(({ text }) => text))('answers with rows: %s', async sql => {
    const address = `http://localhost:${port}/api/endpoints/query/logs.all?project=${project}`
    const headers = { 'X-API-KEY': key, 'Content-Type': 'application/json' }
    const response = await fetch(address, { method: 'POST', headers, body: JSON.stringify({ sql }) })
    const body = (await response.json()) as { result: object[] }
    expect([response.status, body]).toEqual([200, expect.objectContaining({ result: expect.any(Array) })])
    expect(body.result.length).toBeGreaterThan(0)
  })
})

describe('the README', () => {
  test('shows answers of the shape that the service gives', async () => {
    const shown = [...readme.matchAll(/```sh\n(curl [^\n]+)\n```(?:(?!```).)*```json\n(.*?)```/gs)]
    expect(shown.length).toBeGreaterThanOrEqual(3)
    for (const [, command, answer] of shown)
      expect(misfits(JSON.parse(answer!), await (await curl(command!)).json())).toEqual([])
  })

  test('has no curl command that fails but those that are meant to', async () => {
    for (const command of commands('curl ')) {
      const { status } = await curl(command)
      expect([command, status]).toEqual([command, command.includes('interval=daily"') ? 400 : 200])
    }
  })

  test('shows what the caches do', async () => {
    const lines = commands('curl -si ').filter(line => line.includes('grep'))
    const statuses = []
    for (const line of lines) statuses.push((await curl(line)).headers.get('cache-status'))
    const shown = [...readme.matchAll(/^Cache-Status: (.*)$/gm)].map(match => match[1])
    const kind = (text: string | null | undefined) => /hit|miss|bypass/.exec(text ?? '')?.[0]
    expect(shown.map(kind)).toEqual(['miss', 'hit', 'bypass'])
    expect(statuses.map(kind).slice(1)).toEqual(['hit', 'bypass'])
  })

  test('has operator’s commands that work', async () => {
    for (const [language, name] of [
      ['sql', 'errors.latest.sql'],
      ['yaml', 'errors.latest.yaml'],
    ] as const)
      writeFileSync(join(folder, 'queries', name), blocks.find(block => block.language === language)!.text)
    const lines = commands(/^(npx lqe |cp )/)
    expect(lines.length).toBeGreaterThan(8)
    for (const part of lines.join('\n').split(/^(cp .*)$\n/m)) {
      if (part.startsWith('cp ')) {
        execFileSync('sh', ['-c', part], { cwd: folder })
        continue
      }
      // Few sample logs do: what is shown is that the command works.
      const words = (line: string) =>
        line.replace('$PROJECT', project).replace('20000', '200').split(' ').slice(2)
      const printed = await runProgram(part.trim().split('\n').map(words), { cwd: folder, env })
      for (const { err } of printed)
        expect(err.replaceAll(/^\{"severity":"NOTICE","message":"key .*\n/gm, '')).toBe('') // the audit lines
    }
  }, 180_000)

  test('copies files whose line for editors leads into the installed package', () => {
    const [, path] = /\$schema=\.\.\/node_modules\/log-query-endpoints\/(\S+)/.exec(
      readFileSync(join(folder, 'queries/access.latest.yaml'), 'utf8'),
    )!
    expect(existsSync(join(root, path!))).toBe(true)
  })

  test('has an endpoint to add that answers once it is applied', async () => {
    const path = `/api/endpoints/query/errors.latest?project=${project}`
    const response = await fetch(`http://localhost:${port}${path}`, { headers: { 'X-API-KEY': key } })
    expect(response.status).toBe(200)
  })

  test('is for users, and short', () => {
    expect(readme.split('\n').length).toBeLessThan(200)
  })
})

test('the reference names every setting with its description, and every error code', () => {
  for (const { variable, description } of Object.values(settings))
    expect(reference).toMatch(
      new RegExp(`\\| \`${variable}\` +\\| ${description.replaceAll(/[()*.]/g, '\\$&')}`),
    )
  for (const code of Object.keys(errorCodes)) expect(reference).toContain(`\`${code}\``)
})
