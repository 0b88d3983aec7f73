/**
 * Compares what saves reading with the endpoint's own query: a batch query, and queries over the roll-up. Both are run for
 * sample sets, and must give the same rows.
 */
import pMap from 'p-map'
import { EngineError, type QueryEngine, type Result, type Value } from '../../../shared/engines/engine.ts'
import {
  type Endpoint,
  type ParameterDefinition,
  parameterColumns,
  type Scalar,
} from '../../../shared/endpoints/definition.ts'
import {
  ownQuery,
  queryFor,
  rollupQueries,
  type SavedQuery,
  statementOf,
} from '../../../shared/endpoints/saved-query.ts'
import { isoTimestamp, relativeTime } from '../../../shared/endpoints/timestamps.ts'
import { statementLimits } from '../../../shared/sql/limits.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { print } from '../../../shared/sql/printer.ts'
import type { AnyNode, Select, SelectColumn } from '../../../shared/sql/tree.ts'
import { descendants } from '../../../shared/sql/walk.ts'
import {
  batchLimits,
  batchStatement,
  groupsOf,
  type ParameterSet,
  splitRows,
} from '../../../shared/warm/batch.ts'
import type { EndpointSource } from './read.ts'
import type { FileProblem } from './yaml.ts'

/** More combinations than these are left out. */
const maxSamples = 24
/** New logs arrive meanwhile, so a difference counts only where the endpoint's own query gives the same rows twice. */
const attempts = 3

/**
 * Compares two ways to the rows of an endpoint.
 * @param known what `own` gave for a set before
 * @returns the first set for which they differ, `null` where none does
 * @throws EngineError where the rows keep changing
 */
