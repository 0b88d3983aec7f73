/** Aggregate functions, which can all be window functions too, and functions that are window functions only. */
import type { HavingExtreme } from '../../../../sql/tree.ts'
import { joinedBy, once } from '../repeats.ts'
import { duckType } from '../../syntax.ts'
import { coerce } from '../coercion.ts'
import { elementOf, raise, type Typed } from '../context.ts'
import { intervalParts } from '../intervals.ts'
import { literalInteger } from '../literals.ts'
import { decimal, exact, isDecimal } from '../operators.ts'
import { count, orderByClause, overClause } from '../windows.ts'
import { type CallSite, each, type Rule, type Rules } from './signature.ts'

const ofDuck =
  (duck: string): Rule =>
  site =>
    aggregate(site, duck)

export const aggregateFunctions: Rules = {
  // Counted exactly, which is within the error that BigQuery allows.
  APPROX_COUNT_DISTINCT: (site, value) => `count(DISTINCT ${value})${over(site)}`,
  APPROX_QUANTILES: approximateQuantiles,
  APPROX_TOP_COUNT: approximateTopCount,
  ARRAY_AGG: (site, value) => aggregateToList(site, value),
  ARRAY_CONCAT_AGG: (site, array) => `flatten(${aggregateToList(site, array, 'IGNORE')})`,
  AVG: [
    ofDuck('avg'),
    average,
    (site, value) =>
      `gsql_interval_divided(${sumOfIntervals(site, value)}, NULLIF(${aggregate(site, 'count')}, 0))`,
  ],
  ...each('BIT_AND BIT_OR BIT_XOR GROUPING', ofDuck),
  COUNT: site => aggregate(site, 'count', site.call.star ? [rowOf(site)] : undefined),
  COUNTIF: (site, test) => aggregate(site, 'count', [`CASE WHEN ${test} THEN 1 END`]),
  LOGICAL_AND: ofDuck('bool_and'),
  LOGICAL_OR: ofDuck('bool_or'),
  ANY_VALUE: site => (site.call.having ? extremeBy(site) : aggregate(site, 'any_value')),
  MAX: ofDuck('max'),
  MAX_BY: ofDuck('arg_max_null'),
  MIN: least,
  MIN_BY: ofDuck('arg_min_null'),
  STDDEV: deviation('stddev_samp', 2),
  ...each('STDDEV_POP VAR_POP', duck => deviation(duck, 1)),
  ...each('STDDEV_SAMP VAR_SAMP', duck => deviation(duck, 2)),
  STRING_AGG: stringAgg,
  SUM: [sum, sumOfIntervals],
  VARIANCE: deviation('var_samp', 2),

  ...each(
    'CUME_DIST DENSE_RANK FIRST_VALUE LAG LAST_VALUE LEAD NTH_VALUE NTILE PERCENT_RANK RANK ROW_NUMBER',
    duck => site => overWindow(site, duck),
  ),
  PERCENTILE_CONT: site => percentile(site, 'quantile_cont'),
  PERCENTILE_DISC: site => percentile(site, 'quantile_disc'),
}

/** What `COUNT(*)` counts. */
function rowOf({ call, only }: CallSite): string {
  if (only) return `CASE WHEN ${only} THEN 1 END`
  return call.having ? '1' : '*'
}

function over(site: CallSite): string {
  return overClause(site.context, site.call.over, site.scope)
}

const asFloat = (number: Typed) => coerce(number, { kind: 'FLOAT64' }).sql

function argumentList(site: CallSite): string[] {
  return site.args.map(({ sql }) => sql)
}

/** With NULLs as the least values, and then NaN. Between a NULL and a value the value stands. */
function withNulls(site: CallSite, { sql, type }: Typed, share: string, between: boolean): string {
  const nan = type?.kind === 'FLOAT64' ? `WHEN isnan(${sql}) THEN 1 ` : ''
  const place = `CASE WHEN ${sql} IS NULL THEN 0 ${nan}ELSE 2 END`
  const list = `list_sort(list({'p': ${place}, 'v': ${sql}})${over(site)})`
  return once([list, share], (sorted, share) => {
    if (!between) return `${sorted}[greatest(CAST(ceil(${share} * len(${sorted})) AS BIGINT), 1)].v`
    const place = `(${share} * (len(${sorted}) - 1))`
    const low = `${sorted}[CAST(floor(${place}) AS BIGINT) + 1].v`
    const high = `${sorted}[CAST(ceil(${place}) AS BIGINT) + 1].v`
    const weight = `(${place} - floor(${place}))`
    return `(CASE WHEN ${weight} = 0 THEN ${low} ELSE COALESCE(${low} * (1 - ${weight}) + ${high} * ${weight}, ${high}, ${low}) END)`
  })
}

