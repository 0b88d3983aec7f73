import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import { ConfigError } from '../../config.ts'
import type { Deadline } from '../deadline.ts'
import { boundValue } from './rewrite/literals.ts'
import { quoteText } from './syntax.ts'
import { prepareTableFolder, tableFolder } from './tables.ts'
import { registerUdfs } from './udfs/register.ts'
import { boundText } from './values.ts'
import type { Value } from '../engine.ts'
import type { Column, SqlType } from '../../sql/types.ts'
import { writeWhole } from '../../data-folder.ts'

/** DuckDB's package, which is optional. Loaded here: a process that runs no query does not pay for it. @throws ConfigError without it */
export async function loadDuckDb() {
  try {
    return await import('@duckdb/node-api')
  } catch (cause) {
    const { message } = cause as Error
    const [first] = message.split('\n')
    throw new ConfigError(
      `ENGINE: duckdb needs the package @duckdb/node-api: npm install @duckdb/node-api (${first})`,
      { cause },
    )
  }
}

/**
 * A database in memory, whose tables are views (`tables.ts`) over the files in `<logsFolder>/<table>/`. It reads those
 * folders and nothing else, and no statement can change that. Makes the folders that are missing.
 * @param memoryBytes for all runs together
 */
export async function openDatabase(
  logsFolder: string,
  tables: ReadonlyMap<string, Column[]>,
  memoryBytes = 2_000_000_000,
): Promise<DuckDBInstance> {
  const { DuckDBInstance } = await loadDuckDb()
  const { default: accessors } = await import('@duckdb/node-api/lib/vectors/dataAccessors.js')
  // By itself the client drops a byte order mark at a text's start (infra/docs/surgery.md).
  Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) })
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(Math.min(4, availableParallelism())),
    memory_limit: `${memoryBytes}B`,
    // No spilling: it would write outside the folders.
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  await registerUdfs(connection)
  const root = resolve(logsFolder)
  for (const [table, columns] of tables)
    await prepareTableFolder(connection, tableFolder(root, table), columns)
  for (const setting of settings(root)) await connection.run(setting)
  connection.closeSync()
  return instance
}

/**
 * The largest LIMIT for which DuckDB sorts by row numbers alone and fetches the other columns of the rows that are left: a
 * line of logs is wide. Here, the rows of the largest answer and the one that tells whether rows are cut; DuckDB's own, 50, is
 * less than a page of logs.
 * (https://duckdb.org/docs/stable/configuration/overview, late_materialization_max_rows)
 */
const mostRowsFetchedLate = 10_001

function settings(root: string): string[] {
  return [
    `SET GLOBAL late_materialization_max_rows = ${mostRowsFetchedLate}`,
    `SET GLOBAL TimeZone = 'UTC'`,
    `SET GLOBAL parquet_metadata_cache = true`,
    `SET GLOBAL allowed_directories = [${quoteText(join(root, '/'))}]`,
    `SET GLOBAL enable_external_access = false`,
    `SET GLOBAL lock_configuration = true`,
  ]
}

/** An interruption is repeated: DuckDB forgets one that comes just before a statement starts. */
const interruptMs = 20

/** Connections to a database, each used by one run at a time. */
export class Connections {
  private readonly instance: DuckDBInstance
  private readonly idle: DuckDBConnection[] = []
  private readonly runs = new Set<Promise<unknown>>()
  private readonly busy = new Set<DuckDBConnection>()

  constructor(instance: DuckDBInstance) {
    this.instance = instance
  }

  /** At the deadline the connection is interrupted, and `use` fails with an error of DuckDB or its own. */
  with<Result>(deadline: Deadline, use: (connection: DuckDBConnection) => Promise<Result>): Promise<Result> {
    const run = this.run(deadline, use)
    this.runs.add(run)
    return run.finally(() => this.runs.delete(run))
  }

  private async run<Result>(
    deadline: Deadline,
    use: (connection: DuckDBConnection) => Promise<Result>,
  ): Promise<Result> {
    const connection = this.idle.pop() ?? (await this.instance.connect())
    this.busy.add(connection)
    let repeating: NodeJS.Timeout | undefined
    const forget = deadline.onEnd(() => {
      connection.interrupt()
      repeating = setInterval(() => connection.interrupt(), interruptMs)
    })
    try {
      deadline.check()
      return await use(connection)
    } finally {
      forget()
      clearInterval(repeating)
      this.busy.delete(connection)
      // An interruption may show only in the connection's next statement.
      if (deadline.error) connection.closeSync()
      else this.idle.push(connection)
    }
  }

  /** Ends its runs, and waits for them: a process that exits while native code runs on a thread waits for it with no way to end. */
  async close(): Promise<void> {
    const ending = setInterval(() => this.busy.forEach(connection => connection.interrupt()), interruptMs)
    while (this.runs.size > 0) await Promise.allSettled(this.runs)
    clearInterval(ending)
    for (const connection of this.idle.splice(0)) connection.closeSync()
    this.instance.closeSync()
  }
}

/**
 * Writes rows with the types of their columns. The file is replaced atomically: it is written beside and renamed.
 * @param rows an array of structs with a field for each column, as a binding holds it
 * @throws an error of DuckDB or of the file system; an existing file is unchanged then
 */
export async function writeParquet(file: string, columns: Column[], rows: Value): Promise<void> {
  const { DuckDBInstance } = await loadDuckDb()
  const type = { kind: 'ARRAY', element: storageType({ kind: 'STRUCT', fields: columns }) } as const
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  try {
    await connection.run(`SET TimeZone = 'UTC'`)
    const text = boundText({ name: 'rows', type, value: rows })
    const list = boundValue('$1', type)
    await connection.run(`CREATE TABLE result AS SELECT UNNEST(${list}, max_depth := 2)`, [text])
    await writeWhole(file, beside => connection.run(`COPY result TO ${quoteText(beside)} (FORMAT parquet)`))
  } finally {
    connection.closeSync()
    instance.closeSync()
  }
}

/** The type with text for what Parquet or DuckDB would round, or not take. */
function storageType(type: SqlType): SqlType {
  if (type.kind === 'ARRAY') return { kind: 'ARRAY', element: storageType(type.element) }
  if (type.kind === 'STRUCT')
    return { kind: 'STRUCT', fields: type.fields.map(field => ({ ...field, type: storageType(field.type) })) }
  return type.kind === 'BIGNUMERIC' || type.kind === 'INTERVAL' ? { kind: 'STRING' } : type
}
