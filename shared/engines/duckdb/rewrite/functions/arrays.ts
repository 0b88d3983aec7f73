/** Array functions. */
import type { SqlType } from '../../../../sql/types.ts'
import { duckType } from '../../syntax.ts'
import { unify } from '../coercion.ts'
import { arrayOf, elementOf, raise, type Typed, typed } from '../context.ts'
import { asDatetime } from '../dates-and-times.ts'
import { nonZero } from '../operators.ts'
import { type CallSite, type FunctionTable, named, sameAsFirst, signature } from './signature.ts'

const element = ([array]: Typed[]): SqlType | null => elementOf(array!.type)

const arrayOfKind = (kind: 'INT64' | 'FLOAT64' | 'NUMERIC' | 'DATE' | 'TIMESTAMP') => () => arrayOf({ kind })

const end = (position: '1' | '-1') =>
  signature(['ARRAY'], element, array => {
    const empty = `CASE WHEN len(${array}) = 0 THEN ${raise('Array index is out of bounds')} ELSE ${position} END`
    return `(${array})[${empty}]`
  })

/** From `from` on by steps: each is calculated from the first, so that errors do not add up. */
const fractions = (kind: 'FLOAT64' | 'NUMERIC') =>
  signature([kind, kind, `${kind}?`], arrayOfKind(kind), (from, to, step = '1') => {
    const count = `CAST(floor((${to} - ${from}) / ${nonZero(step, 'DOUBLE')}) AS BIGINT)`
    const numbers = series('CAST(0 AS BIGINT)', count, 'CAST(1 AS BIGINT)', count)
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
  ARRAY_TO_STRING: joined,
  GENERATE_ARRAY: [
    signature(['INT64', 'INT64', 'INT64?'], arrayOfKind('INT64'), (from, to, step = '1') =>
      series(from, to, step, `(${to} - ${from}) // ${nonZero(step, 'BIGINT')}`),
    ),
    fractions('FLOAT64'),
    fractions('NUMERIC'),
  ],
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

function joined(site: CallSite): Typed {
  const [array, ...texts] = site.allArguments()
  const strings = array?.type?.kind === 'ARRAY' && array.type.element.kind
  const fits = texts.every(({ type }) => type === null || type.kind === 'STRING')
  if (!array || (strings !== 'STRING' && strings !== 'BYTES') || !fits)
    throw site.noMatch(site.allArguments())
  const [between, missing] = texts.map(({ sql }) => sql)
  const items = missing ? `list_transform(${array.sql}, lambda e: COALESCE(e, ${missing}))` : array.sql
  return typed(`(CASE WHEN ${between} IS NOT NULL THEN array_to_string(${items}, ${between}) END)`, 'STRING')
}

function concat(site: CallSite): Typed {
  const values = site.allArguments()
  const common = unify(values)
  if (values.length === 0 || !common || (common.type && common.type.kind !== 'ARRAY'))
    throw site.noMatch(values)
  return typed(`(${common.values.map(value => value.sql).join(' || ')})`, common.type)
}
