/** Settings: one table, read once. No other file reads the environment (`shared/architecture.test.ts`). */
import { existsSync } from 'node:fs'
import { totalmem } from 'node:os'
import { join, resolve } from 'node:path'
import { packageFolder } from './package-folder.ts'

interface Setting<T> {
  variable: string
  description: string
  /** The value where the variable is unset or empty. */
  default: (env: Environment) => T
  /** Reads the text; `undefined` = not valid. */
  read: (text: string) => T | undefined
  /** The form of a valid value, for the error. */
  expected: string
}

export type Environment = Record<string, string | undefined>

/** A setting that is not valid, or does not go with another; the message names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Cloud Run sets the variable, and so do Cloud Functions. */
const deployed = (env: Environment) => Boolean(env['K_SERVICE'])

/** Google's clients would send this service's credentials to these. The client itself reads the second. */
const emulators = ['BIGQUERY_EMULATOR_HOST', 'FIRESTORE_EMULATOR_HOST']

function setting<T>(one: Setting<T>): Setting<T> {
  return one
}

/** `null` where the variable is unset or empty. */
function optional<T>(one: Omit<Setting<T>, 'default'>): Setting<T | null> {
  return { ...one, default: () => null }
}

type Form<T> = Pick<Setting<T>, 'read' | 'expected'>

const path: Form<string> = { read: text => resolve(text), expected: 'a path' }

function oneOf<T extends string>(...choices: T[]): Form<T> {
  return { read: text => choices.find(choice => choice === text), expected: choices.join(' or ') }
}

function matching(pattern: RegExp, expected: string): Form<string> {
  return { read: text => (pattern.test(text) ? text : undefined), expected }
}

/** Of a Google Cloud project, also of one in a domain: `example.com:my-project`. */
const project = '(?:[a-z][a-z0-9.-]{1,60}:)?[a-z][a-z0-9-]{2,60}'

