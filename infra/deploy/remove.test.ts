/** What a removal takes out of a project on the stand-in, and what it leaves. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { changes, lasting, openProject, type Project } from '../google/control/testing/project.ts'
import { removeAll, removeRegion } from './remove.ts'
import { allFlags, connect, deployBoth, setUp } from './testing/client.ts'

let project: Project
let flags: Record<string, string>
beforeEach(async () => {
  project = await openProject()
  flags = allFlags(project)
})
afterEach(() => project.close())

async function install(more: Record<string, string> = {}): Promise<void> {
  const client = connect(project, { ...flags, ...more })
  await setUp(client)
  await deployBoth(client)
}

async function remove(
  named: Parameters<typeof removeAll>[2] = {},
  more: Record<string, string> = {},
  dryRun = false,
): Promise<string[]> {
  const { google, site, said } = connect(project, { ...flags, ...more }, { dryRun })
  await removeAll(google, site, named)
  return said
}

test('the functions and jobs of another region go alone', async () => {
  await install()
  const before = lasting(project.plane.state)
  const away = connect(project, { ...flags, region: 'europe-west4' })
  await deployBoth(away)
  await setUp(away, ['jobs'])
  expect(names(/europe-west4\/(services|functions|jobs)\//).length).toBeGreaterThan(4)
  await removeRegion(away.google, away.site)
  const after = lasting(project.plane.state)
  expect(names(/europe-west4\/(services|functions|jobs)\//)).toEqual([])
  expect(after.policies).toEqual(before.policies)
  expect(names(/serviceAccounts|sinks|alertPolicies/)).toHaveLength(
    Object.keys(before.resources).filter(name => /serviceAccounts|sinks|alertPolicies/.test(name)).length,
  )
})

const names = (pattern: RegExp) =>
  Object.keys(project.plane.state.resources).filter(name => pattern.test(name))
const all = { deleteDataset: 'logs', deleteDatabase: '(default)' }
const ofStaging = { deleteDataset: 'staging_logs', deleteDatabase: 'staging' }

describe('a removal', () => {
  test('takes all but the data, which it names, and can be run again', async () => {
    await install()
    const said = await remove()
    expect(said.slice(said.indexOf('Kept:'))).toEqual([
      'Kept:',
      'dataset logs with its tables: --delete-dataset=logs',
      expect.stringMatching(/^Firestore database \(default\) .*: --delete-database='\(default\)'/),
      expect.stringMatching(/^enabled APIs/),
      expect.stringMatching(/^functions and jobs in other regions/),
      expect.stringMatching(/^databases that restore made/),
      expect.stringMatching(/^sources and images/),
      expect.stringMatching(/^logs, as long/),
    ])
    expect(
      names(/^projects\/(?!gcp-).*\/(functions|services|jobs|triggers|serviceAccounts|sinks)\//),
    ).toEqual([])
    expect(names(/\/(metrics|alertPolicies|dashboards|uptimeCheckConfigs|notificationChannels)\//)).toEqual(
      [],
    )
    expect(names(/\/tables\//)).toHaveLength(11)
    const { policies, resources } = project.plane.state
    expect(JSON.stringify(policies)).not.toMatch(/lqe-|gcp-sa-logging/)
    expect(resources['projects/my-project/datasets/logs']!['access']).toEqual([])
    expect(policies['projects/my-project']!.bindings).toEqual([
      { role: 'roles/owner', members: ['user:owner@example.com'] },
    ])
    const before = lasting(project.plane.state)
    project.plane.calls.length = 0
    expect(await remove()).toEqual(said.slice(said.indexOf('Kept:')))
    expect(project.plane.calls.filter(changes)).toEqual([])
    expect(lasting(project.plane.state)).toEqual(before)
  })

  test('takes data that are named, and no others', async () => {
    await install()
    project.plane.calls.length = 0
    for (const wrong of [{ deleteDataset: 'other' }, { deleteDatabase: 'other' }])
      await expect(remove(wrong)).rejects.toThrow(/=other is not the data(set|base) /)
    expect(project.plane.calls.filter(changes)).toEqual([])
    await remove({ deleteDataset: 'logs' })
    expect(names(/\/(datasets|databases)\/[^/]+$/)).toEqual(['projects/my-project/databases/(default)'])
    const said = await remove(all)
    expect(names(/\/(datasets|databases)\//)).toEqual([])
    expect(said.filter(line => line.includes('--delete'))).toEqual([])
  })

  test('said in a dry run changes nothing', async () => {
    await install()
    project.plane.calls.length = 0
    const said = await remove(all, {}, true)
    expect(project.plane.calls.filter(changes)).toEqual([])
    expect(await remove(all)).toEqual(said)
  })

  test('takes the rights on tables that are elsewhere, and leaves the tables', async () => {
    const { resources } = project.plane.state
    const raw = 'projects/my-project/datasets/raw'
    const others = [{ role: 'OWNER', specialGroup: 'projectOwners' }]
    resources[raw] = { location: 'EU', access: others }
    const elsewhere = { 'tables-in': 'my-project.raw' }
    await install(elsewhere)
    expect(resources[raw]['access']).toHaveLength(4)
    await remove(all, elsewhere)
    expect(resources[raw]['access']).toEqual(others)
  })

  test.each([
    ['first', {}, { prefix: 'staging' }, ofStaging],
    ['second', { prefix: 'staging' }, {}, all],
  ] as const)('of one installation leaves the %s as it was', async (_, kept, gone, data) => {
    await install(kept)
    const before = lasting(project.plane.state)
    await install(gone)
    await remove(data, gone)
    const after = lasting(project.plane.state)
    const withoutSources = (resources: object) =>
      Object.fromEntries(Object.entries(resources).filter(([name]) => !name.startsWith('upload/')))
    expect(withoutSources(after.resources)).toEqual(withoutSources(before.resources))
    expect(after.policies).toEqual(before.policies)
  })
})
