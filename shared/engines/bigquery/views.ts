/**
 * The materialized view of a roll-up: its name and its DDL. The name holds the hash of all that makes it, so that a changed
 * roll-up is another view.
 */
import { hash } from 'node:crypto'
import { parse } from '../../sql/parser.ts'
import { print } from '../../sql/printer.ts'
import { tablesOf } from '../../sql/tables.ts'
import type { Rollup } from '../engine.ts'
import type { Table } from './client.ts'
import type { TableNames } from './tables.ts'

/** The roll-up's query over the tables' real names. Throws SqlError. */
export function rollupSql({ sql }: Rollup, names: TableNames): string {
  const tree = parse(sql)
  const tables = new Set(tablesOf(tree))
  const real = (path: { name: string }[]) => names.real(path.map(part => part.name).join('.'))
  return print(tree, { table: reference => (tables.has(reference) ? `\`${real(reference.path)}\`` : null) })
}

/** Real name of the log table that it is made of; `null` for a query of no table. Throws SqlError. */
export function baseTable({ sql }: Rollup, names: TableNames): string | null {
  const [table] = tablesOf(parse(sql))
  return table ? names.real(table.path.map(part => part.name).join('.')) : null
}

/** `project.dataset.view`, in the dataset of the settings. Throws SqlError. */
export function viewName(rollup: Rollup, names: TableNames): string {
  const { name, partition, cluster, refreshMinutes } = rollup
  const layout = JSON.stringify([rollupSql(rollup, names), partition, cluster, refreshMinutes])
  return names.ofDataset(`${name}_${hash('sha256', layout).slice(0, 12)}`)
}

/** How a table is partitioned by time. */
export type PartitionUnit = NonNullable<Table['timePartitioning']>['type']

/**
 * The statement that makes the view. Its partitions have to be those of its table, and it has none where that has none
 * (https://cloud.google.com/bigquery/docs/materialized-views-create, "Partitioned materialized views").
 * @param unit of the table's partitions; `null` = it has none
 */
export function createStatement(rollup: Rollup, names: TableNames, unit: PartitionUnit | null): string {
  const { partition, cluster, refreshMinutes } = rollup
  const partitioned = unit === null ? '' : `PARTITION BY TIMESTAMP_TRUNC(\`${partition}\`, ${unit}) `
  const sorted = cluster.length > 0 ? `CLUSTER BY ${cluster.map(column => `\`${column}\``).join(', ')} ` : ''
  return (
    `CREATE MATERIALIZED VIEW IF NOT EXISTS \`${viewName(rollup, names)}\` ${partitioned}${sorted}` +
    `OPTIONS (enable_refresh = TRUE, refresh_interval_minutes = ${refreshMinutes}) AS ${rollupSql(rollup, names)}`
  )
}

/** Throws SqlError. */
export function dropStatement(rollup: Rollup, names: TableNames): string {
  return `DROP MATERIALIZED VIEW IF EXISTS \`${viewName(rollup, names)}\``
}
