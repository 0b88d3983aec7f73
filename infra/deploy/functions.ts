/**
 * Both functions: new revisions by `gcloud functions deploy`, who may call them, and which revision gets the traffic.
 *
 * gcloud leaves the traffic of a service alone where that goes to revisions by name ("Traffic splitting" of Cloud Run functions;
 * `allTrafficOnLatestRevision` in gcloud's v2 deploy command), so naming those that serve is what holds the traffic until the new
 * ones have passed the smoke test. `gcloud run deploy --function` would make a service that the function's address and `gcloud
 * functions` do not know.
 */
import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { functionFolder } from '../../shared/package-folder.ts'
import { inTemporaryFolder } from '../lqe/temporary-folder.ts'
import type { Google, Json } from './google-api.ts'
import { grant } from './rights.ts'
import { type FunctionName, functionNames, namesIn, type Site } from './settings.ts'
import { logTables, tableId } from './tables.ts'

/** Of the Cloud Run Admin API, version 2. */
export interface Service extends Json {
  uri: string
  latestReadyRevision: string
  invokerIamDisabled?: boolean
  traffic?: Target[]
  trafficStatuses?: (Target & { uri?: string })[]
}

export interface Target {
  type: string
  revision?: string
  percent?: number
  tag?: string
}

type OfBoth = Record<FunctionName, string>
export type Addresses = OfBoth

/** Settings of the service where it runs, and of commands that work on the same data. */
export function serviceEnvironment(site: Site): Record<string, string> {
  const elsewhere = site['tables-in']
  const tables = elsewhere ? logTables().map(name => `${name}=${elsewhere}.${tableId(name)}`) : []
  return {
    GOOGLE_CLOUD_PROJECT: site.project,
    BIGQUERY_DATASET: site.dataset,
    BIGQUERY_LOCATION: site.location,
    FIRESTORE_DATABASE: site.database,
    ...(tables.length > 0 ? { BIGQUERY_TABLES: tables.join() } : {}),
    ...site.env,
  }
}

/** All that a deployed function is told. */
export function environmentOf(site: Site, name: FunctionName): Record<string, string> {
  const ofWarm = {
    WARM_AUDIENCE: namesIn(site).address('warm'),
    WARM_SERVICE_ACCOUNT: namesIn(site).email('scheduler'),
    WARM_DEADLINE_MS: `${site['warm-deadline']}000`,
  }
  return { NODE_ENV: 'production', ...serviceEnvironment(site), ...(name === 'warm' ? ofWarm : {}) }
}

/** Flags of gcloud, and where the API has their values. */
const sizes = {
  memory: 'availableMemory',
  cpu: 'availableCpu',
  concurrency: 'maxInstanceRequestConcurrency',
  'min-instances': 'minInstanceCount',
  'max-instances': 'maxInstanceCount',
  timeout: 'timeoutSeconds',
}

/** A flag's value is a setting: `--memory` is `query-memory` or `warm-memory`. */
function sizesOf(site: Site, name: FunctionName): Record<string, string> {
  const values = {
    ...(site as unknown as Record<string, string>),
    // Longer than the scheduler waits, so that the call ends by itself.
    'warm-timeout': String(Number(site['warm-deadline']) + 60),
    'warm-min-instances': '0',
  }
  return Object.fromEntries(
    Object.keys(sizes).map(flag => [flag, (values as Record<string, string>)[`${name}-${flag}`]!]),
  )
}

