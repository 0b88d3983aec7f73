/** Brings a project to `alerts-and-metrics.ts`: metrics, uptime check, dashboard, alert policies and who hears of them. */
import { type Policy, watched } from './alerts-and-metrics.ts'
import { type Google, holds, type Json } from './google-api.ts'
import type { Site } from './settings.ts'

/** Metrics before the policies that name them, which are refused otherwise. What was changed by hand is put back. */
export async function setUpMonitoring(google: Google, site: Site): Promise<void> {
  const { project } = site
  const { metrics, uptimeCheck, dashboard } = watched(site)
  const logging = `logging/v2/projects/${project}/metrics`
  const there = await google.list(logging, 'metrics')
  for (const [name, metric] of Object.entries(metrics)) {
    const present = there.find(one => one['name'] === name)
    if (!present) await google.change(`metric ${name}: made`, 'POST', logging, { name, ...metric })
    else if (!holds(present, metric))
      await google.change(`metric ${name}: changed`, 'PUT', `${logging}/${name}`, { name, ...metric })
  }
  const check = await setUpUptime(google, project, uptimeCheck)
  await setUpDashboard(google, project, dashboard)
  const channel = await setUpChannel(google, site, uptimeCheck.userLabels)
  await setUpPolicies(google, project, watched(site, check).policies, channel)
}

/** @returns its id; empty in a dry run that would make it */
async function setUpUptime(google: Google, project: string, check: Json): Promise<string> {
  const at = `monitoring/v3/projects/${project}/uptimeCheckConfigs`
  const { displayName, monitoredResource } = check
  const all = await google.list(at, 'uptimeCheckConfigs')
  const present = all.find(one => holds(one, { displayName, monitoredResource }))
  const title = `uptime check ${displayName as string}`
  const { name = '' } = present ?? (await google.change(`${title}: made`, 'POST', at, check))
  if (present && !holds(present, check))
    await google.change(`${title}: changed`, 'PATCH', `monitoring/v3/${name as string}`, { ...check, name })
  return (name as string).split('/').at(-1)!
}

/** Google answers with the project's number in the name. */
async function setUpDashboard(
  google: Google,
  project: string,
  dashboard: Json & { name: string },
): Promise<void> {
  const at = `monitoring/v1/projects/${project}/dashboards`
  const id = dashboard.name.split('/').at(-1)!
  const { name, ...content } = dashboard
  const present = await google.get(`${at}/${id}`)
  if (!present) await google.change(`dashboard ${id}: made`, 'POST', at, { name, ...content })
  else if (!holds(present, content))
    await google.change(`dashboard ${id}: changed`, 'PATCH', `${at}/${id}`, {
      ...content,
      etag: present['etag'],
    })
}

/** One of the installation's own: a removal takes it along. @returns its name, where an address is given */
async function setUpChannel(
  google: Google,
  { project, notify }: Site,
  userLabels: { service: string },
): Promise<string | undefined> {
  if (!notify) return undefined
  const at = `monitoring/v3/projects/${project}/notificationChannels`
  const channels = await google.list(at, 'notificationChannels')
  const labels = { email_address: notify }
  const present = channels.find(one => holds(one, { labels, userLabels }))
  const channel =
    present ??
    (await google.change(`notifications to ${notify}`, 'POST', at, {
      type: 'email',
      displayName: `${userLabels.service}: ${notify}`,
      labels,
      userLabels,
    }))
  return channel['name'] as string | undefined
}

async function setUpPolicies(
  google: Google,
  project: string,
  policies: Policy[],
  channel: string | undefined,
): Promise<void> {
  const at = `monitoring/v3/projects/${project}/alertPolicies`
  const all = (await google.list(at, 'alertPolicies')) as Policy[]
  for (const wanted of policies) {
    const present = all.find(one => one.displayName === wanted.displayName)
    // Those that somebody has given the policy by hand stay.
    const channels = [...new Set([...(present?.notificationChannels ?? []), ...(channel ? [channel] : [])])]
    const policy = { ...wanted, ...(channels.length > 0 ? { notificationChannels: channels } : {}) }
    const title = `alert policy "${wanted.displayName}"`
    if (!present) await google.change(`${title}: made`, 'POST', at, policy)
    else if (!holds(present, policy)) {
      // A condition without its name would be a new one, and end its incidents.
      const conditions = wanted.conditions.map(condition => {
        const { name } = present.conditions.find(one => one.displayName === condition.displayName) ?? {}
        return name ? { ...condition, name } : condition
      })
      const name = present['name'] as string
      await google.change(`${title}: changed`, 'PATCH', `monitoring/v3/${name}`, {
        ...policy,
        conditions,
        enabled: present['enabled'],
        name,
      })
    }
  }
}
