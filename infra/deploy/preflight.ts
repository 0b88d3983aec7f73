/** What a person could have known before anything is made: all faults at once, each with its remedy. It changes nothing. */
import { spawnSync } from 'node:child_process'
import { loadConfig, settings as ofService } from '../../shared/config.ts'
import { databaseOf } from './firestore.ts'
import { environmentOf } from './functions.ts'
import type { Google } from './google-api.ts'
import { namesIn, functionNames, type Site } from './settings.ts'

/** The faults, as they are printed. */
export class PreflightError extends Error {
  override readonly name = 'PreflightError'
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(['Nothing was changed. First:', ...faults.map(fault => `- ${fault}`)].join('\n'))
    this.faults = faults
  }
}

/** Tells each fault. */
type Check = (google: Google, site: Site, say: (fault: string) => void) => unknown

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

/**
 * @returns the site, with what was found out about it
 * @throws PreflightError
 */
export async function preflight(google: Google, site: Site): Promise<Site> {
  await signedIn(google)
  if (!(await google.peek('GET', `cloudresourcemanager/v1/projects/${site.project}`)))
    throw new PreflightError([
      `${await google.caller()} sees no project ${site.project}: name one of \`gcloud projects list\`, or sign in as its owner.`,
    ])
  const found = checks.map(async check => {
    const faults: string[] = []
    await check(google, site, fault => faults.push(fault))
    return faults
  })
  const faults = (await Promise.all(found)).flat()
  if (faults.length > 0) throw new PreflightError(faults)
  const isForbidden = (await constraints(google, site)).length > 0
  return { ...site, access: site.access ?? (isForbidden ? 'no-invoker-check' : 'public') }
}

async function signedIn(google: Google): Promise<void> {
  try {
    await google.caller()
  } catch (error) {
    throw new PreflightError([
      `Nobody is signed in: gcloud auth login --update-adc (${(error as Error).message.split('\n')[0]!})`,
    ])
  }
}

const checkBilling: Check = async (google, { project }, say) => {
  const info = await google.peek('GET', `cloudbilling/v1/projects/${project}/billingInfo`)
  if (info && info['billingEnabled'] !== true)
    say(
      `Project ${project} has no billing account: gcloud billing projects link ${project} --billing-account=ACCOUNT, with one of gcloud billing accounts list.`,
    )
}

const checkPermissions: Check = async (google, { project }, say) => {
  const asked = { permissions: Object.keys(permissions) }
  const answer = await google.ask(`cloudresourcemanager/v1/projects/${project}:testIamPermissions`, asked)
  const missing = asked.permissions.filter(
    one => !(answer['permissions'] as string[] | undefined)?.includes(one),
  )
  if (missing.length === 0) return
  const who = (await google.caller()) || 'Whoever is signed in'
  const what = missing.map(one => `${permissions[one]!} (${one})`).join(', ')
  say(`${who} may not ${what} in ${project}: let an owner of the project do it, or grant roles/owner.`)
}

// ---- policies of the organization

/** Those that forbid allUsers ("Restricting identities by domain"; the second is its successor). */
const domainConstraints = ['iam.allowedPolicyMemberDomains', 'iam.managed.allowedPolicyMembers']

interface Effective {
  listPolicy?: { allValues?: string; allowedValues?: string[] }
  booleanPolicy?: { enforced?: boolean }
}

/** Managed ones are told by version 2 alone, another API ("Error 400: ... is in a Managed constraint format", by version 1). */
async function effective(google: Google, project: string, constraint: string): Promise<Effective> {
  if (constraint.includes('.managed.')) {
    const path = `orgpolicy/v2/projects/${project}/policies/${constraint}:getEffectivePolicy`
    const policy = (await google.peek('GET', path)) as { spec?: { rules?: { enforce?: boolean }[] } } | null
    return { booleanPolicy: { enforced: policy?.spec?.rules?.some(({ enforce }) => enforce) ?? false } }
  }
  const path = `cloudresourcemanager/v1/projects/${project}:getEffectiveOrgPolicy`
  return (await google.peek('POST', path, { constraint: `constraints/${constraint}` })) ?? {}
}

/** Of those that forbid allUsers the ones that are in force. */
async function constraints(google: Google, { project }: Site): Promise<string[]> {
  const all = await Promise.all(domainConstraints.map(name => effective(google, project, name)))
  const isInForce = ({ listPolicy, booleanPolicy }: Effective) =>
    booleanPolicy?.enforced === true || (listPolicy?.allowedValues?.length ?? 0) > 0
  return domainConstraints.filter((_, at) => isInForce(all[at]!))
}

const checkConstraints: Check = async (google, site, say) => {
  const { project, region, access } = site
  const [forbidden, noAccounts, needsCheck, places] = await Promise.all([
    constraints(google, site),
    effective(google, project, 'iam.disableServiceAccountCreation'),
    effective(google, project, 'run.managed.requireInvokerIam'),
    effective(google, project, 'gcp.resourceLocations'),
  ])
  const ask = 'ask the administrator of the organization for an exception'
  const names = forbidden.join(', ')
  if (access === 'public' && names)
    say(`--access=public: the organization forbids allUsers (${names}): leave it out, or ${ask}.`)
  if (noAccounts.booleanPolicy?.enforced)
    say(`The organization forbids service accounts to be made (iam.disableServiceAccountCreation): ${ask}.`)
  if (needsCheck.booleanPolicy?.enforced && names)
    say(`The organization forbids that query is open, by ${names} and run.managed.requireInvokerIam: ${ask}.`)
  const allowed = places.listPolicy?.allowedValues ?? []
  // Groups such as in:eu-locations are not resolved here.
  if (allowed.length > 0 && !allowed.some(one => one.startsWith('in:') || one === region))
    say(`The organization allows ${allowed.join(', ')} only (gcp.resourceLocations): --region=${allowed[0]!}`)
}

