/**
 * `lqe deploy --project=P`: from nothing, or from any state in between, to a service that answers. It compares the project
 * with what is needed and does the rest, so it can be run again at any time. The guide is infra/docs/operating.md.
 */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { loadConfig } from '../../shared/config.ts'
import { issueKey, listKeys } from '../../shared/keys/records.ts'
import { functionFolder, isBuilt } from '../../shared/package-folder.ts'
import { usingServices } from '../lqe/command.ts'
import { restore, setUpDatabase, setUpFields } from './firestore.ts'
import {
  deployFunctions,
  earlierRevisions,
  sendTraffic,
  serviceEnvironment,
  servingAddresses,
  tagCandidates,
} from './functions.ts'
import { Google } from './google-api.ts'
import { setUpMonitoring } from './monitoring.ts'
import { preflight, preflightHere } from './preflight.ts'
import { setUpAccounts, setUpApis, setUpTrigger } from './project.ts'
import { removeAll, removeRegion } from './remove.ts'
import { setUpRoles } from './rights.ts'
import { setUpJobs } from './scheduler.ts'
import { keepSite, namesIn, optionsOfSettings, readSite, SettingsError, type Site } from './settings.ts'
import { smoke, smokeStart } from './smoke.ts'
import { setUpTables } from './tables.ts'

export interface Run {
  google: Google
  site: Site
  /** Of this process, with those of the service's data. */
  env: Record<string, string | undefined>
  dryRun: boolean
  sample: boolean
  isTested?: boolean
}

type Step = readonly [title: string, act: (google: Google, site: Site, run: Run) => Promise<unknown>]

/** For each push, of the bundle that is built: what an account without rights on the project may do. */
const release: Step[] = [
  ['tests', testQueries],
  ['functions', deployFunctions],
  ['smoke test of the new revisions', smokeCandidates],
  ['definitions', (_google, _site, run) => lqe(run, 'apply', ...(run.isTested ? ['--no-test'] : []))],
  ['jobs', (google, site) => setUpJobs(google, site)],
  ['smoke test of what serves', smokeServing],
]

export const steps: Step[] = [
  release[0]!,
  ['APIs', setUpApis],
  ['accounts', setUpAccounts],
  ['rights', setUpRoles],
  ['data', (google, site) => Promise.all([setUpDatabase(google, site), setUpTables(google, site)])],
  ['bundle', async (google, _site, { dryRun }) => dryRun || isBuilt || build(google.options.say)],
  ...release.slice(1),
  ['rows', async (_google, _site, run) => run.sample && lqe(run, 'logs', 'sample')],
  // Nothing waits for these.
  ['monitoring', setUpMonitoring],
  ['builds of pushes', setUpTrigger],
  ['expiry and backups', setUpFields],
]

/** An installed package has it, and no compiler. */
async function build(say: (line: string) => void): Promise<void> {
  const { buildAll } = await import('./build.ts')
  await buildAll(say)
}

/** Here, as they would stop `apply` when new code serves already; also in a dry run. */
async function testQueries(_google: Google, _site: Site, run: Run): Promise<void> {
  await lqe({ ...run, dryRun: false }, 'test')
  run.isTested = true
}

/** Traffic first, then definitions: they may use what only the new code knows, and the new code reads the old ones. */
async function smokeCandidates(google: Google, site: Site, run: Run): Promise<void> {
  if (run.dryRun) return
  await smoke(run, await tagCandidates(google, site))
  await sendTraffic(google, site)
}

async function smokeServing(google: Google, site: Site, run: Run): Promise<void> {
  if (!run.dryRun) await smoke(run, await servingAddresses(google, site))
}

