/**
 * The materialized view of a roll-up: its name and its DDL. The name holds the hash of all that makes it, so that a changed
 * roll-up is another view.
 */
import { createHash } from 'node:crypto'
import { parse } from '../../sql/parser.ts'
import { print } from '../../sql/printer.ts'
import { tablesOf } from '../../sql/relations.ts'
import type { Rollup } from '../engine.ts'
import type { TableNames } from './tables.ts'

/** The roll-up's query over the tables' real names. Throws SqlError. */
export function rollupSql({ sql }: Rollup, names: TableNames): string {
  const tree = parse(sql)
  const tables = new Set(tablesOf(tree))
  const real = (path: { name: string }[]) => names.real(path.map(part => part.name).join('.'))
  return print(tree, { table: reference => (tables.has(reference) ? `\`${real(reference.path)}\`` : null) })
}

/** `project.dataset.view`, in the dataset of the settings. Throws SqlError. */
export function viewName(rollup: Rollup, names: TableNames): string {
  const { name, partition, cluster, refreshMinutes } = rollup
  const layout = JSON.stringify([rollupSql(rollup, names), partition, cluster, refreshMinutes])
  return names.ofDataset(`${name}_${createHash('sha256').update(layout).digest('hex').slice(0, 12)}`)
}

/** The statement that makes the view. */
export function createStatement(rollup: Rollup, names: TableNames): string {
  const { partition, cluster, refreshMinutes } = rollup
  const sorted = cluster.length > 0 ? ` CLUSTER BY ${cluster.map(column => `\`${column}\``).join(', ')}` : ''
  return (
    `CREATE MATERIALIZED VIEW IF NOT EXISTS \`${viewName(rollup, names)}\` ` +
    `PARTITION BY TIMESTAMP_TRUNC(\`${partition}\`, DAY)${sorted} ` +
    `OPTIONS (enable_refresh = TRUE, refresh_interval_minutes = ${refreshMinutes}) AS ${rollupSql(rollup, names)}`
  )
}

/** Throws SqlError. */
export function dropStatement(rollup: Rollup, names: TableNames): string {
  return `DROP MATERIALIZED VIEW IF EXISTS \`${viewName(rollup, names)}\``
}
