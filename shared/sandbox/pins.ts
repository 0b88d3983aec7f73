/**
 * A key may fix parameters, so that its holder sees the rows of one project only. The holder's own SQL keeps to that
 * only if every table of the endpoint filters by the pin, which the endpoint's tree shows. A condition counts only
 * in the plain forms of `shared/sandbox/README.md`, "Pins": OR, NOT, COALESCE(@pin, ...), searches such as
 * REGEXP_CONTAINS and LIKE, functions of a column, ON and HAVING let other rows pass, or may.
 */
import type { Endpoint } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { nameKey } from '../sql/relations.ts'
import type { AnyNode, Exists, Expression, From, Identifier, Path, Select } from '../sql/tree.ts'
import { children, conjuncts, parameterNames } from '../sql/walk.ts'
import { tablesOfEndpoint } from './offered-tables.ts'

/**
 * Passes if every table of the endpoint filters by every pinned parameter.
 * @throws ApiError `sandbox_violation` with the first table and parameter for which that is not so
 */
export function assertPinsHold(endpoint: Pick<Endpoint, 'sql'>, pins: Record<string, string>): void {
  const { byKey, real } = tablesOfEndpoint(endpoint)
  for (const pin of Object.keys(pins)) {
    const filter = new PinFilter(pin, new Set<AnyNode>(real))
    for (const { name, cte } of byKey.values()) {
      if (filter.covers(cte, { names: new Map(), roots: new Set() })) continue
      const how = parameterNames(cte.query).has(pin)
        ? ' with column = @' + pin + ', which alone confines'
        : ''
      const reason = `this endpoint's table ${name} does not filter by it${how}`
      const detail = `The API key fixes @${pin}, and ${reason}: SQL of your own could read other rows with it.`
      throw new ApiError('sandbox_violation', detail)
    }
  }
}

/** The rows in scope of an expression. An array of a row has that row's root, so a filter on it filters the row. */
interface Rows {
  names: ReadonlyMap<string, AnyNode>
  roots: ReadonlySet<AnyNode>
}

/** The item of FROM that rows come from, or `null` where that is not certain. */
type Root = AnyNode | null

class PinFilter {
  private readonly pin: string
  private readonly real: ReadonlySet<AnyNode>

  constructor(pin: string, real: ReadonlySet<AnyNode>) {
    this.pin = pin
    this.real = real
  }

  /**
   * Whether every SELECT in here filters each real table of its own FROM. That is enough: all other rows come from
   * those SELECTs, or from the endpoint's tables, each of which is checked in the same way.
   */
  covers(node: AnyNode, outer: Rows): boolean {
    // ORDER BY sees the rows of the SELECT beside it, so a column without a row's name is of no certain row there.
    const seen = node.kind === 'OrderItem' ? withRow(outer, node, null) : outer
    if (node.kind !== 'Select' || !node.from) return children(node).every(child => this.covers(child, seen))
    const rows = withRowsOf(node.from, outer)
    const filtered = this.filteredBy(node.where, rows)
    const open = [...rows.roots].filter(root => this.real.has(root) && !outer.roots.has(root))
    return (
      open.every(root => filtered.has(root)) &&
      this.coversFrom(node.from, rows, outer) &&
      children(node).every(child => child === node.from || this.covers(child, rows))
    )
  }

  /** A subquery in FROM does not see the rows beside it; arrays and join conditions do. */
  private coversFrom(from: From, rows: Rows, outer: Rows): boolean {
    switch (from.kind) {
      case 'DerivedTable':
        return this.covers(from.query, outer)
      case 'UnnestReference':
        return this.covers(from.array, rows)
      case 'TableReference':
        return true
      case 'Pivot':
      case 'Unpivot': {
        const parts = children(from).filter(child => child !== from.of)
        return this.coversFrom(from.of, rows, outer) && parts.every(part => this.covers(part, rows))
      }
      case 'JoinInParentheses':
        return this.coversFrom(from.join, rows, outer)
      case 'Join': {
        const sides = [from.left, from.right].every(side => this.coversFrom(side, rows, outer))
        return sides && (from.on === null || this.covers(from.on, rows))
      }
    }
  }

