/**
 * A roll-up by the hour, made of one that is finer, and a query over both: whole hours are read from the first, and from the
 * second the hours in which the query's window begins and ends. The rows are the same, to the microsecond.
 *
 * That holds, by the tree alone, for a SELECT that
 * - bounds the time (AND of `>`, `>=`, `<`, `<=`, BETWEEN with what is the same in all rows), and reads it but for that only in
 *   TIMESTAMP_TRUNC to hours or more, in UTC;
 * - adds each sum up as it adds up (a COUNT by SUM, a MAX by MAX), and uses no other aggregate.
 * Where a parameter decides whether it reads less than hours, the query is for the parameter's other values.
 */
import { isAggregateName } from '../sql/functions.ts'
import * as make from '../sql/nodes.ts'
import { type Refuse, refusing } from '../sql/error.ts'
import { mayHold, type Taken, type Values, waysIn } from '../sql/chosen.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { print } from '../sql/printer.ts'
import { nameKey } from '../sql/relations.ts'
import { tablesOf } from '../sql/tables.ts'
import type * as ast from '../sql/tree.ts'
import { calledName, children, conjuncts, descendants, parameterNames } from '../sql/walk.ts'
import type { Rollup } from './engine.ts'
import { type RollupColumn, rollupShape } from './rollup-rules.ts'

export interface ByHour {
  rollup: Rollup
  /** The query over both. */
  sql: string
  /** Whether it has the rows of the query that it is made of, for these values of parameters. */
  holds: (values: Values) => boolean
  /** Parameters that decide that. */
  decidedBy: string[]
}

const hour = make.path('HOUR')
const mostInHour = 3_599_999_999 // microseconds
const wholeHours = /^(HOUR|DAY|(ISO)?WEEK|MONTH|QUARTER|(ISO)?YEAR)$/i
const lessThanHours = /^(MICROSECOND|MILLISECOND|SECOND|MINUTE)$/i

/**
 * @param sql a query that reads the roll-up
 * @throws SqlError, at the place in the query, where it has no such level
 */
export function byTheHour(rollup: Rollup, sql: string): ByHour {
  const { columns } = rollupShape(rollup.sql)
  const tree = parse(sql, statementLimits)
  const refuse = refusing(sql)
  const time = timeOf(columns)
  const hours = hourly(rollup, time)
  if (!hours)
    throw refuse(tree, `${time} is no column of the table, and not TIMESTAMP_TRUNC of one to less than hours`)
  const tables = new Set(tablesOf(tree))
  const readers: Reader[] = []
  const over = make.copy(tree, node => {
    if (node.kind !== 'Select' || node.from?.kind !== 'TableReference' || !tables.has(node.from)) return null
    if (node.from.path.map(part => part.name).join('.') !== rollup.name) return null
    const reader = new Reader(node, node.from, { columns, time, refuse })
    readers.push(reader)
    return reader.over(rollup, hours)
  })
  if (readers.length === 0) throw refuse(tree, `no SELECT reads ${rollup.name} alone`)
  const fine = readers.flatMap(reader => reader.fine)
  const always = fine.find(({ taken }) => parametersOf(taken).length === 0)
  if (always) throw refuse(always.node, `${time} is read by less than hours`)
  return {
    rollup: hours,
    sql: print(over),
    holds: values => !fine.some(({ taken }) => mayHold(taken, values)),
    decidedBy: [...new Set(fine.flatMap(({ taken }) => parametersOf(taken)))],
  }
}

function parametersOf(taken: Taken[]): string[] {
  return taken.flatMap(({ condition }) => [...parameterNames(condition).keys()])
}

/** The first column that a roll-up is grouped by. */
export function timeOf(columns: RollupColumn[]): string {
  return columns.find(({ adds }) => adds === null)!.name
}

/** `null` where the time has no hours to be cut to. Its column has a name that no column of the log table has. */
function hourly(rollup: Rollup, time: string): Rollup | null {
  const tree = parse(rollup.sql)
  const select = tree.body as ast.Select
  const column = `${time}_hour`
  const isTime = (name: string) => nameKey(name) === nameKey(time)
  const items = select.items.map(item => {
    if (item.kind !== 'SelectColumn') return item
    const { expression, alias } = item
    const name = alias?.name ?? (expression.kind === 'Path' ? expression.parts.at(-1)!.name : '')
    const of = isTime(name) ? cutOf(expression) : null
    return of ? make.item(truncateToHour(of), column) : item
  })
  if (items.every((item, at) => item === select.items[at])) return null
  const keys = select.groupBy!.items.map(key =>
    key.kind === 'Path' && isTime(key.parts[0]!.name) ? make.path(column) : key,
  )
  const body = { ...select, items, groupBy: { ...select.groupBy!, items: keys } }
  const name = rollup.name.replace(/(\.rollup)?$/, '.hours$1')
  return { ...rollup, name, sql: print({ ...tree, body }), partition: column }
}

