/** setup.sh for real, with gcloud and bq, in a project on the stand-in. All of it, and kills behind every change: `setup.soak.ts`. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect } from '@jest/globals'
import { lasting, openProject, type Project } from '../google/control/testing/project.ts'
import { withAccounts } from '../google/control/testing/states.ts'
import { testWith } from '../google/testing/gcloud.ts'

const test = testWith('bq') // where bq is, gcloud is
const minutes = 180_000

let project: Project
afterEach(() => project.close())

const setup = (...args: string[]) => project.run('infra/deploy/setup.sh', ['--project=my-project', ...args])

describe('setup.sh', () => {
  test(
    'shows why it stops where a right is missing',
    async () => {
      project = await openProject()
      const { status, output } = await project.run(
        'infra/deploy/setup.sh',
        ['--project=my-project', '--only=apis'],
        'guest@example.com',
      )
      expect([status, output]).toEqual([1, expect.stringContaining("'serviceusage.services.enable' denied")])
    },
    minutes,
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
      const tables = join(project.folder, 'tables')
      mkdirSync(tables)
      for (const name of ['pgbouncer.logs.prod', 'deno-subhosting-events'])
        cpSync(`infra/tables/${name}.json`, join(tables, `${name}.json`))
      const { status, output } = await setup(
        '--only=tables',
        `--tables=${tables}`,
        '--partition-expiry-days=30',
      )
      expect([status, output]).toEqual([0, expect.stringContaining('successfully updated')])
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
    minutes,
  )
})
