/** Compares a batch query with the endpoint's own: both are run for sample sets, and must give the same rows. */
import { EngineError, type QueryEngine, type Result, type Value } from '../../../shared/engines/engine.ts'
import {
  type Endpoint,
  type ParameterDefinition,
  parameterColumns,
  type Scalar,
} from '../../../shared/endpoints/definition.ts'
import { isoTimestamp } from '../../../shared/endpoints/timestamps.ts'
import { batchStatement, groupsOf, type ParameterSet, splitRows } from '../../../shared/warm/batch.ts'
import type { EndpointSource, FileProblem } from './read.ts'

/** More combinations than these are left out. */
const maxSamples = 24
/** New logs arrive meanwhile, so a difference counts only where the endpoint's own query gives the same rows twice. */
const attempts = 3

/** @returns a problem for each batch query that gives other rows than the endpoint's own query */
export async function compareBatchQueries(
  sources: EndpointSource[],
  engine: QueryEngine,
): Promise<FileProblem[]> {
  const problems: FileProblem[] = []
  for (const { endpoint, warmFile } of sources) {
    const detail = warmFile && (await differenceOf(endpoint, engine).catch(messageOf))
    if (warmFile && detail) problems.push({ file: warmFile, line: 1, column: 1, detail })
  }
  return problems
}

function messageOf(error: unknown): string {
  if (error instanceof EngineError) return `could not be compared: ${error.message}`
  if (error instanceof Error) return error.message
  throw error
}

/** The difference in words, or `null`. */
async function differenceOf(endpoint: Endpoint, engine: QueryEngine): Promise<string | null> {
  for (const group of groupsOf(endpoint.warm!, sampleSets(endpoint), set => set))
    for (let attempt = 1; ; attempt++) {
      const before = await runEach(endpoint, engine, group)
      const together = await runTogether(endpoint, engine, group)
      const different = group.findIndex((_, i) => textOf(together[i]!) !== textOf(before[i]!))
      if (different < 0) break
      const [again] = await runEach(endpoint, engine, [group[different]!])
      const steady = textOf(again!) === textOf(before[different]!)
      if (steady) return `${inWords(group[different]!)}: gives other rows than the endpoint's own query`
      if (attempt === attempts) return 'could not be compared: the logs keep changing; try again'
    }
  return null
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

type Run = (endpoint: Endpoint, engine: QueryEngine, sets: ParameterSet[]) => Promise<Result[]>

const runEach: Run = async ({ sql, maxRows, timeoutSeconds }, engine, sets) => {
  const results: Result[] = []
  for (const bindings of sets)
    results.push(await engine.run({ sql, bindings }, { maxRows, timeoutMs: timeoutSeconds * 1000 }))
  return results
}

const runTogether: Run = async (endpoint, engine, sets) => {
  const limits = {
    maxRows: sets.length * (endpoint.maxRows + 1),
    timeoutMs: endpoint.timeoutSeconds * 1000,
  }
  const result = await engine.run(batchStatement(endpoint, endpoint.warm!.sql!, sets), limits)
  return splitRows(endpoint, sets, result)
}

function textOf({ columns, rows, truncated }: Result): string {
  return JSON.stringify([columns.map(({ name }) => name), rows, truncated])
}

function inWords(set: ParameterSet): string {
  return set.map(({ name, value }) => `${name}=${JSON.stringify(value)}`).join(' ')
}
