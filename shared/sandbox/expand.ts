/**
 * What GoogleSQL lets a query leave out, written out on its tree: the columns that `*` stands for, and UNNEST around the
 * array of a row (`FROM logs AS t, t.metadata`). So the statement that runs names its columns, and every table in FROM
 * is one name.
 */
import {
  keysOfPivot,
  keysOfUnpivot,
  matchedNames,
  nameOfColumn,
  nameOfPivoted,
  sameName,
} from '../sql/columns.ts'
import { reservedWords } from '../sql/grammar.ts'
import { defaultLimits } from '../sql/limits.ts'
import { inReadingOrder, nameKey, readsItself } from '../sql/relations.ts'
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
import { children, descendants } from '../sql/walk.ts'
import { Violation } from './caller-rules.ts'
import { type Columns, type Shape, shapeOf, shapeOfType, type Sight, type Unknown } from './shapes.ts'

/** A column, and what gets a name if it has none and a `*` stands for it: an item, or an array in FROM. */
interface Column {
  name: string | null
  item: SelectColumn | UnnestReference | null
  shape: Shape
}

/** A range variable of FROM. */
interface Rows {
  /** What gets a name if it has none and a `*` stands for its columns. */
  from: Exclude<From, { kind: 'Join' | 'JoinInParentheses' }> | null
  name: string | null
  /** `'fields'` for the elements of an array that only the engine knows: `*` becomes `name.*`. */
  columns: readonly Column[] | Unknown | 'fields'
}

/** FROM: its range variables, and the columns that USING has merged. */
interface Source {
  rows: Rows[]
  merged: string[]
}

type Known = readonly Column[] | Unknown
type Tables = ReadonlyMap<string, Known>

/** Bytes of all names that take the place of `*`: with them a statement still keeps to `statementLimits`. */
const mostAdded = 4 * defaultLimits.bytes

/** Beside its names: the signs between them, and backticks. */
const bytesOfColumn = 10

/**
 * Changes `FROM t, t.array AS a` into `FROM t, UNNEST(t.array) AS a`, in the whole query, also where the row is one of a query
 * around. In UNNEST is an expression, so none of these can read a table.
 */
export function unnestPaths(query: Query): void {
  inQuery(query, new Set())
}

/** `outer` has the keys of the range variables in sight, as `rows` below; a common table sees none. */
function inQuery(query: Query, outer: ReadonlySet<string>): void {
  for (const common of query.with?.ctes ?? []) unnestPaths(common.query)
  const sorted = query.body.kind === 'Select' ? inSelect(query.body, outer) : outer
  if (query.body.kind !== 'Select') inNode(query.body, outer)
  for (const item of query.orderBy) inNode(item, sorted)
}

function inNode(node: AnyNode, outer: ReadonlySet<string>): void {
  if (node.kind === 'Query') inQuery(node, outer)
  else if (node.kind === 'Select') inSelect(node, outer)
  else for (const child of children(node)) inNode(child, outer)
}

/** @returns the range variables that its clauses see */
function inSelect(select: Select, outer: ReadonlySet<string>): ReadonlySet<string> {
  const rows = new Set(outer)
  if (select.from) select.from = withUnnest(select.from, rows, outer)
  for (const child of children(select)) if (child !== select.from) inNode(child, rows)
  return rows
}

/** `rows` has those to the left as well, and gets those of this part. A subquery in FROM sees `outer` alone. */
function withUnnest(from: From, rows: Set<string>, outer: ReadonlySet<string>): From {
  if (from.kind === 'Join') {
    // What stands right of RIGHT and FULL does not see the rows on the left.
    const left = withUnnest(from.left, rows, outer)
    const apart = from.type === 'RIGHT' || from.type === 'FULL'
    const right = apart ? aloneWithUnnest(from.right, rows, outer) : withUnnest(from.right, rows, outer)
    if (from.on) inNode(from.on, rows)
    return { ...from, left, right }
  }
  if (from.kind === 'JoinInParentheses') {
    return { ...from, join: aloneWithUnnest(from.join, rows, outer) as typeof from.join }
  }
  const item = from.kind === 'TableReference' && isArrayOf(from, rows) ? unnested(from) : from
  for (const child of children(item)) inNode(child, item.kind === 'UnnestReference' ? rows : outer)
  const name = rowName(item)
  if (name !== null) rows.add(nameKey(name))
  return item
}

