/** A query as of an earlier time: what its rows were then, from the rows that the log tables have now. */
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import { statementLimits } from '../../../shared/sql/limits.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { print } from '../../../shared/sql/printer.ts'
import { tablesOf } from '../../../shared/sql/relations.ts'
import type { AnyNode, TableReference, TypedLiteral } from '../../../shared/sql/tree.ts'

/**
 * The query with `time` for CURRENT_TIMESTAMP().
 * @param time a TIMESTAMP literal's text
 * @param before the log tables' rows before that time alone, by this column; `null` = all rows
 */
export function asOf(sql: string, time: string, before: string | null): string {
  const tree = withTime(parse(sql, statementLimits), time)
  const tables = new Set(before === null ? [] : tablesOf(tree))
  const table = (reference: TableReference) =>
    tables.has(reference)
      ? `(SELECT * FROM \`${reference.path.map(part => part.name).join('.')}\` WHERE \`${before}\` < TIMESTAMP '${time}')`
      : null
  return print(tree, { table })
}

/** The tree with a literal in the place of each CURRENT_TIMESTAMP(). */
function withTime<Node extends AnyNode>(node: Node, time: string): Node {
  const copy = Object.entries(node).map(([field, value]) => [field, replaced(value, time)] as const)
  return Object.fromEntries(copy) as unknown as Node
}

function replaced(value: unknown, time: string): unknown {
  if (Array.isArray(value)) return value.map(item => replaced(item, time))
  if (typeof value !== 'object' || value === null || !('kind' in value)) return value
  return isNow(value as AnyNode) ? literal((value as AnyNode).at, time) : withTime(value as AnyNode, time)
}

function isNow(node: AnyNode): boolean {
  return (
    node.kind === 'Call' && node.name.map(part => part.name.toUpperCase()).join('.') === 'CURRENT_TIMESTAMP'
  )
}

function literal(at: number, time: string): TypedLiteral {
  const text = `'${time}'`
  return {
    kind: 'TypedLiteral',
    at,
    type: 'TIMESTAMP',
    value: { kind: 'Literal', at, literal: 'STRING', text, value: time },
  }
}

/** The last whole minute by the engine's clock, as a TIMESTAMP literal's text. */
export async function lastMinute(engine: QueryEngine): Promise<string> {
  const sql = 'SELECT TIMESTAMP_TRUNC(CURRENT_TIMESTAMP(), MINUTE) AS minute'
  const { rows } = await engine.run({ sql, bindings: [] }, { maxRows: 1, timeoutMs: 30_000 })
  return new Date(Number(rows[0]!['minute']) / 1000).toISOString()
}
