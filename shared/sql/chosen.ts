/** Which branches of CASE and IF are taken for values of parameters, as far as parameters and constants alone decide it. */
import { nameKey } from './relations.ts'
import type * as ast from './tree.ts'
import { calledName, children } from './walk.ts'

/** Of parameters, by the keys of their names. */
export type Values = ReadonlyMap<string, unknown>

/** What has to hold for a branch to be taken; `is: false` = the condition is FALSE or NULL. */
export interface Taken {
  condition: ast.Expression
  is: boolean
}

/** The nodes directly under one, each with what has to hold for it to be computed. */
export function waysIn(node: ast.AnyNode): { node: ast.AnyNode; taken: Taken[] }[] {
  if (node.kind === 'Call' && calledName(node) === 'IF' && node.arguments.length === 3) {
    const [condition, then, otherwise] = node.arguments as [ast.Expression, ast.Expression, ast.Expression]
    return [
      { node: condition, taken: [] },
      { node: then, taken: [{ condition, is: true }] },
      { node: otherwise, taken: [{ condition, is: false }] },
    ]
  }
  if (node.kind !== 'Case') return children(node).map(child => ({ node: child, taken: [] }))
  const before: Taken[] = []
  const ways = node.branches.flatMap(({ when, then }) => {
    const condition: ast.Expression = node.operand
      ? { kind: 'Binary', operator: '=', left: node.operand, right: when, at: when.at }
      : when
    const taken = [...before, { condition, is: true }]
    before.push({ condition, is: false })
    return [
      { node: condition, taken: [] },
      { node: then, taken },
    ]
  })
  return node.otherwise ? [...ways, { node: node.otherwise, taken: before }] : ways
}

/** Whether all may hold: what is not known may. */
export function mayHold(taken: Taken[], values: Values): boolean {
  return taken.every(({ condition, is }) => {
    const value = valueOf(condition, values)
    return value === undefined || (value === true) === is
  })
}

type Value = string | number | boolean | null | undefined

/** Of a condition, or a part of one; `undefined` = not known. */
function valueOf(node: ast.Expression, values: Values): Value {
  const read = readers[node.kind] as
    ((node: ast.Expression, of: (part: ast.Expression) => Value, values: Values) => Value) | undefined
  return read?.(node, part => valueOf(part, values), values)
}

const readers: {
  [Kind in ast.Expression['kind']]?: (
    node: Extract<ast.Expression, { kind: Kind }>,
    of: (part: ast.Expression) => Value,
    values: Values,
  ) => Value
} = {
  Binary: ({ operator, left, right }, of) => operators[operator]?.(of(left), of(right)),
  In: ({ not: isNot, operand, among }, of) => {
    if (among.kind !== 'InList') return undefined
    const found = either(among.items.map(item => equal(of(operand), of(item))))
    return isNot ? not(found) : found
  },
  Is: ({ not: isNot, operand, what }, of) => {
    const value = of(operand)
    return what !== 'NULL' || value === undefined ? undefined : (value === null) !== isNot
  },
  Literal: node => literals[node.literal]?.(node),
  ParameterReference: ({ name }, _, values) => values.get(nameKey(name)) as Value,
  Parenthesized: ({ expression }, of) => of(expression),
  Unary: ({ operator, operand }, of) => (operator === 'NOT' ? not(of(operand)) : undefined),
}

const literals: Partial<Record<ast.Literal['literal'], (literal: ast.Literal) => Value>> = {
  BOOL: ({ text }) => text.toUpperCase() === 'TRUE',
  INTEGER: ({ text }) => Number(text),
  NULL: () => null,
  STRING: ({ value }) => value,
}

const operators: Partial<Record<ast.BinaryOperator, (left: Value, right: Value) => Value>> = {
  '=': equal,
  '!=': (left, right) => not(equal(left, right)),
  '<>': (left, right) => not(equal(left, right)),
  AND: (left, right) => not(either([not(left), not(right)])),
  OR: (left, right) => either([left, right]),
}

function equal(left: Value, right: Value): Value {
  if (left === undefined || right === undefined) return undefined
  return left === null || right === null ? null : left === right
}

function not(value: Value): Value {
  return typeof value === 'boolean' ? !value : value
}

function either(all: Value[]): Value {
  return [true, undefined, null, false].find(value => all.includes(value))
}
