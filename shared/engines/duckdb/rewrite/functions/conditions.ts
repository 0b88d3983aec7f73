import { argument, type FunctionTable, sameAsFirst, signature } from './signature.ts'
import { quoteText } from '../../syntax.ts'
import { type Typed, typed } from '../context.ts'
import { typeName } from '../../../values.ts'

const typeOfSecond = ([, second]: Typed[]) => second?.type ?? null

/** The greatest or least argument; NULL as soon as one is, where DuckDB passes over NULLs. */
const extreme = (duck: string) => [
  signature(['COMMON', 'COMMON*'], sameAsFirst, (...values) => {
    const missing = values.map(value => `${value} IS NULL`).join(' OR ')
    return `(CASE WHEN ${missing} THEN NULL ELSE ${duck}(${values.join(', ')}) END)`
  }),
]

export const conditionFunctions: FunctionTable = {
  COALESCE: [signature(['COMMON', 'COMMON*'], sameAsFirst, (...values) => `COALESCE(${values.join(', ')})`)],
  ERROR: [
    signature(
      ['STRING'],
      () => null,
      text => `error(${text})`,
    ),
  ],
  GREATEST: extreme('greatest'),
  IF: [
    signature(
      ['BOOL', 'COMMON', 'COMMON'],
      typeOfSecond,
      (test, yes, no) => `(CASE WHEN ${test} THEN ${yes} ELSE ${no} END)`,
    ),
  ],
  IFNULL: [signature(['COMMON', 'COMMON'], sameAsFirst, (value, other) => `COALESCE(${value}, ${other})`)],
  LEAST: extreme('least'),
  NULLIF: [signature(['COMMON', 'COMMON'], sameAsFirst, (value, other) => `NULLIF(${value}, ${other})`)],
  TYPEOF: site => typed(quoteText(typeName(argument(site, 0).type)), 'STRING'),
}
