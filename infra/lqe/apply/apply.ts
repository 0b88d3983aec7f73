/** `lqe apply`: reads, checks, plans and applies a folder of endpoints. */
import { Command } from 'commander'
import { intervalMs } from '../../../shared/alerts/due.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { type QueryEngine, EngineError } from '../../../shared/engines/engine.ts'
import type { Services } from '../../../shared/services.ts'
import { failedTests } from '../endpoint-tests/command.ts'
import { explain } from '../../../shared/warm/explain.ts'
import { accountHere } from '../account.ts'
import { type Config, ConfigError } from '../../../shared/config.ts'
import { nameHint } from '../../../shared/sql/hints.ts'
import type { WithServices } from '../command.ts'
import { typedPath } from '../path.ts'
import { channelsOf, planChannels, unknownChannels } from './channels.ts'
import { check } from './check.ts'
import { compareQueries } from './compare-answers.ts'
import { Passed, type Unless } from './passed.ts'
import { carryOut, estimates, linesOf, planFor, type Step } from './plan.ts'
import { readQueries, type EndpointSource } from './read.ts'
import { createMissing, planRollups, removeUnused } from './rollups.ts'
import { findAmong } from './upstream.ts'
import { type FileProblem, QueriesError } from './yaml.ts'
import { print } from '../print.ts'
import { ownQuery, rollupQueries } from '../../../shared/endpoints/saved-query.ts'
import { SqlError } from '../../../shared/sql/error.ts'
import { batchFor } from '../../../shared/warm/batch.ts'
import { isWarmed } from '../../../shared/warm/warm.ts'

interface ApplyOptions {
  queries: string
  dryRun: boolean
  /** Whether queries over roll-ups are run for sample sets and their rows compared, which costs scans. */
  compareRollups?: boolean
  /** Schema files of the log tables, for the endpoints' tests, which run first; absent = they do not run. */
  tablesFolder?: string
  /** What passed the checks before: the same is not checked again, and no engine is opened for it. */
  passed?: Passed
  /** Who applies it, for the list of versions; by default the account and machine. */
  by?: string | null
  /** Gets the plan, line by line. */
  out: (line: string) => void
}

/**
 * Reads, checks, plans and (unless `dryRun`) applies a folder of endpoints.
 * @throws QueriesError naming file, line and column; StoreError
 */
export async function apply(
  { engine, store }: Pick<Services, 'engine' | 'store'>,
  { queries, dryRun, compareRollups = false, tablesFolder, passed, by = accountHere(), out }: ApplyOptions,
): Promise<void> {
  const sources = readQueries(queries)
  const channels = channelsOf(queries)
  const unless: Unless = passed?.unless ?? ((_check, make) => make())
  const notes: string[] = []
  const checks: Record<string, (() => Promise<FileProblem[]>) | false> = {
    definitions: async () => {
      const problems = [...unknownChannels(sources, channels), ...(await check(sources, engine))]
      if (problems.length === 0) notes.push(...(await warmedOneByOne(sources, engine)))
      return problems
    },
    tests: tablesFolder !== undefined && (() => failedTests(queries, sources, tablesFolder, unless)),
    rollups: compareRollups && (() => compareQueries(sources, engine)),
  }
  for (const [name, find] of Object.entries(checks)) {
    if (find) QueriesError.assertNone(await unless(name, find))
  }
  const endpoints = sources.map(({ endpoint }) => endpoint)
  const steps = await planFor(endpoints, store)
  const ofChannels = await planChannels(channels, store)
  for (const line of [...steps, ...ofChannels].flatMap(linesOf)) out(line)
  const rollups = await planRollups(
    engine,
    endpoints,
    steps.flatMap(({ before }) => before?.endpoint ?? []),
  )
  for (const { name } of rollups.missing) out(`+ ${name} to be made by the engine`)
  for (const { name } of rollups.unused) out(`- ${name} of before, which nothing refers to`)
  for (const line of [...steps.flatMap(callable), ...endpoints.flatMap(warnings), ...notes]) out(`! ${line}`)
  const changes = [...steps, ...ofChannels].filter(step => step.change !== 'unchanged').length
  if (!dryRun) {
    await createMissing(rollups, engine, sources)
    await carryOut(
      steps,
      store,
      by,
      ofChannels.flatMap(({ write }) => write ?? []),
    )
    await removeUnused(rollups, engine)
    return out(`${changes} changed.`)
  }
  const find = findAmong(endpoints, engine)
  // Where it is remembered what passed, the engine is DuckDB, which estimates nothing.
  for (const endpoint of passed ? [] : endpoints)
    for (const line of await estimates(await find(endpoint), engine)) out(`  ${line}`)
  out(`${changes} to change; nothing was done (--dry-run).`)
}