/** The column that a roll-up's time is, or is cut of to less than hours. */
function cutOf(expression: ast.Expression): ast.Path | null {
  if (expression.kind === 'Path') return expression
  if (expression.kind !== 'Call' || calledName(expression) !== 'TIMESTAMP_TRUNC') return null
  const [of, part, zone] = expression.arguments
  const isFine = part?.kind === 'Path' && lessThanHours.test(part.parts[0]!.name)
  return of?.kind === 'Path' && isFine && !zone ? of : null
}

function truncateToHour(of: ast.Expression): ast.Call {
  return make.call('TIMESTAMP_TRUNC', [of, hour])
}

/** The last microsecond of it: there is no next hour at the end of time. */
function endOfHour(of: ast.Expression): ast.Call {
  const value = make.integer(mostInHour)
  const rest: ast.Expression = { kind: 'IntervalLiteral', value, part: 'MICROSECOND', to: null, at: 0 }
  return make.call('TIMESTAMP_ADD', [truncateToHour(of), rest])
}

interface Shape {
  columns: RollupColumn[]
  time: string
  refuse: Refuse
}

/** A SELECT over the roll-up alone. */
class Reader {
  /** Where the time is read by less than hours, and what has to hold for that. */
  readonly fine: { node: ast.Node; taken: Taken[] }[] = []
  private readonly select: ast.Select
  private readonly table: ast.TableReference
  private readonly shape: Shape
  private readonly adds: ReadonlyMap<string, string | null>
  private readonly read = new Set<string>()
  /** Names that are parts of a time, such as MINUTE. */
  private readonly parts: ReadonlySet<ast.AnyNode>
  private addsUp = false

  constructor(select: ast.Select, table: ast.TableReference, shape: Shape) {
    this.select = select
    this.table = table
    this.shape = shape
    this.adds = new Map(shape.columns.map(({ name, adds }) => [nameKey(name), adds]))
    this.parts = new Set(
      [...descendants(select)].flatMap(part => (part.kind === 'Call' ? partsIn(part) : [])),
    )
    for (const part of children({ ...select, from: null, where: null })) this.look(part, [])
    if (!select.groupBy && !this.addsUp) throw shape.refuse(select, 'it adds no sum up')
  }

  /** The same over whole hours, and the hours in which the window begins and ends. */
  over(rollup: Rollup, hours: Rollup): ast.Select {
    const { lower, upper, others, all } = this.conditions()
    const time = this.path(this.shape.time)
    const wholeTime = this.path(hours.partition)
    const branches = [
      this.rows(hours, wholeTime, [
        ...others,
        ...lower.map(bound => make.binary('>', wholeTime, bound)),
        ...upper.map(bound => make.binary('<', wholeTime, truncateToHour(bound))),
      ]),
    ]
    const endOfFirst = () => endOfHour(most('GREATEST', lower))
    if (lower.length > 0)
      branches.push(this.rows(rollup, time, [...all, make.binary('<=', time, endOfFirst())]))
    if (upper.length > 0) {
      const behind = lower.length > 0 ? [make.binary('>', time, endOfFirst())] : []
      const last = make.binary('>=', time, truncateToHour(most('LEAST', upper)))
      branches.push(this.rows(rollup, time, [...all, ...behind, last]))
    }
    const [first, ...more] = branches as [ast.Select, ...ast.Select[]]
    const body = more.reduce<ast.QueryBody>(
      (left, right) => ({ kind: 'SetOperation', operator: 'UNION ALL', byName: null, left, right, at: 0 }),
      first,
    )
    const { alias } = this.table
    const from: ast.From = { kind: 'DerivedTable', query: make.queryOf(body), alias, at: 0 }
    return { ...this.select, from, where: null }
  }

  private rows({ name }: Rollup, time: ast.Path, where: ast.Expression[]): ast.Select {
    const columns = this.shape.columns.filter(column => this.read.has(nameKey(column.name)))
    const items = columns.map(column =>
      make.item(column.name === this.shape.time ? time : this.path(column.name), column.name),
    )
    const path = [{ name, quoted: true, at: 0 }]
    return make.select(items, { ...this.table, path }, { where: make.chain('AND', where) })
  }

  private path(column: string): ast.Path {
    const { alias } = this.table
    return alias ? make.path(alias.name, column) : make.path(column)
  }

  /** WHERE: the bounds of the time, and what says nothing of it. */
  private conditions() {
    const lower: ast.Expression[] = []
    const upper: ast.Expression[] = []
    const all = conjuncts(this.select.where)
    const others = all.filter(condition => {
      const parts = [...descendants(condition)]
      const stranger = parts.find(
        part =>
          part.kind === 'Query' ||
          (part.kind === 'Path' && this.columnOf(part) === null && !this.isNoColumn(part)),
      )
      if (stranger) throw this.shape.refuse(stranger, 'it is of more than the roll-up')
      const columns = parts.flatMap(part => this.columnOf(part) ?? [])
      const sum = columns.find(column => this.adds.get(column))
      if (sum !== undefined)
        throw this.shape.refuse(condition, `${sum} is a sum, which has other values by the hour`)
      if (!columns.includes(nameKey(this.shape.time))) return true
      for (const { operator, value } of this.boundsIn(condition))
        (operator.startsWith('>') ? lower : upper).push(value)
      return false
    })
    return { lower, upper, others, all }
  }