// ---- places and names

const checkPlaces: Check = (_, { region }, say) => {
  if (regions.includes(region)) return
  const near = regions.filter(one => one.split('-')[0] === region.split('-')[0])
  const list = (near.length > 0 ? near : regions).join(', ')
  say(`--region=${region} is no region of Cloud Run functions: ${list}.`)
}

const checkDatabase: Check = async (google, site, say) => {
  const present = await google.peek('GET', databaseOf(site))
  // A new one beside it would have no keys.
  if (!present && (await google.peek('GET', `run/v2/${namesIn(site).service('query')}`)))
    say(
      `There is no database ${site.database}, and query serves from another: a new one would have no keys and no definitions. ` +
        '`gcloud firestore databases list` names those that there are; `npm run deploy -- restore` makes one.',
    )
  const { type, locationId } = (present ?? {}) as Record<string, string | undefined>
  const [name, other] = [`The database ${site.database}`, '--database=NAME makes one beside it']
  if (type !== undefined && type !== 'FIRESTORE_NATIVE') say(`${name} is in Datastore mode: ${other}.`)
  const there = locationId ?? site['firestore-location']
  if (there !== site['firestore-location'])
    say(
      `${name} is in ${there}, not ${site['firestore-location']}: --firestore-location=${there}, or ${other}.`,
    )
}

const checkDataset: Check = async (google, site, say) => {
  const placeOf = async (set: string) => {
    const [project, dataset] = set.split('.')
    const found = await google.peek('GET', `bigquery/v2/projects/${project}/datasets/${dataset}`)
    return found?.['location'] as string | undefined
  }
  const elsewhere = site['tables-in']
  const sets: [name: string, remedy: string][] = [
    [`${site.project}.${site.dataset}`, '--dataset=NAME makes one beside it'],
    ...(elsewhere ? [[elsewhere, 'tables and roll-ups have to be in one place'] as [string, string]] : []),
  ]
  for (const [set, remedy] of sets) {
    const location = await placeOf(set)
    if (location === undefined && set === elsewhere && set !== sets[0]![0])
      say(
        `--tables-in=${set}: ${await google.caller()} sees no such dataset: name one, or have bigquery.dataOwner on it.`,
      )
    const there = location ?? site.location
    if (there.toLowerCase() !== site.location.toLowerCase())
      say(
        `The dataset ${set.split('.')[1]} is in ${there}, not ${site.location}: --location=${there}, or ${remedy}.`,
      )
  }
}

/** A function or a service of that name which is not this product's would be replaced. */
const checkNames: Check = async (google, site, say) => {
  const { email, functionName, service } = namesIn(site)
  for (const name of functionNames) {
    const present = await google.peek('GET', `run/v2/${service(name)}`)
    const { serviceAccount } = (present?.['template'] ?? {}) as { serviceAccount?: string }
    const called = functionName(name)
    if (present && serviceAccount !== email(name))
      say(
        `${called} in ${site.region} is another service of Cloud Run: --prefix=NAME makes ${called} into NAME-${name}.`,
      )
  }
}

/** What would end a deployment after minutes: settings with which the functions do not start, and sizes that Cloud Run refuses. */
const checkSettings: Check = (_google, site, say) => {
  const known = Object.values(ofService).map(({ variable }) => variable)
  const own = Object.keys(environmentOf({ ...site, env: {} }, 'warm'))
  for (const name of Object.keys(site.env))
    if (!known.includes(name))
      say(`--env ${name}: the service has no such setting (infra/docs/reference.md, "Settings").`)
    else if (
      own.includes(name) ||
      ['ENGINE', 'STORE', 'PORT', 'K_SERVICE'].includes(name) ||
      name.endsWith('EMULATOR_HOST')
    )
      say(`--env ${name}: the deployment sets it itself.`)
  try {
    loadConfig({ ...site.env, K_SERVICE: 'query' })
  } catch (error) {
    say(`--env: ${(error as Error).message}.`)
  }
  const most: [
    name: 'query-timeout' | 'warm-deadline' | 'query-concurrency' | 'warm-concurrency',
    value: number,
  ][] = [
    ['query-timeout', 3600],
    ['warm-deadline', 1800],
    ['query-concurrency', 1000],
    ['warm-concurrency', 1000],
  ]
  for (const [name, value] of most)
    if (Number(site[name]) > value) say(`--${name}=${site[name]}: at most ${value}.`)
  if (Number(site['query-min-instances']) > Number(site['query-max-instances']))
    say(
      `--query-min-instances=${site['query-min-instances']} is more than --query-max-instances=${site['query-max-instances']}.`,
    )
}

/** It deploys the functions. Asking it for its version would take it a second. */
const checkGcloud: Check = (_google, _site, say) => {
  if (spawnSync('sh', ['-c', 'command -v gcloud'], { stdio: 'ignore' }).status !== 0)
    say('There is no gcloud: https://cloud.google.com/sdk/docs/install, or use Cloud Shell.')
}

const checks: Check[] = [
  checkBilling,
  checkPermissions,
  checkConstraints,
  checkPlaces,
  checkDatabase,
  checkDataset,
  checkNames,
  checkSettings,
  checkGcloud,
]
