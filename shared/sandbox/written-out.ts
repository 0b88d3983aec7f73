/**
 * What GoogleSQL lets a query leave out, written out on its tree: the columns that `*` stands for, and UNNEST around the
 * array of a row (`FROM logs AS t, t.metadata`). So the statement that runs names its columns, and every table in FROM
 * is one name.
 */
import { nameOfColumn, sameName } from '../sql/columns.ts'
import { reservedWords } from '../sql/grammar.ts'
import { defaultLimits } from '../sql/limits.ts'
import { firstTwice, nameKey } from '../sql/relations.ts'
import type {
  Column,
  Columns,
  RangeVariable,
  Reference,
  Resolution,
  Rows,
  Shown,
} from '../sql/resolve/resolution.ts'
import { resolve } from '../sql/resolve/resolve.ts'
import { isKnown } from '../sql/resolve/types.ts'
import type * as ast from '../sql/tree.ts'
import { descendants } from '../sql/walk.ts'
import { Violation } from './caller-rules.ts'

/**
 * What the names of a query stand for. Faults (`problem`) are not for the sandbox to find, as the engine tells of them: what they
 * make uncertain has no known type and is no common table, so that it is refused, or is a table of the endpoint.
 * @param tables those that the query may read, by key
 */
export function resolveOver(query: ast.Query, tables: ReadonlyMap<string, { columns: Columns }>): Resolution {
  const columnsOf = (name: string) => tables.get(nameKey(name))?.columns
  return resolve('', query, { columnsOf, tables: [], parameters: new Map() })
}

/** The columns of the common tables of an endpoint's query. */
export function columnsOfTables(query: ast.Query, { rows }: Resolution): Map<string, Columns> {
  const ctes = query.with?.ctes ?? []
  return new Map(ctes.map(cte => [nameKey(cte.name.name), columnsOf(rows.get(cte.query)!)]))
}

function columnsOf({ columns, open, isValue }: Rows): Columns {
  const type = isValue ? columns[0]!.type : null
  if (isValue && type?.kind !== 'STRUCT') return { unknown: ofValue }
  const all = type?.kind === 'STRUCT' ? type.fields : columns
  const nameless = all.findIndex(({ name }) => name === null)
  const why = open ?? (nameless >= 0 ? `column ${nameless + 1} has no name` : twice(all))
  if (why !== null) return { unknown: why }
  return all.map(({ name, type }) => ({ name: name!, ...(type && isKnown(type) ? { type } : {}) }))
}

const ofValue = 'the fields of SELECT AS VALUE are not known'

function twice(columns: readonly { name: string | null }[]): string | null {
  const column = firstTwice(columns, ({ name }) => name)
  return column ? `two columns are called ${column.name}` : null
}

/**
 * Changes `FROM t, t.array AS a` into `FROM t, UNNEST(t.array) AS a`, in the whole query, also where the row is one of a query
 * around. In UNNEST is an expression, so none of these can read a table.
 */
export function unnestPaths({ tables, paths }: Resolution): void {
  const arrays = new Map([...paths.keys()].map(path => [path.parts, path]))
  for (const [node, kind] of tables) {
    if (kind !== 'array') continue
    const { path, alias, at } = node
    const array: ast.Path = arrays.get(path) ?? { kind: 'Path', parts: path, at }
    Reflect.deleteProperty(node, 'path')
    Object.assign(node, { kind: 'UnnestReference', array, alias: alias ?? identifier(path.at(-1)!.name, at) })
  }
}

/**
 * Replaces every `*` of the select lists by the columns that it stands for, where they are known. What is left of it is
 * `name.*` for the fields of an array's elements, as in `FROM logs, UNNEST(metadata) AS m`: those hold no more than the array.
 * Tables, arrays and columns without a name get one where that needs it.
 * @throws Violation for the first `*` that cannot be replaced
 */
export function expandStars(query: ast.Query, resolution: Resolution): void {
  for (const node of descendants(query)) if (node.kind === 'Exists') ignoreColumns(node)
  const stars = new Stars(query, resolution)
  // Those inside come first, as a query around them reads their names.
  for (const node of resolution.rows.keys()) {
    if (node.kind === 'Select')
      node.items = node.items.flatMap(item => (item.kind === 'SelectStar' ? stars.written(item) : [item]))
    if (node.kind === 'Pivot' || node.kind === 'Unpivot') stars.checkTurned(node)
  }
}

/** EXISTS looks at no column, so `SELECT *` there needs none. */
function ignoreColumns({ query: { body } }: ast.Exists): void {
  const only = body.kind === 'Select' && body.items.length === 1 ? body.items[0] : undefined
  if (body.kind !== 'Select' || body.distinct || only?.kind !== 'SelectStar' || only.replace.length > 0)
    return
  const { at } = only
  const expression: ast.Expression = { kind: 'Literal', literal: 'INTEGER', text: '1', value: '', at }
  body.items = [{ kind: 'SelectColumn', expression, alias: null, at }]
}

