/** setup.sh for real, with gcloud and bq, killed behind every change that it makes in a project on the stand-in. */
import { cpSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test } from '@jest/globals'
import { changes, lasting, openProject, type Project } from '../google/control/testing/project.ts'
import { withAccounts, withApis, withRepository } from '../google/control/testing/states.ts'
import type { State } from '../google/control/plane.ts'
import { newProject } from '../google/control/server.ts'
import { planMonitoring, type Present } from './monitoring-plan.ts'
import { routedTable } from './requests-view.ts'

const threeHours = 3 * 3_600_000
const repository = 'an-owner/a-repository'
const { indexes, fieldOverrides } = JSON.parse(
  readFileSync('infra/deploy/firestore.indexes.json', 'utf8'),
) as {
  indexes: object[]
  fieldOverrides: object[]
}
const steps = [
  'apis',
  'accounts',
  'roles',
  'firestore',
  'tables',
  'requests',
  'monitoring',
  'trigger',
] as const

let project: Project
afterEach(() => project.close())

function emptyProject(): State {
  return withRepository(newProject('my-project'), repository)
}

/** Two of the nine tables: one has the project as a column. */
function twoTables(): string {
  const folder = join(project.folder, 'tables')
  mkdirSync(folder, { recursive: true })
  for (const name of ['pgbouncer.logs.prod', 'deno-subhosting-events'])
    cpSync(`infra/tables/${name}.json`, join(folder, `${name}.json`))
  return folder
}

async function setup(...args: string[]): Promise<string> {
  const { status, output } = await project.run('infra/deploy/setup.sh', argumentsOf(args))
  expect([status, output.slice(-3000)]).toEqual([0, expect.anything()])
  return output
}

function argumentsOf(args: string[]): string[] {
  return ['--project=my-project', `--repository=${repository}`, '--notify=night@example.com', ...args]
}

