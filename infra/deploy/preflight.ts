/** What a person could have known before anything is made: all faults at once, each with its remedy. It changes nothing. */
import { spawnSync } from 'node:child_process'
import { loadConfig, settings as ofService } from '../../shared/config.ts'
import { databaseOf } from './firestore.ts'
import { environmentOf } from './functions.ts'
import { Google, type Json } from './google-api.ts'
import { namesIn, functionNames, SettingsError, type Site } from './settings.ts'
import { datasetOf, tablesThatLose } from './tables.ts'

/** Asks, as often as it likes: each question goes to Google once. */
type Ask = (path: string, method?: string, body?: Json) => Promise<Json | null>

/** Yields each fault. @param looking asks and changes nothing */
type Check = (site: Site, ask: Ask, looking: Google) => AsyncIterable<string> | Iterable<string>

/**
 * Of Cloud Run functions ("Cloud Run functions locations", November 2026). A place that is not there would be refused after
 * everything else is made.
 */
const regions = `
  africa-south1 asia-east1 asia-east2 asia-northeast1 asia-northeast2 asia-northeast3 asia-south1 asia-south2 asia-southeast1
  asia-southeast2 australia-southeast1 australia-southeast2 europe-central2 europe-north1 europe-north2 europe-southwest1
  europe-west1 europe-west10 europe-west12 europe-west2 europe-west3 europe-west4 europe-west6 europe-west8 europe-west9
  me-central1 me-central2 me-west1 northamerica-northeast1 northamerica-northeast2 northamerica-south1 southamerica-east1
  southamerica-west1 us-central1 us-east1 us-east4 us-east5 us-south1 us-west1 us-west2 us-west3 us-west4`
  .trim()
  .split(/\s+/)

/** What set-up needs, as a service of Google names it, each by the step that would stop. */
const permissions: Record<string, string> = {
  'serviceusage.services.enable': 'enable APIs',
  'iam.serviceAccounts.create': 'make accounts',
  'iam.serviceAccounts.setIamPolicy': 'grant rights on accounts',
  'resourcemanager.projects.setIamPolicy': 'grant rights on the project',
  'datastore.databases.create': 'make the database',
  'bigquery.datasets.create': 'make the dataset',
  'cloudfunctions.functions.create': 'deploy functions',
  'run.services.setIamPolicy': 'open query',
  'cloudscheduler.jobs.create': 'make the scheduler’s jobs',
  'logging.sinks.create': 'route requests',
  'monitoring.alertPolicies.create': 'make alerts',
}

/** @throws SettingsError where nobody is */
export async function assertSignedIn(google: Google): Promise<void> {
  try {
    await google.caller()
  } catch (error) {
    const [why] = (error as Error).message.split('\n')
    const isOffline = why === 'fetch failed'
    const what = isOffline ? 'Google does not answer' : 'Nobody is signed in: gcloud auth login --update-adc'
    throw faulty([`${what} (${why!})`])
  }
}

/**
 * A dry run needs nobody who is signed in: then nothing is asked.
 * @param mayLoseRows whether an expiry may delete rows
 * @throws SettingsError
 */
export async function preflight(google: Google, site: Site, mayLoseRows = false): Promise<void> {
  const { options } = google
  try {
    await assertSignedIn(google)
  } catch (error) {
    if (!options.dryRun) throw error
    options.say((error as Error).message.split('\n- ').at(-1)!)
    options.say('So Google is asked nothing, and this is what a project would get that has nothing.')
    options.isUnasked = true
    return preflightHere(google, site)
  }
  // What may not be seen is not there: of a project that nobody has set up yet.
  const looking = new Google({ ...google.options, dryRun: true })
  const asked = new Map<string, Promise<Json | null>>()
  const ask: Ask = (path, method, body) => {
    const question = JSON.stringify([path, body])
    if (!asked.has(question)) asked.set(question, looking.get(path, method, body))
    return asked.get(question)!
  }
  if (!(await ask(`cloudresourcemanager/v1/projects/${site.project}`)))
    throw faulty([
      `${await google.caller()} sees no project ${site.project}: name one of \`gcloud projects list\`, or sign in as its owner.`,
    ])
  const wanted = [...checks, ...checksHere, ...(mayLoseRows ? [] : [checkExpiry])]
  await carryOut(wanted, looking, site, ask)
}

/** What takes no question to Google: before a push, whose account may ask little. @throws SettingsError */
export function preflightHere(google: Google, site: Site): Promise<void> {
  return carryOut(checksHere, google, site, () => Promise.resolve(null))
}

