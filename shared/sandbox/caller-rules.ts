/**
 * The rules for the tree of a caller's query; `shared/sandbox/README.md`, "Rules", has the attack that each one
 * stops. Every node is visited, LIMIT, OVER, HAVING MAX and lambdas included, and a kind without a rule is refused:
 * a subquery hides in the one expression that a walk leaves out.
 */
import { functions, hintFor, nearestName } from '../sql/hints.ts'
import { firstTwice, inReadingOrder, nameKey } from '../sql/relations.ts'
import type * as ast from '../sql/tree.ts'
import { functionName } from '../sql/resolve/calls.ts'
import { descendants } from '../sql/walk.ts'
import { netFunctions, plainFunctions, whyClosed } from '../sql/functions.ts'
import type { Columns, Resolution } from '../sql/resolve/resolution.ts'

/** The endpoint's tables and parameters, which its callers may use. */
export interface Offer {
  /** Its tables by their keys, in the endpoint's spelling, with their columns where those are known. */
  tables: Map<string, { name: string; columns: Columns }>
  /** Names of its parameters. */
  parameters: ReadonlySet<string>
}

/** A part of the query that breaks a rule, at its offset in the caller's text. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly at: number
  readonly code: 'sandbox_violation' | 'invalid_query'
  /** Where the query names no table of the endpoint: the one that it may mean, as its tables help its author. */
  unknownTable: { near: string } | null = null

  constructor(message: string, at: number, code: Violation['code'] = 'sandbox_violation') {
    super(message)
    this.at = at
    this.code = code
  }
}

/**
 * @param tables what the names in its FROMs are
 * @returns the keys of the endpoint's tables that the query reads
 * @throws Violation for the first node that breaks a rule
 */
export function check(query: ast.Query, offer: Offer, { tables }: Pick<Resolution, 'tables'>): Set<string> {
  const walk = new Walk(query, offer, tables)
  walk.refuseSingleTable()
  walk.refuseCircles()
  for (const node of walk.nodes) walk.judge(node)
  return walk.used
}

/** A name as a caller wrote it, short enough for a message. */
function display(...names: ast.Identifier[]): string {
  const text = names.map(({ name }) => name).join('.')
  return `"${text.length > 60 ? `${text.slice(0, 60).toWellFormed()}...` : text}"`
}

/** Beyond ASCII, letters that look alike or become one in lower case could name one table and read another. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/

/** Rule 10: the kinds of node without a rule of their own. Any that is not listed is refused. */
const harmless: ReadonlySet<string> = new Set(
  `ArrayLiteral ArraySubquery Between Binary Case CaseBranch Cast DerivedTable Exists Extract FieldAccess
  Frame FrameBound GroupBy HavingExtreme In InList InQuery InUnnest IntervalLiteral Is IsDistinctFrom Join
  JoinInParentheses Lambda Like LikeAny Literal NamedArgument NamedWindow OrderItem Parenthesized Path Pivot Query
  QueryInParentheses ScalarSubquery Select SelectColumn SelectStar SetOperation StructLiteral Subscript Tuple
  TypedLiteral Unary UnnestReference Unpivot UnpivotGroup Window WithExpression`.split(/\s+/),
)

class Walk {
  readonly used = new Set<string>()
  readonly nodes: readonly ast.AnyNode[]
  /** The WITH of the whole query, the only one that may be recursive. */
  private readonly outermost: ast.With | null
  /** Keys of all common tables of the caller, in scope or not. */
  private readonly own: ReadonlySet<string>
  private readonly offer: Offer
  private readonly tables: Resolution['tables']

  constructor(query: ast.Query, offer: Offer, tables: Resolution['tables']) {
    this.nodes = [...descendants(query)]
    this.outermost = query.with
    this.own = new Set(
      this.nodes.flatMap(node => (node.kind === 'CommonTable' ? nameKey(node.name.name) : [])),
    )
    this.offer = offer
    this.tables = tables
  }

  /** First of all, since a query of ClickHouse breaks other rules too, and this one says how to write all of it. */
  refuseSingleTable(): void {
    for (const node of this.nodes) {
      if (node.kind !== 'TableReference' || !isSingleTable(node.path)) continue
      const key = nameKey(node.path[0]!.name)
      if (!this.own.has(key) && !this.offer.tables.has(key)) this.table(node)
    }
  }

  refuseCircles(): void {
    inReadingOrder(this.outermost, (one, other) => {
      const names = `${display(one.name)} and ${display(other.name)}`
      throw new Violation(`${names} read each other: a table may read itself only`, one.at, 'invalid_query')
    })
  }

  judge(node: ast.AnyNode): void {
    const { kind, at } = node
    if (kind === 'TableReference') this.table(node)
    else if (kind === 'CommonTable') this.commonTable(node)
    else if (kind === 'Call') refuseUnlessKnown(node)
    else if (kind === 'ParameterReference') this.parameter(node)
    else if (kind === 'With') this.with(node)
    else if (!harmless.has(kind)) throw new Violation('this is not allowed', at)
  }

  private with(node: ast.With): void {
    // Rule 6: as in BigQuery, whose message this is in other words.
    if (node.recursive && node !== this.outermost)
      throw new Violation(
        'WITH RECURSIVE is allowed at the beginning of the whole query only: move its tables there',
        node.at,
        'invalid_query',
      )
    const twice = firstTwice(node.ctes, ({ name }) => name.name)
    if (twice) throw new Violation(`the WITH names ${display(twice.name)} twice`, twice.at, 'invalid_query')
  }

