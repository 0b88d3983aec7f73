/**
 * What GoogleSQL lets a query leave out, written out on its tree: the columns that `*` stands for, and UNNEST around the
 * array of a row (`FROM logs AS t, t.metadata`). So the statement that runs names its columns, and every table in FROM
 * is one name.
 */
import { keysOfPivot, keysOfUnpivot, matchedNames, nameOfColumn, nameOfPivoted, sameName } from '../sql/columns.ts'
import { reservedWords } from '../sql/grammar.ts'
import { defaultLimits } from '../sql/limits.ts'
import { nameKey } from '../sql/relations.ts'
import type {
  AnyNode,
  Exists,
  Expression,
  From,
  Identifier,
  Join,
  Path,
  Pivot,
  Query,
  QueryBody,
  Select,
  SelectColumn,
  SelectItem,
  SelectStar,
  TableReference,
  Unpivot,
  UnnestReference,
} from '../sql/tree.ts'
import { children } from '../sql/walk.ts'
import { Violation } from './rules.ts'

/** The names of a table's columns in order, or the reason why they are not known. */
export type Columns = readonly string[] | { unknown: string }

/** A range variable of FROM. */
interface Rows {
  name: string | null
  columns: Columns
}

/** FROM: its range variables, and the columns that USING has merged. */
interface Source {
  rows: Rows[]
  merged: string[]
}

type Tables = ReadonlyMap<string, Columns>

/** Bytes of all names that take the place of `*`: with them a statement still keeps to `statementLimits`. */
const mostAdded = 4 * defaultLimits.bytes

/** Beside its names: the signs between them, and backticks. */
const bytesOfColumn = 10

/** Changes `FROM t, t.array AS a` into `FROM t, UNNEST(t.array) AS a`, in the whole query. */
export function unnestPaths(node: AnyNode): void {
  if (node.kind === 'Select' && node.from) node.from = withUnnest(node.from, new Set())
  for (const child of children(node)) unnestPaths(child)
}

/** `names` has the keys of the range variables to the left, and gets those of this part. */
function withUnnest(from: From, names: Set<string>): From {
  if (from.kind === 'Join') {
    // What stands right of RIGHT and FULL does not see the rows on the left.
    const left = withUnnest(from.left, names)
    const sees = from.type !== 'RIGHT' && from.type !== 'FULL'
    const right = withUnnest(from.right, sees ? names : new Set())
    return { ...from, left, right }
  }
  if (from.kind === 'JoinInParentheses') {
    return { ...from, join: withUnnest(from.join, new Set()) as typeof from.join }
  }
  const item = from.kind === 'TableReference' && isArrayOf(from, names) ? unnested(from) : from
  const name = rowName(item)
  if (name !== null) names.add(nameKey(name))
  return item
}

function isArrayOf({ path }: TableReference, names: ReadonlySet<string>): boolean {
  return path.length > 1 && names.has(nameKey(path[0]!.name))
}

function unnested({ path, alias, offset, at }: TableReference): UnnestReference {
  const array: Path = { kind: 'Path', parts: path, at }
  return { kind: 'UnnestReference', array, alias: alias ?? identifier(path.at(-1)!.name, at), offset, at }
}

function rowName(from: Exclude<From, { kind: 'Join' | 'JoinInParentheses' }>): string | null {
  if (from.alias) return from.alias.name
  return from.kind === 'TableReference' ? from.path.at(-1)!.name : null
}

/**
 * Replaces every `*` of the select lists by the columns that it stands for, where they are known.
 * @param tables the columns of the tables that the query may read, by key
 * @returns the columns of the query and of its common tables, and why each `*` that is left could not be replaced
 */
export function expandStars(
  query: Query,
  tables: Tables,
): { columns: Columns; common: Map<string, Columns>; problems: Violation[] } {
  const stars = new Stars()
  const common = stars.commonTables(query, tables)
  return { columns: stars.rest(query, common), common, problems: stars.problems }
}

/** From the inside out, so that a query whose columns are asked for has no `*` left. */
class Stars {
  readonly problems: Violation[] = []
  private added = 0

  private visit(node: AnyNode, tables: Tables): void {
    if (node.kind === 'Exists') ignoreColumns(node)
    if (node.kind === 'Query') this.query(node, tables)
    else for (const child of children(node)) this.visit(child, tables)
  }

  private query(query: Query, tables: Tables): Columns {
    return this.rest(query, this.commonTables(query, tables))
  }

  /** @returns the tables that the query sees, its own common tables included */
  commonTables(query: Query, outer: Tables): Map<string, Columns> {
    const tables = new Map(outer)
    for (const { name, query: common } of query.with?.ctes ?? [])
      tables.set(nameKey(name.name), this.query(common, tables))
    return tables
  }

  /** All of a query but its WITH. */
  rest(query: Query, tables: Tables): Columns {
    const columns = this.body(query.body, tables)
    for (const item of query.orderBy) this.visit(item, tables)
    return columns
  }

