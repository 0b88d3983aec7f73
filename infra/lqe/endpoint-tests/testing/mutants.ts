/** Mutants of a query: each has one condition, bound or literal other than the query has. */
import { parse } from '../../../../shared/sql/parser.ts'
import { print } from '../../../../shared/sql/printer.ts'
import type { AnyNode, Expression, Literal, QueryBody } from '../../../../shared/sql/tree.ts'
import { conjuncts, descendants } from '../../../../shared/sql/walk.ts'

export interface Mutant {
  /** What is other, with the line: `3: < -> <=`. */
  change: string
  sql: string
}

export function mutantsOf(sql: string): Mutant[] {
  const tree = parse(sql)
  const line = (at: number) => sql.slice(0, at).split('\n').length
  const nodes = [...descendants(tree)]
  // EXISTS asks whether there is a row, whatever is in it.
  const unread = nodes.flatMap(node => (node.kind === 'Exists' ? selectedBy(node.query.body) : []))
  const changed = nodes.filter(node => !unread.includes(node))
  return changed.flatMap(node =>
    changesOf(node).map(({ of, to, words }) => ({
      change: `${line(of.at)}: ${words}`,
      sql: print(withChange(tree, of, to)),
    })),
  )
}

function selectedBy(body: QueryBody): AnyNode[] {
  return body.kind === 'Select' ? body.items.flatMap(item => [...descendants(item)]) : []
}

interface Change {
  of: AnyNode
  to: AnyNode
  words: string
}

const otherBounds: Record<string, string> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '=': '!=',
  '!=': '=',
}

function changesOf(node: AnyNode): Change[] {
  if (node.kind === 'Select') return left(node.where)
  if (node.kind === 'Join') return left(node.on)
  if (node.kind === 'Binary') {
    const operator = otherBounds[node.operator] as typeof node.operator | undefined
    return operator ? [{ of: node, to: { ...node, operator }, words: `${node.operator} -> ${operator}` }] : []
  }
  if (node.kind === 'TypedLiteral') {
    const text = anotherDay(node.value.value)
    const to = { ...node, value: literalOf(node.value, text) }
    return [{ of: node, to, words: `${node.value.text} -> '${text}'` }]
  }
  if (node.kind === 'Literal')
    return otherValues(node).map(to => ({ of: node, to, words: `${node.text} -> ${to.text}` }))
  return []
}

/** Each condition that AND joins is left out. */
function left(condition: Expression | null): Change[] {
  return conjuncts(condition).map(of => ({
    of,
    to: { kind: 'Literal', at: of.at, literal: 'BOOL', text: 'TRUE', value: '' },
    words: `without ${print(of as never)}`,
  }))
}

function otherValues(literal: Literal): Literal[] {
  const { literal: kind, text, value } = literal
  if (kind === 'INTEGER')
    return [Number(text) + 1, Number(text) - 1]
      .filter(n => n >= 0)
      .map(n => ({ ...literal, text: String(n) }))
  if (kind === 'BOOL') return [{ ...literal, text: /true/i.test(text) ? 'FALSE' : 'TRUE' }]
  if (kind !== 'STRING') return []
  return [`${value}x`, ...(value === '' ? [] : [''])].map(other => literalOf(literal, other))
}

function literalOf(literal: Literal, value: string): Literal {
  return { ...literal, text: `'${value.replaceAll(/['\\]/g, '\\$&')}'`, value }
}

/** A day later, or earlier at the end of the calendar. */
function anotherDay(text: string): string {
  return text.startsWith('9999-12-31') ? text.replace('12-31', '12-30') : text.replace(/-01\b/, '-02')
}

/** The tree with `to` in the place of the node `of`. */
function withChange<T>(part: T, of: AnyNode, to: AnyNode): T {
  if ((part as unknown) === of) return to as T
  if (Array.isArray(part)) return part.map(item => withChange<unknown>(item, of, to)) as T
  if (typeof part !== 'object' || part === null) return part
  return Object.fromEntries(
    Object.entries(part).map(([field, value]) => [field, withChange<unknown>(value, of, to)]),
  ) as T
}
