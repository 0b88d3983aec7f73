/** From settings to services: the only importer of the adapters. */
import { join } from 'node:path'
import { type Config, ConfigError } from './config.ts'
import { localKeyFile, openDataFolder } from './data-folder.ts'
import { type Delivery, openChannels } from './alerts/deliver.ts'
import { untilStopped } from './engines/deadline.ts'
import type { QueryEngine } from './engines/engine.ts'
import { BytesInFlight } from './answers/in-flight.ts'
import { AnswerCache } from './cache/cache.ts'
import { type Log, log, occasionally } from './log.ts'
import { type ColumnsOf, rememberColumns } from './endpoints/columns.ts'
import { type Endpoints, openEndpoints } from './endpoints/lookup.ts'
import { type FindUpstream, openUpstream } from './endpoints/upstream-tables.ts'
import { type ByteLimits, type CallLimits, openByteLimits, openCallLimits } from './keys/limits.ts'
import { type Cursors, openCursors } from './pages/cursor.ts'
import { type AssertWithin, rememberVerdicts } from './sandbox/verdict.ts'
import { withLog } from './stores/calls.ts'
import type { Store } from './stores/store.ts'
import { type Authenticate, createAuthenticator } from './keys/authenticate.ts'
import { type Issuers, openIssuers } from './keys/issuers.ts'
import { isToken } from './key-text.ts'

export interface Services extends Delivery {
  engine: QueryEngine
  store: Store
  endpoints: Endpoints
  /** Before an endpoint's SQL is run or described. */
  findUpstream: FindUpstream
  columnsOf: ColumnsOf
  cache: AnswerCache
  inFlight: BytesInFlight
  assertWithin: AssertWithin
  /** Whether it sends a key or a token. */
  authenticate: Authenticate
  /** Of tokens. */
  issuers: Issuers
  byteLimits: ByteLimits
  callLimits: CallLimits
  cursors: Cursors
  /** For what repeats during an outage: at most one line a second of a kind. */
  log: Log
  close(): Promise<void>
}

/** @param stopping ends the engine's runs, where the process ends before them */
export async function openServices(config: Config, stopping?: AbortSignal): Promise<Services> {
  if (config.engine === 'duckdb' || config.store === 'sqlite') openDataFolder(config.dataDir)
  const [opened, unlogged] = await Promise.all([engines[config.engine](config), stores[config.store](config)])
  const engine = stopping ? untilStopped(opened, stopping) : opened
  const rarely = occasionally(log)
  const store = withLog(unlogged, rarely)
  const inFlight = new BytesInFlight(config.maxBytesInFlight)
  const cache = new AnswerCache(store, {}, rarely, inFlight)
  const endpoints = openEndpoints(store, config)
  const columnsOf = rememberColumns(engine)
  const issuers = openIssuers(store, config)
  const findUpstream = openUpstream(name => endpoints.find(name), columnsOf)
  return {
    engine,
    store,
    cache,
    inFlight,
    log: rarely,
    endpoints,
    findUpstream,
    columnsOf: async (endpoint, sql) => columnsOf(await findUpstream(endpoint), sql),
    assertWithin: rememberVerdicts(engine),
    byteLimits: openByteLimits(store),
    cursors: openCursors(store, config),
    callLimits: openCallLimits(),
    ...openChannels({ ...config, store }),
    issuers,
    authenticate: authenticator(store, issuers, config),
    async close() {
      await engine.close() // with it end its runs, which write that they have failed
      await cache.close()
      await store.close()
    },
  }
}

/** What checks tokens is loaded with the first one. */
function authenticator(store: Store, issuers: Issuers, config: Config): Authenticate {
  const { rememberMs, dataDir } = config
  const ofKey = createAuthenticator(store, { rememberMs })
  // The file is this machine's, and so is a service over a store of this machine.
  const isLaptop = config.service === null && config.store === 'sqlite'
  const localKey = isLaptop ? localKeyFile(dataDir) : null
  let ofToken: Promise<Authenticate> | undefined
  const load = () => import('./keys/tokens.ts').then(({ openTokens }) => openTokens({ issuers, localKey }))
  return async sent => (isToken(sent) ? (await (ofToken ??= load()))(sent) : ofKey(sent))
}

/** Each adapter is loaded only where it is chosen: the deployed bundle has no local one, a laptop loads no cloud client. */
const engines: Record<Config['engine'], (config: Config) => Promise<QueryEngine>> = {
  async duckdb(config) {
    const { tablesDir: tablesFolder, engineMemoryBytes: memoryBytes, engineProcesses: atOnce } = config
    const logsFolder = join(config.dataDir, 'logs')
    const now = config.frozenNow === null ? {} : { now: config.frozenNow }
    if (atOnce > 0) {
      const { openDuckDbProcesses } = await import('./engines/duckdb/processes.ts')
      return openDuckDbProcesses({ logsFolder, tablesFolder, memoryBytes, atOnce, ...now })
    }
    const [{ openDuckDb }, { readTableSchemas }] = await Promise.all([
      import('./engines/duckdb/engine.ts'),
      import('./engines/duckdb/tables.ts'),
    ])
    const readTables = () => readTableSchemas(tablesFolder)
    return openDuckDb({ logsFolder, tables: readTables(), readTables, memoryBytes, ...now })
  },
  async bigquery(config) {
    const { openBigQuery } = await import('./engines/bigquery/engine.ts')
    return openBigQuery({ ...bigQueryOf(config), maxBytesBilled: config.maxBytesBilled })
  },
}

/** Where BigQuery's tables are, and its jobs run. @throws ConfigError without a dataset */
export function bigQueryOf(config: Config) {
  const { bigQueryDataset: dataset, bigQueryTables: tables, project } = config
  if (dataset === null) throw new ConfigError('BIGQUERY_DATASET must be set where ENGINE is bigquery')
  return { dataset, tables, project, location: config.bigQueryLocation, endpoint: config.bigQueryEndpoint }
}

const stores: Record<Config['store'], (config: Config) => Promise<Store>> = {
  async sqlite(config) {
    const { openSqlite } = await import('./stores/sqlite/store.ts')
    return openSqlite({ file: join(config.dataDir, 'store.sqlite'), log })
  },
  async firestore(config) {
    const { openFirestore } = await import('./stores/firestore/store.ts')
    return openFirestore({ project: config.project, database: config.firestoreDatabase })
  },
}
