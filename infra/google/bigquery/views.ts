/** Materialized views of the server: their DDL, and the roll-up that answers for each. */
import type { Rollup } from '../../../shared/engines/engine.ts'
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { BigQueryError } from './errors.ts'
import { type Base, refuseCluster, refusePartition, refuseQuery, unsupported } from './view-rules.ts'

export interface View {
  /** `project.dataset.view` */
  real: string
  /** The same on the local engine. */
  rollup: Rollup
  /** Logical name of its table. */
  base: string
  /** The column that it is partitioned by, and how; `null` = it is not. */
  time: string | null
  unit: PartitionUnit | null
  /** Its table was deleted and made again, as a test says. */
  isBroken: boolean
}

/** Of one table, in its project (https://cloud.google.com/bigquery/quotas#materialized_view_limits). */
const mostOfTable = 100

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
      throw new BigQueryError(
        'invalidQuery',
        `Materialized view ${real.replace('.', ':')} references table ${view.base} which was deleted and recreated.`,
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
  define(statement: string, resolve: (sql: string) => { sql: string; tables: Base[] }): boolean {
    const dropped = drop.exec(statement)?.groups
    if (dropped) this.views.delete(dropped['real']!)
    const made = create.exec(statement)?.groups
    if (made) this.create(made, resolve(made['sql']!))
    return Boolean(dropped ?? made)
  }

  private create(
    made: Record<string, string | undefined>,
    { sql, tables: [base, ...others] }: { sql: string; tables: Base[] },
  ): void {
    const { real, partition = null, unit = null, cluster = '', minutes } = made
    if (this.views.has(real!)) return
    const query = parse(sql)
    refuseQuery(query)
    if (!base || others.length > 0) throw unsupported('a query of anything but one table')
    // https://cloud.google.com/bigquery/docs/materialized-views-intro, "Limitations": none on another one.
    if (this.views.has(base.logical)) throw unsupported('a materialized view')
    if ([...this.views.values()].filter(view => view.base === base.logical).length === mostOfTable)
      throw new BigQueryError('quotaExceeded', `Table ${base.logical} has too many materialized views`)
    const columns = [...cluster.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
    if (partition !== null) refusePartition(query, { partition, unit: unit as PartitionUnit }, base)
    refuseCluster(query, columns)
    const rollup = {
      name: real!,
      sql,
      partition: partition ?? '',
      cluster: columns,
      refreshMinutes: Number(minutes),
    }
    const bounds = { time: partition, unit: unit as PartitionUnit | null }
    this.views.set(real!, { real: real!, rollup, base: base.logical, ...bounds, isBroken: false })
  }
}
