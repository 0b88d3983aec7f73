/** What the files of the derivation share. */
import type { SqlError } from '../error.ts'
import { inReadingOrder, nameKey } from '../relations.ts'
import type { Resolution } from '../resolve/resolution.ts'
import type * as ast from '../tree.ts'
import { children } from '../walk.ts'
import type { Sets } from './sets.ts'

export interface Batch {
  resolution: Resolution
  sets: Sets
  refuse(node: ast.Node, why: string): SqlError
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
  /** What stands for a node, before all else; `null` for what it is by itself. */
  instead?: (node: ast.AnyNode) => ast.AnyNode | null
}

/** Whether the rows of a node are others for other sets. */
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
