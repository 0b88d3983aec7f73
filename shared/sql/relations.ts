/** What names and expressions of a query stand for alike: common tables, which reads which, and numbers of equal expressions. */
import type { AnyNode, CommonTable, Query, TableReference, With } from './tree.ts'
import { children, isNode } from './walk.ts'

/**
 * The names in FROM that a query reads from outside: all but those of the tables of a WITH inside, each of which is visible to
 * those after it and to its query, with RECURSIVE to all. One with dots may be an array of a row.
 */
export function outerReferences(query: Query): TableReference[] {
  const found: TableReference[] = []
  const visit = (node: AnyNode, inside: ReadonlySet<string>): void => {
    const isOuter =
      node.kind === 'TableReference' && !(isPlain(node) && inside.has(nameKey(node.path[0]!.name)))
    if (isOuter) found.push(node)
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

function isPlain({ path }: TableReference): boolean {
  return path.length === 1
}

/** The keys of those without dots, which are tables or common tables around the query. */
export function plainNamesIn(query: Query): string[] {
  return outerReferences(query)
    .filter(isPlain)
    .map(({ path }) => nameKey(path[0]!.name))
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

/** The first of these whose name is that of one before it. */
export function firstTwice<Named>(
  all: readonly Named[],
  nameOf: (each: Named) => string | null,
): Named | undefined {
  const seen = new Set<string>()
  return all.find(each => {
    const name = nameOf(each)
    return name !== null && seen.size === seen.add(nameKey(name)).size
  })
}

/**
 * A function that numbers expressions, once each: equal are those that differ in parentheses around them, in backticks and in
 * the case of names only.
 */
export function numbering(): (node: AnyNode) => number {
  const byNode = new Map<AnyNode, number>()
  const byText = new Map<string, number>()
  return function numberOf(node): number {
    if (node.kind === 'Parenthesized') return numberOf(node.expression)
    const text = (key: string, value: unknown) => {
      if (key === 'at' || key === 'quoted') return undefined
      if (key === 'name' && typeof value === 'string') return nameKey(value)
      return isNode(value) && value !== node ? numberOf(value) : value
    }
    if (!byNode.has(node)) byNode.set(node, numberIn(byText, JSON.stringify(node, text)))
    return byNode.get(node)!
  }
}

function numberIn(numbers: Map<string, number>, text: string): number {
  if (!numbers.has(text)) numbers.set(text, numbers.size)
  return numbers.get(text)!
}
