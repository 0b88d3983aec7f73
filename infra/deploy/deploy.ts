/**
 * `npm run deploy -- --project=P`: from nothing, or from any state in between, to a service that answers. It compares the project
 * with what is needed and does the rest, so it can be run again at any time. The guide is infra/docs/operating.md.
 */
import { spawn } from 'node:child_process'
import { Command } from 'commander'
import { loadConfig } from '../../shared/config.ts'
import { issueKey, listKeys } from '../../shared/keys/records.ts'
import { openServices } from '../../shared/services.ts'
import { readQueries } from '../lqe/apply/read.ts'
import { buildAll } from './build.ts'
import { restore, setUpDatabase, setUpFields } from './firestore.ts'
import {
  deployFunctions,
  rollback,
  sendTraffic,
  serviceEnvironment,
  servingAddresses,
  tagCandidates,
} from './functions.ts'
import { Google } from './google-api.ts'
import { setUpMonitoring } from './monitoring.ts'
import { preflight, PreflightError } from './preflight.ts'
import { setUpAccounts, setUpApis, setUpRoles } from './project.ts'
import { removeAll, removeRegion } from './remove.ts'
import { setUpJobs } from './scheduler.ts'
import { keepSite, optionsOfSettings, readSite, SettingsError, type Site } from './settings.ts'
import { smoke } from './smoke.ts'
import { setUpTables } from './tables.ts'
import { setUpTrigger } from './trigger.ts'

interface Run {
  google: Google
  site: Site
  /** Of this process, with those of the service's data. */
  env: Record<string, string | undefined>
  dryRun: boolean
  sample: boolean
}

type Step = readonly [title: string, act: (run: Run) => Promise<unknown>]

/** For each push, of the bundle in `dist/`: what an account without rights on the project may do. */
const release: Step[] = [
  ['functions', ({ google, site }) => deployFunctions(google, site)],
  ['smoke test of the new revisions', smokeCandidates],
  ['definitions', applyDefinitions],
  ['jobs', ({ google, site }) => setUpJobs(google, site)],
  ['smoke test of what serves', smokeServing],
]

const steps: Step[] = [
  ['APIs', ({ google, site }) => setUpApis(google, site)],
  ['accounts', ({ google, site }) => setUpAccounts(google, site)],
  ['rights', ({ google, site }) => setUpRoles(google, site)],
  ['data', ({ google, site }) => Promise.all([setUpDatabase(google, site), setUpTables(google, site)])],
  ['bundle', ({ google, dryRun }) => (dryRun ? Promise.resolve() : buildAll(google.options.say))],
  ...release,
  ['rows', loadSample],
  // Nothing waits for these.
  ['monitoring', ({ google, site }) => setUpMonitoring(google, site)],
  ['builds of pushes', ({ google, site }) => setUpTrigger(google, site)],
  ['expiry and backups', ({ google, site }) => setUpFields(google, site)],
]

/** Traffic first, then definitions: they may use what only the new code knows, and the new code reads the old ones. */
async function smokeCandidates({ google, site, env, dryRun }: Run): Promise<void> {
  if (dryRun) return
  await smoke({ google, site, env }, await tagCandidates(google, site), false)
  await sendTraffic(google, site)
}

async function smokeServing({ google, site, env, dryRun }: Run): Promise<void> {
  if (!dryRun) await smoke({ google, site, env }, await servingAddresses(google, site), true)
}

function applyDefinitions(run: Run): Promise<void> {
  return lqe(run, 'apply')
}

async function loadSample(run: Run): Promise<void> {
  if (run.sample) await lqe(run, 'logs', 'sample')
}

/** A command of `lqe` on the deployed data; its lines are this one's. */
async function lqe({ google, env, dryRun }: Run, ...args: string[]): Promise<void> {
  google.options.say(`lqe ${args.join(' ')}`)
  if (dryRun) return
  const child = spawn(process.execPath, ['infra/lqe/lqe.ts', ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => chunk.toString().trimEnd().split('\n').forEach(google.options.say))
  const code = await new Promise(resolve => child.on('close', resolve))
  if (code !== 0) throw new Error(`lqe ${args.join(' ')} ended with ${String(code)}`)
}

/** One for whoever deploys first: 30 days, all endpoints. */
async function printFirstCall({ google, site, env }: Run): Promise<void> {
  const { query } = await servingAddresses(google, site)
  const services = await openServices(loadConfig(env))
  const keys = (await listKeys(services.store)).filter(({ name }) => name !== 'smoke test')
  const expiresAt = new Date(Date.now() + 30 * 86_400_000)
  const grant = { name: 'first', endpoints: '*' as const, pins: {}, rights: [], expiresAt }
  const key = keys.length > 0 ? null : (await issueKey(services.store, grant)).key
  await services.close()
  console.log(`\nThe page:  ${query}/`)
  if (key) console.log(`A key for 30 days, shown once:  ${key}`)
  const { GOOGLE_CLOUD_PROJECT, BIGQUERY_DATASET, BIGQUERY_LOCATION, FIRESTORE_DATABASE } = env
  const own = {
    ENGINE: 'bigquery',
    STORE: 'firestore',
    GOOGLE_CLOUD_PROJECT,
    BIGQUERY_DATASET,
    BIGQUERY_LOCATION,
    FIRESTORE_DATABASE,
  }
  const words = Object.entries(own).map(([name, value]) => `${name}='${value}'`)
  console.log(`For lqe (keys, rows, definitions):  export ${words.join(' ')}`)
  console.log(`A call:  curl -s '${query}/api/endpoints' -H 'X-API-KEY: ${key ?? 'lqe_...'}'`)
}

/** A line a step, with its time, and its changes below. @throws what the step threw, as its own words */
async function carryOut(run: Run, all: Step[]): Promise<void> {
  // Google's clients, here and in `lqe`: a person's calls count to the project.
  if (!(await run.google.caller()).endsWith('gserviceaccount.com'))
    run.env['GOOGLE_CLOUD_QUOTA_PROJECT'] = process.env['GOOGLE_CLOUD_QUOTA_PROJECT'] = run.site.project
  for (const [title, act] of all) {
    const start = Date.now()
    console.log(`== ${title}`)
    await act(run)
    console.log(`   ${((Date.now() - start) / 1000).toFixed(1)} s`)
  }
}

interface Flags extends Record<string, string | string[] | boolean | undefined> {
  project: string
  dryRun?: boolean
  sample?: boolean
  only?: string
}

function runOf({ project, dryRun = false, sample = false, ...given }: Flags): Run {
  // commander names the options in camel case.
  const kebab = (name: string) => name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)
  const values = Object.fromEntries(Object.entries(given).map(([name, value]) => [kebab(name), value]))
  const site = readSite(project, values as Record<string, string | string[] | undefined>)
  const google = new Google({ project, dryRun, say: line => console.log(`   ${line}`) })
  const env = { ...process.env, ENGINE: 'bigquery', STORE: 'firestore', ...serviceEnvironment(site) }
  return { google, site, env, dryRun, sample }
}

