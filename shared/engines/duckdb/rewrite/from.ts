/** FROM: tables, common tables, subqueries and their joins. Arrays are in unnest.ts. */
import type { From, Join, Query, QueryBody } from '../../../sql/tree.ts'
import type { RangeVariable, Source } from '../../../sql/resolve/resolution.ts'
import { quoteName } from '../syntax.ts'
import { coerce, commonOf } from './coercion.ts'
import { type Context, type FromRows, type Relation, type Scope, type Typed, typed } from './context.ts'
import { columnValue, mergedIn, typeOf } from './names.ts'
import { equality } from './operators.ts'
import { pivot, unpivot } from './pivot.ts'
import { arrayStep, derivedRows, firstArray } from './unnest.ts'

/**
 * Whether a query takes the first rows. In FROM such a query is computed by itself: DuckDB filters rows below a LIMIT by what they
 * are joined with above it, so that others are the first (https://github.com/duckdb/duckdb/pull/22963, not in 1.5.5).
 */
export function isCut({ body, limit, offset }: Query): boolean {
  return limit !== null || offset !== null || isCutIn(body)
}

function isCutIn(body: QueryBody): boolean {
  if (body.kind === 'Select') return false
  return body.kind === 'SetOperation' ? [body.left, body.right].some(isCutIn) : isCut(body.query)
}

/** Prints FROM, and notes where its columns stand. `outer` is the scope of the query around. */
export function fromClause(context: Context, node: From, outer: Scope | null): FromRows {
  const source = context.resolution.sources.get(node)!
  switch (node.kind) {
    case 'Join':
      return join(context, node, source, outer)
    case 'JoinInParentheses':
      return fromClause(context, node.join, outer)
    case 'DerivedTable': {
      const relation = context.query(node.query, outer, 'deferred')
      const first = quoteName(context.uniqueName('first'))
      // DuckDB materializes nothing that names columns of a query around it.
      const sql =
        isCut(node.query) && !outer
          ? `WITH ${first} AS MATERIALIZED (${relation.sql}) SELECT * FROM ${first}`
          : relation.sql
      return table(context, source, `(${sql})`, relation)
    }
    case 'Pivot':
    case 'Unpivot': {
      const input = fromClause(context, node.of, outer)
      const relation =
        node.kind === 'Pivot' ? pivot(context, node, input, outer) : unpivot(context, node, input, outer)
      return table(context, source, `(${relation.sql})`, relation)
    }
    case 'UnnestReference':
      return firstArray(context, source, outer)
    case 'TableReference': {
      const kind = context.resolution.tables.get(node)!
      const rows = context.resolution.rows.get(node)!
      if (kind === 'array') return firstArray(context, source, outer)
      const common = context.common.get(rows)
      if (common) return table(context, source, quoteName(common.table), common)
      const name = node.path.map(part => part.name).join('.')
      const names = rows.columns.map(column => column.name!)
      return table(context, source, context.relationOf(name), { names, order: [] })
    }
  }
}

/** FromRows under a name of their own. */
function table(
  context: Context,
  source: Source,
  sql: string,
  { names, order }: Pick<Relation, 'names' | 'order'>,
): FromRows {
  const [variable] = source.variables as [RangeVariable]
  const { element, columns, name } = variable
  const duck = quoteName(context.uniqueName(name ?? 't'))
  for (const [at, column] of (element ? [element] : columns).entries())
    context.columns.set(column, typed(`${duck}.${quoteName(names[at]!)}`, typeOf(column)))
  return { sql: `${sql} AS ${duck}`, joined: false, source, order: element ? [] : order }
}

function join(context: Context, node: Join, source: Source, outer: Scope | null): FromRows {
  const left = fromClause(context, node.left, outer)
  if (context.resolution.sources.get(node.right)!.ofLeft) {
    const all = arrayStep(context, node, left, outer)
    if (node.using.length === 0) return all
    const condition = using(context, node, source, { own: source, outer })
    return derivedRows(context, { ...all, source }, [], condition)
  }
  const right = fromClause(context, node.right, outer)
  const words = node.type === 'COMMA' || node.type === 'CROSS' ? 'CROSS JOIN' : `${node.type} JOIN`
  const sql = `${left.sql} ${words} ${right.joined ? `(${right.sql})` : right.sql}`
  const on = node.on
    ? context.expression(node.on, { own: source, outer }).sql
    : using(context, node, source, { own: source, outer })
  return { sql: on ? `${sql} ON ${on}` : sql, joined: true, source, order: [] }
}

/** USING as ON, and each of its columns once, from the side that has it. */
function using(context: Context, node: Join, { merged }: Source, scope: Scope): string {
  const own = merged.slice(0, node.using.length)
  const conditions = own.map(column => {
    const sides = mergedIn(column).map(side => columnValue(context, side, scope))
    const common = commonOf(sides)!
    const [a, b] = sides.map(side => coerce(side, common)) as [Typed, Typed]
    const both = typed(`COALESCE(${a.sql}, ${b.sql})`, common)
    context.columns.set(column, { RIGHT: sides[1]!, FULL: both }[node.type as string] ?? sides[0]!)
    return equality(a, b)
  })
  return conditions.join(' AND ')
}
