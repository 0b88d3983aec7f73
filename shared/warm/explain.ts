/** What answers an endpoint's calls: its queries and roll-ups with those that are made of them, what they read, and why one is not made. */
import { bytesText } from '../visible-text.ts'
import { emptyBindings, type Endpoint, upstreamBindings } from '../endpoints/definition.ts'
import { madeOf } from '../endpoints/rollup-hours.ts'
import { sampleSets } from '../endpoints/samples.ts'
import { ownQuery, queryFor, rollupQueries, type SavedQuery, statementOf } from '../endpoints/saved-query.ts'
import { EngineError, type QueryEngine, type Rollup, type Statement } from '../engines/engine.ts'
import { SqlError } from '../sql/error.ts'
import { batchFor, type ParameterSet } from './batch.ts'
import { isWarmed } from './warm.ts'

/** A query or a roll-up. */
export interface ExplainedPart {
  /** Which it is, and what it is for. */
  title: string
  sql: string
  /** Whether the service made it of another one. */
  made: boolean
  /** What it reads, and why none is made of it. */
  notes: string[]
}

/**
 * Nothing runs: bytes are of dry runs.
 * @param endpoint with its `upstreamTables`
 * @param files of its queries, those over roll-ups first; by default they are numbered
 * @returns the queries, of which the first that takes a call answers it, and the roll-ups
 * @throws EngineError
 */
export async function explain(
  endpoint: Endpoint,
  engine: QueryEngine,
  files?: string[],
): Promise<ExplainedPart[]> {
  const { made, whyNot } = madeOf(endpoint)
  const parts: ExplainedPart[] = []
  const nameOf = (at: number) => files?.[at] ?? `query ${at + 1}`
  for (const [at, query] of [...rollupQueries(endpoint), ownQuery(endpoint)].entries()) {
    const answer = endpoint.answers[at]
    const isMade = answer !== undefined && made.has(answer)
    const name = nameOf(isMade ? at + 1 : at)
    const takes = answer ? `where ${JSON.stringify(answer.when)}` : 'every other call'
    const notes = await costs(engine, endpoint, query, name)
    parts.push({
      title: `${isMade ? 'made of ' : ''}${name} answers ${takes}`,
      sql: query.sql,
      made: isMade,
      notes,
    })
  }
  for (const [at, rollup] of endpoint.rollups.entries()) {
    const why = whyNot.get(rollup)
    const over = nameOf(endpoint.answers.findIndex(answer => answer === why?.answer))
    const notes = why ? [`none by the hour is made of it, because of ${reasonIn(over, why.error)}`] : []
    const isMade = made.has(rollup)
    const title = isMade ? `${rollup.name} is made of ${endpoint.rollups[at - 1]!.name}` : layoutIn(rollup)
    parts.push({ title, sql: rollup.sql, made: isMade, notes })
  }
  return parts
}

function layoutIn({ name, partition, cluster, refreshMinutes }: Rollup): string {
  return `${name} is partitioned by ${partition}, sorted by ${cluster.join(', ') || 'nothing'}, and brought up to date every ${refreshMinutes} min`
}

/** Of the definition's samples that a query answers; an engine such as DuckDB estimates no bytes. */
async function costs(engine: QueryEngine, endpoint: Endpoint, query: SavedQuery, name: string) {
  const sets = samples(endpoint).filter(set => queryFor(endpoint, set).sql === query.sql)
  const reads = async (statement: Statement) => {
    const { bytes } = await engine.describe(statement)
    return `reads ${bytes === null ? 'what this engine does not estimate' : `about ${bytesText(bytes)}`}`
  }
  const call = sets[0] ? [...sets[0], ...upstreamBindings(endpoint)] : emptyBindings(endpoint)
  const notes = [`a call ${await reads(statementOf(query, call))}`]
  if (!isWarmed(endpoint)) return notes
  const every = `warmed every ${endpoint.warm!.seconds} s`
  if (endpoint.upstream) return [...notes, `${every} one by one, because it reads the rows of others`]
  try {
    const batch = (await batchFor(engine, endpoint, query))(sets)
    return [...notes, `${every} by one statement, which for ${sets.length} sets ${await reads(batch)}`]
  } catch (error) {
    const isOfQuery = error instanceof EngineError && ['rejected', 'unsupported'].includes(error.reason)
    if (!(error instanceof SqlError || isOfQuery)) throw error
    return [...notes, `${every} one by one, because of ${reasonIn(name, error)}`]
  }
}

function samples(endpoint: Endpoint): ParameterSet[] {
  try {
    return sampleSets(endpoint)
  } catch {
    return []
  }
}

function reasonIn(name: string, { message, place }: SqlError | EngineError): string {
  const { line, column } = place ?? { line: 1, column: 1 }
  return `${name}:${line}:${column}: ${message}`
}
