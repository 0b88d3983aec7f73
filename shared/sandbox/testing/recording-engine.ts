import type { Description, QueryEngine, RunResult, Statement } from '../../engines/engine.ts'

/** An engine that records the statements it is given, and runs none. */
export class RecordingEngine implements QueryEngine {
  readonly statements: Statement[] = []

  run(statement: Statement): Promise<RunResult> {
    this.statements.push(statement)
    return Promise.resolve({
      columns: [],
      rows: [],
      truncated: false,
      bytes: null,
      slotMs: null,
      jobId: null,
    })
  }

  describe(statement: Statement): Promise<Description> {
    this.statements.push(statement)
    return Promise.resolve({ kind: 'SELECT', tables: [], columns: [], bytes: null })
  }

  readonly rollups = { has: async () => true, create: async () => {}, remove: async () => {} }

  close(): Promise<void> {
    return Promise.resolve()
  }
}
