/** The types of expressions, and what the names in them stand for. */
import { firstTwice } from '../relations.ts'
import type * as ast from '../tree.ts'
import type { ScalarName } from '../types.ts'
import { call } from './calls.ts'
import { castable, coerce, condition, formatted, noSignature, unify } from './coercion.ts'
import { arrayLiteral, interval, literal, struct, structLiteral } from './literals.ts'
import { binary, comparison, isNull, nullOperand, unary } from './operators.ts'
import type { Context, Scope } from './resolution.ts'
import { elementVariable, fieldOf, pathValue, unknownPath } from './scope.ts'
import {
  anything,
  arrayOf,
  coerces,
  commonType,
  comparable,
  elementOf,
  firm,
  isUnknown,
  mayBe,
  orderable,
  type Type,
  typeName,
  type Value,
  valueOf,
} from './types.ts'
import { fieldsOfArray, noField } from './messages.ts'

/** Resolves an expression where it stands. */
export function expression(context: Context, node: ast.Expression, scope: Scope): Value {
  const rule = rules[node.kind] as Rule<ast.Expression>
  return rule(context, node, scope)
}

type Rule<Node> = (context: Context, node: Node, scope: Scope) => Value

const rules: { [Node in ast.Expression as Node['kind']]: Rule<Node> } = {
  Literal: (context, node) => literal(context, node),
  TypedLiteral: (_, { type }) => valueOf(type),
  IntervalLiteral: interval,
  ParameterReference(context, node) {
    const type = context.parameters.get(node.name.toLowerCase())
    return type
      ? { type, origin: 'parameter' }
      : context.fault(node, `Query parameter '${node.name}' not found`)
  },
  Path: path,
  FieldAccess: (context, { of, field }, scope) => fieldOf(context, context.value(of, scope), field),
  Subscript: subscript,
  ArrayLiteral: arrayLiteral,
  StructLiteral: structLiteral,
  Tuple: (context, { items }, scope) =>
    struct(items.map(item => ({ name: null, value: context.value(item, scope) }))),
  Parenthesized: (context, node, scope) => context.value(node.expression, scope),
  Unary: unary,
  Binary: binary,
  Like: like,
  LikeAny: likeAny,
  In: inOperator,
  Between(context, node, scope) {
    const nodes = [node.operand, node.low, node.high]
    const values = nodes.map(each => context.value(each, scope))
    if (!values.every(({ type }) => orderable(type))) noSignature(context, node, 'operator BETWEEN', values)
    else unify(context, node, 'operator BETWEEN', values, nodes)
    return valueOf('BOOL')
  },
  Is(context, { operand, what }, scope) {
    if (what === 'NULL') context.value(operand, scope)
    else condition(context, operand, `operator IS ${what}`, scope)
    return valueOf('BOOL')
  },
  IsDistinctFrom(context, node, scope) {
    const sides = [node.left, node.right]
    const values = sides.map(side => context.value(side, scope))
    unify(context, node, 'operator IS DISTINCT FROM', values, sides)
    return valueOf('BOOL')
  },
  Case: caseExpression,
  Cast: cast,
  Extract: extract,
  Exists(context, { query }, scope) {
    context.query(query, scope, scope.ctes)
    return valueOf('BOOL')
  },
  ScalarSubquery: (context, node, scope) => ({
    type: firm(onlyColumn(context, node, scope, 'Scalar subquery')),
  }),
  ArraySubquery(context, node, scope) {
    const type = onlyColumn(context, node, scope, 'ARRAY subquery')
    if (type?.kind !== 'ARRAY') return { type: arrayOf(type) }
    return context.fault(node, 'ARRAY subquery of arrays: an array cannot hold arrays, only structs of them')
  },
  Call: call,
  WithExpression: withExpression,
  NamedArgument: (context, node, scope) => context.value(node.value, scope),
  Lambda: lambda,
}

function onlyColumn(
  context: Context,
  node: ast.Node & { query: ast.Query },
  scope: Scope,
  what: string,
): Type | null {
  const { columns, open } = context.query(node.query, scope, scope.ctes)
  const [column, ...more] = columns
  if (column && more.length === 0) return open === null ? column.type : anything
  if (open === null || more.length > 0)
    context.fault(node, `${what} cannot have more than one column unless using SELECT AS STRUCT`)
  return anything
}

const currentTimes = /^CURRENT_(DATE|DATETIME|TIME|TIMESTAMP)$/i

function path(context: Context, node: ast.Path, scope: Scope): Value {
  const value = pathValue(context, node, scope)
  if (value) return value
  const [{ name }, ...fields] = node.parts as [ast.Identifier, ...ast.Identifier[]]
  // A call without parentheses, where nothing else has its name.
  const time = fields.length === 0 ? currentTimes.exec(name)?.[1] : undefined
  return time ? valueOf(time.toUpperCase() as ScalarName) : unknownPath(context, scope, node.parts)
}

