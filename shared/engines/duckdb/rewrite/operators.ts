/** Operators: arithmetic, comparison, logic, LIKE, IN, BETWEEN, IS. */
import type {
  Between,
  Binary,
  BinaryOperator,
  Expression,
  In,
  Is,
  IsDistinctFrom,
  Like,
  LikeAny,
  Query,
  Unary,
} from '../../../sql/tree.ts'
import type { SqlType, StructType } from '../../../sql/types.ts'
import { descendantsHere } from '../../../sql/walk.ts'
import { duckType, quoteName } from '../syntax.ts'
import { isSimple, joinedBy, repeated } from './repeats.ts'
import { convert } from './casts.ts'
import { coerce, numberKinds, unify, unifyOrThrow } from './coercion.ts'
import { noSignature } from './no-signature.ts'
import { signedInteger } from './literals.ts'
import { asDate, withinYears } from './dates-and-times.ts'
import { intervalArithmetic, movedBy } from './intervals.ts'
import { orderable } from './keys.ts'
import { type Context, elementOf, raise, type Scope, structField, type Typed, typed } from './context.ts'

type Rule = (left: Typed, right: Typed, operator: BinaryOperator) => Typed | null | undefined

/** A rule returns `null` or `undefined` for operands that its operator does not take. */
const binaries: Record<Exclude<BinaryOperator, '||'>, Rule> = {
  OR: logical,
  AND: logical,
  '=': comparison,
  '!=': comparison,
  '<>': comparison,
  '<': comparison,
  '>': comparison,
  '<=': comparison,
  '>=': comparison,
  '|': bitwise,
  '^': bitwise,
  '&': bitwise,
  '<<': shifted,
  '>>': shifted,
  '+': (left, right) =>
    arithmetic(left, right, '+') ??
    intervalArithmetic(left, right, '+') ??
    moved(left, right, '+') ??
    moved(right, left, '+'),
  '-': (left, right) =>
    arithmetic(left, right, '-') ??
    intervalArithmetic(left, right, '-') ??
    moved(left, right, '-') ??
    elapsed(left, right),
  '*': (left, right) => arithmetic(left, right, '*') ?? intervalArithmetic(left, right, '*'),
  '/': (left, right) => divided(left, right) ?? intervalArithmetic(left, right, '/'),
}

/** Throws SqlError for operands of wrong types, and for a literal NULL, which only AND and OR take. */
export function binary(context: Context, node: Binary, scope: Scope): Typed {
  if (node.operator === '||') return concatenated(context, node, scope)
  const [left, right] = context.expressions([node.left, node.right], scope) as [Typed, Typed]
  for (const side of [node.left, node.right])
    if (!takesNull.includes(node.operator) && isNull(side)) throw nullOperand(context, side, node.operator)
  if (right.type?.kind === 'INTERVAL' && left.type?.kind === 'TIMESTAMP') checkMonths(context, node.right)
  if (left.type?.kind === 'BYTES' && bitwiseOperator.test(node.operator)) throw bitsOfBytes(context, node)
  const result = binaries[node.operator](left, right, node.operator)
  if (!result) throw noSignature(context, node, `operator ${node.operator}`, [left, right])
  return result
}

/** A month has no one length, so a TIMESTAMP, which is a point in time and not in a calendar, does not move by it. */
function checkMonths(context: Context, node: Expression): void {
  if (node.kind === 'IntervalLiteral' && /^(MONTH|QUARTER|YEAR)$/.test(node.part))
    throw context.invalid(node, `A TIMESTAMP does not move by ${node.part}`)
}

const takesNull: BinaryOperator[] = ['AND', 'OR']

const isNull = (node: Expression) => node.kind === 'Literal' && node.literal === 'NULL'

function nullOperand(context: Context, node: Expression, operator: string) {
  return context.invalid(node, `Operands of ${operator} cannot be literal NULL`)
}

function logical(left: Typed, right: Typed, operator: string): Typed | null {
  const sides = [left, right].map(side => coerce(side, { kind: 'BOOL' }))
  return sides.includes(null) ? null : typed(`(${left.sql} ${operator} ${right.sql})`, 'BOOL')
}

