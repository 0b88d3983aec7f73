import type { Token } from './tokens.ts'

export interface Parenthesis {
  /** Index of the token that closes it, -1 if none does. */
  close: number
  /** Whether it holds a query rather than an expression or a join. */
  query: boolean
}

/** What may follow `(SELECT ...)` when that is itself the start of a query. */
const afterQuery = new Set([')', 'UNION', 'INTERSECT', 'EXCEPT', 'ORDER', 'LIMIT'])

/**
 * Every `(` by its index. `((SELECT 1) UNION ALL ...)` holds a query and `((SELECT 1) + 1)` an expression; which
 * it is shows only behind the inner one's end, so it is settled here, once, from the inside out.
 */
export function matchParentheses(tokens: Token[]): Map<number, Parenthesis> {
  const found = new Map<number, Parenthesis>()
  const open: number[] = []
  for (const [index, token] of tokens.entries()) {
    if (token.kind !== 'symbol') continue
    if (token.text === '(') {
      open.push(index)
      found.set(index, { close: -1, query: startsQuery(tokens, index + 1) })
    } else if (token.text === ')') {
      const start = open.pop()
      if (start === undefined) continue
      const parenthesis = found.get(start)!
      parenthesis.close = index
      const inner = found.get(start + 1)
      if (inner?.query) parenthesis.query = afterQuery.has(keyOf(tokens[inner.close + 1]!))
    }
  }
  return found
}

/** `WITH (` is not a query but an expression, one that is not supported. */
function startsQuery(tokens: Token[], index: number): boolean {
  const key = keyOf(tokens[index]!)
  return key === 'SELECT' || key === 'FROM' || (key === 'WITH' && tokens[index + 1]!.text !== '(')
}

function keyOf(token: Token): string {
  return token.kind === 'word' ? token.value : token.kind === 'symbol' ? token.text : ''
}
