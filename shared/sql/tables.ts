/** The real tables that a query reads. */
import type { Resolution } from './resolve/resolution.ts'
import { resolve } from './resolve/resolve.ts'
import type { AnyNode, From, Query, TableReference } from './tree.ts'
import { descendants, descendantsHere } from './walk.ts'

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
export function tablesOf(query: Query, resolution = resolvedAlone(query)): TableReference[] {
  return realTables(descendants(query), resolution)
}

/** Those of a FROM itself, and of no query inside it. */
export function tablesOfFrom(from: From, resolution: Resolution): TableReference[] {
  return realTables(descendantsHere(from), resolution)
}

function realTables(nodes: Iterable<AnyNode>, { tables }: Resolution): TableReference[] {
  const isReal = (node: AnyNode) =>
    node.kind === 'TableReference' && !/^(common|array)$/.test(tables.get(node) ?? '')
  return [...nodes].filter(isReal) as TableReference[]
}
