/**
 * The bytes that a statement reads, as BigQuery counts them
 * (https://cloud.google.com/bigquery/docs/best-practices-costs): of the columns that it names alone, and of the partitions and
 * the sorted blocks that its bounds on the time leave. Here a block is a row group of a Parquet file, with the first and last
 * time in it, and a column has the bytes that it has before compression.
 */
import { statSync } from 'node:fs'
import { DuckDBInstance } from '@duckdb/node-api'
import type { QueryEngine, Statement, Value } from '../../../shared/engines/engine.ts'
import { nameOf } from '../../../shared/engines/bigquery/statement.ts'
import { quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import { intervalParts } from '../../../shared/sql/grammar.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { print } from '../../../shared/sql/printer.ts'
import { nameKey, tablesOf } from '../../../shared/sql/relations.ts'
import type { AnyNode, Binary, Expression, Query, Select } from '../../../shared/sql/tree.ts'
import { children, descendants } from '../../../shared/sql/walk.ts'

/** A table of the server, as its files are. */
interface Table {
  logical: string
  /** Absolute paths of its files at the moment. */
  files: () => string[]
  /** The column that its partitions and blocks are by. */
  time: string
}

interface Block {
  /** Milliseconds since 1970 of its first and last row. */
  first: number
  last: number
  /** By path, such as `metadata.request.url`. */
  columns: Map<string, number>
}

const dayMs = 86_400_000

export class Scans {
  private readonly engine: QueryEngine
  private readonly blocks = new Map<string, Block[]>()
  private readonly reader = DuckDBInstance.create(':memory:').then(instance => instance.connect())

  /** @param engine evaluates bounds */
  constructor(engine: QueryEngine) {
    this.engine = engine
  }

  async close(): Promise<void> {
    ;(await this.reader).closeSync()
  }

  async bytesOf(statement: Statement, tables: Table[]): Promise<number> {
    const tree = parse(statement.sql)
    let bytes = 0
    for (const { logical, files, time } of tables)
      for (const select of readings(tree, logical)) {
        const [from, to] = await this.boundsOf(select, time, statement)
        const named = namesIn(tree)
        for (const file of files())
          for (const { first, last, columns } of await this.blocksOf(file, time))
            bytes += sizeOf(columns, named) * shareOf([first, last], [from, to])
      }
    return Math.round(bytes)
  }

  /** The bounds that hold for every row of the result: milliseconds since 1970. */
  private async boundsOf(select: Select, time: string, { bindings }: Statement): Promise<[number, number]> {
    let [from, to] = [-Infinity, Infinity]
    for (const { operator, right } of boundsIn(select.where, time)) {
      const sql = `SELECT ${expressionText(right)} AS bound`
      const { rows } = await this.engine.run({ sql, bindings }, { maxRows: 1, timeoutMs: 10_000 })
      const bound = millisecondsOf(rows[0]!['bound']!)
      if (operator.startsWith('>')) from = Math.max(from, bound)
      else to = Math.min(to, bound)
    }
    return [from, to]
  }

  private async blocksOf(file: string, time: string): Promise<Block[]> {
    const { mtimeMs, size, ino } = statSync(file)
    const key = [file, mtimeMs, size, ino].join(' ')
    const known = this.blocks.get(key) ?? (await this.readBlocks(file, time))
    this.blocks.set(key, known)
    return known
  }

  private async readBlocks(file: string, time: string): Promise<Block[]> {
    const connection = await this.reader
    const sql = `SELECT row_group_id, path_in_schema, total_uncompressed_size, stats_min_value, stats_max_value
      FROM parquet_metadata(${quoteText(file)})`
    const blocks = new Map<number, Block>()
    for (const row of (await connection.runAndReadAll(sql)).getRows()) {
      const [group, path, size, least, most] = row as [bigint, string, bigint, string | null, string | null]
      const block = blocks.get(Number(group)) ?? { first: -Infinity, last: Infinity, columns: new Map() }
      blocks.set(Number(group), block)
      const name = path
        .split(', ')
        .filter(part => part !== 'list' && part !== 'element')
        .join('.')
      block.columns.set(name, Number(size))
      if (name !== time || least === null || most === null) continue
      block.first = Date.parse(least)
      block.last = Date.parse(most)
    }
    return [...blocks.values()]
  }
}

/**
 * The part of a block that is read: all of it, as far as its rows are of days within the bounds. BigQuery's blocks are of one
 * day; one of a small file may be of many, whose rows are taken to be alike.
 */
function shareOf([first, last]: [number, number], [from, to]: [number, number]): number {
  if (last < from || first > to) return 0
  const days = (a: number, b: number) => Math.floor(b / dayMs) - Math.floor(a / dayMs) + 1
  return Number.isFinite(first + last)
    ? days(Math.max(first, from), Math.min(last, to)) / days(first, last)
    : 1
}

/** The selections that read the table and whose rows are used: a common table that nothing reads is not read. */
function readings(query: Query, table: string): Select[] {
  const common = new Map(query.with?.ctes.map(({ name, query: of }) => [nameKey(name.name), of]))
  const found = new Set<Select>()
  const visit = (node: AnyNode): void => {
    if (node.kind === 'Select' && node.from)
      for (const reference of tablesOf({
        ...query,
        with: null,
        body: node,
        orderBy: [],
        limit: null,
        offset: null,
      })) {
        const name = nameOf(reference)
        const of = common.get(nameKey(name))
        if (name === table && ownTables(node).includes(name)) found.add(node)
        else if (of && common.delete(nameKey(name))) visit(of)
      }
    for (const child of children(node)) if (child.kind !== 'With') visit(child)
  }
  visit(query)
  return [...found]
}

/** Names in FROM itself, not in what is below it. */
function ownTables({ from }: Select): string[] {
  const waiting: AnyNode[] = from ? [from] : []
  const names: string[] = []
  for (let node = waiting.pop(); node; node = waiting.pop()) {
    if (node.kind === 'TableReference') names.push(nameOf(node))
    if (node.kind === 'Join') waiting.push(node.left, node.right)
    if (node.kind === 'JoinInParentheses') waiting.push(node.join)
  }
  return names
}

/** Comparisons of the time with what no row decides, all of which hold. */
function boundsIn(where: Expression | null, time: string): Binary[] {
  if (where?.kind === 'Parenthesized') return boundsIn(where.expression, time)
  if (where?.kind !== 'Binary') return []
  const { operator, left, right } = where
  if (operator === 'AND') return [...boundsIn(left, time), ...boundsIn(right, time)]
  const isBound =
    ['>', '>=', '<', '<='].includes(operator) && left.kind === 'Path' && left.parts.at(-1)!.name === time
  return isBound && ![...descendants(right)].some(isColumn) ? [where] : []
}

/** The MINUTE of TIMESTAMP_TRUNC(x, MINUTE) is a name, too. */
function isColumn(node: AnyNode): boolean {
  return (
    node.kind === 'Path' && !(node.parts.length === 1 && intervalParts.has(node.parts[0]!.name.toUpperCase()))
  )
}

function expressionText(expression: Expression): string {
  const item = { kind: 'SelectColumn', at: 0, expression, alias: null } as const
  const body: Select = {
    kind: 'Select',
    at: 0,
    distinct: false,
    as: null,
    items: [item],
    from: null,
    where: null,
    groupBy: null,
    having: null,
    qualify: null,
    windows: [],
  }
  const query: Query = { kind: 'Query', at: 0, with: null, body, orderBy: [], limit: null, offset: null }
  return print(query).replace(/^SELECT /, '')
}

/** A TIMESTAMP in a result is microseconds. */
function millisecondsOf(bound: Value): number {
  return bound === null ? Number.NaN : Number(bound) / 1000
}

interface Names {
  /** Every name in the statement, in small letters. */
  all: ReadonlySet<string>
  /** Those that stand for all that is below them: a column that is selected, or `*`. */
  whole: ReadonlySet<string>
  star: boolean
}

function namesIn(tree: Query): Names {
  const [all, whole] = [new Set<string>(), new Set<string>()]
  const opened = new Set<AnyNode>()
  let star = false
  for (const node of descendants(tree)) {
    if (node.kind === 'UnnestReference') opened.add(node.array)
    if (node.kind === 'SelectStar') star = true
    if (node.kind === 'FieldAccess') all.add(nameKey(node.field.name))
    if (node.kind !== 'Path') continue
    for (const { name } of node.parts) all.add(nameKey(name))
    if (!opened.has(node)) whole.add(nameKey(node.parts.at(-1)!.name))
  }
  return { all, whole, star }
}

/** Of the columns that are named: each part of a path, or one that is named as a whole. */
function sizeOf(columns: Map<string, number>, { all, whole, star }: Names): number {
  let bytes = 0
  for (const [path, size] of columns) {
    const parts = path.split('.').map(nameKey)
    const upTo = parts.findIndex(part => whole.has(part))
    const isRead = star || parts.slice(0, upTo < 0 ? parts.length : upTo + 1).every(part => all.has(part))
    if (isRead) bytes += size
  }
  return bytes
}
