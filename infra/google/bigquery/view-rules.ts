/**
 * What BigQuery refuses in a materialized view that it keeps up to date by new rows alone. Each rule is named by its heading
 * in https://cloud.google.com/bigquery/docs/materialized-views-create. The messages are ours.
 */
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { isAggregate } from '../../../shared/engines/duckdb/rewrite/functions/calls.ts'
import { tablesOf } from '../../../shared/sql/relations.ts'
import type { AnyNode, Query, Select } from '../../../shared/sql/tree.ts'
import { descendants } from '../../../shared/sql/walk.ts'
import { BigQueryError } from './errors.ts'

/** A table of which a view may be made. */
export interface Base {
  logical: string
  /** As a view's. */
  time: string | null
  unit: PartitionUnit | null
}

/** "Materialized views query support": its pattern has no ORDER BY, LIMIT, HAVING, QUALIFY, GROUP BY ALL or subquery in an expression. */
export function refuseQuery(query: Query): void {
  if (query.orderBy.length > 0) throw unsupported('ORDER BY')
  if (query.limit) throw unsupported('LIMIT')
  // "Unsupported SQL features": UNION ALL is a preview.
  if (query.body.kind !== 'Select') throw unsupported('set operations')
  if (query.body.having) throw unsupported('HAVING')
  if (query.body.qualify) throw unsupported('QUALIFY')
  const { grouping = 'LIST' } = query.body.groupBy ?? {}
  if (grouping !== 'LIST') throw unsupported(`GROUP BY ${grouping}`)
  refuseComputedAggregates(query.body)
  const tables = tablesOf(query).map(({ path }) => path.map(part => part.name).join('.'))
  if (new Set(tables).size < tables.length) throw unsupported('a self-join')
  for (const node of descendants(query)) {
    const reason = refusalOf(node)
    if (reason) throw unsupported(reason)
  }
}

/** "Aggregate requirements": each is an output by itself. A column of a common table is not looked through. */
function refuseComputedAggregates({ items, where }: Select): void {
  for (const item of items) {
    const outer = item.kind === 'SelectColumn' ? item.expression : item
    const inner = [...descendants(outer)].filter(node => node !== outer)
    if (inner.some(node => node.kind === 'Call' && isAggregate(node)))
      throw unsupported('a value computed from an aggregate')
  }
  if (where && [...descendants(where)].some(node => node.kind === 'Call' && isAggregate(node)))
    throw unsupported('a filter on an aggregate')
}

/** "Only the following aggregation functions are supported"; HLL_COUNT.INIT is one that callers may not use here. */
const aggregates = new Set(
  `ANY_VALUE APPROX_COUNT_DISTINCT ARRAY_AGG AVG BIT_AND BIT_OR BIT_XOR COUNT COUNTIF LOGICAL_AND LOGICAL_OR MAX MIN
  MAX_BY MIN_BY SUM`.split(/\s+/),
)

/** "Unsupported SQL features": non-deterministic functions "such as" some of these. */
const changing = new Set(
  `CURRENT_DATE CURRENT_DATETIME CURRENT_TIME CURRENT_TIMESTAMP GENERATE_UUID RAND SESSION_USER`.split(' '),
)

function refusalOf(node: AnyNode): string | null {
  if (['ArraySubquery', 'Exists', 'InQuery', 'ScalarSubquery'].includes(node.kind)) return 'a subquery'
  if (node.kind === 'ParameterReference') return 'a query parameter'
  // "Unsupported SQL features": LEFT is a preview.
  if (node.kind === 'Join' && ['LEFT', 'RIGHT', 'FULL'].includes(node.type)) return `${node.type} JOIN`
  if (node.kind !== 'Call') return null
  if (node.over) return 'an analytic function'
  const name = node.name.map(part => part.name.toUpperCase()).join('.')
  return changing.has(name) || (isAggregate(node) && !aggregates.has(name)) ? `the function ${name}` : null
}

/** @param what the feature, as SQL or in words */
export function unsupported(what: string): BigQueryError {
  return new BigQueryError('invalidQuery', `Materialized view query contains unsupported feature: ${what}.`)
}

/** From fine to coarse. */
const units = ['MICROSECOND', 'MILLISECOND', 'SECOND', 'MINUTE', 'HOUR', 'DAY', 'MONTH', 'YEAR']

/**
 * "Partitioned materialized views": the column is the table's partition column, or TIMESTAMP_TRUNC of it to no more than a
 * partition; the partitions are as long as the table's; and a table without partitions has no view with them.
 */
export function refusePartition(
  query: Query,
  { partition, unit }: { partition: string; unit: PartitionUnit },
  base: Base,
): void {
  if (base.unit === null)
    throw new BigQueryError(
      'invalidQuery',
      `Partitioned materialized view over unpartitioned ${base.logical}`,
    )
  const [time, part] = truncated(query, partition)
  if (time !== base.time || units.indexOf(part) > units.indexOf(base.unit))
    throw new BigQueryError(
      'invalidQuery',
      `Partitioning column ${partition} is not the partitioning column of the base table, or TIMESTAMP_TRUNC of it`,
    )
  if (unit !== base.unit)
    throw new BigQueryError(
      'invalidQuery',
      `The view is partitioned by ${unit} and its base table by ${base.unit}: they must match`,
    )
}

/** The column of the table that this one is, and the unit that it is cut to. */
function truncated({ body }: Query, column: string): [time: string | undefined, unit: string] {
  const items = body.kind === 'Select' ? body.items : []
  for (const item of items) {
    if (item.kind !== 'SelectColumn') continue
    const { alias, expression } = item
    const name = alias ?? (expression.kind === 'Path' ? expression.parts.at(-1) : null)
    if (name?.name !== column) continue
    const isCut = expression.kind === 'Call' && expression.name[0]?.name.toUpperCase() === 'TIMESTAMP_TRUNC'
    const [time, part] = isCut ? expression.arguments : [expression]
    const unit = part?.kind === 'Path' ? part.parts[0]!.name.toUpperCase() : units[0]!
    return [time?.kind === 'Path' ? time.parts.at(-1)!.name : undefined, unit]
  }
  return [undefined, units[0]!]
}

/** "Cluster materialized views": by output columns that are no aggregates, four at most as in every table. */
export function refuseCluster({ body }: Query, columns: string[]): void {
  const items = body.kind === 'Select' ? body.items : []
  for (const item of items) {
    const { alias, expression } = item.kind === 'SelectColumn' ? item : { alias: null, expression: item }
    if (expression.kind === 'Call' && isAggregate(expression) && columns.includes(alias?.name ?? ''))
      throw new BigQueryError('invalidQuery', `Aggregate column ${alias!.name} cannot be a clustering column`)
  }
  if (columns.length > 4) throw new BigQueryError('invalidQuery', 'CLUSTER BY takes at most 4 columns')
}
