import type { Place } from '../../../sql/error.ts'
import { placeOf, SqlError } from '../../../sql/error.ts'
import type { Expression, Node, Query } from '../../../sql/tree.ts'
import type { Column, SqlType } from '../../../sql/types.ts'
import type { Scope } from './scope.ts'
import type { Typed } from './typed.ts'

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
