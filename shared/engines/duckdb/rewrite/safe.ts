/**
 * SAFE: errors of a function or cast are NULL, those of its arguments are errors. DuckDB's TRY would take them all; it takes no
 * aggregate or window function; and an expression that stands twice in a query is computed before the TRY, with its
 * errors. So the arguments are computed before, and a lambda passes them on.
 */
import type { Expression } from '../../../sql/tree.ts'
import { once } from './repeats.ts'
import type { SqlType } from '../../../sql/types.ts'
import { type Context, type Scope, structSql, type Typed } from './context.ts'
import { asCoerced } from './coercion.ts'

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
  return asCoerced(context, node, beforeCall(scope, value))
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
