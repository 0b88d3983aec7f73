/**
 * Which newest rows a query asks for. A query whose final selection takes the first rows of one table, sorted by a time that
 * a parameter bounds from below, gives the same rows for any later bound that leaves as many: older rows come after
 * them. `shared/answers/newest-first.ts` reads recent rows first by that.
 */
import { placeOf, SqlError } from './error.ts'
import { nameKey } from './relations.ts'
import type {
  AnyNode,
  DerivedTable,
  Expression,
  From,
  OrderItem,
  Query,
  Select,
  TableReference,
} from './tree.ts'
import { conjuncts, descendants } from './walk.ts'

/** A query that may be read, with the common tables in its sight. */
interface Seen {
  query: Query
  tables: Tables
}

type Tables = ReadonlyMap<string, Seen>

/** A SELECT alone in its query. */
interface PlainSelect {
  query: Query
  select: Select
  tables: Tables
}

/**
 * @param sql the text of `query`, for places
 * @param start name of the parameter that bounds the time from below, exclusively
 * @returns the LIMIT of the final selection
 * @throws SqlError, at the place, for a query of another shape
 */
export function newestRows(sql: string, query: Query, start: string): number {
  const refuse = (at: number, message: string) => new SqlError(message, placeOf(sql, at))
  return new Shape(refuse, start).limitOf(query)
}

class Shape {
  private readonly refuse: (at: number, message: string) => SqlError
  private readonly start: string
  /** What is read: the final selection, and each common table that it leads to. */
  private readonly read: AnyNode[] = []
  /** The references to tables on the way, and those of the parameter in bounds of the time. */
  private readonly known = new Set<AnyNode>()

  constructor(refuse: Shape['refuse'], start: string) {
    this.refuse = refuse
    this.start = start
  }

  limitOf(whole: Query): number {
    const { query, select, tables } = this.plain({ query: whole, tables: new Map() }, 'the final selection')
    const { limit, orderBy } = query
    if (limit?.kind !== 'Literal')
      throw this.refuse(select.at, 'the final selection needs a LIMIT that is a number')
    const [first] = orderBy
    if (!first || !isDescending(first))
      throw this.refuse(first?.at ?? select.at, 'the final selection must be sorted by its time, descending')
    this.read.push(query.body, ...orderBy)
    const bounded = this.isBounded(outputOf(select, first.expression), { query, select, tables })
    if (!bounded)
      throw this.refuse(
        first.at,
        `this time is not bounded by @${this.start}: write time > @${this.start} in WHERE`,
      )
    for (const node of this.read.flatMap(root => [...descendants(root)])) this.judge(node)
    return Number(limit.text)
  }

  /** A query that is a SELECT whose rows are each made of one row of its table, and of arrays in that row. */
  private plain({ query, tables }: Seen, what: string): PlainSelect {
    const inSight = new Map(tables)
    if (query.with?.recursive) throw this.refuse(query.at, `${what} must not be recursive`)
    for (const { name, query: common } of query.with?.ctes ?? [])
      inSight.set(nameKey(name.name), { query: common, tables: new Map(inSight) })
    const { body } = query
    const alone = query.orderBy.length === 0 && !query.limit && !query.offset
    if (body.kind === 'QueryInParentheses' && alone)
      return this.plain({ query: body.query, tables: inSight }, what)
    if (body.kind !== 'Select') throw this.refuse(body.at, `${what} must be one SELECT`)
    if (body.distinct || body.groupBy || body.having || body.qualify || body.as || !body.from)
      throw this.refuse(body.at, `${what} must give a row for each row of its table`)
    return { query, select: body, tables: inSight }
  }

  /** Follows the time from a SELECT to its table; every bound on the way counts. */
  private isBounded(time: Expression | null, { select, tables }: PlainSelect): boolean {
    const table = this.tableOf(select.from!)
    const name = columnOf(time, table)
    if (name === null || !time)
      throw this.refuse(time?.at ?? select.at, 'the time must be a column of the table')
    let bounded = false
    for (const condition of conjuncts(select.where)) {
      const parameter = boundOf(condition, this.start, side => columnOf(side, table) === name)
      if (parameter) this.known.add(parameter)
      bounded ||= parameter !== null
    }
    const inner = innerOf(table, tables)
    if (!inner) return bounded
    const next = this.plain(inner, 'the table of the final selection')
    if (next.query.limit || next.query.offset)
      throw this.refuse(next.query.at, 'the table of the final selection must have no LIMIT')
    if (table.kind === 'TableReference') this.read.push(next.query.body, ...next.query.orderBy)
    return this.isBounded(itemOf(next.select, name), next) || bounded
  }

