/**
 * A page of an endpoint's rows as a statement: the endpoint's own query, on whose tree the order gets a tie-breaker, the final
 * selection a condition for the rows behind a position, and the LIMIT one row more, which tells whether others follow.
 */
import { LRUCache } from 'lru-cache'
import { type Endpoint, pageBindings, type Paging } from '../endpoints/definition.ts'
import { fromMicros } from '../endpoints/timestamps.ts'
import type { Binding, Statement } from '../engines/engine.ts'
import { nameOfColumn, sameName } from '../sql/columns.ts'
import { refusing } from '../sql/error.ts'
import { isDescending } from '../sql/newest-rows.ts'
import { Lineage, resolvedAlone } from '../sql/tables.ts'
import { parse } from '../sql/parser.ts'
import { print } from '../sql/printer.ts'
import type { Path, Query, Select } from '../sql/tree.ts'

/** A row's position in the order of its endpoint: its time in microseconds since 1970, and its tie-breaker. */
export interface Position {
  time: string
  tie: string
}

/** The rows behind a position: `next` = older, newest first; `follow` = newer, oldest first. */
export interface PageStart {
  direction: 'next' | 'follow'
  after: Position
}

/** An endpoint with pages. */
type Paged = Pick<Endpoint, 'sql' | 'version'> & { page: Paging }

/** @param place `null` = the first page */
export function pageStatement(
  endpoint: Paged & Pick<Endpoint, 'newestFirst'>,
  bindings: Binding[],
  place: PageStart | null,
): Statement {
  const { first, next, follow } = textsOf(endpoint)
  if (!place) return { sql: first, bindings }
  const [time, tie] = pageBindings
  const { after, direction } = place
  return {
    sql: { next, follow }[direction],
    bindings: [
      ...bindings.map(binding => narrow(binding, endpoint.newestFirst, place)),
      { name: time, type: { kind: 'TIMESTAMP' }, value: fromMicros(BigInt(after.time)) },
      { name: tie, type: { kind: 'STRING' }, value: after.tie },
    ],
  }
}

/** The endpoint's own bounds, by which BigQuery leaves out partitions, never go beyond the position. */
function narrow(binding: Binding, bounds: Endpoint['newestFirst'], { direction, after }: PageStart): Binding {
  const isNext = direction === 'next'
  if (binding.name !== (isNext ? bounds?.end : bounds?.start)) return binding
  // The lower bound is exclusive, and rows of the very moment may follow.
  const time = fromMicros(BigInt(after.time) - (isNext ? 0n : 1n))
  const own = binding.value as string | null
  if (own === null || time === null) return { ...binding, value: own ?? time }
  const isCloser = isNext ? time < own : time > own
  return isCloser ? { ...binding, value: time } : binding
}

/** SQL of the first page and of those behind a position, and the rows of a page as the query's LIMIT says. */
interface Texts extends Record<'first' | PageStart['direction'], string> {
  rows: number
}

/** By the endpoint's version, which is looked up on every call, hits of the cache among them: its SQL may be long. */
const texts = new LRUCache<string, Texts, Paged>({
  max: 200,
  memoMethod: (_version, _, { context: { sql, page } }) => ({
    first: printPage(sql, page, null),
    next: printPage(sql, page, 'next'),
    follow: printPage(sql, page, 'follow'),
    rows: pagedSelection(sql, parse(sql), page).rows,
  }),
})

function textsOf(endpoint: Paged): Texts {
  return texts.memo(endpoint.version, { context: endpoint })
}

/** Rows of a page, as the query's LIMIT says. */
export function pageRows(endpoint: Paged): number {
  return textsOf(endpoint).rows
}

function printPage(sql: string, page: Paging, direction: PageStart['direction'] | null): string {
  const tree = parse(sql)
  const { query, select, rows, time, tie } = pagedSelection(sql, tree, page)
  const order = page.by.map(name => `\`${name}\` ${direction === 'follow' ? 'ASC' : 'DESC'}`)
  const sign = direction === 'follow' ? '>' : '<'
  // The first part lets an engine leave out rows before the position. NULL comes last in a moment, as the least text does.
  const behind = `${time} ${sign}= @page_time AND (${time} ${sign} @page_time OR IFNULL(${tie}, '') ${sign} @page_tie)`
  const tail = parse(`SELECT 1 FROM t WHERE ${behind} ORDER BY ${order.join(', ')} LIMIT ${rows + 1}`)
  query.orderBy = tail.orderBy
  query.limit = tail.limit
  const { where } = tail.body as Select
  if (direction)
    select.where = select.where
      ? { kind: 'Binary', operator: 'AND', left: select.where, right: where!, at: 0 }
      : where
  return print(tree)
}

interface PagedSelection {
  query: Query
  select: Select
  rows: number
  /** The columns of FROM that the order is by, as SQL. */
  time: string
  tie: string
}

/**
 * The final selection of a query that can be read in pages.
 * @throws SqlError, at the place, for a query of another shape
 */
export function pagedSelection(sql: string, tree: Query, { by }: Paging): PagedSelection {
  const refuse = refusing(sql)
  let query = tree
  while (
    query.body.kind === 'QueryInParentheses' &&
    query.orderBy.length === 0 &&
    !query.limit &&
    !query.offset
  )
    query = query.body.query
  const { body, limit, offset, orderBy } = query
  if (body.kind !== 'Select' || !body.from)
    throw refuse(body, 'pages need a final selection that is one SELECT from a table')
  if (body.distinct || body.groupBy || body.having || body.qualify || body.as)
    throw refuse(body, 'pages need a final selection without DISTINCT, GROUP BY, HAVING and QUALIFY')
  if (limit?.kind !== 'Literal' || offset)
    throw refuse(body, 'pages need a final LIMIT that is a number, the rows of a page, and no OFFSET')
  const columns = by.map(name => {
    const column = findColumn(body, name)
    if (column) return column
    throw refuse(body, `pages need ${name} among the selected columns, as a plain column`)
  })
  const lineage = new Lineage(resolvedAlone(tree))
  const isSorted = orderBy.every(
    (item, at) => isDescending(item) && columns[at] && lineage.isSame(columns[at], item.expression),
  )
  if (orderBy.length === 0 || !isSorted)
    throw refuse(orderBy[0] ?? body, `pages need ORDER BY ${by[0]} DESC; ${by[1]} DESC is added to it`)
  const [time = '', tie = ''] = columns.map(({ parts }) => parts.map(({ name }) => `\`${name}\``).join('.'))
  return { query, select: body, rows: Number(limit.text), time, tie }
}

function findColumn(select: Select, name: string): Path | null {
  for (const item of select.items) {
    if (item.kind !== 'SelectColumn' || item.expression.kind !== 'Path') continue
    if (sameName(nameOfColumn(item), name)) return item.expression
  }
  return null
}
