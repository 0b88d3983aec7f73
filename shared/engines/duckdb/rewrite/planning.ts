/**
 * How much DuckDB may be given to plan, which it does without a look at its interrupt. At each of these limits it takes about
 * 0.3 s of a CPU, and beyond them more than in proportion.
 */
import type { AnyNode, Expression, Query, Select } from '../../../sql/tree.ts'
import type { SqlType } from '../../../sql/types.ts'
import { children, descendants } from '../../../sql/walk.ts'
import type { Context, Typed } from './context.ts'

const limits = {
  /** Tables and subqueries that one SELECT joins, those behind IN among them: 60 take a second, 120 a minute. */
  joined: 40,
  /** The same for a whole query, where that of each SELECT counts with its cube. */
  joinedCubes: 128_000,
  /** Columns of one SELECT. */
  columns: 2000,
  /** Fields of one STRUCT with those of the STRUCTs in it: a field for a column of a wide log table is one of some 150. */
  fields: 4000,
  /** Columns of a CUBE, which has 2^12 sets of them; BigQuery allows 4,096 sets, too. */
  cube: 12,
  /** Subqueries inside one another: each doubles the time. */
  subqueries: 12,
  /** Characters of DuckDB SQL of one expression: some rules repeat an operand, so nested operands can grow exponentially. */
  expression: 150_000,
  /** Lambdas whose values hold others: 110 take 3 s. */
  lambdas: 40,
  /** Characters of DuckDB SQL of a query. */
  query: 500_000,
}

/** Throws UnsupportedError for a query with too many joins. */
export function checkJoins(context: Context, query: Query): void {
  let cubes = 0
  for (const node of descendants(query)) {
    if (node.kind !== 'Select') continue
    const joined = joinedBy(node)
    cubes += joined ** 3
    if (joined > limits.joined)
      throw context.unsupported(
        node,
        `A SELECT that joins more than ${limits.joined} tables`,
        'join some of them in a query of its own, or write UNION ALL or IN (...)',
      )
    if (cubes > limits.joinedCubes)
      throw context.unsupported(node, 'A query of so many SELECTs with many joins', 'ask in several queries')
  }
}

/** Throws UnsupportedError for a SELECT with too many columns or grouping sets. */
export function checkSelect(context: Context, node: Select, columns: { value: Typed }[]): void {
  if (columns.length > limits.columns)
    throw context.unsupported(
      node,
      `A SELECT of more than ${limits.columns.toLocaleString('en')} columns`,
      'select fewer, or make rows or an array of them',
    )
  if (node.groupBy?.grouping === 'CUBE' && node.groupBy.items.length > limits.cube)
    throw context.unsupported(
      node.groupBy,
      `A CUBE of more than ${limits.cube} columns`,
      'write the GROUPING SETS that are read',
    )
  checkSize(
    context,
    node,
    columns.reduce((sum, { value }) => sum + value.sql.length, 0),
  )
}

function joinedBy(node: AnyNode): number {
  const own = /^(TableReference|DerivedTable|InQuery)$/.test(node.kind) ? 1 : 0
  return own + children(node).reduce((sum, child) => sum + (child.kind === 'Query' ? 0 : joinedBy(child)), 0)
}

/** Throws UnsupportedError for a query that is too deep in others. */
export function checkDepth(context: Context, node: Query, depth: number): void {
  if (depth > limits.subqueries)
    throw context.unsupported(
      node,
      `A subquery more than ${limits.subqueries} deep`,
      'name inner ones in WITH, and join them',
    )
}

/** Throws UnsupportedError for a query or SELECT list of too many characters (`length`) of DuckDB SQL. */
export function checkSize(context: Context, node: AnyNode, length: number): void {
  if (length > limits.query)
    throw context.unsupported(
      node,
      'A query that needs so many steps',
      'make fewer columns, each EXTEND of a pipe several, or ask in several queries',
    )
}

/** Throws UnsupportedError for an expression that is too long in DuckDB SQL, or of a STRUCT with too many fields. */
export function checkExpression(context: Context, node: Expression, { sql, type }: Typed): void {
  if (sql.length > limits.expression || nestedLambdas(sql) > limits.lambdas)
    throw context.unsupported(
      node,
      'An expression of this size',
      'compute a part of it in a query in FROM, and go on with its column',
    )
  if (fieldsOf(type) > limits.fields)
    throw context.unsupported(
      node,
      `A STRUCT of more than ${limits.fields.toLocaleString('en')} fields`,
      'leave out those that are not read',
    )
}

/** How deep the lambdas of DuckDB SQL stand in one another, texts and names left aside. */
function nestedLambdas(sql: string): number {
  if (sql.split('list_transform(').length <= limits.lambdas) return 0
  const tokens = sql.matchAll(/'(?:[^']|'')*'|"(?:[^"]|"")*"|list_transform\(|[()]/g)
  const open: string[] = []
  let [depth, most] = [0, 0]
  for (const [token] of tokens)
    if (token === ')') depth -= open.pop() === '(' ? 0 : 1
    else if (token.endsWith('(')) {
      open.push(token)
      if (token !== '(') most = Math.max(most, ++depth)
    }
  return most
}

/** By type, since a type can stand many times in another. */
const counted = new WeakMap<SqlType, number>()

function fieldsOf(type: SqlType | null): number {
  if (type?.kind === 'ARRAY') return fieldsOf(type.element)
  if (type?.kind !== 'STRUCT') return 1
  const count = counted.get(type) ?? type.fields.reduce((sum, field) => sum + fieldsOf(field.type), 0)
  counted.set(type, count)
  return count
}
