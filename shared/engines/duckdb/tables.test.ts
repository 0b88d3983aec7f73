import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import type { Column } from '../../sql/types.ts'
import { prepareTableFolder, readTableSchemas } from './tables.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tables-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (file: string, fields: unknown) => writeFileSync(join(folder, file), JSON.stringify(fields))

describe('table schemas', () => {
  test.each(['a`b.json', 'a\\b.json', 'a\nb.json', '._a.json', '.json'])(
    'have a name that SQL can quote: %j',
    file => {
      write('été 1.logs-x.json', [{ name: 'id', type: 'STRING' }])
      expect([...readTableSchemas(folder).keys()]).toContain('été 1.logs-x')
      write(file, [{ name: 'id', type: 'STRING' }])
      expect(() => readTableSchemas(folder)).toThrow(
        /^TABLES_DIR: .*names no table that SQL can quote: rename it$/,
      )
    },
  )

  test('are read from <table>.json, REPEATED as ARRAY and RECORD as STRUCT', () => {
    write('app.logs.json', [
      { name: 'id', type: 'STRING', mode: 'REQUIRED' },
      { name: 'n', type: 'INTEGER' },
      { name: 'f', type: 'FLOAT', mode: 'NULLABLE' },
      { name: 'b', type: 'BOOLEAN' },
      { name: 'tags', type: 'STRING', mode: 'REPEATED' },
      { name: 'm', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'at', type: 'TIMESTAMP' }] },
    ])
    writeFileSync(join(folder, 'README.md'), 'no schema')
    const { 'service.requests': own, ...theirs } = Object.fromEntries(readTableSchemas(folder))
    expect(own).toContainEqual({ name: 'endpoint', type: { kind: 'STRING' } }) // ships, and is in any folder
    expect(theirs).toEqual(
      Object.fromEntries<Column[]>([
        [
          'app.logs',
          [
            { name: 'id', type: { kind: 'STRING' } },
            { name: 'n', type: { kind: 'INT64' } },
            { name: 'f', type: { kind: 'FLOAT64' } },
            { name: 'b', type: { kind: 'BOOL' } },
            { name: 'tags', type: { kind: 'ARRAY', element: { kind: 'STRING' } } },
            {
              name: 'm',
              type: {
                kind: 'ARRAY',
                element: { kind: 'STRUCT', fields: [{ name: 'at', type: { kind: 'TIMESTAMP' } }] },
              },
            },
          ],
        ],
      ]),
    )
  })

  test.each([
    ['a type that there is not', [{ name: 'id', type: 'TEXT' }], 'field id has the unknown type TEXT'],
    ['an object', { fields: [] }, 'is not a BigQuery table schema'],
  ])('with %s are refused with the name of the file', (_, fields, message) => {
    write('bad.json', fields)
    expect(() => readTableSchemas(folder)).toThrow(message)
    expect(() => readTableSchemas(folder)).toThrow('bad.json')
  })
})

describe('the folder of a table', () => {
  const columns: Column[] = [
    { name: 'id', type: { kind: 'STRING' } },
    { name: 'tags', type: { kind: 'ARRAY', element: { kind: 'STRING' } } },
  ]

  test('is made with an empty file of its columns, once, and nothing else', async () => {
    const instance = await DuckDBInstance.create()
    const connection = await instance.connect()
    const table = join(folder, 'logs', 'app.logs')
    await prepareTableFolder(connection, table, columns)
    await prepareTableFolder(connection, table, columns)
    expect(readdirSync(table)).toEqual(['empty.parquet'])
    const result = await connection.runAndReadAll(`DESCRIBE SELECT * FROM '${table}/*.parquet'`)
    expect(result.getRows().map(row => row.slice(0, 2))).toEqual([
      ['id', 'VARCHAR'],
      ['tags', 'VARCHAR[]'],
    ])
    connection.closeSync()
    instance.closeSync()
  })

  test('is made by several engines of one process at once', async () => {
    const instance = await DuckDBInstance.create()
    const connections = await Promise.all(Array.from({ length: 8 }, () => instance.connect()))
    const table = join(folder, 'logs', 'app.logs')
    await Promise.all(connections.map(connection => prepareTableFolder(connection, table, columns)))
    expect(readdirSync(table)).toEqual(['empty.parquet'])
    for (const connection of connections) connection.closeSync()
    instance.closeSync()
  })

  test('is left alone where it holds a Parquet file', async () => {
    writeFileSync(join(folder, 'rows.parquet'), '')
    const instance = await DuckDBInstance.create()
    const connection = await instance.connect()
    await prepareTableFolder(connection, folder, columns)
    expect(readdirSync(folder)).toEqual(['rows.parquet'])
    connection.closeSync()
    instance.closeSync()
  })
})
