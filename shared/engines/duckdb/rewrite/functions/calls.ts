/**
 * Function calls, the table of all functions (a name that is not in it is refused), and conditions: CASE, COALESCE, IF and
 * the like.
 */
import { typeIn } from '../coercion.ts'
import { type Context, type Scope, typed, type Typed } from '../context.ts'
import { aggregateFunctions } from './aggregates.ts'
import { arrayFunctions } from './arrays.ts'
import { dateFormatFunctions, dateFunctions } from './dates.ts'
import { jsonFunctions } from './json.ts'
import { numberFunctions } from './numbers.ts'
import { regexpFunctions } from './regexp.ts'
import { CallSite, type Rules, rulesOf } from './signature.ts'
import { stringFunctions } from './strings.ts'
import { equality } from '../operators.ts'
import { isSimple, lift, repeated, safe } from '../repeats.ts'
import { quoteText } from '../../syntax.ts'
import { functions } from '../../../../sql/functions.ts'
import { functionName, isOverRows } from '../../../../sql/resolve/calls.ts'
import { typeName } from '../../../../sql/resolve/types.ts'
import type { Call, Case } from '../../../../sql/tree.ts'
import { isConstant } from '../../../../sql/walk.ts'

/** The greatest or least argument; NULL if any is, where DuckDB ignores NULLs. */
const extreme = (duck: string, values: string[], first = '') => {
  const missing = values.map(value => `${value} IS NULL`).join(' OR ')
  return `(CASE WHEN ${missing} THEN NULL${first} ELSE ${duck}(${values.join(', ')}) END)`
}

const conditionFunctions: Rules = {
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

/** By name in capitals, `NET.HOST` with its dot. */
export const rules: Rules = {
  ...aggregateFunctions,
  ...arrayFunctions,
  ...conditionFunctions,
  ...dateFormatFunctions,
  ...dateFunctions,
  ...jsonFunctions,
  ...numberFunctions,
  ...regexpFunctions,
  ...stringFunctions,
}

/**
 * A function call; SAFE turns its errors into NULL. Throws UnsupportedError for a function that is not in the table.
 * @param only of an aggregate, the rows that it is of
 */
export function call(context: Context, node: Call, scope: Scope, only?: string): Typed {
  const { name, isSafe } = functionName(node)
  const known = functions.has(name) && !node.name.some(part => part.quoted)
  if (!known || !Object.hasOwn(rules, name))
    throw context.unsupported(node, name, known ? 'only BigQuery runs it' : undefined)
  const rule = rules[name]!
  if (isOverRows(node)) {
    const site = new CallSite(context, node, { ...scope, lifted: undefined }, name, only)
    return lift(scope, typed(site.apply(rule), site.type))
  }
  const print = (inside: Scope, own = rule) => new CallSite(context, node, inside, name).apply(own)
  const type = typeIn(context, node)
  if (!isSafe) return typed(print(scope), type)
  if (Object.hasOwn(rules, `SAFE.${name}`)) return typed(print(scope, rules[`SAFE.${name}`]), type)
  // More digits than DuckDB keeps are an error, which SAFE would make NULL.
  if (type?.kind === 'BIGNUMERIC')
    throw context.unsupported(node, `SAFE.${name} with a BIGNUMERIC`, 'leave SAFE out, or cast to NUMERIC')
  return typed(safe(scope, type, print), type)
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
