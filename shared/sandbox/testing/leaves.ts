import type { AnyNode, Query } from '../../sql/tree.ts'
import { children } from '../../sql/walk.ts'

/**
 * Real tables from which rows can come, by another method than the sandbox and the front end: each common table is
 * put in the place of its name. A dotted name counts as real.
 */
export function leavesOf(query: Query): Set<string> {
  return leaves(query, new Map())
}

function leaves(node: AnyNode, defined: ReadonlyMap<string, Set<string>>): Set<string> {
  if (node.kind === 'TableReference') {
    const name = node.path.map(part => part.name).join('.')
    return (node.path.length === 1 && defined.get(name.toLowerCase())) || new Set([name])
  }
  if (node.kind !== 'Query') return union(children(node).map(child => leaves(child, defined)))
  const inside = new Map(defined)
  const found: Set<string>[] = []
  for (const cte of node.with?.ctes ?? []) {
    const own = leaves(cte.query, inside)
    found.push(own)
    inside.set(cte.name.name.toLowerCase(), own)
  }
  const rest = children(node).filter(child => child !== node.with)
  return union([...found, ...rest.map(child => leaves(child, inside))])
}

function union(sets: Set<string>[]): Set<string> {
  return new Set(sets.flatMap(set => [...set]))
}
