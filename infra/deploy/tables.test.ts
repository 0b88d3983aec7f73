/** What set-up makes of a table, and in a project on the stand-in, of the dataset and of the lines of requests. */
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { openProject, type Project } from '../google/control/testing/project.ts'
import type { FieldSchema } from '../../shared/engines/schema.ts'
import { mergeFields, planTable, routedTable, type Table } from './tables.ts'
import { connect, setUp } from './testing/client.ts'

const file: FieldSchema[] = [
  { name: 'id', type: 'STRING', mode: 'REQUIRED' },
  { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
  { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'host', type: 'STRING' }] },
]
const withProject: FieldSchema[] = [...file, { name: 'project', type: 'STRING' }]

type Layout = Parameters<typeof planTable>[2]

/** Settings as flags give them; `days` is `--partition-expiry-days`. */
function layout(days?: string, more: Partial<Layout> = {}): Layout {
  return { partition: undefined, 'partition-expiry-days': days, 'project-column': undefined, ...more }
}

function present(fields: FieldSchema[], changes: Partial<Table> = {}): Table {
  const timePartitioning = { type: 'DAY', field: 'timestamp' }
  const clustering = {
    fields: fields.some(({ name }) => name === 'project') ? ['project', 'timestamp'] : ['timestamp'],
  }
  return { schema: { fields }, timePartitioning, clustering, ...changes }
}

describe('a table that is not there', () => {
  test.each([
    ['DAY', file, ['timestamp']],
    ['HOUR', withProject, ['project', 'timestamp']],
  ] as const)(
    'is made with partitions by %s, sorted by project where that is a column',
    (partition, fields, sorted) => {
      expect(planTable([...fields], null, layout(undefined, { partition })).table).toEqual({
        schema: { fields },
        timePartitioning: { type: partition, field: 'timestamp' },
        clustering: { fields: sorted },
      })
    },
  )

  test('is made with an expiry, on request', () => {
    const { timePartitioning } = planTable(file, null, layout('30')).table!
    expect(timePartitioning).toEqual({ type: 'HOUR', field: 'timestamp', expirationMs: '2592000000' })
  })

  test('has hours where it expires before it has 10,000 of them, else days', () => {
    const units = ['416', '417', '0', undefined].map(
      days => planTable(file, null, layout(days)).table!.timePartitioning!.type,
    )
    expect(units).toEqual(['HOUR', 'DAY', 'DAY', 'DAY'])
  })

  test('by the hour has a limit that the operator hears of', () => {
    const notes = ['0', '417', '416'].map(
      days => planTable(file, null, layout(days, { partition: 'HOUR' })).note,
    )
    const limit = expect.stringMatching(/^takes no rows of more than 416 days/)
    expect(notes).toEqual([limit, limit, undefined])
  })

  test('gets a column for the project, on request, and is sorted by it', () => {
    const { schema, clustering } = planTable(
      file,
      null,
      layout(undefined, { 'project-column': 'yes' }),
    ).table!
    expect(schema!.fields.at(-1)).toMatchObject({ name: 'project', type: 'STRING', mode: 'NULLABLE' })
    expect(clustering).toEqual({ fields: ['project', 'timestamp'] })
  })
})

describe('a table that is there', () => {
  test('is left alone where it is what it should be, also with columns and fields that a pipeline has added', () => {
    const added = [
      ...file.map(field =>
        field.fields ? { ...field, fields: [...field.fields, { name: 'region', type: 'STRING' }] } : field,
      ),
      { name: '_loaded_at', type: 'TIMESTAMP' },
    ]
    for (const fields of [file, added]) expect(planTable(file, present(fields), layout()).table).toBeNull()
  })

  test('gets columns and fields that are new in the file, and keeps its own', () => {
    const [id, timestamp] = file as [FieldSchema, FieldSchema]
    const metadata: FieldSchema = {
      name: 'metadata',
      type: 'RECORD',
      mode: 'REPEATED',
      fields: [{ name: 'zone', type: 'STRING' }],
    }
    const { table } = planTable(withProject, present([id, metadata, timestamp]), layout())
    const { fields } = table!.schema!
    expect(Object.keys(table!)).toEqual(['schema', 'clustering'])
    expect(table!.clustering).toEqual({ fields: ['project', 'timestamp'] })
    expect(fields.map(({ name }) => name)).toEqual(['id', 'metadata', 'timestamp', 'project'])
    expect(fields[1]!.fields!.map(({ name }) => name)).toEqual(['zone', 'host'])
  })

  test('gets a column that the file requires as one that may be missing, as BigQuery adds no other', () => {
    expect(mergeFields([], file).map(({ mode }) => mode)).toEqual(['NULLABLE', 'NULLABLE', 'REPEATED'])
  })

  test('has its expiry set, changed and taken away as asked for, and kept where nothing is asked', () => {
    const timePartitioning = { type: 'DAY', field: 'timestamp', expirationMs: '86400000' }
    const expiring = present(file, { timePartitioning })
    const planned = (table: Table, days?: string) => planTable(file, table, layout(days)).table
    const changed = (expirationMs: string | null) => ({
      timePartitioning: { type: 'DAY', field: 'timestamp', expirationMs },
    })
    expect(planned(expiring)).toBeNull()
    expect(planned(expiring, '1')).toBeNull()
    expect(planned(expiring, '2')).toEqual(changed('172800000'))
    expect(planned(expiring, '0')).toEqual(changed(null))
    expect(planned(present(file), '0')).toBeNull()
  })

  test('keeps its partitions, and the operator hears of it', () => {
    const { table, note } = planTable(file, present(file), layout(undefined, { partition: 'HOUR' }))
    expect([table, note]).toEqual([
      null,
      expect.stringMatching(/^is partitioned by DAY, which cannot be changed/),
    ])
    expect(planTable(file, present(file), layout()).note).toBeUndefined()
  })
})

