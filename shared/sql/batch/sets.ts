/** The relation of the sets: its names, what a service tells of it, and expressions that depend on the set. */
import * as make from '../nodes.ts'
import type { Refuse } from '../error.ts'
import { inReadingOrder, nameKey } from '../relations.ts'
import type { Resolution } from '../resolve/resolution.ts'
import type * as ast from '../tree.ts'
import type { Column, StructType } from '../types.ts'
import { children, descendants, parameterNames } from '../walk.ts'
import { isKnown, type Type } from '../resolve/types.ts'

/** All names that a batch makes begin so. */
export const prefix = 'batch__'
/** The number of a set, in what `@sets` holds and in the rows of the batch. */
export const setColumn = `${prefix}set`
/** The array of structs that a batch takes: all sets. */
export const setsParameter = 'sets'
/** A second one, of few of them, by which rows are bounded before they are read. */
export const fewParameter = 'few_sets'

/** The name of a parameter in what `@sets` holds. */
export function fieldOf(parameter: string): string {
  return `${prefix}p_${nameKey(parameter)}`
}

/** An element of `@sets` and `@few_sets`. */
export function typeOfSet(parameters: Column[]): StructType {
  const fields = parameters.map(({ name, type }) => ({ name: fieldOf(name), type }))
  return { kind: 'STRUCT', fields: [{ name: setColumn, type: { kind: 'INT64' } }, ...fields] }
}

/** What is known of the sets. */
export interface Sets {
  parameters: Column[]
  /**
   * Places in `@few_sets` of sets that have, together, all values of these parameters that are in use; `null` where there are too many.
   * @param ends whether the least and the greatest value of the only parameter will do
   */
  representatives(parameters: string[], ends: boolean): number[] | null
}

/** The common table of the sets. */
export function tableOfSets({ parameters }: Sets): ast.CommonTable {
  const fields = typeOfSet(parameters).fields.map(({ name }) => make.item(make.path('s', name!), null))
  const array = { kind: 'ParameterReference', name: setsParameter, at: 0 } as const
  const unnest = { kind: 'UnnestReference', array, alias: make.name('s'), offset: null, at: 0 } as const
  return make.common(`${prefix}sets`, make.queryOf(make.select(fields, unnest)))
}

/** The sets in FROM, by the name that every SELECT which reads them has for them. */
export function setsInFrom(): ast.TableReference {
  return make.table(`${prefix}sets`, `${prefix}s`)
}

export function columnOfSet(column: string): ast.Path {
  return make.path(`${prefix}s`, column)
}

/** The last column of what depends on a set. */
export function numberItem(): ast.SelectColumn {
  return make.item(columnOfSet(setColumn), setColumn)
}

/** The names of the parameters that these nodes hold, each once. */
export function parametersIn(...nodes: ast.AnyNode[]): string[] {
  const names = nodes.flatMap(node => [...parameterNames(node)].map(([name]) => nameKey(name)))
  return [...new Set(names)]
}

export interface Batch {
  resolution: Resolution
  sets: Sets
  refuse: Refuse
  /** A name that nothing else has. */
  newName(what: string): string
  /** Adds a common table to the query that is being read. */
  addTable(name: string, query: ast.Query): void
  /** A query that depends on the set, with its number. @param isOrdered whether the order of its rows counts */
  query(node: ast.Query, sight: Sight, isOrdered: boolean): ast.Query
}

/** For the names of common tables in sight, whether they carry the number of a set. */
export type Sight = ReadonlyMap<string, boolean>

/** A SELECT that expressions stand in. */
export interface Here {
  batch: Batch
  sight: Sight
  /** Items of its FROM that carry the number of the set. */
  carrying: ReadonlySet<ast.From>
  /** Where its columns are read elsewhere: by the places of their names. */
  columns: ReadonlyMap<ast.Path, ast.Path> | null
  /** A replacement for a node, which comes first; `null` = the default. */
  instead?: (node: ast.AnyNode) => ast.AnyNode | null
}

/** Whether the rows of a node depend on the set. */
export function depends(batch: Batch, node: ast.AnyNode, sight: Sight): boolean {
  if (node.kind === 'ParameterReference') return true
  if (node.kind === 'TableReference') return carries(batch, node, sight)
  if (node.kind !== 'Query' || !node.with) return children(node).some(child => depends(batch, child, sight))
  const inside = new Map(sight)
  const common = inReadingOrder(node.with).map(({ name, query }) => {
    inside.set(nameKey(name.name), depends(batch, query, inside))
    return inside.get(nameKey(name.name))!
  })
  return common.includes(true) || depends(batch, { ...node, with: null }, inside)
}

/** Whether it is a common table that has the number of a set. */
function carries({ resolution }: Batch, node: ast.TableReference, sight: Sight): boolean {
  return resolution.tables.get(node) === 'common' && sight.get(nameKey(node.path[0]!.name)) === true
}

