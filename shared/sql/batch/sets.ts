/** The relation of the sets: its names, what a service tells of it, and what a query is read with that depends on it. */
import * as make from '../nodes.ts'
import type { Refuse } from '../error.ts'
import { inReadingOrder, nameKey } from '../relations.ts'
import type { Resolution } from '../resolve/resolution.ts'
import type * as ast from '../tree.ts'
import type { Column, StructType } from '../types.ts'
import { children, parameterNames } from '../walk.ts'

/** All names that a batch makes begin so. */
export const prefix = 'batch__'
/** The number of a set, in what `@sets` holds and in the rows of the batch. */
export const setColumn = `${prefix}set`
/** The array of structs that a batch takes: all sets. */
export const setsParameter = 'sets'
/** A second one, of few of them, by which rows are bounded before they are read. */
export const fewParameter = 'few_sets'

/** The name of a parameter in what `@sets` holds. */
export function fieldOf(parameter: string): string {
  return `${prefix}p_${nameKey(parameter)}`
}

/** An element of `@sets` and `@few_sets`. */
export function typeOfSet(parameters: Column[]): StructType {
  const fields = parameters.map(({ name, type }) => ({ name: fieldOf(name), type }))
  return { kind: 'STRUCT', fields: [{ name: setColumn, type: { kind: 'INT64' } }, ...fields] }
}

/** What is known of the sets. */
export interface Sets {
  parameters: Column[]
  /**
   * Places in `@few_sets` of sets that have, together, all values of these parameters that are in use; `null` where there are too many.
   * @param ends whether the least and the greatest value of the only parameter will do
   */
  representatives(parameters: string[], ends: boolean): number[] | null
}

/** The common table of the sets. */
export function tableOfSets({ parameters }: Sets): ast.CommonTable {
  const fields = typeOfSet(parameters).fields.map(({ name }) => make.item(make.path('s', name!), null))
  const array = { kind: 'ParameterReference', name: setsParameter, at: 0 } as const
  const unnest = { kind: 'UnnestReference', array, alias: make.name('s'), offset: null, at: 0 } as const
  return make.common(`${prefix}sets`, make.queryOf(make.select(fields, unnest)))
}

/** The sets in FROM, by the name that every SELECT which reads them has for them. */
export function setsInFrom(): ast.TableReference {
  return make.table(`${prefix}sets`, `${prefix}s`)
}

export function columnOfSet(column: string): ast.Path {
  return make.path(`${prefix}s`, column)
}

/** The last column of what depends on a set. */
export function numberItem(): ast.SelectColumn {
  return make.item(columnOfSet(setColumn), setColumn)
}

/** The names of the parameters that these nodes hold, each once. */
export function parametersIn(...nodes: ast.AnyNode[]): string[] {
  const names = nodes.flatMap(node => [...parameterNames(node)].map(([name]) => nameKey(name)))
  return [...new Set(names)]
}

export interface Batch {
  resolution: Resolution
  sets: Sets
  refuse: Refuse
  /** A name that nothing else has. */
  newName(what: string): string
  /** Adds a common table to the query that is being read. */
  addTable(name: string, query: ast.Query): void
  /** A query that depends on the set, with its number. @param isOrdered whether the order of its rows counts */
  query(node: ast.Query, sight: Sight, isOrdered: boolean): ast.Query
}

/** For the names of common tables in sight, whether they carry the number of a set. */
export type Sight = ReadonlyMap<string, boolean>

/** A SELECT that expressions stand in. */
export interface Here {
  batch: Batch
  sight: Sight
  /** Items of its FROM that carry the number of the set. */
  carrying: ReadonlySet<ast.From>
  /** Where its columns are read elsewhere: by the places of their names. */
  columns: ReadonlyMap<ast.Path, ast.Path> | null
  /** A replacement for a node, which comes first; `null` = the default. */
  instead?: (node: ast.AnyNode) => ast.AnyNode | null
}

/** Whether the rows of a node depend on the set. */
export function depends(batch: Batch, node: ast.AnyNode, sight: Sight): boolean {
  if (node.kind === 'ParameterReference') return true
  if (node.kind === 'TableReference') return carries(batch, node, sight)
  if (node.kind !== 'Query' || !node.with) return children(node).some(child => depends(batch, child, sight))
  const inside = new Map(sight)
  const common = inReadingOrder(node.with).map(({ name, query }) => {
    inside.set(nameKey(name.name), depends(batch, query, inside))
    return inside.get(nameKey(name.name))!
  })
  return common.includes(true) || depends(batch, { ...node, with: null }, inside)
}

/** Whether it is a common table that has the number of a set. */
function carries({ resolution }: Batch, node: ast.TableReference, sight: Sight): boolean {
  return resolution.tables.get(node) === 'common' && sight.get(nameKey(node.path[0]!.name)) === true
}
