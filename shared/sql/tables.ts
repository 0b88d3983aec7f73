/** The real tables that a query reads. */
import type { Resolution } from './resolve/resolution.ts'
import { resolve } from './resolve/resolve.ts'
import type { Query, TableReference } from './tree.ts'
import { descendants } from './walk.ts'

/** For a query alone: the columns of tables are not known. */
const noCatalog = {
  columnsOf: () => ({ unknown: 'the columns are not known' }),
  tables: [],
  parameters: new Map(),
}

/** What the names of a query stand for as far as its text says it. */
export function resolvedAlone(query: Query): Resolution {
  return resolve('', query, noCatalog)
}

/**
 * Every reference to a real table, in the order of the text: neither to a common table in scope nor to an array of a
 * row in scope. A doubtful reference is among them, so that none which could read a table is missing.
 */
export function tablesOf(query: Query, { tables } = resolvedAlone(query)): TableReference[] {
  return [...descendants(query)].filter(
    node => node.kind === 'TableReference' && !/^(common|array)$/.test(tables.get(node) ?? ''),
  ) as TableReference[]
}
