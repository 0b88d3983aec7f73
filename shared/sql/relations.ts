import type {
  AnyNode,
  CommonTable,
  From,
  Identifier,
  Pivot,
  Query,
  Select,
  TableReference,
  Unpivot,
  With,
} from './tree.ts'
import { children, unknownKind } from './walk.ts'

/** The names in scope: common tables, and the rows of FROM (`t` in `t.array`). */
interface Scope {
  ctes: ReadonlySet<string>
  rows: ReadonlySet<string>
}

/**
 * Every reference to a real table, in the order of the text: neither to a common table in scope nor to an array of a
 * row in scope. A doubtful reference is among them, so that none which could read a table is missing.
 */
export function tablesOf(query: Query): TableReference[] {
  const search = new TableSearch()
  search.visit(query, { ctes: new Set(), rows: new Set() })
  return search.tables
}

/** The keys of the plain names, of tables and of common tables around it, that a query reads. */
export function plainNamesIn(query: Query): string[] {
  return tablesOf(query).flatMap(({ path }) => (path.length === 1 ? nameKey(path[0]!.name) : []))
}

export function readsItself({ name, query }: CommonTable): boolean {
  return plainNamesIn(query).includes(nameKey(name.name))
}

/**
 * The common tables of a WITH, each after those that it reads, which RECURSIVE lets stand behind it.
 * @param onCircle is told of two that read each other, which GoogleSQL refuses
 */
export function inReadingOrder(
  common: With | null,
  onCircle: (one: CommonTable, other: CommonTable) => void = () => {},
): CommonTable[] {
  if (!common?.recursive) return common?.ctes ?? []
  const ordered = new Set<CommonTable>()
  const add = (cte: CommonTable, readers: CommonTable[]) => {
    if (ordered.has(cte)) return
    const names = plainNamesIn(cte.query)
    for (const other of common.ctes) {
      if (other === cte || !names.includes(nameKey(other.name.name))) continue
      if (readers.includes(other)) onCircle(other, cte)
      else add(other, [...readers, cte])
    }
    ordered.add(cte)
  }
  for (const cte of common.ctes) add(cte, [])
  return [...ordered]
}

/** Names of common tables and rows are equal if their keys are: the case of ASCII letters does not count. */
export function nameKey(name: string): string {
  // Most names have none, and a query has thousands of them.
  return capitals.test(name) ? name.replaceAll(/[A-Z]+/g, letters => letters.toLowerCase()) : name
}

const capitals = /[A-Z]/

class TableSearch {
  readonly tables: TableReference[] = []

  visit(node: AnyNode, scope: Scope): void {
    if (node.kind === 'Query') this.query(node, scope)
    else if (node.kind === 'Select') this.select(node, scope)
    else if (node.kind === 'TableReference') this.table(node, scope)
    else this.visitAll(children(node), scope)
  }

  private visitAll(nodes: AnyNode[], scope: Scope): void {
    for (const node of nodes) this.visit(node, scope)
  }

  /** A common table is visible to those after it and to the query, with RECURSIVE to all. It sees no rows outside. */
  private query(query: Query, scope: Scope): void {
    const ctes = new Set(scope.ctes)
    const common = query.with?.ctes ?? []
    if (query.with?.recursive) for (const { name } of common) ctes.add(nameKey(name.name))
    for (const cte of common) {
      this.visit(cte.query, { ctes, rows: new Set() })
      ctes.add(nameKey(cte.name.name))
    }
    const own = { ctes, rows: scope.rows }
    const sorted = query.body.kind === 'Select' ? this.select(query.body, own) : own
    if (query.body.kind !== 'Select') this.visit(query.body, own)
    this.visitAll(query.orderBy, sorted)
  }

  /** @returns the scope that its FROM makes */
  private select(select: Select, outer: Scope): Scope {
    const scope = select.from ? withRows(outer, this.from(select.from, outer, outer)) : outer
    this.visitAll(
      children(select).filter(child => child !== select.from),
      scope,
    )
    return scope
  }

  /**
   * @param scope with the rows to the left; a subquery does not see those, but only the scope around FROM, `outer`:
   * in `FROM logs AS d, (SELECT 1 FROM d.secret)` the second `d` is a dataset. The same holds here for joins in
   * parentheses and for the right side of RIGHT and FULL.
   * @returns the names of the rows that this part of FROM adds
   */
  private from(from: From, scope: Scope, outer: Scope): string[] {
    switch (from.kind) {
      case 'TableReference':
        this.table(from, scope)
        return rowName(from.alias ?? from.path.at(-1)!)
      case 'UnnestReference':
        this.visit(from.array, scope)
        return from.alias ? rowName(from.alias) : []
      case 'DerivedTable':
        this.visit(from.query, outer)
        return from.alias ? rowName(from.alias) : []
      case 'Pivot':
      case 'Unpivot':
        return this.turned(from, scope, outer)
      case 'JoinInParentheses':
        return this.from(from.join, outer, outer)
      case 'Join': {
        const left = this.from(from.left, scope, outer)
        const apart = from.type === 'RIGHT' || from.type === 'FULL'
        const right = this.from(from.right, apart ? outer : withRows(scope, left), outer)
        const rows = [...left, ...right]
        if (from.on) this.visit(from.on, withRows(scope, rows))
        return rows
      }
      default:
        return unknownKind(from)
    }
  }

  /** PIVOT takes a table, never an array of a row; its expressions see that table's rows. */
  private turned(from: Pivot | Unpivot, scope: Scope, outer: Scope): string[] {
    const rows = this.from(from.of, { ctes: scope.ctes, rows: new Set() }, outer)
    const parts = children(from).filter(child => child !== from.of)
    this.visitAll(parts, withRows(outer, rows))
    return from.alias ? rowName(from.alias) : []
  }

  private table(reference: TableReference, scope: Scope): void {
    const [first, ...fields] = reference.path
    const names = fields.length > 0 ? scope.rows : scope.ctes
    if (!names.has(nameKey(first!.name))) this.tables.push(reference)
  }
}

/** A name in backticks with a dot is a whole path, so no row has it. */
function rowName({ name }: Identifier): string[] {
  return name.includes('.') ? [] : [nameKey(name)]
}

function withRows(scope: Scope, rows: string[]): Scope {
  return { ctes: scope.ctes, rows: new Set([...scope.rows, ...rows]) }
}
