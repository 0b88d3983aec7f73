/**
 * What a deployment is told: one table. Flags are kept in `deploy/<project>.yaml` (of this repository, `projects/` beside this file), so that the
 * next deployment, also that of CI, is told the same; the file is for the repository of whose endpoints they are.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Option } from 'commander'
import { parse, stringify } from 'yaml'

/** What a value looks like, what it is for, and what it is where nothing is said. */
type Setting = readonly [pattern: RegExp, description: string, standard?: string]

const place = /^[A-Za-z][A-Za-z0-9-]{1,40}$/
const installation = /^([a-z][a-z0-9]{3,11})?$/
const dataset = /^[a-z][a-z0-9-]{4,60}\.\w+$/
const count = /^\d+$/
const size = /^\d+[KMG]i$/
const share = /^[\d.]+$/
const repository = /^(projects\/\S+\/repositories\/\S+|[\w.-]+\/[\w.-]+)$/

/** Every setting, by the name of its flag. Defaults of size: infra/docs/operating.md, "Sizes and limits". */
export const settings = {
  region: [place, 'of the functions and the scheduler’s jobs', 'europe-west1'],
  location: [place, 'of the dataset', 'EU'],
  'firestore-location': [place, 'of the database', 'eur3'],
  prefix: [installation, 'begins the names of a second installation, such as staging-query', ''],
  dataset: [/^\w+$/, 'of the log tables (logs; with a prefix: PREFIX_logs)'],
  database: [/^(\(default\)|[a-z][a-z0-9-]{3,62})$/, 'of Firestore ((default); with a prefix: PREFIX)'],
  'tables-in': [dataset, 'project.dataset: log tables that are elsewhere; none are made'],
  'partition-expiry-days': [
    count,
    'log tables lose partitions after N days; 0: never (as new tables have it)',
  ],
  partition: [/^(HOUR|DAY)$/, 'HOUR or DAY, for new tables (HOUR where they expire after 416 days at most)'],
  'project-column': [/^yes$/, 'yes: a column `project` for tables with it in their metadata only'],
  notify: [/^\S+@\S+$/, 'e-mail address that alerts go to; without it they are in the console only'],
  repository: [repository, 'OWNER/NAME, or projects/../repositories/..: Cloud Build deploys each push to it'],
  branch: [/^/, 'branches that are deployed, as a regular expression', '^main$'],
  'backup-days': [/^(\d|[1-8]\d|9[0-8])$/, 'daily backups are kept for N days (98 at most, 0: none)', '14'],
  'query-memory': [size, 'of an instance of query', '1Gi'],
  'query-cpu': [share, 'of an instance of query', '1'],
  'query-concurrency': [count, 'calls that an instance of query answers at once', '80'],
  'query-timeout': [count, 'seconds for a call of query', '120'],
  'query-min-instances': [count, '1: no caller waits for a cold start', '0'],
  'query-max-instances': [count, 'instances of query at most', '10'],
  'warm-memory': [size, 'of an instance of warm', '1Gi'],
  'warm-cpu': [share, 'of an instance of warm', '1'],
  'warm-concurrency': [count, 'calls that an instance of warm takes at once', '4'],
  'warm-deadline': [count, 'seconds that the scheduler waits for a call of warm', '240'],
  'warm-max-instances': [count, 'instances of warm at most', '2'],
} as const satisfies Record<string, Setting>

const all = Object.entries(settings as Record<string, Setting>)

type Name = keyof typeof settings
type Given = { [K in Name]: (typeof settings)[K] extends { 2: string } ? string : string | undefined }

export interface Site extends Omit<Given, 'dataset' | 'database'> {
  project: string
  dataset: string
  database: string
  /** Settings of the service (`shared/config.ts`) for both functions. */
  env: Readonly<Record<string, string>>
  /** How each was said, for who reads that it is wrong: `--region=mars`, or `my-project.yaml:3: region=mars`. */
  said: Readonly<Record<string, string>>
}

/** A setting that is not valid; the message says which. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}

/** Flags for commander. @param names those that the command goes by */
export function optionsOfSettings(names: RegExp): Option[] {
  const wanted = all.filter(([name]) => names.test(name))
  return wanted.map(
    ([name, [, description, standard]]) =>
      new Option(`--${name} <value>`, `${description}${standard ? ` (default: ${standard})` : ''}`),
  )
}

/** As YAML has it: what is written without quotes may be a number. */
type Value = string | number | boolean
type Kept = { env?: Record<string, Value> | null } & Partial<Record<Name | 'access', Value>>

export function fileOf(project: string, prefix = ''): string {
  const folder = existsSync('infra/deploy') ? 'infra/deploy/projects' : 'deploy'
  return join(folder, `${[project, prefix].filter(Boolean).join('.')}.yaml`)
}

