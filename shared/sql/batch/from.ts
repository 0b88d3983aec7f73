/** FROM and WHERE of a SELECT that depends on the set: its tables beside the sets, and the conditions that join them. */
import type * as ast from '../tree.ts'
import { children, conjuncts, descendants } from '../walk.ts'
import { inExpression } from './expressions.ts'
import { type Batch, depends, type Sight } from './context.ts'
import { boundOf } from './bounds.ts'
import { matched, type Tables } from './matches.ts'
import * as make from './nodes.ts'
import { columnOfSet, setColumn, setsInFrom } from './sets.ts'

/** FROM with the sets first, so that all conditions see them, and WHERE with what joins tables to the sets. */
export function tablesBesideSets(
  batch: Batch,
  node: ast.Select,
  { sight, orderBy }: { sight: Sight; orderBy: ast.OrderItem[] },
): Tables {
  if (!node.from) return { node: setsInFrom(), where: [], carrying: new Set(), columns: null }
  const bounds = conjuncts(node.where).flatMap(condition => boundOf(batch, condition) ?? [])
  const isOfSet = depends(batch, node.from, sight)
  const byValues = isOfSet ? null : matched(batch, node, { sight, orderBy, bounds })
  if (byValues) return byValues
  const from = new From(batch, sight)
  const tables = from.place(node.from, from.where)
  const here = { batch, sight, carrying: from.carrying, columns: null }
  const asked = conjuncts(node.where).map(condition => inExpression(condition, here))
  return { ...here, node: besideSets(tables), where: [...from.where, ...asked, ...bounds] }
}

/** The sets before the first table. */
function besideSets(from: ast.From): ast.From {
  if (from.kind !== 'Join') return make.join('CROSS', setsInFrom(), from)
  if (isOuterOfRight(from))
    return make.join('CROSS', setsInFrom(), { kind: 'JoinInParentheses', join: from, at: from.at })
  return { ...from, left: besideSets(from.left) }
}

function isOuterOfRight({ type }: ast.Join): boolean {
  return type === 'RIGHT' || type === 'FULL'
}

/** Puts the number of the set on tables that depend on it. */
class From {
  /** Filled as FROM is read. */
  readonly carrying = new Set<ast.From>()
  readonly where: ast.Expression[] = []
  private readonly batch: Batch
  private readonly sight: Sight

  constructor(batch: Batch, sight: Sight) {
    this.batch = batch
    this.sight = sight
  }

  /** @param on gets the conditions that join tables to the sets */
  place(node: ast.From, on: ast.Expression[]): ast.From {
    const { batch, sight } = this
    if (!depends(batch, node, sight)) return node
    switch (node.kind) {
      case 'TableReference':
        return this.joined(node, node.alias ?? node.path.at(-1)!, node, on)
      case 'DerivedTable': {
        const alias = node.alias ?? make.name(batch.newName('t'))
        return this.joined(node, alias, { ...node, query: batch.query(node.query, sight, false), alias }, on)
      }
      case 'UnnestReference':
        return this.written(node)
      case 'JoinInParentheses':
        if (hasOwnParameters(node)) throw batch.refuse(node, 'a parameter in a join in parentheses')
        return { ...node, join: this.place(node.join, on) as ast.Join }
      case 'Join':
        return this.join(node, on)
      case 'Pivot':
      case 'Unpivot':
        throw batch.refuse(node, `${node.kind.toUpperCase()} of a table that depends on a parameter`)
    }
  }

  private joined(node: ast.From, { name }: ast.Identifier, made: ast.From, on: ast.Expression[]): ast.From {
    this.carrying.add(node)
    on.push(make.binary('=', make.path(name, setColumn), columnOfSet(setColumn)))
    return made
  }

  private written<Kind extends ast.AnyNode>(node: Kind): Kind {
    const { batch, sight, carrying } = this
    return inExpression(node, { batch, sight, carrying, columns: null })
  }

  private join(node: ast.Join, on: ast.Expression[]): ast.Join {
    if (isOuterOfRight(node))
      throw this.batch.refuse(node, `${node.type} JOIN with what depends on a parameter`)
    const left = this.place(node.left, on)
    if (node.type !== 'LEFT') {
      const right = this.place(node.right, on)
      return { ...node, left, right, on: node.on && this.written(node.on) }
    }
    const query = node.on && [...descendants(node.on)].find(part => part.kind === 'Query')
    if (query && depends(this.batch, query, this.sight))
      throw this.batch.refuse(query, 'a subquery in ON of a LEFT JOIN, which depends on a parameter')
    const own: ast.Expression[] = []
    const right = this.place(node.right, own)
    if (own.length > 0 && node.using.length > 0)
      throw this.batch.refuse(node, 'LEFT JOIN with USING of what depends on a parameter')
    const conditions = [...own, ...(node.on ? [this.written(node.on)] : [])]
    return { ...node, left, right, on: make.joined('AND', conditions) }
  }
}

/** Outside of the queries in it. */
function hasOwnParameters(node: ast.AnyNode): boolean {
  if (node.kind === 'ParameterReference') return true
  return node.kind !== 'DerivedTable' && children(node).some(hasOwnParameters)
}