/** `array[OFFSET(n)]` and the like, `json['key']`, and a STRUCT's field by its position. */
function subscript(context: Context, node: ast.Subscript, scope: Scope): Value {
  const of = context.value(node.of, scope)
  const index = context.value(node.index, scope)
  const { type } = of
  if (isUnknown(type)) return { type: anything }
  if (type?.kind === 'STRUCT') return fieldAt(context, node, type.fields)
  if (type?.kind === 'JSON') {
    if (!node.mode && mayBe(index.type, 'INT64', 'STRING')) return valueOf('JSON')
    return context.fault(node, "An element of a JSON value is written json[0] or json['name']")
  }
  if (node.index.kind === 'Literal' && node.index.literal === 'STRING') return keyOf(context, node, of)
  if (type?.kind !== 'ARRAY' || !mayBe(index.type, 'INT64'))
    return noSignature(context, node, 'operator []', [of, index])
  return { type: type.element }
}

/** For `metadata['request']`, as other dialects have it: a field is written behind a dot. */
function keyOf(context: Context, { of, index, at }: ast.Subscript, { type }: Value): Value {
  const field = { name: index.kind === 'Literal' ? index.value : '', quoted: true, at }
  const records = elementOf(type)
  if (of.kind === 'Path' && records?.kind === 'STRUCT')
    return context.fault(field, () => fieldsOfArray(records, [...of.parts, field], [field]))
  return context.fault(field, noField(type, field))
}

function fieldAt(context: Context, node: ast.Subscript, fields: { type: Type }[]): Value {
  const { index, mode } = node
  if (mode?.startsWith('SAFE_'))
    return context.fault(node, `${mode} is for ARRAYs; of a STRUCT write the field's name`)
  if (index.kind !== 'Literal' || index.literal !== 'INTEGER')
    return context.fault(node, 'A STRUCT subscript must be a literal integer')
  const field = fields[Number(index.text) - (mode === 'ORDINAL' ? 1 : 0)]
  return field ? { type: field.type } : context.fault(node, `STRUCT has no field at ${Number(index.text)}`)
}

function like(context: Context, node: ast.Like, scope: Scope): Value {
  const sides = [node.left, node.right].map(side => context.value(side, scope))
  const none = [node.left, node.right].find(isNull)
  if (none) return nullOperand(context, none, 'LIKE')
  likeSides(context, node, [node.left, node.right], sides)
  if (node.right.kind === 'Literal' && /(?<!\\)(?:\\\\)*\\$/.test(node.right.value))
    context.fault(node.right, 'A LIKE pattern ends with a backslash')
  return valueOf('BOOL')
}

function likeSides(context: Context, node: ast.Like, nodes: ast.Expression[], sides: Value[]): void {
  const kind = (['STRING', 'BYTES'] as const).find(kind => sides.every(side => coerces(side, { kind })))
  if (!kind) noSignature(context, node, 'operator LIKE', sides)
  else for (const [at, side] of sides.entries()) coerce(context, nodes[at]!, side, { kind })
}

function likeAny(context: Context, node: ast.LikeAny, scope: Scope): Value {
  const { among, quantifier } = node
  const operand = context.value(node.operand, scope)
  const patterns = among.kind === 'InList' ? among.items.map(item => context.value(item, scope)) : []
  if (among.kind === 'InUnnest') {
    const array = context.value(among.array, scope)
    if (!mayBe(array.type, 'ARRAY')) return noSignature(context, node, 'operator LIKE UNNEST', [array])
    patterns.push({ type: elementOf(array.type) })
  }
  for (const pattern of patterns)
    if (![operand, pattern].every(side => coerces(side, { kind: 'STRING' })))
      noSignature(context, node, `operator LIKE ${quantifier}`, [operand, pattern])
  const nodes = [node.operand, ...(among.kind === 'InList' ? among.items : [])]
  for (const each of nodes) coerce(context, each, context.value(each, scope), { kind: 'STRING' })
  return valueOf('BOOL')
}

function inOperator(context: Context, node: ast.In, scope: Scope): Value {
  const operand = context.value(node.operand, scope)
  const { among } = node
  if (among.kind === 'InList') {
    const nodes = [node.operand, ...among.items]
    const values = [operand, ...among.items.map(item => context.value(item, scope))]
    if (comparison(values)) unify(context, node, 'operator IN', values, nodes)
    else noSignature(context, node, 'operator IN', values)
  } else if (among.kind === 'InUnnest') {
    const array = context.value(among.array, scope)
    const item: Value = { ...array, type: elementOf(array.type), empty: false }
    const type = item.type && commonType([operand, item])
    const isList = isListed(among)
    const isFit = type?.kind === 'JSON' ? !isList : comparable(type ?? null)
    const isWrong = type === undefined || item.type === null || !isFit
    if (isWrong && isList) noSignature(context, node, 'operator IN', [operand, item])
    else if (isWrong) noSignature(context, node, 'operator IN UNNEST', [operand, array])
    else if (type) coerce(context, node.operand, operand, type)
    if (isList && !isWrong) {
      const nodes = [node.operand, ...among.array.items]
      const values = nodes.map(each => context.value(each, scope))
      const type = commonType(values)
      if (type) for (const [at, each] of nodes.entries()) coerce(context, each, values[at]!, type)
    }
  } else {
    const { columns, open } = context.query(among.query, scope, scope.ctes)
    const [column] = columns
    if (columns.length > 1 || (columns.length < 1 && open === null))
      context.fault(among.query, 'Subquery of type IN must have one column')
    else if (column) unify(context, node, 'operator IN', [operand, { type: column.type }], [node.operand])
  }
  return valueOf('BOOL')
}