  /** A set operation has the columns of its first query, unless it matches them by name. */
  private body(body: QueryBody, tables: Tables): Columns {
    if (body.kind === 'QueryInParentheses') return this.query(body.query, tables)
    if (body.kind === 'Select') return this.select(body, tables)
    const [left, right] = [body.left, body.right].map(side => this.body(side, tables)) as [Columns, Columns]
    if (!body.byName || 'unknown' in left) return left
    if ('unknown' in right) return right
    const names = matchedNames(body.byName, [...left], [...right])
    return 'problem' in names ? { unknown: names.problem } : names
  }

  private select(select: Select, tables: Tables): Columns {
    const source = select.from ? this.from(select.from, tables) : { rows: [], merged: [] }
    for (const child of children(select)) if (child !== select.from) this.visit(child, tables)
    select.items = select.items.flatMap(item =>
      item.kind === 'SelectStar' ? this.star(item, source) : [item],
    )
    return columnsOf(select)
  }

  private from(from: From, tables: Tables): Source {
    switch (from.kind) {
      case 'JoinInParentheses':
        return this.from(from.join, tables)
      case 'Join': {
        const left = this.from(from.left, tables)
        const right = this.from(from.right, tables)
        if (from.on) this.visit(from.on, tables)
        const using = from.using.map(({ name }) => name)
        const merged = [...left.merged, ...right.merged].filter(name => !includes(using, name))
        return { rows: [...left.rows, ...right.rows], merged: [...using, ...merged] }
      }
      case 'TableReference':
        return rows(rowName(from), columnsOfTable(from, tables))
      case 'DerivedTable':
        return rows(rowName(from), this.query(from.query, tables))
      case 'Pivot':
      case 'Unpivot':
        return rows(rowName(from), this.turned(from, tables))
      case 'UnnestReference': {
        this.visit(from.array, tables)
        const element = rows(rowName(from), columnsOfElement(from.array, rowName(from)))
        const offset = from.offset ? rows(from.offset.name, [from.offset.name]).rows : []
        return { rows: [...element.rows, ...offset], merged: [] }
      }
    }
  }

  /** PIVOT passes columns on that it does not name, as `*` does, so they have to be known. */
  private turned(from: Pivot | Unpivot, tables: Tables): Columns {
    const [input] = this.from(from.of, tables).rows
    for (const child of children(from)) if (child !== from.of) this.visit(child, tables)
    if ('unknown' in input!.columns) {
      const operator = from.kind.toUpperCase()
      this.problems.push(unnamed(`${operator} cannot pass columns on here`, input!.columns.unknown, from.at))
      return input!.columns
    }
    const columns = input!.columns.map(name => ({ name }))
    const keys = from.kind === 'Pivot' ? keysOfPivot(from, columns) : keysOfUnpivot(from, columns)
    return named([...keys.map(({ name }) => name), ...newColumns(from)])
  }

  /** The columns of a `*`; the `*` itself, with a problem, where they are not known. */
  private star(star: SelectStar, source: Source): SelectItem[] {
    try {
      const all = star.of ? columnsOfRow(star.of, source, star.at) : allColumns(source, star.at)
      const columns = exceptAndReplace(star, all)
      for (const { expression } of columns) this.added += bytesOf(expression)
      if (this.added > mostAdded)
        throw new Violation('* stands for too many columns', star.at, 'invalid_query')
      return columns
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      this.problems.push(error)
      return [star]
    }
  }
}

/** EXISTS looks at no column, so `SELECT *` there needs none. */
function ignoreColumns({ query: { body } }: Exists): void {
  const only = body.kind === 'Select' && body.items.length === 1 ? body.items[0] : undefined
  if (body.kind !== 'Select' || body.distinct || only?.kind !== 'SelectStar' || only.replace.length > 0)
    return
  const { at } = only
  const expression: Expression = { kind: 'Literal', literal: 'INTEGER', text: '1', value: '', at }
  body.items = [{ kind: 'SelectColumn', expression, alias: null, at }]
}

function rows(name: string | null, columns: Columns): Source {
  return { rows: [{ name, columns }], merged: [] }
}

function newColumns(from: Pivot | Unpivot): (string | null)[] {
  if (from.kind === 'Unpivot') return [...from.values, from.name].map(({ name }) => name)
  return from.values.flatMap(value => from.aggregates.map(aggregate => nameOfPivoted(aggregate, value)))
}

function columnsOfTable({ path }: TableReference, tables: Tables): Columns {
  const name = path.map(part => part.name).join('.')
  const known = path.length === 1 ? tables.get(nameKey(name)) : undefined
  return known ?? { unknown: `the columns of ${name} are not known` }
}

/** An array of structs has their fields as columns, any other one column. */
function columnsOfElement(array: Expression, name: string | null): Columns {
  const unknown = { unknown: `the fields of ${name ?? 'the array'} are not known` }
  if (array.kind === 'Call') return scalarArrays.has(nameOfFunction(array)) ? element(name) : unknown
  if (array.kind !== 'ArrayLiteral') return unknown
  const [first] = array.items
  const struct = array.type ?? (first?.kind === 'StructLiteral' ? first.type : null)
  if (struct?.kind === 'STRUCT') return named(struct.fields.map(field => field.name))
  if (first?.kind === 'StructLiteral') return named(first.items.map(nameOfColumn))
  const scalar = struct !== null || first?.kind === 'Literal' || first?.kind === 'TypedLiteral'
  return scalar ? element(name) : unknown
}

