import { mkdirSync, readdirSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { SqlType } from '../../../shared/sql/types.ts'
import { entryReader, type Json, type LogEntry, parseJson } from './entries.ts'
import { fromMicros } from '../../../shared/endpoints/timestamps.ts'
import { CommandError } from '../command.ts'
import { ParquetWriter, tableColumns, withStage } from './parquet.ts'
import { clearLogs, publish } from './publish.ts'
import { writeSample } from './sample.ts'
import { files, newFolder, query, tablesFolder } from './testing/folder.ts'
import { anyCharacter } from '../../../shared/testing/characters.ts'
import { rounds } from '../../../shared/testing/rounds.ts'

const now = new Date('2026-11-21T12:00:00Z')
const table = 'postgres.logs'
const columns = tableColumns(tablesFolder, table)
const entry = (id: string, micros = 0n): LogEntry => ({ id, timestamp: fromMicros(micros)!, metadata: [] })

async function write(folder: string, name: string, entries: LogEntry[], of = table): Promise<void> {
  await withStage(folder, async stage => {
    const writer = new ParquetWriter(stage, of, tableColumns(tablesFolder, of))
    for (const each of entries) await writer.write(each)
    await writer.finish()
    const added = { source: name, options: '', bytes: 0, hash: '', writer }
    await publish(stage, writer, [added], ({ source }) => source === name)
  })
}

describe('a stage', () => {
  test('publishes whole files under their name, and is gone afterwards', async () => {
    const folder = newFolder()
    await write(folder, 'load-1', [entry('a')])
    expect(readdirSync(folder)).toEqual([table])
    expect(files(folder, table)).toEqual([expect.stringMatching(/^load-[^/]+\/0001\.parquet$/)])
  })

  test('has nothing for a reader to find before it publishes', async () => {
    const folder = newFolder()
    await withStage(folder, async stage => {
      const writer = new ParquetWriter(stage, table, columns)
      await writer.write(entry('a'))
      await writer.finish()
      expect(readdirSync(folder).every(name => name.startsWith('.stage-'))).toBe(true)
    })
    expect(readdirSync(folder)).toEqual([])
  })

  test('is gone after an error, too', async () => {
    const folder = newFolder()
    const failing = withStage(folder, async stage => {
      await new ParquetWriter(stage, table, columns).write(entry('a'))
      throw new Error('no')
    })
    await expect(failing).rejects.toThrow('no')
    expect(readdirSync(folder)).toEqual([])
  })

  test('removes the stage that a killed process left a day ago, and nothing newer', async () => {
    const folder = newFolder()
    const dayAgo = Date.now() / 1000 - 90_000
    for (const name of ['.stage-old', '.stage-new']) mkdirSync(join(folder, name))
    utimesSync(join(folder, '.stage-old'), dayAgo, dayAgo)
    await withStage(folder, async () => {})
    expect(readdirSync(folder)).toEqual(['.stage-new'])
  })

  test('cuts many rows into files, each of them sorted and in groups of a narrow time', async () => {
    const folder = newFolder()
    const count = 60_000
    const entries = Array.from({ length: count }, (_, at) => entry(String(at), BigInt((at * 7919) % count)))
    await write(folder, 'load', entries)
    expect(files(folder, table).map(file => file.split('/')[1])).toEqual(['0001.parquet', '0002.parquet'])
    const [first] = await query(folder, table, 'SELECT count(*) AS rows, count(DISTINCT id) AS ids FROM logs')
    expect(first).toEqual({ rows: String(count), ids: String(count) })
    const backwards = `SELECT count(*) AS count FROM (SELECT timestamp < lag(timestamp) OVER (PARTITION BY filename
      ORDER BY file_row_number) AS back FROM read_parquet('${folder}/${table}/*/*.parquet', filename = true,
      file_row_number = true)) WHERE back`
    expect(await query(folder, table, backwards)).toEqual([{ count: '0' }])
    const groups = `SELECT count(DISTINCT (file_name, row_group_id)) AS groups
      FROM parquet_metadata('${folder}/${table}/*/*.parquet')`
    expect(await query(folder, table, groups)).toEqual([{ groups: '5' }])
  })
})

const texts = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom('{"a":1}', '12', 'null', '\ud800', '\0'),
)
const integers = fc.oneof(
  fc.maxSafeInteger(),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.constant(null),
)

