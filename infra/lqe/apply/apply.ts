import { Command } from 'commander'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import type { Store } from '../../../shared/stores/store.ts'
import { check } from './check.ts'
import { compareCompanions } from './compare.ts'
import { estimate, estimateLine } from './estimate.ts'
import { carryOut, type Plan, planFor } from './plan.ts'
import { QueriesError, readQueries } from './read.ts'

const signs = { created: '+', changed: '~', unchanged: '=', removed: '-' } as const

export interface ApplyOptions {
  queries: string
  dryRun: boolean
  /** Whether companion queries are run for sample sets and their rows compared, which costs scans. */
  compare?: boolean
  /** Gets the plan, line by line. */
  out: (line: string) => void
}

/**
 * Reads, checks, plans and (unless `dryRun`) applies a folder of endpoints.
 * @throws QueriesError naming file, line and column; StoreError
 */
export async function apply(
  { engine, store }: { engine: QueryEngine; store: Store },
  { queries, dryRun, compare = false, out }: ApplyOptions,
): Promise<Plan> {
  const sources = readQueries(queries)
  const problems = await check(sources, engine)
  if (compare && problems.length === 0) problems.push(...(await compareCompanions(sources, engine)))
  if (problems.length > 0) throw new QueriesError(problems)
  const plan = await planFor(
    sources.map(({ endpoint }) => endpoint),
    store,
  )
  for (const { change, name, diff } of plan.steps) {
    out(`${signs[change]} ${name} ${change}`)
    if (diff) out(diff.replaceAll(/^/gm, '    '))
  }
  if (dryRun)
    for (const { endpoint } of sources)
      for (const each of await estimate(endpoint, engine)) out(`  ${estimateLine(endpoint, each)}`)
  else await carryOut(plan, store)
  const changes = plan.steps.filter(step => step.change !== 'unchanged').length
  out(dryRun ? `${changes} to change; nothing was done (--dry-run).` : `${changes} changed.`)
  return plan
}

type Opened = { engine: QueryEngine; store: Store }

/** @param isLocal whether a scan costs nothing, so that companion queries are compared unless told otherwise */
export function applyCommand(
  withServices: (act: (services: Opened) => Promise<void>) => Promise<void>,
  isLocal: () => boolean,
): Command {
  return new Command('apply')
    .description('make the stored endpoints equal to the files in queries/')
    .option('--dry-run', 'only print what would be done', false)
    .option('--queries <folder>', 'folder of <name>.sql and <name>.yaml', 'queries')
    .option('--check-warm', 'compare companion queries with their endpoints; on BigQuery it costs scans')
    .option('--no-check-warm', 'do not, which is so on BigQuery unless asked for')
    .action(async ({ checkWarm, ...options }: { dryRun: boolean; queries: string; checkWarm?: boolean }) => {
      await withServices(async services => {
        const compare = checkWarm ?? isLocal()
        await apply(services, { ...options, compare, out: line => console.log(line) })
      })
    })
}
