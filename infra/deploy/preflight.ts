/** What a person could have known before anything is made: all faults at once, each with its remedy. It changes nothing. */
import { spawnSync } from 'node:child_process'
import { databaseOf } from './firestore.ts'
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

type Check = (google: Google, site: Site) => Promise<(string | null)[]>

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

const checks: Check[] = [
  checkBilling,
  checkPermissions,
  checkConstraints,
  checkPlaces,
  checkDatabase,
  checkDataset,
  checkNames,
  async () => [checkGcloud()],
]

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
  const found = (await Promise.all(checks.map(check => check(google, site)))).flat()
  const faults = found.filter(fault => fault !== null)
  if (faults.length > 0) throw new PreflightError(faults)
  return {
    ...site,
    access: site.access ?? ((await constraints(google, site)).size > 0 ? 'no-invoker-check' : 'public'),
  }
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

async function checkBilling(google: Google, { project }: Site): Promise<(string | null)[]> {
  const info = await google.peek('GET', `cloudbilling/v1/projects/${project}/billingInfo`)
  return [
    info && info['billingEnabled'] !== true
      ? `Project ${project} has no billing account: gcloud billing projects link ${project} --billing-account=ACCOUNT, with one of gcloud billing accounts list.`
      : null,
  ]
}

async function checkPermissions(google: Google, { project }: Site): Promise<(string | null)[]> {
  const asked = { permissions: Object.keys(permissions) }
  const answer = await google.ask(`cloudresourcemanager/v1/projects/${project}:testIamPermissions`, asked)
  const has = new Set(answer['permissions'] as string[] | undefined)
  const missing = Object.keys(permissions).filter(one => !has.has(one))
  if (missing.length === 0) return [null]
  const who = (await google.caller()) || 'Whoever is signed in'
  const what = missing.map(one => `${permissions[one]!} (${one})`).join(', ')
  return [`${who} may not ${what} in ${project}: let an owner of the project do it, or grant roles/owner.`]
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
async function constraints(google: Google, { project }: Site): Promise<ReadonlySet<string>> {
  const inForce = await Promise.all(
    domainConstraints.map(async name => {
      const { listPolicy, booleanPolicy } = await effective(google, project, name)
      return booleanPolicy?.enforced === true || (listPolicy?.allowedValues?.length ?? 0) > 0
    }),
  )
  return new Set(domainConstraints.filter((_, at) => inForce[at]))
}

async function checkConstraints(google: Google, site: Site): Promise<(string | null)[]> {
  const { project, region } = site
  const forbidden = [...(await constraints(google, site))]
  const [noAccounts, needsCheck, places] = await Promise.all(
    ['iam.disableServiceAccountCreation', 'run.managed.requireInvokerIam', 'gcp.resourceLocations'].map(
      name => effective(google, project, name),
    ),
  )
  const ask = 'ask the administrator of the organization for an exception'
  const allowed = places!.listPolicy?.allowedValues ?? []
  return [
    site.access === 'public' && forbidden.length > 0
      ? `--access=public: the organization forbids allUsers (${forbidden.join(', ')}): leave it out, or ${ask}.`
      : null,
    noAccounts!.booleanPolicy?.enforced
      ? `The organization forbids service accounts to be made (iam.disableServiceAccountCreation): ${ask}.`
      : null,
    needsCheck!.booleanPolicy?.enforced && forbidden.length > 0
      ? `The organization forbids that query is open, by ${forbidden.join(', ')} and run.managed.requireInvokerIam: ${ask}.`
      : null,
    // Groups such as in:eu-locations are not resolved here.
    allowed.length > 0 && !allowed.some(one => one.startsWith('in:') || one === region)
      ? `The organization allows ${allowed.join(', ')} only (gcp.resourceLocations): --region=${allowed[0]!}`
      : null,
  ]
}

// ---- places and names

async function checkPlaces(_google: Google, { region }: Site): Promise<(string | null)[]> {
  const near = regions.filter(one => one.split('-')[0] === region.split('-')[0])
  return [
    regions.includes(region)
      ? null
      : `--region=${region} is no region of Cloud Run functions: ${(near.length > 0 ? near : regions).join(', ')}.`,
  ]
}

async function checkDatabase(google: Google, site: Site): Promise<(string | null)[]> {
  const present = await google.peek('GET', databaseOf(site))
  if (!present) return [null]
  const { type, locationId } = present as { type: string; locationId: string }
  const other = '--database=NAME makes one beside it'
  return [
    type === 'FIRESTORE_NATIVE' ? null : `The database ${site.database} is in Datastore mode: ${other}.`,
    locationId === site['firestore-location']
      ? null
      : `The database ${site.database} is in ${locationId}, not ${site['firestore-location']}: --firestore-location=${locationId}, or ${other}.`,
  ]
}

async function checkDataset(google: Google, site: Site): Promise<(string | null)[]> {
  const own: [string, string, string] = [site.project, site.dataset, '--dataset=NAME makes one beside it']
  const [project = '', dataset = ''] = site['tables-in']?.split('.') ?? []
  const elsewhere: [string, string, string] = [
    project,
    dataset,
    'tables and roll-ups have to be in one place',
  ]
  const checked = await Promise.all(
    (site['tables-in'] ? [own, elsewhere] : [own]).map(async ([project, dataset, remedy]) => {
      const present = await google.peek('GET', `bigquery/v2/projects/${project}/datasets/${dataset}`)
      if (!present)
        return project === site.project && dataset === site.dataset
          ? null
          : `--tables-in=${project}.${dataset}: ${await google.caller()} sees no such dataset: name one, or have bigquery.dataOwner on it.`
      const location = String(present['location'])
      return location.toLowerCase() === site.location.toLowerCase()
        ? null
        : `The dataset ${dataset} is in ${location}, not ${site.location}: --location=${location}, or ${remedy}.`
    }),
  )
  return checked
}

/** A function or a service of that name which is not this product's would be replaced. */
async function checkNames(google: Google, site: Site): Promise<(string | null)[]> {
  const { email, functionName, service } = namesIn(site)
  return Promise.all(
    functionNames.map(async name => {
      const present = (await google.peek('GET', `run/v2/${service(name)}`)) as {
        template?: { serviceAccount?: string }
      } | null
      if (!present || present.template?.serviceAccount === email(name)) return null
      return `${functionName(name)} in ${site.region} is another service of Cloud Run: --prefix=NAME makes ${functionName(name)} into NAME-${name}.`
    }),
  )
}

/** It deploys the functions. Asking it for its version would take it a second. */
function checkGcloud(): string | null {
  const { status } = spawnSync('sh', ['-c', 'command -v gcloud'], { stdio: 'ignore' })
  return status === 0
    ? null
    : 'There is no gcloud: https://cloud.google.com/sdk/docs/install, or use Cloud Shell.'
}
