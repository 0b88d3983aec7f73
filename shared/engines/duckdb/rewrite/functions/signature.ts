/** How the rewriting of a GoogleSQL function is written down: parameters, result type and DuckDB SQL. */
import type { SqlError } from '../../../../sql/error.ts'
import {
  countsOf,
  isKind,
  isOfKind,
  type Parameter,
  parameterAt,
  parametersOf,
} from '../../../../sql/functions.ts'
import { extractParts } from '../../../../sql/grammar.ts'
import { instead, parts } from '../../../../sql/instead.ts'
import type { Call, Expression, NamedArgument, Node, Window } from '../../../../sql/tree.ts'
import type { ScalarName, SqlType } from '../../../../sql/types.ts'
import { argument, patternBeforeCall } from '../attempt.ts'
import { repeated } from '../repeats.ts'
import { coerce, unify } from '../coercion.ts'
import { arrayOf, type Context, type Scope, type Typed, typed } from '../context.ts'
import { noSignature } from '../no-signature.ts'
import { wholeWindow } from '../windows.ts'

/** From DuckDB SQL of the arguments to that of the call; `null` if they do not go with the date part. */
type Template = (...args: string[]) => string | null

export interface Signature {
  parameters: Parameter[]
  returns: ScalarName | ((args: Typed[]) => SqlType | null)
  sql: Template
}

/** A call and where it stands. */
export class CallSite {
  readonly context: Context
  private readonly node: Call
  /** Without its named arguments, and with its whole window. */
  readonly call: Call & { over: Window | null }
  readonly scope: Scope
  /** In capitals, without SAFE. */
  readonly name: string
  /** Each argument is rewritten once: twice would be 2^n times inside n calls. */
  readonly values: Map<number, Typed>
  /** A column of the own query of an aggregate, whose arguments name only those of queries around. */
  own: string | null = null
  /** The arguments as `name => value` that no rule has asked for yet, by name in small letters. */
  readonly options: Map<string, NamedArgument>

  constructor(context: Context, call: Call, scope: Scope, name: string, values = new Map<number, Typed>()) {
    const options = call.arguments.filter(argument => argument.kind === 'NamedArgument')
    this.context = context
    this.node = call
    this.call = {
      ...call,
      arguments: call.arguments.filter(argument => argument.kind !== 'NamedArgument'),
      over: call.over && wholeWindow(context, call.over, scope.windows),
    }
    this.scope = scope
    this.name = name
    this.values = values
    this.options = new Map(options.map(option => [option.name.name.toLowerCase(), option]))
  }

  /** The SQL of `name => value`, or `otherwise` where the call has none. Throws SqlError for a value of another type. */
  option(name: string, kind: ScalarName, otherwise: string): string {
    const node = this.options.get(name)
    if (!node) return otherwise
    this.options.delete(name)
    const given = this.context.expression(node.value, this.scope)
    const value = coerce(given, { kind })
    if (!value) throw this.noMatch([given])
    return value.sql
  }

  /** The same call, of which the arguments see another scope. */
  inScope(scope: Scope): CallSite {
    return new CallSite(this.context, this.call, scope, this.name)
  }

  argument(at: number): Typed {
    const node = this.call.arguments[at]
    if (!node) throw this.invalid(`${this.name} needs more arguments`)
    const known = this.values.get(at)
    if (known) return known
    const given = this.ofOwnRows(at, argument(this.context, node, this.scope))
    const isPattern = at === 1 && this.name.startsWith('REGEXP_')
    const value = isPattern ? patternBeforeCall(this.scope, node, given) : given
    this.values.set(at, value)
    return value
  }

  /** DuckDB counts an aggregate to the query whose columns it names, GoogleSQL to the one that it stands in. */
  private ofOwnRows(at: number, value: Typed): Typed {
    const { sql } = value
    if (at > 0 || !this.own) return value
    return { ...value, sql: `(CASE WHEN ${this.own} IS NULL THEN ${sql} ELSE ${sql} END)` }
  }

  /** What a rule makes of the call; long arguments that it repeats are evaluated once. Not for those of many rows. */
  sharing(rule: (site: CallSite) => Typed): Typed {
    const value = rule(this)
    const known = [...this.values]
    const given = known.map(([, { sql }]) => sql)
    const sql = repeated(given, (...texts) => {
      if (texts.every((text, at) => text === given[at])) return value.sql
      const values = new Map(known.map(([at, value]) => [at, { ...value, sql: texts.shift()! }]))
      return rule(new CallSite(this.context, this.node, this.scope, this.name, values)).sql
    })
    return { ...value, sql }
  }

  allArguments(): Typed[] {
    return this.call.arguments.map((_, at) => this.argument(at))
  }

  /** Those that have been asked for: date parts never are. */
  knownArguments(): Typed[] {
    return [...this.values.values()]
  }

  /** The text of a literal string; `null` for any other argument. */
  literal(node: Expression): string | null {
    return node.kind === 'Literal' && node.literal === 'STRING' ? node.value : null
  }