/** After a correction, what was wrong can still be called. */
function callable({ name, change, before, after }: Step): string[] {
  if (change !== 'changed') return []
  if (after?.endEarlierVersions)
    return [`${name}: callers have no earlier version any more (endEarlierVersions)`]
  if (before?.endpoint.version === after?.version) return []
  return [`${name}: its earlier versions can still be called; endEarlierVersions: true ends them`]
}

/** SQL such as TO_HEX(x) shows any value past redaction. */
function warnings({
  name,
  redact,
  sandbox,
  sandboxDespiteRedaction,
  publicCallsPerMinute,
}: Endpoint): string[] {
  if (publicCallsPerMinute !== undefined)
    return [`${name} is public: anyone may call it without a key, ${publicCallsPerMinute} times a minute`]
  if (!redact || !sandbox) return []
  const effect = sandboxDespiteRedaction
    ? 'sandbox allows it all the same, so every caller can read any value through SQL'
    : 'its callers’ SQL takes a key with pii:read; sandbox: { redacted: allow } lifts that'
  return [`${name} redacts: ${effect}`]
}

/** Lines: each query with what a call and a cycle of the warmer read, the roll-ups, with the SQL that no file has, and the alerts. */
export async function explained(queries: string, name: string, engine: QueryEngine): Promise<string[]> {
  const sources = readQueries(queries)
  const source = sources.find(({ endpoint }) => endpoint.name === name)
  const names = sources.map(({ endpoint }) => endpoint.name)
  if (!source) throw new ConfigError(`${queries} has no endpoint ${name}; ${nameHint(name, names)}`)
  const find = findAmong(
    sources.map(({ endpoint }) => endpoint),
    engine,
  )
  const parts = await explain(await find(source.endpoint), engine, [...source.answerFiles, source.sqlFile])
  const alerts = source.alerts.map(({ alert }) => {
    const sets = alert.sets.length === 1 ? 'one set' : `${alert.sets.length} sets`
    const seconds = intervalMs(source.endpoint, alert) / 1000
    return `the alert ${alert.name} looks at ${sets} of parameters every ${seconds} s`
  })
  return [
    ...parts.flatMap(({ title, sql, made, notes }) => [
      title,
      ...[...(made ? [sql] : []), ...notes].map(line => `  ${line}`),
    ]),
    ...alerts,
  ]
}

interface CommandOptions {
  dryRun: boolean
  explain?: string
  queries: string
  checkRollup?: boolean
  test: boolean
}

/** Its action throws what `apply` does. @param config is read when it runs, after the options for the cloud */
export function applyCommand(withServices: WithServices, config: () => Config): Command {
  return new Command('apply')
    .description('make the stored endpoints equal to the files in queries/')
    .option('--dry-run', 'only print what would be done', false)
    .option('--explain <name>', 'only print what is made of an endpoint, and what that reads')
    .option('--queries <folder>', 'folder of <name>.sql and <name>.yaml', typedPath, 'queries')
    .option('--no-test', 'do not run the tests of endpoints first (lqe test)')
    .option(
      '--check-rollup',
      'compare queries over roll-ups with their endpoints; on BigQuery it costs scans',
    )
    .option('--no-check-rollup', 'do not compare them, the default on BigQuery')
    .action(async ({ checkRollup, test, queries, dryRun, explain: name }: CommandOptions) => {
      await withServices(async services => {
        if (name !== undefined) return print(...(await explained(queries, name, services.engine)))
        const { engine, dataDir, tablesDir: tablesFolder, author } = config()
        // Scans are free there, so that queries over roll-ups are compared by default.
        const isLocal = engine === 'duckdb'
        // Not where a comparison is asked for, which is of the logs of now.
        await apply(services, {
          queries,
          dryRun,
          compareRollups: checkRollup ?? isLocal,
          ...(test ? { tablesFolder } : {}),
          ...(isLocal && checkRollup !== true ? { passed: new Passed(dataDir, queries, tablesFolder) } : {}),
          ...(author === null ? {} : { by: author }),
          out: text => print(...text.split('\n')),
        })
      })
    })
}

/** A line for each query of such an endpoint whose sets run one by one. The dry run of a batch is the engine's own word. */
async function warmedOneByOne(sources: EndpointSource[], engine: QueryEngine): Promise<string[]> {
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
