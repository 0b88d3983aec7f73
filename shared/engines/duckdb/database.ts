import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { Column } from '../../sql/types.ts'
import { prepareTableFolder, tableFolder } from './tables.ts'
import { quoteName, quoteText } from './text.ts'

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