describe('setup.sh', () => {
  test(
    'makes all that is needed, and a second run changes nothing',
    async () => {
      project = await openProject({ state: emptyProject() })
      await setup()
      const { resources, policies } = project.plane.state
      const count = (pattern: RegExp) => Object.keys(resources).filter(name => pattern.test(name)).length
      expect(count(/my-project\/serviceAccounts\//)).toBe(4)
      expect(count(/\/collectionGroups\/.*\/indexes\//)).toBe(indexes.length)
      expect(count(/\/collectionGroups\/.*\/fields\//)).toBe(fieldOverrides.length)
      expect(count(/\/datasets\/logs\/tables\//)).toBe(9 + 2) // with the routed lines of requests and their view
      expect(count(/\/sinks\//)).toBe(1)
      expect(count(/\/triggers\//)).toBe(1)
      expect(count(/\/(metrics|alertPolicies|dashboards|uptimeCheckConfigs|notificationChannels)\//)).toBe(14)
      expect(policies['projects/my-project']!.bindings).toHaveLength(7)
      const before = lasting(project.plane.state)
      await setup()
      expect(lasting(project.plane.state)).toEqual(before)
    },
    threeHours,
  )

  test(
    'gets through while APIs and accounts are so new that not all of Google knows them',
    async () => {
      const state = emptyProject()
      state.projects['my-project']!.news = []
      project = await openProject({ state })
      const output = await setup(`--tables=${twoTables()}`)
      expect(output).toMatch(/# again in .*: has not been used in project/i)
      expect(output).toMatch(/# again in .*: Service account .* does not exist/i)
      expect(output).toMatch(/# again in .*: Cannot find metric/i)
      expect(state.projects['my-project']!.news).not.toContain('firestore.googleapis.com')
    },
    threeHours,
  )

  test(
    'makes a table, and adds what is new to one to which a pipeline has added columns, and keeps those',
    async () => {
      const state = withAccounts()
      const dataset = 'projects/my-project/datasets/logs'
      state.resources[dataset] = { datasetReference: { projectId: 'my-project', datasetId: 'logs' } }
      const fields = [
        { name: 'id', type: 'STRING', mode: 'REQUIRED' },
        { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
        {
          name: 'metadata',
          type: 'RECORD',
          mode: 'REPEATED',
          fields: [{ name: 'region', type: 'STRING', mode: 'NULLABLE' }],
        },
        { name: '_loaded_at', type: 'TIMESTAMP', mode: 'NULLABLE' },
      ]
      const tableReference = { projectId: 'my-project', datasetId: 'logs', tableId: 'pgbouncer_logs_prod' }
      const table = {
        id: 'my-project:logs.pgbouncer_logs_prod',
        type: 'TABLE',
        tableReference,
        schema: { fields },
        timePartitioning: { type: 'DAY', field: 'timestamp' },
      }
      state.resources[`${dataset}/tables/pgbouncer_logs_prod`] = table
      project = await openProject({ state })
      const output = await setup('--only=tables', `--tables=${twoTables()}`, '--partition-expiry-days=30')
      expect(output).toContain('successfully updated')
      expect(table.schema.fields.map(({ name }) => name)).toEqual([
        'id',
        'timestamp',
        'metadata',
        '_loaded_at',
        'event_message',
        'project',
      ])
      expect(table.schema.fields[2]!.fields!.map(({ name }) => name)).toEqual(['region', 'host'])
      expect(table).toMatchObject({
        timePartitioning: { expirationMs: '2592000000' },
        clustering: { fields: ['project', 'timestamp'] },
      })
      expect(state.resources[`${dataset}/tables/deno_subhosting_events`]).toMatchObject({
        timePartitioning: { field: 'timestamp', expirationMs: '2592000000' },
        clustering: { fields: ['timestamp'] },
      })
      const [binding] = lasting(project.plane.state).policies[dataset]!.bindings!
      expect(binding).toMatchObject({ role: 'roles/bigquery.dataViewer', members: { length: 3 } })
    },
    threeHours,
  )

  test(
    'finds its way in a project that has some of it, made by hand',
    async () => {
      const state = emptyProject()
      project = await openProject({ state })
      const database = 'projects/my-project/databases/(default)'
      state.projects['my-project']!.apis.push('iam.googleapis.com', 'firestore.googleapis.com')
      const account = 'projects/my-project/serviceAccounts/lqe-warm@my-project.iam.gserviceaccount.com'
      state.resources[account] = { name: account, email: 'lqe-warm@my-project.iam.gserviceaccount.com' }
      state.resources[database] = { name: database, type: 'FIRESTORE_NATIVE', locationId: 'eur3' }
      const field = `${database}/collectionGroups/keys/fields/createdAt`
      state.resources[field] = {
        name: field,
        indexConfig: { indexes: [{ fields: [{ order: 'ASCENDING' }] }] },
      }
      await setup(`--tables=${twoTables()}`)
      const output = await setup(`--tables=${twoTables()}`, '--partition=HOUR', '--project-column')
      expect(output).toContain('is partitioned by DAY, which cannot be changed')
      expect(
        state.resources['projects/my-project/datasets/logs/tables/deno_subhosting_events'],
      ).toMatchObject({
        clustering: { fields: ['project', 'timestamp'] },
      })
      expect(state.resources[field]).toMatchObject({
        indexConfig: { indexes: [{ fields: [{ order: 'DESCENDING' }] }] },
      })
    },
    threeHours,
  )

  test(
    'applies the monitoring with two roles, where most of it is there, and puts back what was changed by hand',
    async () => {
      const state = withApis()
      const members = ['user:operator@example.com']
      for (const role of ['roles/logging.configWriter', 'roles/monitoring.editor'])
        state.policies['projects/my-project']!.bindings!.push({ role, members })
      project = await openProject({ state })
      await makeMonitoring()
      const before = lasting(state)
      for (const [name, resource] of Object.entries(state.resources)) {
        if (name.endsWith('/metrics/lqe_bytes')) resource['filter'] = 'severity>=ERROR'
        if (resource['displayName'] === 'Store unavailable') resource['severity'] = 'ERROR'
      }
      project.plane.calls.length = 0
      const args = ['--project=my-project', '--only=monitoring']
      const done = await project.run('infra/deploy/setup.sh', args, 'operator@example.com')
      expect([done.status, done.output]).toEqual([0, expect.stringContaining('uptime create lqe-query')])
      expect(project.plane.calls.filter(changes)).toHaveLength(3)
      const [check] = Object.keys(state.resources).filter(name => name.includes('/uptimeCheckConfigs/'))
      delete state.resources[check!]
      expect(lasting(state)).toEqual(before)
    },
    threeHours,
  )

  test(
    'routes the lines of requests to a table with a view, and gives one that Cloud Logging has made the columns it lacks',
    async () => {
      const state = withAccounts()
      const dataset = 'projects/my-project/datasets/logs'
      state.resources[dataset] = { datasetReference: { projectId: 'my-project', datasetId: 'logs' } }
      project = await openProject({ state })
      const first = await setup('--only=requests')
      expect(state.policies[dataset]!.bindings).toEqual([
        {
          role: 'roles/bigquery.dataEditor',
          members: ['serviceAccount:service-123456789012@gcp-sa-logging.iam.gserviceaccount.com'],
        },
      ])
      const sink = state.resources['projects/my-project/sinks/lqe-requests']!
      expect(sink['bigqueryOptions']).toEqual({ usePartitionedTables: true })
      const { view } = state.resources[`${dataset}/tables/service_requests`]!
      expect(view).toMatchObject({ query: expect.stringMatching(/ FROM `my-project\.logs\.run_\w+`$/) })
      const table = state.resources[`${dataset}/tables/${routedTable}`]!
      const { schema } = structuredClone(table) as {
        schema: { fields: { name: string; fields?: object[] }[] }
      }
      expect(table).toMatchObject({ timePartitioning: { type: 'DAY', field: 'timestamp' } })

      const [timestamp, payload] = schema.fields
      const known = payload!.fields!.slice(0, 3)
      table['schema'] = {
        fields: [{ name: 'logName', type: 'STRING' }, timestamp, { ...payload, fields: known }],
      }
      const { filter } = sink
      sink['filter'] = 'severity=ERROR'
      const second = await setup('--only=requests')
      expect([first, second]).toEqual([
        expect.stringContaining('sinks create'),
        expect.stringContaining('sinks update'),
      ])
      expect(sink['filter']).toBe(filter)
      expect(table['schema']).toMatchObject({ fields: [{ name: 'logName' }, ...schema.fields] })
    },
    threeHours,
  )

  test(
    'goes on after a kill behind every change, and ends where it ends without one',
    async () => {
      project = await openProject({ state: emptyProject() })
      const { state } = project.plane
      let kills = 0
      for (const step of steps) {
        const args = [`--only=${step}`, `--tables=${twoTables()}`]
        const before = structuredClone(state)
        project.plane.calls.length = 0
        await setup(...args)
        const after = lasting(state)
        const made = project.plane.calls.filter(changes).length
        for (let at = 1; at <= made; at++) {
          Object.assign(state, structuredClone(before))
          let seen = 0
          const { status } = await project.runAndKill(
            'infra/deploy/setup.sh',
            argumentsOf(args),
            call => changes(call) && ++seen === at,
          )
          expect([step, at, status]).toEqual([step, at, null])
          await setup(...args)
          expect({ step, at, ...lasting(state) }).toEqual({ step, at, ...after })
          kills++
        }
        console.log(`${step}: killed behind each of ${made} changes`)
      }
      expect(kills).toBeGreaterThan(52)
    },
    threeHours,
  )
})

const collections: Record<string, string> = {
  metrics: 'logging/v2/projects/my-project/metrics',
  dashboards: 'monitoring/v1/projects/my-project/dashboards',
  policies: 'monitoring/v3/projects/my-project/alertPolicies',
}

/** All of the monitoring that is in files, without gcloud, which takes a second for each. */
async function makeMonitoring(): Promise<void> {
  const nothing: Present = { metrics: [], channels: [], uptime: [], dashboards: [], policies: [] }
  for (const { args, file } of planMonitoring({ project: 'my-project', region: 'europe-west1' }, nothing)) {
    const kind = args[args.indexOf('create') - 1]!
    if (!file) continue
    const body = JSON.stringify(kind === 'metrics' ? { ...file, name: args.at(-2) } : file)
    const headers = { Authorization: 'Bearer owner@example.com' }
    const url = `${project.plane.address}/${collections[kind]}`
    expect(await fetch(url, { method: 'POST', headers, body })).toMatchObject({ status: 200 })
  }
}
