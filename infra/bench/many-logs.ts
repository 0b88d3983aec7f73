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

/** The edge's log of eight days: 100,000 requests of the sample, and each of them again some seconds before, nine times. */
export function millionLogs(): Promise<ManyLogs> {
  return kept(million, async folder => {
    const now = new Date()
    const { tablesDir: tablesFolder } = loadConfig({})
    const sample = join(folder, 'sample')
    await writeSample({ logsFolder: sample, tablesFolder, now, rows: million / copies })
    await copyEarlier(join(sample, edgeTable), folder, 'INTERVAL 3700 MILLISECOND')
    return now.toISOString()
  })
}

/** The same million, and as many in each of nine spans of eight days before. */
export function tenMillionLogs(): Promise<ManyLogs> {
  return kept(copies * million, async folder => {
    const { edge, now } = await millionLogs()
    await copyEarlier(edge, folder, 'INTERVAL 8 DAY')
    return now
  })
}

const copies = 10

/** The oldest first, as they would have been loaded. */
async function copyEarlier(from: string, folder: string, apart: string): Promise<void> {
  const target = join(folder, 'logs', edgeTable)
  mkdirSync(target, { recursive: true })
  const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
  const connection = await instance.connect()
  for (let copy = 0; copy < copies; copy++) {
    const shifted = `SELECT * REPLACE (timestamp - ${copy} * ${apart} AS timestamp)`
    const file = join(target, `copy-${copies - 1 - copy}.parquet`)
    await connection.run(
      `COPY (${shifted} FROM read_parquet(${filesOf(from)})) TO '${file}' (FORMAT parquet)`,
    )
  }
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