  /** Rule 8: case and all, as values are bound. */
  private parameter({ name, at }: ast.ParameterReference): void {
    if (this.offer.parameters.has(name)) return
    const known = [...this.offer.parameters]
    const near = nearestName(name, known)
    const few = known.length > 0 && known.length <= 12
    const hint = near ? `; did you mean @${near}?` : few ? `; it has @${known.join(', @')}` : ''
    throw new Violation(`the endpoint has no parameter @${name.slice(0, 60)}${hint}`, at)
  }

  /**
   * Rules 4 and 5: one plain name, which is a common table of the caller in scope or a table of the endpoint.
   * A dot always leads out: subqueries do not see the rows beside them, so in
   * `FROM edge_logs AS d, (SELECT s FROM d.secret)` the second `d` is a dataset. A common table is visible nowhere else than the
   * resolver says: in `WITH a AS (SELECT s FROM secret), secret AS (...)` the first `secret` is a real table.
   */
  private table(node: ast.TableReference): void {
    const { path, offset, at } = node
    const [name, ...fields] = path
    const key = name && fields.length === 0 && plainName.test(name.name) ? nameKey(name.name) : null
    const isOwn = this.tables.get(node) === 'common'
    if (key === null || !(isOwn || this.offer.tables.has(key))) {
      const offered = [...this.offer.tables.values()]
      const tables = [...this.own, ...offered.map(table => table.name)]
      const columns = offered.flatMap(({ columns }) =>
        'unknown' in columns ? [] : columns.map(({ name }) => name),
      )
      const hint =
        key !== null && this.own.has(key)
          ? ': a WITH of the query has this name, but not in sight of this place: write it before all that read it, or begin with WITH RECURSIVE'
          : tableHint(path, tables, columns)
      const violation = new Violation(`${display(...path)} is not a table of this endpoint${hint}`, at)
      violation.unknownTable = { near: hint === '' ? tableMeant(path.at(-1)!, tables) : '' }
      throw violation
    }
    if (offset) throw new Violation('WITH OFFSET goes with UNNEST', offset.at, 'invalid_query')
    if (!isOwn) this.used.add(key)
  }

  /** Rule 5: a caller's table under the name of an endpoint's would hide which of the two a query reads. */
  private commonTable({ name, at }: ast.CommonTable): void {
    if (!plainName.test(name.name)) {
      throw new Violation(`${display(name)} cannot name a table: use letters, digits and _`, at)
    }
    if (this.offer.tables.has(nameKey(name.name))) {
      throw new Violation(`${display(name)} is a table of this endpoint: choose another name`, at)
    }
  }
}

/** What to write for queries of ClickHouse, whose logs have one table and a map of attributes. */
export const ofClickHouse =
  "this endpoint takes GoogleSQL over a table for each service, not ClickHouse's one table: for source = 'edge_logs' " +
  "write FROM edge_logs, and for log_attributes['request.path'] add CROSS JOIN UNNEST(metadata) AS m CROSS JOIN " +
  'UNNEST(m.request) AS r and write r.path'

/** Whether a query of ClickHouse names its table of all logs so. */
function isSingleTable(path: ast.Identifier[]): boolean {
  return /^(logs(\.all(\.otel)?)?|otel_logs)$/i.test(path.map(({ name }) => name).join('.'))
}

const catalogues = /^(information_schema|pg_catalog|sys|system)$|^(pg_|sqlite_)/i

/** What to write for a name that is no table, to follow the words that say so; empty where nothing is known of it. */
function tableHint(path: ast.Identifier[], tables: string[], columns: string[]): string {
  const [first, last] = [path[0]!.name, path.at(-1)!.name]
  if (isSingleTable(path)) return `: ${ofClickHouse}`
  if (path.some(({ name }) => catalogues.test(name)))
    return ': GET /api/endpoints/NAME/tables lists the tables and their columns'
  if (path.length > 1 && tables.some(table => nameKey(table) === nameKey(last)))
    return `: write ${last} alone`
  if (columns.some(column => nameKey(column) === nameKey(first)))
    return `: the array of a row is read with UNNEST, as in FROM logs AS t, UNNEST(t.${first}) AS m`
  return ''
}

/** A suggestion behind the message for an unknown table: the nearest name; empty if none is near. */
function tableMeant({ name }: ast.Identifier, tables: string[]): string {
  const near =
    nearestName(name, tables) ?? tables.find(table => nameKey(table).startsWith(`${nameKey(name)}_`))
  return near === undefined ? '' : `; did you mean ${near}?`
}

function hint(name: string): string {
  const other = hintFor(functions, name)
  if (other !== null) return `: write ${other}`
  const near = name.includes('.') ? null : nearestName(name, plainFunctions)
  return near && near !== name ? `; did you mean ${near}?` : ''
}

/** Rule 7: a name with any other dot, or in backticks, may be a routine that reads tables. */
function refuseUnlessKnown(call: ast.Call): void {
  const { name, arguments: values, at } = call
  const { name: called, isSafe } = functionName(call)
  // Its text is the caller's own.
  if (called === 'ERROR' && !isSafe && values.every(({ kind }) => kind === 'Literal')) return
  const known = plainFunctions.has(called) || netFunctions.has(called)
  const quoted = name.some(part => part.quoted)
  if (!known || quoted) {
    const why = whyClosed(called)
    const fault =
      why !== null
        ? `the function ${display(...name)} is not allowed, as ${why}`
        : known
          ? `the function ${display(...name)} is written without backticks`
          : `there is no function ${display(...name)} here`
    throw new Violation(fault + (known ? '' : hint(called)), at)
  }
}
