/** What a person could have known, asked in a project on the stand-in: each fault alone, and all at once. */
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect } from '@jest/globals'
import { grant } from './rights.ts'
import { changes, openProject, type Project } from '../google/control/testing/project.ts'
import type { State } from '../google/control/plane.ts'
import { testWithGcloud } from '../google/testing/gcloud.ts'
import { preflight } from './preflight.ts'
import { readSite, SettingsError } from './settings.ts'
import { connect, setUp } from './testing/client.ts'

const test = testWithGcloud() // without it there is one fault more
const logs = 'projects/my-project/datasets/logs'
const database = 'projects/my-project/databases/(default)'
const service = (name: string) => `projects/my-project/locations/europe-west1/services/${name}`

let project: Project
beforeEach(async () => {
  project = await openProject()
})
afterEach(() => project.close())

/** What preflight finds: nothing, or the faults. Whatever it finds, it changes nothing. */
async function faults(flags: Record<string, string> = {}, as?: string): Promise<readonly string[]> {
  const { google, site } = connect(project, flags, as ? { as } : {})
  project.plane.calls.length = 0
  const found = await preflight(google, site).catch((error: Error) => error)
  expect(project.plane.calls.filter(changes)).toEqual([])
  if (found instanceof SettingsError) return found.message.split('\n- ').slice(1)
  if (found instanceof Error) throw found
  return []
}

interface Fault {
  make?: (state: State) => void
  flags?: Record<string, string>
  says: RegExp
}

const constrain = (constraint: string, rule: object) => (state: State) => {
  state.projects['my-project']!.constraints[constraint] = { ...rule }
}
const domains = constrain('iam.allowedPolicyMemberDomains', { listPolicy: { allowedValues: ['C0abc'] } })
const noOpenQuery = constrain('run.managed.requireInvokerIam', { enforce: true })

/** The fault and the remedy. */
const each: Record<string, Fault> = {
  'no billing': {
    make: state => (state.projects['my-project']!.isBilled = false),
    says: /has no billing account: gcloud billing projects link my-project --billing-account=/,
  },
  'no such region': {
    flags: { region: 'europe-west99' },
    says: /^--region=europe-west99 is no region .*: .*europe-west1,/,
  },
  'a database in Datastore mode': {
    make: ({ resources }) =>
      (resources[database] = { name: database, type: 'DATASTORE_MODE', locationId: 'eur3' }),
    says: /database \(default\) is in Datastore mode: --database=NAME/,
  },
  'a database elsewhere': {
    make: ({ resources }) =>
      (resources[database] = { name: database, type: 'FIRESTORE_NATIVE', locationId: 'nam5' }),
    says: /database \(default\) is in nam5, not eur3: --firestore-location=nam5, or --database=NAME/,
  },
  'a dataset elsewhere': {
    make: ({ resources }) => (resources[logs] = { location: 'US' }),
    says: /dataset logs is in US, not EU: --location=US, or --dataset=NAME/,
  },
  'tables that are nowhere': {
    flags: { 'tables-in': 'my-project.other' },
    says: /^--tables-in=my-project\.other: owner@example\.com sees no such dataset: .*bigquery\.dataOwner/,
  },
  'tables in another place': {
    flags: { 'tables-in': 'my-project.other' },
    make: ({ resources }) => (resources['projects/my-project/datasets/other'] = { location: 'US' }),
    says: /dataset other is in US, not EU: --location=US, or tables and roll-ups/,
  },
  'a service of somebody else': {
    make: ({ resources }) =>
      (resources[service('warm')] = { template: { serviceAccount: 'other@example.com' } }),
    says: /^warm in europe-west1 is another service of Cloud Run: --prefix=NAME/,
  },
  'no way to open query': {
    make: state => [domains, noOpenQuery].forEach(make => make(state)),
    says: /forbids that query is open, by .*run\.managed\.requireInvokerIam: ask the administrator/,
  },
  'more instances kept than there may be': {
    flags: { 'query-min-instances': '20' },
    says: /^--query-min-instances=20: at most 10\.$/,
  },
  'a timeout that Cloud Run has not': {
    flags: { 'query-timeout': '99999' },
    says: /^--query-timeout=99999: at most 3600\.$/,
  },
  'a database that is not there, beside one that serves': {
    make: ({ resources }) =>
      (resources[service('query')] = {
        template: { serviceAccount: 'lqe-query@my-project.iam.gserviceaccount.com' },
      }),
    says: /^There is no database \(default\), and query serves from another: .*npx lqe deploy restore/,
  },
  'no new accounts': {
    make: constrain('iam.disableServiceAccountCreation', { booleanPolicy: { enforced: true } }),
    says: /forbids service accounts to be made .*: ask the administrator/,
  },
  'a place that is not allowed': {
    make: constrain('gcp.resourceLocations', { listPolicy: { allowedValues: ['us-east1', 'us-west1'] } }),
    says: /allows us-east1, us-west1 only .*: --region=us-east1$/,
  },
}

/** Those of set-up, and the one that tells managed constraints, which organizations that have them enable. */
async function enableApis(): Promise<void> {
  await setUp(connect(project), ['APIs'])
  project.plane.state.projects['my-project']!.apis.push('orgpolicy.googleapis.com')
}

