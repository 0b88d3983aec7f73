import { Command } from 'commander'
import type { QueryEngine } from '../../shared/engine.ts'
import type { Store } from '../../shared/store.ts'
import { check } from './check.ts'
import { carryOut, type Plan, planFor } from './plan.ts'
import { QueriesError, readQueries } from './read.ts'

const signs = { created: '+', changed: '~', unchanged: '=', removed: '-' } as const

/**
 * Reads, checks, plans and (unless `dryRun`) applies a folder of endpoints.
 * @param out gets the plan, line by line
 * @throws QueriesError naming file, line and column; StoreError
 */
export async function apply(
  { engine, store }: { engine: QueryEngine; store: Store },
  { queries, dryRun, out }: { queries: string; dryRun: boolean; out: (line: string) => void },
): Promise<Plan> {
  const sources = readQueries(queries)
  const problems = await check(sources, engine)
  if (problems.length > 0) throw new QueriesError(problems)
  const plan = await planFor(
    sources.map(({ endpoint }) => endpoint),
    store,
  )
  for (const { change, name, diff } of plan.steps) {
    out(`${signs[change]} ${name} ${change}`)
    if (diff) out(diff.replaceAll(/^/gm, '    '))
  }
  if (!dryRun) await carryOut(plan, store)
  const changes = plan.steps.filter(step => step.change !== 'unchanged').length
  out(dryRun ? `${changes} to change; nothing was done (--dry-run).` : `${changes} changed.`)
  return plan
}

type Opened = { engine: QueryEngine; store: Store }

export function applyCommand(
  withServices: (act: (services: Opened) => Promise<void>) => Promise<void>,
): Command {
  return new Command('apply')
    .description('make the stored endpoints equal to the files in queries/')
    .option('--dry-run', 'only print what would be done', false)
    .option('--queries <folder>', 'folder of <name>.sql and <name>.yaml', 'queries')
    .action(async (options: { dryRun: boolean; queries: string }) => {
      await withServices(async services => {
        await apply(services, { ...options, out: line => console.log(line) })
      })
    })
}
