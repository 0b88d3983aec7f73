import type { AnyNode, CommonTable, Query, TableReference, With } from './tree.ts'
import { children } from './walk.ts'

/**
 * The references by a plain name that a query makes to tables and to common tables around it: to all but the tables of a
 * WITH inside, each of which is visible to those after it and to its query, with RECURSIVE to all.
 */
export function plainReferences(query: Query): TableReference[] {
  const found: TableReference[] = []
  const visit = (node: AnyNode, inside: ReadonlySet<string>): void => {
    if (node.kind === 'TableReference' && node.path.length === 1 && !inside.has(nameKey(node.path[0]!.name)))
      found.push(node)
    if (node.kind !== 'Query' || !node.with) return children(node).forEach(child => visit(child, inside))
    const { ctes, recursive } = node.with
    const names = new Set(inside)
    if (recursive) for (const { name } of ctes) names.add(nameKey(name.name))
    for (const { name, query } of ctes) {
      visit(query, names)
      names.add(nameKey(name.name))
    }
    for (const child of children(node)) if (child !== node.with) visit(child, names)
  }
  visit(query, new Set())
  return found
}

/** Their keys. */
export function plainNamesIn(query: Query): string[] {
  return plainReferences(query).map(({ path }) => nameKey(path[0]!.name))
}

export function readsItself({ name, query }: CommonTable): boolean {
  return plainNamesIn(query).includes(nameKey(name.name))
}

/**
 * The common tables of a WITH, each after those that it reads, which RECURSIVE lets stand behind it.
 * @param onCircle is told of two that read each other, which GoogleSQL refuses
 */
export function inReadingOrder(
  common: With | null,
  onCircle: (one: CommonTable, other: CommonTable) => void = () => {},
): CommonTable[] {
  if (!common?.recursive) return common?.ctes ?? []
  const ordered = new Set<CommonTable>()
  const add = (cte: CommonTable, readers: CommonTable[]) => {
    if (ordered.has(cte)) return
    const names = plainNamesIn(cte.query)
    for (const other of common.ctes) {
      if (other === cte || !names.includes(nameKey(other.name.name))) continue
      if (readers.includes(other)) onCircle(other, cte)
      else add(other, [...readers, cte])
    }
    ordered.add(cte)
  }
  for (const cte of common.ctes) add(cte, [])
  return [...ordered]
}

/** Names of common tables and rows are equal if their keys are: the case of ASCII letters does not count. */
export function nameKey(name: string): string {
  // Most names have none, and a query has thousands of them.
  return capitals.test(name) ? name.replaceAll(/[A-Z]+/g, letters => letters.toLowerCase()) : name
}

const capitals = /[A-Z]/
