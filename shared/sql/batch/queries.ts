/** Whole queries: WITH, set operations, and the numbers of sets that their rows carry. */
import type { SqlError } from '../error.ts'
import { inReadingOrder, nameKey, readsItself } from '../relations.ts'
import type { Resolution } from '../resolve/resolution.ts'
import type * as ast from '../tree.ts'
import { descendants } from '../walk.ts'
import { type Batch, depends, type Sight } from './context.ts'
import * as make from './nodes.ts'
import { limited, outputKeys } from './order.ts'
import { selected } from './select.ts'
import { numberItem, prefix, setColumn, type Sets, setsInFrom, tableOfSets } from './sets.ts'

/** The whole query, for all sets. @throws what `refuse` gives */
export function wholeQuery(
  tree: ast.Query,
  shared: { resolution: Resolution; sets: Sets; refuse: (node: ast.Node, why: string) => SqlError },
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
      const main = ordered(batch, node, inside, isOrdered)
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
function ordered(batch: Batch, node: ast.Query, sight: Sight, isOrdered: boolean): ast.Query {
  const { orderBy, limit } = node
  if (node.body.kind === 'Select') {
    const made = selected(batch, node.body, { sight, orderBy, isInside: limit !== null })
    if (limit) return limited(batch, node, make.queryOf(made.select), made.orderBy)
    return make.queryOf(made.select, { orderBy: isOrdered ? made.orderBy : [] })
  }
  const isBare = orderBy.length === 0 && !limit
  const inner = make.queryOf(bodyOf(batch, node.body, sight, isOrdered && isBare))
  if (limit) return limited(batch, node, inner, outputKeys(batch, node))
  const key = orderBy.find(each => depends(batch, each, sight))
  if (key) throw batch.refuse(key, 'a parameter in ORDER BY after a set operation')
  return { ...inner, orderBy: isOrdered ? orderBy : [] }
}

function bodyOf(batch: Batch, body: ast.QueryBody, sight: Sight, isOrdered = false): ast.QueryBody {
  if (!isOrdered && !depends(batch, body, sight) && !isPlain(body)) return besideSets(body)
  if (body.kind === 'QueryInParentheses') return { ...body, query: batch.query(body.query, sight, isOrdered) }
  if (body.kind === 'Select') return selected(batch, body, { sight }).select
  const on = body.byName && body.byName.on.length > 0 ? [...body.byName.on, make.name(setColumn)] : []
  const [left, right] = [bodyOf(batch, body.left, sight), bodyOf(batch, body.right, sight)]
  return { ...body, byName: body.byName && { ...body.byName, on }, left, right }
}

/** Rows that are the same for every set, beside each. */
function besideSets(body: ast.QueryBody): ast.QueryBody {
  const from = make.join('CROSS', setsInFrom(), make.derived(make.queryOf(body), `${prefix}d`))
  return make.select([make.star(`${prefix}d`), numberItem()], from)
}

/** A SELECT that is no work but to give its rows. */
function isPlain(body: ast.QueryBody): boolean {
  if (body.kind !== 'Select' || body.distinct || body.groupBy) return false
  return ![...descendants(body)].some(({ kind }) => kind === 'Call' || kind === 'Query')
}
