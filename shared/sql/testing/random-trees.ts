/** Random queries, as the parser gives them but for parentheses, which are left to the printer. */
import * as fc from 'fast-check'
import {
  call,
  construction,
  empty,
  few,
  leaf,
  node,
  none,
  operation,
  orderItem,
  window,
} from './random-expressions.ts'
import * as tokens from './random-tokens.ts'
import type {
  ByName,
  Expression,
  From,
  Join,
  Query,
  QueryBody,
  Select,
  SelectItem,
  SetOperator,
} from '../tree.ts'

/** One measure of depth for queries, FROM and expressions, so that they do not multiply. */
const bounded = { maxDepth: 4, depthIdentifier: 'tree' }

const alias = fc.option(tokens.identifier)

function selectItem(of: fc.Arbitrary<Expression>): fc.Arbitrary<SelectItem> {
  const replacement = node('SelectColumn', { expression: of, alias: tokens.identifier })
  return fc.oneof(
    { weight: 3, arbitrary: node('SelectColumn', { expression: of, alias }) },
    node('SelectStar', {
      of: fc.option(of),
      except: few(tokens.identifier, 0),
      rename: fc.constant([]),
      replace: few(replacement, 0),
    }),
  )
}

function select(of: fc.Arbitrary<Expression>, from: fc.Arbitrary<From>): fc.Arbitrary<Select> {
  const grouping = fc.oneof(
    node('GroupBy', { grouping: fc.constant('ALL'), items: empty }),
    node('GroupBy', { grouping: fc.constantFrom('LIST', 'ROLLUP', 'CUBE', 'GROUPING SETS'), items: few(of) }),
  )
  return node('Select', {
    distinct: fc.boolean(),
    as: fc.option(fc.constantFrom('STRUCT', 'VALUE')),
    items: few(selectItem(of)),
    from: fc.option(from, { freq: 3 }),
    where: fc.option(of),
    groupBy: fc.option(grouping),
    having: fc.option(of),
    qualify: fc.option(of),
    windows: few(node('NamedWindow', { name: tokens.identifier, window: window(of) }), 0),
  })
}

const operators: SetOperator[] = [
  'UNION ALL',
  'UNION DISTINCT',
  'INTERSECT ALL',
  'INTERSECT DISTINCT',
  'EXCEPT ALL',
  'EXCEPT DISTINCT',
]

/** A chain of one operator, as without parentheses there is no other. */
function setOperation(operand: fc.Arbitrary<QueryBody>): fc.Arbitrary<QueryBody> {
  const byName = fc.record<ByName>({
    mode: fc.constantFrom('STRICT', 'INNER', 'LEFT', 'FULL'),
    on: few(tokens.identifier, 0),
  })
  return fc
    .tuple(fc.constantFrom(...operators), fc.option(byName), few(operand, 2))
    .map(([operator, byName, operands]) =>
      operands.reduce((left, right) => ({ kind: 'SetOperation', operator, byName, left, right, at: 0 })),
    )
}

/** PIVOT and UNPIVOT of a table or a subquery. */
function turned(of: fc.Arbitrary<Expression>, query: fc.Arbitrary<Query>): fc.Arbitrary<From>[] {
  const table = fc.oneof(
    node('TableReference', { path: tokens.path, alias, offset: none }),
    node('DerivedTable', { query, alias }),
  )
  const items = few(node('SelectColumn', { expression: of, alias }))
  const columns = few(node('Path', { parts: tokens.path }))
  const label = fc.option(
    tokens.literal.filter(({ literal }) => literal === 'STRING' || literal === 'INTEGER'),
  )
  return [
    node('Pivot', { of: table, aggregates: items, by: of, values: items, alias }),
    node('Unpivot', {
      of: table,
      nulls: fc.option(fc.constantFrom('INCLUDE', 'EXCLUDE')),
      values: few(tokens.identifier),
      name: tokens.identifier,
      groups: few(node('UnpivotGroup', { columns, label })),
      alias,
    }),
  ]
}

/** A join of one of these types; those without a condition have none. */
function join(
  left: fc.Arbitrary<From>,
  right: fc.Arbitrary<From>,
  on: fc.Arbitrary<Expression>,
  conditional: Join['type'][],
  bare: Join['type'][],
): fc.Arbitrary<Join> {
  const type = fc.constantFrom(...conditional)
  return fc.oneof(
    node('Join', { type: fc.constantFrom(...bare), left, right, on: none, using: empty }),
    node('Join', { type, left, right, on, using: empty }),
    node('Join', { type, left, right, on: none, using: few(tokens.identifier) }),
  )
}

interface Tree {
  query: Query
  body: QueryBody
  operand: QueryBody
  select: Select
  expression: Expression
  item: From
  joined: Join
  from: From
}

type Tie = fc.LetrecTypedTie<Tree>

function query(tie: Tie): fc.Arbitrary<Query> {
  const common = node('CommonTable', { name: tokens.identifier, query: tie('query') })
  const clauses = node('With', { recursive: fc.boolean(), ctes: few(common) })
  const orderBy = few(orderItem(tie('expression')), 0)
  return fc.oneof(
    node('Query', {
      with: fc.option(clauses, { freq: 3 }),
      body: tie('body'),
      orderBy,
      limit: none,
      offset: none,
    }),
    node('Query', {
      with: none,
      body: tie('select'),
      orderBy,
      limit: tokens.count,
      offset: fc.option(tokens.count),
    }),
  )
}

function expression(tie: Tie): fc.Arbitrary<Expression> {
  const of = tie('expression')
  return fc.oneof(
    bounded,
    { weight: 20, arbitrary: leaf() },
    call(of),
    ...operation(of, tie('query')),
    ...construction(of, tie('query')),
  )
}

function item(tie: Tie): fc.Arbitrary<From> {
  return fc.oneof(
    bounded,
    node('TableReference', { path: tokens.path, alias, offset: alias }),
    node('UnnestReference', { array: tie('expression'), alias, offset: alias }),
    node('DerivedTable', { query: tie('query'), alias }),
    node('JoinInParentheses', { join: tie('joined') }),
    ...turned(tie('expression'), tie('query')),
  )
}

/** Without commas, as in parentheses. */
function joined(tie: Tie): fc.Arbitrary<Join> {
  const left = fc.oneof(bounded, tie('item'), tie('joined'))
  return join(left, tie('item'), tie('expression'), ['INNER', 'LEFT', 'RIGHT', 'FULL'], ['CROSS'])
}

/** With commas, and so without RIGHT and FULL. */
function from(tie: Tie): fc.Arbitrary<From> {
  const chain = join(tie('from'), tie('item'), tie('expression'), ['INNER', 'LEFT'], ['CROSS', 'COMMA'])
  return fc.oneof(bounded, tie('item'), tie('joined'), chain)
}

const trees = fc.letrec<Tree>((tie: Tie) => ({
  query: query(tie),
  body: fc.oneof(bounded, tie('select'), tie('operand'), setOperation(tie('operand'))),
  operand: fc.oneof(bounded, tie('select'), node('QueryInParentheses', { query: tie('query') })),
  select: select(tie('expression'), tie('from')),
  expression: expression(tie),
  item: item(tie),
  joined: joined(tie),
  from: from(tie),
}))

export const { query: randomQuery } = trees
