/** Parameter sets: read back from the cache's heads, given to a companion query together, and its rows split by them. */
import type { Binding, Row, RunResult, Statement, Value } from '../engines/engine.ts'
import { type Endpoint, typeOf, type Warming } from '../endpoints/definition.ts'
import type { Column } from '../sql/types.ts'

/** One binding for each parameter of the endpoint, sorted by name. */
export type ParameterSet = Binding[]

/**
 * Reads a set back from its canonical text.
 * @returns `null` where it is not one of this endpoint's
 */
export function setFrom(endpoint: Endpoint, canonical: string): ParameterSet | null {
  const values = new Map(pairsOf(canonical))
  const set = namesOf(endpoint).map(name => ({
    name,
    type: typeOf(endpoint.parameters[name]!),
    value: values.get(name) ?? null,
  }))
  return canonicalOf(set) === canonical ? set : null
}

function pairsOf(canonical: string): [string, Value][] {
  try {
    return JSON.parse(canonical) as [string, Value][]
  } catch {
    return []
  }
}

export function canonicalOf(set: ParameterSet): string {
  return JSON.stringify(set.map(({ name, value }) => [name, value]))
}

/** The sets for one statement each: those that the definition wants apart, and the others. */
export function groupsOf<T>({ apart }: Warming, sets: T[], bindingsOf: (set: T) => ParameterSet): T[][] {
  const isApart = (set: T) =>
    bindingsOf(set).some(({ name, value }) => (apart[name] as Value[] | undefined)?.includes(value))
  return [sets.filter(isApart), sets.filter(set => !isApart(set))].filter(group => group.length > 0)
}

/** The parameters as a companion query has them: fields of the structs in `@sets`, and columns of its result. */
export function parameterColumns(endpoint: Endpoint): Column[] {
  return namesOf(endpoint).map(name => ({ name, type: typeOf(endpoint.parameters[name]!) }))
}

/** @param sets `null` for a dry run, which needs the type of `@sets` only */
export function companionStatement(endpoint: Endpoint, sql: string, sets: ParameterSet[] | null): Statement {
  const element = { kind: 'STRUCT', fields: parameterColumns(endpoint) } as const
  const value = sets && sets.map(set => Object.fromEntries(set.map(({ name, value }) => [name, value])))
  return { sql, bindings: [{ name: 'sets', type: { kind: 'ARRAY', element }, value }] }
}

/**
 * The companion's rows for each set, as the endpoint's own query would have given them: the same columns, cut at the
 * same number of rows. A set without rows gets an empty result.
 * @throws Error where the companion did not do as it must: a row of no set, or rows cut by the engine
 */
export function splitRows(endpoint: Endpoint, sets: ParameterSet[], result: RunResult): RunResult[] {
  if (result.truncated) throw new Error('the companion query has more rows than its sets may have together')
  const names = namesOf(endpoint)
  const columns = result.columns.filter(({ name }) => !names.includes(name))
  const rows = new Map(sets.map(set => [keyOfSet(set), [] as Row[]]))
  for (const row of result.rows) {
    const own = rows.get(keyOfRow(endpoint, row))
    if (!own) throw new Error('the companion query has a row that belongs to no set')
    own.push(Object.fromEntries(columns.map(({ name }) => [name, row[name] ?? null])))
  }
  return sets.map(set => {
    const all = rows.get(keyOfSet(set))!
    const truncated = all.length > endpoint.maxRows
    return { columns, rows: all.slice(0, endpoint.maxRows), truncated, bytes: null }
  })
}

function namesOf({ parameters }: Endpoint): string[] {
  return Object.keys(parameters).toSorted()
}

function keyOfSet(set: ParameterSet): string {
  const values = set.map(({ type, value }) => (type.kind === 'TIMESTAMP' ? microseconds(value) : value))
  return JSON.stringify(values)
}

function keyOfRow(endpoint: Endpoint, row: Row): string {
  return JSON.stringify(namesOf(endpoint).map(name => row[name] ?? null))
}

/** Bound as canonical ISO text, it comes back from the engine as a number. */
function microseconds(value: Value): Value {
  if (typeof value !== 'string') return value
  return Date.parse(`${value.slice(0, 19)}Z`) * 1000 + Number(value.slice(20, 26))
}