/** `null` for values without a common type, arrays, JSON, and an order of STRUCTs. NaN is equal to nothing. */
export function comparison(left: Typed, right: Typed, operator: BinaryOperator): Typed | null {
  const common = unify([left, right])
  if (!common || incomparable.includes(common.type?.kind ?? 'BOOL')) return null
  const [a, b] = common.values as [Typed, Typed]
  if (common.type?.kind === 'STRUCT') return structComparison(a, b, common.type, operator)
  const compared = `(${a.sql} ${operator} ${b.sql})`
  return typed(common.type?.kind === 'FLOAT64' ? withoutNaN(a, b, operator, compared) : compared, 'BOOL')
}

/** Field by field, so that a NULL in one makes equality unknown; structs have no order. */
function structComparison(a: Typed, b: Typed, type: StructType, operator: BinaryOperator): Typed | null {
  if (operator !== '=' && operator !== '!=' && operator !== '<>') return null
  const field = (of: Typed, at: number) => of.fields?.[at] ?? structField(of.sql, type, at)
  const fields = type.fields.map((_, at) => comparison(field(a, at), field(b, at), '='))
  if (fields.includes(null)) return null
  const known = [a, b].flatMap(({ sql, fields }) => (fields ? [] : `${sql} IS NOT NULL`))
  const same = fields.map(field => field!.sql).join(' AND ')
  const equal = known.length > 0 ? `(CASE WHEN ${known.join(' AND ')} THEN ${same} END)` : `(${same})`
  return negated(operator !== '=', equal)
}

const incomparable: SqlType['kind'][] = ['ARRAY', 'JSON']

/** Nothing is equal to NaN, less or greater, itself included; to DuckDB it is the greatest number and equal to itself. */
function withoutNaN(a: Typed, b: Typed, operator: BinaryOperator, compared: string): string {
  const [one, other] = operator === '<' || operator === '<=' ? [b, a] : [a, b]
  if (one.origin === 'literal' || (operator.length === 1 && operator === '=' && other.origin === 'literal'))
    return compared
  const differs = operator === '!=' || operator === '<>'
  if (differs && other.origin === 'literal') return compared
  return repeated([a.sql, b.sql], (x, y) => {
    const [one, other] = operator.startsWith('<') && !differs ? [y, x] : [x, y]
    const strange = `isnan(${one}) AND ${other} IS NOT NULL`
    return `(${x} ${operator} ${y} ${differs ? `OR (${strange})` : `AND NOT (${strange})`})`
  })
}

const bitwiseOperator = /^([|^&~]|<<|>>)$/

function bitsOfBytes(context: Context, node: Binary | Unary) {
  return context.unsupported(node, `operator ${node.operator} of BYTES`, 'only BigQuery runs it')
}

function bitwise(left: Typed, right: Typed, operator: string): Typed | null {
  if ([left, right].some(({ type }) => type !== null && type.kind !== 'INT64')) return null
  const sql = operator === '^' ? `xor(${left.sql}, ${right.sql})` : `(${left.sql} ${operator} ${right.sql})`
  return typed(sql, 'INT64')
}

/** Of the 64 bits, without regard to the sign; DuckDB keeps the sign, and refuses to lose a bit. */
function shifted(left: Typed, right: Typed, operator: string): Typed | null {
  if (!bitwise(left, right, operator)) return null
  const sql = repeated([left.sql, right.sql], (value, count) => {
    const bits = `CAST(CAST(CAST(${value} AS BIGINT) AS BIT) ${operator} CAST(${count} AS INTEGER) AS BIGINT)`
    const least = raise('Bitwise shifts take no negative number')
    return `(CASE WHEN ${count} < 0 THEN ${least} WHEN ${count} > 63 THEN 0 * ${value} ELSE ${bits} END)`
  })
  return typed(sql, 'INT64')
}

function arithmetic(left: Typed, right: Typed, operator: string): Typed | null {
  const common = numbers(left, right)
  if (!common) return null
  const [a, b] = common.values.map(({ sql }) => sql) as [string, string]
  if (operator === '*' && isDecimal(common.type)) return decimal('multiply', a, b, common.type)
  if (common.type.kind === 'FLOAT64')
    return checkedFloat([left, right], [a, b], (x, y) => `(${x} ${operator} ${y})`)
  return exact(`(${a} ${operator} ${b})`, common.type)
}