/** The first `*` that stands for columns of a table, which a statement has to name. */
export function starOfTable(query: ast.Query): ast.SelectStar | null {
  const nodes = [...descendants(query)]
  const names = nodes.flatMap(node => {
    if (node.kind === 'TableReference') return [(node.alias ?? node.path.at(-1)!).name]
    const isTable = node.kind === 'DerivedTable' || node.kind === 'Pivot' || node.kind === 'Unpivot'
    return isTable && node.alias ? [node.alias.name] : []
  })
  const stars = nodes.filter(node => node.kind === 'SelectStar')
  const isTable = (of: ast.Expression) =>
    of.kind === 'Path' && of.parts.length === 1 && names.some(name => sameName(name, of.parts[0]!.name))
  return stars.find(({ of }) => !of || isTable(of)) ?? null
}

/** Bytes of all names that take the place of `*`: with them a statement still keeps to `statementLimits`. */
const mostAdded = 4 * defaultLimits.bytes

/** Beside its names: the signs between them, and backticks. */
const bytesOfColumn = 10

const starHas = '* cannot stand for columns here'

function unnamed(what: string, why: string, at: number): Violation {
  return new Violation(`${what}, since ${why}; name the columns`, at)
}

class Stars {
  private readonly resolution: Resolution
  /** Those that are written are added, as readers of the query look them up. */
  private readonly paths: Map<ast.Path, Reference>
  /** Names that the query has already, so that one which is given stands for nothing else. */
  private readonly taken: Set<string>
  private added = 0

  constructor(query: ast.Query, resolution: Resolution) {
    this.resolution = resolution
    this.paths = resolution.paths as typeof this.paths
    const names = [...descendants(query)].flatMap(node => {
      if (node.kind === 'Path') return node.parts
      return 'alias' in node ? (node.alias ?? []) : []
    })
    this.taken = new Set(names.map(({ name }) => nameKey(name)))
  }

  /** PIVOT passes columns on that it does not name, as `*` does, so they have to be known. */
  checkTurned({ kind, of, at }: ast.Pivot | ast.Unpivot): void {
    const { columns, open, isValue } = this.resolution.rows.get(of)!
    const why = open ?? (isValue ? ofValue : twice(columns))
    if (why !== null) throw unnamed(`${kind.toUpperCase()} cannot pass columns on here`, why, at)
  }

  written(star: ast.SelectStar): ast.SelectItem[] {
    const items = exceptAndReplace(star, this.itemsOf(star))
    for (const item of items) this.added += item.kind === 'SelectColumn' ? bytesOf(item.expression) : 0
    if (this.added > mostAdded) throw new Violation('* stands for too many columns', star.at, 'invalid_query')
    return items
  }

  private itemsOf(star: ast.SelectStar): ast.SelectItem[] {
    const { of, at } = star
    const itself = { ...star, except: [], replace: [] }
    const all = this.resolution.stars.get(star)!
    const shown = all.filter(
      ({ variable }, at) => !isOpenArray(variable) || variable !== all[at - 1]?.variable,
    )
    for (const variable of new Set(shown.map(each => each.variable))) {
      const double = variable && twice(variable.columns)
      if (double) throw unnamed(starHas, double, at)
    }
    if (!of) {
      if (shown.length === 0) throw new Violation('* needs a FROM', at)
      const alone = shown.every(({ variable }) => variable === shown[0]!.variable)
      const isMerged = shown[0]!.variable === null
      return shown.map(each => this.itemOf(each, at, alone, isMerged))
    }
    if (of.kind === 'Path' && of.parts.length === 1) {
      const reference = this.resolution.paths.get(of)
      if (!reference) throw unnamed(starHas, `FROM has no table ${of.parts[0]!.name}`, at)
      // The fields of any other value stay as they are.
      if (shown[0]?.variable && shown[0].variable === reference.variable)
        return shown.map(each => this.itemOf(each, at, false, false))
    }
    return [itself]
  }

  /** @param alone whether there are no other rows, so that a column needs no table before it */
  private itemOf({ variable, column }: Shown, at: number, alone: boolean, isMerged: boolean): ast.SelectItem {
    if (!variable) return this.columnOf([column!.name!], { variable, column }, at)
    const { element, open } = variable
    if (column && column === element)
      return this.columnOf([this.nameOfElement(variable)], { variable, column }, at)
    if (isOpenArray(variable)) {
      // Which of the fields USING has merged is not known.
      if (isMerged) throw unnamed(starHas, `the fields of ${variable.name ?? 'the array'} are not known`, at)
      const of = this.pathOf([this.nameOfRows(variable)], { variable, column: element }, at)
      return { kind: 'SelectStar', of, except: [], replace: [], rename: [], at }
    }
    if (element && isOfValue(element)) throw unnamed(starHas, ofValue, at)
    if (!column) throw unnamed(starHas, open!, at)
    const name = this.nameOf(column, at)
    const path = alone && rowsName(variable) === null ? [name] : [this.nameOfRows(variable), name]
    return this.columnOf(path, { variable, column }, at)
  }

