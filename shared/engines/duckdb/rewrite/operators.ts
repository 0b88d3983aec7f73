/** Operators: arithmetic, comparison, logic, LIKE, IN, BETWEEN, IS. */
import { isOverRows } from '../../../sql/resolve/calls.ts'
import { isListed } from '../../../sql/resolve/expressions.ts'
import { links } from '../../../sql/resolve/operators.ts'
import { numberKinds } from '../../../sql/resolve/types.ts'
import type * as ast from '../../../sql/tree.ts'
import type { SqlType, StructType } from '../../../sql/types.ts'
import { descendantsHere } from '../../../sql/walk.ts'
import { duckType, quoteName } from '../syntax.ts'
import { isSimple, joinedBy, repeated } from './repeats.ts'
import { convert } from './casts.ts'
import { applyCoercion, coerce, commonOf, typeIn } from './coercion.ts'
import { type Context, elementOf, raise, type Scope, structField, type Typed, typed } from './context.ts'
import { asDate, withinYears } from './dates-and-times.ts'
import { intervalArithmetic, movedBy } from './intervals.ts'
import { negativeInteger } from './literals.ts'

type Sides = [left: Typed, right: Typed]

export function binary(context: Context, node: ast.Binary, scope: Scope): string | Typed {
  const { operator } = node
  if (operator === '||') return concatenate(context, node, scope)
  const nodes = [node.left, node.right]
  const given = nodes.map(side => context.bare(side, scope)) as Sides
  const sides = given.map((side, at) => applyCoercion(context, nodes[at]!, side)) as Sides
  const [left, right] = sides
  if (/^[-+*/]$/.test(operator)) return arithmetic(node, typeIn(context, node)!, given, sides)
  if (/^([<>]=?|!?=|<>)$/.test(operator)) return comparison(left, right, operator)
  if (left.type?.kind === 'BYTES') throw bitsOfBytes(context, node)
  if (operator === '<<' || operator === '>>') return shift(left, right, operator)
  return operator === '^' ? `xor(${left.sql}, ${right.sql})` : `(${left.sql} ${operator} ${right.sql})`
}

/** Of values of one type. NaN is equal to nothing. */
function comparison(a: Typed, b: Typed, operator: ast.BinaryOperator): string {
  if (a.type?.kind === 'STRUCT') return structComparison(a, b, a.type, operator)
  const compared = `(${a.sql} ${operator} ${b.sql})`
  return a.type?.kind === 'FLOAT64' ? withoutNaN(a, b, operator, compared) : compared
}

export function equality(a: Typed, b: Typed): string {
  return comparison(a, b, '=')
}

/** Field by field, so that a NULL in one makes equality unknown; structs have no order. */
function structComparison(a: Typed, b: Typed, type: StructType, operator: ast.BinaryOperator): string {
  const field = (of: Typed, at: number) => of.fields?.[at] ?? structField(of.sql, type, at)
  const same = type.fields.map((_, at) => equality(field(a, at), field(b, at))).join(' AND ')
  const known = [a, b].flatMap(({ sql, fields }) => (fields ? [] : `${sql} IS NOT NULL`))
  const equal = known.length > 0 ? `(CASE WHEN ${known.join(' AND ')} THEN ${same} END)` : `(${same})`
  return negate(operator !== '=', equal)
}

