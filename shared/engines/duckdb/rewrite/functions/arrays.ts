/** Array functions. */
import type { SqlType } from '../../../../sql/types.ts'
import { unify } from '../coercion.ts'
import { arrayOf, elementOf, raise, type Typed, typed } from '../context.ts'
import { asDatetime } from '../dates-and-times.ts'
import { nonZero } from '../operators.ts'
import { type CallSite, type FunctionTable, named, sameAsFirst, signature } from './signature.ts'

const element = ([array]: Typed[]): SqlType | null => elementOf(array!.type)

const arrayOfKind = (kind: 'INT64' | 'DATE' | 'TIMESTAMP') => () => arrayOf({ kind })

const end = (position: '1' | '-1') =>
  signature(['ARRAY'], element, array => {
    const empty = `CASE WHEN len(${array}) = 0 THEN ${raise('Array index is out of bounds')} ELSE ${position} END`
    return `(${array})[${empty}]`
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
  ARRAY_TO_STRING: [
    signature(['ARRAY', 'STRING'], 'STRING', (array, between) => `array_to_string(${array}, ${between})`),
    signature(
      ['ARRAY', 'STRING', 'STRING'],
      'STRING',
      (array, between, missing) =>
        `array_to_string(list_transform(${array}, lambda e: COALESCE(e, ${missing})), ${between})`,
    ),
  ],
  GENERATE_ARRAY: signature(['INT64', 'INT64', 'INT64?'], arrayOfKind('INT64'), (from, to, step = '1') =>
    series(from, to, step, `(${to} - ${from}) // ${nonZero(step, 'BIGINT')}`),
  ),
  GENERATE_DATE_ARRAY: signature(
    ['DATE', 'DATE', 'INTERVAL?'],
    arrayOfKind('DATE'),
    (from, to, step = 'to_days(1)') => {
      const [first, last] = [asDatetime(from), asDatetime(to)]
      return `CAST(${series(first, last, step, steps(first, last, step))} AS DATE[])`
    },
  ),
  GENERATE_TIMESTAMP_ARRAY: signature(
    ['TIMESTAMP', 'TIMESTAMP', 'INTERVAL'],
    arrayOfKind('TIMESTAMP'),
    (from, to, step) => series(from, to, step, steps(from, to, step)),
  ),
}

/** BigQuery's limit. DuckDB would fill the memory, and cannot be interrupted while it plans. */
const mostElements = 1_048_575

function series(from: string, to: string, step: string, count: string): string {
  const end = `CASE WHEN abs(${count}) >= ${mostElements} THEN CAST(${raise('Array is too large')} AS BOOLEAN) END`
  return `(CASE WHEN (${end}) IS NULL THEN generate_series(${from}, ${to}, ${step}) END)`
}

/** How many intervals lie between two times, a month being thirty days. */
function steps(from: string, to: string, step: string): string {
  return `CAST((epoch(${to}) - epoch(${from})) / ${nonZero(`epoch(${step})`, 'DOUBLE')} AS BIGINT)`
}

function concat(site: CallSite): Typed {
  const values = site.allArguments()
  const common = unify(values)
  if (values.length === 0 || !common || (common.type && common.type.kind !== 'ARRAY'))
    throw site.noMatch(values)
  return typed(`(${common.values.map(value => value.sql).join(' || ')})`, common.type)
}
