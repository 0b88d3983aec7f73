/** Calls of functions, by the signatures of `functions.ts`. */
import {
  countsOf,
  functions,
  isBareWord,
  isKind,
  isOfKind,
  parameterAt,
  type Signature,
  takesCount,
} from '../functions.ts'
import type { AnyNode, Call, Expression } from '../tree.ts'
import type { ScalarName, SqlType } from '../types.ts'
import { calledName, descendants, descendantsHere } from '../walk.ts'
import { checkArguments, checkDistinct, checkPartOf, checkParts, checkWindow, isWordAt } from './arguments.ts'
import { coerce, key, noSignature, refuseLiteral } from './coercion.ts'
import type { Context, Scope } from './resolution.ts'
import {
  anything,
  arrayOf,
  coerces,
  commonType,
  isUnknown,
  mayBe,
  sameType,
  someScalar,
  type Type,
  type Value,
} from './types.ts'
import { resolveWindow, wholeWindow } from './windows.ts'

/** The name of a called function in capitals, without SAFE. */
export function functionName(call: Call): { name: string; isSafe: boolean } {
  const called = calledName(call)
  const isSafe = called.startsWith('SAFE.')
  return { name: isSafe ? called.slice(5) : called, isSafe }
}

/** Whether a call makes one row of many, unless it has an OVER clause. */
export function isAggregate(call: Call): boolean {
  return functions.get(functionName(call).name)?.kind === 'aggregates'
}

/** Whether a node takes values of many rows: an aggregate or window function. */
export function isOverRows(node: AnyNode): boolean {
  return node.kind === 'Call' && (node.over !== null || isAggregate(node))
}

/** Notes a fault for an aggregate or window function in a part of a query that is read before its rows are grouped. */
export function refuseOverRows(context: Context, part: AnyNode, clause: string): void {
  for (const node of descendantsHere(part)) {
    if (node.kind !== 'Call' || !isOverRows(node) || (clause === 'HAVING' && !node.over)) continue
    const [what, instead] = node.over
      ? ['A window function', 'QUALIFY filters by it']
      : ['An aggregate function', 'HAVING filters groups']
    const remedy = clause === 'UNNEST' ? 'make its array in a query around or before this one' : instead
    context.fault(node, `${what} cannot stand here: ${remedy}`)
  }
}

export function call(context: Context, node: Call, scope: Scope): Value {
  const { name, isSafe } = functionName(node)
  const known = node.name.some(part => part.quoted) ? undefined : functions.get(name)
  const signatures = known?.signatures ?? []
  const isGrouped = known?.kind === 'aggregates' && !node.over
  const inside = isGrouped ? { ...scope, aggregation: { found: false, isInside: true } } : scope
  if (isGrouped) scope.aggregation.found = true
  if (isGrouped && scope.aggregation.isInside)
    context.fault(node, 'Aggregate functions cannot be nested: put the inner one into a subquery')
  checkParts(context, node, name, signatures)
  const given = argumentsOf(context, node, signatures, inside)
  // What runs the query says so: it may have functions that are not in the table.
  if (!known) return { type: anything }
  if (isSafe && known.kind === 'aggregates')
    context.fault(node, `SAFE does not go with the aggregate function ${name}`)
  checkModifiers(context, node, name)
  const result = node.star
    ? { type: { kind: 'INT64' as const } }
    : applySignature({ context, node, name, given }, signatures)
  const values = given.flatMap(({ value }) => value ?? [])
  if (!node.star && !context.found.problem) checkArguments(context, node, name, values)
  if (isOverRows(node)) {
    ofManyRows({ context, node, name, given }, inside)
    refuseNamesOfWith(context, node, scope)
  }
  return { type: result.type }
}

/** An argument with its value; `null` for keywords such as a date part. */
interface Given {
  node: Expression
  value: Value | null
}

/** A call of a known function with those of its arguments that have no name. */
interface Called {
  context: Context
  node: Call
  name: string
  given: Given[]
}

