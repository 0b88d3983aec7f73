/** The roll-ups that the engine has to make before endpoints are applied, and those that nothing refers to after. */
import { basename } from 'node:path'
import { EngineError, type QueryEngine, type Rollup } from '../../../shared/engines/engine.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import type { EndpointSource } from './read.ts'
import { problemOf, QueriesError } from './yaml.ts'

export interface RollupPlan {
  missing: Rollup[]
  unused: Rollup[]
}

/**
 * @param stored the endpoints as they are before
 * @throws EngineError
 */
export async function planRollups(
  engine: QueryEngine,
  wanted: Endpoint[],
  stored: Endpoint[],
): Promise<RollupPlan> {
  const [after, before] = [rollupsOf(wanted), rollupsOf(stored)]
  const missing: Rollup[] = []
  for (const rollup of after.values()) if (!(await engine.rollups.has(rollup))) missing.push(rollup)
  const unused = [...before].filter(([key]) => !after.has(key)).map(([, rollup]) => rollup)
  return { missing, unused }
}

/** By all that makes them: a changed one is another one. */
function rollupsOf(endpoints: Endpoint[]): Map<string, Rollup> {
  return new Map(endpoints.flatMap(({ rollups }) => rollups.map(rollup => [JSON.stringify(rollup), rollup])))
}

/** @throws QueriesError where the engine refuses one, naming its file */
export async function createMissing(
  { missing }: RollupPlan,
  engine: QueryEngine,
  sources: EndpointSource[],
): Promise<void> {
  for (const rollup of missing)
    try {
      await engine.rollups.create(rollup)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      const source = sources.find(({ endpoint }) => endpoint.rollups.includes(rollup))!
      const files = [...source.queryFiles.values()]
      const file = files.find(path => basename(path) === `${rollup.name}.sql`) ?? source.yamlFile
      throw new QueriesError([problemOf(file, `${rollup.name} cannot be made: ${error.message}`)])
    }
}

/**
 * A process that remembers a definition of before reads the log table for some seconds instead.
 * @throws EngineError
 */
export async function removeUnused({ unused }: RollupPlan, engine: QueryEngine): Promise<void> {
  for (const rollup of unused) await engine.rollups.remove(rollup)
}
