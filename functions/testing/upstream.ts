/** Endpoints that read the rows of others, on each engine. */
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBigQueryServer } from '../../infra/google/bigquery/server.ts'
import { apply } from '../../infra/lqe/apply/apply.ts'
import { loadLogs } from '../../infra/lqe/logs/load.ts'
import { answersCollection } from '../../shared/cache/head.ts'
import { readTableSchemas } from '../../shared/engines/duckdb/tables.ts'
import { type EdgeRow, edgeRow } from './edges.ts'
import { startService, type TestService } from './service.ts'

export const table = 'cloudflare.logs.prod'

/** Name -> the definition without its id and description, and the SQL. */
export type Files = Record<string, { yaml: string; sql: string }>

export interface Reading {
  service: TestService
  /** Makes these the only endpoints. */
  apply(files: Files): Promise<void>
  /** Log rows that come now. */
  add(rows: EdgeRow[]): Promise<void>
  /** Lets every answer in the store be in use, and older by so much. Memory knows it after five seconds. */
  age(ms: number): Promise<void>
  /** The body of a call, and its response. */
  call(path: string, init?: Parameters<TestService['fetch']>[1]): Promise<Called>
  stop(): Promise<void>
}

export interface Called {
  response: Response
  status: number
  result: Record<string, unknown>[]
  code?: string
  detail?: string
  errors?: { endpoint?: string; parameter?: string; detail: string }[]
  meta: { truncated: boolean; redacted: boolean; version: string }
}

const rememberMs = 50

export async function startReading(engine: 'duckdb' | 'bigquery', files: Files): Promise<Reading> {
  const dataDir = mkdtempSync(join(tmpdir(), 'reading-'))
  const queries = join(dataDir, 'queries')
  write(queries, files)
  const logsFolder = join(dataDir, 'logs')
  const dataset = 'local-project.logs'
  const server =
    engine === 'bigquery'
      ? await startBigQueryServer({ logsFolder, tables: readTableSchemas('infra/tables'), dataset })
      : null
  const bigQuery = {
    ENGINE: 'bigquery',
    STORE: 'sqlite',
    GOOGLE_CLOUD_PROJECT: 'local-project',
    BIGQUERY_DATASET: dataset,
    BIGQUERY_EMULATOR_HOST: server?.url,
  }
  const service = await startService({
    tables: {},
    queries,
    env: { DATA_DIR: dataDir, REMEMBER_MS: String(rememberMs), ...(server ? bigQuery : {}) },
    bundle: null,
  })
  const reading: Reading = {
    service,
    async apply(changed) {
      write(queries, changed)
      await apply(service.services, { queries, dryRun: false, out: () => {} })
      await new Promise(resolve => setTimeout(resolve, 2 * rememberMs))
    },
    async add(more) {
      const file = join(dataDir, `${more[0]!.id}.ndjson`)
      writeFileSync(file, more.map(row => JSON.stringify(row)).join('\n'))
      await loadLogs({ logsFolder, tablesFolder: 'infra/tables', table, files: [file], out: () => {} })
    },
    async age(ms) {
      const { store } = service.services
      const { documents } = await store.query({ collection: answersCollection, limit: 1_000 })
      for (const { id, fields, version } of documents) {
        if (!fields['stored']) continue // a failure
        const { madeAt, ...stored } = fields['stored'] as { madeAt: number }
        const set = { stored: { ...stored, madeAt: madeAt - ms }, uses: 2 }
        await store.update({ collection: answersCollection, id }, { set }, version)
      }
    },
    async call(path, init) {
      const response = await service.fetch(`/api/endpoints/query/${path}`, init)
      return { ...((await response.json()) as Called), response, status: response.status }
    },
    async stop() {
      await service.stop()
      await server?.close()
    },
  }
  await reading.add(['a', 'b'].flatMap(project => [1, 2].map(n => rowOf(`${project}${n}`, project, `/${n}`))))
  return reading
}

export function rowOf(id: string, project: string, path: string): EdgeRow {
  return edgeRow(id, new Date(Date.now() - 60_000).toISOString(), project, path)
}

let made = 0
const ids = new Map<string, string>()

function write(folder: string, files: Files): void {
  mkdirSync(folder, { recursive: true })
  for (const [name, { yaml, sql }] of Object.entries(files)) {
    const id = ids.get(name) ?? `00000000-0000-4000-8000-${String(++made).padStart(12, '0')}`
    ids.set(name, id)
    writeFileSync(join(folder, `${name}.yaml`), `id: ${id}\ndescription: A test.\n${yaml}\n`)
    writeFileSync(join(folder, `${name}.sql`), sql)
  }
}
