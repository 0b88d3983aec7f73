/**
 * The syntax tree of a GoogleSQL query.
 *
 * Every node has a `kind`, and in `at` the offset of its first character in the parsed text, in UTF-16 units. Its other
 * fields are in the order of the text. The printer makes text from nothing but this tree, so what it does not hold
 * cannot run.
 */
import type { SqlType, StructType } from './types.ts'

export interface Node {
  at: number
}

type Kind<Name extends string> = Node & { kind: Name }

/** A name as written. A quoted one (in backticks) is never a keyword, and may hold dots. */
export interface Identifier extends Node {
  name: string
  quoted: boolean
}

// ---- queries

export type Query = Kind<'Query'> & {
  with: With | null
  body: QueryBody
  orderBy: OrderItem[]
  limit: Count | null
  offset: Count | null
}

export type With = Kind<'With'> & { recursive: boolean; ctes: CommonTable[] }
export type CommonTable = Kind<'CommonTable'> & { name: Identifier; query: Query }

export type QueryBody = Select | SetOperation | QueryInParentheses
export type SetOperation = Kind<'SetOperation'> & {
  operator: SetOperator
  /** `null` where columns are matched by their places. */
  byName: ByName | null
  left: QueryBody
  right: QueryBody
}
export type SetOperator = `${'UNION' | 'INTERSECT' | 'EXCEPT'} ${'ALL' | 'DISTINCT'}`
/** How columns are matched by their names: BY NAME alone is STRICT, CORRESPONDING alone is INNER. */
export interface ByName {
  mode: 'STRICT' | 'INNER' | 'LEFT' | 'FULL'
  /** `ON (columns)`, empty for all columns. */
  on: Identifier[]
}
type QueryInParentheses = Kind<'QueryInParentheses'> & { query: Query }