describe('set-up', () => {
  const dataset = 'projects/my-project/datasets/logs'
  const account = (name: string) => `lqe-${name}@my-project.iam.gserviceaccount.com`
  let project: Project
  beforeEach(async () => {
    project = await openProject()
    await setUp(connect(project), ['APIs', 'accounts'])
  })
  afterEach(() => project.close())

  const resources = () => project.plane.state.resources
  const setUpTables = async (flags: Record<string, string> = {}) => {
    const client = connect(project, flags)
    await setUp(client, ['tables'])
    return client.said
  }

  test('gives a table to which a pipeline has added columns what is new, and says what it cannot change', async () => {
    await setUpTables()
    const id = `${dataset}/tables/pgbouncer_logs_prod`
    const table = resources()[id] as unknown as Table
    const { fields } = structuredClone(table.schema)
    table.schema.fields = [
      ...fields.filter(({ name }) => name !== 'event_message'),
      { name: '_loaded_at', type: 'TIMESTAMP', mode: 'NULLABLE' },
    ]
    const said = await setUpTables({ 'partition-expiry-days': '30', partition: 'HOUR' })
    expect(said).toContain('table pgbouncer_logs_prod: schema, rows are kept for 30 days, not ever')
    expect(said.filter(line => line.includes('is partitioned by DAY, which cannot be changed'))).toHaveLength(
      9,
    )
    const after = resources()[id] as unknown as Table
    expect(after.schema.fields.map(({ name }) => name).slice(-2)).toEqual(['_loaded_at', 'event_message'])
    expect(after.timePartitioning).toEqual({ type: 'DAY', field: 'timestamp', expirationMs: '2592000000' })
    expect(await setUpTables()).toEqual([])
  })

  test('lets query and warm read, the build and the requests’ sink write, and keeps who else may', async () => {
    await setUpTables()
    const ours = (resources()[dataset]!['access'] as object[]).slice()
    expect(ours).toEqual([
      { role: 'READER', userByEmail: account('query') },
      { role: 'READER', userByEmail: account('warm') },
      { role: 'WRITER', userByEmail: account('build') },
      { role: 'WRITER', userByEmail: 'service-123456789012@gcp-sa-logging.iam.gserviceaccount.com' },
    ])
    const others = { role: 'OWNER', specialGroup: 'projectOwners' }
    resources()[dataset]!['access'] = [others, ...ours.slice(1)]
    expect(await setUpTables()).toEqual(['rights on dataset logs: READER lqe-query'])
    expect(resources()[dataset]!['access']).toEqual([others, ...ours.slice(1), ours[0]])
  })

  test('starts again where somebody else changes the rights on the dataset at the same time', async () => {
    await setUpTables()
    resources()[dataset]!['access'] = []
    const somebody = { role: 'READER', userByEmail: account('scheduler') }
    let reads = 0
    project.plane.watch = call => {
      // The first time to see that the dataset is there, the second for its rights.
      if (call.includes(`GET /bigquery/v2/${dataset} `) && ++reads === 2)
        resources()[dataset]!['access'] = [somebody]
    }
    await setUpTables()
    expect(project.plane.calls.filter(call => call.endsWith(`${dataset} 409`))).toHaveLength(1)
    expect(resources()[dataset]!['access']).toHaveLength(5)
    expect(resources()[dataset]!['access']).toContainEqual(somebody)
  })

  test('routes the lines of requests to a table by the day, with a view', async () => {
    await setUpTables({ partition: 'HOUR', 'project-column': 'yes' })
    const sink = resources()['projects/my-project/sinks/lqe-requests']!
    expect(sink['bigqueryOptions']).toEqual({ usePartitionedTables: true })
    const { view } = resources()[`${dataset}/tables/service_requests`]!
    expect(view).toMatchObject({ query: expect.stringMatching(/ FROM `my-project\.logs\.run_\w+`$/) })
    const table = resources()[`${dataset}/tables/${routedTable}`] as unknown as Table
    expect(table).toMatchObject({ timePartitioning: { type: 'DAY', field: 'timestamp' } })
    expect(table.schema.fields.map(({ name }) => name)).toEqual(['timestamp', 'jsonPayload'])
  })

  test('gives the table that Cloud Logging has made the columns it lacks, and puts view and sink back', async () => {
    await setUpTables()
    const made = () => [
      ...[routedTable, 'service_requests'].map(id => resources()[`${dataset}/tables/${id}`]!),
      resources()['projects/my-project/sinks/lqe-requests']!,
    ]
    const before = structuredClone(made())
    const [table, view, sink] = made()
    const { fields } = structuredClone(table!['schema']) as { fields: FieldSchema[] }
    const [timestamp, payload] = fields as [FieldSchema, FieldSchema]
    const logName = { name: 'logName', type: 'STRING' }
    table!['schema'] = { fields: [logName, timestamp, { ...payload, fields: payload.fields!.slice(0, 3) }] }
    view!['view'] = { query: `SELECT 1 AS one`, useLegacySql: false }
    sink!['filter'] = 'severity=ERROR'
    expect(await setUpTables()).toEqual([
      `table ${routedTable}: schema`,
      'view service_requests: changed',
      'sink lqe-requests: changed',
    ])
    const [tableNow, ...after] = made()
    expect(tableNow!['schema']).toEqual({ fields: [logName, ...fields] })
    expect(after).toEqual(before.slice(1))
  })
})
