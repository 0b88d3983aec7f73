/**
 * A text that a regular expression needs, so that it is searched for only in values that have the text: engines compile an
 * expression of a column again for each row, which costs a hundred times as much as looking for a text.
 */
import { parse } from '../parser.ts'
import type * as ast from '../tree.ts'
import * as make from './nodes.ts'
import { columnOfSet, fieldOf, prefix, setsInFrom } from './sets.ts'

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
  const ofSet = make.copied(neededText, part =>
    part.kind === 'Path' ? columnOfSet(fieldOf(searched)) : null,
  )
  const sets = make.select([make.star(null), make.item(ofSet, needed)], setsInFrom())
  const has = make.binary(
    '>',
    make.call('STRPOS', [copy(made.arguments[0]!), columnOfSet(needed)]),
    make.integer(0),
  )
  const any = make.binary('OR', make.binary('=', columnOfSet(needed), make.text('')), has)
  return {
    sets: make.derived(make.queryOf(sets), `${prefix}s`),
    condition: make.call('IF', [any, made, make.bool('FALSE')]),
  }
}

function copy(expression: ast.Expression): ast.Expression {
  return make.copied(expression, () => null)
}

/** The parameter that is the pattern of `REGEXP_CONTAINS(column, @parameter)`; `null` for another condition. */
function searchedBy(condition: ast.Expression): string | null {
  if (condition.kind !== 'Call' || condition.name.length > 1) return null
  const [text, pattern] = condition.arguments
  const isSearch = condition.name[0]!.name.toUpperCase() === 'REGEXP_CONTAINS' && text?.kind === 'Path'
  return isSearch && pattern?.kind === 'ParameterReference' ? pattern.name : null
}
