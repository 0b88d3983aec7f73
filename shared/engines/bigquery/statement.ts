/** A statement as it is sent: printed from its tree, with the tables' real names. */
import { statementLimits } from '../../sql/limits.ts'
import { parse } from '../../sql/parser.ts'
import { print } from '../../sql/printer.ts'
import { tablesOf } from '../../sql/tables.ts'
import type { TableReference } from '../../sql/tree.ts'
import type { Statement } from '../engine.ts'
import type { QueryParameter } from './client.ts'
import type { TableNames } from './tables.ts'
import { rollupSql, viewName } from './views.ts'
import { queryParameters } from './values.ts'

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