/** An expression, or a clause of them, that is asked of one set. */
export function inExpression<Kind extends ast.AnyNode>(node: Kind, here: Here): Kind {
  const { batch, columns } = here
  const instead = (part: ast.AnyNode): ast.AnyNode | null => {
    const own = here.instead?.(part)
    if (own) return own
    refuseConstant(batch, part)
    const { coercions, paths } = batch.resolution
    if (part.kind === 'ParameterReference')
      return castTo(columnOfSet(fieldOf(part.name)), coercions.get(part))
    if (part.kind === 'SelectStar')
      return withoutSets(part, here, { ...make.copiedParts({ ...part, of: null }, instead), of: part.of })
    if (part.kind === 'Query') return subquery(part, here)
    if (part.kind === 'ArraySubquery' && part.query.orderBy.length > 0 && readsTables(batch, part.query))
      throw batch.refuse(part, 'an ARRAY subquery of tables in an order')
    if (part.kind === 'Path') {
      const of = paths.get(part)
      if (of && !of.column && of.variable?.node && here.carrying.has(of.variable.node))
        throw batch.refuse(part, 'the whole row of a table that depends on a parameter')
      return columns?.get(part) ? make.copy(columns.get(part)!, () => null) : null
    }
    if (part.kind === 'Window' && !part.base) {
      const window = make.copiedParts(part, instead)
      return { ...window, partitionBy: [...window.partitionBy, columnOfSet(setColumn)] }
    }
    const type = coercions.get(part as ast.Expression)
    if (!type || parametersIn(part).length === 0) return null
    return castTo(make.copiedParts(part as ast.Expression, instead), type)
  }
  return make.copy(node, instead)
}

/** A cast to the type to which GoogleSQL coerces a parameter: a column of text would not be coerced. */
export function castTo(value: ast.Expression, type: Type | undefined): ast.Expression {
  return type && isKnown(type) && type.kind !== 'STRUCT' ? make.cast(value, type) : value
}

/** Without the columns of the sets, and the number that a table carries. */
function withoutSets(star: ast.SelectStar, { batch, carrying }: Here, copy: ast.SelectStar): ast.SelectStar {
  if (star.rename.length > 0) throw batch.refuse(star, 'RENAME')
  const shown = batch.resolution.stars.get(star) ?? []
  const carries = shown.some(({ variable }) => variable?.node && carrying.has(variable.node))
  const fields = typeOfSet(batch.sets.parameters).fields.map(({ name }) => name!)
  const except = star.of === null ? fields : carries ? [setColumn] : []
  return { ...copy, except: [...copy.except, ...except.map(make.name)] }
}

/**
 * One that reads arrays of the row is asked of the row and its set. One that reads tables becomes a table with the number of the set,
 * of which the rows of this set are read; were it to name columns of the query around, it would not be valid there.
 */
function subquery(query: ast.Query, here: Here): ast.Query {
  const { batch, sight } = here
  if (readsTables(batch, query) && depends(batch, query, sight)) {
    const table = batch.newName('q')
    batch.addTable(table, batch.query(query, sight, false))
    const where = make.binary('=', make.path(table, setColumn), columnOfSet(setColumn))
    return make.queryOf(make.select([make.star(null, [setColumn])], make.table(table, null), { where }))
  }
  const inside = (part: ast.AnyNode): ast.AnyNode | null => {
    if (part.kind === 'Window') return make.copiedParts(part, inside)
    if (part.kind === 'Query') return make.copiedParts(part, inside)
    const columns = part.kind === 'SelectStar' || part.kind === 'Path' || part.kind === 'ParameterReference'
    if (columns) return inExpression(part, here)
    refuseConstant(batch, part)
    return null
  }
  return make.copy(query, inside)
}

function readsTables({ resolution }: Batch, query: ast.Query): boolean {
  return [...descendants(query)].some(
    part => part.kind === 'TableReference' && resolution.tables.get(part) !== 'array',
  )
}

/** Places of arguments that BigQuery takes constants and parameters for, from the first on. */
const constants: Record<string, number> = {
  APPROX_QUANTILES: 1,
  APPROX_TOP_COUNT: 1,
  APPROX_TOP_SUM: 2,
  LAG: 1,
  LEAD: 1,
  NTH_VALUE: 1,
  NTILE: 0,
  PERCENTILE_CONT: 1,
  PERCENTILE_DISC: 1,
  STRING_AGG: 1,
}

function refuseConstant({ refuse }: Batch, node: ast.AnyNode): void {
  const parts = constantsOf(node)
  if (parts.some(part => parametersIn(part).length > 0))
    throw refuse(node, 'a parameter where a constant has to be')
}

function constantsOf(node: ast.AnyNode): ast.AnyNode[] {
  if (node.kind === 'FrameBound') return node.count ? [node.count] : []
  if (node.kind === 'Cast') return [node.format, node.zone].filter(part => part !== null)
  if (node.kind === 'Query') return [node.limit, node.offset].filter(part => part !== null)
  if (node.kind !== 'Call') return []
  const name = node.name.at(-1)!.name.toUpperCase()
  const first = name.startsWith('JSON_') ? 1 : (constants[name] ?? Infinity)
  return [...node.arguments.slice(first), ...(node.limit ? [node.limit] : [])]
}
