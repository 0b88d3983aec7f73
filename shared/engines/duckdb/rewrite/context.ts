/** What the files of the printer share: a query's context, relations, scopes, typed expressions and errors. */
import { SqlError } from '../../../sql/error.ts'
import type { Column, RangeVariable, Resolution, Rows, Source } from '../../../sql/resolve/resolution.ts'
import type { Expression, Node, Query, SelectColumn } from '../../../sql/tree.ts'
import type { ScalarName, SqlType, StructType } from '../../../sql/types.ts'
import { fieldName } from '../../values.ts'
import { quoteName, quoteText } from '../syntax.ts'

/** One query's resolution and names, and the functions through which the files call each other. */
export interface Context {
  resolution: Resolution
  /** DuckDB SQL of columns, where they stand now: FROM tells it, and what is put around FROM again. */
  columns: Map<Column, Typed>
  /** Of items of a SELECT list and of WITH, for their aliases. */
  items: Map<SelectColumn, Typed>
  common: Map<Rows, CommonTable>
  keys: Keys
  /** The unit in which INTERVALs are written out as they are, once there is one (intervals.ts). */
  units: { interval?: string }
  /** DuckDB SQL of a table's rows, with the table's columns. */
  relationOf(table: string): string
  /** DuckDB SQL of the current time, TIMESTAMPTZ. */
  now: string
  /** A name that nothing else in this query has. */
  uniqueName(hint: string): string
  /** Errors at a node's place in the SQL text. */
  invalid(node: Node, message: string): SqlError
  unsupported(node: Node, what: string, why?: string): UnsupportedError
  query(node: Query, outer: Scope | null, sorting?: Sorting): Relation
  /** An expression as it is, and as the type that GoogleSQL coerces it to. */
  bare(node: Expression, scope: Scope): Typed
  expression(node: Expression, scope: Scope): Typed
  expressions(nodes: Expression[], scope: Scope): Typed[]
}

/** A query in DuckDB SQL. */
export interface Relation {
  sql: string
  /** The names of its columns in DuckDB, which has no name twice. */
  names: string[]
  /** The order that its ORDER BY gives, also where its SQL leaves the sorting to its reader; see query.ts. */
  order: OrderKey[]
}

/** FROM, or a part of it, in DuckDB SQL. */
export interface FromRows {
  sql: string
  /** More than one item: needs parentheses on the right of a join. */
  joined: boolean
  source: Source
  /** That of the only table, by its columns. */
  order: OrderKey[]
}

/** A relation under the name `table` in DuckDB. */
type CommonTable = Omit<Relation, 'sql'> & { table: string }

/** One key of an order: which output column, and the rest of the ORDER BY item. */
export interface OrderKey {
  column: number
  direction: string
}

/** Whether a query sorts its rows, or leaves that to the query that reads them (see query.ts). */
export type Sorting = 'sorted' | 'deferred'

/** Where an expression stands. */
export interface Scope {
  /** What FROM brings into sight. */
  own: Source
  /** The columns of the SELECT list, once they have aliases. */
  list?: readonly Column[]
  /** That of the query around. */
  outer: Scope | null
  /** Inside TRY, what is computed before it (see repeats.ts). */
  lifted?: string[] | undefined
}

/** Keys of GROUP BY that have become columns (select.ts). */
interface Keys {
  expressions: Map<Expression, string>
  paths: Map<Column | RangeVariable, { fields: readonly string[]; sql: string }[]>
}

/** DuckDB SQL with the GoogleSQL type of its value. The text can stand anywhere without more parentheses. */
export interface Typed {
  sql: string
  /** `null` for a bare NULL, which fits every type. */
  type: SqlType | null
  /** What the text came from, where GoogleSQL coerces it more freely than an ordinary expression. */
  origin?: 'literal' | 'parameter' | undefined
  /** Of a literal text: how DuckDB reads it as a value of a type. Throws SqlError for an invalid text. */
  readAs?: ((type: ScalarName) => string) | undefined
  /** The values of a struct that was written out, each of which is coerced by its own rules. */
  fields?: Typed[] | undefined
  /** Of a constant INTERVAL, the same without what keeps it apart from those of other units (intervals.ts). */
  plain?: string
  /** Of arithmetic of FLOAT64s: without the check around it, and the columns that it is made of; `null` for other values. */
  unchecked?: { sql: string; leaves: string[] | null } | undefined
  /** An array without elements that was written out: it has the type of what surrounds it. */
  empty?: boolean | undefined
}

/** A value of a type, which may be given by its bare name; `null` is that of a bare NULL. */
export function typed(sql: string, type: ScalarName | SqlType | null): Typed {
  return { sql, type: typeof type === 'string' ? { kind: type } : type }
}

/** The type of an array; GoogleSQL takes a bare NULL for an INT64. */
export function arrayOf(element: SqlType | null): SqlType {
  return { kind: 'ARRAY', element: element ?? { kind: 'INT64' } }
}

/** The element type of an array, `null` for any other type. */
export function elementOf(type: SqlType | null): SqlType | null {
  return type?.kind === 'ARRAY' ? type.element : null
}

/** A STRUCT of values, each with the name of its field or `null`. */
export function structOf(values: (Typed & { name: string | null })[]): Typed {
  const fields = values.map(({ name, type }) => ({ name, type: type ?? { kind: 'INT64' as const } }))
  return typed(structSql(values), { kind: 'STRUCT', fields })
}

/** DuckDB SQL of a STRUCT. */
export function structSql(fields: { name: string | null; sql: string }[]): string {
  return `{${fields.map(({ name, sql }, at) => `${quoteText(fieldName(name, at))}: ${sql}`).join(', ')}}`
}

/** One field of a STRUCT value. */
export function structField(sql: string, { fields }: StructType, at: number): Typed {
  const { name, type } = fields[at]!
  return typed(`(${sql}).${quoteName(fieldName(name, at))}`, type)
}

/** Correct GoogleSQL that cannot run here; any other SqlError of the rewriting is a fault in the query. */
export class UnsupportedError extends SqlError {}

/**
 * DuckDB SQL that fails with `message` once it is evaluated, of a type.
 * `error()` would do, but DuckDB takes it for volatile and then refuses it under TRY and inside lambdas.
 */
export function raise(
  message: RaisedMessage,
  type: 'BIGINT' | 'DOUBLE' | 'DECIMAL(38,9)' = 'BIGINT',
): string {
  return `CAST('${message}' AS ${type})`
}

/** Messages of `raise`; of DuckDB's conversion errors only these reach callers. */
export const raisedMessages = [
  'A LIKE pattern ends with a backslash',
  'A date or time is out of range',
  'A number is out of range',
  'A recursive CTE has reached the maximum number of iterations: 500',
  'A text is longer than 1 MiB',
  'Array index is out of bounds',
  'Bad value for a cast',
  'Bitwise shifts take no negative number',
  'Division by zero',
  'Length must not be negative',
  'REGEXP_INSTR takes a group in a literal pattern only',
  'TRANSLATE has a character twice',
  'Text is too long for its type',
  'Unknown time zone',
] as const

type RaisedMessage = (typeof raisedMessages)[number]
