/**
 * What a roll-up's query may hold: sums over groups of one log table, which an engine can keep up to date by looking at
 * new rows alone. The rules are those of BigQuery's incremental materialized views
 * (https://cloud.google.com/bigquery/docs/materialized-views-create, "Materialized views query support" and "Query
 * limitations"), and two more, because DuckDB keeps a part for each log file: each column is a group's or a sum's that adds
 * up, and there is one SELECT, without WITH and DISTINCT, which BigQuery would take.
 */
import { nameOfColumn } from '../sql/columns.ts'
import { type Refuse, refusing } from '../sql/error.ts'
import { isAggregateName } from '../sql/functions.ts'
import { parse } from '../sql/parser.ts'
import { nameKey } from '../sql/relations.ts'
import type { AnyNode, Call, Expression, From, Query, Select, SelectItem } from '../sql/tree.ts'
import { calledName, descendants } from '../sql/walk.ts'

interface RollupShape {
  /** Logical name of the log table that it is made of. */
  table: string
  columns: RollupColumn[]
}

export interface RollupColumn {
  name: string
  /** The aggregate that adds the values of parts up; `null` = the column of a group. */
  adds: string | null
}

/** How the results of an aggregate over parts make the result over all rows. AVG and its like do not add up. */
const additions: Record<string, string> = {
  BIT_AND: 'BIT_AND',
  BIT_OR: 'BIT_OR',
  BIT_XOR: 'BIT_XOR',
  COUNT: 'SUM',
  COUNTIF: 'SUM',
  LOGICAL_AND: 'LOGICAL_AND',
  LOGICAL_OR: 'LOGICAL_OR',
  MAX: 'MAX',
  MIN: 'MIN',
  SUM: 'SUM',
}

/** Two runs over the same rows differ ("Unsupported SQL features": non-deterministic functions). */
const changing = new Set(
  `CURRENT_DATE CURRENT_DATETIME CURRENT_TIME CURRENT_TIMESTAMP GENERATE_UUID RAND SESSION_USER`.split(' '),
)

/** Kinds of node that a roll-up cannot hold, wherever they stand: they are not in BigQuery's pattern, or "unsupported". */
const refusedKinds: Partial<Record<AnyNode['kind'], string>> = {
  ArraySubquery: 'a subquery',
  DerivedTable: 'a subquery',
  Exists: 'a subquery',
  InQuery: 'a subquery',
  ScalarSubquery: 'a subquery',
  ParameterReference: 'a parameter',
  Window: 'a window',
  NamedWindow: 'a window',
}

/**
 * @param sql the roll-up's GoogleSQL
 * @throws SqlError with the place of what a roll-up cannot hold
 */
export function rollupShape(sql: string): RollupShape {
  const query = parse(sql)
  const refuse = refusing(sql)
  refuseEverywhere(query, refuse)
  const select = onlySelect(query, refuse)
  const columns = select.items.map(item => columnOf(item, refuse))
  checkGroups(select, columns, refuse)
  return { table: tableIn(select, refuse), columns }
}

function refuseEverywhere(query: Query, refuse: Refuse): void {
  for (const node of descendants(query)) {
    const what = refusedKinds[node.kind] ?? (node.kind === 'Call' && node.over ? 'a window' : null)
    if (what) throw refuse(node, `a roll-up cannot hold ${what}`)
    const name = node.kind === 'Call' ? calledName(node) : ''
    if (changing.has(name)) throw refuse(node, `a roll-up cannot hold ${name}, which changes from run to run`)
  }
}

