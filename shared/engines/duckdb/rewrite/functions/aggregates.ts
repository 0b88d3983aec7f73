/** Aggregate functions, which can all be window functions too, and functions that are window functions only. */
import type { SqlType } from '../../../../sql/types.ts'
import { duckType } from '../../syntax.ts'
import { coerce } from '../coercion.ts'
import { arrayOf, invalid, type Typed, typed, unsupported } from '../context.ts'
import { literalInteger } from '../literals.ts'
import { exact } from '../operators.ts'
import { count, orderByClause, overClause } from '../windows.ts'
import { allArguments, argument, type CallSite, type FunctionTable, noMatch } from './signature.ts'

export const aggregateFunctions: FunctionTable = {
  ANY_VALUE: site => (site.call.having ? extremeBy(site) : ofSameType('any_value')(site)),
  // Counted exactly, which is within the error that BigQuery allows.
  APPROX_COUNT_DISTINCT: site => typed(`count(DISTINCT ${argument(site, 0).sql})${over(site)}`, 'INT64'),
  APPROX_QUANTILES: approximateQuantiles,
  APPROX_TOP_COUNT: approximateTopCount,
  ARRAY_AGG: arrayAgg,
  ARRAY_CONCAT_AGG: arrayConcatAgg,
  AVG: average,
  BIT_AND: ofSameType('bit_and'),
  BIT_OR: ofSameType('bit_or'),
  BIT_XOR: ofSameType('bit_xor'),
  CORR: statistic('corr', 2),
  COUNT: site => typed(site.call.star ? `count(*)${over(site)}` : aggregate(site, 'count'), 'INT64'),
  COUNTIF: countIf,
  COVAR_POP: statistic('covar_pop', 2),
  COVAR_SAMP: statistic('covar_samp', 2),
  GROUPING: site => typed(aggregate(site, 'grouping'), 'INT64'),
  LOGICAL_AND: site => typed(aggregate(site, 'bool_and'), 'BOOL'),
  LOGICAL_OR: site => typed(aggregate(site, 'bool_or'), 'BOOL'),
  MAX: site => (site.call.having ? extremeBy(site) : ofSameType('max')(site)),
  MAX_BY: ofSameType('arg_max_null'),
  MIN: site => (site.call.having ? extremeBy(site) : ofSameType('min')(site)),
  MIN_BY: ofSameType('arg_min_null'),
  STDDEV: statistic('stddev_samp', 1),
  STDDEV_POP: statistic('stddev_pop', 1),
  STDDEV_SAMP: statistic('stddev_samp', 1),
  STRING_AGG: stringAgg,
  SUM: sum,
  VAR_POP: statistic('var_pop', 1),
  VAR_SAMP: statistic('var_samp', 1),
  VARIANCE: statistic('var_samp', 1),
}

export const windowFunctions: FunctionTable = {
  CUME_DIST: ofType('cume_dist', 'FLOAT64'),
  DENSE_RANK: ofType('dense_rank', 'INT64'),
  FIRST_VALUE: ofFirst('first_value'),
  LAG: ofFirst('lag'),
  LAST_VALUE: ofFirst('last_value'),
  LEAD: ofFirst('lead'),
  NTH_VALUE: ofFirst('nth_value'),
  NTILE: ofType('ntile', 'INT64'),
  PERCENT_RANK: ofType('percent_rank', 'FLOAT64'),
  PERCENTILE_CONT: ofType('quantile_cont', 'FLOAT64'),
  PERCENTILE_DISC: ofFirst('quantile_disc'),
  RANK: ofType('rank', 'INT64'),
  ROW_NUMBER: ofType('row_number', 'INT64'),
}

function over(site: CallSite): string {
  return overClause(site.context, site.call.over, site.scope)
}

function argumentList(site: CallSite): string[] {
  return allArguments(site).map(({ sql }) => sql)
}

function ofType(duck: string, type: 'FLOAT64' | 'INT64') {
  return (site: CallSite): Typed => typed(windowed(site, duck), type)
}

function ofFirst(duck: string) {
  return (site: CallSite): Typed => typed(windowed(site, duck), argument(site, 0).type)
}

function windowed(site: CallSite, duck: string): string {
  if (!site.call.over) throw invalid(site.context, site.call, `${site.name} needs an OVER clause`)
  const nulls = site.call.nulls ? ` ${site.call.nulls} NULLS` : ''
  return `${duck}(${argumentList(site).join(', ')}${nulls})${over(site)}`
}

/** A call of a DuckDB aggregate with DISTINCT, ORDER BY, IGNORE NULLS and OVER as in the GoogleSQL call. */
function aggregate(site: CallSite, duck: string, args = argumentList(site)): string {
  const { call, context, scope } = site
  if (args.length === 0) throw noMatch(site, [])
  const order = call.orderBy.length > 0 ? ` ${orderByClause(context, call.orderBy, scope)}` : ''
  const filter = call.nulls === 'IGNORE' ? ` FILTER (WHERE ${args[0]} IS NOT NULL)` : ''
  return `${duck}(${call.distinct ? 'DISTINCT ' : ''}${args.join(', ')}${order})${filter}${over(site)}`
}

