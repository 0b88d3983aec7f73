/** The tables and materialized views of the server, in memory: real names and files for the logical names of the local engine. */
import type { Rollup } from '../../../shared/engines/engine.ts'
import { nameOf, type PartitionUnit } from '../../../shared/engines/bigquery/statement.ts'
import { TableNames } from '../../../shared/engines/bigquery/tables.ts'
import { RollupParts } from '../../../shared/engines/duckdb/rollups.ts'
import { tableFolder } from '../../../shared/engines/duckdb/tables.ts'
import { rollupShape } from '../../../shared/engines/rollup-rules.ts'
import { placeOf } from '../../../shared/sql/error.ts'
import { statementLimits } from '../../../shared/sql/limits.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { print } from '../../../shared/sql/printer.ts'
import { tablesOf } from '../../../shared/sql/tables.ts'
import type { TableReference } from '../../../shared/sql/tree.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { asSent, BigQueryError, type Caller } from './errors.ts'

export interface ServerTable {
  /** `project.dataset.table` */
  real: string
  /** Its name on the local engine. */
  logical: string
  columns: Column[]
  /** Of its Parquet files. */
  folder: string
  /** How it is partitioned, and by which column; `null` = it is not. */
  unit: PartitionUnit | null
  partition: string
  /** Of a view: what answers for it, and the table whose rows it has. */
  view?: { rollup: Rollup; base: ServerTable; isBroken: boolean }
}

export interface CatalogOptions {
  tables: ReadonlyMap<string, Column[]>
  /** `project.dataset` */
  dataset: string
  /** Where the dataset is. */
  location: string
  logsFolder: string
  /** Columns of a table that is made later, or in another dataset; `null` where there is none of this full name. */
  made?: (real: string) => Column[] | null
  /** Of the tables' partitions; `null` = they have none. */
  partition: PartitionUnit | null
}

/** A query with the local engine's names, the tables that it reads, and the roll-ups of the views among them. */
export interface Resolved {
  sql: string
  tables: ServerTable[]
  rollups: Rollup[]
}

/** The column by which log tables are partitioned. */
const timeColumn = 'timestamp'

export class TableCatalog {
  readonly location: string
  /** By the local engine's names. */
  readonly columns: Map<string, Column[]>
  private readonly options: CatalogOptions
  private readonly tables = new Map<string, ServerTable>()
  private readonly parts: RollupParts

  constructor(options: CatalogOptions) {
    const { tables, dataset, location, logsFolder } = options
    this.options = options
    this.location = location
    this.columns = new Map(tables)
    this.parts = new RollupParts(logsFolder, this.columns)
    const names = new TableNames({ dataset, tables: new Map() }, '')
    for (const [logical, columns] of tables) this.add(names.real(logical), logical, columns)
  }

  private add(real: string, logical: string, columns: Column[]): ServerTable {
    const { logsFolder, partition: unit } = this.options
    const folder = tableFolder(logsFolder, logical)
    const table = { real, logical, columns, folder, unit, partition: timeColumn }
    this.tables.set(real, table)
    this.columns.set(logical, columns)
    return table
  }

  private added(real: string): ServerTable | null {
    const columns = this.options.made?.(real)
    return columns ? this.add(real, real, columns) : null
  }

  /** @throws BigQueryError for one that is not there, and for a view that is broken */
  find(real: string, more = ''): ServerTable {
    const table = this.tables.get(real) ?? this.added(real)
    if (!table) throw new BigQueryError('notFound', `Not found: Table ${real.replace('.', ':')}${more}`)
    const { base, isBroken } = table.view ?? {}
    if (isBroken)
      throw invalid(
        `Materialized view ${real.replace('.', ':')} references table ${base!.real} which was deleted and recreated.`,
      )
    return table
  }

  /** As when somebody deletes each view's table and makes it again. */
  breakViews(): void {
    for (const { view } of this.tables.values()) if (view) view.isBroken = true
  }

  /** A dataset is looked for in the job's location alone (https://cloud.google.com/bigquery/docs/locations#specify_locations). */
  checkLocation(location = this.location, { length }: ServerTable[]): void {
    if (length === 0 || location.toUpperCase() === this.location.toUpperCase()) return
    const dataset = this.options.dataset.replace('.', ':')
    throw new BigQueryError('notFound', `Not found: Dataset ${dataset} was not found in location ${location}`)
  }

  /** @throws SqlError; BigQueryError `notFound` for an unknown table, `invalid` for one without its dataset, `accessDenied` */
  resolve(sql: string, caller: Caller): Resolved {
    const tree = parse(sql, { ...statementLimits, bytes: 1_000_000 })
    const found = new Map(tablesOf(tree).map(reference => [reference, this.named(reference, sql)]))
    const table = (reference: TableReference) =>
      found.has(reference) ? `\`${found.get(reference)!.logical}\`` : null
    const tables = [...new Set(found.values())]
    // A view that nobody authorized is read by who may read its tables, too ("Authorized views").
    for (const { real, view } of tables)
      for (const name of [real, ...(view ? [view.base.real] : [])])
        caller.demand('bigquery.tables.getData', name)
    return { sql: print(tree, { table }), tables, rollups: tables.flatMap(({ view }) => view?.rollup ?? []) }
  }

