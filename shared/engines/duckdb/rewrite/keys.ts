/**
 * What may be compared: the types of groups, of partitions and of orders, which DuckDB does not restrict
 * (https://cloud.google.com/bigquery/docs/reference/standard-sql/data-types, "Data type properties").
 */
import type { Node } from '../../../sql/tree.ts'
import type { SqlType } from '../../../sql/types.ts'
import { briefTypeName } from '../../../sql/resolve/types.ts'
import type { Context, Typed } from './context.ts'
import { textOfJson } from '../../../sql/resolve/no-signature.ts'

/** A use of a key, with the words of BigQuery's errors. */
type Use = 'GROUP BY' | 'SELECT DISTINCT' | 'PARTITION BY' | 'ORDER BY' | 'A set operation' | 'DISTINCT'

/** The value as a key. Throws SqlError for one of a type that has no such use. */
export function key(context: Context, node: Node, use: Use, value: Typed): Typed {
  const allowed = use === 'ORDER BY' ? orderable(value.type) : groupable(value.type)
  if (allowed && !(use === 'PARTITION BY' && value.type?.kind === 'FLOAT64')) return value
  const remedy = value.type?.kind === 'JSON' ? `; ${textOfJson}` : ''
  const type = briefTypeName(value.type)
  throw context.invalid(node, `${use} does not support expressions of type ${type}${remedy}`)
}

/** Whether equal values are told from others, as groups are. */
function groupable(type: SqlType | null): boolean {
  if (type?.kind === 'ARRAY') return groupable(type.element)
  if (type?.kind === 'STRUCT') return type.fields.every(field => groupable(field.type))
  return type?.kind !== 'JSON'
}

/** Whether values have an order. */
export function orderable(type: SqlType | null): boolean {
  return type === null || !['ARRAY', 'JSON', 'STRUCT'].includes(type.kind)
}