export type Select = Kind<'Select'> & {
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
export type SelectColumn = Kind<'SelectColumn'> & { expression: Expression; alias: Identifier | null }
/** `*`, `t.*`, with EXCEPT and REPLACE; RENAME is an operator of pipes, and stands there with no other item. */
export type SelectStar = Kind<'SelectStar'> & {
  of: Expression | null
  except: Identifier[]
  replace: SelectColumn[]
  rename: Renaming[]
}
export interface Renaming {
  column: Identifier
  name: Identifier
}

/** An item of ROLLUP, CUBE and GROUPING SETS may be a Tuple, which is a set of keys and may be empty. */
export type GroupBy = Kind<'GroupBy'> & {
  grouping: 'LIST' | 'ALL' | 'ROLLUP' | 'CUBE' | 'GROUPING SETS'
  items: Expression[]
}

export type OrderItem = Kind<'OrderItem'> & {
  expression: Expression
  direction: 'ASC' | 'DESC' | null
  nulls: 'FIRST' | 'LAST' | null
}

/** LIMIT, OFFSET and frame bounds take a plain integer or a parameter, nothing else. */
export type Count = Literal | ParameterReference

// ---- FROM

export type From =
  TableReference | UnnestReference | DerivedTable | Pivot | Unpivot | Join | JoinInParentheses

/** What may be written after a table or an array; `WITH OFFSET AS name` is only valid after an array. */
interface Names {
  alias: Identifier | null
  offset: Identifier | null
}

/** A table, a CTE, or (where a dotted path begins with a range variable) an array of a row in scope. */
export type TableReference = Kind<'TableReference'> & { path: Identifier[] } & Names
export type UnnestReference = Kind<'UnnestReference'> & { array: Expression } & Names
export type DerivedTable = Kind<'DerivedTable'> & { query: Query; alias: Identifier | null }

/** `table PIVOT(aggregates FOR value IN (values)) AS alias`: a column for each value and aggregate. */
export type Pivot = Kind<'Pivot'> & {
  of: TableReference | DerivedTable
  aggregates: SelectColumn[]
  by: Expression
  values: SelectColumn[]
  alias: Identifier | null
}

/** `table UNPIVOT(values FOR name IN (groups)) AS alias`: a row for each group of columns. */
export type Unpivot = Kind<'Unpivot'> & {
  of: TableReference | DerivedTable
  nulls: 'INCLUDE' | 'EXCLUDE' | null
  /** The new columns, as many as each group has. */
  values: Identifier[]
  /** The new column that says which group it is. */
  name: Identifier
  groups: UnpivotGroup[]
  alias: Identifier | null
}
/** `(a, b) AS 'label'`. */
export type UnpivotGroup = Kind<'UnpivotGroup'> & { columns: Path[]; label: Literal | null }

export type Join = Kind<'Join'> & {
  /** `COMMA` is the comma between items of FROM. */
  type: 'INNER' | 'LEFT' | 'RIGHT' | 'FULL' | 'CROSS' | 'COMMA'
  left: From
  right: From
  on: Expression | null
  using: Identifier[]
}

type JoinInParentheses = Kind<'JoinInParentheses'> & { join: Join | JoinInParentheses }

// ---- windows

export type NamedWindow = Kind<'NamedWindow'> & { name: Identifier; window: Window }

export type Window = Kind<'Window'> & {
  /** The named window it stands for or extends. */
  base: Identifier | null
  partitionBy: Expression[]
  orderBy: OrderItem[]
  frame: Frame | null
}

/** `end` is `null` for a frame without BETWEEN. */
export type Frame = Kind<'Frame'> & { unit: 'ROWS' | 'RANGE'; start: FrameBound; end: FrameBound | null }

export type FrameBound = Kind<'FrameBound'> & {
  bound: `${'UNBOUNDED ' | ''}${'PRECEDING' | 'FOLLOWING'}` | 'CURRENT ROW'
  /** The number of rows, for a plain PRECEDING or FOLLOWING. */
  count: Count | null
}

// ---- expressions

export type Expression =
  Value | Operation | Subquery | Case | Cast | Extract | Parenthesized | Call | Argument | WithExpression
type Value =
  Constant | ParameterReference | Path | FieldAccess | Subscript | ArrayLiteral | StructLiteral | Tuple
type Constant = Literal | TypedLiteral | IntervalLiteral
type Operation = Unary | Binary | Like | LikeAny | In | Between | Is | IsDistinctFrom
type Subquery = Exists | ArraySubquery | ScalarSubquery
type Argument = NamedArgument | Lambda

/** `text` is the token as written, a string with its quotes and escapes. */
export type Literal = Kind<'Literal'> & {
  literal: 'STRING' | 'BYTES' | 'INTEGER' | 'FLOAT' | 'BOOL' | 'NULL'
  text: string
  /** Decoded text of a STRING; of BYTES, one character (0 to 255) for each byte. Empty for the others. */
  value: string
}

/** `TIMESTAMP '2026-01-01'`, `NUMERIC '1.5'`, ... */
export type TypedLiteral = Kind<'TypedLiteral'> & {
  type: 'DATE' | 'TIMESTAMP' | 'DATETIME' | 'TIME' | 'NUMERIC' | 'BIGNUMERIC' | 'JSON'
  value: Literal
}

/** `INTERVAL 5 DAY`, `INTERVAL '1-2' YEAR TO MONTH`. */
export type IntervalLiteral = Kind<'IntervalLiteral'> & { value: Expression; part: string; to: string | null }
export type ParameterReference = Kind<'ParameterReference'> & { name: string }
/** A name, with fields: `a`, `a.b.c`. */
export type Path = Kind<'Path'> & { parts: Identifier[] }
/** A field of anything that is not a plain path: `f(x).y`, `a[0].b`. */
type FieldAccess = Kind<'FieldAccess'> & { of: Expression; field: Identifier }

export type Subscript = Kind<'Subscript'> & {
  of: Expression
  mode: 'OFFSET' | 'ORDINAL' | 'SAFE_OFFSET' | 'SAFE_ORDINAL' | null
  index: Expression
}

/** `[1, 2]`, `ARRAY[1, 2]`, `ARRAY<INT64>[1, 2]`. */
export type ArrayLiteral = Kind<'ArrayLiteral'> & {
  keyword: boolean
  type: SqlType | null
  items: Expression[]
}
/** `STRUCT(1 AS a)`, `STRUCT<a INT64>(1)`; the type is `null` where `STRUCT<...>` is not written. */
export type StructLiteral = Kind<'StructLiteral'> & { type: StructType | null; items: SelectColumn[] }
/** `(a, b)`: a struct without a name. */
export type Tuple = Kind<'Tuple'> & { items: Expression[] }
export type Parenthesized = Kind<'Parenthesized'> & { expression: Expression }

export type Unary = Kind<'Unary'> & { operator: 'NOT' | '-' | '+' | '~'; operand: Expression }

type Comparison = '=' | '!=' | '<>' | '<' | '>' | '<=' | '>='
export type BinaryOperator =
  'OR' | 'AND' | Comparison | '|' | '^' | '&' | '<<' | '>>' | '+' | '-' | '*' | '/' | '||'
interface Sides {
  left: Expression
  right: Expression
}
export type Binary = Kind<'Binary'> & { operator: BinaryOperator } & Sides
export type Like = Kind<'Like'> & { not: boolean } & Sides
/** `x LIKE ANY ('a%', 'b%')`, `x LIKE ALL UNNEST(patterns)`; SOME is ANY. */
export type LikeAny = Kind<'LikeAny'> & {
  not: boolean
  quantifier: 'ANY' | 'ALL'
  operand: Expression
  among: InList | InUnnest
}
export type IsDistinctFrom = Kind<'IsDistinctFrom'> & { not: boolean } & Sides

export type In = Kind<'In'> & { not: boolean; operand: Expression; among: InList | InQuery | InUnnest }
type InList = Kind<'InList'> & { items: Expression[] }
type InQuery = Kind<'InQuery'> & { query: Query }
type InUnnest = Kind<'InUnnest'> & { array: Expression }

export type Between = Kind<'Between'> & {
  not: boolean
  operand: Expression
  low: Expression
  high: Expression
}

export type Is = Kind<'Is'> & {
  not: boolean
  operand: Expression
  what: 'NULL' | 'TRUE' | 'FALSE' | 'UNKNOWN'
}

export type Case = Kind<'Case'> & {
  operand: Expression | null
  branches: CaseBranch[]
  otherwise: Expression | null
}
export type CaseBranch = Kind<'CaseBranch'> & { when: Expression; then: Expression }

export type Cast = Kind<'Cast'> & {
  safe: boolean
  operand: Expression
  type: SqlType
  format: Expression | null
  /** `AT TIME ZONE`, only after a format. */
  zone: Expression | null
}

/** `part` is in capitals, `WEEK(MONDAY)` included. */
export type Extract = Kind<'Extract'> & { part: string; operand: Expression; zone: Expression | null }

export type Exists = Kind<'Exists'> & { query: Query }
export type ArraySubquery = Kind<'ArraySubquery'> & { query: Query }
export type ScalarSubquery = Kind<'ScalarSubquery'> & { query: Query }

export type Call = Kind<'Call'> & {
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
export type HavingExtreme = Kind<'HavingExtreme'> & { extreme: 'MAX' | 'MIN'; expression: Expression }
/** `f(name => value)`. */
export type NamedArgument = Kind<'NamedArgument'> & { name: Identifier; value: Expression }
/** `x -> x + 1`. */
export type Lambda = Kind<'Lambda'> & { parameters: Identifier[]; body: Expression }

/** `WITH(a AS 1, b AS a + 1, a * b)`: a value of named ones, each of which sees those before it. */
export type WithExpression = Kind<'WithExpression'> & { variables: SelectColumn[]; body: Expression }

/** Every node that carries a `kind`. */
export type AnyNode = Query | QueryPart | SelectItem | From | Expression | ExpressionPart
type QueryPart =
  | With
  | CommonTable
  | QueryBody
  | GroupBy
  | OrderItem
  | UnpivotGroup
  | NamedWindow
  | Window
  | Frame
  | FrameBound
type ExpressionPart = InList | InQuery | InUnnest | CaseBranch | HavingExtreme
