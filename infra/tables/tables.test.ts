import { readFileSync } from 'node:fs'
import { describe, expect, test } from '@jest/globals'
import { readTableSchemas } from '../../shared/engines/duckdb/tables.ts'

interface Field {
  name: string
  type: string
  mode?: string
  fields?: Field[]
}

const folder = 'infra/tables'
/** Those that ship; `lqe table add` adds others. */
const tables = [
  'cloudflare.logs.prod',
  'deno-relay-logs',
  'deno-subhosting-events',
  'gotrue.logs.prod',
  'pgbouncer.logs.prod',
  'postgREST.logs.prod',
  'postgres.logs',
  'realtime.logs.prod',
  'storage.logs.prod.2',
]
const files = tables.map(table => `${table}.json`)
const fieldsOf = (file: string) => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8')) as Field[]
const nested = (fields: Field[]): Field[] => fields.flatMap(field => [field, ...nested(field.fields ?? [])])

describe('the log tables', () => {
  test('are nine, and the engine can read their schemas', () => {
    expect([...readTableSchemas(folder).keys()]).toEqual(expect.arrayContaining(tables))
  })

  test.each(files)('%s begins with the columns that every table has', file => {
    const columns = fieldsOf(file).map(({ name, type, mode = 'NULLABLE' }) => `${name} ${type} ${mode}`)
    expect(columns.slice(0, 4)).toEqual([
      'id STRING REQUIRED',
      'timestamp TIMESTAMP REQUIRED',
      'event_message STRING NULLABLE',
      'metadata RECORD REPEATED',
    ])
  })

  test.each(files)('every object of %s is repeated, and only objects have fields', file => {
    for (const { type, mode, fields } of nested(fieldsOf(file))) {
      expect(type === 'RECORD').toBe(fields !== undefined)
      if (type === 'RECORD') expect(mode).toBe('REPEATED')
    }
  })

  test.each(files)('%s names no field twice, in any case of letters', file => {
    const check = (fields: Field[]) => {
      const names = fields.map(({ name }) => name.toLowerCase())
      expect(new Set(names).size).toBe(names.length)
      for (const field of fields) check(field.fields ?? [])
    }
    check(fieldsOf(file))
  })

  test('say whose entry it is: in the column project, or within metadata', () => {
    const inMetadata = [
      'deno-relay-logs',
      'deno-subhosting-events',
      'realtime.logs.prod',
      'storage.logs.prod.2',
    ]
    for (const file of files) {
      const columns = fieldsOf(file)
      const hasColumn = columns.some(({ name }) => name === 'project')
      expect(hasColumn).toBe(!inMetadata.includes(file.replace('.json', '')))
      const names = nested(columns).map(({ name }) => name)
      expect(names.some(name => name === 'project' || name === 'project_ref')).toBe(true)
    }
  })
})
