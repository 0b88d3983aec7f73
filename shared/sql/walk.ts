import type { AnyNode, Call, Expression } from './tree.ts'

const kinds: ReadonlySet<string> = new Set(
  `ArrayLiteral ArraySubquery Between Binary Call Case CaseBranch Cast CommonTable DerivedTable Exists Extract
  FieldAccess Frame FrameBound GroupBy HavingExtreme In InList InQuery InUnnest IntervalLiteral Is IsDistinctFrom Join
  JoinInParentheses Lambda Like LikeAny Literal NamedArgument NamedWindow OrderItem ParameterReference Parenthesized Path
  Pivot Query QueryInParentheses ScalarSubquery Select SelectColumn SelectStar SetOperation StructLiteral Subscript
  TableReference Tuple TypedLiteral Unary UnnestReference Unpivot UnpivotGroup Window With WithExpression`.split(
    /\s+/,
  ),
)

/**
 * Nodes directly under this one, in the order of the text, which is that of its fields: none of them can be left out.
 * Throws for a kind that is not in the tree's grammar.
 */
export function children(node: AnyNode): AnyNode[] {
  if (!kinds.has(node.kind)) return unknownKind(node as never)
  const found: AnyNode[] = []
  for (const key in node) {
    const value: unknown = node[key as keyof AnyNode]
    if (isNode(value)) found.push(value)
    else if (Array.isArray(value)) for (const item of value) if (isNode(item)) found.push(item)
  }
  return found
}

/** Names have no kind, and types no offset. */
export function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && 'kind' in value && 'at' in value
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

/** What stands in a query or an expression itself, and in no query inside it. */
export function* descendantsHere(node: AnyNode): Generator<AnyNode> {
  const waiting = [node]
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next
    for (const child of children(next).reverse()) if (child.kind !== 'Query') waiting.push(child)
  }
}

/** Whether an expression is the same in all rows. */
export function isConstant(node: AnyNode): boolean {
  return !/^(Path|Query|Lambda)$/.test(node.kind) && children(node).every(isConstant)
}

/** Height of the tree: how many nodes lie on its longest branch. */
export function heightOf(root: AnyNode): number {
  let height = 0
  for (let level = [root]; level.length > 0; level = level.flatMap(children)) height++
  return height
}

/** Every `@name`, with the offset where it first stands. */
export function parameterNames(root: AnyNode): Map<string, number> {
  const names = new Map<string, number>()
  for (const node of descendants(root)) {
    if (node.kind === 'ParameterReference' && !names.has(node.name)) names.set(node.name, node.at)
  }
  return names
}

/** The conditions that AND joins. */
export function conjuncts(condition: Expression | null): Expression[] {
  if (condition?.kind === 'Parenthesized') return conjuncts(condition.expression)
  if (condition?.kind === 'Binary' && condition.operator === 'AND') {
    return [...conjuncts(condition.left), ...conjuncts(condition.right)]
  }
  return condition ? [condition] : []
}

/** The name of a called function in capitals: `SUBSTR`, `SAFE.SUBSTR`, `NET.HOST`. */
export function calledName({ name }: Call): string {
  return name.map(part => part.name.toUpperCase()).join('.')
}