/** DuckDB leaves NULLs out. */
function percentile(site: CallSite, duck: 'quantile_cont' | 'quantile_disc'): string {
  const between = duck === 'quantile_cont'
  const [value, written] = site.args as [Typed, Typed]
  const share = between ? written.sql : roundedUp(site, written.sql)
  const number = between ? asFloat(value) : value.sql
  if (site.call.nulls === 'RESPECT') return withNulls(site, { ...value, sql: number }, share, between)
  return value.type?.kind === 'FLOAT64'
    ? quantileOfFloats(site, duck, number, share)
    : overWindow(site, duck, [number, share])
}

/**
 * The reference counts rows with the exact value of the FLOAT64, which for 0.9 lies above it: of ten rows, 0.9 is the
 * tenth. DuckDB rounds the product of the two, so it gets a share that is greater by too little to skip a row.
 */
function roundedUp(site: CallSite, share: string): string {
  const [, node] = site.call.arguments
  if (node?.kind !== 'Literal' || node.literal !== 'FLOAT') return share
  const value = Number(node.text)
  const digits = 60
  if (!(value < 1) || value.toFixed(digits) <= String(value).padEnd(digits + 2, '0')) return share
  return `CAST('${value + 1e-13}' AS DOUBLE)`
}

/** NaN is the least number, and DuckDB's greatest: DuckDB gets -Infinity for it, and the count of NaNs tells them apart. */
function quantileOfFloats(site: CallSite, duck: string, value: string, share: string): string {
  const infinity = `CAST('-Infinity' AS DOUBLE)`
  const quantile = overWindow(site, duck, [
    `CASE WHEN isnan(${value}) THEN ${infinity} ELSE ${value} END`,
    share,
  ])
  const [nans, all] = [`count(CASE WHEN isnan(${value}) THEN 1 END)`, `count(${value})`].map(
    count => count + over(site),
  )
  const place = duck === 'quantile_cont' ? `floor(${share} * (${all} - 1))` : `ceil(${share} * ${all}) - 1`
  return `(CASE WHEN greatest(${place}, 0) < ${nans} THEN CAST('NaN' AS DOUBLE) ELSE ${quantile} END)`
}

function overWindow(site: CallSite, duck: string, args = argumentList(site)): string {
  const nulls = site.call.nulls ? ` ${site.call.nulls} NULLS` : ''
  return `${duck}(${args.join(', ')}${nulls})${over(site)}`
}

/** A call of a DuckDB aggregate with DISTINCT, ORDER BY, IGNORE NULLS and OVER as in the GoogleSQL call. */
function aggregate(site: CallSite, duck: string, args = argumentList(site), nulls = site.call.nulls): string {
  const { call, context, scope } = site
  if (call.having) return ofExtreme(site, duck, args, call.having)
  const order = call.orderBy.length > 0 ? ` ${orderByClause(context, call.orderBy, scope)}` : ''
  const filter = nulls === 'IGNORE' ? ` FILTER (WHERE ${args[0]} IS NOT NULL)` : ''
  return `${duck}(${call.distinct ? 'DISTINCT ' : ''}${args.join(', ')}${order})${filter}${over(site)}`
}

/** NaN and infinity, which DuckDB refuses, make a variance NaN; one over fewer than `least` numbers is NULL. */
function deviation(duck: string, least: 1 | 2): Rule {
  return site => {
    if (site.args[0]!.type?.kind === 'INT64' && !site.call.over) return deviationOfIntegers(site, duck, least)
    const number = asFloat(site.args[0]!)
    const finite = aggregate(site, duck, [`CASE WHEN isfinite(${number}) THEN ${number} END`])
    const strange = aggregate(site, 'bool_or', [`NOT isfinite(${number})`])
    const enough = aggregate(site, 'count', [number])
    return `(CASE WHEN ${strange} AND ${enough} >= ${least} THEN ${notANumber} ELSE ${finite} END)`
  }
}

/**
 * By exact sums of the integers and of their squares: of times in seconds, which are far from zero, DuckDB's way has nine
 * right digits. The squares of larger integers might have a sum beyond 128 bits.
 */
