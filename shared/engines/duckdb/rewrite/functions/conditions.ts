/** Conditional expressions: CASE, COALESCE, IF and the like. */
import type { Case } from '../../../../sql/tree.ts'
import type { SqlType } from '../../../../sql/types.ts'
import { typeName } from '../../../values.ts'
import { quoteText } from '../../syntax.ts'
import { isConstant, isSimple, repeated } from '../repeats.ts'
import { condition, unifyOrThrow } from '../coercion.ts'
import { noSignature } from '../no-signature.ts'
import { type Context, type Scope, type Typed, typed } from '../context.ts'
import { comparison } from '../operators.ts'
import {
  applyRule,
  type CallSite,
  type FunctionRule,
  type FunctionTable,
  sameAsFirst,
  signature,
} from './signature.ts'

const typeOfSecond = ([, second]: Typed[]) => second?.type ?? null

/** A rule for arguments of other types than these. */
const refusing = (kinds: SqlType['kind'][], rule: FunctionRule) => (site: CallSite) => {
  const values = site.allArguments()
  if (values.some(({ type }) => type && kinds.includes(type.kind))) throw site.noMatch(values)
  return applyRule(site, rule)
}

const unordered: SqlType['kind'][] = ['ARRAY', 'JSON', 'STRUCT']

/** The greatest or least argument; NULL if any is, where DuckDB ignores NULLs. */
const extreme = (duck: string, first: (values: string[]) => string = () => '') =>
  signature(['COMMON', 'COMMON*'], sameAsFirst, (...values) => {
    const missing = values.map(value => `${value} IS NULL`).join(' OR ')
    return `(CASE WHEN ${missing} THEN NULL${first(values)} ELSE ${duck}(${values.join(', ')}) END)`
  })

export const conditionFunctions: FunctionTable = {
  COALESCE: signature(['COMMON', 'COMMON*'], sameAsFirst, (...values) => `COALESCE(${values.join(', ')})`),
  // DuckDB takes no `error` under TRY.
  ERROR: site =>
    applyRule(
      site,
      signature(
        ['STRING'],
        () => null,
        text => (site.scope.lifted ? 'NULL' : `error(${text})`),
      ),
    ),
  GREATEST: refusing(unordered, extreme('greatest')),
  IF: signature(
    ['BOOL', 'COMMON', 'COMMON'],
    typeOfSecond,
    (test, yes, no) => `(CASE WHEN ${test} THEN ${yes} ELSE ${no} END)`,
  ),
  IFNULL: signature(['COMMON', 'COMMON'], sameAsFirst, (value, other) => `COALESCE(${value}, ${other})`),
  LEAST: refusing(unordered, least),
  NULLIF: refusing(['ARRAY'], nullIf),
  TYPEOF: site => typed(quoteText(typeName(site.argument(0).type ?? { kind: 'INT64' })), 'STRING'),
}

/** NaN is equal to nothing. */
function nullIf(site: CallSite): Typed {
  const rule = (strange: (value: string) => string) =>
    applyRule(
      site,
      signature(
        ['COMMON', 'COMMON'],
        sameAsFirst,
        (value, other) => `(CASE WHEN ${value} = ${other}${strange(value)} THEN NULL ELSE ${value} END)`,
      ),
    )
  const value = rule(() => '')
  return value.type?.kind === 'FLOAT64' ? rule(value => ` AND NOT isnan(${value})`) : value
}

/** DuckDB's greatest number is NaN; GoogleSQL gives it for LEAST too. */
function least(site: CallSite): Typed {
  const value = applyRule(site, extreme('least'))
  if (value.type?.kind !== 'FLOAT64') return value
  const strange = (values: string[]) => values.map(value => `isnan(${value})`).join(' OR ')
  return applyRule(
    site,
    extreme('least', values => ` WHEN ${strange(values)} THEN CAST('NaN' AS DOUBLE)`),
  )
}

/** Throws SqlError if the results, or the operand and its tests, have no common type, or a condition is no BOOL. */
export function caseExpression(context: Context, node: Case, scope: Scope): Typed {
  const tests = node.branches.map(branch => branch.when)
  const results = [...node.branches.map(branch => branch.then), ...(node.otherwise ? [node.otherwise] : [])]
  const [operand, ...whens] = node.operand
    ? unifyOrThrow(context, node, 'CASE', context.expressions([node.operand, ...tests], scope)).values
    : [
        null,
        ...tests.map(test => ({ sql: condition(context, test, 'CASE', context.expression(test, scope)) })),
      ]
  if (operand?.type?.kind === 'ARRAY') throw noSignature(context, node, 'CASE', [operand])
  const { values, type } = unifyOrThrow(context, node, 'CASE', context.expressions(results, scope))
  const otherwise = node.otherwise ? ` ELSE ${values.at(-1)!.sql}` : ''
  // DuckDB's CASE takes a struct for one value, in which NULL is equal to NULL.
  const ofStruct = operand?.type?.kind === 'STRUCT' ? operand : null
  const equal = (when: Typed) => {
    const test = comparison(ofStruct!, when, '=')
    if (!test) throw noSignature(context, node, 'CASE', [ofStruct!, when])
    return test.sql
  }
  // DuckDB repeats the operand for each branch.
  const choice = (of = '') => {
    const short = isSimple(of)
    const branches = whens.map((when, at) => {
      const test = ofStruct ? equal(when as Typed) : short || !of ? when!.sql : `${of} = ${when!.sql}`
      return ` WHEN ${test} THEN ${values[at]!.sql}`
    })
    return `(CASE ${short ? of : ''}${branches.join('')}${otherwise} END)`
  }
  const of = ofStruct ? undefined : operand?.sql
  const chosen = of && [...tests, ...results].every(isConstant) ? repeated([of], choice) : choice(of)
  if (operand?.type?.kind !== 'FLOAT64') return typed(chosen, type)
  // NaN is equal to no branch.
  return typed(`(CASE WHEN isnan(${operand.sql}) IS NOT TRUE THEN ${chosen}${otherwise} END)`, type)
}