/** @returns `memory 1Gi`, `min-instances 1 (was 0)`, ...: all sizes, and of the environment what differs from what stands */
export async function settingsOf(google: Google, site: Site, name: FunctionName): Promise<string[]> {
  const { project, region } = site
  const at = `cloudfunctions/v2/projects/${project}/locations/${region}/functions/${namesIn(site).functionName(name)}`
  const { serviceConfig } = (await google.get(at)) ?? {}
  const there = serviceConfig as Record<string, string | number> | undefined
  const before = there?.['environmentVariables'] as Record<string, string> | undefined
  const wanted = environmentOf(site, name)
  const lines = Object.entries(sizesOf(site, name)).map(([flag, size]) => {
    const was = String(there?.[sizes[flag as keyof typeof sizes]] ?? '0')
    return `${flag} ${size}${there && was !== size ? ` (was ${was})` : ''}`
  })
  const brief = (value = 'none') => (value.length > 60 ? `${value.slice(0, 60)}...` : value)
  const names = before ? [...new Set([...Object.keys(before), ...Object.keys(wanted)])] : []
  for (const name of names)
    if (before![name] !== wanted[name])
      lines.push(`${name} ${brief(wanted[name])} (was ${brief(before![name])})`)
  return lines
}

/** Arguments of gcloud. @param envFile YAML or JSON: commas in a value would break `--set-env-vars` */
export function deployArguments(site: Site, name: FunctionName, envFile: string): string[] {
  const { email, functionName } = namesIn(site)
  const same = '--gen2 --runtime=nodejs24 --trigger-http --quiet'.split(' ')
  const flags = {
    source: functionFolder,
    project: site.project,
    region: site.region,
    'entry-point': name,
    'service-account': email(name),
    'build-service-account': `projects/${site.project}/serviceAccounts/${email('build')}`,
    'env-vars-file': envFile,
    ...sizesOf(site, name),
  }
  const own = Object.entries(flags).map(([flag, value]) => `--${flag}=${value}`)
  return ['functions', 'deploy', functionName(name), ...same, ...own]
}

/** Deploys both side by side. What serves goes on serving. @throws Error with gcloud's last lines */
export async function deployFunctions(google: Google, site: Site): Promise<void> {
  await holdTraffic(google, site)
  await inTemporaryFolder('deploy', async folder => {
    const deploy = async (name: FunctionName) => {
      const envFile = join(folder, `${name}.yaml`)
      writeFileSync(envFile, JSON.stringify(environmentOf(site, name)))
      const title = `function ${namesIn(site).functionName(name)}: deployed`
      google.options.say(`${title}, ${(await settingsOf(google, site, name)).join(', ')}`)
      if (!google.options.dryRun) await gcloud(google, deployArguments(site, name, envFile))
    }
    await Promise.all(functionNames.map(deploy))
  })
  await setUpCallers(google, site)
}

/** The first deployment of a project fails while its registry is made, and passes when it is repeated. */
const passing = /Unable to retrieve the repository metadata|gcf-artifacts|has not been used in project/i

async function gcloud(google: Google, args: string[]): Promise<void> {
  const run = () => promisify(execFile)('gcloud', args, { maxBuffer: 1e8 })
  try {
    await google.persist(run, passing)
  } catch (error) {
    const lines = (error as Error).message.trim().split('\n').slice(-15).join('\n')
    throw new Error(`gcloud ${args.slice(0, 3).join(' ')} failed:\n${lines}`, { cause: error })
  }
}