function element(name: string | null): Columns {
  return named([name])
}

function nameOfFunction({ name }: Extract<Expression, { kind: 'Call' }>): string {
  return name.map(part => part.name.toUpperCase()).join('.')
}

/** Functions that give arrays of anything but structs. */
const scalarArrays: ReadonlySet<string> = new Set(
  `GENERATE_ARRAY GENERATE_DATE_ARRAY GENERATE_TIMESTAMP_ARRAY JSON_EXTRACT_ARRAY JSON_EXTRACT_STRING_ARRAY JSON_KEYS
  JSON_QUERY_ARRAY JSON_VALUE_ARRAY REGEXP_EXTRACT_ALL SPLIT TO_CODE_POINTS`.split(/\s+/),
)

function columnsOf(select: Select): Columns {
  if (select.as === 'VALUE') return { unknown: 'the fields of SELECT AS VALUE are not known' }
  const items = select.items.filter(item => item.kind === 'SelectColumn')
  if (items.length < select.items.length) return { unknown: 'the columns of * inside it are not known' }
  return named(items.map(nameOfColumn))
}

/** The names, if each column has one and no two have the same. */
function named(names: (string | null)[]): Columns {
  const known = names.filter(name => name !== null)
  const twice = known.find((name, at) => includes(known.slice(0, at), name))
  if (twice !== undefined) return { unknown: `two columns are called ${twice}` }
  if (known.length === names.length) return known
  return { unknown: `column ${names.indexOf(null) + 1} has no name: give it one with AS` }
}

/** The columns of all rows in order, those that USING merged first and once. */
function allColumns({ rows, merged }: Source, at: number): SelectColumn[] {
  if (rows.length === 0) throw new Violation('* needs a FROM', at)
  const own = rows.flatMap(row =>
    columnsOfRows(row, at, rows.length === 1).filter(column => !includes(merged, nameOfColumn(column)!)),
  )
  return [...merged.map(name => column([name], at)), ...own]
}

/** `t.*`, where `t` is a range variable. */
function columnsOfRow(of: Expression, { rows }: Source, at: number): SelectColumn[] {
  const name = of.kind === 'Path' && of.parts.length === 1 ? of.parts[0]!.name : null
  const row = name === null ? undefined : rows.find(row => row.name !== null && sameName(row.name, name))
  if (row) return columnsOfRows(row, at, false)
  throw unnamed(starHas, name === null ? 'these fields are not known' : `FROM has no table ${name}`, at)
}

/** @param alone whether these are the only rows, so that a column needs no table before it */
function columnsOfRows({ name, columns }: Rows, at: number, alone: boolean): SelectColumn[] {
  if ('unknown' in columns) throw unnamed(starHas, columns.unknown, at)
  // The elements of an array of scalars, and their offset, have the name of the column itself.
  const itself = columns.length === 1 && name !== null && sameName(columns[0]!, name)
  if (itself || (name === null && alone)) return columns.map(own => column([own], at))
  if (name === null) throw unnamed(starHas, 'a subquery has no name: give it one with AS', at)
  return columns.map(own => column([name, own], at))
}

const starHas = '* cannot stand for columns here'

function unnamed(what: string, why: string, at: number): Violation {
  return new Violation(`${what}, since ${why}; name the columns`, at)
}

function exceptAndReplace({ except, replace }: SelectStar, columns: SelectColumn[]): SelectColumn[] {
  const names = columns.map(column => nameOfColumn(column)!)
  for (const { name, at } of [...except, ...replace.map(item => item.alias!)])
    if (!includes(names, name)) throw new Violation(`* has no column ${name}`, at, 'invalid_query')
  const dropped = except.map(({ name }) => name)
  return columns
    .filter((_, at) => !includes(dropped, names[at]!))
    .map(column => replace.find(item => sameName(item.alias!.name, nameOfColumn(column)!)) ?? column)
}

function column(path: string[], at: number): SelectColumn {
  const parts = path.map(name => identifier(name, at))
  return { kind: 'SelectColumn', expression: { kind: 'Path', parts, at }, alias: null, at }
}

/** A name in backticks unless it is plain, as the printer and the parser have it. */
function identifier(name: string, at: number): Identifier {
  return { name, quoted: !/^[A-Za-z_]\w*$/.test(name) || reservedWords.has(name.toUpperCase()), at }
}

function bytesOf(column: Expression): number {
  const names = column.kind === 'Path' ? column.parts.map(part => Buffer.byteLength(part.name)) : []
  return names.reduce((sum, bytes) => sum + bytes, bytesOfColumn)
}

function includes(names: string[], name: string): boolean {
  return names.some(other => sameName(other, name))
}
