/**
 * Compares queries over roll-ups with the endpoint's own: both are run for sample sets, and must give the same rows.
 */
import pMap from 'p-map'
import { EngineError, type QueryEngine } from '../../../shared/engines/engine.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { sampleSets } from '../../../shared/endpoints/samples.ts'
import {
  ownQuery,
  queryFor,
  rollupQueries,
  type SavedQuery,
  statementOf,
} from '../../../shared/endpoints/saved-query.ts'
import { statementLimits } from '../../../shared/sql/limits.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { print } from '../../../shared/sql/printer.ts'
import type { AnyNode, Select, SelectColumn } from '../../../shared/sql/tree.ts'
import { descendants } from '../../../shared/sql/walk.ts'
import type { ParameterSet } from '../../../shared/warm/batch.ts'
import type { EndpointSource } from './read.ts'
import { type FileProblem, problemOf } from './yaml.ts'

/** New logs arrive meanwhile, so a difference counts only where the endpoint's own query gives the same rows twice. */
const attempts = 3

/**
 * Compares two ways to the rows of an endpoint.
 * @returns the first set for which they differ, `null` where none does
 * @throws EngineError where the rows keep changing
 */
export async function firstDifference<Rows>(
  sets: ParameterSet[],
  own: (set: ParameterSet) => Promise<Rows>,
  tried: (sets: ParameterSet[]) => Promise<Rows[]>,
): Promise<{ set: ParameterSet; expected: Rows; found: Rows } | null> {
  const known = new Map<ParameterSet, Rows>()
  for (let attempt = 0; attempt < attempts; attempt++) {
    for (const set of sets) if (!known.has(set)) known.set(set, await own(set))
    const all = await tried(sets)
    const at = sets.findIndex((set, i) => !isSame(all[i], known.get(set)))
    if (at < 0) return null
    const [set, found] = [sets[at]!, all[at]!]
    const expected = await own(set)
    if (isSame(expected, known.get(set))) return { set, expected, found }
    known.clear()
  }
  throw new EngineError('failed', 'the logs keep changing; try again')
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}

/** @returns a problem for each query over roll-ups that gives other rows than the endpoint's own */
export async function compareQueries(sources: EndpointSource[], engine: QueryEngine): Promise<FileProblem[]> {
  const problems: FileProblem[] = []
  for (const { endpoint, answerFiles } of sources)
    for (const [i, query] of rollupQueries(endpoint).entries()) {
      const detail = await difference(endpoint, engine, query)
      if (detail !== null) problems.push(problemOf(answerFiles[i]!, detail))
    }
  return problems
}

/** What is wrong with a query over roll-ups, `null` for nothing. */
async function difference(
  endpoint: Endpoint,
  engine: QueryEngine,
  query: SavedQuery,
): Promise<string | null> {
  try {
    const time = await timeOf(engine)
    const limits = { maxRows: endpoint.maxRows, timeoutMs: endpoint.timeoutSeconds * 1000 }
    // Without what the run cost.
    const alone = (saved: SavedQuery) => async (set: ParameterSet) => {
      const { columns, rows, truncated } = await engine.run(statementOf(atOnce(saved, time), set), limits)
      return [columns.map(({ name }) => name), rows, truncated]
    }
    const fitting = sampleSets(endpoint).filter(set => queryFor(endpoint, set).sql === query.sql)
    if (fitting.length === 0) return 'could not be compared: none of the examples fits `when`'
    const each = (sets: ParameterSet[]) => pMap(sets, alone(query), { concurrency: 1 })
    const found = await firstDifference(fitting, alone(ownQuery(endpoint)), each)
    return found && `${printSet(found.set)}: gives other rows than the endpoint's own query`
  } catch (error) {
    return messageOf(error)
  }
}

/** By the engine's clock, microseconds since 1970. */
async function timeOf(engine: QueryEngine): Promise<number> {
  const statement = { sql: 'SELECT CURRENT_TIMESTAMP() AS time', bindings: [] }
  return Number((await engine.run(statement, { maxRows: 1, timeoutMs: 30_000 })).rows[0]!['time'])
}

/** The query with this time for CURRENT_TIMESTAMP(): rows that leave a window between two runs would be a difference. */
function atOnce(query: SavedQuery, time: number): SavedQuery {
  const tree = parse(query.sql, statementLimits)
  for (const node of descendants(tree)) if (isNow(node)) Object.assign(node, timeNode(time))
  return { ...query, sql: print(tree) }
}

/** With parentheses or without. */
function isNow(node: AnyNode): boolean {
  const names = node.kind === 'Call' ? node.name : node.kind === 'Path' ? node.parts : []
  return names.map(({ name }) => name.toUpperCase()).join('.') === 'CURRENT_TIMESTAMP'
}

function timeNode(time: number): AnyNode {
  const [item] = (parse(`SELECT TIMESTAMP_MICROS(${time})`).body as Select).items
  return (item as SelectColumn).expression
}

function messageOf(error: unknown): string {
  if (error instanceof EngineError) {
    const hint = error.reason === 'no_rollup' ? '; see "Roll-ups" in infra/docs/operating.md' : ''
    return `could not be compared: ${error.message}${hint}`
  }
  if (error instanceof Error) return error.message
  throw error
}

/** As `project="abc" interval="daily"`, for messages. */
export function printSet(set: ParameterSet): string {
  return set.map(({ name, value }) => `${name}=${JSON.stringify(value)}`).join(' ')
}
