/** The tables and views of the server: real names and files for the logical names of the local engine. */
import type { Rollup } from '../../../shared/engines/engine.ts'
import type { Table } from '../../../shared/engines/bigquery/client.ts'
import { nameOf } from '../../../shared/engines/bigquery/statement.ts'
import { TableNames } from '../../../shared/engines/bigquery/tables.ts'
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { RollupParts } from '../../../shared/engines/duckdb/rollups.ts'
import { tableFolder } from '../../../shared/engines/duckdb/tables.ts'
import { type Place, placeOf } from '../../../shared/sql/error.ts'
import { statementLimits } from '../../../shared/sql/limits.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { print } from '../../../shared/sql/printer.ts'
import { tablesOf } from '../../../shared/sql/relations.ts'
import type { TableReference } from '../../../shared/sql/tree.ts'
import type { Column } from '../../../shared/sql/types.ts'
import type { Caller } from './access.ts'
import { BigQueryError } from './errors.ts'
import type { ServerTable } from './files.ts'
import { timeColumn, type View, Views } from './views.ts'

interface CatalogOptions {
  tables: ReadonlyMap<string, Column[]>
  /** `project.dataset` */
  dataset: string
  /** Where the dataset is. */
  location: string
  logsFolder: string
  /** Of the tables' partitions; `null` = they have none. */
  partition: PartitionUnit | null
}

export class TableCatalog {
  readonly location: string
  readonly views = new Views()
  private readonly dataset: string
  private readonly byRealName: ReadonlyMap<string, ServerTable>
  private readonly parts: RollupParts

  constructor({ tables, dataset, location, logsFolder, partition: unit }: CatalogOptions) {
    this.dataset = dataset
    this.location = location
    this.parts = new RollupParts(logsFolder, tables)
    const names = new TableNames({ dataset, tables: new Map() }, '')
    const all = [...tables].map(([logical, columns]): ServerTable => {
      const real = names.real(logical)
      return { real, logical, columns, folder: tableFolder(logsFolder, logical), reads: [real], unit }
    })
    this.byRealName = new Map(all.map(table => [table.real, table]))
  }

  /** A table or view as the REST interface describes it. @param real its full name */
  resource(real: string, caller: Caller): Table & { id: string; type: string } {
    caller.demand('bigquery.tables.get', real)
    const view = this.views.get(real)
    const found = view ?? this.byRealName.get(real)
    if (!found) throw notFound(real)
    const field = view ? view.partition : timeColumn
    return {
      id: real.replace('.', ':'),
      type: view ? 'MATERIALIZED_VIEW' : 'TABLE',
      ...(found.unit === null ? {} : { timePartitioning: { type: found.unit, field } }),
    }
  }

  /** Whether the statement makes or removes a view, which is then done. Throws BigQueryError for one that is refused. */
  define(sql: string, caller: Caller): boolean {
    return this.views.define(sql, caller, query => this.resolve(query, caller))
  }

  /** A dataset is looked for in the job's location alone (https://cloud.google.com/bigquery/docs/locations#specify_locations). */
  checkLocation(location = this.location, { length }: ServerTable[]): void {
    if (length === 0 || location.toUpperCase() === this.location.toUpperCase()) return
    const dataset = this.dataset.replace('.', ':')
    throw new BigQueryError('notFound', `Not found: Dataset ${dataset} was not found in location ${location}`)
  }

  /** The table that a load job writes to. */
  written(real: string): ServerTable {
    return this.byRealName.get(real) ?? raise(notFound(real))
  }

  /**
   * The query with logical names, the tables that it reads, and the roll-ups of the views among them.
   * @throws SqlError; BigQueryError `notFound` for an unknown table, `invalid` for one without its dataset, `accessDenied`
   */
  resolve(sql: string, caller: Caller): { sql: string; tables: ServerTable[]; rollups: Rollup[] } {
    const tree = parse(sql, { ...statementLimits, bytes: 1_000_000 })
    const found = new Map(
      tablesOf(tree).map(reference => [reference, this.find(nameOf(reference), placeOf(sql, reference.at))]),
    )
    const table = (reference: TableReference) => {
      const logical = found.get(reference)?.logical
      return logical === undefined ? null : `\`${logical}\``
    }
    const tables = [...new Map([...found.values()].map(each => [each.logical, each])).values()]
    // A view that nobody authorized is read by who may read its tables, too ("Authorized views").
    for (const { real, reads } of tables)
      for (const name of new Set([real, ...reads])) caller.demand('bigquery.tables.getData', name)
    const rollups = tables.flatMap(({ real }) => this.views.find(real)?.rollup ?? [])
    return { sql: print(tree, { table }), tables, rollups }
  }

  private tableOf({ real, rollup, base, unit }: View): ServerTable {
    const [columns, folder] = [this.parts.columnsOf(rollup), this.parts.folderOf(rollup)]
    return { real, logical: real, columns, folder, reads: [base.real], unit }
  }

  private find(real: string, { line, column }: Place): ServerTable {
    const view = this.views.find(real)
    const table = view ? this.tableOf(view) : this.byRealName.get(real)
    if (table) return table
    const at = ` at [${line}:${column}]`
    if (real.includes('.')) throw notFound(real, ` was not found in location ${this.location}${at}`)
    const message = `Table "${real}" must be qualified with a dataset (e.g. dataset.table)`
    throw new BigQueryError('invalid', message + at)
  }
}

function notFound(real: string, more = ''): BigQueryError {
  return new BigQueryError('notFound', `Not found: Table ${real.replace('.', ':')}${more}`)
}

function raise(error: Error): never {
  throw error
}