function faulty(faults: readonly string[]): SettingsError {
  return new SettingsError(['Nothing was changed. First:', ...faults].join('\n- '))
}

async function carryOut(checks: Check[], google: Google, site: Site, ask: Ask): Promise<void> {
  const found = checks.map(async check => {
    const faults: string[] = []
    for await (const fault of check(site, ask, google)) faults.push(fault)
    return faults
  })
  const faults = (await Promise.all(found)).flat()
  if (faults.length > 0) throw faulty(faults)
}

const checkBilling: Check = async function* ({ project }, ask) {
  const info = await ask(`cloudbilling/v1/projects/${project}/billingInfo`)
  if (info && info['billingEnabled'] !== true)
    yield `Project ${project} has no billing account: gcloud billing projects link ${project} --billing-account=ACCOUNT, with one of gcloud billing accounts list.`
}

const checkPermissions: Check = async function* ({ project }, ask, google) {
  const wanted = { permissions: Object.keys(permissions) }
  const answer = await ask(`cloudresourcemanager/v1/projects/${project}:testIamPermissions`, 'POST', wanted)
  const has = (answer?.['permissions'] ?? []) as string[]
  const missing = wanted.permissions.filter(one => !has.includes(one))
  if (missing.length === 0) return
  const who = (await google.caller()) || 'Whoever is signed in'
  const what = missing.map(one => `${permissions[one]!} (${one})`).join(', ')
  yield `${who} may not ${what} in ${project}: let an owner of the project do it, or grant roles/owner.`
}

// ---- policies of the organization

/** @returns the values of a policy that is in force, [] for one without values, null for none */
async function effective(ask: Ask, project: string, constraint: string): Promise<string[] | null> {
  // Managed ones are told by version 2 alone, another API ("Error 400: ... is in a Managed constraint format", by version 1).
  if (constraint.includes('.managed.')) {
    const policy = await ask(`orgpolicy/v2/projects/${project}/policies/${constraint}:getEffectivePolicy`)
    const { rules = [] } = (policy?.['spec'] ?? {}) as { rules?: { enforce?: boolean }[] }
    return rules.some(({ enforce }) => enforce) ? [] : null
  }
  const path = `cloudresourcemanager/v1/projects/${project}:getEffectiveOrgPolicy`
  const policy = await ask(path, 'POST', { constraint: `constraints/${constraint}` })
  const { listPolicy, booleanPolicy } = (policy ?? {}) as {
    listPolicy?: { allowedValues?: string[] }
    booleanPolicy?: { enforced?: boolean }
  }
  return listPolicy?.allowedValues ?? (booleanPolicy?.enforced ? [] : null)
}

/** One that forbids allUsers alone is none: query is then opened without the check of its caller. */
const checkConstraints: Check = async function* ({ project, region }, ask) {
  const names = [
    'iam.disableServiceAccountCreation',
    'run.managed.requireInvokerIam',
    'gcp.resourceLocations',
    // "Restricting identities by domain"; the second is its successor.
    'iam.allowedPolicyMemberDomains',
    'iam.managed.allowedPolicyMembers',
  ]
  const found = await Promise.all(names.map(name => effective(ask, project, name)))
  const [noAccounts, needsCheck, allowed, ...domains] = found
  const toAsk = 'ask the administrator of the organization for an exception'
  const forbidding = names
    .slice(3)
    .filter((_, at) => domains[at])
    .join(', ')
  if (noAccounts)
    yield `The organization forbids service accounts to be made (iam.disableServiceAccountCreation): ${toAsk}.`
  if (needsCheck && forbidding)
    yield `The organization forbids that query is open, by ${forbidding} and run.managed.requireInvokerIam: ${toAsk}.`
  // Groups such as in:eu-locations are not resolved here.
  if (allowed && !allowed.some(one => one.startsWith('in:') || one === region))
    yield `The organization allows ${allowed.join(', ')} only (gcp.resourceLocations): --region=${allowed[0]!}`
}

// ---- places and names

const checkPlaces: Check = function* ({ region, said }) {
  if (regions.includes(region)) return
  const near = regions.filter(one => one.split('-')[0] === region.split('-')[0])
  const list = (near.length > 0 ? near : regions).join(', ')
  yield `${said['region']} is no region of Cloud Run functions: ${list}.`
}