function ofSameType(duck: string) {
  return (site: CallSite): Typed => typed(aggregate(site, duck), argument(site, 0).type)
}

function statistic(duck: string, size: number) {
  return (site: CallSite): Typed => {
    const values = allArguments(site)
    const numbers = values.map(value => coerce(value, { kind: 'FLOAT64' }))
    if (values.length !== size || numbers.includes(null)) throw noMatch(site, values)
    return typed(
      aggregate(
        site,
        duck,
        numbers.map(number => number!.sql),
      ),
      'FLOAT64',
    )
  }
}

/** DuckDB adds integers up to a wider type: cast back, a sum that does not fit is an error as in BigQuery. */
function sum(site: CallSite): Typed {
  const { type } = argument(site, 0)
  const kind = type?.kind ?? 'INT64'
  if (kind === 'INT64') return typed(`CAST(${aggregate(site, 'sum')} AS BIGINT)`, 'INT64')
  if (kind !== 'FLOAT64' && kind !== 'NUMERIC' && kind !== 'BIGNUMERIC')
    throw noMatch(site, [argument(site, 0)])
  return exact(aggregate(site, 'sum'), { kind })
}

function average(site: CallSite): Typed {
  const value = argument(site, 0)
  if (!coerce(value, { kind: 'FLOAT64' })) throw noMatch(site, [value])
  const decimal = value.type?.kind === 'NUMERIC' || value.type?.kind === 'BIGNUMERIC'
  return exact(aggregate(site, 'avg'), decimal ? value.type! : { kind: 'FLOAT64' })
}

function countIf(site: CallSite): Typed {
  const test = argument(site, 0)
  if (!coerce(test, { kind: 'BOOL' })) throw noMatch(site, [test])
  return typed(`count(CASE WHEN ${test.sql} THEN 1 END)${over(site)}`, 'INT64')
}

/** `ANY_VALUE(x HAVING MAX y)`: x where y is greatest. */
function extremeBy(site: CallSite): Typed {
  const { extreme, expression } = site.call.having!
  const key = site.context.expression(expression, site.scope)
  const value = argument(site, 0)
  const duck = extreme === 'MAX' ? 'arg_max_null' : 'arg_min_null'
  return typed(`${duck}(${value.sql}, ${key.sql})${over(site)}`, value.type)
}

function arrayAgg(site: CallSite): Typed {
  const type = arrayOf(argument(site, 0).type)
  return typed(limited(site, aggregate(site, 'list', [argument(site, 0).sql])), type)
}

function limited(site: CallSite, list: string): string {
  const { limit } = site.call
  return limit ? `list_slice(${list}, 1, ${count(site.context, limit)})` : list
}

function arrayConcatAgg(site: CallSite): Typed {
  const { type, sql } = argument(site, 0)
  if (type?.kind !== 'ARRAY') throw noMatch(site, [argument(site, 0)])
  const list = aggregate({ ...site, call: { ...site.call, nulls: 'IGNORE' } }, 'list', [sql])
  return typed(`flatten(${limited(site, list)})`, type)
}

function stringAgg(site: CallSite): Typed {
  const value = argument(site, 0)
  if (value.type !== null && value.type.kind !== 'STRING') throw noMatch(site, [value])
  const between = site.call.arguments.length > 1 ? argument(site, 1).sql : `','`
  if (!site.call.limit) return typed(aggregate(site, 'string_agg', [value.sql, between]), 'STRING')
  const list = aggregate({ ...site, call: { ...site.call, nulls: 'IGNORE' } }, 'list', [value.sql])
  return typed(`array_to_string(${limited(site, list)}, ${between})`, 'STRING')
}

/** The n + 1 quantiles that cut the values into n parts of equal size. */
function approximateQuantiles(site: CallSite): Typed {
  const parts = literalInteger(site.call.arguments[1])
  if (!parts || parts > 1000)
    throw unsupported(site.context, site.call, 'APPROX_QUANTILES without a literal number up to 1000')
  const shares = Array.from({ length: parts + 1 }, (_, at) => (at / parts).toFixed(9))
  const value = argument(site, 0)
  return typed(aggregate(site, 'quantile_disc', [value.sql, `[${shares.join(', ')}]`]), arrayOf(value.type))
}

/** The commonest values with their counts, by count. */
function approximateTopCount(site: CallSite): Typed {
  const value = argument(site, 0)
  const entries = `map_entries(histogram(${value.sql}))`
  const counts = `list_transform(${entries}, lambda e: {'count': CAST(e.value AS BIGINT), 'value': e.key})`
  const top = `list_slice(list_reverse_sort(${counts}), 1, ${argument(site, 1).sql})`
  const element: SqlType = {
    kind: 'STRUCT',
    fields: [
      { name: 'value', type: value.type ?? { kind: 'INT64' } },
      { name: 'count', type: { kind: 'INT64' } },
    ],
  }
  return typed(
    `list_transform(${top}, lambda e: CAST({'value': e.value, 'count': e.count} AS ${duckType(element)}))`,
    arrayOf(element),
  )
}
