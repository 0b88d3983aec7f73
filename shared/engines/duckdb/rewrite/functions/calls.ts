/** Function calls and the table of all functions: a name that is not in it is refused. */
import { functions, isAggregateName } from '../../../../sql/functions.ts'
import { instead, table } from '../../../../sql/instead.ts'
import type { AnyNode, Call, Path } from '../../../../sql/tree.ts'
import { descendants, descendantsHere } from '../../../../sql/walk.ts'
import { attempt, lift } from '../attempt.ts'
import { type Context, type Scope, type Typed, typed } from '../context.ts'
import { findPath } from '../scope.ts'
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

/** Why some functions of GoogleSQL are not in the table. */
const reasons = table(String.raw`
  APPROX_TOP_SUM => write SELECT x, SUM(weight) ... GROUP BY x ORDER BY 2 DESC LIMIT n
  CORR|COVAR_(POP|SAMP)|EDIT_DISTANCE|SOUNDEX|NET\.(SAFE_)?IP_\w+|NET\.IPV4_\w+ => only BigQuery runs it
`)

/** Functions of the language that BigQuery does not offer, though the reference does. */
const foreign: ReadonlySet<string> = new Set(
  `ARRAY_AVG ARRAY_FILTER ARRAY_INCLUDES ARRAY_INCLUDES_ALL ARRAY_INCLUDES_ANY ARRAY_IS_DISTINCT ARRAY_MAX ARRAY_MIN
  ARRAY_SUM ARRAY_TRANSFORM IFERROR ISERROR NULLIFERROR`.split(/\s+/),
)

/** A function call; SAFE turns its errors into NULL. Throws UnsupportedError for a function that is not in the table. */
export function call(context: Context, node: Call, scope: Scope): Typed {
  const { name, safe } = functionName(node)
  const known = functions.has(name) && Object.hasOwn(rules, name) && !node.name.some(part => part.quoted)
  if (!known && foreign.has(name)) throw context.invalid(node, `BigQuery has no function ${name}`)
  if (!known) throw context.unsupported(node, name, instead(reasons, name) ?? undefined)
  const aggregates = isAggregate(node)
  if (aggregates && !node.over) scope.aggregation.found = true
  if (!safe) return called(context, node, scope, name)
  if (aggregates) throw context.invalid(node, `SAFE does not go with the aggregate function ${name}`)
  if (Object.hasOwn(rules, `SAFE.${name}`)) return called(context, node, scope, name, rules[`SAFE.${name}`])
  const value = attempt(scope, inside => called(context, node, inside, name))
  // More digits than DuckDB keeps are an error, which SAFE would make NULL.
  if (value.type?.kind === 'BIGNUMERIC')
    throw context.unsupported(node, `SAFE.${name} with a BIGNUMERIC`, 'leave SAFE out, or cast to NUMERIC')
  return value
}

function called(context: Context, node: Call, scope: Scope, name: string, rule = rules[name]!): Typed {
  const lifts = isOverRows(node)
  const site = new CallSite(context, node, lifts ? { ...scope, lifted: undefined } : scope, name)
  checkModifiers(site)
  if (isAggregate(node) && !node.over) site.own = ownColumn(site)
  site.resolve()
  if (lifts) refuseNamesOfWith(site)
  const value = typed(site.apply(rule), site.type)
  return lifts ? lift(scope, value) : value
}

function refuseNamesOfWith({ context, call, scope }: CallSite): void {
  for (let around = scope; around.isWith; around = around.outer!) {
    const named = pathsIn(call).find(({ parts }) => findPath(context, { ...around, outer: null }, parts))
    if (named)
      throw context.invalid(named, 'A name of WITH cannot be used in an aggregate or a window function')
  }
}

function pathsIn({ arguments: values }: Call): Path[] {
  return values.flatMap(node => [...descendants(node)]).filter(node => node.kind === 'Path')
}

/** A column of the query that an aggregate stands in, where its arguments name only those of queries around. */
function ownColumn(site: CallSite): string | null {
  const { context, call } = site
  let { scope } = site
  while (scope.isWith) scope = scope.outer!
  const [variable] = scope.variables
  const paths = pathsIn(call)
  const isOwn = ({ parts }: Path) => findPath(context, { ...scope, outer: null }, parts) !== null
  if (!variable || !scope.outer || paths.length === 0 || paths.some(isOwn)) return null
  return variable.kind === 'value' ? variable.value.sql : (variable.columns[0]?.sql ?? null)
}

/** The name of a called function in capitals, without SAFE. */
function functionName(call: Call): { name: string; safe: boolean } {
  const parts = call.name.map(part => part.name.toUpperCase())
  const safe = parts.length > 1 && parts[0] === 'SAFE'
  return { name: parts.slice(safe ? 1 : 0).join('.'), safe }
}

/** Whether a call makes one row of many, unless it has an OVER clause. */
export function isAggregate(call: Call): boolean {
  return isAggregateName(functionName(call).name)
}

/** Throws SqlError for an aggregate or window function in a part of a query that is read before its rows are grouped. */
export function refuseOverRows(context: Context, part: AnyNode, clause: string): void {
  for (const node of descendantsHere(part)) {
    if (node.kind !== 'Call' || !isOverRows(node) || (clause === 'HAVING' && !node.over)) continue
    const [what, instead] = node.over
      ? ['A window function', 'QUALIFY filters by it']
      : ['An aggregate function', 'HAVING filters groups']
    throw context.invalid(
      node,
      `${what} cannot stand here: ${clause === 'UNNEST' ? 'make its array in a query around or before this one' : instead}`,
    )
  }
}

/** Whether a node takes values of many rows: an aggregate or window function. */
export function isOverRows(node: AnyNode): boolean {
  return node.kind === 'Call' && (node.over !== null || isAggregate(node))
}

/** What may stand in a call beside its arguments, as messages and as the table of signatures name it. */
const modifiers: [name: string, word: string, isIn: (call: Call) => unknown][] = [
  ['*', '*', call => call.star],
  ['DISTINCT', 'DISTINCT', call => call.distinct],
  ['IGNORE or RESPECT NULLS', 'NULLS', call => call.nulls],
  ['HAVING MAX or MIN', 'HAVING', call => call.having],
  ['ORDER BY', 'ORDER', call => call.orderBy.length > 0],
  ['LIMIT', 'LIMIT', call => call.limit],
]

const inWindow: Partial<Record<string, string>> = {
  HAVING: 'aggregate in a query of its own, and join that',
  ORDER: 'its order is that of OVER (ORDER BY ...)',
  LIMIT: 'give the window a frame, such as ROWS 9 PRECEDING',
}

function checkModifiers(site: CallSite): void {
  const { call, name } = site
  const taken = functions.get(name)!.modifiers
  for (const [modifier, word, isIn] of modifiers) {
    if (!isIn(call)) continue
    if (!taken.has(word)) throw site.invalid(`${name} does not support ${modifier} in its arguments`)
    if (call.over && inWindow[word])
      throw site.invalid(`${name} does not support ${modifier} in its arguments with OVER: ${inWindow[word]}`)
  }
  if (call.over && !taken.has('OVER')) throw site.invalid(`Function ${name} does not support an OVER clause`)
}
