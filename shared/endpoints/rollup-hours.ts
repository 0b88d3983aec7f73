/** What the service makes of a roll-up and the query over it: its layout, its level by the hour, and which calls that answers. */
import type { Rollup } from '../engines/engine.ts'
import { byTheHour, timeOf } from '../engines/rollup-levels.ts'
import { rollupShape } from '../engines/rollup-rules.ts'
import { SqlError } from '../sql/error.ts'
import { nameKey } from '../sql/relations.ts'
import type { Endpoint, ParameterDefinition, RollupAnswer } from './definition.ts'

type Parameters = Record<string, ParameterDefinition>

/** Columns by which BigQuery sorts, at most. */
const mostClusters = 4

/** By the first column that it is grouped by, and sorted by the others. What cannot be read is `lqe apply`'s to tell. */
export function layoutOf(sql: string): Pick<Rollup, 'partition' | 'cluster'> {
  try {
    const { columns } = rollupShape(sql)
    const groups = columns.filter(({ adds }) => adds === null).map(({ name }) => name)
    return { partition: timeOf(columns), cluster: groups.slice(1, 1 + mostClusters) }
  } catch (error) {
    if (error instanceof SqlError) return { partition: '', cluster: [] }
    throw error
  }
}

/** The roll-up, with its level by the hour where the query over it has one; calls that this answers come first. */
export function withHours(
  rollup: Rollup,
  answer: RollupAnswer,
  parameters: Parameters,
): Pick<Endpoint, 'rollups' | 'answers'> {
  const hours = hoursOrWhyNot(rollup, answer, parameters)
  if (hours instanceof SqlError) return { rollups: [rollup], answers: [answer] }
  return { rollups: [rollup, hours.rollup], answers: [hours.answer, answer] }
}

/** What `withHours` made for an endpoint. */
interface Derived {
  made: Set<Rollup | RollupAnswer>
  /** Why a roll-up has no level by the hour: the error is of the query over it, `answer`. */
  whyNot: Map<Rollup, { error: SqlError; answer: RollupAnswer }>
}

/** Which roll-ups and queries of an endpoint were derived, found by deriving them again: the stored definition does not say. */
export function madeOf({ rollups, answers, parameters }: Endpoint): Derived {
  const [made, whyNot]: [Derived['made'], Derived['whyNot']] = [new Set(), new Map()]
  for (let at = 0, over = 0; at < rollups.length && over < answers.length; at++, over++) {
    const [rollup, answer, next] = [rollups[at]!, answers[over]!, answers[over + 1]]
    const hours = next && hoursOrWhyNot(rollup, next, parameters)
    if (hours && !(hours instanceof SqlError) && hours.answer.sql === answer.sql) {
      made.add(rollups[++at]!).add(answers[over++]!)
      continue
    }
    const error = hoursOrWhyNot(rollup, answer, parameters)
    if (error instanceof SqlError) whyNot.set(rollup, { error, answer })
  }
  return { made, whyNot }
}

function hoursOrWhyNot(rollup: Rollup, answer: RollupAnswer, parameters: Parameters) {
  try {
    return hoursOf(rollup, answer, parameters)
  } catch (error) {
    if (error instanceof SqlError) return error
    throw error
  }
}

/** @throws SqlError that says, at its place in the query, why there is no such level */
function hoursOf(
  rollup: Rollup,
  { sql, when }: RollupAnswer,
  parameters: Parameters,
): { rollup: Rollup; answer: RollupAnswer } {
  const made = byTheHour(rollup, sql)
  const [name, ...more] = made.decidedBy
  if (name === undefined) return { rollup: made.rollup, answer: { sql: made.sql, when } }
  const choices = more.length > 0 ? [] : (parameters[name]?.enum ?? [])
  const fitting = choices.filter(value => made.holds(new Map([[nameKey(name), value]])))
  if (fitting.length === 0) {
    const why = `${made.decidedBy.join(', ')} must be one parameter with an enum, of which some value reads whole hours alone`
    throw new SqlError(why, { line: 1, column: 1 })
  }
  const hourly = { required: [name], properties: { [name]: { enum: fitting } } }
  return { rollup: made.rollup, answer: { sql: made.sql, when: { allOf: [when, hourly] } } }
}
