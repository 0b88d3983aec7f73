/** Takes the service out of a project. It can be run again. Data stay, unless they are named. */
import { watched } from './alerts-and-metrics.ts'
import { databaseOf } from './firestore.ts'
import type { Google, Json } from './google-api.ts'
import { revoke } from './rights.ts'
import { setUpJobs } from './scheduler.ts'
import { accountNames, functionNames, namesIn, SettingsError, type Site } from './settings.ts'
import { datasetOf } from './tables.ts'

interface Named {
  deleteDataset?: string | undefined
  deleteDatabase?: string | undefined
}

/** @throws SettingsError where what is named is not the site's */
export async function removeAll(google: Google, site: Site, named: Named): Promise<void> {
  const { project, dataset, database } = site
  const { deleteDataset = dataset, deleteDatabase = database } = named
  if (deleteDataset !== dataset)
    throw new SettingsError(`--delete-dataset=${deleteDataset} is not the dataset ${dataset}`)
  if (deleteDatabase !== database)
    throw new SettingsError(`--delete-database=${deleteDatabase} is not the database ${database}`)
  const { email, own } = namesIn(site)

  await removeMonitoring(google, site)
  await removeRegion(google, site)

  // Rights before the accounts that they name: a policy would keep them as deleted.
  const sink = `logging/v2/projects/${project}/sinks/${own('requests')}`
  const { writerIdentity = '' } = (await google.get(sink)) ?? {}
  const emails = accountNames.map(email)
  const writers = new Set([...emails, String(writerIdentity).replace('serviceAccount:', '')])
  await revoke(google, `cloudresourcemanager/v1/projects/${project}`, 'the project', writers)
  for (const set of [`${project}.${dataset}`, site['tables-in']])
    if (set) await revoke(google, datasetOf(set), `dataset ${set}`, writers)
  await google.remove(`sink ${own('requests')}`, sink)
  for (const one of emails)
    await google.remove(`account ${one}`, `iam/v1/projects/${project}/serviceAccounts/${one}`)

  const kept = await removeData(google, site, named)
  for (const line of ['Kept:', ...kept]) google.options.say(line)
}

/** The functions and jobs of one region: what they share with another stays. */
export async function removeRegion(google: Google, site: Site): Promise<void> {
  const { functionName, own } = namesIn(site)
  await setUpJobs(google, site, [])
  const at = (api: string) => `${api}/projects/${site.project}/locations/${site.region}`
  const triggers = `${at('cloudbuild/v1')}/triggers`
  for (const { id, name } of await google.list(triggers, 'triggers'))
    if (name === own('deploy')) await google.remove(`trigger ${name}`, `${triggers}/${String(id)}`)
  for (const name of functionNames.map(functionName))
    await google.remove(`function ${name}`, `${at('cloudfunctions/v2')}/functions/${name}`)
}

/** First, so that the removal itself raises no alert. Policies before the channels that they use: Google refuses it otherwise. */
async function removeMonitoring(google: Google, site: Site): Promise<void> {
  const { project } = site
  const { metrics, dashboard, uptimeCheck } = watched(site)
  for (const kind of ['alertPolicies', 'uptimeCheckConfigs', 'notificationChannels'])
    for (const one of await google.list(`monitoring/v3/projects/${project}/${kind}`, kind))
      if ((one['userLabels'] as Json | undefined)?.['service'] === uptimeCheck.userLabels.service)
        await google.remove(`${kind} ${String(one['displayName'])}`, `monitoring/v3/${String(one['name'])}`)
  await google.remove('dashboard', `monitoring/v1/${dashboard.name}`)
  for (const name of Object.keys(metrics))
    await google.remove(`metric ${name}`, `logging/v2/projects/${project}/metrics/${name}`)
}

/** @returns what stays */
async function removeData(google: Google, site: Site, named: Named): Promise<string[]> {
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
      await google.remove(`database ${database}`, at)
    } else
      kept.unshift(
        `Firestore database ${database} (definitions, keys, answers): --delete-database='${database}'`,
      )
  }
  const set = datasetOf(`${project}.${dataset}`)
  if (named.deleteDataset) await google.remove(`dataset ${dataset}`, `${set}?deleteContents=true`)
  else if (await google.get(set))
    kept.unshift(`dataset ${dataset} with its tables: --delete-dataset=${dataset}`)
  return kept
}
