/** The engine's own verdict on a sandboxed statement before it runs: `shared/sandbox/README.md`, "The engine's verdict". */
import { LRUCache } from 'lru-cache'
import { type DescribeLimits, EngineError, type QueryEngine, type Statement } from '../engines/engine.ts'
import { emptyBindings, type Endpoint } from '../endpoints/definition.ts'
import { ApiError } from '../errors.ts'
import { tableQueries, tablesOfEndpoint } from './offered-tables.ts'

type SandboxedEndpoint = Pick<Endpoint, 'sql' | 'parameters' | 'version'>

/**
 * Passes if a dry run of the statement is of a query, and reads only tables and routines that the endpoint's own tables read.
 * @throws ApiError `internal` if it reads others, which no mistake of a caller brings about; EngineError if it fails
 */
export type AssertWithin = (
  endpoint: SandboxedEndpoint,
  statement: Statement,
  limits?: DescribeLimits,
) => Promise<void>

interface Asked {
  endpoint: SandboxedEndpoint
  statement: Statement
  limits: DescribeLimits
}

/** A dry run takes about a quarter of a second, so statements that passed are remembered, by version and SQL. */
export function rememberVerdicts(engine: QueryEngine): AssertWithin {
  const passed = new LRUCache<string, true, Asked>({
    max: 1000,
    ignoreFetchAbort: true,
    async fetchMethod(_, __, { context: { endpoint, statement, limits } }) {
      await dryRun(engine, endpoint, statement, limits)
      return true as const
    },
  })
  return async (endpoint, statement, limits = {}) => {
    const context = { endpoint, statement, limits }
    await passed.forceFetch(`${endpoint.version} ${statement.sql}`, { context })
  }
}

async function dryRun(
  engine: QueryEngine,
  endpoint: SandboxedEndpoint,
  { sql, bindings }: Statement,
  limits: DescribeLimits,
): Promise<void> {
  const withoutValues = bindings.map(({ name, type }) => ({ name, type, value: null }))
  const reads = await readsOf(engine, { sql, bindings: withoutValues }, limits)
  const { real } = tablesOfEndpoint(endpoint)
  const named = new Set(real.map(({ path }) => path.map(({ name }) => name).join('.')))
  const outside = reads.filter(name => !named.has(name))
  // A dry run of a view lists the view's own tables and routines too: those of the endpoint's tables are allowed.
  if (outside.length === 0) return
  const own = new Set(await ownReads(engine, endpoint))
  const foreign = outside.filter(name => !own.has(name))
  if (foreign.length > 0) throw breach(`reads ${foreign.join(', ')}`)
}

/** The operator gets the names, in the log line; the caller does not. */
function breach(what: string): ApiError {
  const cause = new EngineError('misconfigured', `the dry run of a sandboxed statement ${what}`)
  return new ApiError('internal', 'An internal error.', { cause })
}

/** Tables and routines, by the engine's names for them. */
async function readsOf(
  engine: QueryEngine,
  statement: Statement,
  limits?: DescribeLimits,
): Promise<string[]> {
  const { kind, tables, routines = [] } = await engine.describe(statement, limits)
  if (kind !== 'SELECT') throw breach(`is ${kind}, not a query`)
  return [...tables, ...routines]
}

async function ownReads(engine: QueryEngine, endpoint: SandboxedEndpoint): Promise<string[]> {
  const bindings = emptyBindings(endpoint)
  const reads = tableQueries(endpoint).map(({ sql }) => readsOf(engine, { sql, bindings }))
  return (await Promise.all(reads)).flat()
}