  /** The roots whose rows are filtered by one of the conditions that AND joins. */
  private filteredBy(where: Expression | null, rows: Rows): Set<Root> {
    return new Set(conjuncts(where).flatMap(condition => this.filteredByOne(condition, rows)))
  }

  private filteredByOne(condition: Expression, rows: Rows): Root[] {
    if (condition.kind === 'Binary' && condition.operator === '=') {
      const { left, right } = condition
      return [...this.comparedWithPin(left, right, rows), ...this.comparedWithPin(right, left, rows)]
    }
    const select = condition.kind === 'Exists' ? plainSelect(condition) : null
    return select?.from && isArrays(select.from)
      ? [...this.filteredBy(select.where, rowsInside(select.from, rows))]
      : []
  }

  private comparedWithPin(column: Expression, value: Expression, rows: Rows): Root[] {
    if (column.kind !== 'Path' || value.kind !== 'ParameterReference' || value.name !== this.pin) return []
    return [rootOf(column, rows)]
  }
}

/** `SELECT 1 FROM ... WHERE ...` and no more: COUNT(*), for one, gives a row even where WHERE lets none pass. */
function plainSelect({ query }: Exists): Select | null {
  const { with: common, body, orderBy, limit } = query
  if (common || orderBy.length > 0 || limit || body.kind !== 'Select') return null
  const { items, groupBy, having, qualify } = body
  const constant = items.every(item => item.kind === 'SelectColumn' && item.expression.kind === 'Literal')
  return constant && !groupBy && !having && !qualify ? body : null
}

/** UNNEST and no other source: a subquery could make rows of others with the pinned value. */
function isArrays(from: From): boolean {
  if (from.kind === 'Join') return isArrays(from.left) && isArrays(from.right)
  return from.kind === 'UnnestReference'
}

/** The rows that a condition inside EXISTS sees. A field there may have the name of a row outside, so those names do not count. */
function rowsInside(from: From, outer: Rows): Rows {
  const { names, roots } = withRowsOf(from, outer)
  return {
    names: new Map([...names].filter(([key, root]) => outer.names.get(key) !== root || isOwn(from, key))),
    roots,
  }
}

/** Whether FROM itself gives a row this name. */
function isOwn(from: From, key: string): boolean {
  if (from.kind === 'Join') return isOwn(from.left, key) || isOwn(from.right, key)
  return from.kind === 'UnnestReference' && from.alias !== null && nameKey(from.alias.name) === key
}

/** A column without a row's name is of the only row in scope, if there is one only. */
function rootOf({ parts }: Path, { names, roots }: Rows): Root {
  const named = names.get(nameKey(parts[0]!.name))
  return named ?? (roots.size === 1 ? [...roots][0]! : null)
}

function withRowsOf(from: From, rows: Rows): Rows {
  switch (from.kind) {
    case 'TableReference':
      return withRow(rows, from, from.alias ?? from.path.at(-1)!)
    case 'DerivedTable':
      return withRow(rows, from, from.alias)
    case 'UnnestReference': {
      const root = from.array.kind === 'Path' ? rootOf(from.array, rows) : null
      // An offset in an array is no column of the array's row: it gets a root that is no table.
      const names = from.offset ? new Map(rows.names).set(nameKey(from.offset.name), from) : rows.names
      return withRow({ names, roots: rows.roots }, root ?? from, from.alias)
    }
    case 'Pivot':
    case 'Unpivot':
      // A condition on its rows is none on those of its table, which is a root that no column reaches.
      return withRow(withRow(rows, from.of, null), from, from.alias)
    case 'JoinInParentheses':
      return withRowsOf(from.join, rows)
    case 'Join':
      return withRowsOf(from.right, withRowsOf(from.left, rows))
  }
}

function withRow({ names, roots }: Rows, root: AnyNode, name: Identifier | null): Rows {
  return {
    names: name ? new Map(names).set(nameKey(name.name), root) : names,
    roots: new Set(roots).add(root),
  }
}
