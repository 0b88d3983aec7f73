/** Random expressions, as the parser gives them but for parentheses, which are left to the printer. */
import * as fc from 'fast-check'
import { binaryPrecedence, extractParts, intervalParts } from '../grammar.ts'
import * as tokens from './random-tokens.ts'
import type { AnyNode, BinaryOperator, Call, Expression, Identifier, Query } from '../tree.ts'

type Of<Kind extends AnyNode['kind']> = Extract<AnyNode, { kind: Kind }>

/** An arbitrary for a node: its kind, its offset, and the rest. */
export function node<Kind extends AnyNode['kind']>(
  kind: Kind,
  rest: { [Key in Exclude<keyof Of<Kind>, 'kind' | 'at'>]: fc.Arbitrary<Of<Kind>[Key]> },
): fc.Arbitrary<Of<Kind>> {
  const model = { ...rest, kind: fc.constant(kind), at: fc.constant(0) }
  return fc.record(model) as unknown as fc.Arbitrary<Of<Kind>>
}

/** A few, of which there is at least one unless said otherwise. */
export function few<Item>(item: fc.Arbitrary<Item>, minLength = 1): fc.Arbitrary<Item[]> {
  return fc.array(item, { minLength, maxLength: minLength + 1 })
}

/** `(SELECT ...)` alone in parentheses is a query, so it is never the only item of a list. */
function list(item: fc.Arbitrary<Expression>): fc.Arbitrary<Expression[]> {
  return few(item).filter(([first, second]) => second !== undefined || first?.kind !== 'ScalarSubquery')
}

export const none = fc.constant(null)
export const empty: fc.Arbitrary<never[]> = fc.constant([])
const parts = (names: ReadonlySet<string>) => fc.constantFrom(...names)

export function leaf(): fc.Arbitrary<Expression> {
  return fc.oneof(tokens.literal, tokens.typedLiteral, tokens.parameter, node('Path', { parts: tokens.path }))
}

export function operation(
  of: fc.Arbitrary<Expression>,
  query: fc.Arbitrary<Query>,
): fc.Arbitrary<Expression>[] {
  const not = fc.boolean()
  const operators = [...binaryPrecedence.keys()] as BinaryOperator[]
  return [
    node('Unary', { operator: fc.constantFrom('NOT', '-', '+', '~'), operand: of }),
    node('Binary', { operator: fc.constantFrom(...operators), left: of, right: of }),
    node('Like', { not, left: of, right: of }),
    node('LikeAny', {
      not,
      quantifier: fc.constantFrom('ANY', 'ALL'),
      operand: of,
      among: fc.oneof(node('InList', { items: list(of) }), node('InUnnest', { array: of })),
    }),
    node('IsDistinctFrom', { not, left: of, right: of }),
    node('Is', { not, operand: of, what: fc.constantFrom('NULL', 'TRUE', 'FALSE', 'UNKNOWN') }),
    node('Between', { not, operand: of, low: of, high: of }),
    node('In', {
      not,
      operand: of,
      among: fc.oneof(
        node('InList', { items: list(of) }),
        node('InQuery', { query }),
        node('InUnnest', { array: of }),
      ),
    }),
    node('FieldAccess', { of, field: tokens.fieldName }),
    node('Subscript', {
      of,
      mode: fc.option(fc.constantFrom('OFFSET', 'ORDINAL', 'SAFE_OFFSET', 'SAFE_ORDINAL')),
      index: of,
    }),
  ]
}

export function construction(
  of: fc.Arbitrary<Expression>,
  query: fc.Arbitrary<Query>,
): fc.Arbitrary<Expression>[] {
  // oxlint-disable-next-line unicorn/no-thenable -- an expression, never a function
  const branch = node('CaseBranch', { when: of, then: of })
  const column = node('SelectColumn', { expression: of, alias: fc.option(tokens.identifier) })
  const named = node('SelectColumn', { expression: of, alias: tokens.identifier })
  const to = fc.option(parts(intervalParts))
  return [
    node('Case', { operand: fc.option(of), branches: few(branch), otherwise: fc.option(of) }),
    node('Cast', {
      safe: fc.boolean(),
      operand: of,
      type: tokens.type,
      format: fc.option(of),
      zone: fc.constant(null),
    }),
    node('Extract', { part: parts(extractParts), operand: of, zone: fc.option(of) }),
    node('IntervalLiteral', { value: of, part: parts(intervalParts), to }),
    node('Exists', { query }),
    node('ArraySubquery', { query }),
    node('ScalarSubquery', { query }),
    node('ArrayLiteral', { keyword: fc.constant(false), type: none, items: few(of, 0) }),
    node('ArrayLiteral', {
      keyword: fc.constant(true),
      type: fc.option(tokens.elementType),
      items: few(of, 0),
    }),
    node('StructLiteral', { type: fc.option(tokens.struct), items: few(column, 0) }),
    node('Tuple', { items: few(of, 2) }),
    node('WithExpression', { variables: few(named), body: of }),
  ]
}

const functionName: fc.Arbitrary<Identifier[]> = fc.oneof(
  fc.constantFrom('IF', 'left', 'GROUPING', 'f').map(name => [{ name, quoted: false, at: 0 }]),
  tokens.path,
)

export function call(of: fc.Arbitrary<Expression>): fc.Arbitrary<Call> {
  const argument = fc.oneof(
    { weight: 4, arbitrary: of },
    node('NamedArgument', { name: tokens.identifier, value: of }),
    node('Lambda', { parameters: few(tokens.identifier), body: of }),
  )
  const extreme = node('HavingExtreme', { extreme: fc.constantFrom('MAX', 'MIN'), expression: of })
  const over = fc.option(fc.oneof(tokens.identifier, window(of)))
  const bare = { nulls: none, having: none, orderBy: empty, limit: none, over, name: functionName }
  const no = fc.constant(false)
  return fc.oneof(
    node('Call', { ...bare, star: fc.boolean(), distinct: no, arguments: empty }),
    node('Call', {
      name: functionName,
      star: no,
      distinct: fc.boolean(),
      arguments: few(argument),
      nulls: fc.option(fc.constantFrom('IGNORE', 'RESPECT')),
      having: fc.option(extreme),
      orderBy: few(orderItem(of), 0),
      limit: fc.option(tokens.count),
      over,
    }),
  )
}

export function orderItem(of: fc.Arbitrary<Expression>) {
  return node('OrderItem', {
    expression: of,
    direction: fc.option(fc.constantFrom('ASC', 'DESC')),
    nulls: fc.option(fc.constantFrom('FIRST', 'LAST')),
  })
}

export function window(of: fc.Arbitrary<Expression>) {
  const bound = fc.oneof(
    node('FrameBound', {
      bound: fc.constantFrom('UNBOUNDED PRECEDING', 'UNBOUNDED FOLLOWING', 'CURRENT ROW'),
      count: none,
    }),
    node('FrameBound', { bound: fc.constantFrom('PRECEDING', 'FOLLOWING'), count: tokens.count }),
  )
  const frame = node('Frame', { unit: fc.constantFrom('ROWS', 'RANGE'), start: bound, end: fc.option(bound) })
  return node('Window', {
    base: fc.option(tokens.identifier),
    partitionBy: few(of, 0),
    orderBy: few(orderItem(of), 0),
    frame: fc.option(frame),
  })
}
