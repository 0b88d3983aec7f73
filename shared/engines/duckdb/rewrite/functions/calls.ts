/** Function calls and the table of all functions: a name that is not in it is refused. */
import { functions } from '../../../../sql/functions.ts'
import { functionName, isOverRows } from '../../../../sql/resolve/calls.ts'
import type { Call } from '../../../../sql/tree.ts'
import { safe, lift } from '../safe.ts'
import { type Context, type Scope, type Typed, typed } from '../context.ts'
import { typeIn } from '../coercion.ts'
import { aggregateFunctions } from './aggregates.ts'
import { arrayFunctions } from './arrays.ts'
import { conditionFunctions } from './conditions.ts'
import { dateFormatFunctions } from './date-formats.ts'
import { dateFunctions } from './dates.ts'
import { jsonFunctions } from './json.ts'
import { numberFunctions } from './numbers.ts'
import { regexpFunctions } from './regexp.ts'
import { CallSite, type Rules } from './signature.ts'
import { stringFunctions } from './strings.ts'

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