describe('preflight', () => {
  test('finds nothing in a project that is new, and in one that is set up', async () => {
    expect(await faults()).toEqual([])
    await setUp(connect(project))
    expect(await faults()).toEqual([])
  })

  test.each(Object.entries(each))('finds %s, says the remedy, and changes nothing', async (_, fault) => {
    await enableApis()
    fault.make?.(project.plane.state)
    expect(await faults(fault.flags)).toEqual([expect.stringMatching(fault.says)])
  })

  test.each([
    ['that is not valid', 'MAX_RESULT_BYTES=abc', /^--env MAX_RESULT_BYTES must be a whole number/],
    ['that there is not', 'MAX_RESULT_BYTE=1', /^--env MAX_RESULT_BYTE: the service has no such setting/],
    [
      'that is the deployment’s',
      'BIGQUERY_DATASET=other',
      /^--env BIGQUERY_DATASET: the deployment sets it itself/,
    ],
    ['that is not for the cloud', 'STORE=sqlite', /^--env STORE: the deployment sets it itself/],
  ])('finds a setting of the service %s', async (_, pair, says) => {
    const { google } = connect(project)
    const end = preflight(google, readSite('my-project', { env: [pair] }))
    await expect(end).rejects.toThrow(new RegExp(says.source.replace('^', '\n- ')))
  })

  test('says many faults in one message', async () => {
    await enableApis()
    const five = [
      'no billing',
      'no such region',
      'a database elsewhere',
      'a dataset elsewhere',
      'no new accounts',
    ]
    for (const name of five) each[name]!.make?.(project.plane.state)
    const found = await faults({ region: 'europe-west99' })
    expect(found).toHaveLength(5)
    for (const name of five) expect(found).toContainEqual(expect.stringMatching(each[name]!.says))
  })

  test('tells somebody who may not see the project, or only see it, in one message', async () => {
    const guest = 'guest@example.com'
    expect(await faults({}, guest)).toEqual([
      expect.stringMatching(/^guest@example\.com sees no project my-project: .*gcloud projects list/),
    ])
    const { google } = connect(project)
    const see = [['roles/bigquery.jobUser', `user:${guest}`]] as const
    await grant(google, 'cloudresourcemanager/v1/projects/my-project', 'the project', see)
    const [fault, ...more] = await faults({ region: 'mars-1' }, guest)
    expect(fault).toMatch(
      /^guest@example\.com may not enable APIs \(serviceusage\.services\.enable\), make acc/,
    )
    expect(fault).toMatch(/ in my-project: let an owner of the project do it, or grant roles\/owner\.$/)
    expect(more).toEqual([expect.stringMatching(/^--region=mars-1/)])
  })

  test('tells somebody whom Google does not answer that, and not to sign in', async () => {
    const { google, site } = connect(project)
    process.env['CLOUDSDK_API_ENDPOINT_OVERRIDES_OAUTH2'] = 'http://127.0.0.1:1/'
    await expect(preflight(google, site)).rejects.toThrow(/Google does not answer \(fetch failed\)/)
  })

  test('tells somebody who is not signed in', async () => {
    const { google, site } = connect(project)
    process.env['CLOUDSDK_AUTH_ACCESS_TOKEN_FILE'] = join(project.folder, 'none')
    await expect(preflight(google, site)).rejects.toThrow(
      /Nobody is signed in: gcloud auth login --update-adc/,
    )
  })

  test('asks for each policy and for each service once', async () => {
    await enableApis()
    project.plane.calls.length = 0
    expect(await faults()).toEqual([])
    const asked = project.plane.calls.map(call => call.replace(/^\S+ /, ''))
    const of = (pattern: RegExp) => asked.filter(call => pattern.test(call))
    expect(of(/:getEffective\w*Policy/)).toHaveLength(5)
    expect(of(/\/services\/query /)).toHaveLength(1)
  })

  test('finds an expiry that deletes rows, unless it is said that it may', async () => {
    const kept = { 'partition-expiry-days': '90' }
    await setUp(connect(project, kept))
    expect(await faults(kept)).toEqual([])
    const [fault, ...more] = await faults({ 'partition-expiry-days': '30' })
    expect(fault).toMatch(
      /^--partition-expiry-days=30: BigQuery deletes older rows of .*cloudflare_logs_prod \(kept for 90 days\).*: --delete-older-rows/,
    )
    expect([more, await faults({ 'partition-expiry-days': '120' })]).toEqual([[], []])
    const { google, site } = connect(project, { 'partition-expiry-days': '30' })
    await preflight(google, site, true)
    for (const name of Object.keys(project.plane.state.resources))
      if (name.startsWith(`${logs}/tables/`)) project.plane.state.resources[name]!['numRows'] = '0'
    await preflight(google, site)
  })

  test('misses gcloud, which deploys the functions', async () => {
    const args = ['infra/lqe.ts', 'deploy', '--project=my-project', '--dry-run']
    const { status, output } = await project.run('/usr/bin/env', [
      'PATH=/bin/none',
      process.execPath,
      ...args,
    ])
    expect([status, output]).toEqual([1, expect.stringMatching(/- There is no gcloud: https:\/\/cloud/)])
  })
})