/** A command of `lqe` on the deployed data; its lines are this one's. */
async function lqe({ google, env, dryRun }: Run, ...args: string[]): Promise<void> {
  google.options.say(`lqe ${args.join(' ')}`)
  if (dryRun) return
  const child = spawn(process.execPath, [process.argv[1]!, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => chunk.toString().trimEnd().split('\n').forEach(google.options.say))
  const code = await new Promise(resolve => child.on('close', resolve))
  if (code !== 0) throw new Error(`lqe ${args.join(' ')} ended with ${String(code)}`)
}

/** For whoever deploys first: 30 days, all endpoints. @returns nothing where there are keys */
function issueFirstKey({ env }: Run): Promise<string | undefined> {
  return usingServices(loadConfig(env), async ({ store }) => {
    if ((await listKeys(store)).some(({ name }) => name !== 'smoke test')) return undefined
    const expiresAt = new Date(Date.now() + 30 * 86_400_000)
    return (await issueKey(store, { name: 'first', endpoints: '*', pins: {}, rights: [], expiresAt })).key
  })
}

async function printAddresses({ google, site, env }: Run, key?: string): Promise<void> {
  const { query } = await servingAddresses(google, site)
  console.log(`\nThe page:  ${query}/`)
  if (key) console.log(`A key for 30 days, shown once:  ${key}`)
  const names = 'ENGINE STORE GOOGLE_CLOUD_PROJECT BIGQUERY_DATASET BIGQUERY_LOCATION FIRESTORE_DATABASE'
  const words = names.split(' ').map(name => `${name}='${env[name]}'`)
  console.log(`For lqe (keys, rows, definitions):  export ${words.join(' ')}`)
  console.log(`A call:  curl -s '${query}/api/endpoints' -H 'X-API-KEY: ${key ?? 'lqe_...'}'`)
}

/** Google's clients, here and in `lqe`: a person's calls count to the project. */
export async function countToProject({ google, env, site }: Run): Promise<void> {
  if (!(await google.caller()).endsWith('gserviceaccount.com'))
    env['GOOGLE_CLOUD_QUOTA_PROJECT'] = process.env['GOOGLE_CLOUD_QUOTA_PROJECT'] = site.project
}

/** A line a step, with its time, and its changes below. @throws what the step threw, as its own words */
async function carryOut(run: Run, all: Step[]): Promise<void> {
  await countToProject(run)
  for (const [title, act] of all) {
    const start = Date.now()
    console.log(`== ${title}`)
    await act(run.google, run.site, run)
    console.log(`   ${((Date.now() - start) / 1000).toFixed(1)} s`)
  }
}

export interface Flags extends Record<string, string | string[] | boolean | undefined> {
  project: string
  dryRun?: boolean
}

export function runOf({ project, dryRun = false, sample = false, ...given }: Flags): Run {
  // commander names the options in camel case.
  const kebab = (name: string) => name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [kebab(name), value]))
  const site = readSite(project, values as Record<string, string | string[] | undefined>)
  const google = new Google({ project, dryRun, say: line => console.log(`   ${line}`) })
  const env = { ...process.env, ENGINE: 'bigquery', STORE: 'firestore', ...serviceEnvironment(site) }
  return { google, site, env, dryRun, sample: sample === true }
}

async function deploy({ only, deleteOlderRows, ...flags }: Flags & { only?: string }): Promise<void> {
  const run = runOf(flags)
  const { google, dryRun, site } = run
  const wanted = only?.split(',')
  const unknown = wanted?.find(title => !steps.some(([step]) => step === title))
  if (unknown)
    throw new SettingsError(`--only=${unknown}: the steps are ${steps.map(([title]) => title).join(', ')}`)
  await preflight(google, site, deleteOlderRows === true)
  if (!dryRun) google.options.say(`settings: ${keepSite(site)}`)
  await carryOut(run, wanted ? steps.filter(([title]) => wanted.includes(title)) : steps)
  if (google.options.isUnasked) console.log(`\n${unasked}`)
  if (!dryRun && !wanted) await printAddresses(run, await issueFirstKey(run))
}

async function push(flags: Flags): Promise<void> {
  const run = runOf(flags)
  await preflightHere(run.google, run.site)
  if (!run.dryRun && !existsSync(functionFolder))
    throw new SettingsError('There is no dist/function to release: npm run build')
  await carryOut(run, release)
  if (!run.dryRun) await printAddresses(run)
}

/** Back and forth: the revisions that had the traffic are those before, then. */
async function rollback(flags: Flags & { query?: string; warm?: string }): Promise<void> {
  const run = runOf(flags)
  const { google, site, dryRun } = run
  const revisions = await earlierRevisions(google, site, flags)
  if (dryRun) return console.log(`Traffic would go to ${Object.values(revisions).join(' and ')}.`)
  try {
    await smokeStart(run, await tagCandidates(google, site, revisions))
  } catch (error) {
    const { service } = namesIn(site)
    const list = `gcloud run revisions list --service=${service('query').split('/').at(-1)!} --project=${site.project} --region=${site.region}`
    throw new Error(
      `${(error as Error).message}\nThe traffic is where it was. Name others that have served: --query=REVISION --warm=REVISION, of \`${list}\`.`,
      { cause: error },
    )
  }
  await sendTraffic(google, site)
  console.log('Forward again: the same command, which changes back to the revisions that had the traffic.')
  console.log(
    'Definitions stay as the newer build applied them: `lqe apply` from the older commit restores them.',
  )
}

