/** Expressions of a SELECT that depends on the set. */
import type { Type } from '../resolve/types.ts'
import { isKnown } from '../resolve/types.ts'
import type * as ast from '../tree.ts'
import { descendants } from '../walk.ts'
import * as make from '../nodes.ts'
import {
  type Batch,
  columnOfSet,
  depends,
  fieldOf,
  type Here,
  parametersIn,
  setColumn,
  typeOfSet,
} from './sets.ts'

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