/** Nothing is equal to NaN, less or greater, itself included; to DuckDB it is the greatest number and equal to itself. */
function withoutNaN(a: Typed, b: Typed, operator: ast.BinaryOperator, compared: string): string {
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

function bitsOfBytes(context: Context, node: ast.Binary | ast.Unary) {
  return context.unsupported(node, `operator ${node.operator} of BYTES`, 'only BigQuery runs it')
}

/** Of the 64 bits, without regard to the sign; DuckDB keeps the sign, and refuses to lose a bit. */
function shift(left: Typed, right: Typed, operator: string): string {
  return repeated([left.sql, right.sql], (value, count) => {
    const bits = `CAST(CAST(CAST(${value} AS BIGINT) AS BIT) ${operator} CAST(${count} AS INTEGER) AS BIGINT)`
    const least = raise('Bitwise shifts take no negative number')
    return `(CASE WHEN ${count} < 0 THEN ${least} WHEN ${count} > 63 THEN 0 * ${value} ELSE ${bits} END)`
  })
}

/** @param given the operands without the coercions of `sides` */
function arithmetic(node: ast.Binary, type: SqlType, given: Sides, sides: Sides): Typed {
  const { operator } = node
  const [{ sql: a, type: common }, { sql: b }] = sides
  if (!numberKinds.includes(type.kind)) return typed(ofTimes(node, type, sides), type)
  if (isDecimal(type) && operator === '*') return typed(decimal('multiply', a, b, type), type)
  if (isDecimal(type) && operator === '/') return typed(decimal('divide', a, b, type), type)
  const put =
    operator === '/'
      ? // Division gives FLOAT64 even for integers, and fails on zero where DuckDB gives infinity.
        (x: string, y: string) =>
          repeated([x, y], (x, y) => `(${x} / ${divisorOf(x, y, 'DOUBLE', node.right)})`)
      : (x: string, y: string) => `(${x} ${operator} ${y})`
  return common?.kind === 'FLOAT64'
    ? checkedFloat(given, [a, b], put)
    : typed(operator === '/' ? put(a, b) : exact(put(a, b), type), type)
}

/**
 * FLOAT64s put together; infinity is an error where all of them are finite. Only columns and literals are looked at, which
 * cost nothing to look at again, and of nested operations only the outermost.
 */
function checkedFloat(given: Sides, coerced: [string, string], put: (x: string, y: string) => string): Typed {
  const parts = given.map((value, at) => {
    const sql = coerced[at]!
    if (value.type?.kind !== 'FLOAT64' || value.origin === 'literal') return { sql, leaves: [] }
    return value.unchecked ?? { sql, leaves: isSimple(sql) ? [sql] : null }
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
  return { ...result, unchecked: { sql, leaves } }
}

/** Types that are DECIMAL in DuckDB: their arithmetic needs `decimal` and `exact`. */
export const isDecimal = ({ kind }: SqlType) => kind === 'NUMERIC' || kind === 'BIGNUMERIC'

/** A product or quotient of decimals, exactly: by `duckdb/udfs/numeric.ts`. */
export function decimal(what: 'multiply' | 'divide', a: string, b: string, type: SqlType): string {
  if (type.kind === 'NUMERIC') return `gsql_numeric_${what}(${a}, ${b})`
  const texts = [a, b].map(sql => `CAST(${sql} AS VARCHAR)`).join(', ')
  return `CAST(gsql_bignumeric_${what}(${texts}) AS ${duckType(type)})`
}

/** DuckDB widens the scale of decimals as it calculates; GoogleSQL keeps 9 digits after the point. */
export function exact(sql: string, type: SqlType): string {
  return isDecimal(type) ? `CAST(${sql} AS ${duckType(type)})` : sql
}

/** The divisor, an error where it is zero; but NULL divided by zero is NULL. One that is written out is tested here. */
export function divisorOf(
  dividend: string,
  divisor: string,
  type: 'BIGINT' | 'DOUBLE' | 'DECIMAL(38,9)',
  node: ast.Expression,
): string {
  if (node.kind === 'Literal' && /^(INTEGER|FLOAT)$/.test(node.literal) && Number(node.text) !== 0)
    return divisor
  return `(CASE WHEN ${dividend} IS NOT NULL THEN ${nonZero(divisor, type)} END)`
}

/** A number that is an error where the query finds it zero. Its SQL is repeated; `type` is the one it has in DuckDB. */
export function nonZero(sql: string, type: 'BIGINT' | 'DOUBLE' | 'DECIMAL(38,9)'): string {
  return `(CASE WHEN ${sql} = 0 THEN ${raise('Division by zero', type)} ELSE ${sql} END)`
}

/** Of INTERVALs, and of dates and times with them or with each other. */
function ofTimes(node: ast.Binary, type: SqlType, [left, right]: Sides): string {
  const { operator } = node
  const ofIntervals = intervalArithmetic(left, right, operator)
  if (ofIntervals) return ofIntervals
  if (type.kind === 'INTERVAL') return difference(left, right)
  const isFirst = left.type !== null && /^DATE|^TIMESTAMP/.test(left.type.kind)
  const [point, by] = isFirst ? [left, right] : [right, left]
  const sign = operator as '+' | '-'
  if (by.type?.kind === 'INT64') {
    const days = `to_days(CAST(${by.sql} AS INTEGER))`
    return asDate(withinYears(`(${point.sql} ${sign} ${days})`, 'DATETIME'))
  }
  // As in GoogleSQL, a DATE moved by an interval is a DATETIME.
  return withinYears(
    movedBy(point.sql, sign, by, isFirst ? node.right : node.left),
    type.kind as 'DATETIME' | 'TIMESTAMP',
  )
}

/** The INTERVAL between two points of one type: of TIMESTAMPs and TIMEs in hours, of DATEs in days, of DATETIMEs in both. */
function difference(to: Typed, from: Typed): string {
  if (to.type?.kind === 'DATE') return `to_days(CAST(${to.sql} - ${from.sql} AS INTEGER))`
  if (to.type?.kind === 'DATETIME') return `(${to.sql} - ${from.sql})`
  return `to_microseconds(epoch_us(${to.sql}) - epoch_us(${from.sql}))`
}

/** Strings, bytes or arrays; other values are cast to strings. A whole chain at once, since its bound is on what the chain makes. */
function concatenate(context: Context, node: ast.Binary, scope: Scope): string {
  const { kind } = typeIn(context, node)!
  const values = context.expressions(links(node), scope).map(value => {
    const isText = kind !== 'STRING' || value.type?.kind === 'STRING'
    return isText ? value.sql : convert(value, { kind })
  })
  return `(${values.join(' || ')})`
}

/** `-` and an integer literal are one: without the sign, the least INT64 is out of range. */
export function unary(context: Context, node: ast.Unary, scope: Scope): Typed {
  const { operand, operator } = node
  if (operator === '-' && operand.kind === 'Literal' && operand.literal === 'INTEGER')
    return negativeInteger(operand)
  const value = context.expression(operand, scope)
  if (operator === '-' && value.type?.kind === 'INTERVAL')
    return typed(`gsql_interval_multiplied(${value.sql}, CAST(-1 AS BIGINT))`, 'INTERVAL')
  if (operator === '~' && value.type?.kind === 'BYTES') throw bitsOfBytes(context, node)
  return { ...value, sql: `(${operator} ${value.sql})`, unchecked: undefined }
}

export function like(context: Context, node: ast.Like, scope: Scope): string {
  const [text, pattern] = context
    .expressions([node.left, node.right], scope)
    .map(({ sql, type }) => (type?.kind === 'BYTES' ? `gsql_characters(${sql})` : sql)) as [string, string]
  return negate(node.not, matches(text, pattern))
}

/**
 * DuckDB's own LIKE tries every place for every % where there is an escape or a _: for k of them in a text of n characters
 * n^k steps. Its regular expressions take n.
 */
function matches(text: string, pattern: string): string {
  const simple = /^'(?:[^\\_]*|%?[^\\%]*%?)'$/
  if (simple.test(pattern)) return `(${text} LIKE ${pattern})`
  const tokens = `regexp_extract_all(${pattern}, '(?s)\\\\.|.')`
  const lone = `CASE WHEN t = '\\' THEN CAST(${raise('A LIKE pattern ends with a backslash')} AS VARCHAR)`
  const token = `${lone} WHEN t = '%' THEN '.*' WHEN t = '_' THEN '.' ELSE regexp_escape(right(t, 1)) END`
  const regexp = joinedBy(`list_transform(${tokens}, lambda t: ${token})`, `''`)
  return `regexp_full_match(${text}, ${regexp}, 's')`
}

/** As a chain of OR or AND, of the patterns that are listed or of those in an array. */
export function likeAny(context: Context, node: ast.LikeAny, scope: Scope): string {
  const { among } = node
  const any = node.quantifier === 'ANY'
  const { sql: operand } = context.expression(node.operand, scope)
  if (among.kind === 'InList') {
    const tests = context.expressions(among.items, scope).map(({ sql }) => matches(operand, sql))
    return negate(node.not, `(${tests.join(any ? ' OR ' : ' AND ')})`)
  }
  const array = context.expression(among.array, scope)
  const pattern = quoteName(context.uniqueName('p'))
  const test = matches(operand, pattern)
  const tests = (not: string) => `list_transform(${array.sql}, lambda ${pattern}: ${not}${test})`
  return negate(node.not, any ? anyOf(tests('')) : `(NOT ${anyOf(tests('NOT '))})`)
}

/** IN a list, an array or a query. */
export function inOperator(context: Context, node: ast.In, scope: Scope): string {
  const { among } = node
  if (among.kind === 'InQuery') return negate(node.not, inQuery(context, node, among.query, scope))
  if (among.kind === 'InUnnest' && !isListed(among))
    return negate(node.not, inArray(context, node, among.array, scope))
  // DuckDB looks a list up by hash.
  const { items } = isListed(among) ? among.array : among
  return negate(node.not, inList(context, node, items, scope))
}

function inList(context: Context, node: ast.In, items: ast.Expression[], scope: Scope): string {
  const values = context.expressions([node.operand, ...items], scope)
  const [first, ...others] = values as [Typed, ...Typed[]]
  // Only NaN compares otherwise, and no literal is NaN.
  const given = items.some(item => item.kind !== 'Literal' || item.literal === 'NULL')
  const kind = commonOf(values)?.kind
  if (kind !== 'STRUCT' && !(kind === 'FLOAT64' && given))
    return `(${first.sql} IN (${others.map(({ sql }) => sql).join(', ')}))`
  const parts = first.fields ?? [first]
  return repeated(
    parts.map(part => part.sql),
    (...texts) => {
      const again = parts.map((part, at) => ({ ...part, sql: texts[at]! }))
      const one = first.fields ? { ...first, fields: again } : again[0]!
      return `(${others.map(other => equality(one, other)).join(' OR ')})`
    },
  )
}

/** Whether one of the rows is equal; NULL if none is, and of some it is not known. */
function inQuery(context: Context, node: ast.In, query: ast.Query, scope: Scope): string {
  const operand = context.bare(node.operand, scope)
  const { names, sql } = context.query(query, scope)
  const [column] = context.resolution.rows.get(query)!.columns
  const rows = quoteName(context.uniqueName('rows'))
  const value = typed(`${rows}.${quoteName(names[0]!)}`, column!.type as SqlType | null)
  const type = commonOf([operand, value])
  const kind = type?.kind
  if (kind === 'FLOAT64' && value.type?.kind === 'FLOAT64')
    return `(${operand.sql} IN (SELECT ${value.sql} FROM (${sql}) AS ${rows} WHERE isnan(${value.sql}) IS NOT TRUE))`
  if (kind !== 'STRUCT') return `(${operand.sql} IN (${sql}))`
  // What is computed of many rows cannot be inside a query.
  if ([...descendantsHere(node.operand)].some(isOverRows))
    throw context.unsupported(node, 'A STRUCT of aggregates IN a query', 'compare around the query')
  const equal = equality(applyCoercion(context, node.operand, operand), coerce(value, type!))
  const found = `CASE WHEN bool_or(${equal}) THEN true WHEN bool_or(${equal} IS NULL) THEN NULL ELSE false END`
  return `(SELECT ${found} FROM (${sql}) AS ${rows})`
}

/** Without a match the result is NULL, not false, if either side holds a NULL; but an empty array has no match. */
function inArray(context: Context, node: ast.In, among: ast.Expression, scope: Scope): string {
  const operand = context.expression(node.operand, scope)
  const array = context.expression(among, scope)
  const element = elementOf(array.type)!
  const type = operand.type ?? element
  if (type.kind === 'STRUCT') {
    const each = quoteName(context.uniqueName('x'))
    const test = equality(operand, coerce(typed(each, element), type))
    return anyOf(`list_transform(${array.sql}, lambda ${each}: ${test})`)
  }
  const list = type.kind === element.kind ? array.sql : `CAST(${array.sql} AS ${duckType(type)}[])`
  return repeated([operand.sql, list], (x, a) => {
    const found = `list_contains(${a}, ${x})${type.kind === 'FLOAT64' ? ` AND NOT isnan(${x})` : ''}`
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

export function between(context: Context, node: ast.Between, scope: Scope): string {
  const values = context.expressions([node.operand, node.low, node.high], scope)
  const [operand, low, high] = values as [Typed, Typed, Typed]
  // DuckDB's greatest number is NaN, which nothing comes before.
  const strange = high.type?.kind === 'FLOAT64' && high.origin !== 'literal'
  // Its BETWEEN plans what is more than a column twice.
  if (!strange && isSimple(operand.sql))
    return negate(node.not, `(${operand.sql} BETWEEN ${low.sql} AND ${high.sql})`)
  const sql = repeated([operand.sql], sql => {
    const value = { ...operand, sql }
    return `(${comparison(value, low, '>=')} AND ${comparison(value, high, '<=')})`
  })
  return negate(node.not, sql)
}

/** IS NULL, TRUE or FALSE, never NULL itself; UNKNOWN is NULL. */
export function is(context: Context, node: ast.Is, scope: Scope): string {
  const what = node.what === 'UNKNOWN' ? 'NULL' : node.what
  return `(${context.expression(node.operand, scope).sql} IS ${node.not ? 'NOT ' : ''}${what})`
}

/** Never NULL: to it, NULL is a value like others. */
export function isDistinctFrom(context: Context, node: ast.IsDistinctFrom, scope: Scope): string {
  const [left, right] = context.expressions([node.left, node.right], scope) as Sides
  return `(${left.sql} IS ${node.not ? 'NOT ' : ''}DISTINCT FROM ${right.sql})`
}

function negate(not: boolean, sql: string): string {
  return not ? `(NOT ${sql})` : sql
}
