/** Metrics, checks, dashboard and alerts, in a project on the stand-in. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Json } from '../google/control/plane.ts'
import { changes, lasting, openProject, type Project } from '../google/control/testing/project.ts'
import { type Policy, watched } from './alerts-and-metrics.ts'
import { connect, setUp } from './testing/client.ts'

const { metrics, policies } = watched({ project: 'my-project', region: 'europe-west1', prefix: '' })
const kinds = ['metrics', 'uptimeCheckConfigs', 'dashboards', 'notificationChannels', 'alertPolicies']

let project: Project
beforeEach(async () => {
  project = await openProject()
  await setUp(connect(project), ['APIs'])
  project.plane.calls.length = 0
})
afterEach(() => project.close())

async function monitor(flags: Record<string, string> = {}, as = 'owner@example.com'): Promise<string[]> {
  const client = connect(project, flags, { as })
  await setUp(client, ['monitoring'])
  return client.said
}

function all(kind: string): Json[] {
  const { resources } = project.plane.state
  return Object.entries(resources)
    .filter(([name]) => name.includes(`/${kind}/`))
    .map(([, resource]) => resource)
}

function policyOf(displayName: string): Policy {
  return all('alertPolicies').find(policy => policy['displayName'] === displayName) as Policy
}

describe('set-up', () => {
  test('makes metrics before the policies that name them, and a second run changes nothing', async () => {
    const said = await monitor({ notify: 'night@example.com' })
    expect(kinds.map(kind => all(kind).length)).toEqual([
      Object.keys(metrics).length,
      1,
      1,
      1,
      policies.length,
    ])
    expect(said).toHaveLength(Object.keys(metrics).length + 3 + policies.length)
    const after = lasting(project.plane.state)
    expect(await monitor({ notify: 'night@example.com' })).toEqual([])
    expect(lasting(project.plane.state)).toEqual(after)
  })

  test('waits for a metric that is so new that not all of Google knows it', async () => {
    project.plane.state.projects['my-project']!.news = []
    expect(await monitor()).toContainEqual(expect.stringMatching(/^again in 3 s: Cannot find metric/))
    expect(all('alertPolicies')).toHaveLength(policies.length)
  })

  test('puts back what was changed by hand, and leaves the rest alone, with two roles', async () => {
    await monitor()
    const before = lasting(project.plane.state)
    const { policies, resources } = project.plane.state
    for (const role of ['roles/logging.configWriter', 'roles/monitoring.editor'])
      policies['projects/my-project']!.bindings!.push({ role, members: ['user:operator@example.com'] })
    const [dashboard] = all('dashboards')
    resources['projects/my-project/metrics/lqe_bytes']!['filter'] = 'severity>=ERROR'
    policyOf('Store unavailable')['severity'] = 'WARNING'
    all('uptimeCheckConfigs')[0]!['period'] = '900s'
    dashboard!['displayName'] = 'Another'
    expect(await monitor({}, 'operator@example.com')).toEqual([
      'metric lqe_bytes: changed',
      'uptime check lqe-query: changed',
      'dashboard lqe: changed',
      'alert policy "Store unavailable": changed',
    ])
    expect(lasting(project.plane.state).resources).toEqual(before.resources)
  })

  test('changes a dashboard that it has read, and no later one', async () => {
    await monitor()
    const [dashboard] = all('dashboards')
    dashboard!['displayName'] = 'Another'
    const changed = { ...dashboard, displayName: 'A third' }
    project.plane.watch = call => {
      if (/GET .*\/dashboards\/lqe 200/.test(call))
        project.plane.state.resources['projects/my-project/dashboards/lqe'] = changed
    }
    await expect(monitor()).rejects.toThrow('the etag is not the current one')
  })

  test('adds the address to a policy, and keeps its other channels, its conditions and whether it is on', async () => {
    await monitor({ notify: 'day@example.com' })
    const policy = policyOf('Store unavailable')
    const [day] = policy.notificationChannels!
    for (const one of policy.conditions) one.name = `${String(policy['name'])}/conditions/8`
    const names = policy.conditions.map(({ name }) => name)
    policy['enabled'] = false
    await monitor({ notify: 'night@example.com' })
    const night = all('notificationChannels').find(channel => channel['name'] !== day)!
    expect(night).toMatchObject({ labels: { email_address: 'night@example.com' } })
    const after = policyOf('Store unavailable')
    expect(after.notificationChannels).toEqual([day, night['name']])
    expect(after.conditions.map(({ name }) => name)).toEqual(names)
    expect(after['enabled']).toBe(false)
  })

  test('of a second installation leaves the first one alone, and has nothing in common with it', async () => {
    const notify = 'night@example.com'
    await monitor({ notify })
    const before = lasting(project.plane.state).resources
    await monitor({ notify, prefix: 'staging' })
    expect(lasting(project.plane.state).resources).toMatchObject(before)
    expect(kinds.map(kind => all(kind).length)).toEqual([8, 2, 2, 2, 14])
    for (const { name, displayName } of all('uptimeCheckConfigs')) {
      const id = String(name).split('/').at(-1)!
      const about = all('alertPolicies').filter(policy =>
        JSON.stringify(policy).includes(`check_id=\\"${id}\\"`),
      )
      const title = displayName === 'lqe-query' ? '' : 'staging: '
      expect(about.map(policy => policy['displayName'])).toEqual([`${title}Query does not answer`])
    }
    project.plane.calls.length = 0
    await monitor({ notify })
    await monitor({ notify, prefix: 'staging' })
    expect(project.plane.calls.filter(changes)).toEqual([])
  })
})

describe('a second installation', () => {
  const site = { project: 'my-project', region: 'europe-west1' }

  test('has no name of the first one in what it watches', () => {
    const first = JSON.stringify(watched({ ...site, prefix: '' }))
    const names = /\blqe\b|lqe_\w+|service_name=\\"\w+\\"|"\/\w+\/health"|dashboards\/\w+/g
    const second = JSON.stringify(watched({ ...site, prefix: 'staging' }))
    expect(new Set(first.match(names)).size).toBeGreaterThan(8)
    expect(second.match(names)).toEqual([...second.matchAll(/dashboards\/staging/g)].map(([all]) => all))
    expect(second).not.toMatch(/lqe/)
    expect(second).toContain(String.raw`service_name=\"staging-query\"`)
  })

  test('has titles of its own', () => {
    const titles = (prefix: string) => {
      const { dashboard, policies, uptimeCheck } = watched({ ...site, prefix })
      return [dashboard, uptimeCheck, ...policies].map(one => (one as Json)['displayName'])
    }
    expect(titles('').filter(title => titles('staging').includes(title))).toEqual([])
  })

  test('counts no line of the first one', () => {
    for (const metric of Object.values(watched({ ...site, prefix: 'staging' }).metrics))
      expect(metric['filter']).toMatch(/service_name="staging-(query|warm)"/)
  })
})
