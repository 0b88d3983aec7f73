/** Conditional expressions: CASE, COALESCE, IF and the like. */
import type { Case } from '../../../../sql/tree.ts'
import { typeName } from '../../../values.ts'
import { quoteText } from '../../syntax.ts'
import { condition, unifyOrThrow } from '../coercion.ts'
import { type Context, type Scope, type Typed, typed } from '../context.ts'
import { applyRule, type CallSite, each, type FunctionTable, sameAsFirst, signature } from './signature.ts'

const typeOfSecond = ([, second]: Typed[]) => second?.type ?? null

/** The greatest or least argument; NULL if any is, where DuckDB ignores NULLs. */
const extreme = (duck: string) =>
  signature(['COMMON', 'COMMON*'], sameAsFirst, (...values) => {
    const missing = values.map(value => `${value} IS NULL`).join(' OR ')
    return `(CASE WHEN ${missing} THEN NULL ELSE ${duck}(${values.join(', ')}) END)`
  })

export const conditionFunctions: FunctionTable = {
  COALESCE: signature(['COMMON', 'COMMON*'], sameAsFirst, (...values) => `COALESCE(${values.join(', ')})`),
  ERROR: signature(
    ['STRING'],
    () => null,
    text => `error(${text})`,
  ),
  ...each('GREATEST LEAST', extreme),
  IF: signature(
    ['BOOL', 'COMMON', 'COMMON'],
    typeOfSecond,
    (test, yes, no) => `(CASE WHEN ${test} THEN ${yes} ELSE ${no} END)`,
  ),
  IFNULL: signature(['COMMON', 'COMMON'], sameAsFirst, (value, other) => `COALESCE(${value}, ${other})`),
  LEAST: least,
  NULLIF: signature(['COMMON', 'COMMON'], sameAsFirst, (value, other) => `NULLIF(${value}, ${other})`),
  TYPEOF: site => typed(quoteText(typeName(site.argument(0).type)), 'STRING'),
}

/** DuckDB's greatest number is NaN; GoogleSQL gives it for LEAST too. */
function least(site: CallSite): Typed {
  const value = applyRule(site, extreme('least'))
  if (value.type?.kind !== 'FLOAT64') return value
  const strange = site.call.arguments
    .map((_, at) => site.argument(at))
    .filter(({ type }) => type?.kind === 'FLOAT64')
  const test = strange.map(({ sql }) => `isnan(${sql})`).join(' OR ')
  return typed(`(CASE WHEN ${test} THEN CAST('NaN' AS DOUBLE) ELSE ${value.sql} END)`, value.type)
}

export function caseExpression(context: Context, node: Case, scope: Scope): Typed {
  const tests = node.branches.map(branch => branch.when)
  const results = [...node.branches.map(branch => branch.then), ...(node.otherwise ? [node.otherwise] : [])]
  const [operand, ...whens] = node.operand
    ? unifyOrThrow(context, node, 'CASE', context.expressions([node.operand, ...tests], scope)).values
    : [
        null,
        ...tests.map(test => ({ sql: condition(context, test, 'CASE', context.expression(test, scope)) })),
      ]
  const { values, type } = unifyOrThrow(context, node, 'CASE', context.expressions(results, scope))
  const branches = whens.map((when, at) => ` WHEN ${when!.sql} THEN ${values[at]!.sql}`).join('')
  const otherwise = node.otherwise ? ` ELSE ${values.at(-1)!.sql}` : ''
  return typed(`(CASE ${operand?.sql ?? ''}${branches}${otherwise} END)`, type)
}
