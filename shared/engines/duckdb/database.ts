import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Column } from '../../sql/types.ts'
import { prepareTableFolder, tableFolder } from './tables.ts'
import { quoteName, quoteText } from './syntax.ts'
import type { Deadline } from './deadline.ts'

/**
 * A database in memory with a view for each table over `<logsFolder>/<table>/*.parquet`. From then on it reads those
 * folders and nothing else, and no statement can change that. Makes the folders that are missing.
 */
export async function openDatabase(
  logsFolder: string,
  tables: ReadonlyMap<string, Column[]>,
): Promise<DuckDBInstance> {
  // Loaded here, so that whoever does not run queries does not pay for it.
  const { DuckDBInstance } = await import('@duckdb/node-api')
  const instance = await DuckDBInstance.create(':memory:', {
    threads: String(Math.min(4, availableParallelism())),
    memory_limit: '2GB',
    // No spilling: it would write outside the folders.
    temp_directory: '',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
  })
  const connection = await instance.connect()
  const root = resolve(logsFolder)
  for (const [table, columns] of tables) await createView(connection, root, table, columns)
  for (const setting of settings(root)) await connection.run(setting)
  connection.closeSync()
  return instance
}

async function createView(
  connection: DuckDBConnection,
  root: string,
  table: string,
  columns: Column[],
): Promise<void> {
  const folder = tableFolder(root, table)
  await prepareTableFolder(connection, folder, columns)
  const list = columns.map(column => quoteName(column.name)).join(', ')
  const files = quoteText(join(folder, '*.parquet'))
  await connection.run(`CREATE VIEW ${quoteName(table)} AS SELECT ${list} FROM read_parquet(${files})`)
}

function settings(root: string): string[] {
  return [
    `SET GLOBAL TimeZone = 'UTC'`,
    `SET GLOBAL parquet_metadata_cache = true`,
    `SET GLOBAL allowed_directories = [${quoteText(join(root, '/'))}]`,
    `SET GLOBAL enable_external_access = false`,
    `SET GLOBAL lock_configuration = true`,
  ]
}

/**
 * Each run in progress holds a thread of Node's pool of four, which files and DNS share: so no more at a time than
 * this.
 */
const most = 3

/** Lends connections, one to a run. */
export class Connections {
  private readonly instance: DuckDBInstance
  private readonly idle: DuckDBConnection[] = []
  private readonly waiting = new Set<() => void>()
  private lent = 0

  constructor(instance: DuckDBInstance) {
    this.instance = instance
  }

  /**
   * Waits its turn, then runs `use` with a connection that nobody else uses. The deadline ends the wait, and what
   * the connection runs; the error is then to be had from the deadline.
   */
  async with<Result>(
    deadline: Deadline,
    use: (connection: DuckDBConnection) => Promise<Result>,
  ): Promise<Result> {
    if (this.lent < most) this.lent++
    else await this.turn(deadline)
    try {
      const connection = this.idle.pop() ?? (await this.instance.connect())
      deadline.guard(() => connection.interrupt())
      try {
        deadline.check()
        return await use(connection)
      } finally {
        deadline.end()
        // An interruption may come to light only in what the connection does next.
        if (deadline.stopped) connection.closeSync()
        else this.idle.push(connection)
      }
    } finally {
      this.pass()
    }
  }

  close(): void {
    for (const connection of this.idle.splice(0)) connection.closeSync()
    this.instance.closeSync()
  }

  private async turn(deadline: Deadline): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.waiting.add(resolve)
    deadline.guard(() => {
      // A turn that has already come is not given up here, but where it is used.
      if (this.waiting.delete(resolve)) reject(new Error('stopped while waiting for a connection'))
    })
    await promise
  }

  /** Gives the turn to who waits longest. */
  private pass(): void {
    const [next] = this.waiting
    if (!next) {
      this.lent--
      return
    }
    this.waiting.delete(next)
    next()
  }
}
