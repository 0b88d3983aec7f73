import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { LogsError } from './error.ts'

/**
 * The columns of a log table, from its schema file.
 * @throws LogsError that lists the tables there are
 */
export function tableColumns(tablesFolder: string, table: string): Column[] {
  const schemas = readTableSchemas(tablesFolder)
  const columns = schemas.get(table)
  if (!columns)
    throw new LogsError(
      `There is no log table ${JSON.stringify(table)}. The tables are:\n${[...schemas.keys()].map(name => `  ${name}`).join('\n')}`,
    )
  return columns
}
