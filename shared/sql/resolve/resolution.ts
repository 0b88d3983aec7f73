/** What a query's names and expressions stand for, beside its tree, which stays as it is. */
import type { SqlError } from '../error.ts'
import type * as ast from '../tree.ts'
import type { SqlType } from '../types.ts'
import type { Signature } from '../functions.ts'
import type { Type, Value } from './types.ts'

/** The columns of a table in order, or the reason why they are not known. */
export type Columns = readonly TableColumn[] | Unknown

interface TableColumn {
  name: string
  /** Where it is known. */
  type?: Type
}

interface Unknown {
  unknown: string
}

/** What a query may read. */
export interface Catalog {
  /** By a table's name as the query writes it, with its dots; `undefined` for a table that is not there. */
  columnsOf(table: string): Columns | undefined
  /** For the message where a table is not there. */
  tables: Iterable<string>
  /** The types of parameters by their names in lower case. */
  parameters: ReadonlyMap<string, SqlType>
}

export interface Resolution {
  /** The first fault of the query. What it makes uncertain is of no known type; all else is resolved. */
  problem: SqlError | null
  /** Of each query, its body, and the items of its FROM that are tables. */
  rows: ReadonlyMap<ast.Query | ast.QueryBody | ast.From, Rows>
  values: ReadonlyMap<ast.Expression, Value>
  /** The types that GoogleSQL coerces expressions to. */
  coercions: ReadonlyMap<ast.Expression, Type>
  paths: ReadonlyMap<ast.Path, Reference>
  stars: ReadonlyMap<ast.SelectStar, Shown[]>
  /** Of each SELECT its columns, of which AS STRUCT makes one. */
  lists: ReadonlyMap<ast.Select, readonly Column[]>
  /** What each item of FROM brings into sight. */
  sources: ReadonlyMap<ast.From, Source>
  /** The items of the SELECT list that keys of GROUP BY and ORDER BY name by their numbers. */
  numbers: ReadonlyMap<ast.Literal, Column>
  /** The columns that USING merges, each of one of either side. */
  merged: ReadonlyMap<ast.Identifier, Column>
  /** For each name in FROM what it is. */
  tables: ReadonlyMap<ast.TableReference, 'common' | 'real' | 'array'>
  /** The signatures of calls, as `functions.ts` has them. */
  calls: ReadonlyMap<ast.Call, Signature>
  /** The windows of calls, with what they take from named ones. */
  windows: ReadonlyMap<ast.Call, WholeWindow>
}

/** What a query or a table gives. */
export interface Rows {
  columns: readonly Column[]
  /** Why there may be more columns than these. */
  open: string | null
  /** Where those come from that a `*` passes on. */
  passed?: readonly Passed[] | undefined
  /** SELECT AS STRUCT or AS VALUE: a row is the value of the only column. */
  isValue: boolean
}

/** Columns of `variable` that are not known, but none of these keys. */
export interface Passed {
  variable: RangeVariable
  except: ReadonlySet<string>
}

export interface Column extends Value {
  /** `null` for a column that cannot be named. */
  name: string | null
  from: Origin
}

/** What a column is made of: readers follow it down to the columns of tables. */
type Origin =
  | { kind: 'table'; table: ast.TableReference }
  /** An item of a SELECT list, a variable of WITH. */
  | { kind: 'item'; item: ast.SelectColumn }
  /** One that is passed on, or those that USING or a set operation merges. */
  | { kind: 'columns'; columns: readonly Column[] }
  /** `at` counts from 0; it is not known for a field that only the engine knows. */
  | { kind: 'field'; of: Column; at: number | null }
  /** An element of an array, or its offset. */
  | { kind: 'array'; array: ast.Expression }
  | { kind: 'offset'; array: ast.Expression }
  | { kind: 'turned'; by: ast.Pivot | ast.Unpivot }
  /** A parameter of a lambda, the row of a table. */
  | { kind: 'node'; node: ast.AnyNode }

/** Something in FROM: the rows of a table, or the elements of an array, of which `element` is the only column. */
export interface RangeVariable {
  name: string | null
  /** The item of FROM; `null` for names that are none of FROM's. */
  node: ast.From | null
  /** The columns in sight: of elements that are structs their fields. */
  columns: readonly Column[]
  open: string | null
  passed?: readonly Passed[] | undefined
  element: Column | null
}

/** What the first parts of a path stand for; those behind are fields. */
export interface Reference {
  /** How many parts. */
  parts: number
  /** `null` where a name is of no one row, as one that USING has merged or an alias of the SELECT list. */
  variable: RangeVariable | null
  /** `null` where it is the whole row of `variable`. */
  column: Column | null
}

/** A column that a `*` stands for; `null` for those of `variable` that are not known. */
export interface Shown {
  variable: RangeVariable | null
  column: Column | null
}

/** FROM, or a part of it. */
export interface Source {
  variables: RangeVariable[]
  /** Columns that USING merged. */
  merged: Column[]
  /** An array that is read for each of the rows on its left. */
  ofLeft?: boolean
}

/** A window with all that it takes from others. */
export type WholeWindow = ast.Window & { base: null }

/** Common tables in sight, by lower-case name. */
export type Ctes = ReadonlyMap<string, Rows>

/** The names that an expression can use where it stands. */
export interface Scope extends Source {
  /** The query around this one, for correlated names. */
  outer: Scope | null
  /** Has the names of a WITH expression, so `outer` is the query that it stands in. */
  isWith?: boolean
  ctes: Ctes
  /** Aliases of the SELECT list by lower-case name, where they are in sight (HAVING, QUALIFY, ORDER BY). */
  aliases: ReadonlyMap<string, Column> | null
  /** Names of the SELECT list where they are not in sight (WHERE), for the message. */
  later?: ReadonlySet<string>
  /** What SELECT DISTINCT leaves in sight, where not all is. */
  visible?: Place[] | undefined
  /** Those of the WINDOW clause by lower-case name. */
  windows: ReadonlyMap<string, WholeWindow>
  /** Set once an aggregate function is met that is not a window function; `isInside`: its arguments are read. */
  aggregation: { found: boolean; isInside?: boolean }
}

/** A column or the row of a table, and the fields that lead on from there. */
export interface Place {
  root: Column | RangeVariable | null
  fields: readonly string[]
}

/** Common tables alone are in sight, and what `outer` sees; `null` for a query that stands in no other. */
export function newScope(ctes: Ctes, outer: Scope | null): Scope {
  return {
    variables: [],
    merged: [],
    outer,
    ctes,
    aliases: null,
    windows: new Map(),
    aggregation: { found: false },
  }
}

/** Is told of faults, at their nodes. */
export interface Faults {
  fault(node: ast.Node, message: string): unknown
}

/** What the files of the resolver share, and the functions through which they call each other. */
export interface Context extends Catalog {
  /** Filled as the query is read. */
  found: {
    [Part in keyof Resolution]: Resolution[Part] extends ReadonlyMap<infer K, infer V>
      ? Map<K, V>
      : Resolution[Part]
  }
  /** Columns that FROM, `*` and set operations may still pass on: a query could double them with each of its SELECTs. */
  room: number
  /** Notes a fault of the query, at a node's place in the text; the first one counts. */
  fault(node: ast.Node, message: string | (() => string)): Value
  query(node: ast.Query, outer: Scope | null, ctes: Ctes): Rows
  value(node: ast.Expression, scope: Scope): Value
}
