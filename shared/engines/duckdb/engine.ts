import { resolve } from 'node:path'
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import { LRUCache } from 'lru-cache'
import { SqlError } from '../../sql/error.ts'
import type { Column, SqlType } from '../../sql/types.ts'
import { Deadline } from '../deadline.ts'
import {
  type DescribeLimits,
  describeMs,
  type Description,
  EngineError,
  type QueryEngine,
  type Rollup,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engine.ts'
import { Connections, openDatabase } from './database.ts'
import { locate } from '../error-location.ts'
import { engineError, isFatal, isOutOfMemory, mayBeOfFiles } from './failures.ts'
import { rewrite, type Rewritten } from './rewrite/rewrite.ts'
import { ResultRows } from '../rows.ts'
import { RollupParts, relationOf } from './rollups.ts'
import { boundText, rowReader } from './values.ts'
import { LogViews } from './tables.ts'

export interface DuckDbOptions {
  /** Holds a folder `<table>/` of Parquet files for each table. */
  logsFolder: string
  /** Columns by logical table name. */
  tables: ReadonlyMap<string, Column[]>
  /** Reads them again, for a statement over one that has come since. */
  readTables?: () => ReadonlyMap<string, Column[]>
  /** For all runs together, by DuckDB's count. */
  memoryBytes?: number
  /** The current time of queries, as a Date or ISO text; by default the time at which a run starts. */
  now?: string | (() => Date | string)
}

/** Statements whose rewritten form is cached: those of stored endpoints recur. */
const maxRewritings = 200

/** Runs GoogleSQL on DuckDB, over folders of Parquet files. The database opens in the first call. */
export function openDuckDb(options: DuckDbOptions): QueryEngine {
  return new DuckDbEngine(options)
}

interface Database {
  connections: Connections
  views: LogViews
}

interface Unwritten {
  sql: string
  types: (readonly [name: string, type: SqlType])[]
  rollups: Rollup[]
}

/** Parts of roll-ups that another process removes while they are read are looked for so often. */
const mostReadings = 3

class DuckDbEngine implements QueryEngine {
  private readonly options: DuckDbOptions
  /** Grows where tables come; those that are known stay as they are. */
  private readonly tables: Map<string, Column[]>
  /** By SQL and types of parameters. */
  private readonly rewritings: LRUCache<string, Rewritten, Unwritten>
  readonly rollups: RollupParts
  private opening: Promise<Database> | null = null

  constructor(options: DuckDbOptions) {
    this.options = options
    this.tables = new Map(options.tables)
    this.rollups = new RollupParts(resolve(options.logsFolder), this.tables, (deadline, act) =>
      this.over([], deadline, act),
    )
    this.rewritings = new LRUCache({
      max: maxRewritings,
      memoMethod: (_key, _stale, { context }) => this.rewrite(context),
    })
  }

  async run(statement: Statement, limits: RunLimits): Promise<RunResult> {
    return this.withDeadline(statement, limits, async deadline => {
      const rewritten = this.rewritten(statement)
      const values = this.values(statement, rewritten)
      const rollups = rollupsIn(statement, rewritten)
      return this.over(rewritten.tables, deadline, connection => {
        if (rollups.length === 0) return fetchRows(connection, rewritten, values, limits, deadline)
        return this.readingParts(rollups, connection, deadline, before =>
          fetchRows(connection, rewritten, values, limits, deadline, before),
        )
      })
    })
  }

  /** @param act gets the common tables with the roll-ups' rows */
  private async readingParts<T>(
    rollups: Rollup[],
    connection: DuckDBConnection,
    deadline: Deadline,
    act: (before: string) => Promise<T>,
  ): Promise<T> {
    for (let reading = 1; ; reading++) {
      const parts = await this.rollups.read(rollups, connection, deadline)
      try {
        return await act(parts.sql)
      } catch (error) {
        deadline.check()
        if (isFatal(error) || !this.rollups.haveChanged(parts)) throw error
        if (reading === mostReadings)
          throw new EngineError('no_rollup', 'The roll-up keeps changing', { cause: error })
      }
    }
  }

  async describe(statement: Statement, limits: DescribeLimits = {}): Promise<Description> {
    return this.withDeadline(statement, { timeoutMs: describeMs, ...limits }, async deadline => {
      const rewritten = this.rewritten(statement)
      const { sql, columns, tables } = rewritten
      const rollups = rollupsIn(statement, rewritten)
      const read = [...tables, ...rollups.map(rollup => this.rollups.tableOf(rollup))]
      const planned =
        rollups.length > 0 ? `${this.rollups.describing(rollups)} SELECT * FROM (${sql}) AS "result"` : sql
      await this.over(read, deadline, async connection => (await prepare(connection, planned)).destroySync())
      return { kind: 'SELECT', tables, columns, bytes: null }
    })
  }

  async close(): Promise<void> {
    const { opening } = this
    this.opening = null
    const database = await opening?.catch(() => null)
    await database?.connections.close()
    database?.views.close()
  }

  /** Throws EngineError, and nothing else. */
  private async withDeadline<T>(
    { sql }: Statement,
    limits: Pick<RunLimits, 'timeoutMs' | 'signal'>,
    act: (deadline: Deadline) => Promise<T>,
  ): Promise<T> {
    const deadline = new Deadline(limits)
    try {
      return await act(deadline)
    } catch (error) {
      deadline.check()
      // After a fatal error DuckDB refuses all further work: the next run opens it again.
      if (isFatal(error)) void this.close()
      throw locate(engineError(error), sql)
    }
  }

  /**
   * Uses a connection whose views of these tables are up to date; once more where files came or went meanwhile, as one
   * may go between its listing and its reading.
   */
  private async over<T>(
    tables: string[],
    deadline: Deadline,
    use: (connection: DuckDBConnection) => Promise<T>,
  ): Promise<T> {
    const { connections, views } = await this.database()
    const run = () =>
      connections.with(deadline, async connection => {
        await views.refresh(tables)
        return use(connection)
      })
    return run().catch(async (error: unknown) => {
      deadline.check()
      if (isOutOfMemory(error)) throw error
      if (await views.refresh(tables)) return run()
      if (mayBeOfFiles(error)) await views.check(tables)
      throw error
    })
  }

  private rewritten({ sql, bindings, rollups = [] }: Statement): Rewritten {
    const types = bindings.map(({ name, type }) => [name.toLowerCase(), type] as const)
    const key = JSON.stringify([sql, types, rollups.map(rollup => [rollup.name, rollup.sql])])
    const rewriting = () => this.rewritings.memo(key, { context: { sql, types, rollups } })
    try {
      return rewriting()
    } catch (error) {
      const isUnknown = error instanceof SqlError && error.message.startsWith('Table not found')
      if (!isUnknown || !this.learnTables()) throw error
      return rewriting()
    }
  }

  /** @returns whether there are new ones */
  private learnTables(): boolean {
    const before = this.tables.size
    for (const [table, columns] of this.options.readTables?.() ?? [])
      if (!this.tables.has(table)) this.tables.set(table, columns)
    return this.tables.size > before
  }

  private rewrite({ sql, types, rollups }: Unwritten): Rewritten {
    const columns = rollups.map(rollup => [rollup.name, this.rollups.columnsOf(rollup)] as const)
    const relations = new Map(rollups.map(({ name }) => [name, relationOf(name)]))
    return rewrite(sql, new Map([...this.tables, ...columns]), new Map(types), relations)
  }

  /** The text of each parameter, by its name in DuckDB. */
  private values({ bindings }: Statement, { usesNow }: Rewritten): Map<string, string | null> {
    const values = new Map(bindings.map(binding => [`p_${binding.name.toLowerCase()}`, boundText(binding)]))
    return usesNow ? values.set('now', this.now()) : values
  }

  private now(): string {
    const { now = () => new Date() } = this.options
    const time = typeof now === 'string' ? now : now()
    return typeof time === 'string' ? time : time.toISOString()
  }

  private database(): Promise<Database> {
    this.opening ??= open(this.options, this.tables).catch((cause: Error) => {
      this.opening = null
      const words = `The local engine cannot open its tables: ${cause.message}`
      throw new EngineError('misconfigured', words, { cause })
    })
    return this.opening
  }
}

function rollupsIn({ rollups = [] }: Statement, { tables }: Rewritten): Rollup[] {
  return rollups.filter(({ name }) => tables.includes(name))
}

async function open(
  { logsFolder, memoryBytes }: DuckDbOptions,
  tables: ReadonlyMap<string, Column[]>,
): Promise<Database> {
  const instance = await openDatabase(logsFolder, tables, memoryBytes)
  const views = new LogViews(await instance.connect(), logsFolder, tables)
  return { connections: new Connections(instance), views }
}

/** Prepares exactly one SELECT. Throws EngineError `rejected` for anything else. */
async function prepare(connection: DuckDBConnection, sql: string): Promise<DuckDBPreparedStatement> {
  const { StatementType } = await import('@duckdb/node-api')
  const statements = await connection.extractStatements(sql)
  const prepared = statements.count === 1 ? await statements.prepare(0) : null
  if (prepared?.statementType === StatementType.SELECT) return prepared
  prepared?.destroySync()
  throw new EngineError('rejected', 'Only a single query can run')
}

async function fetchRows(
  connection: DuckDBConnection,
  { sql, columns }: Rewritten,
  values: Map<string, string | null>,
  limits: RunLimits,
  deadline: Deadline,
  before = '',
): Promise<RunResult> {
  deadline.check()
  // With the limit in the SQL, DuckDB need not sort or read more rows. One more tells whether rows are cut.
  const limited = `${before} SELECT * FROM (${sql}) AS "result" LIMIT ${limits.maxRows + 1}`
  const prepared = await prepare(connection, limited)
  const found = new ResultRows(limits)
  try {
    bind(prepared, values)
    deadline.check()
    const result = await prepared.stream()
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
      deadline.check()
      const row = rowReader(chunk, columns)
      for (let at = 0; at < chunk.rowCount; at++) found.add(row(at))
    }
    // An interrupted result may end early as if it were complete.
    deadline.check()
    const told = { bytes: null, slotMs: null, jobId: null }
    return { columns, ...found.result, ...told }
  } catch (error) {
    found.discard()
    throw error
  } finally {
    prepared.destroySync()
  }
}

function bind(prepared: DuckDBPreparedStatement, values: Map<string, string | null>): void {
  for (let index = 1; index <= prepared.parameterCount; index++) {
    const value = values.get(prepared.parameterName(index)) ?? null
    if (value === null) prepared.bindNull(index)
    else prepared.bindVarchar(index, value)
  }
}
