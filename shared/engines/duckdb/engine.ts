import { LRUCache } from 'lru-cache'
import type { DuckDBConnection, DuckDBPreparedStatement } from '@duckdb/node-api'
import {
  type Description,
  EngineError,
  type QueryEngine,
  type Row,
  type RunLimits,
  type RunResult,
  type Statement,
} from '../engine.ts'
import { statementLimits } from '../../sql/limits.ts'
import { parse } from '../../sql/parser.ts'
import { tablesOf } from '../../sql/relations.ts'
import type { Column } from '../../sql/types.ts'
import { boundText, rowsOf } from './values.ts'
import { Connections, openDatabase } from './database.ts'
import { Deadline } from '../deadline.ts'
import { engineError, isFatal } from './failures.ts'
import { type Rewritten, rewrite } from './rewrite/rewrite.ts'

export interface DuckDbOptions {
  /** Holds a folder `<table>/` of Parquet files for each table. */
  logsFolder: string
  /** Columns by logical table name. */
  tables: ReadonlyMap<string, Column[]>
  /** The current moment for the queries, as a Date or ISO text; by default that at which a run starts. */
  now?: string | (() => Date | string)
}

/** A dry run only plans. */
const describeMs = 30_000

/** Queries of the stored kind come again and again: so many keep their rewriting. */
const remembered = 200

/** Runs GoogleSQL on DuckDB, over folders of Parquet files. Nothing is opened before the first call. */
export function openDuckDb(options: DuckDbOptions): QueryEngine {
  return new DuckDbEngine(options)
}

class DuckDbEngine implements QueryEngine {
  private readonly options: DuckDbOptions
  private readonly rewritings = new LRUCache<string, Rewritten>({ max: remembered })
  private opening: Promise<Connections> | null = null

  constructor(options: DuckDbOptions) {
    this.options = options
  }

  async run(statement: Statement, limits: RunLimits): Promise<RunResult> {
    const deadline = new Deadline(limits)
    try {
      const rewritten = this.rewritten(statement)
      const values = this.values(statement, rewritten)
      const connections = await this.connections()
      return await connections.with(deadline, connection =>
        fetchRows(connection, rewritten, values, limits.maxRows, deadline),
      )
    } catch (error) {
      deadline.check()
      throw await this.failure(error)
    }
  }

  async describe(statement: Statement): Promise<Description> {
    const deadline = new Deadline({ timeoutMs: describeMs })
    try {
      const rewritten = this.rewritten(statement)
      const connections = await this.connections()
      await connections.with(deadline, async connection =>
        (await prepare(connection, rewritten.sql)).destroySync(),
      )
      const tables = tablesOf(parse(statement.sql, statementLimits)).map(table =>
        table.path.map(part => part.name).join('.'),
      )
      return { kind: 'SELECT', tables: [...new Set(tables)].sort(), columns: rewritten.columns, bytes: null }
    } catch (error) {
      deadline.check()
      throw await this.failure(error)
    }
  }

  async close(): Promise<void> {
    const connections = await this.opening?.catch(() => null)
    connections?.close()
    this.opening = null
  }

  /** After an error of its own DuckDB refuses all further work: the next run opens it anew. */
  private async failure(error: unknown): Promise<EngineError> {
    if (isFatal(error)) await this.close()
    return engineError(error)
  }

  private rewritten({ sql, bindings }: Statement): Rewritten {
    const types = bindings.map(({ name, type }) => [name.toLowerCase(), type] as const)
    const key = JSON.stringify([sql, types])
    const known = this.rewritings.get(key)
    if (known) return known
    const rewritten = rewrite(sql, this.options.tables, new Map(types))
    this.rewritings.set(key, rewritten)
    return rewritten
  }

  /** DuckDB's parameters and their text. */
  private values({ bindings }: Statement, { usesNow }: Rewritten): Map<string, string | null> {
    const values = new Map(bindings.map(binding => [`p_${binding.name.toLowerCase()}`, boundText(binding)]))
    return usesNow ? values.set('now', this.now()) : values
  }

  private now(): string {
    const { now = () => new Date() } = this.options
    const moment = typeof now === 'string' ? now : now()
    return typeof moment === 'string' ? moment : moment.toISOString()
  }

  private connections(): Promise<Connections> {
    const { logsFolder, tables } = this.options
    this.opening ??= openDatabase(logsFolder, tables).then(
      instance => new Connections(instance),
      (error: unknown) => {
        this.opening = null
        throw new EngineError('misconfigured', 'The local engine cannot open its tables', { cause: error })
      },
    )
    return this.opening
  }
}

/** Exactly one SELECT, or nothing runs. */
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
  maxRows: number,
  deadline: Deadline,
): Promise<RunResult> {
  deadline.check()
  // With its limit in the SQL DuckDB need not sort, or read, more than that.
  const limited = `SELECT * FROM (${sql}) AS "result" LIMIT ${maxRows + 1}`
  const prepared = await prepare(connection, limited)
  try {
    bind(prepared, values)
    deadline.check()
    const result = await prepared.stream()
    const rows: Row[] = []
    for (let chunk = await result.fetchChunk(); chunk?.rowCount; chunk = await result.fetchChunk()) {
      deadline.check()
      for (const row of rowsOf(chunk, columns)) rows.push(row)
    }
    // An interrupted result may end early as if it were whole.
    deadline.check()
    return { columns, rows: rows.slice(0, maxRows), truncated: rows.length > maxRows, bytes: null }
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