  /** The text of a literal string. Formats, paths and patterns in other forms are known only once the query runs. */
  literalText(node: Expression | undefined): string {
    if (node?.kind === 'Literal' && node.literal === 'STRING') return node.value
    throw this.unsupported(
      `${this.name} with anything but a literal here`,
      node,
      'write the text out in quotes',
    )
  }

  /** BigQuery's error for arguments of wrong types. */
  noMatch(values: Typed[], signatures?: Parameter[][]): SqlError {
    return noSignature(this.context, this.call, `function ${this.name}`, values, signatures)
  }

  invalid(message: string, node: Node = this.call): SqlError {
    return this.context.invalid(node, message)
  }

  unsupported(what: string, node: Node = this.call, why?: string): SqlError {
    return this.context.unsupported(node, what, why)
  }
}

/** The signature of a function, several in order of preference, or its rewriting where signatures do not do. */
export type FunctionRule = Signature | Signature[] | ((site: CallSite) => Typed)

/** Functions by name in capitals. */
export type FunctionTable = Record<string, FunctionRule>

/** @param sql makes the call of the DuckDB SQL of its arguments, which are coerced to `parameters` before */
export function signature(parameters: string[], returns: Signature['returns'], sql: Template): Signature {
  return { parameters: parametersOf(parameters.join(', ')), returns, sql }
}

/** The DuckDB function of that name with the same arguments. */
export function named(duck: string, parameters: string[], returns: Signature['returns']): Signature {
  return signature(parameters, returns, (...args) => `${duck}(${args.join(', ')})`)
}

/** A table of functions by one rule, whose names DuckDB has too, in small letters. */
export function each(names: string, rule: (duck: string) => FunctionRule): FunctionTable {
  return Object.fromEntries(names.split(' ').map(name => [name, rule(name.toLowerCase())]))
}

/** The type of the first argument. */
export const sameAsFirst = ([first]: Typed[]): SqlType | null => first?.type ?? null

/** A call by the rule of its function. Throws SqlError if no signature fits. */
export function applyRule(site: CallSite, rule: FunctionRule): Typed {
  return typeof rule === 'function' ? rule(site) : applySignature(site, [rule].flat())
}

/** The call under the first of these signatures that fits. */
function applySignature(site: CallSite, signatures: Signature[]): Typed {
  const fitting = signatures.filter(({ parameters }) => takes(parameters, site.call.arguments.length))
  if (fitting.length === 0)
    throw wrongCount(
      site,
      signatures.map(({ parameters }) => parameters),
    )
  refuseSwapped(site, fitting)
  const [candidate, args] = picked(site, fitting)
  return applied(site, candidate, args)
}

/** The first of these signatures that takes the arguments as they are, or else coerced. Throws SqlError for none. */
function picked<Candidate extends { parameters: Parameter[] }>(
  site: CallSite,
  fitting: Candidate[],
): [Candidate, Typed[]] {
  for (const exact of [true, false]) {
    for (const candidate of fitting) {
      const args = bind(site, candidate.parameters, exact)
      if (args) return [candidate, args]
    }
    refuseBignumeric(site, fitting)
  }
  throw site.noMatch(
    site.knownArguments(),
    fitting.map(({ parameters }) => parameters),
  )
}

/** A function of NUMERIC has a BIGNUMERIC's digits in GoogleSQL, too, and those of a FLOAT64 are others. */
function refuseBignumeric(site: CallSite, signatures: { parameters: Parameter[] }[]): void {
  const kinds = site.knownArguments().map(({ type }) => type?.kind)
  const hasDigits = signatures.some(({ parameters }) => parameters.some(({ kind }) => kind === 'NUMERIC'))
  if (hasDigits && kinds.includes('BIGNUMERIC') && !kinds.includes('FLOAT64')) throw noBignumeric(site)
}

export function noBignumeric(site: CallSite): SqlError {
  return site.unsupported(`${site.name} of BIGNUMERIC`, site.call, 'cast to NUMERIC')
}

function applied(site: CallSite, { returns, sql }: Signature, args: Typed[]): Typed {
  if (sql(...args.map(arg => arg.sql)) === null) throw unknownPart(site)
  return typed(withValues(sql, args), typeof returns === 'function' ? returns(args) : returns)
}

/** Parts of dates and texts of literals have no type; they are no values. */
function withValues(sql: Template, args: Typed[]): string {
  const values = args.filter(({ type }) => type)
  return repeated(
    values.map(value => value.sql),
    (...texts) => sql(...args.map(arg => (arg.type ? texts.shift()! : arg.sql)))!,
  )
}

/** Throws SqlError for a number or types of arguments that no signature has. */
export function checkArguments(site: CallSite, signatures: { parameters: Parameter[] }[]): void {
  const fitting = signatures.filter(({ parameters }) => takes(parameters, site.call.arguments.length))
  if (fitting.length === 0)
    throw wrongCount(
      site,
      signatures.map(({ parameters }) => parameters),
    )
  refuseSwapped(site, fitting)
  picked(site, fitting)
}

