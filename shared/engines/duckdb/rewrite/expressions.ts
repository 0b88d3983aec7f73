import type {
  Expression,
  Extract as ExtractNode,
  FieldAccess,
  IntervalLiteral,
  Lambda,
  NamedArgument,
  Parenthesized,
  Path,
} from '../../../sql/tree.ts'
import type { ScalarName } from '../../../sql/types.ts'
import { call } from './functions/functions.ts'
import { cast } from './casts.ts'
import { extractedPart, interval, timePart, wallClock } from './dates-and-times.ts'
import { coerce } from './coercion.ts'
import {
  between,
  binary,
  caseWhen,
  inAmong,
  is,
  isDistinctFrom,
  like,
  noSignature,
  unary,
} from './operators.ts'
import { type Context, mistake, type Typed, typed, unsupported } from './context.ts'
import { arrayLiteral, literal, parameter, structLiteral, tuple, typedLiteral } from './literals.ts'
import { fieldOf, resolvePath, type Scope } from './scope.ts'
import { arraySubquery, exists, scalarSubquery } from './subqueries.ts'
import { subscript } from './subscripts.ts'
import { duckType } from '../syntax.ts'

type Rewriter<Kind> = (context: Context, node: Extract<Expression, { kind: Kind }>, scope: Scope) => Typed

const rewriters: { [Kind in Expression['kind']]: Rewriter<Kind> } = {
  ArrayLiteral: arrayLiteral,
  ArraySubquery: arraySubquery,
  Between: between,
  Binary: binary,
  Call: call,
  Case: caseWhen,
  Cast: cast,
  Exists: exists,
  Extract: extract,
  FieldAccess: fieldAccess,
  In: inAmong,
  IntervalLiteral: intervalLiteral,
  Is: is,
  IsDistinctFrom: isDistinctFrom,
  Lambda: lambda,
  Like: like,
  Literal: literal,
  NamedArgument: namedArgument,
  ParameterReference: parameter,
  Parenthesized: parenthesized,
  Path: path,
  ScalarSubquery: scalarSubquery,
  StructLiteral: structLiteral,
  Subscript: subscript,
  Tuple: tuple,
  TypedLiteral: typedLiteral,
  Unary: unary,
}

/** Rewritings repeat an operand here and there; operands in operands could grow without end. */
const longestExpression = 1_000_000

/** An expression in DuckDB SQL with its type. Throws SqlError, or UnsupportedError for what DuckDB cannot do. */
export function expression(context: Context, node: Expression, scope: Scope): Typed {
  const rewrite = rewriters[node.kind] as Rewriter<Expression['kind']>
  const value = rewrite(context, node, scope)
  if (value.sql.length > longestExpression) throw unsupported(context, node, 'An expression of this size')
  return value
}

function path(context: Context, node: Path, scope: Scope): Typed {
  return resolvePath(context, scope, node.parts)
}

function fieldAccess(context: Context, node: FieldAccess, scope: Scope): Typed {
  return fieldOf(context, context.expression(node.of, scope), node.field)
}

function parenthesized(context: Context, node: Parenthesized, scope: Scope): Typed {
  return context.expression(node.expression, scope)
}

function lambda(context: Context, node: Lambda): never {
  throw unsupported(context, node, 'A lambda here')
}

function namedArgument(context: Context, node: NamedArgument): never {
  throw unsupported(context, node, `A named argument (${node.name.name} =>)`)
}

function intervalLiteral(context: Context, node: IntervalLiteral, scope: Scope): Typed {
  if (node.to) throw unsupported(context, node, `INTERVAL ... ${node.part} TO ${node.to}`)
  const value = context.expression(node.value, scope)
  const number = coerce(value, { kind: 'INT64' })
  const sql = number && interval(number.sql, node.part)
  if (!sql) throw noSignature(context, node, `INTERVAL ${node.part}`, [value])
  return typed(sql, 'INTERVAL')
}

/** Types that have a date and a time, and what EXTRACT takes from them whole. */
const clocks: (string | undefined)[] = ['TIMESTAMP', 'DATETIME']
const wholes = ['DATE', 'TIME', 'DATETIME']

/** A part of a date or time; of a moment, as clocks show it in a time zone. */
function extract(context: Context, node: ExtractNode, scope: Scope): Typed {
  const value = context.expression(node.operand, scope)
  const zone = node.zone ? context.expression(node.zone, scope).sql : null
  const kind = value.type?.kind
  const clock = kind === 'TIMESTAMP' ? wallClock(value.sql, zone) : value.sql
  if (clocks.includes(kind) && wholes.includes(node.part))
    return typed(`CAST(${clock} AS ${duckType({ kind: node.part as ScalarName })})`, node.part as ScalarName)
  const has =
    clocks.includes(kind) || (kind === 'TIME' ? timePart(node.part) : kind === 'DATE' && !timePart(node.part))
  const sql = has ? extractedPart(clock, node.part) : null
  if (!sql) throw mistake(context, node, `EXTRACT cannot take ${node.part} from a ${kind ?? 'NULL'}`)
  return typed(sql, 'INT64')
}
