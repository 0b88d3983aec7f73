/** Values that DuckDB SQL uses several times, and evaluates once; and what is evaluated before a TRY. */
import { applyCoercion } from './coercion.ts'
import { type Context, type Scope, structSql, type Typed } from './context.ts'
import type { Expression } from '../../../sql/tree.ts'
import type { SqlType } from '../../../sql/types.ts'

/**
 * Uses values several times, and evaluates them once: what is more than a literal, a parameter or a column is the argument
 * of a lambda, which costs a fifth more than the value alone. Literals and parameters stay in any case: a regular expression
 * that DuckDB sees to be constant is compiled once, and else for each row.
 */
export function once<Values extends string[]>(values: Values, use: (...values: Values) => string): string {
  if (values.every(isSimple)) return use(...values)
  const row = `"values of a call${depth || ''}"`
  const inside = values.map((value, at) => (constant.test(value) ? value : `(${row})."v${at}"`)) as Values
  const fields = values.flatMap((value, at) => (constant.test(value) ? [] : [`'v${at}': ${value}`]))
  depth++
  try {
    return `(list_transform([{${fields.join(', ')}}], lambda ${row}: ${use(...inside)})[1])`
  } finally {
    depth--
  }
}

/**
 * How many calls of `once` are being made inside one another: each has a name of its own for its values. As no column is called,
 * and used in parentheses: DuckDB takes `v.v0` for the field of a column `v`, and in HAVING for a column.
 */
let depth = 0

/**
 * Uses values several times: as they are while that is short, which costs less than a lambda; once where operands of operands
 * would grow exponentially.
 */
export function repeated<Values extends string[]>(
  values: Values,
  use: (...values: Values) => string,
): string {
  const sql = use(...values)
  if (sql.length < longest) return sql
  const shared = once(values, use)
  return shared.length < sql.length ? shared : sql
}

/** The texts of a list with a delimiter. DuckDB's array_to_string plans the list twice, and takes a literal delimiter only. */
export function joinedBy(list: string, delimiter: string): string {
  const [items, between] = textLiteral.test(delimiter)
    ? [list, delimiter]
    : [`list_transform(${list}, lambda item: ${delimiter} || item)`, `''`]
  return `substr(list_aggr([''] || ${items}, 'string_agg', ${between}), length(${delimiter}) + 1)`
}

/** NULL for one value. DuckDB's NULLIF is this CASE too, with its operand twice. */
export function nullWhere(value: string, none: string): string {
  return repeated([value], value => `(CASE WHEN ${value} = ${none} THEN NULL ELSE ${value} END)`)
}

/** Characters of DuckDB SQL in which values stand as often as they are used. */
const longest = 2000

/** A literal, a parameter, a column or a field of one. */
export function isSimple(sql: string): boolean {
  return constant.test(sql) || columnOrField.test(sql)
}

const textLiteral = /^'(?:[^']|'')*'$/
const constant = /^(?:'(?:[^']|'')*'|\d+|CAST\((?:NULL|\$\w+|-?\d+|'(?:[^']|'')*') AS [\w ]+\)|NULL)$/
const columnOrField = /^\(*"(?:[^"]|"")*"(?:\)*\."(?:[^"]|"")*")*$/

// SAFE: errors of a function or cast are NULL, those of its arguments are errors. DuckDB's TRY would take them all; it takes no
// aggregate or window function; and an expression that stands twice in a query is computed before the TRY, with its
// errors. So the arguments are computed before, and a lambda passes them on.

/** The name of the row of what is computed before, as no column is called. */
const liftedRow = '"values before a call"'

/** An expression of a type, whose errors are NULL. */
export function safe(scope: Scope, type: SqlType | null, expression: (scope: Scope) => string): string {
  const lifted = scope.lifted ?? []
  const tried = inRange(`TRY(${expression({ ...scope, lifted })})`, type)
  if (scope.lifted || lifted.length === 0) return tried
  const row = structSql(lifted.map((value, at) => ({ name: `v${at}`, sql: value })))
  return `(list_transform([${row}], lambda ${liftedRow}: ${tried})[1])`
}

/** What is computed before a TRY, where the expression stands in one. */
export function lift({ lifted }: Scope, value: Typed): Typed {
  return lifted ? { ...value, sql: `(${liftedRow})."v${lifted.push(value.sql) - 1}"` } : value
}

/** An argument of a call or cast. The count of an INTERVAL belongs to the function that adds it. */
export function argument(context: Context, node: Expression, scope: Scope): Typed {
  if (!scope.lifted || node.kind === 'IntervalLiteral') return context.expression(node, scope)
  const value = context.bare(node, { ...scope, lifted: undefined })
  return applyCoercion(context, node, beforeCall(scope, value))
}

/** The value of an argument, computed before the call, unless it is written out. */
export function beforeCall(scope: Scope, value: Typed): Typed {
  return value.origin || value.empty || value.type === null ? value : lift(scope, value)
}

/**
 * A regular expression that is the same in all rows, which DuckDB would refuse as it plans, where TRY does not see it. Those that
 * are right for JavaScript too, and have nothing that RE2 lacks, stay: they are compiled once.
 */
export function patternBeforeCall(scope: Scope, node: Expression | undefined, value: Typed): Typed {
  if (!scope.lifted || !value.origin) return value
  const pattern = node?.kind === 'Literal' ? node.value : '('
  try {
    const { source } = new RegExp(pattern, 'u')
    if (!/\(\?<?[=!]|\\[1-9k]|\{(\d*,)?\d{3}/.test(source)) return value
  } catch {
    // RE2 may take it nevertheless.
  }
  return { ...lift(scope, value), origin: undefined }
}

/** DuckDB's dates go beyond GoogleSQL's years 1 to 9999; elsewhere values.ts refuses those of a result. */
const ranges: Partial<Record<string, string>> = {
  DATE: `DATE '0001-01-01' AND DATE '9999-12-31'`,
  DATETIME: `TIMESTAMP '0001-01-01' AND TIMESTAMP '9999-12-31 23:59:59.999999'`,
  TIMESTAMP: `TIMESTAMPTZ '0001-01-01 00:00:00+00' AND TIMESTAMPTZ '9999-12-31 23:59:59.999999+00'`,
}

function inRange(sql: string, type: SqlType | null): string {
  const range = ranges[type?.kind ?? '']
  return range ? once([sql], sql => `(CASE WHEN ${sql} BETWEEN ${range} THEN ${sql} END)`) : sql
}
