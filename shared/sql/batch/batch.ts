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
import * as make from '../nodes.ts'
import { limitBySet, outputKeys } from './order.ts'
import { selectOfSet } from './select.ts'
import {
  type Batch,
  depends,
  fewParameter,
  numberItem,
  prefix,
  setColumn,
  type Sets,
  setsInFrom,
  setsParameter,
  type Sight,
  tableOfSets,
  typeOfSet,
} from './sets.ts'
import { type Refuse, refusing } from '../error.ts'
import { statementLimits } from '../limits.ts'
import { parse } from '../parser.ts'
import { print } from '../printer.ts'
import { inReadingOrder, nameKey, readsItself } from '../relations.ts'
import type { Catalog, Column, Resolution } from '../resolve/resolution.ts'
import { resolve } from '../resolve/resolve.ts'
import { firm, typeName } from '../resolve/types.ts'
import type * as ast from '../tree.ts'
import { descendants } from '../walk.ts'

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
  const refuse = refusing(sql)
  refuseNames(tree, refuse)
  const text = print(wholeQuery(tree, { resolution, sets, refuse }))
  const wrong = faultOf(text, resolution.rows.get(tree)!.columns, { ...catalog, parameters: withSets(sets) })
  if (wrong !== null) throw refuse(tree, wrong)
  return text
}

function refuseNames(tree: ast.Query, refuse: Refuse): void {
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
function faultOf(text: string, wanted: readonly Column[], catalog: Catalog): string | null {
  const tree = parse(text, statementLimits)
  const { problem, rows } = resolve(text, tree, catalog)
  if (problem) return `as a batch it would not be valid: ${problem.message}`
  const own = rows.get(tree)!
  const shown = (columns: readonly Column[]) =>
    columns.map(({ name, type }) => `${name ?? ''} ${typeName(firm(type))}`).join(', ')
  const found = shown(own.columns.slice(0, -1))
  return own.open !== null || found === shown(wanted)
    ? null
    : `as a batch its columns would be ${found}, and are ${shown(wanted)}`
}

/** The whole query, for all sets. @throws what `refuse` gives */
function wholeQuery(
  tree: ast.Query,
  shared: { resolution: Resolution; sets: Sets; refuse: Refuse },
): ast.Query {
  let names = 0
  /** Common tables that a SELECT adds to the query that it stands in. */
  let added: ast.CommonTable[] = []
  const batch: Batch = {
    ...shared,
    newName: what => `${prefix}${what}${++names}`,
    addTable: (name, query) => void added.push(make.common(name, query)),
    query(node, sight, isOrdered) {
      const inside = new Map(sight)
      const around = added
      added = []
      const ctes = node.with ? commonTables(batch, node.with, inside) : []
      const main = orderedQuery(batch, node, inside, isOrdered)
      const all = [...ctes, ...added]
      added = around
      const recursive = node.with?.recursive ?? false
      return { ...main, with: all.length > 0 ? { kind: 'With', at: node.at, recursive, ctes: all } : null }
    },
  }
  const { with: common, ...query } = batch.query(tree, new Map(), true)
  const ctes = [tableOfSets(shared.sets), ...(common?.ctes ?? [])]
  return { ...query, with: { kind: 'With', at: tree.at, recursive: common?.recursive ?? false, ctes } }
}

function commonTables(batch: Batch, common: ast.With, inside: Map<string, boolean>): ast.CommonTable[] {
  return inReadingOrder(common).map(cte => {
    const isOfSet = depends(batch, cte.query, inside)
    if (isOfSet && common.recursive && readsItself(cte)) throw batch.refuse(cte, 'a table that reads itself')
    const query = isOfSet ? batch.query(cte.query, inside, false) : cte.query
    inside.set(nameKey(cte.name.name), isOfSet)
    return { ...cte, query }
  })
}

/** The body with ORDER BY and LIMIT. */
function orderedQuery(batch: Batch, node: ast.Query, sight: Sight, isOrdered: boolean): ast.Query {
  const { orderBy, limit } = node
  if (node.body.kind === 'Select') {
    const made = selectOfSet(batch, node.body, { sight, orderBy, isInside: limit !== null })
    if (limit) return limitBySet(batch, node, make.queryOf(made.select), made.orderBy)
    return make.queryOf(made.select, { orderBy: isOrdered ? made.orderBy : [] })
  }
  const isBare = orderBy.length === 0 && !limit
  const inner = make.queryOf(bodyOf(batch, node.body, sight, isOrdered && isBare))
  if (limit) return limitBySet(batch, node, inner, outputKeys(batch, node))
  const key = orderBy.find(each => depends(batch, each, sight))
  if (key) throw batch.refuse(key, 'a parameter in ORDER BY after a set operation')
  return { ...inner, orderBy: isOrdered ? orderBy : [] }
}

function bodyOf(batch: Batch, body: ast.QueryBody, sight: Sight, isOrdered = false): ast.QueryBody {
  if (!isOrdered && !depends(batch, body, sight) && !isPlain(body)) return besideSets(body)
  if (body.kind === 'QueryInParentheses') return { ...body, query: batch.query(body.query, sight, isOrdered) }
  if (body.kind === 'Select') return selectOfSet(batch, body, { sight }).select
  const on = body.byName && body.byName.on.length > 0 ? [...body.byName.on, make.name(setColumn)] : []
  const [left, right] = [bodyOf(batch, body.left, sight), bodyOf(batch, body.right, sight)]
  return { ...body, byName: body.byName && { ...body.byName, on }, left, right }
}

/** Rows that are the same for every set, beside each. */
function besideSets(body: ast.QueryBody): ast.QueryBody {
  const from = make.join('CROSS', setsInFrom(), make.derivedTable(make.queryOf(body), `${prefix}d`))
  return make.select([make.star(`${prefix}d`), numberItem()], from)
}

/** A SELECT that is no work but to give its rows. */
function isPlain(body: ast.QueryBody): boolean {
  if (body.kind !== 'Select' || body.distinct || body.groupBy) return false
  return ![...descendants(body)].some(({ kind }) => kind === 'Call' || kind === 'Query')
}