function aloneWithUnnest(from: From, rows: Set<string>, outer: ReadonlySet<string>): From {
  const own = new Set(outer)
  const item = withUnnest(from, own, outer)
  for (const name of own) rows.add(name)
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
 * Replaces every `*` of the select lists by the columns that it stands for, where they are known. What is left of it is
 * `name.*` for the fields of an array's elements, as in `FROM logs, UNNEST(metadata) AS m`: those hold no more than the array.
 * Tables, arrays and columns without a name get one where that needs it.
 * @param tables the columns of the tables that the query may read, by key
 * @returns why each `*` that is left could not be replaced
 */
export function expandStars(query: Query, tables: ReadonlyMap<string, Columns>): Violation[] {
  const stars = new Stars(query, true)
  const known = [...tables].map(([key, columns]): [string, Known] => [
    key,
    'unknown' in columns
      ? columns
      : columns.map(({ name, type }) => ({ name, item: null, shape: type ? shapeOfType(type) : null })),
  ])
  stars.rest(query, stars.commonTables(query, new Map(known)))
  return stars.problems
}

/** The columns of the common tables of a query, whose tree stays as it is: its author may write `*`. */
export function columnsOfTables(query: Query): Map<string, Columns> {
  const copy = structuredClone(query)
  const tables = new Stars(copy, false).commonTables(copy, new Map())
  return new Map([...tables].map(([key, columns]) => [key, namesOf(columns)]))
}

/** The first `*` that stands for columns of a table, which a statement has to name. */
export function starOfTable(query: Query): SelectStar | null {
  const nodes = [...descendants(query)]
  const tables = nodes.filter(
    node =>
      node.kind === 'TableReference' ||
      node.kind === 'DerivedTable' ||
      node.kind === 'Pivot' ||
      node.kind === 'Unpivot',
  )
  const names = tables.flatMap(table => rowName(table) ?? [])
  const stars = nodes.filter(node => node.kind === 'SelectStar')
  return stars.find(({ of }) => !of || (isName(of) && includes(names, of.parts[0]!.name))) ?? null
}

function isName(of: Expression): of is Path {
  return of.kind === 'Path' && of.parts.length === 1
}

function namesOf(columns: Known): Columns {
  if ('unknown' in columns) return columns
  const nameless = columns.findIndex(({ name }) => name === null)
  if (nameless >= 0) return { unknown: `column ${nameless + 1} has no name` }
  return columns.map(({ name }) => ({ name: name! }))
}

/** From the inside out, so that a query whose columns are asked for has no `*` left. */
class Stars {
  readonly problems: Violation[] = []
  /** Of the queries visited so far. */
  private readonly columns = new Map<Query, Known>()
  /** Names that the query has already, so that one which is given stands for nothing else. */
  private readonly taken: Set<string>
  private added = 0

  /** Whether what has no name may get one. */
  private readonly naming: boolean

  constructor(query: Query, naming: boolean) {
    this.naming = naming
    const nodes = [...descendants(query)]
    const names = nodes.flatMap(node => {
      if (node.kind === 'Path') return node.parts
      return 'alias' in node ? (node.alias ?? []) : []
    })
    this.taken = new Set(names.map(({ name }) => nameKey(name)))
  }

  private visit(node: AnyNode, tables: Tables): void {
    if (node.kind === 'Exists') ignoreColumns(node)
    if (node.kind === 'Query') this.query(node, tables)
    else for (const child of children(node)) this.visit(child, tables)
  }

  private query(query: Query, tables: Tables): Known {
    return this.rest(query, this.commonTables(query, tables))
  }

  /** @returns the tables that the query sees, its own common tables included */
  commonTables(query: Query, outer: Tables): Map<string, Known> {
    const tables = new Map(outer)
    for (const cte of inReadingOrder(query.with)) {
      const key = nameKey(cte.name.name)
      const { body } = cte.query
      // Its first rows give a recursive table the names of its columns.
      if (query.with?.recursive && body.kind === 'SetOperation' && readsItself(cte))
        tables.set(key, this.body(body.left, this.commonTables(cte.query, tables)))
      tables.set(key, this.query(cte.query, tables))
    }
    return tables
  }

  /** All of a query but its WITH. */
  rest(query: Query, tables: Tables): Known {
    const columns = this.body(query.body, tables)
    for (const item of query.orderBy) this.visit(item, tables)
    this.columns.set(query, columns)
    return columns
  }

  /** A set operation has the columns of its first query, unless it matches them by name. */
  private body(body: QueryBody, tables: Tables): Known {
    if (body.kind === 'QueryInParentheses') return this.query(body.query, tables)
    if (body.kind === 'Select') return this.select(body, tables)
    const left = this.body(body.left, tables)
    const right = this.body(body.right, tables)
    if (!body.byName) return left
    const [ours, theirs] = [left, right].map(namesOf) as [Columns, Columns]
    if ('unknown' in ours) return ours
    if ('unknown' in theirs) return theirs
    const [own, other] = [ours, theirs].map(columns => columns.map(({ name }) => name)) as [
      string[],
      string[],
    ]
    const names = matchedNames(body.byName, own, other)
    return 'problem' in names ? { unknown: names.problem } : named(names)
  }

  private select(select: Select, tables: Tables): Known {
    const source = select.from ? this.from(select.from, tables) : { rows: [], merged: [] }
    for (const child of children(select)) if (child !== select.from) this.visit(child, tables)
    select.items = select.items.flatMap(item =>
      item.kind === 'SelectStar' ? this.star(item, source) : [item],
    )
    return columnsOf(select, this.sightOf(source))
  }

  private sightOf(source: Source): Sight {
    return {
      path: path => shapeOfPath(path, source),
      query: query => {
        const { body } = query
        const columns = this.columns.get(query)
        const isValue = body.kind === 'Select' && body.as === null && columns && !('unknown' in columns)
        return isValue && columns.length === 1 ? columns[0]!.shape : null
      },
    }
  }

  /** @param left the rows that an array sees */
  private from(from: From, tables: Tables, left: Rows[] = []): Source {
    switch (from.kind) {
      case 'JoinInParentheses':
        return this.from(from.join, tables)
      case 'Join':
        return this.join(from, tables, left)
      case 'TableReference':
        return rows(from, columnsOfTable(from, tables))
      case 'DerivedTable':
        return rows(from, this.query(from.query, tables))
      case 'Pivot':
      case 'Unpivot':
        return rows(from, this.turned(from, tables))
      case 'UnnestReference': {
        this.visit(from.array, tables)
        const element = rows(from, columnsOfElement(from, this.sightOf({ rows: left, merged: [] })))
        const { offset } = from
        const place = offset && { from: null, name: offset.name, columns: named([offset.name]) }
        return { rows: place ? [...element.rows, place] : element.rows, merged: [] }
      }
    }
  }

  private join(from: Join, tables: Tables, seen: Rows[]): Source {
    const left = this.from(from.left, tables, seen)
    const right = this.from(from.right, tables, [...seen, ...left.rows])
    if (from.on) this.visit(from.on, tables)
    const using = from.using.map(({ name }) => name)
    const merged = [...left.merged, ...right.merged].filter(name => !includes(using, name))
    const all = [...left.rows, ...right.rows]
    const rows = using.length === 0 ? all : all.map(withKnownFields)
    return { rows, merged: [...using, ...merged] }
  }

  /** PIVOT passes columns on that it does not name, as `*` does, so they have to be known. */
  private turned(from: Pivot | Unpivot, tables: Tables): Known {
    const { columns } = this.from(from.of, tables).rows[0]!
    for (const child of children(from)) if (child !== from.of) this.visit(child, tables)
    if (columns === 'fields' || 'unknown' in columns) {
      const why = columns === 'fields' ? 'its columns are not known' : columns.unknown
      const operator = from.kind.toUpperCase()
      this.problems.push(unnamed(`${operator} cannot pass columns on here`, why, from.at))
      return { unknown: why }
    }
    const keys = from.kind === 'Pivot' ? keysOfPivot(from, [...columns]) : keysOfUnpivot(from, [...columns])
    const made = newColumns(from)
    if (keys.some(({ name }) => name === null) || made.includes(null))
      return { unknown: `a column of ${from.kind.toUpperCase()} has no name: give it one with AS` }
    return named([...keys.map(({ name }) => name!), ...made.map(name => name!)])
  }

  /** The columns of a `*`; the `*` itself, with a problem, where they are not known. */
  private star(star: SelectStar, source: Source): SelectItem[] {
    try {
      const all = star.of ? this.columnsOfRow(star, star.of, source) : this.allColumns(star, source)
      const items = exceptAndReplace(star, all)
      for (const item of items) this.added += item.kind === 'SelectColumn' ? bytesOf(item.expression) : 0
      if (this.added > mostAdded)
        throw new Violation('* stands for too many columns', star.at, 'invalid_query')
      return items
    } catch (error) {
      if (!(error instanceof Violation)) throw error
      this.problems.push(error)
      return [star]
    }
  }

  /** The columns of all rows in order, those that USING merged first and once. */
  private allColumns({ at }: SelectStar, { rows, merged }: Source): SelectItem[] {
    if (rows.length === 0) throw new Violation('* needs a FROM', at)
    const own = rows.flatMap(row => this.columnsOfRows(row, at, rows.length === 1))
    const shown = own.filter(item => item.kind === 'SelectStar' || !includes(merged, nameOfColumn(item)!))
    return [...merged.map(name => column([name], at)), ...shown]
  }

  /** `t.*`, where `t` is a range variable; the fields of any other value stay as they are. */
  private columnsOfRow(star: SelectStar, of: Expression, { rows }: Source): SelectItem[] {
    const name = isName(of) ? of.parts[0]!.name : null
    const row = name === null ? undefined : rows.find(row => row.name !== null && sameName(row.name, name))
    if (row) return this.columnsOfRows(row, star.at, false)
    if (name !== null && !rows.some(row => mayHave(row, name)))
      throw unnamed(starHas, `FROM has no table ${name}`, star.at)
    return [{ ...star, except: [], replace: [] }]
  }

  /** @param alone whether these are the only rows, so that a column needs no table before it */
  private columnsOfRows(row: Rows, at: number, alone: boolean): SelectItem[] {
    const { columns } = row
    if (columns === 'fields') {
      const parts = [identifier(this.nameOfRows(row), at)]
      return [
        { kind: 'SelectStar', of: { kind: 'Path', parts, at }, except: [], replace: [], rename: [], at },
      ]
    }
    if ('unknown' in columns) throw unnamed(starHas, columns.unknown, at)
    const names = columns.map(column => this.nameOfItem(column))
    row.name ??= row.from && rowName(row.from)
    // The elements of an array of scalars, and their offset, have the name of the column itself.
    const itself = names.length === 1 && row.name !== null && sameName(names[0]!, row.name)
    if (itself || (row.name === null && alone)) return names.map(own => column([own], at))
    return names.map(own => column([this.nameOfRows(row), own], at))
  }

  /** The name of rows in FROM, which get one if they have none. */
  private nameOfRows(row: Rows): string {
    if (row.name === null && row.from) {
      if (!this.naming) throw unnamed(starHas, 'a subquery has no name', row.from.at)
      row.from.alias = identifier(this.freeName('t', ''), row.from.at)
      row.name = row.from.alias.name
    }
    return row.name!
  }

  /** BigQuery calls columns without a name `f0_`, `f1_`, ... where they are shown. */
  private nameOfItem(column: Column): string {
    if (column.name === null) {
      const { item } = column
      if (!this.naming) throw unnamed(starHas, 'a column has no name', item!.at)
      item!.alias = identifier(this.freeName('f', '_'), item!.at)
      column.name = item!.alias.name
    }
    return column.name
  }

  private freeName(start: string, end: string): string {
    let number = 0
    while (this.taken.has(`${start}${number}${end}`)) number++
    this.taken.add(`${start}${number}${end}`)
    return `${start}${number}${end}`
  }
}

/** Whether a name may be a column of these rows. */
function mayHave({ columns }: Rows, wanted: string): boolean {
  if (columns === 'fields' || 'unknown' in columns) return true
  return columns.some(({ name }) => name !== null && sameName(name, wanted))
}

/** Which of the fields USING has merged is not known. */
function withKnownFields(row: Rows): Rows {
  if (row.columns !== 'fields') return row
  return { ...row, columns: { unknown: `the fields of ${row.name ?? 'the array'} are not known` } }
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

function rows(from: NonNullable<Rows['from']>, columns: Rows['columns']): Source {
  return { rows: [{ from, name: rowName(from), columns }], merged: [] }
}

function newColumns(from: Pivot | Unpivot): (string | null)[] {
  if (from.kind === 'Unpivot') return [...from.values, from.name].map(({ name }) => name)
  const isDate = from.values.some(({ expression }) => expression.kind === 'TypedLiteral')
  return from.values.flatMap(value =>
    from.aggregates.map(aggregate => {
      const name = nameOfPivoted(aggregate, value, isDate)
      // Beside a column of type DATE, which is not known here, such a text would make another name.
      return name === nameOfPivoted(aggregate, value, true) || !isDateLike(value) ? name : null
    }),
  )
}

function isDateLike({ expression }: SelectColumn): boolean {
  return expression.kind === 'Literal' && /^\d+-\d+-\d+$/.test(expression.value)
}

function columnsOfTable({ path }: TableReference, tables: Tables): Known {
  const name = path.map(part => part.name).join('.')
  const known = path.length === 1 ? tables.get(nameKey(name)) : undefined
  return known ?? { unknown: `the columns of ${name} are not known` }
}

/** An array of structs has their fields as columns, any other one column. */
function columnsOfElement(from: UnnestReference, sight: Sight): Rows['columns'] {
  const { array } = from
  if (shapeOf(array, sight) === 'scalars') return [{ name: rowName(from), item: from, shape: 'scalar' }]
  if (array.kind !== 'ArrayLiteral') return 'fields'
  const [first] = array.items
  const struct = array.type ?? (first?.kind === 'StructLiteral' ? first.type : null)
  const fields =
    (struct?.kind === 'STRUCT' && struct.fields) || (first?.kind === 'StructLiteral' ? first.items : null)
  if (!fields) return 'fields'
  const columns = fields.map(field =>
    'kind' in field
      ? { name: nameOfColumn(field), item: null, shape: shapeOf(field.expression, sight) }
      : { name: field.name, item: null, shape: shapeOfType(field.type) },
  )
  return columns.some(({ name }) => name === null)
    ? { unknown: 'a field of the array has no name' }
    : withoutDoubles(columns)
}

/** Of `column`, `rows.column`, or the name of an array's elements, which are a column of that name. */
function shapeOfPath({ parts }: Path, { rows }: Source): Shape {
  const names = parts.map(part => part.name)
  const [name, ...more] = names.toReversed() as [string, ...string[]]
  if (more.length > 1) return null
  const among = rows.filter(row => more.length === 0 || (row.name !== null && sameName(row.name, more[0]!)))
  for (const { columns } of among) {
    const column =
      columns === 'fields' || 'unknown' in columns ? undefined : byKey(columns).get(nameKey(name))
    if (column) return column.shape
  }
  return null
}

/** A query may name thousands of columns. */
const keyed = new WeakMap<readonly Column[], ReadonlyMap<string, Column>>()

/** The first of each name. */
function byKey(columns: readonly Column[]): ReadonlyMap<string, Column> {
  const known =
    keyed.get(columns) ?? new Map(columns.toReversed().map(column => [nameKey(column.name ?? ''), column]))
  keyed.set(columns, known)
  return known
}

function columnsOf(select: Select, sight: Sight): Known {
  if (select.as === 'VALUE') return { unknown: 'the fields of SELECT AS VALUE are not known' }
  const items = select.items.filter(item => item.kind === 'SelectColumn')
  if (items.length < select.items.length) return { unknown: 'the columns of * inside it are not known' }
  return withoutDoubles(
    items.map(item => ({ name: nameOfColumn(item), item, shape: shapeOf(item.expression, sight) })),
  )
}

function named(names: string[]): Known {
  return withoutDoubles(names.map(name => ({ name, item: null, shape: null })))
}

/** The columns, unless two have the same name. */
function withoutDoubles(columns: Column[]): Known {
  const names = columns.flatMap(({ name }) => name ?? [])
  const seen = new Set<string>()
  const twice = names.find(name => seen.size === seen.add(nameKey(name)).size)
  return twice === undefined ? columns : { unknown: `two columns are called ${twice}` }
}

const starHas = '* cannot stand for columns here'

function unnamed(what: string, why: string, at: number): Violation {
  return new Violation(`${what}, since ${why}; name the columns`, at)
}

/** Names that are no column's are a field's, where a `name.*` has fields that are not known here. */
function exceptAndReplace({ except, replace, rename }: SelectStar, items: SelectItem[]): SelectItem[] {
  const columns = items.filter(item => item.kind === 'SelectColumn')
  const keys = new Set(columns.map(item => nameKey(nameOfColumn(item)!)))
  const own = ({ name }: Identifier) => keys.has(nameKey(name))
  const others = {
    except: except.filter(name => !own(name)),
    replace: replace.filter(item => !own(item.alias!)),
  }
  const renamed = rename.find(({ column }) => !own(column))?.column
  const [other] = [
    ...others.except,
    ...others.replace.map(item => item.alias!),
    ...(renamed ? [renamed] : []),
  ]
  const stars = items.filter(item => item.kind === 'SelectStar')
  if (other && (renamed || stars.length !== 1))
    throw new Violation(`* has no column ${other.name}`, other.at, 'invalid_query')
  const dropped = new Set(except.map(({ name }) => nameKey(name)))
  const renames = new Map(rename.map(({ column, name }) => [nameKey(column.name), name]))
  const replaced = new Map(replace.map(item => [nameKey(item.alias!.name), item]))
  return items.flatMap((item): SelectItem[] => {
    if (item.kind === 'SelectStar') return [{ ...item, ...others }]
    const key = nameKey(nameOfColumn(item)!)
    if (dropped.has(key)) return []
    const alias = renames.get(key)
    return [alias ? { ...item, alias } : (replaced.get(key) ?? item)]
  })
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