/** Of arithmetic of FLOAT64s: without the check around it, and the values that it is made of; `null` if some are no columns. */
const unchecked = new WeakMap<Typed, { sql: string; leaves: string[] | null }>()

/**
 * FLOAT64s put together; infinity is an error where all of them are finite. Only columns and literals are looked at, which
 * cost nothing to look at again, and of nested operations only the outermost.
 */
function checkedFloat(
  given: [Typed, Typed],
  coerced: [string, string],
  put: (x: string, y: string) => string,
): Typed {
  const parts = given.map((value, at) => {
    const sql = coerced[at]!
    if (value.type?.kind !== 'FLOAT64' || value.origin === 'literal') return { sql, leaves: [] }
    return unchecked.get(value) ?? { sql, leaves: isSimple(sql) ? [sql] : null }
  })
  const sql = put(parts[0]!.sql, parts[1]!.sql)
  const leaves = parts.some(part => part.leaves === null)
    ? null
    : [...new Set(parts.flatMap(part => part.leaves!))]
  const result = typed(sql, 'FLOAT64')
  if (leaves) {
    result.sql = repeated([sql, ...leaves], (sql, ...leaves) => {
      const tests = [`isinf(${sql})`, ...leaves.map(leaf => `isfinite(${leaf})`)]
      return `(CASE WHEN ${tests.join(' AND ')} THEN ${raise('A number is out of range', 'DOUBLE')} ELSE ${sql} END)`
    })
  }
  unchecked.set(result, { sql, leaves })
  return result
}

/** Types that are DECIMAL in DuckDB: their arithmetic needs `decimal` and `exact`. */
export const isDecimal = ({ kind }: SqlType) => kind === 'NUMERIC' || kind === 'BIGNUMERIC'

/** A product or quotient of decimals, exactly: by `duckdb/udfs/numeric.ts`. */
export function decimal(what: 'multiply' | 'divide', a: string, b: string, type: SqlType): Typed {
  if (type.kind === 'NUMERIC') return typed(`gsql_numeric_${what}(${a}, ${b})`, type)
  const texts = [a, b].map(sql => `CAST(${sql} AS VARCHAR)`).join(', ')
  return typed(`CAST(gsql_bignumeric_${what}(${texts}) AS ${duckType(type)})`, type)
}

function numbers(left: Typed, right: Typed): { values: Typed[]; type: SqlType } | null {
  const common = unify([left, right])
  const type = common?.type ?? { kind: 'INT64' }
  return common && numberKinds.includes(type.kind) ? { values: common.values, type } : null
}

/** DuckDB widens the scale of decimals as it calculates; GoogleSQL keeps 9 digits after the point. */
export function exact(sql: string, type: SqlType): Typed {
  return typed(isDecimal(type) ? `CAST(${sql} AS ${duckType(type)})` : sql, type)
}

/** Division gives FLOAT64 even for integers, and fails on zero where DuckDB gives infinity. */
function divided(left: Typed, right: Typed): Typed | null {
  const common = numbers(left, right)
  if (!common) return null
  const type: SqlType = common.type.kind === 'INT64' ? { kind: 'FLOAT64' } : common.type
  const [dividend, divisor] = common.values.map(value => value.sql) as [string, string]
  if (isDecimal(type)) return decimal('divide', dividend, divisor, type)
  const quotient = (x: string, y: string) =>
    repeated([x, y], (x, y) => `(${x} / ${divisorOf(x, y, 'DOUBLE')})`)
  if (common.type.kind === 'FLOAT64') return checkedFloat([left, right], [dividend, divisor], quotient)
  return exact(quotient(dividend, divisor), type)
}