/** Those without a name; the others are checked here. */
function argumentsOf(context: Context, node: Call, signatures: Signature[], scope: Scope): Given[] {
  const given: Given[] = []
  const { name } = functionName(node)
  for (const argument of node.arguments) {
    if (argument.kind === 'NamedArgument') {
      const value = context.value(argument, scope)
      const wanted = signatures.flatMap(({ options }) => options.get(argument.name.name.toLowerCase()) ?? [])
      const kind = wanted.find(kind => coerces(value, { kind }))
      if (wanted.length === 0) context.fault(argument, `${name} has no argument ${argument.name.name}`)
      else if (kind) coerce(context, argument.value, value, { kind })
      else noSignature(context, node, `function ${name}`, [value])
      continue
    }
    const value = isWordAt(name, given.length, argument) ? null : context.value(argument, scope)
    given.push({ node: argument, value })
  }
  return given
}

/** The result of the first signature that fits, without coercions if there is one. */
function applySignature(called: Called, signatures: Signature[]): Value {
  const { context, node, name, given } = called
  const counted = signatures.filter(signature => takesCount(signature, given.length))
  if (counted.length === 0) return wrongCount(called, signatures)
  const types = given.map(({ value }) => value?.type ?? null)
  if (types.some(type => isUnknown(type))) return ofUnknown(called, counted)
  for (const exact of [true, false])
    for (const signature of counted) {
      const bound = bind(signature, given, exact)
      if (!bound) continue
      for (const [at, { node, value }] of given.entries())
        if (value && bound[at]) coerce(context, node, value, bound[at])
      context.found.calls.set(node, signature)
      checkPartOf(context, node, name, signature.parameters[0]?.kind ?? '')
      return { type: signature.returns(bound as (SqlType | null)[]) }
    }
  return noMatch(called, counted)
}

function noMatch({ context, node, name, given }: Called, signatures: Signature[]): Value {
  const values = given.flatMap(({ value }) => value ?? [])
  const forms = signatures.map(({ parameters }) => parameters)
  return noSignature(context, node, `function ${name}`, values, forms)
}

/** What all signatures have in common that may fit. */
function ofUnknown(called: Called, signatures: Signature[]): Value {
  const results = signatures.flatMap(signature => {
    const bound = bind(signature, called.given, false)
    return bound ? [resultOf(signature, bound)] : []
  })
  const [first] = results
  if (first === undefined) return noMatch(called, signatures)
  const isSure = results.every(
    type => first === type || (first && type && !isUnknown(type) && sameType(type, first)),
  )
  if (isSure && !isUnknown(first)) return { type: first }
  const isScalar = results.every(type => !mayBe(type, 'ARRAY') && !mayBe(type, 'STRUCT'))
  return { type: isScalar ? someScalar : anything }
}

function resultOf({ returns, parameters }: Signature, bound: (Type | null)[]): Type | null {
  const type: Type | null = returns(bound as (SqlType | null)[])
  const takes = (kind: string) => parameters.some(parameter => parameter.kind === kind)
  // The element of an array that is not known.
  if (type === null && takes('ARRAY')) return anything
  return isUnknown(type) && (takes('NUMBER') || takes('ORDERED')) ? someScalar : type
}

/** The types that the arguments get; `null` if one does not fit. `exact` allows no coercion. */
function bind(signature: Signature, given: Given[], exact: boolean): (Type | null)[] | null {
  const parameters = given.map((_, at) => parameterAt(signature.parameters, at))
  const types: (Type | null)[] = []
  for (const [at, { value }] of given.entries()) {
    const { kind } = parameters[at]!
    if (isBareWord(kind) !== (value === null)) return null
    const type = value && fit(value, kind, exact)
    if (type === undefined) return null
    types.push(type)
  }
  if (onlyLiterals(parameters, given)) return null
  const shared = given.flatMap(({ value }, at) => {
    if (!value || !parameters[at]!.common) return []
    return value.type === null ? [{ type: types[at]! }] : [value]
  })
  const common = commonType(shared)
  if (common === undefined) return null
  return types.map((type, at) => (parameters[at]!.common ? common : type))
}

/** A FLOAT64 that is written out becomes a NUMERIC only beside one. */
function onlyLiterals(parameters: Signature['parameters'], given: Given[]): boolean {
  const isNumeric = (at: number) => parameters[at]!.kind === 'NUMERIC'
  const types = given.flatMap(({ value }, at) => (isNumeric(at) ? [value?.type?.kind] : []))
  return types.includes('FLOAT64') && !types.includes('NUMERIC')
}