function deviationOfIntegers(site: CallSite, duck: string, least: 1 | 2): string {
  const x = site.args[0]!.sql
  const small = `${x} BETWEEN -${2 ** 48} AND ${2 ** 48}`
  const squares = aggregate(site, 'sum', [`CASE WHEN ${small} THEN CAST(${x} AS HUGEINT) * ${x} END`])
  const large = `${aggregate(site, 'count', [`CASE WHEN NOT (${small}) THEN 1 END`])} > 0`
  const [count, sum] = [aggregate(site, 'count', [x]), aggregate(site, 'sum', [x])]
  const exact = once([count, sum, squares], (n, sum, squares) => {
    const [mean, rest] = [`(${sum} // ${n})`, `CAST(${sum} % ${n} AS DOUBLE)`]
    const spread = `CAST(${squares} - 2 * ${mean} * ${sum} + ${n} * ${mean} * ${mean} AS DOUBLE)`
    const variance = `((${spread} - ${rest} * ${rest} / ${n}) / (${n} - ${least - 1}))`
    return `(CASE WHEN ${n} >= ${least} THEN ${duck.startsWith('stddev') ? `sqrt(${variance})` : variance} END)`
  })
  return `(CASE WHEN ${large} THEN ${aggregate(site, duck, [x])} ELSE ${exact} END)`
}

const notANumber = `CAST('NaN' AS DOUBLE)`

/** DuckDB adds integers up to a wider type: cast back, a sum that does not fit is an error as in BigQuery. */
function sum(site: CallSite): string {
  const type = site.type!
  if (type.kind === 'FLOAT64') return ofFloats(site, 'sum')
  const all = aggregate(site, 'sum')
  return type.kind === 'INT64' ? `CAST(${all} AS BIGINT)` : exact(all, type)
}

/**
 * The reference's sums are exact: of ten thousand thirds a plain one has 14 right digits, in an order that DuckDB's threads
 * change, and so Kahan's counts. DuckDB's knows no infinity, and its last digit is wrong at times: where that is all, the
 * plain one is better. Infinity of finite numbers is an error.
 */
function ofFloats(site: CallSite, duck: 'sum' | 'avg'): string {
  const plain = aggregate(site, duck)
  if (site.call.over) return plain
  const strange = aggregate(site, 'count', [`CASE WHEN NOT isfinite(${site.args[0]!.sql}) THEN 1 END`])
  const [kahan, overflow] = [aggregate(site, `f${duck}`), raise('A number is out of range', 'DOUBLE')]
  const lastDigit = `abs(${plain} - ${kahan}) <= abs(${plain}) * 4.5e-16`
  return `(CASE WHEN ${strange} > 0 OR ${lastDigit} THEN ${plain} WHEN NOT isfinite(${kahan}) THEN ${overflow} ELSE ${kahan} END)`
}

/** DuckDB adds no intervals: their months, days and microseconds each. */
function sumOfIntervals(site: CallSite, value: string): string {
  const { months, days, micros } = intervalParts(value)
  const [m, d, u] = [months, days, micros].map(part => `CAST(${aggregate(site, 'sum', [part])} AS BIGINT)`)
  return `(to_months(CAST(${m} AS INTEGER)) + to_days(CAST(${d} AS INTEGER)) + to_microseconds(${u}))`
}

function average(site: CallSite): string {
  const type = site.type!
  if (!isDecimal(type)) return ofFloats(site, 'avg')
  const count = `NULLIF(CAST(${aggregate(site, 'count')} AS ${duckType(type)}), 0)`
  return decimal('divide', exact(aggregate(site, 'sum'), type), count, type)
}

/** A NaN is the least of all, and DuckDB's greatest. */
function least(site: CallSite, value: string): string {
  const found = aggregate(site, 'min')
  if (site.type?.kind !== 'FLOAT64') return found
  return `(CASE WHEN ${aggregate(site, 'bool_or', [`isnan(${value})`])} THEN ${notANumber} ELSE ${found} END)`
}

/** `ANY_VALUE(x HAVING MAX y)`: x where y is greatest, which is nowhere if one is NaN. */
function extremeBy(site: CallSite): string {
  const { extreme, expression } = site.call.having!
  const key = site.context.expression(expression, site.scope)
  const found = `arg_${extreme.toLowerCase()}_null(${site.args[0]!.sql}, ${key.sql})`
  return key.type?.kind === 'FLOAT64' ? `(CASE WHEN NOT bool_or(isnan(${key.sql})) THEN ${found} END)` : found
}

