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
  const ctes = node.with?.ctes ?? []
  // With RECURSIVE a table may read itself and those behind it, whose leaves are known after as many rounds as there are tables.
  const rounds = node.with?.recursive ? ctes.length : 1
  if (node.with?.recursive) for (const { name } of ctes) inside.set(name.name.toLowerCase(), new Set())
  let found: Set<string>[] = []
  for (let round = 0; round < rounds; round++)
    found = ctes.map(cte => {
      const own = leaves(cte.query, inside)
      inside.set(cte.name.name.toLowerCase(), own)
      return own
    })
  const rest = children(node).filter(child => child !== node.with)
  return union([...found, ...rest.map(child => leaves(child, inside))])
}

function union(sets: Set<string>[]): Set<string> {
  return new Set(sets.flatMap(set => [...set]))
}