export async function firstDifference<Rows>(
  sets: ParameterSet[],
  own: (set: ParameterSet) => Promise<Rows>,
  tried: (sets: ParameterSet[]) => Promise<Rows[]>,
  known = new Map<ParameterSet, Rows>(),
): Promise<{ set: ParameterSet; expected: Rows; found: Rows } | null> {
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

/**
 * @param what batch queries over the log tables, or all queries over roll-ups
 * @returns a problem for each query that gives other rows than the endpoint's own
 */
export async function compareQueries(
  sources: EndpointSource[],
  engine: QueryEngine,
  what: 'batches' | 'rollups',
): Promise<FileProblem[]> {
  const problems: FileProblem[] = []
  for (const source of sources) {
    const queries = what === 'batches' ? [ownQuery(source.endpoint)] : rollupQueries(source.endpoint)
    for (const [i, query] of queries.entries()) {
      const pointers =
        what === 'batches' ? ['', '/warm/query'] : [`/answers/${i}/query`, `/answers/${i}/batch`]
      const files = pointers.map(pointer => source.queryFiles.get(pointer))
      for await (const [file, detail] of differences(source.endpoint, engine, query, files))
        problems.push({ file, line: 1, column: 1, detail })
    }
  }
  return problems
}

/** What is wrong with a query, by its file, and with its batch query, by the second file. */
async function* differences(
  endpoint: Endpoint,
  engine: QueryEngine,
  query: SavedQuery,
  [file, batchFile]: (string | undefined)[],
): AsyncGenerator<[file: string, detail: string]> {
  let at = file ?? batchFile
  if (at === undefined) return
  const time = await timeOf(engine)
  const alone = (saved: SavedQuery) => (set: ParameterSet) =>
    runAlone(engine, endpoint, atOnce(saved, time), set)
  const each = (sets: ParameterSet[]) => pMap(sets, alone(query), { concurrency: 1 })
  const together = async (sets: ParameterSet[]) =>
    (await runTogether(engine, endpoint, atOnce(query, time), sets)).map(shownOf)
  const known = new Map<ParameterSet, object>()
  try {
    const isFitting = (set: ParameterSet) => file === undefined || queryFor(endpoint, set).sql === query.sql
    const fitting = sampleSets(endpoint).filter(isFitting)
    if (fitting.length === 0) throw new Error('could not be compared: none of the examples fits `when`')
    const groups = groupsOf(endpoint.warm ?? { apart: {} }, fitting, set => set)
    for (const [where, run, all] of [
      [file, each, [fitting]] as const,
      [batchFile, together, groups] as const,
    ])
      for (const sets of where === undefined ? [] : all) {
        at = where!
        const found = await firstDifference(sets, alone(ownQuery(endpoint)), run, known)
        if (found) yield [at, `${printSet(found.set)}: gives other rows than the endpoint's own query`]
      }
  } catch (error) {
    yield [at, messageOf(error)]
  }
}

/** By the engine's clock, microseconds since 1970. */
async function timeOf(engine: QueryEngine): Promise<number> {
  const statement = { sql: 'SELECT CURRENT_TIMESTAMP() AS time', bindings: [] }
  return Number((await engine.run(statement, { maxRows: 1, timeoutMs: 30_000 })).rows[0]!['time'])
}

/** The query with this time for CURRENT_TIMESTAMP(): rows that leave a window between two runs would be a difference. */
function atOnce({ sql, batch, ...query }: SavedQuery, time: number): SavedQuery {
  const fixed = (text: string) => {
    const tree = parse(text, statementLimits)
    for (const node of descendants(tree)) if (isNow(node)) Object.assign(node, timeNode(time))
    return print(tree)
  }
  return { ...query, sql: fixed(sql), batch: batch && fixed(batch) }
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

/** Combinations of the definition's choices, examples and defaults, and NULL for optional parameters. */
export function sampleSets(endpoint: Endpoint): ParameterSet[] {
  let sets: ParameterSet[] = [[]]
  for (const { name, type } of parameterColumns(endpoint)) {
    const definition = endpoint.parameters[name]!
    const optional: Value[] = endpoint.required.includes(name) ? [] : [null]
    const values = [...new Set([...samplesOf(definition), ...optional])]
    if (values.length === 0) throw new Error(`could not be compared: ${name} has neither enum nor examples`)
    sets = sets.flatMap(set => values.map(value => [...set, { name, type, value }])).slice(0, maxSamples)
  }
  return sets
}

/** The values that a definition names for a parameter; a relative time counts from now. */
export function samplesOf(definition: ParameterDefinition): (Scalar | null)[] {
  const { type, format, enum: choices, examples = [], default: preset } = definition
  if (choices) return choices
  const values: Scalar[] = [...(type === 'boolean' ? [true, false] : examples)]
  if (preset !== undefined) values.push(preset)
  if (format !== 'iso-timestamp') return values
  return values.map(String).map(text => isoTimestamp(text) ?? relativeTime(text, new Date()))
}

/** The rows of a query for one set, without what the run cost. */
async function runAlone(
  engine: QueryEngine,
  { maxRows, timeoutSeconds }: Endpoint,
  query: SavedQuery,
  set: ParameterSet,
): Promise<object> {
  return shownOf(await engine.run(statementOf(query, set), { maxRows, timeoutMs: timeoutSeconds * 1000 }))
}

/** The rows of a batch query, for each set. */
export async function runTogether(
  engine: QueryEngine,
  endpoint: Endpoint,
  query: SavedQuery,
  sets: ParameterSet[],
): Promise<Result[]> {
  const limits = { maxRows: batchLimits.maxRows, timeoutMs: endpoint.timeoutSeconds * 1000 }
  return splitRows(endpoint, sets, await engine.run(batchStatement(endpoint, query, sets), limits))
}

function shownOf({ columns, rows, truncated }: Result): object {
  return [columns.map(({ name }) => name), rows, truncated]
}

/** As `project="abc" interval="daily"`, for messages. */
export function printSet(set: ParameterSet): string {
  return set.map(({ name, value }) => `${name}=${JSON.stringify(value)}`).join(' ')
}
