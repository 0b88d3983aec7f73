/**
 * A statement as it is sent: printed from its tree, with the tables' real names and those of roll-ups' materialized views. A
 * view's name holds the hash of all that makes it, so that a changed roll-up is another view.
 */
import { hash } from 'node:crypto'
import type { QueryParameter, Table } from './client.ts'
import type { TableNames } from './tables.ts'
import { queryParameters } from './values.ts'
import type { Rollup, Statement } from '../engine.ts'
import { statementLimits } from '../../sql/limits.ts'
import { parse } from '../../sql/parser.ts'
import { print } from '../../sql/printer.ts'
import { tablesOf } from '../../sql/tables.ts'
import type { TableReference } from '../../sql/tree.ts'

export interface SentStatement {
  /** The statement's own SQL, with logical names. */
  own: string
  /** The SQL that is sent. */
  sql: string
  parameters: QueryParameter[]
  /** Logical names of the tables that it reads, by real name. */
  logical: ReadonlyMap<string, string>
  /** Words that must not be in a message to a caller. */
  hidden: string[]
  /** Real names of the roll-ups that it reads. */
  views: string[]
}

/**
 * Throws SqlError for text that is no query, and EngineError `rejected` for a value that is not of its type.
 * @param rollupAs whether a roll-up is read from its view, or made by its query, which a dry run of what is not yet applied
 *   takes
 */
export function sentStatement(
  { sql: own, bindings, rollups = [] }: Statement,
  names: TableNames,
  rollupAs: 'view' | 'query' = 'view',
): SentStatement {
  const tree = parse(own, statementLimits)
  const rollupOf = (table: TableReference) => rollups.find(({ name }) => name === nameOf(table))
  const realName = (table: TableReference) => {
    const rollup = rollupOf(table)
    return rollup ? viewName(rollup, names) : names.real(nameOf(table))
  }
  const real = new Map(tablesOf(tree).map(table => [table, realName(table)]))
  const text = (table: TableReference) => {
    const rollup = rollupAs === 'query' && rollupOf(table)
    return rollup ? `(${rollupSql(rollup, names)})` : `\`${real.get(table)}\``
  }
  const sql = print(tree, { table: reference => (real.has(reference) ? text(reference) : null) })
  const logical = new Map([...real].map(([table, name]) => [name, nameOf(table)]))
  const hidden = names.hidden(real.values())
  const views = [...real].filter(([table]) => rollupOf(table)).map(([, name]) => name)
  return { own, sql, parameters: queryParameters(bindings), logical, hidden, views }
}

/** A table's logical name. Backticks may stand around the whole path or its parts: the name is the same. */
export function nameOf({ path }: TableReference): string {
  return path.map(part => part.name).join('.')
}

/** The roll-up's query over the tables' real names. Throws SqlError. */
function rollupSql({ sql }: Rollup, names: TableNames): string {
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
