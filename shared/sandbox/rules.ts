/**
 * What a caller's query may hold. Every node of its tree is looked at, LIMIT, OVER, HAVING MAX and lambdas
 * included, and what no rule knows is refused: one expression that nobody looks into is where a subquery hides.
 */
import { nameKey } from '../sql/relations.ts'
import type { AnyNode, Call, CommonTable, Identifier, Query, TableReference } from '../sql/tree.ts'
import { children } from '../sql/walk.ts'
import { netFunctions, plainFunctions } from './functions.ts'

/** What the endpoint lets its callers use. */
export interface Offer {
  /** Keys of its tables. */
  tables: { has(key: string): boolean }
  /** Names of its parameters. */
  parameters: { has(name: string): boolean }
}

/** What a rule does not let pass, and where. */
export class Violation extends Error {
  override readonly name = 'Violation'
  readonly at: number
  readonly code: 'sandbox_violation' | 'invalid_query'

  constructor(message: string, at: number, code: Violation['code'] = 'sandbox_violation') {
    super(message)
    this.at = at
    this.code = code
  }
}

/**
 * Holds a caller's query against the rules and finds the endpoint's tables that it reads, by key.
 * @throws Violation
 */
export function check(query: Query, offer: Offer): Set<string> {
  const walk = new Walk(offer)
  walk.visit(query, new Set())
  return walk.used
}

/** A name as a caller wrote it, short enough for a message. */
export function shown(...names: Identifier[]): string {
  const text = names.map(({ name }) => name).join('.')
  return `"${text.length > 60 ? `${text.slice(0, 60).toWellFormed()}...` : text}"`
}

/** Outside ASCII letters that look alike, or turn into one when lowered, would name one table and read another. */
const plainName = /^[A-Za-z_][A-Za-z0-9_]*$/

class Walk {
  readonly used = new Set<string>()
  private readonly offer: Offer

  constructor(offer: Offer) {
    this.offer = offer
  }

  /** `scope` has the keys of the caller's own common tables that can be called upon here. */
  visit(node: AnyNode, scope: ReadonlySet<string>): void {
    this.judge(node, scope)
    if (node.kind === 'Query') this.query(node, scope)
    else for (const child of children(node)) this.visit(child, scope)
  }

  /**
   * Rule 5: a common table is there for those behind it and for its query, and nowhere else: in
   * `WITH a AS (SELECT s FROM secret), secret AS (...)` the first `secret` is a real table.
   */
  private query(query: Query, outer: ReadonlySet<string>): void {
    const scope = new Set(outer)
    const own = new Set<string>()
    if (query.with) this.judge(query.with, scope)
    for (const cte of query.with?.ctes ?? []) {
      this.visit(cte, scope)
      const key = nameKey(cte.name.name)
      if (own.has(key)) {
        throw new Violation(`the WITH names ${shown(cte.name)} twice`, cte.at, 'invalid_query')
      }
      own.add(key)
      scope.add(key)
    }
    for (const part of children(query)) if (part !== query.with) this.visit(part, scope)
  }

  private judge(node: AnyNode, scope: ReadonlySet<string>): void {
    switch (node.kind) {
      case 'TableReference':
        return this.table(node, scope)
      case 'CommonTable':
        return this.commonTable(node)
      case 'Call':
        return refuseUnlessKnown(node)
      case 'With':
        // Rule 6: a recursive table is seen before it is defined, and may run for ever.
        if (node.recursive) throw new Violation('WITH RECURSIVE is not allowed', node.at)
        return
      case 'SelectStar':
        // Rule 8: a query says what it wants, so that a column added to a table changes no answer.
        throw new Violation('* is not allowed in a select list: name the columns', node.at)
      case 'ParameterReference':
        // Rule 8: as declared, letter for letter, for that is how values are bound.
        if (!this.offer.parameters.has(node.name)) {
          throw new Violation(`the endpoint has no parameter @${node.name.slice(0, 60)}`, node.at)
        }
        return
      case 'ArrayLiteral':
      case 'ArraySubquery':
      case 'Between':
      case 'Binary':
      case 'Case':
      case 'CaseBranch':
      case 'Cast':
      case 'DerivedTable':
      case 'Exists':
      case 'Extract':
      case 'FieldAccess':
      case 'Frame':
      case 'FrameBound':
      case 'GroupBy':
      case 'HavingExtreme':
      case 'In':
      case 'InList':
      case 'InQuery':
      case 'InUnnest':
      case 'IntervalLiteral':
      case 'Is':
      case 'IsDistinctFrom':
      case 'Join':
      case 'JoinInParentheses':
      case 'Lambda':
      case 'Like':
      case 'Literal':
      case 'NamedArgument':
      case 'NamedWindow':
      case 'OrderItem':
      case 'Parenthesized':
      case 'Path':
      case 'Query':
      case 'QueryInParentheses':
      case 'ScalarSubquery':
      case 'Select':
      case 'SelectColumn':
      case 'SetOperation':
      case 'StructLiteral':
      case 'Subscript':
      case 'Tuple':
      case 'TypedLiteral':
      case 'Unary':
      case 'UnnestReference':
      case 'Window':
        return
      default:
        // Rule 10: the compiler finds a kind that this list lacks; a tree that is not the parser's may still have one.
        throw new Violation('this is not allowed', (node satisfies never as AnyNode).at)
    }
  }

  /**
   * Rule 4: one plain name, which is a common table of the caller in scope or a table of the endpoint.
   * A dot always leads out: subqueries do not see the rows beside them, so in
   * `FROM edge_logs AS d, (SELECT s FROM d.secret)` the second `d` is a dataset.
   */
  private table({ path, offset, at }: TableReference, scope: ReadonlySet<string>): void {
    const [name, ...fields] = path
    if (fields.length > 0) {
      const hint = 'the array of a row is read with UNNEST'
      throw new Violation(`${shown(...path)} is not a table of this endpoint: ${hint}`, at)
    }
    const key = name && plainName.test(name.name) ? nameKey(name.name) : null
    const own = key !== null && scope.has(key)
    if (key === null || !(own || this.offer.tables.has(key))) {
      throw new Violation(`${shown(...path)} is not a table of this endpoint`, at)
    }
    if (offset) throw new Violation('WITH OFFSET goes with UNNEST', offset.at, 'invalid_query')
    if (!own) this.used.add(key)
  }

  /** A table of one's own in place of the endpoint's would make a query that does not say what it reads. */
  private commonTable({ name, at }: CommonTable): void {
    if (!plainName.test(name.name)) {
      throw new Violation(`${shown(name)} cannot name a table: use letters, digits and _`, at)
    }
    if (this.offer.tables.has(nameKey(name.name))) {
      throw new Violation(`${shown(name)} is a table of this endpoint: choose another name`, at)
    }
  }
}

/** Rule 7: a name with any other dot, or in backticks, may be a routine that reads tables. */
function refuseUnlessKnown({ name, at }: Call): void {
  const names = name.map(part => part.name.toUpperCase())
  const [first, second] = names
  const known =
    (names.length === 1 && plainFunctions.has(first!)) ||
    (names.length === 2 && first === 'SAFE' && plainFunctions.has(second!)) ||
    (names.length === 2 && first === 'NET' && netFunctions.has(second!))
  if (!known || name.some(part => part.quoted)) {
    throw new Violation(`the function ${shown(...name)} is not allowed`, at)
  }
}