function wholeNumber(min: number, max = Number.MAX_SAFE_INTEGER): Form<number> {
  const upTo = max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`
  return {
    read: text =>
      /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
    expected: `a whole number from ${min}${upTo}`,
  }
}

/** Every setting. A test holds the table in infra/docs/reference.md, "Settings", to this one. */
export const settings = {
  /** functions-framework reads it too. */
  port: setting({
    variable: 'PORT',
    description: 'Where the service listens',
    default: () => 8080,
    ...wholeNumber(1, 65_535),
    expected: 'a port from 1 to 65535',
  }),
  /** `null` = all interfaces. */
  listenHost: optional({
    variable: 'LISTEN_HOST',
    description: 'Who can connect: 127.0.0.1 = this machine, as with npm start; 0.0.0.0 or :: = the network',
    ...oneOf('127.0.0.1', '0.0.0.0', '::'),
  }),
  /** A command goes there before all else (`infra/lqe/folder.ts`), so that other paths begin there. */
  folder: setting({
    variable: 'LQE_FOLDER',
    description: 'Folder of queries/, tables/ and lqe.yaml that a command works on',
    default: () => resolve('.'),
    ...path,
  }),
  dataDir: setting({
    variable: 'DATA_DIR',
    description: 'Folder of the local logs and documents',
    default: () => resolve('.data'),
    ...path,
  }),
  requestsDays: setting({
    variable: 'REQUESTS_DAYS',
    description: 'Days that the local log table service.requests goes back; 0 = requests are not stored',
    default: () => 30,
    ...wholeNumber(0, 3_650),
  }),
  tablesDir: setting({
    variable: 'TABLES_DIR',
    description: 'Folder of the log tables’ schema files',
    default: () => (existsSync('tables') ? resolve('tables') : join(packageFolder, 'infra/tables')),
    ...path,
  }),
  engine: setting<'duckdb' | 'bigquery'>({
    variable: 'ENGINE',
    description: 'What runs the SQL: duckdb or bigquery',
    default: env => (deployed(env) ? 'bigquery' : 'duckdb'),
    ...oneOf('duckdb', 'bigquery'),
  }),
  engineMemoryBytes: setting({
    variable: 'ENGINE_MEMORY_BYTES',
    description: 'Bytes of memory that a query may take in the local engine',
    default: () => 2_000_000_000,
    ...wholeNumber(50_000_000, 1_000_000_000_000),
  }),
  engineProcesses: setting({
    variable: 'ENGINE_PROCESSES',
    description:
      'Queries that the local engine runs at a time, each in a process of its own; 0 = all in this one',
    default: () => 3,
    ...wholeNumber(0, 64),
  }),
  store: setting<'sqlite' | 'firestore'>({
    variable: 'STORE',
    description: 'What holds definitions, keys and answers: sqlite or firestore',
    default: env => (deployed(env) ? 'firestore' : 'sqlite'),
    ...oneOf('sqlite', 'firestore'),
  }),
  firestoreDatabase: setting({
    variable: 'FIRESTORE_DATABASE',
    description: 'Name of the Firestore database',
    default: () => '(default)',
    ...matching(/^(\(default\)|[a-z][a-z0-9-]{3,62})$/, '(default) or the name of a database'),
  }),
  /** `null` = the project of the credentials. */
  project: optional({
    variable: 'GOOGLE_CLOUD_PROJECT',
    description: 'Google Cloud project, for traces in the logs',
    ...matching(new RegExp(`^${project}$`), 'a project id'),
  }),
  corsOrigin: setting({
    variable: 'CORS_ORIGIN',
    description: 'Origin of web pages that may read answers; * = any',
    default: () => '*',
    ...matching(/^(\*|https?:\/\/[^/\s]+)$/, '* or an origin such as https://console.example.com'),
  }),
  /** Without it, the host that a caller names. */
  publicUrl: optional({
    variable: 'PUBLIC_URL',
    description:
      'Address by which agents that sign in reach the service, where it is not the root of its host',
    ...matching(/^https?:\/\/[^\s?#"\\]+[^/\s?#"\\]$/, 'an address such as https://api.example.com/logs'),
  }),
  /** What is in them is read in `shared/keys/issuers.ts`. */
  jwtIssuers: setting<readonly unknown[]>({
    variable: 'JWT_ISSUERS',
    description: 'Identity providers whose tokens are taken, beside those of `lqe issuer add`',
    default: () => [],
    read: listIn,
    expected: 'a list of issuers in JSON, as in infra/docs/tokens.md',
  }),
  maxUrlBytes: setting({
    variable: 'MAX_URL_BYTES',
    description: 'Longest path and query string',
    default: () => 32_768,
    ...wholeNumber(1_000, 100_000),
  }),
  /** A definition may say otherwise, up to `maxResultBytes` in `shared/endpoints/definition.schema.json`. */
  maxResultBytes: setting({
    variable: 'MAX_RESULT_BYTES',
    description: 'Bytes of JSON that the rows of one answer may be, unless the definition says',
    default: () => 10_000_000,
    ...wholeNumber(1_000, 33_000_000),
  }),
  /** With the process (150 MB) and the cache's memory (64 MB) it is under 60 % of 1 GiB: infra/bench, "memory". */
  maxBytesInFlight: setting({
    variable: 'MAX_BYTES_IN_FLIGHT',
    description: 'Bytes of memory for results that are read, made and sent; more get 503',
    default: () => Math.floor(memoryBytes() / 6),
    ...wholeNumber(1_000_000),
  }),
  /** Cloud Run kills the process after 10 s. */
  drainMs: setting({
    variable: 'DRAIN_MS',
    description: 'How long requests in flight may go on after SIGTERM, in milliseconds',
    default: () => 9_000,
    ...wholeNumber(0, 600_000),
  }),
  /**
   * Also how long a revoked key still works, and a replaced definition. 30 s are promised for both: there is time for a read
   * of the store that gets no answer, and the next one (`shared/stores/remember-reads.ts`).
   */
  rememberMs: setting({
    variable: 'REMEMBER_MS',
    description: 'How long keys and definitions are remembered, in milliseconds',
    default: () => 20_000,
    ...wholeNumber(1, 20_000),
  }),
  /** `null` = no page. */
  explorerDir: setting<string | null>({
    variable: 'EXPLORER_DIR',
    description: 'Folder of the page in the browser; off = no page',
    default: () => resolve('explorer'),
    read: text => (text === 'off' ? null : existsSync(join(text, 'index.html')) ? resolve(text) : undefined),
    expected: 'a folder with index.html, or off',
  }),
  /** `null` = nowhere. */
  queriesDir: optional({
    variable: 'QUERIES_DIR',
    description: 'Folder in which the page may save endpoints, as npm start sets it; not on Cloud Run',
    read: text => (existsSync(text) ? resolve(text) : undefined),
    expected: 'a folder that is there',
  }),
  frozenNow: optional({
    variable: 'FROZEN_NOW',
    description: 'A fixed present for the local engine, for tests',
    read: text => (Number.isNaN(Date.parse(text)) ? undefined : new Date(text).toISOString()),
    expected: 'an ISO 8601 time',
  }),
  /** `project.dataset`, or a dataset in the jobs' project. */
  bigQueryDataset: optional({
    variable: 'BIGQUERY_DATASET',
    description: 'Where the log tables are; in their names every character but letters, digits and _ is _',
    ...matching(new RegExp(String.raw`^(?:${project}\.)?\w+$`), 'project.dataset or dataset'),
  }),
  /** `project.dataset.table` by logical name. */
  bigQueryTables: setting<ReadonlyMap<string, string>>({
    variable: 'BIGQUERY_TABLES',
    description: 'Log tables that are elsewhere or called otherwise',
    default: () => new Map<string, string>(),
    read: realTables,
    expected: 'a list such as postgres.logs=project.dataset.table,gotrue.logs.prod=project.dataset.table',
  }),
  bigQueryLocation: optional({
    variable: 'BIGQUERY_LOCATION',
    description: 'Where the datasets are, for BigQuery’s jobs',
    ...matching(/^[A-Za-z][A-Za-z0-9-]{1,40}$/, 'a location such as EU or europe-west1'),
  }),
  maxBytesBilled: setting<number | null>({
    variable: 'MAX_BYTES_BILLED',
    description: 'Bytes that one BigQuery job may be billed for; 50 GB on Cloud Run',
    // $0.31 at $6.25 for a TiB. BigQuery compares an upper bound, which ignores clustering.
    default: env => (deployed(env) ? 50_000_000_000 : null),
    ...wholeNumber(1),
  }),
  bigQueryEndpoint: optional({
    variable: 'BIGQUERY_EMULATOR_HOST',
    description: 'Address of a server in place of BigQuery; not on Cloud Run',
    ...matching(/^https?:\/\/[^/\s]+$/, 'an address such as http://localhost:9050'),
  }),
  /** `null` = this process runs outside Cloud Run. */
  service: optional({
    variable: 'K_SERVICE',
    description: 'Set by Cloud Run: the name of the service',
    read: text => text,
    expected: 'a name',
  }),
  /** `null` = the account and machine. */
  author: optional({
    variable: 'LQE_AUTHOR',
    description: 'Who applies definitions, for the list of versions',
    ...matching(/^\P{Cc}{1,200}$/u, 'a name of at most 200 characters'),
  }),
  /** Both this and the service account are set, or none. */
  warmAudience: optional({
    variable: 'WARM_AUDIENCE',
    description: 'Address of the warm function, which its caller’s token must name',
    ...matching(
      /^https:\/\/[^\s?#]+$/,
      'a URL such as https://europe-west1-my-project.cloudfunctions.net/warm',
    ),
  }),
  warmServiceAccount: optional({
    variable: 'WARM_SERVICE_ACCOUNT',
    description: 'Service account that alone may call the warm function',
    ...matching(/^[^\s@]+@[^\s@]+$/, 'an e-mail address'),
  }),
  /** The warm function stops at 80 % of it. */
  warmDeadlineMs: setting({
    variable: 'WARM_DEADLINE_MS',
    description: 'How long the scheduler waits for the warm function, in milliseconds',
    default: () => 240_000,
    ...wholeNumber(1_000, 1_800_000),
  }),
  alertsToLoopback: setting({
    variable: 'ALERTS_TO_LOOPBACK',
    description: 'Whether alerts may go to this machine, also by http: yes or no; not on Cloud Run',
    default: () => false,
    read: text => (text === 'yes' ? true : text === 'no' ? false : undefined),
    expected: 'yes or no',
  }),
  warmMaxBytes: setting({
    variable: 'WARM_MAX_BYTES',
    description: 'Bytes that the engine may read in one call of the warm function',
    default: () => 100_000_000_000,
    ...wholeNumber(1),
  }),
}

export type Config = { [K in keyof typeof settings]: ReturnType<(typeof settings)[K]['default']> } & {
  /** A variable that a file of the operator's names, such as a secret of `channels.yaml`. */
  secret(variable: string): string | undefined
}

/**
 * Reads the settings from an environment.
 * @throws ConfigError with the variable and the form of a valid value
 */
export function loadConfig(env: Environment): Config {
  const entries = Object.entries(settings).map(([name, setting]) => [name, valueOf<unknown>(setting, env)])
  const config = { ...Object.fromEntries(entries), secret: variable => env[variable] } as Config
  if (deployed(env) && (config.engine === 'duckdb' || config.store === 'sqlite'))
    throw new ConfigError(
      'ENGINE and STORE: duckdb and sqlite keep data on a local disk, which Cloud Run does not have',
    )
  if ((config.warmAudience === null) !== (config.warmServiceAccount === null))
    throw new ConfigError('WARM_AUDIENCE and WARM_SERVICE_ACCOUNT: set both, or none')
  if (deployed(env) && config.alertsToLoopback) throw new ConfigError('ALERTS_TO_LOOPBACK: not on Cloud Run')
  for (const variable of [...emulators, 'QUERIES_DIR'])
    if (deployed(env) && env[variable]) throw new ConfigError(`${variable}: not on Cloud Run`)
  return config
}

/** Of the container, where it has a limit. */
function memoryBytes(): number {
  return Math.min(process.constrainedMemory() || Infinity, totalmem())
}

function valueOf<T>(setting: Setting<T>, env: Environment): T {
  const text = env[setting.variable]
  if (text === undefined || text === '') return setting.default(env)
  const value = setting.read(text)
  if (value === undefined) throw new ConfigError(`${setting.variable} must be ${setting.expected}`)
  return value
}

function listIn(text: string): unknown[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list : undefined
  } catch {
    return undefined
  }
}

/** Reads `logical=project.dataset.table`, with commas between several. */
function realTables(text: string): Map<string, string> | undefined {
  const pair = new RegExp(String.raw`^([^=\`]+)=(${project}\.\w+\.[\w-]+)$`)
  const pairs = text.split(',').map(each => pair.exec(each.trim()))
  return pairs.includes(null) ? undefined : new Map(pairs.map(pair => [pair![1]!, pair![2]!]))
}
