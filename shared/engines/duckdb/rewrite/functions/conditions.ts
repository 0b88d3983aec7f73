/** Conditional expressions: CASE, COALESCE, IF and the like. */
import type { Case } from '../../../../sql/tree.ts'
import { typeName } from '../../../../sql/resolve/types.ts'
import { quoteText } from '../../syntax.ts'
import { isConstant } from '../../../../sql/walk.ts'
import { isSimple, repeated } from '../repeats.ts'
import type { Context, Scope } from '../context.ts'
import { equality } from '../operators.ts'
import { type Rules, rulesOf } from './signature.ts'

/** The greatest or least argument; NULL if any is, where DuckDB ignores NULLs. */
const extreme = (duck: string, values: string[], first = '') => {
  const missing = values.map(value => `${value} IS NULL`).join(' OR ')
  return `(CASE WHEN ${missing} THEN NULL${first} ELSE ${duck}(${values.join(', ')}) END)`
}

export const conditionFunctions: Rules = {
  ...rulesOf({
    COALESCE: (...values) => `COALESCE(${values.join(', ')})`,
    GREATEST: (...values) => extreme('greatest', values),
    IF: (test, yes, no) => `(CASE WHEN ${test} THEN ${yes} ELSE ${no} END)`,
    IFNULL: (value, other) => `COALESCE(${value}, ${other})`,
  }),

  // DuckDB takes no `error` under TRY.
  ERROR: ({ scope }, text) => (scope.lifted ? 'NULL' : `error(${text})`),
  // DuckDB's greatest number is NaN; GoogleSQL gives it for LEAST too.
  LEAST: ({ type }, ...values) => {
    const strange = values.map(value => `isnan(${value})`).join(' OR ')
    const first = type?.kind === 'FLOAT64' ? ` WHEN ${strange} THEN CAST('NaN' AS DOUBLE)` : ''
    return extreme('least', values, first)
  },
  // NaN is equal to nothing.
  NULLIF: ({ type }, value, other) => {
    const known = type?.kind === 'FLOAT64' ? ` AND NOT isnan(${value})` : ''
    return `(CASE WHEN ${value} = ${other}${known} THEN NULL ELSE ${value} END)`
  },
  TYPEOF: ({ args }) => quoteText(typeName(args[0]!.type ?? { kind: 'INT64' })),
}

export function caseExpression(context: Context, node: Case, scope: Scope): string {
  const tests = node.branches.map(branch => branch.when)
  const results = node.branches.map(branch => branch.then)
  const operand = node.operand && context.expression(node.operand, scope)
  const whens = context.expressions(tests, scope)
  const values = context.expressions(results, scope)
  const otherwise = node.otherwise ? ` ELSE ${context.expression(node.otherwise, scope).sql}` : ''
  // DuckDB's CASE takes a struct for one value, in which NULL is equal to NULL.
  const ofStruct = operand?.type?.kind === 'STRUCT' ? operand : null
  // DuckDB repeats the operand for each branch.
  const choice = (of = '') => {
    const short = isSimple(of)
    const branches = whens.map((when, at) => {
      const test = ofStruct ? equality(ofStruct, when) : short || !of ? when.sql : `${of} = ${when.sql}`
      return ` WHEN ${test} THEN ${values[at]!.sql}`
    })
    return `(CASE ${short ? of : ''}${branches.join('')}${otherwise} END)`
  }
  const of = ofStruct ? undefined : operand?.sql
  const parts = [...tests, ...results, ...(node.otherwise ? [node.otherwise] : [])]
  const chosen = of && parts.every(isConstant) ? repeated([of], choice) : choice(of)
  if (operand?.type?.kind !== 'FLOAT64') return chosen
  // NaN is equal to no branch.
  return `(CASE WHEN isnan(${operand.sql}) IS NOT TRUE THEN ${chosen}${otherwise} END)`
}
