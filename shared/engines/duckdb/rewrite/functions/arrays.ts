/** Array functions. */
import type { SqlType } from '../../../../sql/types.ts'
import { duckType } from '../../syntax.ts'
import { coerce, unify } from '../coercion.ts'
import { joinedBy } from '../repeats.ts'
import { arrayOf, elementOf, raise, type Typed, typed } from '../context.ts'
import { asDatetime } from '../dates-and-times.ts'
import { nonZero } from '../operators.ts'
import {
  applyRule,
  type CallSite,
  type FunctionTable,
  named,
  sameAsFirst,
  type Signature,
  signature,
} from './signature.ts'

const element = ([array]: Typed[]): SqlType | null => elementOf(array!.type)

const end = (position: '1' | '-1') =>
  signature(['ARRAY'], element, array => {
    const empty = `CASE WHEN len(${array}) = 0 THEN ${raise('Array index is out of bounds')} ELSE ${position} END`
    return `(${array})[${empty}]`
  })

const series = (parameters: string[], kind: ElementKind, sql: Signature['sql']) =>
  signature(parameters, () => arrayOf({ kind }), sql)

type ElementKind = 'INT64' | 'FLOAT64' | 'NUMERIC' | 'DATE' | 'TIMESTAMP'

/** DuckDB SQL of how many steps lie between the first element and the last. */
type Steps = (...args: string[]) => string

const numberSteps: Steps = (from, to, step = '1') =>
  `floor((CAST(${to} AS DOUBLE) - ${from}) / ${nonZero(step, 'DOUBLE')})`

const decimalSteps: Steps = (from, to, step = '1') => {
  const [way, each] = [`(${to} - ${from})`, `CAST(${step} AS DECIMAL(38,9))`]
  return `(CASE WHEN ${way} * sign(${each}) < 0 THEN -1 ELSE gsql_numeric_div(CAST(${way} AS DECIMAL(38,9)), ${each}) END)`
}

/** An INTERVAL that is an error where the query finds it zero, of which DuckDB makes no rows. */
const stepOf = (step: string) =>
  `(CASE WHEN ${step} = to_days(0) THEN to_microseconds(${raise('Division by zero')}) ELSE ${step} END)`

/** A rule whose third argument, an INTERVAL, is of these parts. */
function stepping(parts: RegExp, rule: Signature) {
  return (site: CallSite): Typed => {
    const step = site.call.arguments[2]
    if (step?.kind === 'IntervalLiteral' && !parts.test(step.part))
      throw site.invalid(`${site.name} does not step by ${step.part}`, step)
    return applyRule(site, rule)
  }
}

/** Each is calculated from the first, so that errors do not add up. */
const fractions = (kind: 'FLOAT64' | 'NUMERIC', steps: Steps) =>
  series([kind, kind, `${kind}?`], kind, (from, to, step = '1') => {
    const numbers = `generate_series(CAST(0 AS BIGINT), CAST(${steps(from, to, step)} AS BIGINT))`
    return `list_transform(${numbers}, lambda n: CAST(${from} + n * ${step} AS ${duckType({ kind })}))`
  })

export const arrayFunctions: FunctionTable = {
  ARRAY_CONCAT: concat,
  ARRAY_FIRST: end('1'),
  ARRAY_LAST: end('-1'),
  ARRAY_LENGTH: named('len', ['ARRAY'], 'INT64'),
  ARRAY_REVERSE: named('list_reverse', ['ARRAY'], sameAsFirst),
  ARRAY_SLICE: signature(['ARRAY', 'INT64', 'INT64'], sameAsFirst, (array, from, to) => {
    const [first, last] = [from, to].map(at => `(CASE WHEN ${at} < 0 THEN ${at} ELSE ${at} + 1 END)`)
    return `list_slice(${array}, ${first}, ${last})`
  }),
  ARRAY_TO_STRING: toText,
  GENERATE_ARRAY: [
    series(
      ['INT64', 'INT64', 'INT64?'],
      'INT64',
      (from, to, step) =>
        `generate_series(${from}, ${to}${step === undefined ? '' : `, ${nonZero(step, 'BIGINT')}`})`,
    ),
    fractions('NUMERIC', decimalSteps),
    fractions('FLOAT64', numberSteps),
  ],
  GENERATE_DATE_ARRAY: stepping(
    /^(DAY|WEEK|MONTH|QUARTER|YEAR)$/,
    series(
      ['DATE', 'DATE', 'INTERVAL?'],
      'DATE',
      (from, to, step = 'to_days(1)') =>
        `CAST(generate_series(${asDatetime(from)}, ${asDatetime(to)}, ${stepOf(step)}) AS DATE[])`,
    ),
  ),
  GENERATE_TIMESTAMP_ARRAY: stepping(
    /^(MICROSECOND|MILLISECOND|SECOND|MINUTE|HOUR|DAY)$/,
    series(
      ['TIMESTAMP', 'TIMESTAMP', 'INTERVAL'],
      'TIMESTAMP',
      (from, to, step) => `generate_series(${from}, ${to}, ${stepOf(step)})`,
    ),
  ),
}

function toText(site: CallSite): Typed {
  const [array, ...texts] = site.allArguments()
  const kind = array?.type && !array.empty ? elementOf(array.type)?.kind : 'STRING'
  const fits = [1, 2].includes(texts.length) && texts.every(({ type }) => (type?.kind ?? kind) === kind)
  if (!array || (kind !== 'STRING' && kind !== 'BYTES') || !fits) throw site.noMatch(site.allArguments())
  if (array.type === null) return typed('CAST(NULL AS VARCHAR)', 'STRING')
  const [between, missing] = texts.map(text => coerce(text, { kind })!) as [Typed, Typed?]
  const given = missing ? `list_transform(${array.sql}, lambda e: COALESCE(e, ${missing.sql}))` : array.sql
  const known = missing ? ` AND ${missing.sql} IS NOT NULL` : ''
  const isText = kind === 'STRING'
  // DuckDB puts texts together only: bytes by their digits.
  const items = isText ? given : `list_transform(${given}, lambda b: hex(b))`
  const text = (items: string, between: string) => {
    const joined = joinedBy(items, isText ? between : `hex(${between})`)
    return `(CASE WHEN ${between} IS NOT NULL${known} THEN ${isText ? joined : `unhex(${joined})`} END)`
  }
  return typed(text(items, between.sql), kind)
}

function concat(site: CallSite): Typed {
  const values = site.allArguments()
  const common = values.every(({ type }) => type !== null) ? unify(values) : null
  if (values.length === 0 || !common || (common.type && common.type.kind !== 'ARRAY'))
    throw site.noMatch(values)
  return typed(`(${common.values.map(({ sql }) => sql).join(' || ')})`, common.type)
}
