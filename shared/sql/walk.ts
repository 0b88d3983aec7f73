import type { AnyNode, Query } from './tree.ts'

/** Nodes directly under this one, in the order of the text. Throws for a kind that is not in the tree's grammar. */
export function children(node: AnyNode): AnyNode[] {
  return slots(node).filter(child => child !== null)
}

function slots(node: AnyNode): (AnyNode | null)[] {
  switch (node.kind) {
    case 'Query':
      return [node.with, node.body, ...node.orderBy, node.limit, node.offset]
    case 'With':
      return node.ctes
    case 'CommonTable':
    case 'QueryInParentheses':
    case 'DerivedTable':
    case 'InQuery':
    case 'Exists':
    case 'ArraySubquery':
    case 'ScalarSubquery':
      return [node.query]
    case 'SetOperation':
    case 'Binary':
    case 'Like':
    case 'IsDistinctFrom':
      return [node.left, node.right]
    case 'Select':
      return [...node.items, node.from, node.where, node.groupBy, node.having, node.qualify, ...node.windows]
    case 'SelectColumn':
    case 'HavingExtreme':
    case 'OrderItem':
    case 'Parenthesized':
      return [node.expression]
    case 'SelectStar':
      return [node.of, ...node.replace]
    case 'GroupBy':
    case 'InList':
    case 'ArrayLiteral':
    case 'StructLiteral':
    case 'Tuple':
      return node.items
    case 'UnnestReference':
    case 'InUnnest':
      return [node.array]
    case 'Join':
      return [node.left, node.right, node.on]
    case 'JoinInParentheses':
      return [node.join]
    case 'NamedWindow':
      return [node.window]
    case 'Window':
      return [...node.partitionBy, ...node.orderBy, node.frame]
    case 'Frame':
      return [node.start, node.end]
    case 'FrameBound':
      return [node.count]
    case 'TypedLiteral':
    case 'IntervalLiteral':
    case 'NamedArgument':
      return [node.value]
    case 'FieldAccess':
      return [node.of]
    case 'Subscript':
      return [node.of, node.index]
    case 'Unary':
    case 'Is':
      return [node.operand]
    case 'In':
      return [node.operand, node.among]
    case 'Between':
      return [node.operand, node.low, node.high]
    case 'Case':
      return [node.operand, ...node.branches, node.otherwise]
    case 'CaseBranch':
      return [node.when, node.then]
    case 'Cast':
      return [node.operand, node.format]
    case 'Extract':
      return [node.operand, node.zone]
    case 'Call':
      return [...node.arguments, node.having, ...node.orderBy, node.limit, windowOf(node.over)]
    case 'Lambda':
      return [node.body]
    case 'TableReference':
    case 'Literal':
    case 'ParameterReference':
    case 'Path':
      return []
    default:
      return unknownKind(node)
  }
}

/** OVER names a window or defines one; an identifier is no node. */
function windowOf(over: Extract<AnyNode, { kind: 'Call' }>['over']): AnyNode | null {
  return over && 'kind' in over ? over : null
}

/** The default of a switch over kinds: it does not compile if a kind is missing, and throws for a tree made by hand. */
export function unknownKind(node: never): never {
  throw new Error(`${(node as AnyNode).kind} is not a kind of node`)
}

/** This node and all under it, each before its children. */
export function* descendants(node: AnyNode): Generator<AnyNode> {
  const waiting = [node]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next
    waiting.push(...children(next).reverse())
  }
}

/** Height of the tree: how many nodes lie on its longest branch. */
export function heightOf(root: AnyNode): number {
  let height = 0
  for (let level = [root]; level.length > 0; level = level.flatMap(children)) height++
  return height
}

/** Every `@name`, with the offset where it first stands. */
export function parameterNames(query: Query): Map<string, number> {
  const names = new Map<string, number>()
  for (const node of descendants(query)) {
    if (node.kind === 'ParameterReference' && !names.has(node.name)) names.set(node.name, node.at)
  }
  return names
}
