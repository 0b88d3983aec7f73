/** Materialized views of the server: their DDL, and the roll-up that answers for each. */
import type { Rollup } from '../../../shared/engines/engine.ts'
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { rollupShape } from '../../../shared/engines/rollups.ts'
import { SqlError } from '../../../shared/sql/error.ts'
import type { Caller } from './access.ts'
import { BigQueryError } from './errors.ts'
import type { ServerTable } from './files.ts'

export interface View {
  /** `project.dataset.view` */
  real: string
  /** The same on the local engine. */
  rollup: Rollup
  base: ServerTable
  /** The column that it is partitioned by, and how; `null` = it is not. */
  partition: string
  unit: PartitionUnit | null
  /** Its table was deleted and made again, as a test says. */
  isBroken: boolean
}

/** The column by which log tables are partitioned. */
export const timeColumn = 'timestamp'

const create = new RegExp(
  '^CREATE MATERIALIZED VIEW IF NOT EXISTS `(?<real>[^`]+)` ' +
    '(?:PARTITION BY TIMESTAMP_TRUNC\\(`(?<partition>[^`]+)`, (?<unit>HOUR|DAY|MONTH|YEAR)\\) )?' +
    '(?:CLUSTER BY (?<cluster>`[^(]+`) )?' +
    'OPTIONS \\(enable_refresh = TRUE, refresh_interval_minutes = (?<minutes>\\d+)\\) AS (?<sql>SELECT .*)$',
  's',
)
const drop = /^DROP MATERIALIZED VIEW IF EXISTS `(?<real>[^`]+)`$/

/** By real name, in memory. A view reads the rows of its table as they are at the query, so it is never behind. */
export class Views {
  private readonly views = new Map<string, View>()

  /** @throws BigQueryError for a view that is broken */
  find(real: string): View | undefined {
    const view = this.views.get(real)
    if (view?.isBroken)
      throw invalid(
        `Materialized view ${real.replace('.', ':')} references table ${view.base.real} which was deleted and recreated.`,
      )
    return view
  }

  get(real: string): View | undefined {
    return this.views.get(real)
  }

  /** As when somebody deletes each view's table and makes it again. */
  breakAll(): void {
    for (const view of this.views.values()) view.isBroken = true
  }

  /**
   * Carries a statement out that makes or removes a view.
   * @param resolve gives a query with the local engine's names, and its tables
   * @returns `false` for any other statement
   * @throws BigQueryError for what BigQuery refuses
   */
  define(
    statement: string,
    caller: Caller,
    resolve: (sql: string) => { sql: string; tables: ServerTable[] },
  ): boolean {
    const dropped = drop.exec(statement)?.groups
    if (dropped) {
      caller.demand('bigquery.tables.delete', dropped['real']!)
      this.views.delete(dropped['real']!)
    }
    const made = create.exec(statement)?.groups
    if (made) {
      caller.demand('bigquery.tables.create', made['real']!.split('.').slice(0, 2).join('.'))
      this.create(made, resolve(made['sql']!))
    }
    return Boolean(dropped ?? made)
  }

  private create(
    made: Record<string, string | undefined>,
    { sql, tables: [base] }: { sql: string; tables: ServerTable[] },
  ): void {
    const { real, partition = '', unit, cluster = '', minutes } = made
    if (this.views.has(real!)) return
    const shape = shapeOf(sql)
    // https://cloud.google.com/bigquery/docs/materialized-views-intro, "Limitations": none on another one.
    if (!base || this.views.has(base.real)) throw unsupported('a query of anything but a table')
    const columns = [...cluster.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
    // "Cluster materialized views": by output columns that are no aggregates.
    for (const { name, adds } of shape.columns)
      if (adds !== null && columns.includes(name))
        throw invalid(`Aggregate column ${name} cannot be a clustering column`)
    if (unit !== undefined) refusePartition(sql, partition, unit, base)
    const rollup = { name: real!, sql, partition, cluster: columns, refreshMinutes: Number(minutes) }
    const bounds = { partition, unit: (unit as PartitionUnit | undefined) ?? null }
    this.views.set(real!, { real: real!, rollup, base, ...bounds, isBroken: false })
  }
}

/** The rules of "Materialized views query support" are those that a roll-up keeps to. */
function shapeOf(sql: string): ReturnType<typeof rollupShape> {
  try {
    return rollupShape(sql)
  } catch (error) {
    throw error instanceof SqlError ? unsupported(error.message) : error
  }
}

/** From fine to coarse. */
const units = ['MICROSECOND', 'MILLISECOND', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR']

const time = `(?:\\w+\\.)?${timeColumn}`
const cutTime = new RegExp(
  `(?:SELECT|,) (?:TIMESTAMP_TRUNC\\(${time}, (?<unit>\\w+)\\)|${time})(?: AS \`?(?<name>\\w+)\`?)?(?=,| )`,
  'g',
)

/**
 * "Partitioned materialized views" (https://cloud.google.com/bigquery/docs/materialized-views-create): the column is the
 * table's partition column, or TIMESTAMP_TRUNC of it to no more than a partition; the partitions are as long as the table's.
 */
function refusePartition(sql: string, partition: string, unit: string, base: ServerTable): void {
  if (base.unit !== unit)
    throw invalid(`The view is partitioned by ${unit} and its base table by ${base.unit}: they must match`)
  const cuts = [...sql.matchAll(cutTime)].map(({ groups = {} }) => groups)
  const column = cuts.find(({ name = timeColumn }) => name === partition)
  if (!column || units.indexOf(column['unit'] ?? 'MICROSECOND') > units.indexOf(unit))
    throw invalid(
      `Partitioning column ${partition} is not the partitioning column of the base table, or TIMESTAMP_TRUNC of it`,
    )
}

function invalid(message: string): BigQueryError {
  return new BigQueryError('invalidQuery', message)
}

function unsupported(what: string): BigQueryError {
  return invalid(`Materialized view query contains unsupported feature: ${what}.`)
}
