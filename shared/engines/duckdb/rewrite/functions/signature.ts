/** A call of a function: its arguments as its signature takes them, and how its DuckDB SQL is written down. */
import type { SqlError } from '../../../../sql/error.ts'
import { functions, isBareWord, parameterAt, type Signature } from '../../../../sql/functions.ts'
import { isAggregate } from '../../../../sql/resolve/calls.ts'
import { partOf } from '../../../../sql/resolve/arguments.ts'
import { mismatch } from '../../../../sql/resolve/messages.ts'
import type { WholeWindow } from '../../../../sql/resolve/resolution.ts'
import type { Call, Expression, NamedArgument, Node } from '../../../../sql/tree.ts'
import type { SqlType } from '../../../../sql/types.ts'
import { argument, beforeCall, patternBeforeCall, repeated, safe } from '../repeats.ts'
import { type Context, type Scope, type Typed, typed } from '../context.ts'
import { typeIn } from '../coercion.ts'
import type { Zone } from '../dates-and-times.ts'
import { columnValue, levelOf, namesIn } from '../names.ts'

/** From DuckDB SQL of the arguments to that of the call; or a DuckDB function. */
type Template = string | ((...args: string[]) => string)

/** The same where more of the call counts than its arguments. */
export type Rule = (site: CallSite, ...args: string[]) => string

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

/** A call and where it stands. Its arguments are printed once: twice would be 2^n times inside n calls. */
export class CallSite {
  readonly context: Context
  /** Without its named arguments, and with its whole window. */
  readonly call: Call & { over: WholeWindow | null }
  readonly scope: Scope
  /** In capitals, without SAFE. */
  readonly name: string
  readonly only: string | undefined
  private readonly signature: Signature
  /** As the signature takes them. */
  readonly args: Typed[]
  /** That of the result. */
  readonly type: SqlType | null
  private readonly options: Map<string, NamedArgument>

  constructor(context: Context, node: Call, scope: Scope, name: string, only?: string) {
    const { resolution } = context
    const options = node.arguments.filter(argument => argument.kind === 'NamedArgument')
    this.context = context
    this.call = {
      ...node,
      arguments: node.arguments.filter(argument => argument.kind !== 'NamedArgument'),
      over: resolution.windows.get(node) ?? null,
    }
    this.scope = scope
    this.name = name
    this.only = only
    this.signature = resolution.calls.get(node) ?? functions.get(name)!.signatures[0]!
    this.options = new Map(options.map(option => [option.name.name.toLowerCase(), option]))
    const own = this.ownColumn(node)
    this.args = this.call.arguments.map((_, at) => this.argument(at, at === 0 ? own : null))
    this.type = typeIn(context, node)
    this.refuseBignumeric()
  }

  apply(entries: Rule | Rule[]): string {
    const list = [entries].flat()
    const at = functions.get(this.name)!.signatures.indexOf(this.signature)
    const kinds = this.args.map((_, at) => parameterAt(this.signature.parameters, at).kind)
    const entry = list[at] ?? list.at(-1)!
    const rule = list[at] || !kinds.some(isBytes) ? entry : onCharacters(entry, kinds)
    // Parts of dates have no type; they are no values.
    const values = this.args.filter(({ type }) => type)
    const use = (...texts: string[]) =>
      rule(this, ...this.args.map(arg => (arg.type ? texts.shift()! : arg.sql)))
    const texts = values.map(({ sql }) => sql)
    // Of many rows DuckDB computes a value once, and in no lambda.
    return functions.get(this.name)!.modifiers.has('OVER') ? use(...texts) : repeated(texts, use)
  }

  /** The SQL of `name => value`, or `otherwise` where the call has none. */
  option(name: string, otherwise: string): string {
    const node = this.options.get(name)
    return node ? this.context.expression(node.value, this.scope).sql : otherwise
  }

  /** DuckDB counts an aggregate to the query whose columns it names, GoogleSQL to the one that it stands in. */
  private argument(at: number, own: string | null): Typed {
    const { call, context, scope, signature, only } = this
    const node = call.arguments[at]!
    if (isBareWord(parameterAt(signature.parameters, at).kind)) return typed(partOf(node)!, null)
    const given = argument(context, node, scope)
    const isPattern = at === 1 && this.name.startsWith('REGEXP_')
    const value = isPattern ? patternBeforeCall(scope, node, given) : given
    const { sql } = value
    if (only && at === 0) return { ...value, sql: `(CASE WHEN ${only} THEN ${sql} END)` }
    return own ? { ...value, sql: `(CASE WHEN ${own} IS NULL THEN ${sql} ELSE ${sql} END)` } : value
  }