function onlySelect(query: Query, refuse: Refuse): Select {
  const { body, limit, orderBy } = query
  if (query.with) throw refuse(query.with, 'a roll-up cannot hold WITH')
  if (orderBy[0]) throw refuse(orderBy[0], 'a roll-up cannot hold ORDER BY')
  if (limit) throw refuse(limit, 'a roll-up cannot hold LIMIT')
  if (body.kind !== 'Select') throw refuse(body, 'a roll-up is one SELECT')
  if (body.having) throw refuse(body.having, 'a roll-up cannot hold HAVING: its groups change')
  if (body.qualify) throw refuse(body.qualify, 'a roll-up cannot hold QUALIFY')
  if (body.distinct || body.as) throw refuse(body, 'a roll-up cannot hold SELECT DISTINCT or SELECT AS')
  return body
}

function columnOf(item: SelectItem, refuse: Refuse): RollupColumn {
  if (item.kind !== 'SelectColumn') throw refuse(item, 'a roll-up names its columns one by one')
  const { expression } = item
  const name = nameOfColumn(item)
  if (name === null) throw refuse(item, 'a column of a roll-up needs a name: AS ...')
  const adds = expression.kind === 'Call' ? (additions[calledName(expression)] ?? null) : null
  if (adds === null) refuseAggregates(expression, refuse)
  else if ((expression as Call).distinct)
    throw refuse(expression, 'an aggregate of a roll-up cannot be DISTINCT: it does not add up')
  return { name, adds }
}

/** Refuses aggregates inside of other expressions, and those that do not add up. */
function refuseAggregates(root: Expression, refuse: Refuse): void {
  for (const node of descendants(root)) {
    const name = node.kind === 'Call' ? calledName(node) : ''
    if (additions[name]) throw refuse(node, `a roll-up cannot compute with ${name}: select it alone`)
    if (isAggregateName(name))
      throw refuse(node, `${name} does not add up; a roll-up takes ${Object.keys(additions).join(', ')}`)
  }
}

/**
 * Each column is a sum's, or one by which rows are grouped; BigQuery finds groups by names. In its pattern GROUP BY has
 * expressions, and neither ALL nor ROLLUP.
 */
function checkGroups({ groupBy, items }: Select, columns: RollupColumn[], refuse: Refuse): void {
  const groups = new Set(columns.filter(({ adds }) => adds === null).map(({ name }) => nameKey(name)))
  if (!groupBy) throw refuse(items[0]!, 'a roll-up needs GROUP BY')
  if (!columns.some(({ adds }) => adds)) throw refuse(items[0]!, 'a roll-up needs a sum, such as COUNT(*)')
  if (groupBy.grouping !== 'LIST') throw refuse(groupBy, `a roll-up cannot hold ${groupBy.grouping}`)
  for (const key of groupBy.items) {
    const name = key.kind === 'Path' && key.parts.length === 1 ? nameKey(key.parts[0]!.name) : null
    if (name === null || !groups.delete(name))
      throw refuse(key, 'a roll-up is grouped by its columns that are no sums, each by its name')
  }
  if (groups.size > 0) throw refuse(groupBy, `GROUP BY lacks ${[...groups].join(', ')}`)
}

function tableIn({ from, items }: Select, refuse: Refuse): string {
  if (!from) throw refuse(items[0]!, 'a roll-up is made of a log table')
  const arrays = new Set<string>()
  const left = (node: From): string => {
    if (node.kind === 'TableReference') return node.path.map(part => part.name).join('.')
    if (node.kind !== 'Join')
      throw refuse(node, 'a roll-up is made of one log table and UNNEST of its arrays')
    const table = left(node.left)
    const { right, type } = node
    if (right.kind !== 'UnnestReference' || right.array.kind !== 'Path')
      throw refuse(right, 'a roll-up cannot join tables: only UNNEST of an array')
    if (!['CROSS', 'COMMA', 'INNER'].includes(type)) throw refuse(right, `a roll-up cannot hold ${type} JOIN`)
    const array = nameKey(right.array.parts.map(part => part.name).join('.'))
    if (arrays.has(array)) throw refuse(right, `a roll-up cannot hold UNNEST of ${array} twice`)
    arrays.add(array)
    return table
  }
  return left(from)
}
