/** Conditions that hold for no fewer rows, which engines ask first: they prune by them, and compile fewer regular expressions. */
import {
  type Batch,
  castTo,
  columnOfSet,
  fewParameter,
  fieldOf,
  inExpression,
  parametersIn,
  prefix,
  setsInFrom,
} from './sets.ts'
import * as make from '../nodes.ts'
import { parse } from '../parser.ts'
import type * as ast from '../tree.ts'
import { descendants } from '../walk.ts'

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
  const expression = make.chain('OR', any)
  return expression && { kind: 'Parenthesized', expression, at: condition.at }
}

function ofSetAt({ resolution }: Batch, part: ast.AnyNode, place: number): ast.Expression | null {
  if (part.kind !== 'ParameterReference') return null
  const { at } = part
  const sets = { kind: 'ParameterReference', name: fewParameter, at } as const
  const set = { kind: 'Subscript', of: sets, mode: 'OFFSET', index: make.integer(place), at } as const
  const value = { kind: 'FieldAccess', of: set, field: make.name(fieldOf(part.name)), at } as const
  return castTo(value, resolution.coercions.get(part))
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

/** Whether a parameter is compared with an expression without parameters: then the least or the greatest value decides for all sets. */
function isEnd(condition: ast.Expression): boolean {
  if (condition.kind !== 'Binary' || condition.operator === '=' || !comparisons.has(condition.operator))
    return false
  const { left, right } = condition
  const [bare, other] = left.kind === 'ParameterReference' ? [left, right] : [right, left]
  return bare.kind === 'ParameterReference' && parametersIn(other).length === 0
}

/**
 * Of an expression without alternatives, groups, classes, numbers of times and escapes but `\.`: its first run of eight plain
 * characters or more, else its first run, less the last character, as a quantifier may follow that. Else an empty text.
 */
const [{ expression: neededText }] = (
  parse(`SELECT IF(
    REGEXP_CONTAINS(pattern, r'[|(\\[{]|\\\\[^.]'),
    '',
    COALESCE(
      REGEXP_EXTRACT(pattern, r'([A-Za-z0-9_:/-]{7,})[A-Za-z0-9_:/-]'),
      REGEXP_EXTRACT(pattern, r'([A-Za-z0-9_:/-]*)[A-Za-z0-9_:/-]'),
      ''
    )
  )`).body as ast.Select
).items as [ast.SelectColumn]

const needed = `${prefix}needed`

/** The sets, and a condition that is asked of them and columns. */
interface Asked {
  sets: ast.From
  condition: ast.Expression
}

/** @param condition as the query has it; `made` is what has been made of it */
export function withNeededText(condition: ast.Expression, made: ast.Expression): Asked {
  const searched = searchedBy(condition)
  if (searched === null || made.kind !== 'Call') return { sets: setsInFrom(), condition: made }
  const ofSet = make.copy(neededText, part => (part.kind === 'Path' ? columnOfSet(fieldOf(searched)) : null))
  const sets = make.select([make.star(null), make.item(ofSet, needed)], setsInFrom())
  const has = make.binary(
    '>',
    make.call('STRPOS', [copy(made.arguments[0]!), columnOfSet(needed)]),
    make.integer(0),
  )
  const any = make.binary('OR', make.binary('=', columnOfSet(needed), make.emptyText()), has)
  return {
    sets: make.derivedTable(make.queryOf(sets), `${prefix}s`),
    condition: make.call('IF', [any, made, make.bool('FALSE')]),
  }
}

function copy(expression: ast.Expression): ast.Expression {
  return make.copy(expression, () => null)
}

/** The parameter that is the pattern of `REGEXP_CONTAINS(column, @parameter)`; `null` for another condition. */
function searchedBy(condition: ast.Expression): string | null {
  if (condition.kind !== 'Call' || condition.name.length > 1) return null
  const [text, pattern] = condition.arguments
  const isSearch = condition.name[0]!.name.toUpperCase() === 'REGEXP_CONTAINS' && text?.kind === 'Path'
  return isSearch && pattern?.kind === 'ParameterReference' ? pattern.name : null
}
