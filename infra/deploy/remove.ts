/** Takes the service out of a project. It can be run again. Data stay, unless they are named. */
import { watched } from './alerts-and-metrics.ts'
import { databaseOf } from './firestore.ts'
import type { Google, Json } from './google-api.ts'
import { memberOf, revoke } from './project.ts'
import { accountNames, functionNames, namesIn, SettingsError, type Site } from './settings.ts'
import { removeAccess } from './tables.ts'

interface Named {
  deleteDataset?: string | undefined
  deleteDatabase?: string | undefined
}

/** @throws SettingsError where what is named is not the site's */
export async function removeAll(
  google: Google,
  site: Site,
  { deleteDataset, deleteDatabase }: Named,
): Promise<void> {
  const { project, dataset, database } = site
  if (deleteDataset !== undefined && deleteDataset !== dataset)
    throw new SettingsError(`--delete-dataset=${deleteDataset} is not the dataset ${dataset}`)
  if (deleteDatabase !== undefined && deleteDatabase !== database)
    throw new SettingsError(`--delete-database=${deleteDatabase} is not the database ${database}`)
  const { email, own } = namesIn(site)
  const drop = dropping(google)

  await removeMonitoring(google, site, drop)
  await removeRegion(google, site)

  // Rights before the accounts that they name: a policy would keep them as deleted.
  const sinks = `logging/v2/projects/${project}/sinks/${own('requests')}`
  const sink = await google.get(sinks)
  const emails = accountNames.map(email)
  const members = new Set(emails.map(memberOf))
  await revoke(google, `cloudresourcemanager/v1/projects/${project}`, 'the project', members)
  const { writerIdentity = '' } = (sink ?? {}) as { writerIdentity?: string }
  const writer = writerIdentity.replace('serviceAccount:', '')
  const sets = [`${project}.${dataset}`, ...(site['tables-in'] ? [site['tables-in']] : [])]
  for (const set of sets) {
    const [of, id] = set.split('.')
    await removeAccess(google, `bigquery/v2/projects/${of}/datasets/${id}`, new Set([...emails, writer]))
  }
  if (sink) await drop(`sink ${own('requests')}`, sinks)
  const accounts = `iam/v1/projects/${project}/serviceAccounts`
  for (const account of await google.list(accounts, 'accounts'))
    if (emails.includes(account['email'] as string))
      await drop(`account ${String(account['email'])}`, `${accounts}/${String(account['email'])}`)

  const kept = await removeData(google, site, { deleteDataset, deleteDatabase }, drop)
  for (const line of ['Kept:', ...kept]) google.options.say(line)
}

/** The functions and jobs of one region: what they share with another stays. */
export async function removeRegion(google: Google, site: Site): Promise<void> {
  const { project, region } = site
  const { functionName, own } = namesIn(site)
  const drop = dropping(google)
  const jobs = `cloudscheduler/v1/projects/${project}/locations/${region}/jobs`
  for (const { name } of await google.list(jobs, 'jobs'))
    if (idOf(name).startsWith(own('warm-')))
      await drop(`job ${idOf(name)}`, `cloudscheduler/v1/${String(name)}`)
  const triggers = `cloudbuild/v1/projects/${project}/locations/${region}/triggers`
  for (const { id, name } of await google.list(triggers, 'triggers'))
    if (name === own('deploy')) await drop(`trigger ${name}`, `${triggers}/${String(id)}`)
  for (const name of functionNames) {
    const at = `cloudfunctions/v2/projects/${project}/locations/${region}/functions/${functionName(name)}`
    if (await google.get(at)) await drop(`function ${functionName(name)}`, at)
  }
}

type Drop = ReturnType<typeof dropping>

function dropping(google: Google) {
  return (title: string, path: string) => google.change(`${title}: removed`, 'DELETE', path)
}

/** First, so that the removal itself raises no alert. Policies before the channels that they use: Google refuses it otherwise. */
async function removeMonitoring(google: Google, site: Site, drop: Drop): Promise<void> {
  const { project } = site
  const { metrics, dashboard, uptimeCheck } = watched(site)
  const kinds = ['alertPolicies', 'uptimeCheckConfigs', 'notificationChannels'] as const
  for (const kind of kinds)
    for (const one of await google.list(`monitoring/v3/projects/${project}/${kind}`, kind))
      if ((one['userLabels'] as Json | undefined)?.['service'] === uptimeCheck.userLabels.service)
        await drop(`${kind} ${String(one['displayName'])}`, `monitoring/v3/${String(one['name'])}`)
  const board = `monitoring/v1/projects/${project}/dashboards/${idOf(dashboard.name)}`
  if (await google.get(board)) await drop('dashboard', board)
  for (const { name } of await google.list(`logging/v2/projects/${project}/metrics`, 'metrics'))
    if ((name as string) in metrics)
      await drop(`metric ${String(name)}`, `logging/v2/projects/${project}/metrics/${String(name)}`)
}

async function removeData(google: Google, site: Site, named: Named, drop: Drop): Promise<string[]> {
  const { project, dataset, database } = site
  const kept = [
    'enabled APIs: other services may need them',
    'functions and jobs in other regions: remove --region=REGION, before this',
    'databases that restore made, and the settings file',
    `sources and images of the builds: buckets gcf-v2-*, Artifact Registry repository gcf-artifacts`,
    'logs, as long as Cloud Logging keeps them',
  ]
  const at = databaseOf(site)
  if (await google.get(at)) {
    if (named.deleteDatabase) {
      const off = { deleteProtectionState: 'DELETE_PROTECTION_DISABLED' }
      const mask = `${at}?updateMask=deleteProtectionState`
      await google.change(`database ${database}: may be deleted`, 'PATCH', mask, off)
      await drop(`database ${database}`, at)
    } else
      kept.unshift(
        `Firestore database ${database} (definitions, keys, answers): --delete-database='${database}'`,
      )
  }
  const set = `bigquery/v2/projects/${project}/datasets/${dataset}`
  if (await google.get(set)) {
    if (named.deleteDataset) await drop(`dataset ${dataset}`, `${set}?deleteContents=true`)
    else kept.unshift(`dataset ${dataset} with its tables: --delete-dataset=${dataset}`)
  }
  return kept
}

function idOf(name: unknown): string {
  return String(name).split('/').at(-1)!
}