/** An aggregate of the values in the rows in which another is greatest or least; of NaN there are none. */
function ofExtreme(
  site: CallSite,
  duck: string,
  [value, ...more]: string[],
  { extreme, expression }: HavingExtreme,
): string {
  const { call, context, scope } = site
  if (call.distinct || (more.length > 0 && duck !== 'string_agg'))
    throw site.unsupported(`${site.name} with HAVING ${extreme} here`, call, 'put it into a query of its own')
  const key = context.expression(expression, scope)
  const order = call.orderBy.length > 0 ? ` ${orderByClause(context, call.orderBy, scope)}` : ''
  const pairs = `list({'k': ${key.sql}, 'v': ${value}}${order})`
  const best =
    key.type?.kind === 'FLOAT64'
      ? `CASE WHEN NOT bool_or(isnan(${key.sql})) THEN ${extreme}(${key.sql}) END`
      : `${extreme}(${key.sql})`
  // In parentheses, for `e.k` would be the field of a column that is called e.
  return once([pairs, best], (pairs, best) => {
    const chosen = `list_transform(list_filter(${pairs}, lambda e: (e).k = ${best}), lambda e: (e).v)`
    const kept = call.nulls === 'IGNORE' ? `list_filter(${chosen}, lambda e: e IS NOT NULL)` : chosen
    if (duck === 'list') return `(CASE WHEN len(${kept}) > 0 THEN ${kept} END)`
    const whole = `list_aggregate(${[kept, `'${duck}'`, ...more].join(', ')})`
    return duck === 'count' ? `COALESCE(${whole}, 0)` : whole
  })
}

/**
 * The values of all rows, or of those of each row's window. Where a window grows from row to row, DuckDB would make a list
 * for each row before any of them is looked at, so it makes one of the whole partition, and each row gets its part.
 */
function aggregateToList(site: CallSite, value: string, nulls = site.call.nulls): string {
  const { context, call, scope } = site
  const window = call.over
  if (!window) return limitList(site, aggregate(site, 'list', [value], nulls))
  const filter = nulls === 'IGNORE' ? ` FILTER (WHERE ${value} IS NOT NULL)` : ''
  const rows = `count(*)${filter}${over(site)}`
  const grows = window.orderBy.length > 0 && !window.frame
  if (!grows || call.distinct) return aggregate(site, 'list', [value], nulls)
  const order = orderByClause(context, window.orderBy, scope)
  const partition = overClause(context, { ...window, orderBy: [] }, scope)
  const whole = `list(${value} ${order})${filter}${partition}`
  return `(CASE WHEN ${rows} > 0 THEN list_slice(${whole}, 1, ${rows}) END)`
}

function limitList(site: CallSite, list: string): string {
  const { limit } = site.call
  return limit ? `NULLIF(list_slice(${list}, 1, ${count(site.context, limit)}), [])` : list
}

function stringAgg(site: CallSite, value: string, between = `','`): string {
  if (!site.call.limit && !site.call.over) return aggregate(site, 'string_agg', [value, between])
  return joinedBy(aggregateToList(site, value, 'IGNORE'), between)
}

/** The n + 1 quantiles that cut the values into n parts of equal size. */
function approximateQuantiles(site: CallSite, value: string): string {
  const parts = literalInteger(site.call.arguments[1])
  if (!parts || parts > 1000) throw site.unsupported('APPROX_QUANTILES without a literal number up to 1000')
  if (site.call.nulls === 'RESPECT') throw site.unsupported('APPROX_QUANTILES with RESPECT NULLS')
  const shares = Array.from({ length: parts + 1 }, (_, at) => (at / parts).toFixed(9))
  return aggregate(site, 'quantile_disc', [value, `[${shares.join(', ')}]`])
}

/** The commonest values with their counts, by count. */
function approximateTopCount(site: CallSite, value: string, most: string): string {
  // DuckDB counts no NULLs, but structs of them.
  const entries = `map_entries(histogram({'v': ${value}}))`
  const counts = `list_transform(${entries}, lambda e: {'count': CAST((e).value AS BIGINT), 'value': (e).key.v})`
  const top = `list_slice(list_reverse_sort(${counts}), 1, ${most})`
  const element = duckType(elementOf(site.type)!)
  return `list_transform(${top}, lambda e: CAST({'value': (e).value, 'count': (e).count} AS ${element}))`
}