async function restoreInto({ into, time, ...flags }: Flags & { into: string; time?: string }): Promise<void> {
  const { google, site } = runOf(flags)
  if (time !== undefined && Number.isNaN(Date.parse(time)))
    throw new SettingsError(`--time=${time} is no time, such as 2026-11-22T20:15:00Z`)
  await restore(google, site, into, time)
  const prefix = site.prefix && ` --prefix=${site.prefix}`
  console.log(`Now: lqe deploy --project=${site.project}${prefix} --database=${into}`)
}

async function remove(flags: Flags & { deleteDataset?: string; deleteDatabase?: string }): Promise<void> {
  const { google, site } = runOf(flags)
  const home = readSite(site.project, { prefix: site.prefix }).region
  if (site.region === home) await removeAll(google, site, flags)
  else await removeRegion(google, site)
}

const ofInstallation = /^(region|prefix|dataset|database|tables-in)$/
const ofFunctions = /^(region|location|prefix|dataset|database|tables-in|query-.*|warm-.*|env)$/

/** @param names the settings that it goes by */
function command(name: string, names: RegExp, description: string): Command {
  const one = new Command(name)
    .description(description)
    .requiredOption('--project <id>', 'project of Google Cloud')
  for (const option of optionsOfSettings(names)) one.addOption(option)
  const collect = (value: string, before: string[] = []) => [...before, value]
  const env = 'a setting of the service (infra/docs/reference.md, "Settings"); repeatable'
  if (names.test('env')) one.option('--env <NAME=VALUE>', env, collect)
  return one.option('--dry-run', 'say what would be changed, and change nothing')
}

/** An action that says what went wrong, and that it may be run again. */
export function telling<T extends unknown[]>(act: (...given: T) => Promise<void>, after = standing) {
  return async (...given: T): Promise<void> => {
    try {
      await act(...given)
    } catch (error) {
      console.error((error as Error).message)
      if (after && !(error instanceof SettingsError)) console.error(after)
      process.exitCode = 1
    }
  }
}

const unasked =
  'Nothing was made, and nothing of this costs before it is there; what it costs then: infra/docs/operating.md, "Cost for a day, on paper".'
const standing = 'What is done stands. Run it again when this is put right.'

/** Without a word it is `all`, whose help and usage are those of `lqe deploy`. */
export function deployCommand(): Command {
  const named = `some of: ${steps.map(([title]) => title).join(', ')}`
  return new Command('deploy')
    .description('deploy in a project of Google Cloud; push, rollback, restore, remove')
    .helpOption(false)
    .addCommand(
      command('all', /^/, 'Deploys the service in a project of Google Cloud, or what is missing of it')
        .option('--sample', 'load the sample logs')
        .option('--only <steps>', named)
        .option('--delete-older-rows', 'a lower --partition-expiry-days may delete rows')
        .configureHelp({ commandUsage: () => 'lqe deploy [options]' })
        .addHelpText('after', '\nOthers, each with --help: push, rollback, restore, remove')
        .action(telling(deploy)),
      { isDefault: true },
    )
    .addCommand(
      command('push', ofFunctions, 'Releases this version in a project that has been set up').action(
        telling(push),
      ),
    )
    .addCommand(
      command('rollback', /^(region|prefix)$/, 'Gives the traffic to the revisions that had it before')
        .option('--query <revision>', 'this one instead')
        .option('--warm <revision>', 'this one instead')
        .action(telling(rollback)),
    )
    .addCommand(
      command('restore', /^(prefix|database)$/, 'Makes another Firestore database, as this one was')
        .requiredOption('--into <name>', 'name of the new database, for --database=NAME of a deployment')
        .option('--time <time>', 'of the last seven days: 2026-11-22T20:15:00Z; by default the newest backup')
        .action(telling(restoreInto)),
    )
    .addCommand(
      command('remove', ofInstallation, 'Removes the service; data stay unless they are named')
        .option('--delete-dataset <name>', 'the dataset with all its tables too')
        .option('--delete-database <name>', 'the Firestore database too: definitions, keys, answers')
        .action(telling(remove)),
    )
}
