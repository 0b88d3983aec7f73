/** Which expressions are alike. */
import { nameKey } from '../relations.ts'
import type { AnyNode } from '../tree.ts'
import { isNode } from '../walk.ts'

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
