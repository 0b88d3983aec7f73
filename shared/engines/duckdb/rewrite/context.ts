/** What the files of the rewriting share: a query's context, relations, scopes, typed expressions and errors. */
import { SqlError } from '../../../sql/error.ts'
import type { Faults } from '../../../sql/resolve/resolution.ts'
import type { Expression, Node, Query, Window } from '../../../sql/tree.ts'
import type { Column, ScalarName, SqlType, StructType } from '../../../sql/types.ts'
import { fieldName } from '../../values.ts'
import { quoteName, quoteText } from '../syntax.ts'

/** One query's tables, parameters and names, and the functions through which the files call each other. */
export interface Context {
  tables: ReadonlyMap<string, Column[]>
  parameters: ReadonlyMap<string, SqlType>
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
  query(node: Query, scope: Scope | null, ctes: Ctes, sorting?: Sorting): Relation
  expression(node: Expression, scope: Scope): Typed
  expressions(nodes: Expression[], scope: Scope): Typed[]
}

/** Throws the first fault that rules of the front end tell of. */
export function throwing(context: Context): Faults {
  return {
    fault(node, message) {
      throw context.invalid(node, message)
    },
  }
}

/** A query in DuckDB SQL. */
export interface Relation {
  sql: string
  columns: OutputColumn[]
  /** SELECT AS STRUCT or AS VALUE: a row is the value of the only column. */
  valueTable: boolean
  /** The order that its ORDER BY gives, also where its SQL leaves the sorting to its reader; see order.ts. */
  order: OrderKey[]
}

export interface OutputColumn {
  /** `null` for a column that cannot be named. */
  name: string | null
  /** The name in DuckDB, unique in its relation. */
  duck: string
  type: SqlType | null
  /** For set operations, which coerce literals of a select list. */
  origin?: Typed['origin']
  empty?: Typed['empty'] | undefined
  fields?: Typed['fields']
}

/** One key of an order: which output column, and the rest of the ORDER BY item. */
export interface OrderKey {
  column: number
  direction: string
}

/** Whether a query sorts its rows, or leaves that to the query that reads them (see order.ts). */
export type Sorting = 'sorted' | 'deferred'

/** Common tables in sight, by lower-case name. */
export type Ctes = ReadonlyMap<string, CommonTable>

/** A relation under `duck`, its name in DuckDB. */
export type CommonTable = Omit<Relation, 'sql'> & { duck: string }

/** The names that an expression can use where it stands; scope.ts resolves them. */
export interface Scope {
  variables: RangeVariable[]
  /** Columns that USING merged, by lower-case name. */
  merged: Map<string, VisibleColumn>
  /** The query around this one, for correlated names. */
  outer: Scope | null
  /** Has the names of a WITH expression, so `outer` is the query that it stands in. */
  isWith?: boolean
  ctes: Ctes
  /** Aliases of the SELECT list by lower-case name, where they are in sight (HAVING, QUALIFY, ORDER BY). */
  aliases: Map<string, Typed> | null
  /** Names of the SELECT list where they are not in sight (WHERE), for the message. */
  later?: ReadonlySet<string>
  /** The columns that SELECT DISTINCT leaves in sight, by their SQL, where not all are. */
  visible?: ReadonlySet<string>
  /** Columns that stand for keys of GROUP BY, by the key and by its SQL. */
  keys?: ReadonlyMap<Expression | string, Typed>
  /** Those of the WINDOW clause by lower-case name. */
  windows: ReadonlyMap<string, Window & { base: null }>
  /** Set once an aggregate function is met that is not a window function. */
  aggregation: { found: boolean }
  /** Inside TRY, what is computed before it (see attempt.ts). */
  lifted?: string[] | undefined
}

/** Something in FROM: rows with columns, or the elements of an array. */
export type RangeVariable = RelationVariable | ValueVariable

interface RelationVariable {
  kind: 'relation'
  name: string | null
  columns: VisibleColumn[]
  /** The order of its rows (`Relation.order`), by positions in `columns`. */
  order: OrderKey[]
}

interface ValueVariable {
  kind: 'value'
  name: string | null
  value: Typed
}

/** A value with the name, if any, by which it can be used. */
export interface VisibleColumn extends Typed {
  name: string | null
}

/** DuckDB SQL with the GoogleSQL type of its value. The text can stand anywhere without more parentheses. */
export interface Typed {
  sql: string
  /** `null` for a bare NULL, which fits every type. */
  type: SqlType | null
  /** What the text came from, where GoogleSQL coerces it more freely than an ordinary expression. */
  origin?: 'literal' | 'parameter' | undefined
  /** Of a literal text: how DuckDB reads it as a value of a type. Throws SqlError where it is none. */
  readAs?: ((type: ScalarName) => string) | undefined
  /** The values of a struct that was written out, each of which is coerced by its own rules. */
  fields?: Typed[] | undefined
  /** Of a constant INTERVAL, the same without what keeps it apart from those of other units (intervals.ts). */
  plain?: string
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
export function structOf(values: VisibleColumn[]): Typed {
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
  'Text is too long for its type',
  'Unknown time zone',
] as const

type RaisedMessage = (typeof raisedMessages)[number]
