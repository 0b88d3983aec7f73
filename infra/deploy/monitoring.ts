/** Brings a project to `alerts-and-metrics.ts`: metrics, uptime check, dashboard, alert policies and who hears of them. */
import { basename, dirname } from 'node:path'
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
  const { displayName, monitoredResource, userLabels } = uptimeCheck
  const check = await setUpOne(google, project, 'uptimeCheckConfigs', {
    title: `uptime check ${displayName}`,
    same: { displayName, monitoredResource },
    wanted: uptimeCheck,
  })
  // Google answers with the project's number in the name.
  const { name, ...content } = dashboard
  const board = `monitoring/v1/${name}`
  const present = await google.get(board)
  const how = { one: board, changed: { ...content, etag: present?.['etag'] }, making: { name } }
  await google.ensure(`dashboard ${basename(name)}`, present, content, dirname(board), how)
  // One of the installation's own: a removal takes it along.
  const channel = { labels: { email_address: notify }, userLabels }
  const notified =
    notify &&
    (await setUpOne(google, project, 'notificationChannels', {
      title: `notifications to ${notify}`,
      same: channel,
      wanted: channel,
      making: { type: 'email', displayName: `${userLabels.service}: ${notify}` },
    }))
  await setUpPolicies(google, project, watched(site, basename(check)).policies, notified || undefined)
}

/** @param one `same` is what it is known by @returns its name; empty in a dry run that would make it */
async function setUpOne(
  google: Google,
  project: string,
  kind: string,
  one: { title: string; same: Json; wanted: Json; making?: Json },
): Promise<string> {
  const at = `monitoring/v3/projects/${project}/${kind}`
  const present = (await google.list(at, kind)).find(each => holds(each, one.same))
  const { name } = await google.ensure(one.title, present, one.wanted, at, { making: one.making ?? {} })
  return (name as string | undefined) ?? ''
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
