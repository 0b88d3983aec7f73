/**
 * Compares what saves reading with the endpoint's own query: a batch query, and queries over the roll-up. Both are run for
 * sample sets, and must give the same rows.
 */
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
import { isoTimestamp } from '../../../shared/endpoints/timestamps.ts'
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
export const attempts = 3

/** @returns a problem for each batch query over the log tables that gives other rows than the endpoint's own query */
export async function compareBatchQueries(
  sources: EndpointSource[],
  engine: QueryEngine,
): Promise<FileProblem[]> {
  const problems: FileProblem[] = []
  for (const { endpoint, queryFiles } of sources) {
    const file = queryFiles.get('/warm/query')
    if (file === undefined) continue
    const own = atOnce(ownQuery(endpoint), await timeOf(engine))
    const expected: Run = set => runAlone(engine, endpoint, own, set)
    const compare = async () => {
      for (const group of groupsOf(endpoint.warm!, sampleSets(endpoint), set => set)) {
        const together: RunAll = sets => runTogether(engine, endpoint, own, sets)
        const detail = await differenceOf(group, expected, together)
        if (detail) return detail
      }
      return null
    }
    problems.push(...(await problemIn(file, compare)))
  }
  return problems
}

/** @returns a problem for each query over a roll-up that gives other rows than the endpoint's own query */
export async function compareRollupQueries(
  sources: EndpointSource[],
  engine: QueryEngine,
): Promise<FileProblem[]> {
  const problems: FileProblem[] = []
  for (const { endpoint, queryFiles } of sources)
    for (const [i, query] of rollupQueries(endpoint).entries()) {
      const file = queryFiles.get(`/answers/${i}/query`)!
      const batchFile = queryFiles.get(`/answers/${i}/batch`)
      const time = await timeOf(engine)
      const [own, tried] = [atOnce(ownQuery(endpoint), time), atOnce(query, time)]
      const expected: Run = set => runAlone(engine, endpoint, own, set)
      const fitting = () => sampleSets(endpoint).filter(set => queryFor(endpoint, set).sql === query.sql)
      const known = new Map<string, string>()
      const each: RunAll = async sets => {
        const results: Result[] = []
        for (const set of sets) results.push(await runAlone(engine, endpoint, tried, set))
        return results
      }
      problems.push(
        ...(await problemIn(file, async () =>
          fitting().length === 0
            ? 'could not be compared: none of the examples fits `when`'
            : differenceOf(fitting(), expected, each, known),
        )),
      )
      if (batchFile === undefined) continue
      const together: RunAll = sets => runTogether(engine, endpoint, tried, sets)
      for (const group of groupsOf(endpoint.warm ?? { apart: {} }, fitting(), set => set))
        problems.push(...(await problemIn(batchFile, () => differenceOf(group, expected, together, known))))
    }
  return problems
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

async function problemIn(file: string, compare: () => Promise<string | null>): Promise<FileProblem[]> {
  const detail = await compare().catch(messageOf)
  return detail ? [{ file, line: 1, column: 1, detail }] : []
}

function messageOf(error: unknown): string {
  if (error instanceof EngineError) {
    const hint = error.reason === 'no_rollup' ? '; see "Roll-ups" in infra/docs/operating.md' : ''
    return `could not be compared: ${error.message}${hint}`
  }
  if (error instanceof Error) return error.message
  throw error
}

type Run = (set: ParameterSet) => Promise<Result>
type RunAll = (sets: ParameterSet[]) => Promise<Result[]>

/**
 * The difference in words, or `null`.
 * @param known what the endpoint's own query gave for a set, in the comparison before
 */
async function differenceOf(
  sets: ParameterSet[],
  own: Run,
  tried: RunAll,
  known = new Map<string, string>(),
): Promise<string | null> {
  for (let attempt = 1; ; attempt++) {
    for (const set of sets) if (!known.has(printSet(set))) known.set(printSet(set), textOf(await own(set)))
    const after = await tried(sets)
    const different = sets.find((set, i) => textOf(after[i]!) !== known.get(printSet(set)))
    if (different === undefined) return null
    const steady = textOf(await own(different)) === known.get(printSet(different))
    if (steady) return `${printSet(different)}: gives other rows than the endpoint's own query`
    if (attempt === attempts) return 'could not be compared: the logs keep changing; try again'
    known.clear()
  }
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

function samplesOf({ type, format, enum: choices, examples = [], default: preset }: ParameterDefinition) {
  if (choices) return choices
  const values: Scalar[] = [...(type === 'boolean' ? [true, false] : examples)]
  if (preset !== undefined) values.push(preset)
  return format === 'iso-timestamp' ? values.map(value => isoTimestamp(String(value))) : values
}

/** The rows of a query for one set. */
export async function runAlone(
  engine: QueryEngine,
  { maxRows, timeoutSeconds }: Endpoint,
  query: SavedQuery,
  set: ParameterSet,
): Promise<Result> {
  return engine.run(statementOf(query, set), { maxRows, timeoutMs: timeoutSeconds * 1000 })
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

function textOf({ columns, rows, truncated }: Result): string {
  return JSON.stringify([columns.map(({ name }) => name), rows, truncated])
}

/** As `project="abc" interval="daily"`, for messages. */
export function printSet(set: ParameterSet): string {
  return set.map(({ name, value }) => `${name}=${JSON.stringify(value)}`).join(' ')
}