  /** A column of the query that an aggregate stands in, where its arguments name only those of queries around. */
  private ownColumn(node: Call): string | null {
    const { context, scope } = this
    const [variable] = scope.own.variables
    if (!scope.outer || !variable || node.over || !isAggregate(node)) return null
    const paths = this.call.arguments.flatMap(argument => namesIn(context, argument))
    const levels = paths.map(path => levelOf(context, path, scope))
    if (levels.length === 0 || levels.includes(scope) || levels.includes(null)) return null
    const column = variable.element ?? variable.columns[0]
    return column ? columnValue(context, column, scope).sql : null
  }

  isNull(at: number): boolean {
    const node = this.call.arguments[at]
    return node !== undefined && typeIn(this.context, node) === null
  }

  /** The call with NULL for its own errors, but not for those of its arguments. */
  safely(args: string[], sql: (...args: string[]) => string): string {
    return safe(this.scope, this.type, inside => {
      const values = this.args.map((arg, at) => ({ ...arg, sql: args[at]! }))
      const before = this.scope.lifted ? values : values.map(value => beforeCall(inside, value))
      return sql(...before.map(({ sql }) => sql))
    })
  }

  /** An argument that is a time zone; `undefined` where there is none. @param sql its text in the call */
  zone(at: number, sql: string | undefined): Zone | undefined {
    return sql === undefined ? undefined : { sql, name: this.literal(at) }
  }

  /** The text of a literal of STRING or BYTES; `null` for any other argument. */
  literal(at: number): string | null {
    const node = this.call.arguments[at]
    return node?.kind === 'Literal' && /^(STRING|BYTES)$/.test(node.literal) ? node.value : null
  }

  /** The text of a literal string. Formats, paths and patterns in other forms are known only once the query runs. */
  literalText(node: Expression | undefined): string {
    if (node?.kind === 'Literal' && node.literal === 'STRING') return node.value
    throw this.unsupported(`${this.name} with anything but a literal here`, node, 'write it in quotes')
  }

  /** BigQuery's error for arguments of wrong types. */
  noMatch(values = this.call.arguments.flatMap(node => this.context.resolution.values.get(node) ?? [])) {
    return this.invalid(mismatch(`function ${this.name}`, values))
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

  /** In GoogleSQL a function of NUMERIC also takes a BIGNUMERIC, with all of its digits; one of FLOAT64 gives other digits. */
  private refuseBignumeric(): void {
    const { parameters } = this.signature
    const given = this.call.arguments.map(node => this.context.resolution.values.get(node)?.type?.kind)
    const taken = given.map((kind, at) => kind === 'BIGNUMERIC' && parameterAt(parameters, at).kind)
    if (given.includes('FLOAT64') || !taken.some(kind => kind === 'NUMERIC' || kind === 'FLOAT64')) return
    const all = functions.get(this.name)!.signatures.flatMap(({ parameters }) => parameters)
    if (all.some(({ kind }) => kind === 'NUMERIC')) throw this.noBignumeric()
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

const isBytes = (kind: string) => kind === 'BYTES' || kind === 'ARRAY<BYTES>'

/** Each byte as a character, on which DuckDB's functions of strings work as on bytes. */
function onCharacters(rule: Rule, kinds: string[]): Rule {
  return (site, ...args) => {
    const texts = args.map((sql, at) => {
      if (kinds[at] === 'BYTES') return `gsql_characters(${sql})`
      return isBytes(kinds[at]!) ? `list_transform(${sql}, lambda b: gsql_characters(b))` : sql
    })
    const sql = rule(site, ...texts)
    if (site.type?.kind === 'BYTES') return `gsql_bytes(${sql})`
    const isList = site.type?.kind === 'ARRAY' && site.type.element.kind === 'BYTES'
    return isList ? `list_transform(${sql}, lambda b: gsql_bytes(b))` : sql
  }
}
