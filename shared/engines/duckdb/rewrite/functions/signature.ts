/** A call of a function: its signature, its arguments as that takes them, and how its DuckDB SQL is written down. */
import type { SqlError } from '../../../../sql/error.ts'
import {
  countsOf,
  functions,
  isKind,
  isOfKind,
  type Parameter,
  parameterAt,
  type Signature,
} from '../../../../sql/functions.ts'
import { extractParts } from '../../../../sql/grammar.ts'
import { instead, parts } from '../../../../sql/instead.ts'
import type { Call, Expression, NamedArgument, Node, Window } from '../../../../sql/tree.ts'
import type { ScalarName, SqlType } from '../../../../sql/types.ts'
import { argument, attempt, beforeCall, patternBeforeCall } from '../attempt.ts'
import { repeated } from '../repeats.ts'
import { coerce, unify } from '../coercion.ts'
import { arrayOf, type Context, type Scope, type Typed, typed } from '../context.ts'
import { noSignature } from '../no-signature.ts'
import { wholeWindow } from '../windows.ts'

/** From DuckDB SQL of the arguments to that of the call, `null` if they do not go with the date part; or a DuckDB function. */
type Template = string | ((...args: string[]) => string | null)

/** The same where more of the call counts than its arguments. */
export type Rule = (site: CallSite, ...args: string[]) => string | null

/**
 * By the name of the function in capitals: what all its signatures become, or each of them in the order of
 * `shared/sql/functions.ts`. One of BYTES that comes behind the last is that of STRING, on bytes as characters.
 */
type Templates = Record<string, Template | Template[]>
export type Rules = Record<string, Rule | Rule[]>

/** Templates of functions whose names DuckDB has too, in small letters. */
export function each<Entry>(names: string, entry: (duck: string) => Entry): Record<string, Entry> {
  return Object.fromEntries(names.split(' ').map(name => [name, entry(name.toLowerCase())]))
}

/** A call and where it stands. Its arguments are rewritten once: twice would be 2^n times inside n calls. */
export class CallSite {
  readonly context: Context
  /** Without its named arguments, and with its whole window. */
  readonly call: Call & { over: Window | null }
  readonly scope: Scope
  /** In capitals, without SAFE. */
  readonly name: string
  /** A column of the own query of an aggregate, whose arguments name only those of queries around. */
  own: string | null = null
  signature: Signature
  /** As the signature takes them. */
  args: Typed[] = []
  /** That of the result. */
  type: SqlType | null = null
  private readonly given = new Map<number, Typed>()
  private readonly options: Map<string, NamedArgument>

  constructor(context: Context, call: Call, scope: Scope, name: string) {
    const options = call.arguments.filter(argument => argument.kind === 'NamedArgument')
    this.context = context
    this.call = {
      ...call,
      arguments: call.arguments.filter(argument => argument.kind !== 'NamedArgument'),
      over: call.over && wholeWindow(context, call.over, scope.windows),
    }
    this.scope = scope
    this.name = name
    this.signature = functions.get(name)!.signatures[0]!
    this.options = new Map(options.map(option => [option.name.name.toLowerCase(), option]))
  }

  /** Finds the signature. Throws SqlError for arguments that none has. */
  resolve(): void {
    const unknown = [...this.options].find(([name]) => !this.signature.options.has(name))?.[1]
    if (unknown) throw this.invalid(`${this.name} has no argument ${unknown.name.name}`, unknown)
    if (!this.call.star) [this.signature, this.args] = picked(this)
    this.type = this.signature.returns(this.args.map(({ type }) => type))
  }

  /** What one of these makes of the call. */
  apply(entries: Rule | Rule[]): string {
    const list = [entries].flat()
    const at = functions.get(this.name)!.signatures.indexOf(this.signature)
    const kinds = this.args.map((_, at) => parameterAt(this.signature.parameters, at).kind)
    const entry = list[at] ?? list.at(-1)!
    const rule = list[at] || !kinds.includes('BYTES') ? entry : onCharacters(entry, kinds)
    // Parts of dates have no type; they are no values.
    const values = this.args.filter(({ type }) => type)
    const use = (...texts: string[]) => {
      const sql = rule(this, ...this.args.map(arg => (arg.type ? texts.shift()! : arg.sql)))
      if (sql === null) throw unknownPart(this)
      return sql
    }
    const texts = values.map(({ sql }) => sql)
    // Of many rows DuckDB computes a value once, and in no lambda.
    return functions.get(this.name)!.modifiers.has('OVER') ? use(...texts) : repeated(texts, use)
  }

  /** The SQL of `name => value`, or `otherwise` where the call has none. Throws SqlError for a value of another type. */
  option(name: string, otherwise: string): string {
    const node = this.options.get(name)
    if (!node) return otherwise
    const given = this.context.expression(node.value, this.scope)
    const value = coerce(given, { kind: this.signature.options.get(name)! })
    if (!value) throw this.noMatch([given])
    return value.sql
  }

  /** An argument as it is written. */
  argument(at: number): Typed {
    const known = this.given.get(at)
    if (known) return known
    const node = this.call.arguments[at]!
    const given = this.ofOwnRows(at, argument(this.context, node, this.scope))
    const isPattern = at === 1 && this.name.startsWith('REGEXP_')
    const value = isPattern ? patternBeforeCall(this.scope, node, given) : given
    this.given.set(at, value)
    return value
  }

