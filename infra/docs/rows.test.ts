/** What the commands of rows.md do, and what it says of tables. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import { columnsOf, type FieldSchema } from '../../shared/engines/schema.ts'
import { readTableSchemas } from '../../shared/engines/duckdb/tables.ts'
import { startBigQueryServer } from '../google/bigquery/server.ts'
import { runProgram } from '../lqe/testing/command.ts'

const page = readFileSync('infra/docs/rows.md', 'utf8')
const tables = readTableSchemas('infra/tables')

test('a sample and a file are in the tables after the commands of the page', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'rows-'))
  const [, settings = ''] = /^export (ENGINE.*)$/m.exec(page)!
  const env = Object.fromEntries(settings.split(' ').map(each => each.split('='))) as Record<string, string>
  const dataset = `${env['GOOGLE_CLOUD_PROJECT']}.${env['BIGQUERY_DATASET']}`
  const location = env['BIGQUERY_LOCATION']!
  const server = await startBigQueryServer({ logsFolder: join(folder, 'cloud'), tables, dataset, location })
  const entry = { timestamp: '2026-01-31T12:00:00Z', project: 'p', event_message: 'm' }
  writeFileSync(join(folder, 'edge.ndjson.gz'), JSON.stringify(entry))
  const commands = [...page.matchAll(/^npx lqe (.*)$/gm)].map(([, words]) => words!.split(' '))
  const home = { DATA_DIR: join(folder, 'data'), INIT_CWD: folder, BIGQUERY_EMULATOR_HOST: server.url }
  const printed = await runProgram(commands, { env: { ...process.env, ...env, ...home } })
  expect(printed.map(({ out }) => out.split('\n')[0])).toEqual([
    'cloudflare.logs.prod: 2000 sample rows',
    expect.stringContaining('rows to load: 1; bad lines: 0'),
    expect.stringContaining('rows loaded: 1; bad lines: 0'),
    expect.stringContaining('cloudflare.logs.prod: 2001 rows from '),
  ])
  await server.close()
  rmSync(folder, { recursive: true })
})

test('id and timestamp are what every table of logs requires', () => {
  const others = [...tables.keys()].filter(name => name !== 'service.requests')
  for (const name of others) {
    const fields = JSON.parse(readFileSync(`infra/tables/${name}.json`, 'utf8')) as FieldSchema[]
    const required = fields.filter(({ mode }) => mode === 'REQUIRED')
    expect(columnsOf(required, () => new Error(name)).map(column => column.name)).toEqual(['id', 'timestamp'])
  }
})
