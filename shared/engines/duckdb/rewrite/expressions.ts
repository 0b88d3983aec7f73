/** Expressions: which function rewrites which kind, and the kinds that have no file of their own. */
import { nameKey } from '../../../sql/relations.ts'
import type { Expression, Identifier, Path, Subscript, WithExpression } from '../../../sql/tree.ts'
import type { StructType } from '../../../sql/types.ts'
import { repeated } from './repeats.ts'
import { cast } from './casts.ts'
import { noSignature } from './no-signature.ts'
import { type Context, elementOf, raise, type Scope, structField, type Typed, typed } from './context.ts'
import { extract } from './dates-and-times.ts'
import { caseExpression } from './functions/conditions.ts'
import { call } from './functions/calls.ts'
import { intervalLiteral } from './intervals.ts'
import {
  arrayLiteral,
  literal,
  literalInteger,
  parameter,
  structLiteral,
  tuple,
  typedLiteral,
} from './literals.ts'
import { between, binary, inOperator, is, isDistinctFrom, like, likeAny, unary } from './operators.ts'
import { fieldOf, fieldOfArray, findPath, jsonKey, noField, unknownName } from './scope.ts'
import { arraySubquery, exists, scalarSubquery } from './subqueries.ts'

type Rewriter<Kind> = (context: Context, node: Extract<Expression, { kind: Kind }>, scope: Scope) => Typed

const rewriters: { [Kind in Expression['kind']]: Rewriter<Kind> } = {
  ArrayLiteral: arrayLiteral,
  ArraySubquery: arraySubquery,
  Between: between,
  Binary: binary,
  Call: call,
  Case: caseExpression,
  Cast: cast,
  Exists: exists,
  Extract: extract,
  FieldAccess: (context, node, scope) => fieldOf(context, context.expression(node.of, scope), node.field),
  In: inOperator,
  IntervalLiteral: intervalLiteral,
  Is: is,
  IsDistinctFrom: isDistinctFrom,
  Lambda(context, node) {
    throw context.unsupported(node, 'A lambda here')
  },
  Like: like,
  LikeAny: likeAny,
  Literal: literal,
  NamedArgument(context, node) {
    throw context.unsupported(node, `A named argument (${node.name.name} =>)`)
  },
  ParameterReference: parameter,
  Parenthesized: (context, node, scope) => context.expression(node.expression, scope),
  Path: path,
  ScalarSubquery: scalarSubquery,
  StructLiteral: structLiteral,
  Subscript: subscript,
  Tuple: tuple,
  TypedLiteral: typedLiteral,
  Unary: unary,
  WithExpression: withExpression,
}

/** An expression in DuckDB SQL with its type. Throws SqlError, or UnsupportedError for what DuckDB cannot do. */
export function expression(context: Context, node: Expression, scope: Scope): Typed {
  const rewrite = rewriters[node.kind] as Rewriter<Expression['kind']>
  const value = scope.keys?.get(node) ?? rewrite(context, node, scope)
  return scope.keys?.get(value.sql) ?? value
}

/** Each value stands wherever its name does. */
function withExpression(context: Context, { variables, body }: WithExpression, scope: Scope): Typed {
  const names = variables.map(({ alias }) => nameKey(alias!.name))
  const twice = variables.find(({ alias }, at) => names.indexOf(nameKey(alias!.name)) < at)
  if (twice) throw context.invalid(twice, `WITH names ${twice.alias!.name} twice`)
  const named = variables.reduce((inner, { alias, expression }): Scope => {
    const { sql, type } = context.expression(expression, inner)
    const variables = [{ kind: 'value' as const, name: alias!.name, value: typed(sql, type) }]
    return { ...scope, variables, merged: new Map(), aliases: null, outer: inner, isWith: true }
  }, scope)
  return context.expression(body, named)
}

function path(context: Context, node: Path, scope: Scope): Typed {
  const value = findPath(context, scope, node.parts) ?? currentTime(context, node, scope)
  if (value) return value
  throw unknownName(context, scope, node.parts)
}

