/**
 * `node infra/deploy/monitoring-plan.ts FOLDER --project=P --region=R [--notify=EMAIL]`: prints what a project lacks of
 * `alerts-and-metrics.ts`, one change a line as arguments for gcloud. In the folder are gcloud's lists of what the
 * project has (`metrics`, `channels`, `uptime`, `dashboards`, `policies`, each JSON; a file that is not there is an empty
 * list), and the plan writes the files there that its arguments name.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { dashboard, metrics, policies, type Policy, uptimeCheck } from './alerts-and-metrics.ts'

type Json = Record<string, unknown>

/** What Cloud Monitoring and Cloud Logging list; each is found by its name, or by its display name where Google names it. */
export type Present = Record<(typeof kinds)[number], Json[]>
const kinds = ['metrics', 'channels', 'uptime', 'dashboards', 'policies'] as const

export interface Site {
  project: string
  region: string
  /** E-mail address that alerts go to; without it policies keep the channels that they have. */
  notify?: string | undefined
}

interface Change {
  args: string[]
  /** Content of the file whose path comes after the last argument. */
  file?: Json
}

/** Metrics before the policies that name them, which are refused otherwise. */
export function planMonitoring({ project, region, notify }: Site, present: Present): Change[] {
  const host = `${region}-${project}.cloudfunctions.net`
  return [
    ...Object.entries(metrics).flatMap(([name, metric]) => planMetric(name, metric, present.metrics)),
    ...planUptime(uptimeCheck(project, host), present.uptime),
    ...planDashboard(dashboard(project), present.dashboards),
    ...policies(host).flatMap(policy => planPolicy(policy, notify, present)),
  ]
}

function planMetric(name: string, metric: Json, present: Json[]): Change[] {
  const there = present.find(one => one['name'] === name)
  if (there && holds(there, metric)) return []
  const verb = there ? 'update' : 'create'
  return [{ args: ['logging', 'metrics', verb, name, '--config-from-file='], file: metric }]
}

function planDashboard(dashboard: Json & { name: string }, present: Json[]): Change[] {
  // Google answers with the project's number in the name.
  const { name, ...content } = dashboard
  const id = name.split('/').at(-1)!
  const there = present.find(one => (one['name'] as string).endsWith(`/dashboards/${id}`))
  if (there && holds(there, content)) return []
  const subject = there ? ['update', id] : ['create']
  const file = there ? { ...content, etag: there['etag'] } : dashboard
  return [{ args: ['monitoring', 'dashboards', ...subject, '--config-from-file='], file }]
}

/** In gcloud 528 policies are there as `gcloud alpha` only. */
function planPolicy(wanted: Policy, notify: Site['notify'], { policies, channels }: Present): Change[] {
  const there = policies.find(one => one['displayName'] === wanted.displayName) as Policy | undefined
  const notificationChannels = channelsOf(there, notify, channels)
  const policy = { ...wanted, ...(notificationChannels.length > 0 ? { notificationChannels } : {}) }
  if (!there)
    return [{ args: ['alpha', 'monitoring', 'policies', 'create', '--policy-from-file='], file: policy }]
  if (holds(there, policy)) return []
  // An update replaces all that it does not name; a condition without its name would be a new one, and end its incidents.
  const named = wanted.conditions.map(condition => {
    const { name } = there.conditions.find(one => one.displayName === condition.displayName) ?? {}
    return name ? { ...condition, name } : condition
  })
  const file = { ...policy, conditions: named, enabled: there['enabled'] }
  const id = (there['name'] as string).split('/').at(-1)!
  return [{ args: ['alpha', 'monitoring', 'policies', 'update', id, '--policy-from-file='], file }]
}

/** Those that somebody has given the policy by hand stay. */
function channelsOf(policy: Policy | undefined, notify: string | undefined, channels: Json[]): string[] {
  const own = policy?.notificationChannels ?? []
  const channel = channels.find(({ labels }) => notify && (labels as Json)['email_address'] === notify)
  return channel ? [...new Set([...own, channel['name'] as string])] : own
}

/**
 * gcloud takes uptime checks as flags only, and its update clears the labels (`command_lib/monitoring/util.py` of version
 * 528, `ModifyUptimeCheck`), so that a check is replaced. The policy finds it by its host.
 */
function planUptime(check: ReturnType<typeof uptimeCheck>, present: Json[]): Change[] {
  const { displayName, monitoredResource, httpCheck, userLabels, selectedRegions, period, timeout } = check
  const there = present.find(one => holds(one, { displayName, monitoredResource }))
  if (there && holds(there, check)) return []
  const pairs = (labels: Record<string, string>) =>
    Object.entries(labels)
      .map(pair => pair.join('='))
      .join()
  const flags = [
    '--resource-type=uptime-url',
    `--resource-labels=${pairs(monitoredResource.labels)}`,
    `--user-labels=${pairs(userLabels)}`,
    `--regions=${selectedRegions.map(region => region.toLowerCase().replace('_', '-')).join()}`,
    '--protocol=https',
    '--port=443',
    `--path=${httpCheck.path}`,
    '--validate-ssl=true',
    '--status-classes=2xx',
    `--period=${parseInt(period) / 60}`,
    `--timeout=${parseInt(timeout)}`,
  ]
  const replaced = there
    ? [{ args: ['monitoring', 'uptime', 'delete', (there['name'] as string).split('/').at(-1)!] }]
    : []
  return [...replaced, { args: ['monitoring', 'uptime', 'create', displayName, ...flags] }]
}

/** Whether all that is wanted is there; Google adds fields, and leaves out those that are zero or empty. */
function holds(there: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    const items = (there ?? []) as unknown[]
    return items.length === wanted.length && wanted.every((one, at) => holds(items[at], one))
  }
  if (typeof wanted === 'object' && wanted !== null)
    return Object.entries(wanted).every(([key, value]) => holds((there as Json | undefined)?.[key], value))
  return there === wanted || String(there) === String(wanted) || (there === undefined && !wanted)
}

if (import.meta.main) {
  const options = {
    project: { type: 'string' },
    region: { type: 'string' },
    notify: { type: 'string' },
  } as const
  const { values, positionals } = parseArgs({ options, allowPositionals: true })
  const work = positionals[0] ?? ''
  const list = (name: string) => {
    const file = join(work, name)
    return ((existsSync(file) && JSON.parse(readFileSync(file, 'utf8').trim() || '[]')) || []) as Json[]
  }
  const present = Object.fromEntries(kinds.map(kind => [kind, list(kind)])) as Present
  const site = { project: values.project ?? '', region: values.region ?? '', notify: values.notify }
  for (const [at, { args, file }] of planMonitoring(site, present).entries()) {
    const path = file ? join(work, `monitoring-${at}.json`) : ''
    if (file) writeFileSync(path, JSON.stringify(file, null, 2))
    console.log(args.join(' ') + path)
  }
}
