/** Brings a project to `alerts-and-metrics.ts`: metrics, uptime check, dashboard, alert policies and who hears of them. */
import { type Policy, watched } from './alerts-and-metrics.ts'
import { type Google, holds, type Json } from './google-api.ts'
import type { Site } from './settings.ts'

/** Metrics before the policies that name them, which are refused otherwise. What was changed by hand is put back. */
export async function setUpMonitoring(google: Google, site: Site): Promise<void> {
  const { project, notify } = site
  const { metrics, uptimeCheck, dashboard } = watched(site)
  const logging = `logging/v2/projects/${project}/metrics`
  const there = await google.list(logging, 'metrics')
  for (const [name, metric] of Object.entries(metrics)) {
    const present = there.find(one => one['name'] === name)
    const how = { method: 'PUT', one: `${logging}/${name}` }
    await google.ensure(`metric ${name}`, present, { name, ...metric }, logging, how)
  }
  const check = await setUpUptime(google, project, uptimeCheck)
  // Google answers with the project's number in the name.
  const boards = `monitoring/v1/projects/${project}/dashboards`
  const { name, ...content } = dashboard
  const id = name.split('/').at(-1)!
  const present = await google.get(`${boards}/${id}`)
  const changed = { ...content, etag: present?.['etag'] }
  const how = { one: `${boards}/${id}`, changed, making: { name } }
  await google.ensure(`dashboard ${id}`, present, content, boards, how)
  const channel = notify ? await setUpChannel(google, project, notify, uptimeCheck.userLabels) : undefined
  await setUpPolicies(google, project, watched(site, check).policies, channel)
}

/** @returns its id; empty in a dry run that would make it */
async function setUpUptime(google: Google, project: string, check: Json): Promise<string> {
  const at = `monitoring/v3/projects/${project}/uptimeCheckConfigs`
  const { displayName, monitoredResource } = check
  const all = await google.list(at, 'uptimeCheckConfigs')
  const present = all.find(one => holds(one, { displayName, monitoredResource }))
  const { name = '' } = await google.ensure(`uptime check ${String(displayName)}`, present, check, at)
  return String(name).split('/').at(-1)!
}

/** One of the installation's own: a removal takes it along. @returns its name */
async function setUpChannel(
  google: Google,
  project: string,
  notify: string,
  userLabels: { service: string },
): Promise<string | undefined> {
  const at = `monitoring/v3/projects/${project}/notificationChannels`
  const channels = await google.list(at, 'notificationChannels')
  const wanted = { labels: { email_address: notify }, userLabels }
  const present = channels.find(one => holds(one, wanted))
  const making = { type: 'email', displayName: `${userLabels.service}: ${notify}` }
  const channel = await google.ensure(`notifications to ${notify}`, present, wanted, at, { making })
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
    // A condition without its name would be a new one, and end its incidents.
    const conditions = wanted.conditions.map(condition => {
      const { name } = present?.conditions.find(one => one.displayName === condition.displayName) ?? {}
      return name ? { ...condition, name } : condition
    })
    const changed = { ...policy, conditions, enabled: present?.['enabled'], name: present?.['name'] }
    await google.ensure(`alert policy "${wanted.displayName}"`, present, policy, at, { changed })
  }
}