  private boundsIn(condition: ast.Expression): { operator: string; value: ast.Expression }[] {
    const found = sidesOf(condition)
    const isBound = found.every(({ of, value }) => this.isTime(of) && this.isSame(value))
    if (isBound && found.length > 0) return found
    throw this.shape.refuse(
      condition,
      `it bounds ${this.shape.time} by more than a comparison with what is the same in all rows`,
    )
  }

  /** A time, and nothing that would only be one where it is compared. */
  private isSame(value: ast.Expression): boolean {
    const isOther = value.kind === 'Literal' || (value.kind === 'TypedLiteral' && value.type !== 'TIMESTAMP')
    return !isOther && ![...descendants(value)].some(part => this.columnOf(part) !== null)
  }

  private isNoColumn(path: ast.Path): boolean {
    return this.parts.has(path) || /^CURRENT_TIMESTAMP$/i.test(path.parts[0]!.name)
  }

  private isTime(node: ast.AnyNode): boolean {
    return this.columnOf(node) === nameKey(this.shape.time)
  }

  /** The column of the roll-up that a path may be. */
  private columnOf(node: ast.AnyNode): string | null {
    if (node.kind !== 'Path' || this.parts.has(node)) return null
    const names = node.parts.map(part => nameKey(part.name))
    const name =
      names.length > 1 && names[0] === nameKey(this.table.alias?.name ?? '') ? names[1]! : names[0]!
    return this.adds.has(name) ? name : null
  }

  /** @param taken what has to hold for a part to be computed */
  private look(node: ast.AnyNode, taken: Taken[]): void {
    const { refuse } = this.shape
    if (node.kind === 'Query' || node.kind === 'SelectStar')
      throw refuse(node, node.kind === 'Query' ? 'a subquery' : '*: name the columns')
    const column = this.columnOf(node)
    if (column !== null) {
      this.read.add(column)
      if (this.adds.get(column)) throw refuse(node, `${column} is added up by ${this.adds.get(column)} alone`)
      if (this.isTime(node)) this.fine.push({ node, taken })
      return
    }
    if (node.kind === 'Call' && this.isDone(node, taken)) return
    // One name may be that of a column of the list, which GROUP BY takes.
    if (node.kind === 'Path' && node.parts.length > 1) throw refuse(node, 'it is of more than the roll-up')
    for (const way of waysIn(node)) this.look(way.node, [...taken, ...way.taken])
  }

  /** Whether all of a call is known: what adds a sum up, and what cuts the time. */
  private isDone(node: ast.Call, taken: Taken[]): boolean {
    const name = calledName(node)
    const [of, part, ...more] = node.arguments
    if (isAggregateName(name) && !node.over) {
      const column = of && !part ? this.columnOf(of) : null
      const isPlain = !node.distinct && !node.having && !node.limit && node.orderBy.length === 0
      if (column === null || this.adds.get(column) !== name || !isPlain)
        throw this.shape.refuse(node, `${name} of what is no sum that it adds up`)
      this.read.add(column)
      return (this.addsUp = true)
    }
    const isCut =
      name === 'TIMESTAMP_TRUNC' && of && this.isTime(of) && part?.kind === 'Path' && more.length === 0
    if (!isCut) return false
    this.read.add(nameKey(this.shape.time))
    if (!wholeHours.test(part.parts[0]!.name)) this.fine.push({ node, taken })
    return true
  }
}

function most(called: 'GREATEST' | 'LEAST', values: ast.Expression[]): ast.Expression {
  return values.length > 1 ? make.call(called, values) : values[0]!
}

const turned: Record<string, string> = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }

/** Comparisons, each with what may be the time on its left. */
function sidesOf(
  condition: ast.Expression,
): { of: ast.Expression; operator: string; value: ast.Expression }[] {
  if (condition.kind === 'Between' && !condition.not)
    return [
      { of: condition.operand, operator: '>=', value: condition.low },
      { of: condition.operand, operator: '<=', value: condition.high },
    ]
  if (condition.kind !== 'Binary' || !turned[condition.operator]) return []
  const { left, right, operator } = condition
  return left.kind === 'Path'
    ? [{ of: left, operator, value: right }]
    : [{ of: right, operator: turned[operator]!, value: left }]
}

/** A name such as MINUTE stands behind the times. */
function partsIn(node: ast.Call): ast.AnyNode[] {
  if (!/_(TRUNC|DIFF)$/.test(calledName(node))) return []
  return node.arguments.slice(1).filter(({ kind }) => kind === 'Path')
}
