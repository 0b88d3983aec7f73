/**
 * The syntax tree of a GoogleSQL query.
 *
 * Every node has a `kind`, and in `at` the offset of its first character in the parsed text, in UTF-16 units. The
 * printer makes text from nothing but this tree, so what it does not hold cannot run.
 */
import type { SqlType, StructType } from './types.ts'

export interface Node {
  at: number
}

/** A name as written. A quoted one (in backticks) is never a keyword, and may hold dots. */
export interface Identifier {
  name: string
  quoted: boolean
  at: number
}

// ---- queries

export interface Query extends Node {
  kind: 'Query'
  with: With | null
  body: QueryBody
  orderBy: OrderItem[]
  limit: Count | null
  offset: Count | null
}

export interface With extends Node {
  kind: 'With'
  recursive: boolean
  ctes: CommonTable[]
}

export interface CommonTable extends Node {
  kind: 'CommonTable'
  name: Identifier
  query: Query
}

export type QueryBody = Select | SetOperation | QueryInParentheses

export interface SetOperation extends Node {
  kind: 'SetOperation'
  operator: SetOperator
  left: QueryBody
  right: QueryBody
}

export type SetOperator =
  'UNION ALL' | 'UNION DISTINCT' | 'INTERSECT ALL' | 'INTERSECT DISTINCT' | 'EXCEPT ALL' | 'EXCEPT DISTINCT'

interface QueryInParentheses extends Node {
  kind: 'QueryInParentheses'
  query: Query
}

export interface Select extends Node {
  kind: 'Select'
  distinct: boolean
  as: 'STRUCT' | 'VALUE' | null
  items: SelectItem[]
  from: From | null
  where: Expression | null
  groupBy: GroupBy | null
  having: Expression | null
  qualify: Expression | null
  windows: NamedWindow[]
}

export type SelectItem = SelectColumn | SelectStar

export interface SelectColumn extends Node {
  kind: 'SelectColumn'
  expression: Expression
  alias: Identifier | null
}

/** `*`, `t.*`, with EXCEPT and REPLACE. */
export interface SelectStar extends Node {
  kind: 'SelectStar'
  of: Expression | null
  except: Identifier[]
  replace: SelectColumn[]
}

export interface GroupBy extends Node {
  kind: 'GroupBy'
  grouping: 'LIST' | 'ALL' | 'ROLLUP' | 'CUBE'
  items: Expression[]
}

export interface OrderItem extends Node {
  kind: 'OrderItem'
  expression: Expression
  direction: 'ASC' | 'DESC' | null
  nulls: 'FIRST' | 'LAST' | null
}

/** LIMIT, OFFSET and frame bounds take a plain integer or a parameter, nothing else. */
export type Count = Literal | ParameterReference

// ---- FROM

export type From = TableReference | UnnestReference | DerivedTable | Join | JoinInParentheses

/** A table, a CTE, or (where a dotted path begins with a range variable) an array of a row in scope. */
export interface TableReference extends Node {
  kind: 'TableReference'
  path: Identifier[]
  alias: Identifier | null
  /** `WITH OFFSET AS name`; only valid on an array. */
  offset: Identifier | null
}

export interface UnnestReference extends Node {
  kind: 'UnnestReference'
  array: Expression
  alias: Identifier | null
  offset: Identifier | null
}

export interface DerivedTable extends Node {
  kind: 'DerivedTable'
  query: Query
  alias: Identifier | null
}

export interface Join extends Node {
  kind: 'Join'
  /** `COMMA` is the comma between items of FROM. */
  type: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS' | 'COMMA'
  left: From
  right: From
  on: Expression | null
  using: Identifier[]
}

interface JoinInParentheses extends Node {
  kind: 'JoinInParentheses'
  join: Join | JoinInParentheses
}

// ---- windows

export interface NamedWindow extends Node {
  kind: 'NamedWindow'
  name: Identifier
  window: Window
}

export interface Window extends Node {
  kind: 'Window'
  /** The named window it stands for or extends. */
  base: Identifier | null
  partitionBy: Expression[]
  orderBy: OrderItem[]
  frame: Frame | null
}

export interface Frame extends Node {
  kind: 'Frame'
  unit: 'ROWS' | 'RANGE'
  start: FrameBound
  /** `null` for a frame without BETWEEN. */
  end: FrameBound | null
}

export interface FrameBound extends Node {
  kind: 'FrameBound'
  bound: 'UNBOUNDED PRECEDING' | 'UNBOUNDED FOLLOWING' | 'CURRENT ROW' | 'PRECEDING' | 'FOLLOWING'
  /** The number of rows, for a plain PRECEDING or FOLLOWING. */
  count: Count | null
}

// ---- expressions

export type Expression =
  | Literal
  | TypedLiteral
  | IntervalLiteral
  | ParameterReference
  | Path
  | FieldAccess
  | Subscript
  | Unary
  | Binary
  | Like
  | In
  | Between
  | Is
  | IsDistinctFrom
  | Case
  | Cast
  | Extract
  | Exists
  | ArraySubquery
  | ScalarSubquery
  | ArrayLiteral
  | StructLiteral
  | Tuple
  | Parenthesized
  | Call
  | NamedArgument
  | Lambda

/** `text` is the token as written, a string with its quotes and escapes. */
export interface Literal extends Node {
  kind: 'Literal'
  literal: 'STRING' | 'BYTES' | 'INTEGER' | 'FLOAT' | 'BOOL' | 'NULL'
  text: string
  /** Decoded text of a STRING; of BYTES, one character (0 to 255) for each byte. Empty for the others. */
  value: string
}

