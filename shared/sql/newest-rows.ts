/**
 * Which newest rows a query asks for. A query whose final selection takes the first rows of one table, sorted by a time that
 * a parameter bounds from below, gives the same rows for any later bound that leaves as many: older rows come after
 * them. `shared/run/newest-first.ts` reads recent rows first by that.
 */
import { type Refuse, refusing } from './error.ts'
import { Lineage, resolvedAlone } from './tables.ts'
import { sameName } from './columns.ts'
import type { Resolution } from './resolve/resolution.ts'
import type * as ast from './tree.ts'
import { conjuncts, descendants } from './walk.ts'

/** A SELECT alone in its query, and its table. */
interface Level {
  query: ast.Query
  select: ast.Select
  table: ast.TableReference | ast.DerivedTable
}

/**
 * @param sql the text of `tree`, for places
 * @param start name of the parameter that bounds the time from below, exclusively
 * @returns the LIMIT of the final selection
 * @throws SqlError, at the place, for a query of another shape
 */
export function newestRows(sql: string, tree: ast.Query, start: string): number {
  return new Shape(sql, tree, start).limit()
}

class Shape {
  private readonly refuse: Refuse
  private readonly tree: ast.Query
  private readonly start: string
  private readonly resolution: Resolution
  private readonly lineage: Lineage

  constructor(sql: string, tree: ast.Query, start: string) {
    this.refuse = refusing(sql)
    this.tree = tree
    this.start = start
    this.resolution = resolvedAlone(tree)
    this.lineage = new Lineage(this.resolution)
  }

  limit(): number {
    const last = this.level(this.tree, 'the final selection')
    const { limit, orderBy } = last.query
    if (limit?.kind !== 'Literal')
      throw this.refuse(last.select, 'the final selection needs a LIMIT that is a number')
    const [first] = orderBy
    if (!first || !isDescending(first))
      throw this.refuse(first ?? last.select, 'the final selection must be sorted by its time, descending')
    const levels = this.levelsFrom(last)
    const { table } = levels.at(-1)!
    const time = this.columnOf(first.expression, table)
    if (time === null) throw this.refuse(first, 'the time must be a column of the table')
    const conditions = levels.flatMap(({ select }) => conjuncts(select.where))
    const isTime = (side: ast.Expression) => this.columnOf(side, table) === time
    const bounds = conditions.flatMap(condition => boundOf(condition, this.start, isTime) ?? [])
    if (bounds.length === 0)
      throw this.refuse(
        first,
        `this time is not bounded by @${this.start}: write time > @${this.start} in WHERE`,
      )
    this.judge(levels, new Set([...levels.map(level => level.table), ...bounds]))
    return Number(limit.text)
  }

  /** The selection and those that its table is made of, down to a real table. */
  private levelsFrom(level: Level): Level[] {
    const inner = this.queryOf(level.table)
    if (!inner) return [level]
    const next = this.level(inner, 'the table of the final selection')
    if (next.query.limit || next.query.offset)
      throw this.refuse(next.query, 'the table of the final selection must have no LIMIT')
    return [level, ...this.levelsFrom(next)]
  }

  /** A query that is a SELECT whose rows are each made of one row of its table, and of arrays in that row. */
  private level(query: ast.Query, what: string): Level {
    const { body } = query
    if (query.with?.recursive) throw this.refuse(query, `${what} must not be recursive`)
    const alone = query.orderBy.length === 0 && !query.limit && !query.offset
    if (body.kind === 'QueryInParentheses' && alone) return this.level(body.query, what)
    if (body.kind !== 'Select') throw this.refuse(body, `${what} must be one SELECT`)
    if (body.distinct || body.groupBy || body.having || body.qualify || body.as || !body.from)
      throw this.refuse(body, `${what} must give a row for each row of its table`)
    return { query, select: body, table: this.tableOf(body.from) }
  }

  /** The only table in FROM; arrays beside it are of its rows. */
  private tableOf(from: ast.From): ast.TableReference | ast.DerivedTable {
    if (from.kind === 'JoinInParentheses') return this.tableOf(from.join)
    if (from.kind === 'Join') {
      const isArray = from.right.kind === 'UnnestReference' && from.type !== 'RIGHT' && from.type !== 'FULL'
      if (!isArray) throw this.refuse(from.right, 'a join with another table: its rows may be older')
      return this.tableOf(from.left)
    }
    if (from.kind !== 'TableReference' && from.kind !== 'DerivedTable')
      throw this.refuse(from, 'FROM must begin with a table')
    return from
  }

  private queryOf(table: ast.TableReference | ast.DerivedTable): ast.Query | null {
    if (table.kind === 'DerivedTable') return table.query
    const { rows, tables } = this.resolution
    if (tables.get(table) !== 'common') return null
    const [cte, other] = [...descendants(this.tree)].filter(
      node =>
        node.kind === 'CommonTable' &&
        sameName(node.name.name, table.path[0]!.name) &&
        rows.get(node.query) === rows.get(table),
    )
    if (cte?.kind !== 'CommonTable' || other) throw this.refuse(table, 'FROM must begin with a table')
    return cte.query
  }

  /** The column of the real table that a value is, with the fields below it. A field of an array beside it is none, in any case. */
  private columnOf(value: ast.Expression, table: ast.TableReference | ast.DerivedTable): string | null {
    const sources = this.lineage.sourcesOf(value).filter(({ path }) => !path.includes('[]'))
    const [only, other] = sources
    return only?.of === table && !other ? JSON.stringify(only.path) : null
  }

  /** Refuses what would make a row depend on others, or on the bound. */
  private judge(levels: Level[], known: ReadonlySet<ast.AnyNode>): void {
    const read = levels.flatMap(({ query }) => [query.body, ...query.orderBy])
    for (const node of read.flatMap(root => [...descendants(root)])) {
      if (node.kind === 'Call' && node.over)
        throw this.refuse(node, 'a window function: its value depends on older rows')
      if (node.kind === 'TableReference' && !known.has(node))
        throw this.refuse(node, 'another table: its rows may be older')
      if (node.kind === 'ParameterReference' && node.name === this.start && !known.has(node))
        throw this.refuse(node, `@${this.start} may only bound the time: time > @${this.start}`)
    }
  }
}

/** NULL counts as the smallest value, and comes last. */
export function isDescending({ direction, nulls }: ast.OrderItem): boolean {
  return direction === 'DESC' && nulls !== 'FIRST'
}

/** The reference to the parameter in `time > @start` or `time > COALESCE(@start, <constant>)`, or the same mirrored. */
function boundOf(
  condition: ast.Expression,
  start: string,
  isTime: (side: ast.Expression) => boolean,
): ast.AnyNode | null {
  if (condition.kind !== 'Binary') return null
  const { operator, left, right } = condition
  if (operator === '>' && isTime(left)) return parameterOf(right, start)
  return operator === '<' && isTime(right) ? parameterOf(left, start) : null
}

function parameterOf(bound: ast.Expression, start: string): ast.AnyNode | null {
  if (bound.kind === 'ParameterReference') return bound.name === start ? bound : null
  if (bound.kind !== 'Call' || bound.name.length !== 1) return null
  const [first, ...others] = bound.arguments
  const isDefault = /^(COALESCE|IFNULL)$/i.test(bound.name[0]!.name) && others.every(isConstant)
  return isDefault && first ? parameterOf(first, start) : null
}

function isConstant({ kind }: ast.Expression): boolean {
  return kind === 'Literal' || kind === 'TypedLiteral'
}
