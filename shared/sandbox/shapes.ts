/** The columns of tables, and what a `*` takes of an array: the fields of its elements, or one column, where they are scalars. */
import type { Call, Expression, Path, Query } from '../sql/tree.ts'
import type { SqlType } from '../sql/types.ts'

/** The columns of a table in order, or the reason why they are not known. */
export type Columns = readonly TableColumn[] | Unknown

interface TableColumn {
  name: string
  /** Where the engine said it. */
  type?: SqlType
}

export interface Unknown {
  unknown: string
}

/** Whether a value is a scalar or an array of scalars; `null` where that is not known, as of a column of an endpoint's table. */
export type Shape = 'scalar' | 'scalars' | null

/** The shapes of names and of subqueries where an expression stands. */
export interface Sight {
  path(path: Path): Shape
  query(query: Query): Shape
}

export function shapeOf(expression: Expression, sight: Sight): Shape {
  switch (expression.kind) {
    case 'Path':
      return sight.path(expression)
    case 'Parenthesized':
      return shapeOf(expression.expression, sight)
    case 'ScalarSubquery':
      return sight.query(expression.query)
    case 'ArraySubquery':
      return arrayOf(sight.query(expression.query))
    case 'ArrayLiteral':
      return expression.type
        ? arrayOf(shapeOfType(expression.type))
        : arrayOf(firstShape(expression.items, sight))
    case 'Subscript':
      return elementOf(shapeOf(expression.of, sight))
    case 'Cast':
      return shapeOfType(expression.type)
    case 'Case':
      return firstShape(
        [...expression.branches.map(({ then }) => then), expression.otherwise].filter(
          value => value !== null,
        ),
        sight,
      )
    case 'Binary':
      return expression.operator === '||' ? firstShape([expression.left, expression.right], sight) : 'scalar'
    case 'Literal':
      return expression.literal === 'NULL' ? null : 'scalar'
    case 'Call':
      return shapeOfCall(expression, sight)
    case 'Between':
    case 'Exists':
    case 'Extract':
    case 'In':
    case 'IntervalLiteral':
    case 'Is':
    case 'IsDistinctFrom':
    case 'Like':
    case 'LikeAny':
    case 'TypedLiteral':
    case 'Unary':
      return 'scalar'
    case 'FieldAccess':
    case 'Lambda':
    case 'NamedArgument':
    case 'ParameterReference':
    case 'StructLiteral':
    case 'Tuple':
    case 'WithExpression':
      return null
  }
}

/** The functions that callers may use, by what their value has of their arguments' shapes; any other gives a scalar. */
const functions: Record<string, (shapes: Shape[]) => Shape> = {
  ...of(
    `GENERATE_ARRAY GENERATE_DATE_ARRAY GENERATE_TIMESTAMP_ARRAY JSON_EXTRACT_ARRAY JSON_EXTRACT_STRING_ARRAY JSON_KEYS
    JSON_QUERY_ARRAY JSON_VALUE_ARRAY REGEXP_EXTRACT_ALL SPLIT TO_CODE_POINTS`,
    () => 'scalars',
  ),
  ...of('APPROX_TOP_COUNT APPROX_TOP_SUM', () => null),
  ...of('APPROX_QUANTILES ARRAY_AGG', ([value]) => arrayOf(value!)),
  ...of('ARRAY_FIRST ARRAY_LAST', ([array]) => elementOf(array!)),
  ...of('ANY_VALUE FIRST_VALUE LAG LAST_VALUE LEAD MAX_BY MIN_BY NTH_VALUE NULLIF', ([value]) => value!),
  ...of('ARRAY_CONCAT ARRAY_CONCAT_AGG ARRAY_REVERSE COALESCE IFNULL', firstKnown),
  ...of('ARRAY_SLICE', ([array]) => array!),
  ...of('IF', ([, ...values]) => firstKnown(values)),
}

function of(names: string, shape: (shapes: Shape[]) => Shape) {
  return Object.fromEntries(names.split(/\s+/).map(name => [name, shape]))
}

function shapeOfCall({ name, arguments: given }: Call, sight: Sight): Shape {
  const called = name.at(-1)!.name.toUpperCase()
  if (!Object.hasOwn(functions, called)) return 'scalar'
  return functions[called]!(given.map(argument => shapeOf(argument, sight))) ?? null
}

function firstShape(expressions: Expression[], sight: Sight): Shape {
  return firstKnown(expressions.map(expression => shapeOf(expression, sight)))
}

function firstKnown(shapes: Shape[]): Shape {
  return shapes.find(shape => shape !== null) ?? null
}

export function shapeOfType(type: SqlType): Shape {
  if (type.kind === 'ARRAY') return arrayOf(shapeOfType(type.element))
  return type.kind === 'STRUCT' ? null : 'scalar'
}

function arrayOf(element: Shape): Shape {
  return element === 'scalar' ? 'scalars' : null
}

function elementOf(array: Shape): Shape {
  return array === 'scalars' ? 'scalar' : null
}
