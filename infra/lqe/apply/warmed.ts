/** Which endpoints cannot be warmed, or evaluated for their alerts, by one statement for many sets of parameters, and why. */
import { EngineError, type QueryEngine } from '../../../shared/engines/engine.ts'
import { ownQuery, rollupQueries } from '../../../shared/endpoints/saved-query.ts'
import { SqlError } from '../../../shared/sql/error.ts'
import { batchFor } from '../../../shared/warm/batch.ts'
import { isWarmed } from '../../../shared/warm/warm.ts'
import type { EndpointSource } from './read.ts'

/** A line for each query of such an endpoint whose sets run one by one. The dry run of a batch is the engine's own word. */
export async function warmedOneByOne(sources: EndpointSource[], engine: QueryEngine): Promise<string[]> {
  const lines: string[] = []
  for (const { endpoint, sqlFile, answerFiles } of sources) {
    const hasSets = endpoint.alerts?.some(({ sets }) => sets.length > 1)
    if (hasSets && endpoint.cacheSeconds === 0)
      lines.push(`${endpoint.name} has no cache.seconds, so each set of an alert runs its query`)
    const isTogether = isWarmed(endpoint) || (hasSets && endpoint.cacheSeconds > 0)
    if (!isTogether || endpoint.upstream || Object.keys(endpoint.parameters).length === 0) continue
    const queries = [ownQuery(endpoint), ...rollupQueries(endpoint)]
    for (const [at, query] of queries.entries())
      try {
        await engine.describe((await batchFor(engine, endpoint, query))([]))
      } catch (error) {
        if (!(error instanceof SqlError || error instanceof EngineError)) throw error
        const { line, column } = error.place ?? { line: 1, column: 1 }
        const file = [sqlFile, ...answerFiles][at]
        const what = isWarmed(endpoint) ? 'is warmed' : 'runs for its alerts'
        lines.push(
          `${endpoint.name} ${what} one by one, because of ${file}:${line}:${column}: ${error.message}`,
        )
      }
  }
  return [...new Set(lines)]
}
