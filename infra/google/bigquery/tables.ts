/** The server's tables: real names and sizes for the local engine's logical ones. */
import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { nameOf } from '../../../shared/engines/bigquery/statement.ts'
import { TableNames } from '../../../shared/engines/bigquery/tables.ts'
import { type Place, placeOf } from '../../../shared/sql/error.ts'
import { statementLimits } from '../../../shared/sql/limits.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { print } from '../../../shared/sql/printer.ts'
import { tablesOf } from '../../../shared/sql/relations.ts'
import { Complaint } from './errors.ts'

export interface ServerTable {
  logical: string
  /** Folder of its Parquet files. */
  folder: string
  projectId: string
  datasetId: string
  tableId: string
}

export class ServerTables {
  private readonly byRealName: ReadonlyMap<string, ServerTable>

  /** @param dataset `project.dataset` */
  constructor(logicalNames: Iterable<string>, dataset: string, logsFolder: string) {
    const [projectId = '', datasetId = ''] = dataset.split('.')
    const names = new TableNames({ dataset, tables: new Map() }, projectId)
    const tables = [...logicalNames].map(logical => {
      const real = names.real(logical)
      const tableId = real.slice(dataset.length + 1)
      return [real, { logical, folder: join(logsFolder, logical), projectId, datasetId, tableId }] as const
    })
    this.byRealName = new Map(tables)
  }

  /**
   * The query with logical names, and the tables it reads.
   * Throws SqlError, and Complaint `notFound` or `invalid` for a table that is not there or not fully named.
   */
  localised(sql: string): { sql: string; tables: ServerTable[] } {
    const tree = parse(sql, { ...statementLimits, bytes: 1_000_000 })
    const found = new Map(
      tablesOf(tree).map(reference => [reference, this.find(nameOf(reference), placeOf(sql, reference.at))]),
    )
    const local = print(tree, {
      table: reference => {
        const table = found.get(reference)
        return table ? `\`${table.logical}\`` : null
      },
    })
    return { sql: local, tables: [...new Set(found.values())] }
  }

  private find(real: string, { line, column }: Place): ServerTable {
    const table = this.byRealName.get(real)
    if (table) return table
    const at = `at [${line}:${column}]`
    if (!real.includes('.'))
      throw new Complaint(
        'invalid',
        `Table "${real}" must be qualified with a dataset (e.g. dataset.table) ${at}`,
      )
    throw new Complaint(
      'notFound',
      `Not found: Table ${real.replace('.', ':')} was not found in location US ${at}`,
    )
  }
}

/** Bytes of the tables' files, which stand for what a scan reads. */
export function bytesOf(tables: ServerTable[]): number {
  const sizes = tables.flatMap(({ folder }) =>
    (existsSync(folder) ? readdirSync(folder) : []).map(file => statSync(join(folder, file)).size),
  )
  return sizes.reduce((sum, size) => sum + size, 0)
}
