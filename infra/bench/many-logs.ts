/** Large logs for the benchmark, made once and kept in the system's folder for temporary files. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { loadConfig } from '../../shared/config.ts'
import { logFiles } from '../../shared/engines/duckdb/loads.ts'
import { quoteText } from '../../shared/engines/duckdb/syntax.ts'
import { writeSample } from '../lqe/logs/sample.ts'

export interface ManyLogs {
  /** A data folder. */
  folder: string
  /** Time of the newest entry. */
  now: string
  /** The folder of the edge's log. */
  edge: string
}

const million = 1_000_000
const edgeTable = 'cloudflare.logs.prod'

/** The edge's log of eight days: 100,000 requests of the sample, and each of them again nine times, some seconds before. */
export function millionLogs(): Promise<ManyLogs> {
  return kept(million, async folder => {
    const now = new Date()
    const { tablesDir: tablesFolder } = loadConfig({})
    const sample = join(folder, 'sample')
    await writeSample({ logsFolder: sample, tablesFolder, now, rows: million / 10 })
    const files = filesOf(join(sample, edgeTable))
    const copies = `read_parquet(${files}), range(10) AS copies(copy)`
    const earlier = (days: number) => `TIMESTAMPTZ '${now.toISOString()}' - INTERVAL ${days} DAY`
    await write(folder, day => [
      `SELECT * EXCLUDE (copy) REPLACE (timestamp - copy * INTERVAL 3700 MILLISECOND AS timestamp) FROM ${copies}`,
      `WHERE timestamp > ${earlier(10 - day)} AND timestamp <= ${earlier(9 - day)} ORDER BY timestamp`,
    ])
    return now.toISOString()
  })
}

/** The same million, and as many in each of nine spans of eight days before. */
export function tenMillionLogs(): Promise<ManyLogs> {
  return kept(10 * million, async folder => {
    const { edge, now } = await millionLogs()
    await write(folder, span => [
      `SELECT * REPLACE (timestamp - INTERVAL ${8 * (9 - span)} DAY AS timestamp) FROM read_parquet(${filesOf(edge)})`,
    ])
    return now
  })
}

/** Writes ten files, the oldest first, as they would have been loaded. */
async function write(folder: string, queryOf: (file: number) => string[]): Promise<void> {
  const target = join(folder, 'logs', edgeTable)
  mkdirSync(target, { recursive: true })
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  for (let file = 0; file < 10; file++)
    await connection.run(
      `COPY (${queryOf(file).join(' ')}) TO '${join(target, `${file}.parquet`)}' (FORMAT parquet, ROW_GROUP_SIZE 20480)`,
    )
  connection.closeSync()
  instance.closeSync()
}

/** The files of a log's folder, as DuckDB's `read_parquet` takes them. */
export function filesOf(folder: string): string {
  return `[${logFiles(folder).map(quoteText).join(', ')}]`
}

/** @param make fills the folder; @returns the time of the newest entry */
async function kept(rows: number, make: (folder: string) => Promise<string>): Promise<ManyLogs> {
  const folder = join(tmpdir(), `log-query-bench-${rows}`)
  const finished = join(folder, 'made-at')
  if (!existsSync(finished)) {
    console.error(`making ${rows} rows in ${folder}`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(finished, await make(folder))
  }
  return { folder, now: readFileSync(finished, 'utf8'), edge: join(folder, 'logs', edgeTable) }
}