/** The type of an argument as a parameter of this kind has it; `undefined` where it does not fit. */
function fit(value: Value, kind: string, exact: boolean): Type | null | undefined {
  const { type } = value
  if (isUnknown(type)) return isKind(kind) ? type : { kind: kind as ScalarName }
  if (type !== null && isOfKind(type as SqlType, kind)) return type
  const element = /^ARRAY<(.*)>$/.exec(kind)?.[1]
  if (isKind(kind) && !element && (type !== null || kind !== 'NUMBER'))
    return type === null ? type : undefined
  if (exact && (element || type !== null)) return undefined
  const scalar: Type = { kind: (kind === 'NUMBER' ? 'INT64' : (element ?? kind)) as ScalarName }
  const wanted = element ? arrayOf(scalar) : scalar
  return coerces(value, wanted) ? wanted : undefined
}

function wrongCount({ context, node, name, given }: Called, signatures: Signature[]): Value {
  const counts = signatures.map(({ parameters }) => countsOf(parameters))
  const least = Math.min(...counts.map(({ least }) => least))
  const most = Math.max(...counts.map(({ most }) => most))
  const wanted = most === least ? `${least}` : most === Infinity ? `${least} or more` : `${least} to ${most}`
  return context.fault(
    node,
    `Number of arguments does not match for function ${name}: it takes ${wanted}, not ${given.length}`,
  )
}

/** What else a call of many rows holds. */
function ofManyRows({ context, node, name, given }: Called, scope: Scope): void {
  if (node.distinct) for (const { value } of given) if (value) key(context, node, 'DISTINCT', value)
  if (node.having) context.value(node.having.expression, scope)
  for (const item of node.orderBy) {
    refuseLiteral(context, item.expression)
    key(context, item, 'ORDER BY', context.value(item.expression, scope))
  }
  if (node.limit?.kind === 'ParameterReference') context.value(node.limit, scope)
  const window = node.over && wholeWindow(context, node.over, scope.windows)
  checkDistinct(context, node, name)
  if (window) checkWindow(context, node, name, window)
  if (window) context.found.windows.set(node, window)
  // The SELECT has resolved those with a name.
  if (window && 'kind' in node.over!) resolveWindow(context, window, scope)
}

function refuseNamesOfWith(context: Context, node: Call, scope: Scope): void {
  for (let around = scope; around.isWith; around = around.outer!) {
    const { variables } = around
    for (const argument of node.arguments)
      for (const path of descendants(argument)) {
        const variable = path.kind === 'Path' ? context.found.paths.get(path)?.variable : null
        if (variable && variables.includes(variable))
          context.fault(path, 'A name of WITH cannot be used in an aggregate or a window function')
      }
  }
}

/** What may stand in a call beside its arguments, by its name here and in the table. */
const modifiers: [name: string, mark: string, isIn: (call: Call) => unknown][] = [
  ['*', '*', call => call.star],
  ['DISTINCT', 'DISTINCT', call => call.distinct],
  ['IGNORE or RESPECT NULLS', 'NULLS', call => call.nulls],
  ['HAVING MAX or MIN', 'HAVING', call => call.having],
  ['ORDER BY', 'ORDER', call => call.orderBy.length > 0],
  ['LIMIT', 'LIMIT', call => call.limit],
]

const inWindow: Partial<Record<string, string>> = {
  'HAVING MAX or MIN': 'aggregate in a query of its own, and join that',
  'ORDER BY': 'its order is that of OVER (ORDER BY ...)',
  LIMIT: 'give the window a frame, such as ROWS 9 PRECEDING',
}

function checkModifiers(context: Context, node: Call, name: string): void {
  const { modifiers: taken, kind } = functions.get(name)!
  for (const [modifier, mark, isIn] of modifiers) {
    if (!isIn(node)) continue
    const why = node.over ? inWindow[modifier] : undefined
    const refused = !taken.has(mark) ? '' : why ? ` with OVER: ${why}` : null
    if (refused !== null)
      context.fault(node, `${name} does not support ${modifier} in its arguments${refused}`)
  }
  if (node.over && !taken.has('OVER')) context.fault(node, `Function ${name} does not support an OVER clause`)
  if (!node.over && kind === 'windows') context.fault(node, `${name} needs an OVER clause`)
}
