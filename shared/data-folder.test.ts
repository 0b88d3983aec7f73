import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { loadLogs } from '../infra/lqe/logs/load.ts'
import { loadConfig } from './config.ts'
import { asUsual } from './data-folder.ts'
import { openRequestLog } from './request-log.ts'
import { openServices } from './services.ts'

const folder = mkdtempSync(join(tmpdir(), 'data-'))
const dataDir = join(folder, 'data')
const before = process.umask(0o022)

beforeAll(async () => {
  mkdirSync(join(dataDir, 'logs/postgres.logs'), { recursive: true })
  mkdirSync(join(folder, 'others'))
  for (const file of ['logs/old.ndjson', 'local-key', 'store.sqlite', 'notes', '../others/a'])
    writeFileSync(join(dataDir, file), '')
  symlinkSync('../../others', join(dataDir, 'logs/elsewhere'))
  chmodSync(join(dataDir, 'notes'), 0o644)
  const config = loadConfig({ DATA_DIR: dataDir, ENGINE_PROCESSES: '0' })
  const services = await openServices(config)
  const file = join(folder, 'lines')
  writeFileSync(file, '{"timestamp": "2026-01-31T12:00:00Z", "project": "p", "event_message": "m"}')
  const { tablesDir: tablesFolder } = config
  const load = {
    logsFolder: join(dataDir, 'logs'),
    tablesFolder,
    table: 'postgres.logs',
    files: [file],
    out: () => {},
  }
  await loadLogs(load)
  const sql = 'SELECT COUNT(*) AS n FROM `postgres.logs`'
  const limits = { maxRows: 10, timeoutMs: 30_000 }
  await services.engine.run({ sql, bindings: [] }, limits)
  openRequestLog(config)('INFO', 'request', {})
  await new Promise(resolve => setTimeout(resolve, 200))
  await services.close()
})

afterAll(() => {
  process.umask(before)
  rmSync(folder, { recursive: true })
})

const mode = (path: string) => (statSync(path).mode & 0o777).toString(8)

test('all that the service and lqe make or find of theirs in the data folder is for its owner alone', () => {
  const paths = readdirSync(dataDir, { recursive: true, encoding: 'utf8' })
    .filter(path => path !== 'notes' && !path.includes('elsewhere'))
    .map(path => join(dataDir, path))
  expect(paths.some(path => path.endsWith('.parquet'))).toBe(true)
  expect(paths.filter(path => /service\.requests\/2.*ndjson$/.test(path))).toHaveLength(1)
  const open = [dataDir, ...paths].filter(
    path => mode(path) !== (statSync(path).isDirectory() ? '700' : '600'),
  )
  expect(open).toEqual([])
})

test('a service that starts takes what was open before', async () => {
  const [earlier, logs] = [join(folder, 'earlier'), join(folder, 'earlier/logs')]
  mkdirSync(logs, { recursive: true })
  for (const path of [earlier, logs]) chmodSync(path, 0o755)
  await (await openServices(loadConfig({ DATA_DIR: earlier }))).close()
  expect([earlier, logs].map(mode)).toEqual(['700', '700'])
})

test('what is not of the service stays as it is, also behind a link', () => {
  expect([
    mode(join(dataDir, 'notes')),
    mode(join(folder, 'others')),
    mode(join(folder, 'others/a')),
  ]).toEqual(['644', '755', '644'])
})

test('files that are no data are written as other programs of the user write them', () => {
  asUsual(() => writeFileSync(join(folder, 'endpoint.yaml'), ''))
  writeFileSync(join(folder, 'data.parquet'), '')
  expect([mode(join(folder, 'endpoint.yaml')), mode(join(folder, 'data.parquet'))]).toEqual(['644', '600'])
})
