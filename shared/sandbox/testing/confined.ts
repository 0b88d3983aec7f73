/** A store with the rows of one project beside one with those of another as well, to compare what a query says of them. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDuckDb } from '../../engines/duckdb/engine.ts'
import { readTableSchemas } from '../../engines/duckdb/tables.ts'
import { EngineError, type QueryEngine } from '../../engines/engine.ts'
import { addRows } from '../../engines/testing/parquet.ts'
import { assertPinsHold } from '../pins.ts'
import { sandbox } from '../sandbox.ts'
import { bindings } from './dashboards/dashboards.ts'
import { makeLogs } from './dashboards/logs.ts'
import { logs as endpoint } from './endpoints.ts'

const tables = readTableSchemas(join(import.meta.dirname, '../../../infra/tables'))

/** The rows as text in an order of their own, or the engine's refusal. */
type Answer = string[] | string

export class Confined {
  private readonly folders: string[] = []
  private engines: QueryEngine[] = []

  async open(): Promise<void> {
    assertPinsHold(endpoint, { project: 'acme' })
    this.engines = [await this.storeOf('acme'), await this.storeOf('acme', 'other')]
  }

  async close(): Promise<void> {
    for (const engine of this.engines) await engine.close()
    for (const folder of this.folders) rmSync(folder, { recursive: true, force: true })
  }

  private async storeOf(...projects: string[]): Promise<QueryEngine> {
    const logsFolder = mkdtempSync(join(tmpdir(), 'confined-'))
    this.folders.push(logsFolder)
    for (const [at, project] of projects.entries())
      for (const [table, rows] of Object.entries(makeLogs(project, at + 1)))
        await addRows(logsFolder, table, tables.get(table)!, rows)
    return openDuckDb({ logsFolder, tables, now: '2026-03-14T12:00:00Z' })
  }

  /** What a caller's SQL answers under the pin, without the rows of others and with them. */
  async answers(callerSql: string): Promise<[alone: Answer, among: Answer]> {
    const { sql, parameters } = sandbox(endpoint, callerSql)
    const bound = bindings.filter(({ name }) => parameters.includes(name))
    const answerOf = async (engine: QueryEngine): Promise<Answer> => {
      try {
        const { rows } = await engine.run({ sql, bindings: bound }, { maxRows: 10_000, timeoutMs: 30_000 })
        return rows.map(row => JSON.stringify(row)).toSorted()
      } catch (error) {
        if (error instanceof EngineError) return error.message
        throw error
      }
    }
    return [await answerOf(this.engines[0]!), await answerOf(this.engines[1]!)]
  }
}
