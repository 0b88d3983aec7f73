/** What set-up tells bq to do with a table, without bq. */
import { describe, expect, test } from '@jest/globals'
import { type Field, mergeFields, planTable, type Table } from './table-plan.ts'

const file: Field[] = [
  { name: 'id', type: 'STRING', mode: 'REQUIRED' },
  { name: 'timestamp', type: 'TIMESTAMP', mode: 'REQUIRED' },
  { name: 'metadata', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'host', type: 'STRING' }] },
]
const withProject: Field[] = [...file, { name: 'project', type: 'STRING' }]
const layout = { partition: 'DAY', projectColumn: false } as const

function present(fields: Field[], changes: Partial<Table> = {}): Table {
  const timePartitioning = { type: 'DAY', field: 'timestamp' }
  const clustering = {
    fields: fields.some(({ name }) => name === 'project') ? ['project', 'timestamp'] : ['timestamp'],
  }
  return { schema: { fields }, timePartitioning, clustering, ...changes }
}

describe('a table that is not there', () => {
  test.each([
    ['DAY', file, 'DAY --time_partitioning_field=timestamp --clustering_fields=timestamp'],
    ['HOUR', withProject, 'HOUR --time_partitioning_field=timestamp --clustering_fields=project,timestamp'],
  ] as const)(
    'is made with partitions by %s, sorted by project where that is a column',
    (partition, fields, expected) => {
      const { lines } = planTable([...fields], null, { partition, projectColumn: false })
      expect(lines[0]).toBe(`mk --force --table --time_partitioning_type=${expected}`)
    },
  )

  test('is made with an expiry, on request', () => {
    const { lines } = planTable(file, null, { ...layout, expiryDays: 30 })
    expect(lines).toEqual([expect.stringContaining('--time_partitioning_expiration=2592000 ')])
  })

  test('has hours where it expires before it has 10,000 of them, else days', () => {
    const units = [416, 417, 0, undefined].map(
      days =>
        planTable(file, null, { projectColumn: false, ...(days === undefined ? {} : { expiryDays: days }) })
          .lines,
    )
    expect(units).toEqual(
      ['HOUR', 'DAY', 'DAY', 'DAY'].map(unit => [expect.stringContaining(`_type=${unit} `)]),
    )
  })

  test('by the hour has a limit that the operator hears of', () => {
    const planned = (expiryDays: number) =>
      planTable(file, null, { ...layout, partition: 'HOUR', expiryDays }).lines
    for (const days of [0, 417])
      expect(planned(days)).toEqual([
        expect.stringMatching(/^mk .*HOUR/),
        expect.stringMatching(/^note takes no rows of more than 416 days/),
      ])
    expect(planned(416)).toHaveLength(1)
  })

  test('gets a column for the project, on request, and is sorted by it', () => {
    const { lines, schema } = planTable(file, null, { ...layout, projectColumn: true })
    expect(schema.at(-1)).toMatchObject({ name: 'project', type: 'STRING', mode: 'NULLABLE' })
    expect(lines).toEqual([expect.stringContaining('--clustering_fields=project,timestamp')])
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
    for (const fields of [file, added]) expect(planTable(file, present(fields), layout).lines).toEqual([])
  })

  test('gets columns and fields that are new in the file, and keeps its own', () => {
    const [id, timestamp] = file as [Field, Field]
    const metadata = {
      name: 'metadata',
      type: 'RECORD',
      mode: 'REPEATED',
      fields: [{ name: 'zone', type: 'STRING' }],
    }
    const { lines, schema } = planTable(withProject, present([id, metadata, timestamp]), layout)
    expect(lines).toEqual(['update --clustering_fields=project,timestamp'])
    expect(schema.map(({ name }) => name)).toEqual(['id', 'metadata', 'timestamp', 'project'])
    expect(schema[1]!.fields!.map(({ name }) => name)).toEqual(['zone', 'host'])
  })

  test('gets a column that the file requires as one that may be missing, as BigQuery adds no other', () => {
    expect(mergeFields([], file).map(({ mode }) => mode)).toEqual(['NULLABLE', 'NULLABLE', 'REPEATED'])
  })

  test('has its expiry set, changed and taken away as asked for, and kept where nothing is asked', () => {
    const timePartitioning = { type: 'DAY', field: 'timestamp', expirationMs: '86400000' }
    const expiring = present(file, { timePartitioning })
    const flags =
      '--time_partitioning_type=DAY --time_partitioning_field=timestamp --time_partitioning_expiration='
    const planned = (table: Table, expiryDays?: number) =>
      planTable(file, table, { ...layout, ...(expiryDays === undefined ? {} : { expiryDays }) }).lines
    expect(planned(expiring)).toEqual([])
    expect(planned(expiring, 1)).toEqual([])
    expect(planned(expiring, 2)).toEqual([`update ${flags}172800`])
    expect(planned(expiring, 0)).toEqual([`update ${flags}-1`])
    expect(planned(present(file), 0)).toEqual([])
  })

  test('keeps its partitions, and the operator hears of it', () => {
    const { lines } = planTable(file, present(file), { ...layout, partition: 'HOUR' })
    expect(lines).toEqual([expect.stringMatching(/^note is partitioned by DAY, which cannot be changed/)])
    expect(planTable(file, present(file), { projectColumn: false }).lines).toEqual([])
  })
})