/** Whether an array is written out, which makes it a list. */
export function isListed(among: ast.In['among']): among is Listed {
  const array = among.kind === 'InUnnest' ? among.array : null
  return array?.kind === 'ArrayLiteral' && !array.type && array.items.length > 0
}

type Listed = ast.In['among'] & { array: ast.ArrayLiteral }

function caseExpression(context: Context, node: ast.Case, scope: Scope): Value {
  const tests = node.branches.map(branch => branch.when)
  const results = [...node.branches.map(branch => branch.then), ...(node.otherwise ? [node.otherwise] : [])]
  if (node.operand) {
    const nodes = [node.operand, ...tests]
    const values = nodes.map(test => context.value(test, scope))
    const type = unify(context, node, 'CASE', values, nodes)
    if (type?.kind === 'ARRAY') noSignature(context, node, 'CASE', values)
  } else for (const test of tests) condition(context, test, 'CASE', scope)
  const values = results.map(result => context.value(result, scope))
  return { type: unify(context, node, 'CASE', values, results) }
}

function cast(context: Context, node: ast.Cast, scope: Scope): Value {
  const value = context.value(node.operand, scope)
  for (const word of [node.format, node.zone])
    if (word && !asText(context, word, scope)) context.fault(word, 'FORMAT and AT TIME ZONE take a STRING')
  const pair = `${value.type?.kind ?? 'STRING'}>${node.type.kind}`
  if (node.format && !isUnknown(value.type) && !formatted.test(pair))
    context.fault(
      node,
      `FORMAT is not allowed for a cast from ${typeName(value.type)} to ${typeName(node.type)}`,
    )
  else if (node.zone && !isUnknown(value.type) && !pair.includes('TIMESTAMP'))
    context.fault(node, 'AT TIME ZONE is for casts from and to TIMESTAMP')
  else if (!node.format && !castable(value, node.type))
    context.fault(node, `Invalid cast from ${typeName(value.type)} to ${typeName(node.type)}`)
  return { type: node.type }
}

function asText(context: Context, node: ast.Expression, scope: Scope): boolean {
  const value = context.value(node, scope)
  coerce(context, node, value, { kind: 'STRING' })
  return coerces(value, { kind: 'STRING' })
}

const wholes = ['DATE', 'DATETIME', 'TIME']
const timeParts = ['HOUR', 'MINUTE', 'SECOND', 'MILLISECOND', 'MICROSECOND']
const intervalParts = ['YEAR', 'MONTH', 'DAY', ...timeParts]

function extract(context: Context, node: ast.Extract, scope: Scope): Value {
  const { type } = context.value(node.operand, scope)
  const { part, zone } = node
  const isWhole = wholes.includes(part)
  if (zone && (!asText(context, zone, scope) || !mayBe(type, 'TIMESTAMP', 'INTERVAL')))
    context.fault(zone, 'AT TIME ZONE takes a STRING, and is for a TIMESTAMP')
  if (isUnknown(type)) return valueOf(isWhole ? (part as ScalarName) : 'INT64')
  if (type?.kind === 'INTERVAL') {
    if (!intervalParts.includes(part) || zone)
      context.fault(node, `EXTRACT cannot take ${part} from an INTERVAL`)
    return valueOf('INT64')
  }
  const kind = type?.kind
  const isTime = timeParts.includes(part)
  const hasBoth = kind === 'TIMESTAMP' || kind === 'DATETIME'
  const has = hasBoth || (kind === 'TIME' ? isTime : kind === 'DATE' && !isTime && !isWhole)
  if (!has) context.fault(node, `EXTRACT cannot take ${part} from a ${kind ?? 'NULL'}`)
  return valueOf(isWhole ? (part as ScalarName) : 'INT64')
}

function withExpression(context: Context, { variables, body }: ast.WithExpression, scope: Scope): Value {
  const twice = firstTwice(variables, ({ alias }) => alias!.name)
  if (twice) context.fault(twice, `WITH names ${twice.alias!.name} twice`)
  const named = variables.reduce((inner, item): Scope => {
    const { type } = context.value(item.expression, inner)
    const element = { name: item.alias!.name, type, from: { kind: 'item' as const, item } }
    return {
      ...scope,
      variables: [elementVariable(element, null)],
      merged: [],
      aliases: null,
      outer: inner,
      isWith: true,
    }
  }, scope)
  return context.value(body, named)
}

/** No function here takes one; its names are not mistaken for columns. */
function lambda(context: Context, node: ast.Lambda, scope: Scope): Value {
  const variables = node.parameters.map(({ name }) =>
    elementVariable({ name, type: anything, from: { kind: 'node', node } }, null),
  )
  context.value(node.body, { ...scope, variables, merged: [], aliases: null, outer: scope, isWith: true })
  return { type: anything }
}