/** Everyone calls query, which asks for keys; the scheduler alone calls warm. */
export async function setUpCallers(google: Google, site: Site): Promise<void> {
  const { service, email, functionName } = namesIn(site)
  const [query, warm] = functionNames.map(name => `run/v2/${service(name)}`)
  const { invokerIamDisabled } = ((await google.get(query!)) ?? {}) as Partial<Service>
  if (!invokerIamDisabled)
    try {
      await grant(google, query!, functionName('query'), [['roles/run.invoker', 'allUsers']])
    } catch (error) {
      if (!/organi[sz]ation policy|permitted customer|constraints\//i.test((error as Error).message))
        throw error
      // "Allowing public (unauthenticated) access": recommended where a policy forbids allUsers.
      const title = `${functionName('query')}: open, without the check of its caller`
      const open = { invokerIamDisabled: true }
      await google.change(title, 'PATCH', `${query}?updateMask=invokerIamDisabled`, open)
    }
  await grant(google, warm!, functionName('warm'), [
    ['roles/run.invoker', `serviceAccount:${email('scheduler')}`],
  ])
}

// ---- traffic

export async function serviceOf(google: Google, site: Site, name: FunctionName): Promise<Service | null> {
  return (await google.get(`run/v2/${namesIn(site).service(name)}`)) as Service | null
}

/** Those that get traffic now, by name. */
export function serving({ trafficStatuses = [] }: Service): Target[] {
  const receiving = trafficStatuses.filter(({ percent = 0 }) => percent > 0)
  return receiving.map(({ revision, percent }) => byName(revision!, { percent: percent! }))
}

function byName(revision: string, rest: Pick<Target, 'percent' | 'tag'>): Target {
  return { type: 'TRAFFIC_TARGET_ALLOCATION_TYPE_REVISION', revision, ...rest }
}

function tagged({ trafficStatuses = [] }: Service, tag: string) {
  return trafficStatuses.find(target => target.tag === tag)
}

async function send(google: Google, site: Site, name: FunctionName, traffic: Target[], title: string) {
  const at = `run/v2/${namesIn(site).service(name)}?updateMask=traffic`
  return (await google.change(`${name}: ${title}`, 'PATCH', at, { traffic })) as Service
}

/** Names the revisions that serve, where the newest would. */
export async function holdTraffic(google: Google, site: Site): Promise<void> {
  await ofBoth(async name => {
    const service = await serviceOf(google, site, name)
    if (service && !service.traffic?.every(({ type }) => type.endsWith('_REVISION')))
      await send(google, site, name, serving(service), 'its traffic stays with the revision that serves')
    return ''
  })
}

/** Gives revisions addresses of their own, for the smoke test. @param revisions by default the newest */
export async function tagCandidates(google: Google, site: Site, revisions?: OfBoth): Promise<Addresses> {
  return ofBoth(async name => {
    const service = (await serviceOf(google, site, name))!
    const revision = revisions?.[name] ?? service.latestReadyRevision.split('/').at(-1)!
    const others = (service.traffic ?? []).filter(({ tag }) => tag !== 'candidate')
    const kept = others.length > 0 ? others : serving(service)
    const traffic = [...kept, byName(revision, { tag: 'candidate' })]
    const after = await send(google, site, name, traffic, `${revision} has an address for the smoke test`)
    return tagged(after, 'candidate')!.uri!
  })
}

/** All traffic to the candidates; those that had it are tagged `previous`. */
export async function sendTraffic(google: Google, site: Site): Promise<void> {
  for (const name of functionNames) {
    const service = (await serviceOf(google, site, name))!
    const revision = tagged(service, 'candidate')!.revision!
    const before = serving(service).find(target => target.revision !== revision)
    const previous = before ? [byName(before.revision!, { tag: 'previous' })] : []
    const traffic = [byName(revision, { percent: 100 }), ...previous]
    await send(google, site, name, traffic, `${revision} gets the traffic`)
  }
}

/** The revisions that are named, or else those tagged `previous`. @throws Error where there is none, of both or one */
export function earlierRevisions(google: Google, site: Site, named: Partial<OfBoth>): Promise<OfBoth> {
  return ofBoth(async name => {
    const service = await serviceOf(google, site, name)
    const revision = named[name] ?? (service && tagged(service, 'previous')?.revision)
    if (!revision) throw new Error(`${name} has no revision tagged previous; name one: --${name}=REVISION`)
    return revision
  })
}

/** Where callers find the functions. */
export function servingAddresses(google: Google, site: Site): Promise<Addresses> {
  return ofBoth(async name => (await serviceOf(google, site, name))!.uri)
}

async function ofBoth(find: (name: FunctionName) => Promise<string>): Promise<OfBoth> {
  const [query, warm] = await Promise.all(functionNames.map(find))
  return { query: query!, warm: warm! }
}