/** `TIMESTAMP '2026-01-01'`, `NUMERIC '1.5'`, ... */
export interface TypedLiteral extends Node {
  kind: 'TypedLiteral'
  type: 'DATE' | 'TIMESTAMP' | 'DATETIME' | 'TIME' | 'NUMERIC' | 'BIGNUMERIC' | 'JSON'
  value: Literal
}

/** `INTERVAL 5 DAY`, `INTERVAL '1-2' YEAR TO MONTH`. */
export interface IntervalLiteral extends Node {
  kind: 'IntervalLiteral'
  value: Expression
  part: string
  to: string | null
}

export interface ParameterReference extends Node {
  kind: 'ParameterReference'
  name: string
}

/** A name, with fields: `a`, `a.b.c`. */
export interface Path extends Node {
  kind: 'Path'
  parts: Identifier[]
}

/** A field of anything that is not a plain path: `f(x).y`, `a[0].b`. */
export interface FieldAccess extends Node {
  kind: 'FieldAccess'
  of: Expression
  field: Identifier
}

export interface Subscript extends Node {
  kind: 'Subscript'
  of: Expression
  mode: 'OFFSET' | 'ORDINAL' | 'SAFE_OFFSET' | 'SAFE_ORDINAL' | null
  index: Expression
}

export interface Unary extends Node {
  kind: 'Unary'
  operator: 'NOT' | '-' | '+' | '~'
  operand: Expression
}

export interface Binary extends Node {
  kind: 'Binary'
  operator: BinaryOperator
  left: Expression
  right: Expression
}

export type BinaryOperator =
  | 'OR'
  | 'AND'
  | '='
  | '!='
  | '<>'
  | '<'
  | '>'
  | '<='
  | '>='
  | '|'
  | '^'
  | '&'
  | '<<'
  | '>>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '||'

export interface Like extends Node {
  kind: 'Like'
  not: boolean
  left: Expression
  right: Expression
}

export interface In extends Node {
  kind: 'In'
  not: boolean
  operand: Expression
  among: InList | InQuery | InUnnest
}

interface InList extends Node {
  kind: 'InList'
  items: Expression[]
}

interface InQuery extends Node {
  kind: 'InQuery'
  query: Query
}

interface InUnnest extends Node {
  kind: 'InUnnest'
  array: Expression
}

export interface Between extends Node {
  kind: 'Between'
  not: boolean
  operand: Expression
  low: Expression
  high: Expression
}

export interface Is extends Node {
  kind: 'Is'
  not: boolean
  operand: Expression
  what: 'NULL' | 'TRUE' | 'FALSE' | 'UNKNOWN'
}

export interface IsDistinctFrom extends Node {
  kind: 'IsDistinctFrom'
  not: boolean
  left: Expression
  right: Expression
}

export interface Case extends Node {
  kind: 'Case'
  operand: Expression | null
  branches: CaseBranch[]
  otherwise: Expression | null
}

export interface CaseBranch extends Node {
  kind: 'CaseBranch'
  when: Expression
  then: Expression
}

export interface Cast extends Node {
  kind: 'Cast'
  safe: boolean
  operand: Expression
  type: SqlType
  format: Expression | null
}

export interface Extract extends Node {
  kind: 'Extract'
  /** In capitals, `WEEK(MONDAY)` included. */
  part: string
  operand: Expression
  zone: Expression | null
}

export interface Exists extends Node {
  kind: 'Exists'
  query: Query
}

export interface ArraySubquery extends Node {
  kind: 'ArraySubquery'
  query: Query
}

export interface ScalarSubquery extends Node {
  kind: 'ScalarSubquery'
  query: Query
}

/** `[1, 2]`, `ARRAY[1, 2]`, `ARRAY<INT64>[1, 2]`. */
export interface ArrayLiteral extends Node {
  kind: 'ArrayLiteral'
  keyword: boolean
  type: SqlType | null
  items: Expression[]
}

/** `STRUCT(1 AS a)`, `STRUCT<a INT64>(1)`. */
export interface StructLiteral extends Node {
  kind: 'StructLiteral'
  /** The types in `STRUCT<...>`, `null` where not written. */
  type: StructType | null
  items: SelectColumn[]
}

/** `(a, b)`: a struct without a name. */
export interface Tuple extends Node {
  kind: 'Tuple'
  items: Expression[]
}

export interface Parenthesized extends Node {
  kind: 'Parenthesized'
  expression: Expression
}

export interface Call extends Node {
  kind: 'Call'
  /** `['SAFE', 'SUBSTR']`, `['NET', 'HOST']`, or one name. */
  name: Identifier[]
  /** `COUNT(*)`. */
  star: boolean
  distinct: boolean
  arguments: Expression[]
  nulls: 'IGNORE' | 'RESPECT' | null
  having: HavingExtreme | null
  orderBy: OrderItem[]
  limit: Count | null
  over: Window | Identifier | null
}

/** `ANY_VALUE(x HAVING MAX y)`. */
export interface HavingExtreme extends Node {
  kind: 'HavingExtreme'
  extreme: 'MAX' | 'MIN'
  expression: Expression
}

/** `f(name => value)`. */
export interface NamedArgument extends Node {
  kind: 'NamedArgument'
  name: Identifier
  value: Expression
}

/** `x -> x + 1`. */
export interface Lambda extends Node {
  kind: 'Lambda'
  parameters: Identifier[]
  body: Expression
}

/** Every node that carries a `kind`. */
export type AnyNode =
  | Query
  | With
  | CommonTable
  | QueryBody
  | SelectItem
  | GroupBy
  | OrderItem
  | From
  | NamedWindow
  | Window
  | Frame
  | FrameBound
  | Expression
  | InList
  | InQuery
  | InUnnest
  | CaseBranch
  | HavingExtreme