function wrongCount(site: CallSite, signatures: Parameter[][]): SqlError {
  const counts = signatures.map(countsOf)
  const least = Math.min(...counts.map(({ least }) => least))
  const most = Math.max(...counts.map(({ most }) => most))
  const wanted = most === least ? `${least}` : most === Infinity ? `${least} or more` : `${least} to ${most}`
  return site.invalid(
    `Number of arguments does not match for function ${site.name}: it takes ${wanted}, not ${site.call.arguments.length}`,
  )
}

/** In capitals, of a bare name or a literal text; else ''. */
function nameOf(node: Expression | undefined): string {
  if (node?.kind === 'Path' && node.parts.length === 1) return node.parts[0]!.name.toUpperCase()
  return node?.kind === 'Literal' && node.literal === 'STRING' ? node.value.toUpperCase() : ''
}

/** `DATE_TRUNC('hour', x)` and `DATE_TRUNC(hour, x)` have the arguments of other dialects. */
function refuseSwapped(site: CallSite, signatures: { parameters: Parameter[] }[]): void {
  const [first] = site.call.arguments
  const part = nameOf(first)
  const late = signatures.every(({ parameters }) => parameters.findIndex(({ kind }) => kind === 'PART') > 0)
  if (!late || !extractParts.has(part) || extractParts.has(nameOf(site.call.arguments.at(-1)))) return
  const values = site.call.arguments.length > 2 ? 'later, earlier' : 'x'
  throw site.invalid(
    `${site.name} takes the part last, without quotes: write ${site.name}(${values}, ${part})`,
    first,
  )
}

function unknownPart(site: CallSite) {
  for (const node of site.call.arguments) {
    const name = node.kind === 'Path' && node.parts.length === 1 ? node.parts[0]!.name : ''
    const near = extractParts.has(name.toUpperCase())
      ? null
      : instead(parts, name.toUpperCase(), extractParts)
    if (near) return site.invalid(`${site.name} knows no part ${name}; did you mean ${near}?`, node)
  }
  return site.invalid(`${site.name} does not support this date part for this type`)
}

function takes(parameters: Parameter[], count: number): boolean {
  const { least, most } = countsOf(parameters)
  return count >= least && count <= most
}

/** The arguments as their parameters take them; `null` if one does not fit. `exact` allows no coercion. */
function bind(site: CallSite, parameters: Parameter[], exact: boolean): Typed[] | null {
  const taken = site.call.arguments.map((_, at) => parameterAt(parameters, at))
  const args = site.call.arguments.map((node, at) => {
    const { kind } = taken[at]!
    if (kind === 'PART') return typed(datePart(site, node), null)
    if (kind === 'MODE') return typed(nameOf(node), null)
    return fit(site.argument(at), kind, exact)
  })
  if (args.includes(null) || onlyLiterals(site, taken)) return null
  const common = unify((args as Typed[]).filter((_, at) => taken[at]!.common))
  if (!common) return null
  return (args as Typed[]).map((arg, at) => (taken[at]!.common ? common.values.shift()! : arg))
}

/** A FLOAT64 that is written out becomes a NUMERIC only beside one. */
function onlyLiterals(site: CallSite, taken: Parameter[]): boolean {
  const given = site.call.arguments.flatMap((_, at) =>
    taken[at]!.kind === 'NUMERIC' ? [site.argument(at).type?.kind] : [],
  )
  return given.includes('FLOAT64') && !given.includes('NUMERIC')
}

function fit(value: Typed, kind: string, exact: boolean): Typed | null {
  if (value.type !== null && isOfKind(value.type, kind)) return value
  if (value.type === null && kind === 'NUMBER') return coerce(value, { kind: 'INT64' })
  const element = /^ARRAY<(.*)>$/.exec(kind)?.[1]
  if (element) return exact ? null : coerce(value, arrayOf({ kind: element as ScalarName }))
  if (isKind(kind)) return value.type === null ? value : null
  if (exact && value.type !== null) return null
  return coerce(value, { kind: kind as ScalarName })
}

/** A date part in capitals: a bare name, or `WEEK(MONDAY)`. */
function datePart(site: CallSite, node: Expression): string {
  if (node.kind === 'Path' && node.parts.length === 1) return node.parts[0]!.name.toUpperCase()
  const [day] = node.kind === 'Call' ? node.arguments : []
  if (node.kind === 'Call' && day?.kind === 'Path')
    return `${node.name[0]!.name}(${day.parts[0]!.name})`.toUpperCase()
  const text = node.kind === 'Literal' ? node.value.toUpperCase() : ''
  const hint = extractParts.has(text) ? `: write ${text} without quotes` : ''
  throw site.invalid(`${site.name} needs a date part such as DAY here${hint}`, node)
}