/** The divisor, an error where it is zero; but NULL divided by zero is NULL. One that is written out is tested here. */
export function divisorOf(
  dividend: string,
  divisor: string,
  type: 'BIGINT' | 'DOUBLE' | 'DECIMAL(38,9)',
): string {
  if (Number(/^(?:CAST\()*'?(\d[\d.e+-]*)'?(?: AS [\w(), ]+\))*$/i.exec(divisor)?.[1] ?? 0) !== 0)
    return divisor
  return `(CASE WHEN ${dividend} IS NOT NULL THEN ${nonZero(divisor, type)} END)`
}

/** A number that is an error where the query finds it zero. Its SQL is repeated; `type` is the one it has in DuckDB. */
export function nonZero(sql: string, type: 'BIGINT' | 'DOUBLE' | 'DECIMAL(38,9)'): string {
  return `(CASE WHEN ${sql} = 0 THEN ${raise('Division by zero', type)} ELSE ${sql} END)`
}

/** A date or time moved by an interval, or a DATE by days. */
function moved(point: Typed, by: Typed, operator: '+' | '-'): Typed | null {
  const kind = point.type?.kind
  if (kind === 'DATE' && by.type?.kind === 'INT64') {
    const days = `to_days(CAST(${by.sql} AS INTEGER))`
    return typed(asDate(withinYears(`(${point.sql} ${operator} ${days})`, 'DATETIME')), 'DATE')
  }
  if (by.type?.kind !== 'INTERVAL') return null
  // As in GoogleSQL, a DATE moved by an interval is a DATETIME.
  const type = kind === 'DATE' ? 'DATETIME' : kind === 'DATETIME' || kind === 'TIMESTAMP' ? kind : null
  return type && typed(withinYears(movedBy(point.sql, operator, by), type), type)
}

/** The INTERVAL between two points of one type: of TIMESTAMPs in hours, of DATEs in days, of DATETIMEs in both. */
function elapsed(to: Typed, from: Typed): Typed | null {
  const kind = to.type?.kind
  if (kind === undefined || kind !== from.type?.kind) return null
  const sql: Partial<Record<string, string>> = {
    DATE: `to_days(CAST(${to.sql} - ${from.sql} AS INTEGER))`,
    DATETIME: `(${to.sql} - ${from.sql})`,
    TIMESTAMP: `to_microseconds(epoch_us(${to.sql}) - epoch_us(${from.sql}))`,
  }
  return sql[kind] ? typed(sql[kind], 'INTERVAL') : null
}

/** Strings, bytes or arrays; other values are cast to strings. A whole chain at once, since its bound is on what the chain makes. */
function concatenated(context: Context, node: Binary, scope: Scope): Typed {
  const operands = links(node)
  const none = operands.find(isNull)
  if (none) throw nullOperand(context, none, '||')
  const given = context.expressions(operands, scope)
  const { values, type } = alikeInText(given) ?? {}
  if (!values || !type) throw noSignature(context, node, 'operator ||', given)
  return typed(`(${values.map(({ sql }) => sql).join(' || ')})`, type)
}

/** Values of one type that can be put together, or their texts. */
function alikeInText(values: Typed[]): { values: Typed[]; type: SqlType } | null {
  const common = unify(values)
  const type = common?.type ?? { kind: 'STRING' }
  if (common && ['ARRAY', 'BYTES', 'STRING'].includes(type.kind)) return { values: common.values, type }
  if (values.some(value => value.type?.kind === 'BYTES' || value.type?.kind === 'ARRAY')) return null
  const texts = values.map(value => ({ ...value, sql: convert(value, { kind: 'STRING' }) }))
  if (texts.some(({ sql }) => sql === null)) return null
  return { values: texts as Typed[], type: { kind: 'STRING' } }
}

function links(node: Expression): Expression[] {
  return node.kind === 'Binary' && node.operator === '||' ? [...links(node.left), node.right] : [node]
}

