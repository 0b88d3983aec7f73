/** All functions: a name that is not here is refused. */
import type { Call } from '../../../../sql/tree.ts'
import { arrayFunctions } from './arrays.ts'
import { aggregateFunctions, windowFunctions } from './aggregates.ts'
import { conditionFunctions } from './conditions.ts'
import { dateTextFunctions } from './date-formats.ts'
import { dateFunctions } from './dates.ts'
import { jsonFunctions } from './json.ts'
import { networkFunctions, stringFunctions } from './strings.ts'
import { numberFunctions } from './numbers.ts'
import { patternFunctions } from './regexp.ts'
import { applySignature, type CallSite, type FunctionRule, type FunctionTable } from './signature.ts'
import { type Context, type Typed, typed, unsupported } from '../context.ts'
import type { Scope } from '../scope.ts'

const functions = new Map<string, FunctionRule>()
const tables: FunctionTable[] = [
  aggregateFunctions,
  arrayFunctions,
  conditionFunctions,
  dateFunctions,
  dateTextFunctions,
  jsonFunctions,
  networkFunctions,
  numberFunctions,
  patternFunctions,
  stringFunctions,
  windowFunctions,
]
for (const table of tables) for (const [name, rule] of Object.entries(table)) add(name, rule)

/** A name in two tables (STRING, of a date or of JSON) has the signatures of both. */
function add(name: string, rule: FunctionRule): void {
  const known = functions.get(name)
  functions.set(name, Array.isArray(known) && Array.isArray(rule) ? [...known, ...rule] : rule)
}

/** How a call of this name (in capitals, `NET.HOST` with its dot) is rewritten, or `undefined`. */
export function functionRule(name: string): FunctionRule | undefined {
  return functions.get(name)
}

/** The name of a called function in capitals, without SAFE. */
export function functionName(call: Call): { name: string; safe: boolean } {
  const parts = call.name.map(part => part.name.toUpperCase())
  const safe = parts.length > 1 && parts[0] === 'SAFE'
  return { name: parts.slice(safe ? 1 : 0).join('.'), safe }
}

/** Whether a call makes one row of many, unless it has an OVER clause. */
export function isAggregate(call: Call): boolean {
  return functionName(call).name in aggregateFunctions
}

/** A function call; SAFE turns its errors into NULL. Throws UnsupportedError for a function that is not known here. */
export function call(context: Context, node: Call, scope: Scope): Typed {
  const { name, safe } = functionName(node)
  const rule = node.name.some(part => part.quoted) ? undefined : functionRule(name)
  if (!rule) throw unsupported(context, node, name)
  const aggregates = isAggregate(node)
  if (aggregates && !node.over) scope.aggregation.found = true
  const site: CallSite = { context, call: node, scope, name }
  if (!aggregates && !node.over) refuseModifiers(site)
  const value = Array.isArray(rule) ? applySignature(site, rule) : rule(site)
  return safe ? typed(`TRY(${value.sql})`, value.type) : value
}

/** DISTINCT and the like are for aggregate functions. */
function refuseModifiers({ context, call, name }: CallSite): void {
  const modified =
    call.distinct || call.nulls || call.having || call.orderBy.length > 0 || call.limit || call.star
  if (modified) throw unsupported(context, call, `${name} with DISTINCT, ORDER BY, LIMIT or the like`)
}
