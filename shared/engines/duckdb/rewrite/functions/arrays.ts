/** Array functions. */
import type { ScalarName } from '../../../../sql/types.ts'
import { duckType } from '../../syntax.ts'
import { joinedBy } from '../repeats.ts'
import { raise } from '../context.ts'
import { asDatetime } from '../dates-and-times.ts'
import { nonZero } from '../operators.ts'
import { rulesOf } from './signature.ts'

const end = (position: '1' | '-1') => (array: string) => {
  const empty = `CASE WHEN len(${array}) = 0 THEN ${raise('Array index is out of bounds')} ELSE ${position} END`
  return `(${array})[${empty}]`
}

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

/** Each is calculated from the first, so that errors do not add up. */
const fractions =
  (kind: ScalarName, steps: Steps) =>
  (from: string, to: string, step = '1') => {
    const numbers = `generate_series(CAST(0 AS BIGINT), CAST(${steps(from, to, step)} AS BIGINT))`
    return `list_transform(${numbers}, lambda n: CAST(${from} + n * ${step} AS ${duckType({ kind })}))`
  }

export const arrayFunctions = rulesOf({
  ARRAY_CONCAT: (...arrays) => `(${arrays.join(' || ')})`,
  ARRAY_FIRST: end('1'),
  ARRAY_LAST: end('-1'),
  ARRAY_LENGTH: 'len',
  ARRAY_REVERSE: 'list_reverse',
  ARRAY_SLICE: (array, from, to) => {
    // The largest integers have none after them.
    const [first, last] = [from, to].map(
      at => `(CASE WHEN ${at} BETWEEN 0 AND ${2 ** 31} THEN ${at} + 1 ELSE ${at} END)`,
    )
    return `list_slice(${array}, ${first}, ${last})`
  },
  GENERATE_ARRAY: [
    (from, to, step?: string) =>
      `generate_series(${from}, ${to}${step === undefined ? '' : `, ${nonZero(step, 'BIGINT')}`})`,
    fractions('NUMERIC', decimalSteps),
    fractions('FLOAT64', numberSteps),
  ],
  GENERATE_DATE_ARRAY: (from, to, step = 'to_days(1)') =>
    `CAST(generate_series(${asDatetime(from)}, ${asDatetime(to)}, ${stepOf(step)}) AS DATE[])`,
  GENERATE_TIMESTAMP_ARRAY: (from, to, step) => `generate_series(${from}, ${to}, ${stepOf(step)})`,

  ARRAY_TO_STRING: (items, between, missing?: string) => {
    const given = missing ? `list_transform(${items}, lambda e: COALESCE(e, ${missing}))` : items
    const known = missing ? ` AND ${missing} IS NOT NULL` : ''
    return `(CASE WHEN ${between} IS NOT NULL${known} THEN ${joinedBy(given, between)} END)`
  },
})