const checkDatabase: Check = async function* (site, ask) {
  const present = await ask(databaseOf(site))
  // A new one beside it would have no keys.
  if (!present && (await ask(`run/v2/${namesIn(site).service('query')}`)))
    yield (
      `There is no database ${site.database}, and query serves from another: a new one would have no keys and no definitions. ` +
      '`gcloud firestore databases list` names those that there are; `npx lqe deploy restore` makes one.'
    )
  const wanted = site['firestore-location']
  const { type, locationId = wanted } = (present ?? {}) as Record<string, string | undefined>
  const [name, other] = [`The database ${site.database}`, '--database=NAME makes one beside it']
  if (type !== undefined && type !== 'FIRESTORE_NATIVE') yield `${name} is in Datastore mode: ${other}.`
  if (locationId !== wanted)
    yield `${name} is in ${locationId}, not ${wanted}: --firestore-location=${locationId}, or ${other}.`
}

const checkDatasets: Check = async function* (site, ask, google) {
  const { project, dataset, location, 'tables-in': elsewhere } = site
  const own = `${project}.${dataset}`
  const remedies = new Map([[own, '--dataset=NAME makes one beside it']])
  if (elsewhere && elsewhere !== own) remedies.set(elsewhere, 'tables and roll-ups have to be in one place')
  for (const [set, remedy] of remedies) {
    const present = await ask(datasetOf(set))
    const there = (present?.['location'] as string | undefined) ?? location
    if (!present && set !== own)
      yield `${site.said['tables-in']}: ${await google.caller()} sees no such dataset: name one, or have bigquery.dataOwner on it.`
    if (there.toLowerCase() !== location.toLowerCase())
      yield `The dataset ${set.split('.')[1]} is in ${there}, not ${location}: --location=${there}, or ${remedy}.`
  }
}

const checkExpiry: Check = async function* (site, _ask, looking) {
  const losing = await tablesThatLose(looking, site)
  if (losing.length > 0)
    yield `${site.said['partition-expiry-days']}: BigQuery deletes older rows of ${losing.join(', ')}: --delete-older-rows says that it may.`
}

/** A function or a service of that name which is not this product's would be replaced. */
const checkNames: Check = async function* (site, ask) {
  const { email, functionName, service } = namesIn(site)
  for (const name of functionNames) {
    const { template } = (await ask(`run/v2/${service(name)}`)) ?? {}
    const { serviceAccount } = (template ?? {}) as { serviceAccount?: string }
    const called = functionName(name)
    if (template && serviceAccount !== email(name))
      yield `${called} in ${site.region} is another service of Cloud Run: --prefix=NAME makes ${called} into NAME-${name}.`
  }
}

/** What would end a deployment after minutes: settings with which the functions do not start, and sizes that Cloud Run refuses. */
const checkSettings: Check = function* (site) {
  const { said } = site
  const known = Object.values(ofService).map(({ variable }) => variable)
  const own = [
    ...Object.keys(environmentOf({ ...site, env: {} }, 'warm')),
    'ENGINE',
    'STORE',
    'PORT',
    'K_SERVICE',
  ]
  for (const name of Object.keys(site.env))
    if (!known.includes(name))
      yield `${said[name]}: the service has no such setting (infra/docs/reference.md, "Settings").`
    else if (own.includes(name) || name.endsWith('EMULATOR_HOST'))
      yield `${said[name]}: the deployment sets it itself.`
  try {
    loadConfig({ ...site.env, K_SERVICE: 'query' })
  } catch (error) {
    yield `${(error as Error).message.replace(/^\w+/, name => said[name] ?? name)}.`
  }
  const most = {
    'query-timeout': 3600,
    'warm-deadline': 1800,
    'query-concurrency': 1000,
    'warm-concurrency': 1000,
    'query-min-instances': Number(site['query-max-instances']),
  }
  for (const [name, value] of Object.entries(most))
    if (Number(site[name as keyof typeof most]) > value) yield `${said[name]}: at most ${value}.`
}

/** It deploys the functions. Asking it for its version would take it a second. */
const checkGcloud: Check = function* (_site, _ask, { options }) {
  if (options.isUnasked) return
  if (spawnSync('sh', ['-c', 'command -v gcloud'], { stdio: 'ignore' }).status !== 0)
    yield 'There is no gcloud: https://cloud.google.com/sdk/docs/install, or use Cloud Shell.'
}

const checksHere = [checkPlaces, checkSettings, checkGcloud]
const checks = [checkBilling, checkPermissions, checkConstraints, checkDatabase, checkDatasets, checkNames]