  /** The only table in FROM; arrays beside it are of its rows. */
  private tableOf(from: From): TableReference | DerivedTable {
    if (from.kind === 'JoinInParentheses') return this.tableOf(from.join)
    if (from.kind === 'Join') {
      const isArray = from.right.kind === 'UnnestReference' && from.type !== 'RIGHT' && from.type !== 'FULL'
      if (!isArray) throw this.refuse(from.right.at, 'a join with another table: its rows may be older')
      return this.tableOf(from.left)
    }
    if (from.kind !== 'TableReference' && from.kind !== 'DerivedTable')
      throw this.refuse(from.at, 'FROM must begin with a table')
    this.known.add(from)
    return from
  }

  /** Refuses what would make a row depend on others, or on the bound. */
  private judge(node: AnyNode): void {
    if (node.kind === 'Call' && node.over)
      throw this.refuse(node.at, 'a window function: its value depends on older rows')
    if (node.kind === 'TableReference' && !this.known.has(node))
      throw this.refuse(node.at, 'another table: its rows may be older')
    if (node.kind === 'ParameterReference' && node.name === this.start && !this.known.has(node))
      throw this.refuse(node.at, `@${this.start} may only bound the time: time > @${this.start}`)
  }
}

/** NULL counts as the smallest value, and comes last. */
function isDescending({ direction, nulls }: OrderItem): boolean {
  return direction === 'DESC' && nulls !== 'FIRST'
}

/** What a key of ORDER BY stands for: an item of the SELECT list by number or name, else a column of FROM. */
function outputOf(select: Select, key: Expression): Expression | null {
  if (key.kind === 'Literal') {
    const item = select.items[Number(key.text) - 1]
    return item?.kind === 'SelectColumn' ? item.expression : null
  }
  if (key.kind !== 'Path') return null
  const named =
    key.parts.length === 1 ? select.items.find(item => nameOf(item) === nameKey(key.parts[0]!.name)) : null
  return named?.kind === 'SelectColumn' ? named.expression : key
}

/** The item of that name; the path itself where a `*` stands for it. */
function itemOf(select: Select, name: string): Expression | null {
  const item = select.items.find(item => nameOf(item) === name)
  if (item?.kind === 'SelectColumn') return item.expression
  const star = select.items.find(item => item.kind === 'SelectStar')
  const passes =
    star?.kind === 'SelectStar' &&
    ![
      ...star.except,
      ...star.replace.map(({ alias }) => alias!),
      ...star.rename.flatMap(({ column, name }) => [column, name]),
    ].some(part => nameKey(part.name) === name)
  return passes ? { kind: 'Path', parts: [{ name, quoted: true, at: star.at }], at: star.at } : null
}

function nameOf(item: Select['items'][number]): string | null {
  if (item.kind !== 'SelectColumn') return null
  if (item.alias) return nameKey(item.alias.name)
  return item.expression.kind === 'Path' ? nameKey(item.expression.parts.at(-1)!.name) : null
}

/** The name of a table's column, written `column` or `table.column`; `null` for any other expression. */
function columnOf(expression: Expression | null, table: TableReference | DerivedTable): string | null {
  if (expression?.kind !== 'Path') return null
  const [first, second, ...more] = expression.parts.map(part => nameKey(part.name))
  const alias = table.alias?.name ?? (table.kind === 'TableReference' ? table.path.at(-1)!.name : null)
  if (second === undefined) return first!
  return more.length === 0 && alias !== null && first === nameKey(alias) ? second : null
}

/** The query behind a table; `null` for a real table. */
function innerOf(table: TableReference | DerivedTable, tables: Tables): Seen | null {
  if (table.kind === 'DerivedTable') return { query: table.query, tables }
  return (table.path.length === 1 && tables.get(nameKey(table.path[0]!.name))) || null
}

/** The reference to the parameter in `time > @start` or `time > COALESCE(@start, <constant>)`, or the same mirrored. */
function boundOf(
  condition: Expression,
  start: string,
  isTime: (side: Expression) => boolean,
): AnyNode | null {
  if (condition.kind !== 'Binary') return null
  const { operator, left, right } = condition
  if (operator === '>' && isTime(left)) return parameterOf(right, start)
  return operator === '<' && isTime(right) ? parameterOf(left, start) : null
}

function parameterOf(bound: Expression, start: string): AnyNode | null {
  if (bound.kind === 'ParameterReference') return bound.name === start ? bound : null
  if (bound.kind !== 'Call' || bound.name.length !== 1) return null
  const [first, ...others] = bound.arguments
  const isDefault = /^(COALESCE|IFNULL)$/i.test(bound.name[0]!.name) && others.every(isConstant)
  return isDefault && first ? parameterOf(first, start) : null
}

function isConstant({ kind }: Expression): boolean {
  return kind === 'Literal' || kind === 'TypedLiteral'
}