/** `-` and an integer literal are one: without the sign, the least INT64 is out of range. Throws SqlError. */
export function unary(context: Context, node: Unary, scope: Scope): Typed {
  const { operand, operator } = node
  if (operator === '-' && operand.kind === 'Literal' && operand.literal === 'INTEGER')
    return signedInteger(context, operand)
  if (isNull(operand) && operator === 'NOT') throw nullOperand(context, operand, operator)
  const value = context.expression(operand, scope)
  if (operator === '-' && value.type?.kind === 'INTERVAL')
    return typed(`gsql_interval_multiplied(${value.sql}, CAST(-1 AS BIGINT))`, 'INTERVAL')
  if (operator === '~' && value.type?.kind === 'BYTES') throw bitsOfBytes(context, node)
  const kind = value.type?.kind ?? (operator === 'NOT' ? 'BOOL' : 'INT64')
  const allowed = { NOT: ['BOOL'], '~': ['INT64'], '-': numberKinds, '+': numberKinds }[operator]
  if (!allowed.includes(kind)) throw noSignature(context, node, `operator ${operator}`, [value])
  return { ...value, sql: `(${operator} ${value.sql})` }
}

/** Throws SqlError for a literal NULL, other types than STRING and BYTES, and a literal that is no pattern. */
export function like(context: Context, node: Like, scope: Scope): Typed {
  const none = [node.left, node.right].find(isNull)
  if (none) throw nullOperand(context, none, 'LIKE')
  const sides = context.expressions([node.left, node.right], scope)
  const [text, pattern] = likeSides(sides)
  if (!text || !pattern) throw noSignature(context, node, 'operator LIKE', sides)
  checkPattern(context, node.right)
  return negated(node.not, matches(text, pattern))
}

/**
 * DuckDB's own LIKE tries every place for every % where there is an escape or a _: for k of them in a text of n characters
 * n^k steps. Its regular expressions take n.
 */
function matches(text: Typed, pattern: Typed): string {
  const simple = /^'(?:[^\\_]*|%?[^\\%]*%?)'$/
  if (simple.test(pattern.sql)) return `(${text.sql} LIKE ${pattern.sql})`
  const tokens = `regexp_extract_all(${pattern.sql}, '(?s)\\\\.|.')`
  const lone = `CASE WHEN t = '\\' THEN CAST(${raise('A LIKE pattern ends with a backslash')} AS VARCHAR)`
  const token = `${lone} WHEN t = '%' THEN '.*' WHEN t = '_' THEN '.' ELSE regexp_escape(right(t, 1)) END`
  const regexp = joinedBy(`list_transform(${tokens}, lambda t: ${token})`, `''`)
  return `regexp_full_match(${text.sql}, ${regexp}, 's')`
}

/** Both as strings; of bytes each as a character. */
function likeSides(sides: Typed[]): (Typed | null)[] {
  if (!sides.every(({ type }) => type?.kind === 'BYTES'))
    return sides.map(side => coerce(side, { kind: 'STRING' }))
  return sides.map(({ sql }) => typed(`gsql_characters(${sql})`, 'STRING'))
}

function checkPattern(context: Context, node: Expression): void {
  if (node.kind === 'Literal' && /(?<!\\)(?:\\\\)*\\$/.test(node.value))
    throw context.invalid(node, 'A LIKE pattern ends with a backslash')
}

/** As a chain of OR or AND, of the patterns that are listed or of those in an array. */
export function likeAny(context: Context, node: LikeAny, scope: Scope): Typed {
  const { among, quantifier } = node
  const any = quantifier === 'ANY'
  const operand = context.expression(node.operand, scope)
  const matching = (pattern: Typed): string => {
    const sides = [operand, pattern].map(side => coerce(side, { kind: 'STRING' }))
    if (sides.includes(null))
      throw noSignature(context, node, `operator LIKE ${quantifier}`, [operand, pattern])
    return matches(sides[0]!, sides[1]!)
  }
  if (among.kind === 'InList') {
    const tests = context.expressions(among.items, scope).map(matching)
    return negated(node.not, `(${tests.join(any ? ' OR ' : ' AND ')})`)
  }
  const array = context.expression(among.array, scope)
  if (array.type && array.type.kind !== 'ARRAY')
    throw noSignature(context, node, 'operator LIKE UNNEST', [array])
  const pattern = quoteName(context.uniqueName('p'))
  const test = matching({ sql: pattern, type: elementOf(array.type) ?? { kind: 'STRING' } })
  const tests = (not: string) => `list_transform(${array.sql}, lambda ${pattern}: ${not}${test})`
  return negated(node.not, any ? anyOf(tests('')) : `(NOT ${anyOf(tests('NOT '))})`)
}

