/**
 * The service as deployed, on this machine: the built bundle (`npm run build`) in a process of its own, with Google's
 * clients, against Google's Firestore emulator and the stand-in for BigQuery.
 */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type BigQueryServer, type BigQueryServerOptions, startBigQueryServer } from './bigquery/server.ts'
import type { Config, Environment } from '../../shared/config.ts'
import { readTableSchemas } from '../../shared/engines/duckdb/tables.ts'
import type { Details, Log, Severity } from '../../shared/log.ts'
import { functionFolder } from '../../shared/package-folder.ts'
import { useEmulator } from './firestore-emulator.ts'
import { functionOf, start, stop, untilUp } from '../local/process.ts'

export interface Backends {
  /** Settings with which the service uses them. */
  env: Record<string, string>
  bigQuery: BigQueryServer
  stop(): Promise<void>
}

/**
 * Starts both. Each call gets a project of its own, and so its own documents.
 * @param options of BigQuery: the current time of the queries, who may do what, and tables that are made later
 */
export async function startBackends(
  { dataDir, tablesDir }: Config,
  options: Pick<BigQueryServerOptions, 'now' | 'permits' | 'made'> = {},
): Promise<Backends> {
  const { address } = await useEmulator()
  const project = `test-${randomBytes(8).toString('hex')}`
  const dataset = `${project}.logs`
  const bigQuery = await startBigQueryServer({
    logsFolder: join(dataDir, 'logs'),
    tables: readTableSchemas(tablesDir),
    dataset,
    ...options,
  })
  const env = {
    ENGINE: 'bigquery',
    STORE: 'firestore',
    GOOGLE_CLOUD_PROJECT: project,
    BIGQUERY_DATASET: dataset,
    BIGQUERY_EMULATOR_HOST: bigQuery.url,
    FIRESTORE_EMULATOR_HOST: address,
    METADATA_SERVER_DETECTION: 'none', // the emulators need no credentials
  }
  return { env, bigQuery, stop: () => bigQuery.close() }
}

/**
 * Starts a function of the bundle, in its folder: the explorer's page is beside it. Its log lines go to `log`.
 * @param where by default what was built last, on a free port
 */
export async function startBundle(
  target: string,
  env: Environment,
  log: Log,
  { folder = functionFolder, port }: { folder?: string; port?: number } = {},
): Promise<{ url: string; stop(): Promise<void> }> {
  const server = await start({ ...functionOf(folder, target, env), cwd: folder, port })
  createInterface(server.child.stdout!).on('line', line => relay(line, log))
  await untilUp(server).catch(cause => {
    throw new Error('the bundle does not start; is there one? npm run build makes it', { cause })
  })
  return { url: server.url, stop: () => stop(server) }
}

function relay(line: string, log: Log): void {
  if (!line.startsWith('{')) return
  const { severity, message, ...details } = JSON.parse(line) as {
    severity: Severity
    message: string
  } & Details
  log(severity, message, details)
}
