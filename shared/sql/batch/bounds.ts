/** Conditions of WHERE that compare columns with parameters, as bounds of all sets together. */
import type * as ast from '../tree.ts'
import { descendants } from '../walk.ts'
import type { Batch } from './context.ts'
import { coerced, inExpression } from './expressions.ts'
import * as make from './nodes.ts'
import { fewParameter, fieldOf, parametersIn } from './sets.ts'

/**
 * A condition as one of all sets: for each of the values in use, by what the statement is given, so that engines know it before
 * they read, and prune partitions by it.
 * @returns `null` for one that bounds nothing
 * @throws what `refuse` gives for windows of time that are too many, without which all partitions would be read
 */
export function boundOf(batch: Batch, condition: ast.Expression): ast.Expression | null {
  const parameters = parametersIn(condition)
  if (parameters.length === 0 || !isBound(batch, condition)) return null
  const places = batch.sets.representatives(parameters, isEnd(condition))
  if (!places && isOfTime(batch, condition))
    throw batch.refuse(condition, 'more windows of time than one statement is asked for')
  const here = { batch, sight: new Map(), carrying: new Set<ast.From>(), columns: null }
  const any = (places ?? []).map(place =>
    inExpression(condition, { ...here, instead: part => ofSetAt(batch, part, place) }),
  )
  const expression = make.joined('OR', any)
  return expression && { kind: 'Parenthesized', expression, at: condition.at }
}

function ofSetAt({ resolution }: Batch, part: ast.AnyNode, place: number): ast.Expression | null {
  if (part.kind !== 'ParameterReference') return null
  const { at } = part
  const sets = { kind: 'ParameterReference', name: fewParameter, at } as const
  const set = { kind: 'Subscript', of: sets, mode: 'OFFSET', index: make.integer(place), at } as const
  const value = { kind: 'FieldAccess', of: set, field: make.name(fieldOf(part.name)), at } as const
  return coerced(value, resolution.coercions.get(part))
}

/** Whether it is asked of each row, and not of distinct values: a comparison, or one of times, which seldom repeat. */
export function isBound(batch: Batch, condition: ast.Expression): boolean {
  return isComparison(batch, condition) || isOfTime(batch, condition)
}

const times = new Set<string>(['DATE', 'DATETIME', 'TIMESTAMP', 'UNKNOWN'])

function isOfTime({ resolution }: Batch, condition: ast.Expression): boolean {
  const parts = [...descendants(condition)]
  const columns = parts.filter(part => part.kind === 'Path' && resolution.paths.has(part))
  const isTime = (path: ast.AnyNode) => times.has(resolution.values.get(path as ast.Path)?.type?.kind ?? '')
  return columns.length > 0 && columns.every(isTime) && !parts.some(({ kind }) => kind === 'Query')
}

const comparisons = new Set<string>(['=', '<', '>', '<=', '>='])

/** Whether it compares what is of columns alone with what is of parameters alone. */
function isComparison({ resolution }: Batch, condition: ast.Expression): boolean {
  return sidesOf(condition).some((_, at, sides) => at === 0 && sides.every(isOfOneKind))

  function isOfOneKind(side: ast.Expression): boolean {
    const parts = [...descendants(side)]
    const isOfColumns = parts.some(part => part.kind === 'Path' && resolution.paths.has(part))
    return !parts.some(({ kind }) => kind === 'Query' || (kind === 'ParameterReference' && isOfColumns))
  }
}

function sidesOf(condition: ast.Expression): ast.Expression[] {
  if (condition.kind === 'Between') return [condition.operand, condition.low, condition.high]
  const isOne = condition.kind === 'Binary' && comparisons.has(condition.operator)
  return isOne ? [condition.left, condition.right] : []
}

/** Whether one side is a parameter, and the other has none: it holds for some set if it does for the least or the greatest value. */
function isEnd(condition: ast.Expression): boolean {
  if (condition.kind !== 'Binary' || condition.operator === '=' || !comparisons.has(condition.operator))
    return false
  const { left, right } = condition
  const [bare, other] = left.kind === 'ParameterReference' ? [left, right] : [right, left]
  return bare.kind === 'ParameterReference' && parametersIn(other).length === 0
}