/** IN a list, an array or a query. Throws SqlError where what is compared has no common type. */
export function inOperator(context: Context, node: In, scope: Scope): Typed {
  const aggregation = { found: false }
  const operand = context.expression(node.operand, { ...scope, aggregation })
  scope.aggregation.found ||= aggregation.found
  const among = listed(node.among)
  if (among.kind === 'InUnnest') {
    const array = context.expression(among.array, scope)
    return negated(node.not, inArray(context, node, operand, array))
  }
  if (among.kind === 'InQuery') {
    const windows = [...descendantsHere(node.operand)].some(part => part.kind === 'Call' && part.over)
    return negated(
      node.not,
      inQuery(context, node, operand, among.query, scope, windows || aggregation.found),
    )
  }
  const values = [operand, ...context.expressions(among.items, scope)]
  const { values: common, type } = unifyOrThrow(context, node, 'operator IN', values)
  if (incomparable.includes(type?.kind ?? 'BOOL')) throw noSignature(context, node, 'operator IN', values)
  // Of FLOAT64s only NaN is another matter, and no literal is NaN.
  const given = among.items.some(item => item.kind !== 'Literal' || isNull(item))
  if (type?.kind !== 'STRUCT' && !(type?.kind === 'FLOAT64' && given)) {
    const [one, ...rest] = common.map(value => value.sql)
    return negated(node.not, `(${one} IN (${rest.join(', ')}))`)
  }
  const [first, ...items] = common as [Typed, ...Typed[]]
  const parts = first.fields ?? [first]
  const sql = repeated(
    parts.map(part => part.sql),
    (...texts) => {
      const again = parts.map((part, at) => ({ ...part, sql: texts[at]! }))
      const one = first.fields ? { ...first, fields: again } : again[0]!
      return `(${items.map(item => equality(context, node, one, item)).join(' OR ')})`
    },
  )
  return negated(node.not, sql)
}

/** An array that is written out is a list, which DuckDB looks up by hash. */
function listed(among: In['among']): In['among'] {
  const array = among.kind === 'InUnnest' && among.array.kind === 'ArrayLiteral' ? among.array : null
  if (!array || array.type || array.items.length === 0) return among
  return { kind: 'InList', items: array.items, at: array.at }
}

/** DuckDB's IN takes structs for one value each, in which NULL is equal to NULL. */
function equality(context: Context, node: In, one: Typed, other: Typed): string {
  const equal = comparison(one, other, '=')
  if (!equal) throw noSignature(context, node, 'operator IN', [one, other])
  return equal.sql
}

/**
 * Whether one of the rows is equal; NULL if none is, and of some it is not known.
 * @param ofRows whether the operand is computed of many rows, which it cannot be inside a query
 */
function inQuery(
  context: Context,
  node: In,
  operand: Typed,
  query: Query,
  scope: Scope,
  ofRows: boolean,
): string {
  const { columns, sql } = context.query(query, scope, scope.ctes)
  const [column, ...more] = columns
  if (!column || more.length > 0) throw context.invalid(query, 'Subquery of type IN must have one column')
  const rows = quoteName(context.uniqueName('rows'))
  const value = typed(`${rows}.${quoteName(column.duck)}`, column.type)
  const kind = unifyOrThrow(context, node, 'operator IN', [operand, value]).type?.kind
  if (kind === 'FLOAT64' && column.type?.kind === 'FLOAT64')
    return `(${operand.sql} IN (SELECT ${value.sql} FROM (${sql}) AS ${rows} WHERE isnan(${value.sql}) IS NOT TRUE))`
  if (kind !== 'STRUCT') return `(${operand.sql} IN (${sql}))`
  if (ofRows)
    throw context.unsupported(
      node,
      'A STRUCT of aggregates IN a query',
      'select it in a query of its own, and compare around that',
    )
  const equal = equality(context, node, operand, value)
  const found = `CASE WHEN bool_or(${equal}) THEN true WHEN bool_or(${equal} IS NULL) THEN NULL ELSE false END`
  return `(SELECT ${found} FROM (${sql}) AS ${rows})`
}

