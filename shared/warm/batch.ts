/** The batch query: many parameter sets go to one statement, whose rows are split by set. */
import { type Endpoint, parameterColumns, type Warming } from '../endpoints/definition.ts'
import { type SavedQuery, statementOf } from '../endpoints/saved-query.ts'
import { type Binding, EngineError, type Result, type Statement, type Value } from '../engines/engine.ts'
import { toMicros } from '../endpoints/timestamps.ts'
import { ResultRows } from '../engines/rows.ts'

/** One binding for each parameter of the endpoint, sorted by name. */
export type ParameterSet = Binding[]

/** The parameters of a set whose values callers sent, or may have sent. */
export function sentOf(set: ParameterSet): string[] {
  return set.flatMap(({ name, value }) => (value === null ? [] : name))
}

/** The sets of each statement: those with a value of `warm.apart`, and the others. */
export function groupsOf<T>(
  { apart }: Pick<Warming, 'apart'>,
  sets: T[],
  bindingsOf: (set: T) => ParameterSet,
): T[][] {
  const isApart = (set: T) =>
    bindingsOf(set).some(({ name, value }) => (apart[name] as Value[] | undefined)?.includes(value))
  return [sets.filter(isApart), sets.filter(set => !isApart(set))].filter(group => group.length > 0)
}

/**
 * The batch query with `@sets`, an array of structs with a field for each parameter.
 * @param sets `null` for a dry run, which needs the type of `@sets` only
 */
export function batchStatement(
  endpoint: Endpoint,
  { batch, rollups }: Pick<SavedQuery, 'batch' | 'rollups'>,
  sets: ParameterSet[] | null,
): Statement {
  const element = { kind: 'STRUCT', fields: parameterColumns(endpoint) } as const
  const value = sets && sets.map(set => Object.fromEntries(set.map(({ name, value }) => [name, value])))
  return statementOf({ sql: batch!, rollups }, [{ name: 'sets', type: { kind: 'ARRAY', element }, value }])
}

/** Of a run for all sets, whose rows are in memory twice while they are split. What is past a set's own limit is cut then. */
export const batchLimits = { maxRows: 1_000_000, maxResultBytes: 50_000_000 }

/**
 * The rows of a batch for each set, as the endpoint's own query would give them: the same columns, cut at the same
 * number of rows, within the same limit of bytes. A set without rows gets an empty result.
 * @throws EngineError `result_too_large` for too many rows together, and for a set that is too large by itself;
 *   `misconfigured` for a batch query with a row of no set
 */
export function splitRows(endpoint: Endpoint, sets: ParameterSet[], result: Result): Result[] {
  if (result.truncated)
    throw new EngineError('result_too_large', 'The batch query has more rows than are read together')
  const names = parameterColumns(endpoint).map(({ name }) => name)
  const columns = result.columns.filter(({ name }) => !names.includes(name))
  const { maxRows, maxResultBytes } = endpoint
  const limits = { maxRows, ...(maxResultBytes === null ? {} : { maxResultBytes }) }
  const rows = new Map(sets.map(set => [keyOfSet(set), new ResultRows(limits)]))
  for (const row of result.rows) {
    const own = rows.get(JSON.stringify(names.map(name => row[name] ?? null)))
    if (!own) throw new EngineError('misconfigured', 'The batch query has a row that belongs to no set')
    own.add(Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])))
  }
  return sets.map(set => ({ columns, ...rows.get(keyOfSet(set))!.result }))
}

function keyOfSet(set: ParameterSet): string {
  // A time is bound as canonical ISO text, and comes back from the engine as a number.
  const values = set.map(({ type, value }) =>
    type.kind === 'TIMESTAMP' && typeof value === 'string' ? Number(toMicros(value)) : value,
  )
  return JSON.stringify(values)
}