function readKept(file: string): { kept: Kept; lineOf: (name: string) => string } {
  const text = existsSync(file) ? readFileSync(file, 'utf8') : ''
  const lines = text.split('\n')
  try {
    const kept = (parse(text) ?? {}) as Kept
    if (typeof kept !== 'object' || Array.isArray(kept)) throw new Error('it is no map of settings')
    return {
      kept,
      lineOf: name => `${file}:${lines.findIndex(one => one.trim().startsWith(`${name}:`)) + 1}`,
    }
  } catch (error) {
    throw new SettingsError(`${file}: ${(error as Error).message.split('\n')[0]!}`)
  }
}

/**
 * The file's settings with those given over them.
 * @param given values by name, and `env` as `NAME=VALUE`
 * @throws SettingsError
 */
export function readSite(project: string, given: Record<string, string | string[] | undefined>): Site {
  if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(project))
    throw new SettingsError(`--project=${project} is not the id of a project, such as my-project-123`)
  const { kept, lineOf } = readKept(fileOf(project, given['prefix'] as string | undefined))
  // Before, a deployment wrote `access` into every file; today it finds that out each time.
  const { env: keptEnv, access: _, ...keptSettings } = kept
  const { env: pairs = [], ...flags } = given
  const values: Record<string, string | undefined> = {}
  const said: Record<string, string> = {}
  for (const name of Object.keys(keptSettings))
    if (!(name in settings)) throw new SettingsError(`${lineOf(name)}: there is no setting ${name}`)
  for (const [name, [pattern, description, standard]] of all) {
    const ofFile = flags[name] === undefined ? keptSettings[name as Name] : undefined
    const value = flags[name] ?? ofFile ?? standard
    values[name] = value === undefined ? undefined : String(value)
    said[name] =
      ofFile === undefined ? `--${name}=${values[name]}` : `${lineOf(name)}: ${name}=${values[name]}`
    if (value !== undefined && !pattern.test(String(value)))
      throw new SettingsError(
        `${said[name]} is not valid: ${description}${standard ? `, such as ${standard}` : ''}`,
      )
  }
  // By hand a number may be written without quotes, which gcloud refuses.
  const env = Object.fromEntries(Object.entries(keptEnv ?? {}).map(([name, value]) => [name, String(value)]))
  for (const name of Object.keys(env)) said[name] = `${lineOf(name)}: ${name}`
  for (const pair of pairs) {
    const at = pair.indexOf('=')
    if (at < 1) throw new SettingsError(`--env=${pair}: write NAME=VALUE`)
    env[pair.slice(0, at)] = pair.slice(at + 1)
    said[pair.slice(0, at)] = `--env ${pair.slice(0, at)}`
  }
  const { prefix } = values as Given
  return {
    ...(values as Given),
    project,
    dataset: values['dataset'] ?? (prefix ? `${prefix}_logs` : 'logs'),
    database: values['database'] ?? (prefix || '(default)'),
    env,
    said,
  }
}

/** Writes what differs from the defaults where it will be found. @returns the file */
export function keepSite(site: Site): string {
  const file = fileOf(site.project, site.prefix)
  const values = site as unknown as Record<string, string | undefined>
  const said = all.filter(([name, [, , standard]]) => values[name] !== undefined && values[name] !== standard)
  const kept = Object.fromEntries(said.map(([name]) => [name, values[name]]))
  mkdirSync(dirname(file), { recursive: true })
  const env = Object.keys(site.env).length > 0 ? { env: site.env } : {}
  const head = '# Settings of the deployment in this project; `lqe deploy` reads and writes them.'
  writeFileSync(file, `${head}\n${stringify({ ...kept, ...env })}`)
  return file
}

/** What an installation calls its parts: `query` and `lqe-query`, or `staging-query` both. */
export function namesIn({ project, region, prefix }: Pick<Site, 'project' | 'region' | 'prefix'>) {
  const own = (name: string) => `${prefix || 'lqe'}-${name}`
  const functionName = (name: FunctionName) => (prefix ? own(name) : name)
  const email = (name: AccountName) => `${own(name)}@${project}.iam.gserviceaccount.com`
  return {
    own,
    functionName,
    email,
    /** A function's address by its name; warm's is the audience of the scheduler's tokens. */
    address: (name: FunctionName) => `https://${region}-${project}.cloudfunctions.net/${functionName(name)}`,
    service: (name: FunctionName) => `projects/${project}/locations/${region}/services/${functionName(name)}`,
  }
}

export const functionNames = ['query', 'warm'] as const
export type FunctionName = (typeof functionNames)[number]
export const accountNames = ['query', 'warm', 'scheduler', 'build'] as const
export type AccountName = (typeof accountNames)[number]