/** Without a match the result is NULL, not false, if either side holds a NULL; but an empty array has no match. */
function inArray(context: Context, node: In, operand: Typed, array: Typed): string {
  const element = elementOf(array.type)
  const common = !element ? null : unify([operand, { ...array, sql: '', type: element }])
  if (!common) throw noSignature(context, node, 'operator IN UNNEST', [operand, array])
  const x = common.values[0]!.sql
  const a =
    element && common.type && common.type.kind !== element.kind
      ? `CAST(${array.sql} AS ${duckType(common.type)}[])`
      : array.sql
  if (common.type?.kind === 'STRUCT') {
    const each = quoteName(context.uniqueName('x'))
    const test = equality(context, node, operand, typed(each, element))
    return anyOf(`list_transform(${array.sql}, lambda ${each}: ${test})`)
  }
  return repeated([x, a], (x, a) => {
    const found = `list_contains(${a}, ${x})${common.type?.kind === 'FLOAT64' ? ` AND NOT isnan(${x})` : ''}`
    const unknown = `${x} IS NULL OR list_count(${a}) < len(${a})`
    return `(CASE WHEN COALESCE(len(${a}), 0) = 0 THEN false WHEN ${found} THEN true WHEN ${unknown} THEN NULL ELSE false END)`
  })
}

/** Of a list of tests. */
export function anyOf(tests: string): string {
  return repeated(
    [tests],
    tests =>
      `(CASE WHEN list_contains(${tests}, true) THEN true WHEN list_count(${tests}) < len(${tests}) THEN NULL ELSE false END)`,
  )
}

/** Throws SqlError for types that have no order, or no common type. */
export function between(context: Context, node: Between, scope: Scope): Typed {
  const values = context.expressions([node.operand, node.low, node.high], scope)
  if (!values.every(({ type }) => orderable(type)))
    throw noSignature(context, node, 'operator BETWEEN', values)
  const [operand, low, high] = unifyOrThrow(context, node, 'operator BETWEEN', values).values as [
    Typed,
    Typed,
    Typed,
  ]
  // DuckDB's greatest number is NaN, which nothing comes before.
  const strange = high.type?.kind === 'FLOAT64' && high.origin !== 'literal'
  // Its BETWEEN plans what is more than a column twice.
  if (!strange && isSimple(operand.sql))
    return negated(node.not, `(${operand.sql} BETWEEN ${low.sql} AND ${high.sql})`)
  const sql = repeated([operand.sql], sql => {
    const value = { ...operand, sql }
    return `(${comparison(value, low, '>=')!.sql} AND ${comparison(value, high, '<=')!.sql})`
  })
  return negated(node.not, sql)
}

/** IS NULL, TRUE or FALSE, never NULL itself; UNKNOWN is NULL. */
export function is(context: Context, node: Is, scope: Scope): Typed {
  const value = context.expression(node.operand, scope)
  if (node.what !== 'NULL' && !coerce(value, { kind: 'BOOL' }))
    throw noSignature(context, node, `operator IS ${node.what}`, [value])
  const what = node.what === 'UNKNOWN' ? 'NULL' : node.what
  return typed(`(${value.sql} IS ${node.not ? 'NOT ' : ''}${what})`, 'BOOL')
}

/** Never NULL: to it, NULL is a value like others. Throws SqlError for operands without a common type. */
export function isDistinctFrom(context: Context, node: IsDistinctFrom, scope: Scope): Typed {
  const sides = context.expressions([node.left, node.right], scope)
  const [left, right] = alike(context, node, 'IS DISTINCT FROM', sides)
  return typed(`(${left} IS ${node.not ? 'NOT ' : ''}DISTINCT FROM ${right})`, 'BOOL')
}

/** The SQL of an operator's operands, brought to one type. */
function alike(context: Context, node: Expression, operator: string, values: Typed[]): string[] {
  return unifyOrThrow(context, node, `operator ${operator}`, values).values.map(value => value.sql)
}

function negated(not: boolean, sql: string): Typed {
  return typed(not ? `(NOT ${sql})` : sql, 'BOOL')
}
