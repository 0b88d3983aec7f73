import { type Place, placeOf, SqlError } from '../../../sql/error.ts'
import type { Expression, Node, Query } from '../../../sql/tree.ts'
import type { Column, SqlType } from '../../../sql/types.ts'
import type { Scope } from './scope.ts'

/** A query in DuckDB SQL. */
export interface Relation {
  sql: string
  columns: OutputColumn[]
  /** SELECT AS STRUCT or AS VALUE: a row is the value of the only column. */
  valueTable: boolean
  /** The order that its rows were asked to have and that its SQL leaves to whoever reads it; see order.ts. */
  order: OrderKey[]
}

export interface OutputColumn {
  /** `null` for a column that cannot be named. */
  name: string | null
  /** The name in DuckDB, unique in its relation. */
  duck: string
  type: SqlType | null
}

/** One key of an order: which output column, and the rest of the ORDER BY item. */
export interface OrderKey {
  column: number
  direction: string
}

/** What the parts of the rewriter share during one query, and through which they call each other. */
export interface Context {
  tables: ReadonlyMap<string, Column[]>
  parameters: ReadonlyMap<string, SqlType>
  /** DuckDB SQL of the current moment, TIMESTAMPTZ. */
  now: string
  /** A name that nothing else in this query has. */
  fresh(hint: string): string
  /** Where a node stands in the SQL text. */
  place(node: Node): Place
  query(node: Query, scope: Scope | null, ctes: Ctes, order?: OrderOf): Relation
  expression(node: Expression, scope: Scope): Typed
}

/** Whether a query sorts its rows, or may leave that to the query that reads them (see order.ts). */
export type OrderOf = 'rows' | 'order left to reader'

/** Common tables in sight, by lower-case name. */
export type Ctes = ReadonlyMap<string, CommonRelation>

export interface CommonRelation {
  /** The name in DuckDB. */
  duck: string
  columns: OutputColumn[]
  valueTable: boolean
  order: OrderKey[]
}

/** Correct GoogleSQL that cannot be run here; unlike a plain SqlError, which is its author's mistake. */
export class UnsupportedError extends SqlError {}

export function mistake(context: Context, node: Node, message: string): SqlError {
  return new SqlError(message, context.place(node))
}

export function unsupported(context: Context, node: Node, what: string): UnsupportedError {
  return new UnsupportedError(`${what} is not supported by the local engine`, context.place(node))
}

export function contextPlace(sql: string): (node: Node) => Place {
  return node => placeOf(sql, node.at)
}

/** DuckDB SQL with the GoogleSQL type of its value. The text can stand anywhere without more parentheses. */
export interface Typed {
  sql: string
  /** `null` for a bare NULL, which fits every type. */
  type: SqlType | null
  /** What the text came from, where GoogleSQL coerces it more freely than an ordinary expression. */
  origin?: 'literal' | 'parameter'
  /** The values of a struct that was written out, each of which is coerced by its own rules. */
  fields?: Typed[]
}

export function typed(sql: string, type: SqlType['kind'] | SqlType | null): Typed {
  return { sql, type: typeof type === 'string' ? scalar(type) : type }
}

function scalar(kind: SqlType['kind']): SqlType {
  if (kind === 'ARRAY' || kind === 'STRUCT') throw new Error(`${kind} is not a scalar type`)
  return { kind }
}

export function arrayOf(element: SqlType | null): SqlType {
  return { kind: 'ARRAY', element: element ?? { kind: 'INT64' } }
}

/**
 * DuckDB SQL that fails with `message` once it is evaluated, of type BIGINT or DOUBLE.
 * `error()` would do, but DuckDB takes it for volatile and then refuses it under TRY and inside lambdas.
 */
export function raise(message: RaisedMessage, type: 'BIGINT' | 'DOUBLE' = 'BIGINT'): string {
  return `CAST('${message}' AS ${type})`
}

/** Messages of `raise`; these and no others are passed on to callers. */
export const raisedMessages = [
  'Array index is out of bounds',
  'Array is too large',
  'Bad value for a cast',
  'Division by zero',
  'Length must not be negative',
  'Text is too long',
] as const

type RaisedMessage = (typeof raisedMessages)[number]
