/**
 * The logical size of columns, which is what BigQuery counts and bills, however few bytes they take when stored
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types, "Data type sizes").
 */
import type { DuckDBConnection } from '@duckdb/node-api'
import { quoteName, quoteText } from '../../../shared/engines/duckdb/syntax.ts'
import type { Column, ScalarName, SqlType } from '../../../shared/sql/types.ts'

/** DuckDB SQL for the size of a value that is not NULL; a NULL has none. */
const sizes: Partial<Record<ScalarName, (value: string) => string>> = {
  BIGNUMERIC: () => '32',
  BOOL: () => '1',
  BYTES: value => `2 + octet_length(${value})`,
  INTERVAL: () => '16',
  JSON: value => `strlen(CAST(${value} AS VARCHAR))`,
  NUMERIC: () => '16',
  STRING: value => `2 + strlen(${value})`,
}
const otherSizes = () => '8'

/** Rows of a file that are measured; of a larger one every second, third, ... stands for those behind it. */
const mostRows = 20_000

/** Rows of a file: those from one on, up to the next block's. */
interface Rows {
  from: number
  count: number
}

/**
 * @param paths names of columns, followed by those of their fields
 * @returns for each path, joined by dots, its size in each block
 */
export async function sizesOf(
  connection: DuckDBConnection,
  file: string,
  { columns, paths, blocks }: { columns: Column[]; paths: string[][]; blocks: Rows[] },
): Promise<Map<string, number[]>> {
  if (paths.length === 0) return new Map()
  const step = Math.ceil(blocks.reduce((rows, { count }) => rows + count, 0) / mostRows) || 1
  const sums = paths.map(path => `coalesce(sum(${sizeOf(path, columns)}), 0)::DOUBLE / count(*)`)
  const ends = blocks.slice(1).map(({ from }, at) => `WHEN file_row_number < ${from} THEN ${at}`)
  const block = ends.length > 0 ? `CASE ${ends.join(' ')} ELSE ${ends.length} END` : '0'
  const sql = `SELECT ${block} AS block, ${sums.join(', ')}
    FROM read_parquet(${quoteText(file)}, file_row_number = true) WHERE file_row_number % ${step} = 0 GROUP BY block`
  const rows = (await connection.runAndReadAll(sql)).getRows() as [number, ...number[]][]
  const means = new Map(rows.map(([at, ...found]) => [at, found]))
  return new Map(
    paths.map((path, i) => [
      path.join('.'),
      blocks.map(({ count }, at) => Math.round((means.get(at)?.[i] ?? 0) * count)),
    ]),
  )
}

function sizeOf([name, ...fields]: string[], columns: Column[]): string {
  const { type } = columns.find(column => column.name === name)!
  return sizeIn(type, quoteName(name!), fields)
}

/** An array has the size of its elements, a record that of its fields. */
function sizeIn(type: SqlType, value: string, fields: string[], depth = 0): string {
  if (type.kind === 'ARRAY') {
    const element = `x${depth}`
    const each = `lambda ${element}: ${sizeIn(type.element, element, fields, depth + 1)}`
    return `coalesce(list_sum(list_transform(${value}, ${each})), 0)`
  }
  if (type.kind === 'STRUCT') {
    const [name, ...rest] = fields
    const field = type.fields.find(one => one.name === name)!
    return sizeIn(field.type, `${value}.${quoteName(name!)}`, rest, depth)
  }
  return `CASE WHEN ${value} IS NULL THEN 0 ELSE ${(sizes[type.kind] ?? otherSizes)(value)} END`
}