/** CURRENT_TIMESTAMP and its like are calls without parentheses where nothing else has their name. */
function currentTime(context: Context, { parts, at }: Path, scope: Scope): Typed | null {
  const [name, ...fields] = parts as [Identifier, ...Identifier[]]
  if (!/^CURRENT_(DATE|DATETIME|TIME|TIMESTAMP)$/i.test(name.name) || fields.length > 0) return null
  const inside = {
    arguments: [],
    distinct: false,
    star: false,
    nulls: null,
    having: null,
    orderBy: [],
    limit: null,
  }
  return call(context, { kind: 'Call', name: parts, ...inside, over: null, at }, scope)
}

/** `array[OFFSET(n)]` and the like, `json['key']`, and a STRUCT's field by its position. */
function subscript(context: Context, node: Subscript, scope: Scope): Typed {
  const of = context.expression(node.of, scope)
  if (of.type?.kind === 'STRUCT') return fieldAt(context, node, of, of.type)
  const index = context.expression(node.index, scope)
  if (of.type?.kind === 'JSON') return jsonElement(context, node, of, index)
  if (node.index.kind === 'Literal' && node.index.literal === 'STRING') throw keyOf(context, node, of)
  if (of.type?.kind !== 'ARRAY' || (index.type && index.type.kind !== 'INT64'))
    throw noSignature(context, node, 'operator []', [of, index])
  const sql = repeated([of.sql, index.sql], (array, index) => `(${array})[${position(node, array, index)}]`)
  return typed(sql, of.type.element)
}

/** For `metadata['request']`, as other dialects have it: a field is written behind a dot. */
function keyOf(context: Context, { of, index, at }: Subscript, value: Typed) {
  const field = { name: index.kind === 'Literal' ? index.value : '', quoted: true, at }
  const records = elementOf(value.type)
  if (of.kind === 'Path' && records?.kind === 'STRUCT')
    return fieldOfArray(context, records, [...of.parts, field], [field])
  return noField(context, value.type, field)
}

/** DuckDB counts from 1, from the end for negative numbers, and gives NULL where there is no element. */
function position(node: Subscript, array: string, index: string): string {
  const ordinal = node.mode === 'ORDINAL' || node.mode === 'SAFE_ORDINAL'
  // The largest integers have none after them.
  const at = ordinal
    ? index
    : node.index.kind === 'Literal'
      ? `(${index} + 1)`
      : `(${index} + CASE WHEN ${index} < ${2 ** 31} THEN 1 ELSE 0 END)`
  if (node.mode?.startsWith('SAFE_')) return `CASE WHEN ${at} > 0 THEN ${at} END`
  return `CASE WHEN ${at} < 1 OR ${at} > len(${array}) THEN ${raise('Array index is out of bounds')} ELSE ${at} END`
}

function fieldAt(context: Context, node: Subscript, of: Typed, type: StructType): Typed {
  if (node.mode?.startsWith('SAFE_'))
    throw context.invalid(node, `${node.mode} is for ARRAYs; of a STRUCT write the field's name`)
  const first = node.mode === 'ORDINAL' ? 1 : 0
  const at = literalInteger(node.index)
  if (at === null) throw context.invalid(node, 'A STRUCT subscript must be a literal integer')
  if (!type.fields[at - first]) throw context.invalid(node, `STRUCT has no field at ${at}`)
  return structField(of.sql, type, at - first)
}

function jsonElement(context: Context, node: Subscript, of: Typed, index: Typed): Typed {
  const kind = index.type?.kind ?? 'INT64'
  if (node.mode || (kind !== 'INT64' && kind !== 'STRING'))
    throw context.invalid(node, "An element of a JSON value is written json[0] or json['name']")
  const key =
    node.index.kind === 'Literal' && node.index.literal === 'STRING' ? jsonKey(node.index.value) : index.sql
  return typed(`json_extract(${of.sql}, ${key})`, 'JSON')
}
