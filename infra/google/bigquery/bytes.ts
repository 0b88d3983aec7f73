/**
 * The bytes that a statement reads, as BigQuery counts them
 * (https://cloud.google.com/bigquery/docs/best-practices-costs): of the columns that it names alone, and of the partitions and
 * the sorted blocks that its bounds on the time leave. Here a block is a row group of a Parquet file, with the first and last
 * time in it.
 */
import { statSync } from 'node:fs'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'
import type { QueryEngine, Statement, Value } from '../../../shared/engines/engine.ts'
import { nameOf } from '../../../shared/engines/bigquery/statement.ts'
import type { PartitionUnit } from '../../../shared/engines/bigquery/views.ts'
import { quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import { intervalParts } from '../../../shared/sql/grammar.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { print } from '../../../shared/sql/printer.ts'
import { nameKey, tablesOf } from '../../../shared/sql/relations.ts'
import type { AnyNode, Binary, Expression, Query, Select } from '../../../shared/sql/tree.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { children, descendants } from '../../../shared/sql/walk.ts'
import { sizesOf } from './sizes.ts'

/** A table of the server, as its files are. */
interface Table {
  logical: string
  columns: Column[]
  /** Absolute paths of its files at the moment. */
  files: () => string[]
  /** The column that its partitions and blocks are by, and how long a partition is; `null` = it has none. */
  time: string | null
  unit: PartitionUnit | null
}

interface Block {
  /** Rows of the file before its own, and how many it has. */
  from: number
  count: number
  /** Milliseconds since 1970 of its first and last row. */
  first: number
  last: number
}

interface FileBlocks {
  blocks: Block[]
  /** Sizes of a column, by path such as `metadata.request.url`, in each block: as far as they were asked for. */
  sizes: Map<string, number[]>
}

const unitMs: Record<PartitionUnit, number> = {
  HOUR: 3_600_000,
  DAY: 86_400_000,
  MONTH: 30 * 86_400_000,
  YEAR: 365 * 86_400_000,
}

/** What it reads of a file counts until the file changes. `bytesOf` throws SqlError. */
export class Scans {
  private readonly engine: QueryEngine
  private readonly known = new Map<string, FileBlocks>()
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
    const named = namesIn(tree)
    let bytes = 0
    for (const table of tables)
      for (const select of readings(tree, table.logical)) {
        const bounds = await this.boundsOf(select, table.time, statement)
        for (const file of table.files()) bytes += await this.bytesOfFile(file, table, named, bounds)
      }
    return Math.round(bytes)
  }

  private async bytesOfFile(
    file: string,
    { columns, time, unit }: Table,
    named: Names,
    bounds: Bounds,
  ): Promise<number> {
    const known = await this.fileBlocks(file, time)
    const paths = pathsOf(columns).filter(path => isRead(path, named))
    const missing = paths.filter(path => !known.sizes.has(path.join('.')))
    const { blocks } = known
    const sizes = await sizesOf(await this.reader, file, { columns, paths: missing, blocks })
    for (const [path, ofBlocks] of sizes) known.sizes.set(path, ofBlocks)
    const read = blocks.map(block => shareOf(block, bounds, unit))
    const ofPath = (path: string[]) => known.sizes.get(path.join('.'))!
    return paths.flatMap(path => ofPath(path).map((size, at) => size * read[at]!)).reduce((a, b) => a + b, 0)
  }

  /** The bounds that hold for every row of the result: milliseconds since 1970. */
  private async boundsOf(select: Select, time: string | null, { bindings }: Statement): Promise<Bounds> {
    let [from, to] = [-Infinity, Infinity]
    if (time === null) return [from, to]
    for (const { operator, right } of boundsIn(select.where, time)) {
      const sql = `SELECT ${expressionText(right)} AS bound`
      const { rows } = await this.engine.run({ sql, bindings }, { maxRows: 1, timeoutMs: 10_000 })
      const bound = millisecondsOf(rows[0]!['bound']!)
      if (operator.startsWith('>')) from = Math.max(from, bound)
      else to = Math.min(to, bound)
    }
    return [from, to]
  }

  private async fileBlocks(file: string, time: string | null): Promise<FileBlocks> {
    const { mtimeMs, size, ino } = statSync(file)
    const key = [file, mtimeMs, size, ino].join(' ')
    const known = this.known.get(key) ?? {
      blocks: await readBlocks(await this.reader, file, time),
      sizes: new Map(),
    }
    this.known.set(key, known)
    return known
  }
}

async function readBlocks(reader: DuckDBConnection, file: string, time: string | null): Promise<Block[]> {
  const sql = `SELECT row_group_id, first(row_group_num_rows),
      first(stats_min_value) FILTER (path_in_schema = ${quoteText(time ?? '')}),
      first(stats_max_value) FILTER (path_in_schema = ${quoteText(time ?? '')})
    FROM parquet_metadata(${quoteText(file)}) GROUP BY row_group_id ORDER BY row_group_id`
  let from = 0
  return (await reader.runAndReadAll(sql)).getRows().map(row => {
    const [, rows, least, most] = row as [bigint, bigint, string | null, string | null]
    const count = Number(rows)
    const block = {
      from,
      count,
      first: least === null ? -Infinity : Date.parse(least),
      last: most === null ? Infinity : Date.parse(most),
    }
    from += count
    return block
  })
}

/** Milliseconds since 1970. */
type Bounds = [from: number, to: number]

/**
 * The part of a block that is read: all of it, as far as its rows are of partitions within the bounds. BigQuery's blocks are
 * of one partition; one of a small file may be of many, whose rows are taken to be alike.
 */
function shareOf({ first, last }: Block, [from, to]: Bounds, unit: PartitionUnit | null): number {
  if (last < from || first > to) return 0
  if (unit === null || !Number.isFinite(first + last)) return 1
  const ms = unitMs[unit]
  const partitions = (a: number, b: number) => Math.floor(b / ms) - Math.floor(a / ms) + 1
  return partitions(Math.max(first, from), Math.min(last, to)) / partitions(first, last)
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

/** Every column, and field of a record, that has values of its own. */
function pathsOf(columns: Column[]): string[][] {
  return columns.flatMap(({ name, type }) => {
    const element = type.kind === 'ARRAY' ? type.element : type
    if (element.kind !== 'STRUCT') return [[name]]
    const fields = element.fields.map(field => ({ name: field.name!, type: field.type }))
    return pathsOf(fields).map(path => [name, ...path])
  })
}

/** Of a column that is named: each part of its path, or one that is named as a whole. */
function isRead(path: string[], { all, whole, star }: Names): boolean {
  const parts = path.map(nameKey)
  const upTo = parts.findIndex(part => whole.has(part))
  return star || parts.slice(0, upTo < 0 ? parts.length : upTo + 1).every(part => all.has(part))
}
