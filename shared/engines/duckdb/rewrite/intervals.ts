/** INTERVALs: literals, parts and arithmetic. `duckdb/udfs/interval.ts` has what DuckDB computes in another way. */
import type { AnyNode, Expression, IntervalLiteral } from '../../../sql/tree.ts'
import { children, isConstant } from '../../../sql/walk.ts'
import { intervalFrom } from '../udfs/interval.ts'
import { ValueError } from '../udfs/udf.ts'
import { repeated } from './repeats.ts'
import { type Context, type Scope, type Typed, typed } from './context.ts'

const intervals: Record<string, (count: string) => string> = {
  MICROSECOND: count => `to_microseconds(${count})`,
  MILLISECOND: count => `to_microseconds(1000 * ${count})`,
  SECOND: count => `to_microseconds(1000000 * ${count})`,
  MINUTE: count => `to_minutes(${count})`,
  HOUR: count => `to_hours(${count})`,
  DAY: count => `to_days(CAST(${count} AS INTEGER))`,
  WEEK: count => `to_days(CAST(7 * ${count} AS INTEGER))`,
  MONTH: count => `to_months(CAST(${count} AS INTEGER))`,
  QUARTER: count => `to_months(CAST(3 * ${count} AS INTEGER))`,
  YEAR: count => `to_months(CAST(12 * ${count} AS INTEGER))`,
}

/** The interval of `count` (a BIGINT) parts. */
export function interval(count: string, part: string): string {
  return intervals[part]!(count)
}

/** A date or time moved by an interval. So that no other expression equals that of a month, no day is added before it. */
export function movedBy(point: string, operator: '+' | '-', by: Typed, node: Expression): string {
  const from = mayHaveMonths(node) ? `${point} + to_days(0)` : point
  return `(${from} ${operator} ${plainInterval(by)})`
}

/** Of those that are written out, and of sums, which put months, days and microseconds together again. */
function mayHaveMonths(node: AnyNode): boolean {
  if (node.kind === 'IntervalLiteral') return unitOf(node.part) === 'months'
  const isSum = node.kind === 'Call' && /^(SUM|AVG)$/i.test(node.name[0]!.name)
  return isSum || children(node).some(mayHaveMonths)
}

/** DuckDB's intervals have three units. */
function unitOf(part: string): string {
  if (/^(YEAR|QUARTER|MONTH)$/.test(part)) return 'months'
  return part === 'WEEK' || part === 'DAY' ? 'days' : 'microseconds'
}

/** For what is the same in a day and in 24 hours. */
export const plainInterval = ({ plain, sql }: Typed) => plain ?? sql

/**
 * DuckDB computes equal expressions once, and to it a month equals 30 days, and a day 24 hours: so constants of one unit
 * stay as they are, and those of others become what no expression equals. TRY takes no such value.
 */
function apart(context: Context, node: IntervalLiteral, { sql, unit }: OfUnit, { lifted }: Scope): Typed {
  context.units.interval ??= unit
  if (unit === context.units.interval || lifted || !isConstant(node)) return typed(sql, 'INTERVAL')
  return { ...typed(`(CASE WHEN random() < 1 THEN ${sql} END)`, 'INTERVAL'), plain: sql }
}

/** Parts in order, the larger before the smaller; a text has those from one to another. */
const order = ['YEAR', 'MONTH', 'DAY', 'HOUR', 'MINUTE', 'SECOND']

/** An INTERVAL with its only unit, or of several its own text. */
interface OfUnit {
  sql: string
  unit: string
}

/** A literal text, or any INT64 of one part. Throws SqlError for an invalid text. */
export function intervalLiteral(context: Context, node: IntervalLiteral, scope: Scope): Typed {
  const { value, part } = node
  if (value.kind === 'Literal' && value.literal === 'STRING')
    return apart(context, node, fromText(context, node, value.value), scope)
  const sql = interval(context.expression(value, scope).sql, part)
  return apart(context, node, { sql, unit: unitOf(part) }, scope)
}

/** `INTERVAL '1:30' HOUR TO MINUTE`, and `INTERVAL '5' DAY`. */
function fromText(context: Context, node: IntervalLiteral, text: string): OfUnit {
  const { value, part, to } = node
  if (to === null && !order.includes(part)) {
    const sql = /^[-+]?\d+$/.test(text) ? interval(`CAST(${BigInt(text)} AS BIGINT)`, part) : null
    if (sql === null) throw context.invalid(value, 'Text is not an INTERVAL')
    return { sql, unit: unitOf(part) }
  }
  if (to !== null && !(order.indexOf(part) >= 0 && order.indexOf(part) < order.indexOf(to)))
    throw context.invalid(node, `There is no INTERVAL ${part} TO ${to}`)
  try {
    const { months, days, micros } = intervalFrom(text, part, to ?? part)
    const parts = { months, days, microseconds: micros }
    const units = Object.entries(parts).filter(([, count]) => Number(count) !== 0)
    const [unit = 'days', count = 0] = units[0] ?? []
    if (units.length < 2) return { sql: `to_${unit}(${count})`, unit }
    const sql = `(${units.map(([unit, count]) => `to_${unit}(${count})`).join(' + ')})`
    return { sql, unit: sql }
  } catch (error) {
    if (error instanceof ValueError) throw context.invalid(value, error.message)
    throw error
  }
}

/** Parts of an INTERVAL: its years and months, its days, and those of its microseconds. */
const extracted: Record<string, (interval: string) => string> = {
  YEAR: sql => `(${months(sql)} // 12)`,
  MONTH: sql => `(${months(sql)} % 12)`,
  DAY: sql => `datepart('day', ${sql})`,
  HOUR: sql => `(${micros(sql)} // 3600000000)`,
  MINUTE: sql => `(${micros(sql)} // 60000000 % 60)`,
  SECOND: sql => `(${micros(sql)} // 1000000 % 60)`,
  MILLISECOND: sql => `(${micros(sql)} // 1000 % 1000)`,
  MICROSECOND: sql => `(${micros(sql)} % 1000000)`,
}

const months = (sql: string) => `(12 * datepart('year', ${sql}) + datepart('month', ${sql}))`

const micros = (sql: string) =>
  `(3600000000 * datepart('hour', ${sql}) + 60000000 * datepart('minute', ${sql}) + datepart('microsecond', ${sql}))`

/** The parts of DuckDB's intervals. */
export const intervalParts = (sql: string) => ({
  months: months(sql),
  days: `datepart('day', ${sql})`,
  micros: micros(sql),
})

/** EXTRACT from an INTERVAL. */
export function ofInterval(part: string, sql: string): string {
  return repeated([sql], extracted[part]!)
}

const arithmetic: Record<string, (a: string, b: string) => string> = {
  'INTERVAL + INTERVAL': (a, b) => `(${a} + ${b})`,
  'INTERVAL - INTERVAL': (a, b) => `(${a} - ${b})`,
  'INTERVAL * INT64': (a, b) => `gsql_interval_multiplied(${a}, ${b})`,
  'INT64 * INTERVAL': (a, b) => `gsql_interval_multiplied(${b}, ${a})`,
  'INTERVAL / INT64': (a, b) => `gsql_interval_divided(${a}, ${b})`,
}

/** The sum, difference, product or quotient, `null` where there is none. */
export function intervalArithmetic(left: Typed, right: Typed, operator: string): string | null {
  return arithmetic[`${left.type?.kind} ${operator} ${right.type?.kind}`]?.(left.sql, right.sql) ?? null
}