async function deploy(flags: Flags): Promise<void> {
  const run = runOf(flags)
  const { google, dryRun, site } = run
  const wanted = flags.only?.split(',')
  const unknown = wanted?.find(title => !steps.some(([step]) => step === title))
  if (unknown)
    throw new SettingsError(`--only=${unknown}: the steps are ${steps.map(([title]) => title).join(', ')}`)
  run.site = await preflight(google, site)
  if (!wanted) readQueries('queries') // a definition that is wrong stops it here
  if (!dryRun) google.options.say(`settings: ${keepSite(site)}`)
  await carryOut(run, wanted ? steps.filter(([title]) => wanted.includes(title)) : steps)
  if (!dryRun && !wanted) await printFirstCall(run)
}

function command(name: string, description: string): Command {
  const one = new Command(name)
    .description(description)
    .requiredOption('--project <id>', 'project of Google Cloud')
  for (const option of optionsOfSettings()) one.addOption(option)
  const collect = (value: string, before: string[] = []) => [...before, value]
  return one
    .option(
      '--env <NAME=VALUE>',
      'a setting of the service (infra/docs/reference.md, "Settings"); repeatable',
      collect,
    )
    .option('--dry-run', 'say what would be changed, and change nothing')
}

/** Without a word it is `all`, whose help this has too. */
const program = new Command('deploy').helpOption(false)
program.addCommand(
  command('all', 'Deploys the service in a project of Google Cloud, or what is missing of it')
    .option('--sample', 'load the sample logs')
    .option('--only <steps>', `some of: ${steps.map(([title]) => title).join(', ')}`)
    .addHelpText('after', '\nOthers, each with --help: push, rollback, restore, remove')
    .action(deploy),
  { isDefault: true },
)
program.addCommand(
  command(
    'push',
    'Releases dist/ (npm run build), as CI does for each push, in a project that has been set up',
  ).action((flags: Flags) => carryOut(runOf(flags), release)),
)
program.addCommand(
  command('rollback', 'Gives the traffic to the revisions that had it before')
    .option('--query <revision>', 'this one instead')
    .option('--warm <revision>', 'this one instead')
    .action(async (flags: Flags & { query?: string; warm?: string }) => {
      const { google, site } = runOf(flags)
      await rollback(google, site, flags)
      console.log(
        'Definitions stay as the newer build applied them: `lqe apply` from the older commit restores them.',
      )
    }),
)
program.addCommand(
  command(
    'restore',
    'Makes another Firestore database, as this one was; --database=NAME of a deployment then uses it',
  )
    .requiredOption('--into <name>', 'name of the new database')
    .option(
      '--time <time>',
      'a moment of the last seven days, as 2026-11-22T20:15:00Z; by default the newest backup',
    )
    .action(async (flags: Flags & { into: string; time?: string }) => {
      const { google, site } = runOf(flags)
      if (flags.time !== undefined && Number.isNaN(Date.parse(flags.time)))
        throw new SettingsError(`--time=${flags.time} is no time, such as 2026-11-22T20:15:00Z`)
      await restore(google, site, flags.into, flags.time)
      console.log(`Now: npm run deploy -- --project=${site.project} --database=${flags.into}`)
    }),
)
program.addCommand(
  command('remove', 'Removes the service; data stay unless they are named')
    .option('--delete-dataset <name>', 'the dataset with all its tables too')
    .option('--delete-database <name>', 'the Firestore database too: definitions, keys, answers')
    .action(async (flags: Flags & { deleteDataset?: string; deleteDatabase?: string }) => {
      const { google, site } = runOf(flags)
      const home = readSite(site.project, { prefix: site.prefix }).region
      if (site.region === home) await removeAll(google, site, flags)
      else await removeRegion(google, site)
    }),
)

if (import.meta.main)
  try {
    await program.parseAsync()
  } catch (error) {
    console.error((error as Error).message)
    if (!(error instanceof PreflightError || error instanceof SettingsError))
      console.error('What is done stands. Run it again when this is put right.')
    process.exitCode = 1
  }
