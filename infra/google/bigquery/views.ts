/** Materialized views of the server: their DDL, what BigQuery refuses in one, and the roll-up that answers for each. */
import type { Rollup } from '../../../shared/engines/engine.ts'
import { parse } from '../../../shared/sql/parser.ts'
import type { AnyNode, Query } from '../../../shared/sql/tree.ts'
import { descendants } from '../../../shared/sql/walk.ts'
import { BigQueryError } from './errors.ts'

export interface View {
  /** `project.dataset.view` */
  real: string
  /** The same on the local engine. */
  rollup: Rollup
  /** Logical name of its table. */
  base: string
  /** Its table was deleted and made again, as a test says. */
  isBroken: boolean
}

/** Of one table, in its dataset (https://cloud.google.com/bigquery/quotas#materialized_view_limits). */
const mostOfTable = 20

const create = new RegExp(
  '^CREATE MATERIALIZED VIEW IF NOT EXISTS `(?<real>[^`]+)` ' +
    'PARTITION BY TIMESTAMP_TRUNC\\(`(?<partition>[^`]+)`, DAY\\)(?: CLUSTER BY (?<cluster>`[^(]+`))? ' +
    'OPTIONS \\(enable_refresh = TRUE, refresh_interval_minutes = (?<minutes>\\d+)\\) AS (?<sql>SELECT .*)$',
  's',
)
const drop = /^DROP MATERIALIZED VIEW IF EXISTS `(?<real>[^`]+)`$/

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

  has(real: string): boolean {
    return this.views.has(real)
  }

  /** As when somebody deletes each view's table and makes it again. */
  breakAll(): void {
    for (const view of this.views.values()) view.isBroken = true
  }

  /**
   * Carries a statement out that makes or removes a view.
   * @param resolve gives a query with the local engine's names, and those tables
   * @returns `false` for any other statement
   * @throws BigQueryError for what BigQuery refuses
   */
  define(
    statement: string,
    resolve: (sql: string) => { sql: string; tables: { logical: string }[] },
  ): boolean {
    const dropped = drop.exec(statement)?.groups
    if (dropped) this.views.delete(dropped['real']!)
    const made = create.exec(statement)?.groups
    if (made) this.create(made, resolve(made['sql']!))
    return Boolean(dropped ?? made)
  }

  private create(
    made: Record<string, string | undefined>,
    { sql, tables }: { sql: string; tables: { logical: string }[] },
  ): void {
    const { real, partition, cluster = '', minutes } = made as { [part: string]: string }
    if (this.views.has(real!)) return
    const query = parse(sql)
    refuse(query)
    const base = tables[0]?.logical
    if (tables.length !== 1 || base === undefined || this.views.has(base))
      throw unsupported('a query of anything but one table')
    if ([...this.views.values()].filter(view => view.base === base).length === mostOfTable)
      throw new BigQueryError('quotaExceeded', `Table ${base} has too many materialized views`)
    if (!isTruncatedTimestamp(query, partition!))
      throw new BigQueryError(
        'invalidQuery',
        `Partitioning column ${partition!} is not the partitioning column of the base table, or TIMESTAMP_TRUNC of it`,
      )
    const columns = [...cluster.matchAll(/`([^`]+)`/g)].map(([, name]) => name!)
    const rollup = {
      name: real!,
      sql,
      partition: partition!,
      cluster: columns,
      refreshMinutes: Number(minutes),
    }
    this.views.set(real!, { real: real!, rollup, base, isBroken: false })
  }
}

/** https://cloud.google.com/bigquery/docs/materialized-views-create, "Limitations" */
const refusedFunctions = new Set(
  `CURRENT_DATE CURRENT_DATETIME CURRENT_TIME CURRENT_TIMESTAMP GENERATE_UUID RAND SESSION_USER STRING_AGG
  APPROX_QUANTILES APPROX_TOP_COUNT APPROX_TOP_SUM ARRAY_CONCAT_AGG CORR COVAR_POP COVAR_SAMP STDDEV VARIANCE`.split(
    /\s+/,
  ),
)

function refuse(query: Query): void {
  if (query.orderBy.length > 0) throw unsupported('ORDER BY')
  if (query.limit) throw unsupported('LIMIT')
  if (query.body.kind !== 'Select') throw unsupported('set operations')
  if (query.body.having) throw unsupported('HAVING')
  for (const node of descendants(query)) {
    const reason = refusalOf(node)
    if (reason) throw unsupported(reason)
  }
}

function refusalOf(node: AnyNode): string | null {
  if (['ArraySubquery', 'Exists', 'InQuery', 'ScalarSubquery'].includes(node.kind)) return 'a subquery'
  if (node.kind === 'ParameterReference') return 'a query parameter'
  if (node.kind === 'Join' && ['RIGHT', 'FULL'].includes(node.type)) return `${node.type} JOIN`
  if (node.kind !== 'Call') return null
  if (node.over) return 'an analytic function'
  const name = node.name.map(part => part.name.toUpperCase()).join('.')
  return refusedFunctions.has(name) ? `the function ${name}` : null
}

function unsupported(what: string): BigQueryError {
  return new BigQueryError('invalidQuery', `Materialized view query contains unsupported feature: ${what}.`)
}

/** The column is `timestamp`, by which the tables are partitioned, cut to the minute or the like. */
function isTruncatedTimestamp({ body }: Query, column: string): boolean {
  const items = body.kind === 'Select' ? body.items : []
  return items.some(item => {
    if (item.kind !== 'SelectColumn' || item.alias?.name !== column) return false
    const { expression } = item
    const [time] = expression.kind === 'Call' ? expression.arguments : [expression]
    return time?.kind === 'Path' && time.parts.at(-1)!.name === 'timestamp'
  })
}
