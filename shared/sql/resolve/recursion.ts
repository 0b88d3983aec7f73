/**
 * Where a common table may read itself
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/query-syntax#recursive_cte_rules).
 */
import { nameKey, outerReferences } from '../relations.ts'
import type { AnyNode, CommonTable, Query, SetOperation, TableReference, With } from '../tree.ts'
import { children, descendantsHere } from '../walk.ts'
import { isOverRows } from './calls.ts'
import type { Faults } from './resolution.ts'

/** A recursive table: rows to begin with, and a query that makes the next rows of the last ones. */
interface Recursion {
  with: With | null
  union: SetOperation
}

/**
 * The parts of a table that reads itself; a fault is one that does so elsewhere than in FROM of its second query.
 * @returns `null` where it is no such union, which is a fault, too
 */
export function recursionOf(context: Faults, { name, query: whole }: CommonTable): Recursion | null {
  let query = whole
  while (query.body.kind === 'QueryInParentheses' && !query.with && !isCut(query)) query = query.body.query
  const { with: common, body } = query
  if (body.kind !== 'SetOperation' || !body.operator.startsWith('UNION') || body.byName) {
    context.fault(name, `${name.name} reads itself, so it must be a query UNION ALL one that reads it`)
    return null
  }
  const isOwn = ({ path: [first, ...more] }: TableReference) =>
    more.length === 0 && nameKey(first!.name) === nameKey(name.name)
  const own = outerReferences(query).filter(isOwn)
  const ways = own.map(reference => wayTo(query, reference)!)
  if (ways.some(way => way.includes(body.left)))
    context.fault(name, `${name.name} must not read itself before UNION`)
  const [way = []] = ways
  if (ways.length > 1) context.fault(name, `${name.name} must read itself once`)
  for (const [at, node] of way.entries()) {
    const why = node === body ? null : reasons[node.kind]?.(node as never, way[at + 1]!)
    if (why) context.fault(node, `${name.name} reads itself ${why}`)
  }
  return { with: common, union: body }
}

/** The nodes from `node` down to one under it. */
function wayTo(node: AnyNode, target: AnyNode): AnyNode[] | null {
  if (node === target) return [node]
  for (const child of children(node)) {
    const way = wayTo(child, target)
    if (way) return [node, ...way]
  }
  return null
}

const inExpression = () => 'in an expression: read it in FROM'

/** Why a part of the query must not hold the recursive table, which is in its part `child`; `null` where it may. */
const reasons: {
  [Kind in AnyNode['kind']]?: (node: Extract<AnyNode, { kind: Kind }>, child: AnyNode) => string | null
} = {
  Query: query => (isCut(query) ? 'where rows are sorted or cut: do that outside' : null),
  Select: node => {
    const { distinct, groupBy, having, qualify } = node
    const isGrouped = distinct || groupBy || having || qualify || [...descendantsHere(node)].some(isOverRows)
    return isGrouped ? 'where rows are grouped: group them outside' : null
  },
  SetOperation: ({ operator }) => (operator.endsWith('DISTINCT') ? `in ${operator}: do that outside` : null),
  Join: ({ type, left, right }, child) => {
    const isFilled =
      type === 'FULL' || (type === 'LEFT' && child === right) || (type === 'RIGHT' && child === left)
    return isFilled ? `on the side of a ${type} JOIN whose rows may be missing` : null
  },
  Pivot: () => 'in PIVOT: do that outside',
  CommonTable: () => 'in a WITH inside: read it in FROM',
  ScalarSubquery: inExpression,
  ArraySubquery: inExpression,
  Exists: inExpression,
  InQuery: inExpression,
}

function isCut({ orderBy, limit }: Query): boolean {
  return orderBy.length > 0 || limit !== null
}
