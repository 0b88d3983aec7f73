/**
 * One query for many sets of parameters, made of the query for one.
 *
 * The sets are a relation, `batch__sets`: a number for each set, and its parameters. What depends on a parameter carries the
 * number as its last column, `batch__set`; what depends on none stays as it is, and is computed once.
 * - A SELECT reads the sets beside its tables. `@name` is a column of the set; tables that carry the number are joined by it.
 * - GROUP BY, PARTITION BY, DISTINCT and set operations have the number among their keys. LIMIT is a ROW_NUMBER of each set.
 * - An aggregate of all rows is one of each set; a set without rows gets what the aggregates are of none.
 * - A subquery of tables in an expression is a table of its own, of which the rows of the set are read.
 * - A comparison with a parameter is a condition of the join. Where few values of the parameter are in use, rows are first
 *   filtered by all of them, which engines can prune partitions by.
 * - Any other condition on columns and parameters, such as a pattern, is asked once for each set and the distinct values of
 *   its columns (`matches.ts`), and not for each row.
 * Rows of one set come in the order of the query. What no rule covers is refused at its place.
 */
import { placeOf, SqlError } from '../error.ts'
import { statementLimits } from '../limits.ts'
import { parse } from '../parser.ts'
import { print } from '../printer.ts'
import { nameKey } from '../relations.ts'
import type { Catalog } from '../resolve/resolution.ts'
import { resolve } from '../resolve/resolve.ts'
import { firm, type Type, typeName } from '../resolve/types.ts'
import type * as ast from '../tree.ts'
import { wholeQuery } from './queries.ts'
import { fewParameter, prefix, type Sets, setsParameter, typeOfSet } from './sets.ts'

/**
 * The query that answers many sets of parameters, given as `@sets`, and few of them as `@few_sets`: rows as `sql` gives them for each, and behind them
 * the number of the set, those of one set in order.
 * @param catalog the tables
 * @throws SqlError, at the place, for a query of a shape that is not covered
 */
export function batchOf(sql: string, catalog: Omit<Catalog, 'parameters'>, sets: Sets): string {
  const tree = parse(sql, statementLimits)
  const parameters = new Map(sets.parameters.map(({ name, type }) => [nameKey(name), type]))
  const resolution = resolve(sql, tree, { ...catalog, parameters })
  if (resolution.problem) throw resolution.problem
  const refuse = (node: ast.Node, why: string) => new SqlError(why, placeOf(sql, node.at))
  refuseNames(tree, refuse)
  const text = print(wholeQuery(tree, { resolution, sets, refuse }))
  const wrong = faultOf(text, resolution.rows.get(tree)!.columns, { ...catalog, parameters: withSets(sets) })
  if (wrong !== null) throw refuse(tree, wrong)
  return text
}

function refuseNames(tree: ast.Query, refuse: (node: ast.Node, why: string) => SqlError): void {
  const names = JSON.stringify(tree, (key, value: unknown) =>
    key === 'value' || key === 'text' ? undefined : value,
  )
  if (names.toLowerCase().includes(`"${prefix}`))
    throw refuse(tree, `names that begin with ${prefix} are the batch's own`)
}

function withSets({ parameters }: Sets): Catalog['parameters'] {
  const type = { kind: 'ARRAY', element: typeOfSet(parameters) } as const
  return new Map([setsParameter, fewParameter].map(name => [name, type]))
}

/** A literal may lose its type on the way: what has been made gives the same columns, or is not used. */
function faultOf(text: string, wanted: readonly Shown[], catalog: Catalog): string | null {
  const tree = parse(text, statementLimits)
  const { problem, rows } = resolve(text, tree, catalog)
  if (problem) return `as a batch it would not be valid: ${problem.message}`
  const own = rows.get(tree)!
  const shown = (columns: readonly Shown[]) =>
    columns.map(({ name, type }) => `${name ?? ''} ${typeName(firm(type))}`).join(', ')
  const found = shown(own.columns.slice(0, -1))
  return own.open !== null || found === shown(wanted)
    ? null
    : `as a batch its columns would be ${found}, and are ${shown(wanted)}`
}

interface Shown {
  name: string | null
  type: Type | null
}
