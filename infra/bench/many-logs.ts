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

/** A million requests of eight days, with their entries in all tables. */
export function millionLogs(): Promise<ManyLogs> {
  return kept(million, async folder => {
    const now = new Date()
    const { tablesDir: tablesFolder } = loadConfig({})
    await writeSample({ logsFolder: join(folder, 'logs'), tablesFolder, now, rows: million })
    return now.toISOString()
  })
}

/** The edge's log of the same million, and of as many in each of nine spans of eight days before. */
export function tenMillionLogs(): Promise<ManyLogs> {
  return kept(10 * million, async folder => {
    const { edge, now } = await millionLogs()
    const target = join(folder, 'logs', edgeTable)
    mkdirSync(target, { recursive: true })
    const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
    const connection = await instance.connect()
    for (let span = 0; span < 10; span++) {
      const shifted = `SELECT * REPLACE (timestamp - INTERVAL ${8 * span} DAY AS timestamp)`
      const file = join(target, `span-${9 - span}.parquet`)
      await connection.run(
        `COPY (${shifted} FROM read_parquet(${filesOf(edge)})) TO '${file}' (FORMAT parquet)`,
      )
    }
    connection.closeSync()
    instance.closeSync()
    return now
  })
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
    console.error(`making ${rows} rows in ${folder}; it takes some minutes`)
    rmSync(folder, { recursive: true, force: true })
    mkdirSync(folder, { recursive: true })
    writeFileSync(finished, await make(folder))
  }
  return { folder, now: readFileSync(finished, 'utf8'), edge: join(folder, 'logs', edgeTable) }
}