  /** The arguments that have been rewritten: date parts never are. */
  asWritten(): Typed[] {
    return [...this.given.values()]
  }

  /** DuckDB counts an aggregate to the query whose columns it names, GoogleSQL to the one that it stands in. */
  private ofOwnRows(at: number, value: Typed): Typed {
    const { sql } = value
    if (at > 0 || !this.own) return value
    return { ...value, sql: `(CASE WHEN ${this.own} IS NULL THEN ${sql} ELSE ${sql} END)` }
  }

  /** The call with NULL for its own errors, but not for those of its arguments. */
  safely(args: string[], sql: (...args: string[]) => string): string {
    const value = attempt(this.scope, inside => {
      const values = this.args.map((arg, at) => ({ ...arg, sql: args[at]! }))
      const before = this.scope.lifted ? values : values.map(value => beforeCall(inside, value))
      return typed(sql(...before.map(({ sql }) => sql)), this.type)
    })
    return value.sql
  }

  /** The text of a literal of STRING or BYTES; `null` for any other argument. */
  literal(at: number): string | null {
    const node = this.call.arguments[at]
    return node?.kind === 'Literal' && /^(STRING|BYTES)$/.test(node.literal) ? node.value : null
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
  noMatch(values = this.asWritten(), signatures?: Parameter[][]): SqlError {
    return noSignature(this.context, this.call, `function ${this.name}`, values, signatures)
  }

  invalid(message: string, node: Node = this.call): SqlError {
    return this.context.invalid(node, message)
  }

  unsupported(what: string, node: Node = this.call, why?: string): SqlError {
    return this.context.unsupported(node, what, why)
  }

  noBignumeric(): SqlError {
    return this.unsupported(`${this.name} of BIGNUMERIC`, this.call, 'cast to NUMERIC')
  }
}

/** Templates as rules. */
export function rulesOf(templates: Templates): Rules {
  const rule =
    (template: Template): Rule =>
    (_, ...args) =>
      typeof template === 'string' ? `${template}(${args.join(', ')})` : template(...args)
  return Object.fromEntries(
    Object.entries(templates).map(([name, all]) => [name, Array.isArray(all) ? all.map(rule) : rule(all)]),
  )
}

/** Each byte as a character, on which DuckDB's functions of strings work as on bytes. */
function onCharacters(rule: Rule, kinds: string[]): Rule {
  return (site, ...args) => {
    const texts = args.map((sql, at) => (kinds[at] === 'BYTES' ? `gsql_characters(${sql})` : sql))
    const sql = rule(site, ...texts)
    if (site.type?.kind === 'BYTES') return `gsql_bytes(${sql})`
    const isList = site.type?.kind === 'ARRAY' && site.type.element.kind === 'BYTES'
    return isList ? `list_transform(${sql}, lambda b: gsql_bytes(b))` : sql
  }
}

/** The first signature that takes the arguments as they are, or else coerced. Throws SqlError for none. */
function picked(site: CallSite): [Signature, Typed[]] {
  const { signatures } = functions.get(site.name)!
  const count = site.call.arguments.length
  const fitting = signatures.filter(({ parameters }) => {
    const { least, most } = countsOf(parameters)
    return count >= least && count <= most
  })
  if (fitting.length === 0) throw wrongCount(site, signatures)
  refuseSwapped(site, fitting)
  for (const exact of [true, false]) {
    for (const signature of fitting) {
      const args = bind(site, signature, exact)
      if (args) return [signature, args]
    }
    refuseBignumeric(site, fitting)
  }
  throw site.noMatch(
    undefined,
    fitting.map(({ parameters }) => parameters),
  )
}

/** A function of NUMERIC has a BIGNUMERIC's digits in GoogleSQL, too, and those of a FLOAT64 are others. */
function refuseBignumeric(site: CallSite, signatures: Signature[]): void {
  const kinds = site.asWritten().map(({ type }) => type?.kind)
  const hasDigits = signatures.some(({ parameters }) => parameters.some(({ kind }) => kind === 'NUMERIC'))
  if (hasDigits && kinds.includes('BIGNUMERIC') && !kinds.includes('FLOAT64')) throw site.noBignumeric()
}

function wrongCount(site: CallSite, signatures: Signature[]): SqlError {
  const counts = signatures.map(({ parameters }) => countsOf(parameters))
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
function refuseSwapped(site: CallSite, signatures: Signature[]): void {
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

function unknownPart(site: CallSite): SqlError {
  for (const node of site.call.arguments) {
    const name = node.kind === 'Path' && node.parts.length === 1 ? node.parts[0]!.name : ''
    const near = extractParts.has(name.toUpperCase())
      ? null
      : instead(parts, name.toUpperCase(), extractParts)
    if (near) return site.invalid(`${site.name} knows no part ${name}; did you mean ${near}?`, node)
  }
  return site.invalid(`${site.name} does not support this date part for this type`)
}

/** The arguments as their parameters take them; `null` if one does not fit. `exact` allows no coercion. */
function bind(site: CallSite, { parameters }: Signature, exact: boolean): Typed[] | null {
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