/** Values of a column's type, as they may stand in a line of JSON. */
function values(type: SqlType): fc.Arbitrary<Json> {
  if (type.kind === 'ARRAY') {
    const item = values(type.element)
    return fc.oneof(fc.array(item, { maxLength: 2 }), item)
  }
  if (type.kind === 'STRUCT') {
    const fields: Record<string, fc.Arbitrary<Json>> = {}
    for (const field of type.fields) fields[field.name!] = fc.option(values(field.type))
    return fc.record(fields)
  }
  return { INT64: integers, BOOL: fc.boolean(), STRING: texts }[type.kind as 'INT64' | 'BOOL' | 'STRING']
}

/** Without nulls and empty lists, which are equal in a row of a table, and with numbers as digits. */
function plain(value: Json): Json {
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(plain)
  const fields = Object.entries(value).filter(
    ([, item]) => item !== null && !(Array.isArray(item) && item.length === 0),
  )
  return Object.fromEntries(fields.map(([name, item]) => [name, plain(item)]))
}

describe('an entry on its way through Parquet', () => {
  test.each([table, 'cloudflare.logs.prod', 'gotrue.logs.prod', 'realtime.logs.prod'])(
    'of %s comes out as it went in',
    async table => {
      const metadata = tableColumns(tablesFolder, table).find(({ name }) => name === 'metadata')!.type
      const micros = fc.bigInt({ min: 100_000_000_000_000n, max: 253_402_300_799_999_999n })
      const raw = fc.record({
        timestamp: micros,
        event_message: fc.string({ unit: anyCharacter }),
        metadata: values(metadata),
      })
      const read = entryReader(tableColumns(tablesFolder, table), () => {})
      await fc.assert(
        fc.asyncProperty(fc.array(raw, { minLength: 1, maxLength: 20 }), async list => {
          const folder = newFolder()
          const entries = list.map((value, at) => read({ id: String(at), ...value }, at))
          await write(folder, 'load', entries, table)
          const sql = `SELECT to_json({id: id, timestamp: epoch_us(timestamp), event_message: event_message, metadata: metadata})
            AS row FROM logs ORDER BY CAST(id AS INTEGER)`
          const rows = (await query(folder, table, sql)).map(({ row }) => plain(parseJson(row as string)))
          expect(rows).toEqual(entries.map((each, at) => plain({ ...each, timestamp: list[at]!.timestamp })))
        }),
        { numRuns: rounds(6, 300) },
      )
    },
  )
})

describe('clearing a table', () => {
  test('leaves it empty and readable, and the others as they were', async () => {
    const logsFolder = newFolder()
    await writeSample({ logsFolder, tablesFolder, now, rows: 100 })
    const others = files(logsFolder, 'cloudflare.logs.prod')
    expect(await clearLogs({ logsFolder, tablesFolder, table: 'postgREST.logs.prod' })).toBe(1)
    const columns = 'count(*) AS count, count(project) AS projects, count(metadata) AS metadata'
    expect(await query(logsFolder, 'postgREST.logs.prod', `SELECT ${columns} FROM logs`)).toEqual([
      { count: '0', projects: '0', metadata: '0' },
    ])
    expect(files(logsFolder, 'cloudflare.logs.prod')).toEqual(others)
  })

  test('may be done before there are any logs, and again', async () => {
    const options = { logsFolder: newFolder(), tablesFolder, table: 'postgres.logs' }
    expect(await clearLogs(options)).toBe(0)
    expect(await clearLogs(options)).toBe(0)
    expect(files(options.logsFolder, options.table)).toEqual(['empty.parquet'])
  })

  test('that is unknown names the tables there are', async () => {
    const clearing = clearLogs({ logsFolder: newFolder(), tablesFolder, table: 'nope' })
    await expect(clearing).rejects.toThrow(CommandError)
    await expect(clearing).rejects.toThrow('pgbouncer.logs.prod')
  })
})