  private columnOf(names: string[], shown: Shown, at: number): ast.SelectColumn {
    return { kind: 'SelectColumn', expression: this.pathOf(names, shown, at), alias: null, at }
  }

  private pathOf(names: string[], shown: Shown, at: number): ast.Path {
    const path: ast.Path = { kind: 'Path', parts: names.map(name => identifier(name, at)), at }
    this.paths.set(path, { parts: names.length, ...shown })
    return path
  }

  /** The name of rows in FROM, which get one if they have none. */
  private nameOfRows(variable: RangeVariable): string {
    return rowsName(variable) ?? this.named(variable.node as ast.DerivedTable, 't', '')
  }

  private nameOfElement(variable: RangeVariable): string {
    return rowsName(variable) ?? this.named(variable.node as ast.UnnestReference, 'f', '_')
  }

  /** BigQuery calls columns without a name `f0_`, `f1_`, ... where they are shown. */
  private nameOf({ name, from }: Column, at: number): string {
    if (name !== null) return name
    if (from.kind === 'columns' && from.columns.length > 0) return this.nameOf(from.columns[0]!, at)
    if (from.kind !== 'item') throw unnamed(starHas, 'a field has no name', at)
    return nameOfColumn(from.item) ?? this.named(from.item, 'f', '_')
  }

  private named(item: { alias: ast.Identifier | null; at: number }, start: string, end: string): string {
    let number = 0
    while (this.taken.has(`${start}${number}${end}`)) number++
    const name = `${start}${number}${end}`
    this.taken.add(name)
    item.alias = identifier(name, item.at)
    return name
  }
}

/** Whether the elements of an array keep their `name.*`: all but those that are written out. */
function isOpenArray(variable: RangeVariable | null): boolean {
  const { element = null, columns = [], open = null } = variable ?? {}
  const isFields = columns.length > 0 || open !== null
  return element?.from.kind === 'array' && element.from.array.kind !== 'ArrayLiteral' && isFields
}

/** Whether it is what SELECT AS VALUE makes, and neither an element nor a SELECT AS STRUCT. */
function isOfValue({ from }: Column): boolean {
  if (from.kind === 'columns' && from.columns.length > 0) return isOfValue(from.columns[0]!)
  return from.kind !== 'array' && from.kind !== 'node'
}

/** Also one that was given. */
function rowsName({ name, node }: RangeVariable): string | null {
  return name ?? (node && 'alias' in node ? (node.alias?.name ?? null) : null)
}

/** Names that are no column's are a field's, where a `name.*` has fields that are not known here. */
function exceptAndReplace(star: ast.SelectStar, items: ast.SelectItem[]): ast.SelectItem[] {
  const { except, replace, rename } = star
  const columns = items.filter(item => item.kind === 'SelectColumn')
  const keys = new Set(columns.map(item => nameKey(nameOfColumn(item)!)))
  const own = ({ name }: ast.Identifier) => keys.has(nameKey(name))
  const others = {
    except: except.filter(name => !own(name)),
    replace: replace.filter(item => !own(item.alias!)),
  }
  const renamed = rename.find(({ column }) => !own(column))?.column
  const other = others.except[0] ?? others.replace[0]?.alias ?? renamed
  const stars = items.filter(item => item.kind === 'SelectStar')
  if (other && (renamed || stars.length !== 1))
    throw new Violation(`* has no column ${other.name}`, other.at, 'invalid_query')
  const dropped = new Set(except.map(({ name }) => nameKey(name)))
  const renames = new Map(rename.map(({ column, name }) => [nameKey(column.name), name]))
  const replaced = new Map(replace.map(item => [nameKey(item.alias!.name), item]))
  return items.flatMap((item): ast.SelectItem[] => {
    if (item.kind === 'SelectStar') return [{ ...item, ...others }]
    const key = nameKey(nameOfColumn(item)!)
    if (dropped.has(key)) return []
    const alias = renames.get(key)
    return [alias ? { ...item, alias } : (replaced.get(key) ?? item)]
  })
}

/** A name in backticks unless it is plain, as the printer and the parser have it. */
function identifier(name: string, at: number): ast.Identifier {
  return { name, quoted: !/^[A-Za-z_]\w*$/.test(name) || reservedWords.has(name.toUpperCase()), at }
}

function bytesOf(column: ast.Expression): number {
  const names = column.kind === 'Path' ? column.parts.map(part => Buffer.byteLength(part.name)) : []
  return names.reduce((sum, bytes) => sum + bytes, bytesOfColumn)
}
