import { withStage } from './stage.ts'
import { tableColumns } from './tables.ts'

export interface ClearOptions {
  logsFolder: string
  tablesFolder: string
  table: string
}

/**
 * Removes a table's rows; the table stays, empty.
 * @returns how many Parquet files were removed
 * @throws LogsError for an unknown table
 */
export async function clearLogs({ logsFolder, tablesFolder, table }: ClearOptions): Promise<number> {
  const columns = tableColumns(tablesFolder, table)
  return withStage(logsFolder, stage => stage.clear(table, columns))
}