  private named(reference: TableReference, sql: string): ServerTable {
    const [real, { line, column }] = [nameOf(reference), placeOf(sql, reference.at)]
    const at = ` at [${line}:${column}]`
    if (real.includes('.')) return this.find(real, ` was not found in location ${this.location}${at}`)
    const message = `Table "${real}" must be qualified with a dataset (e.g. dataset.table)`
    throw new BigQueryError('invalid', message + at)
  }

  // ---- views

  /**
   * Carries a statement out that makes or removes a view.
   * @returns `false` for any other statement
   * @throws BigQueryError for what BigQuery refuses
   */
  define(statement: string, caller: Caller): boolean {
    const { real: dropped } = drop.exec(statement)?.groups ?? {}
    if (dropped) {
      caller.demand('bigquery.tables.delete', dropped)
      return this.tables.delete(dropped) || true
    }
    const made = create.exec(statement)?.groups
    if (!made) return false
    const { real = '', sql = '' } = made
    caller.demand('bigquery.tables.create', real.split('.').slice(0, 2).join('.'))
    const resolved = this.resolve(sql, caller)
    try {
      const view = this.viewOf(made, resolved)
      if (!this.tables.has(real)) this.tables.set(real, view)
    } catch (error) {
      throw asSent(error, resolved.sql, sql, statement.indexOf(sql))
    }
    return true
  }

  private viewOf(made: Record<string, string | undefined>, { sql, tables: [base] }: Resolved): ServerTable {
    const { real = '', partition = '', cluster = '', minutes } = made
    const unit = (made['unit'] ?? null) as PartitionUnit | null
    // The rules of "Materialized views query support" are those that a roll-up keeps to.
    const { columns } = rollupShape(sql)
    if (!base || base.view) throw invalid('A materialized view is of one table')
    const sorted = [...cluster.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
    // "Cluster materialized views": by output columns that are no aggregates.
    const aggregate = columns.find(({ name, adds }) => adds !== null && sorted.includes(name))
    if (aggregate) throw invalid(`Aggregate column ${aggregate.name} cannot be a clustering column`)
    if (unit) refusePartition(sql, partition, unit)
    const rollup = { name: real, sql, partition, cluster: sorted, refreshMinutes: Number(minutes) }
    return {
      real,
      logical: real,
      columns: this.parts.columnsOf(rollup),
      folder: this.parts.folderOf(rollup),
      unit,
      partition,
      view: { rollup, base, isBroken: false },
    }
  }
}

const create = new RegExp(
  '^CREATE MATERIALIZED VIEW IF NOT EXISTS `(?<real>[^`]+)` ' +
    '(?:PARTITION BY TIMESTAMP_TRUNC\\(`(?<partition>[^`]+)`, (?<unit>HOUR|DAY|MONTH|YEAR)\\) )?' +
    '(?:CLUSTER BY (?<cluster>`[^(]+`) )?' +
    'OPTIONS \\(enable_refresh = TRUE, refresh_interval_minutes = (?<minutes>\\d+)\\) AS (?<sql>SELECT .*)$',
  's',
)
const drop = /^DROP MATERIALIZED VIEW IF EXISTS `(?<real>[^`]+)`$/

/** From fine to coarse. */
const units = ['MICROSECOND', 'MILLISECOND', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR']

const time = `(?:\\w+\\.)?${timeColumn}`
const cutTime = new RegExp(
  `(?:SELECT|,) (?:TIMESTAMP_TRUNC\\(${time}, (?<unit>\\w+)\\)|${time})(?: AS \`?(?<name>\\w+)\`?)?(?=,| )`,
  'g',
)

/**
 * "Partitioned materialized views" (https://cloud.google.com/bigquery/docs/materialized-views-create): the column is the
 * table's partition column, or TIMESTAMP_TRUNC of it to no more than a partition.
 */
function refusePartition(sql: string, partition: string, unit: string): void {
  const cuts = [...sql.matchAll(cutTime)].map(({ groups = {} }) => groups)
  const column = cuts.find(({ name = timeColumn }) => name === partition)
  if (!column || units.indexOf(column['unit'] ?? 'MICROSECOND') > units.indexOf(unit))
    throw invalid(`${partition} is not the partitioning column of the base table, or TIMESTAMP_TRUNC of it`)
}

function invalid(message: string): BigQueryError {
  return new BigQueryError('invalidQuery', message)
}
