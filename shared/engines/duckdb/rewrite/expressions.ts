/** Expressions: which function prints which kind, and the kinds that have no file of their own. */
import { isOverRows } from '../../../sql/resolve/calls.ts'
import type { Call, Expression, Path, Subscript, WithExpression } from '../../../sql/tree.ts'
import { descendantsHere } from '../../../sql/walk.ts'
import { quoteName } from '../syntax.ts'
import { repeated } from './repeats.ts'
import { cast } from './casts.ts'
import { typeIn } from './coercion.ts'
import { type Context, raise, type Scope, structField, type Typed, typed } from './context.ts'
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
import { fieldOf, jsonKey, path } from './names.ts'
import { between, binary, inOperator, is, isDistinctFrom, like, likeAny, unary } from './operators.ts'
import { arraySubquery, exists, scalarSubquery } from './subqueries.ts'

/** DuckDB SQL, which has the type that the resolver found, or what else is known of the value. */
type Printer<Kind> = (
  context: Context,
  node: Extract<Expression, { kind: Kind }>,
  scope: Scope,
) => string | Typed

const printers: { [Kind in Expression['kind']]: Printer<Kind> } = {
  ArrayLiteral: arrayLiteral,
  ArraySubquery: arraySubquery,
  Between: between,
  Binary: binary,
  Call: call,
  Case: caseExpression,
  Cast: cast,
  Exists: exists,
  Extract: extract,
  FieldAccess: (context, node, scope) => fieldOf(context.expression(node.of, scope), node.field),
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
  Path: pathOrTime,
  ScalarSubquery: scalarSubquery,
  StructLiteral: structLiteral,
  Subscript: subscript,
  Tuple: tuple,
  TypedLiteral: typedLiteral,
  Unary: unary,
  WithExpression: withExpression,
}

/** An expression in DuckDB SQL, of its own type. Throws UnsupportedError for what DuckDB cannot do. */
export function bare(context: Context, node: Expression, scope: Scope): Typed {
  const key = context.keys.expressions.get(node)
  const print = printers[node.kind] as Printer<Expression['kind']>
  const printed = key ?? print(context, node, scope)
  return typeof printed === 'string' ? typed(printed, typeIn(context, node)) : printed
}

/**
 * A short value stands wherever its name does. A long one is a column of a subquery, as values of values would grow exponentially;
 * but one of many rows is of the query that it stands in.
 */
function withExpression(context: Context, node: WithExpression, scope: Scope): Typed {
  const isOfRows = [...descendantsHere(node)].some(isOverRows)
  const columns: string[] = []
  for (const item of node.variables) {
    const { sql, type } = context.expression(item.expression, scope)
    if (isOfRows && sql.length > 100 * longestValue)
      throw context.unsupported(
        node,
        'WITH of so many uses of aggregates',
        'compute them in a query inside this one',
      )
    if (isOfRows || sql.length < longestValue) context.items.set(item, typed(sql, type))
    else {
      const name = quoteName(context.uniqueName('v'))
      context.items.set(item, typed(name, type))
      columns.push(`(SELECT ${sql} AS ${name})`)
    }
  }
  const { sql, type } = context.expression(node.body, scope)
  return typed(
    columns.reduceRight((body, column) => `(SELECT ${body} FROM ${column})`, sql),
    type,
  )
}

/** In characters of DuckDB SQL. */
const longestValue = 500

/** CURRENT_TIMESTAMP and its like are calls without parentheses where nothing else has their name. */
function pathOrTime(context: Context, node: Path, scope: Scope): string | Typed {
  const reference = context.resolution.paths.get(node)
  if (reference) return path(context, node, reference, scope)
  const inside = { arguments: [], distinct: false, star: false, nulls: null, having: null, orderBy: [] }
  const time: Call = { kind: 'Call', name: node.parts, ...inside, limit: null, over: null, at: node.at }
  return typed(call(context, time, scope).sql, typeIn(context, node))
}

/** `array[OFFSET(n)]` and the like, `json['key']`, and a STRUCT's field by its position. */
function subscript(context: Context, node: Subscript, scope: Scope): string | Typed {
  const of = context.expression(node.of, scope)
  const { type } = of
  if (type?.kind === 'STRUCT')
    return structField(of.sql, type, literalInteger(node.index)! - (node.mode === 'ORDINAL' ? 1 : 0))
  const index = context.expression(node.index, scope).sql
  if (type?.kind !== 'JSON')
    return repeated([of.sql, index], (array, index) => `(${array})[${position(node, array, index)}]`)
  const key = node.index.kind === 'Literal' && node.index.literal === 'STRING' ? node.index.value : null
  return `json_extract(${of.sql}, ${key === null ? index : jsonKey(key)})`
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
