import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Column } from '../../../shared/sql/types.ts'
import { BadEntry, columnName, entryReader, type Json, parseJson } from './entries.ts'
import { CommandError } from '../command.ts'
import { tableColumns } from './parquet.ts'

const timestamp = '2026-01-31T12:00:00.000000Z'

function reader(table: string) {
  const unknown: string[] = []
  const read = entryReader(tableColumns('infra/tables', table), field => unknown.push(field))
  return { unknown, read: (value: Json, line = 1) => read(value, line) }
}

describe('an entry', () => {
  const listed = [{ host: 'db', parsed: [{ process_id: 7, error_severity: 'LOG' }] }]

  test.each([
    ['plain objects', { host: 'db', parsed: { process_id: 7, error_severity: 'LOG' } }],
    ['lists of one', listed],
    ['some of each', [{ host: 'db', parsed: { process_id: 7, error_severity: 'LOG' } }]],
  ])('with metadata of %s has lists of one', (_form, metadata) => {
    expect(reader('postgres.logs').read({ id: 'a', timestamp, metadata })).toEqual({
      id: 'a',
      timestamp,
      metadata: listed,
    })
  })

  test('leaves out nulls, in objects and in lists', () => {
    const metadata = { host: null, parsed: [null, { hint: null, detail: 'd' }] }
    expect(reader('postgres.logs').read({ id: 'a', timestamp, event_message: null, metadata })).toEqual({
      id: 'a',
      timestamp,
      metadata: [{ parsed: [{ detail: 'd' }] }],
    })
  })

  test('may have a single value where the table has a list of values', () => {
    const metadata = { args: 'one' }
    expect(reader('gotrue.logs.prod').read({ id: 'a', timestamp, metadata }).metadata).toEqual([
      { args: ['one'] },
    ])
  })

  test('loses fields that the table lacks, and reports their full names', () => {
    const { read, unknown } = reader('postgres.logs')
    const metadata = { parsed: { colour: 'red', ['__proto__']: 1 }, constructor: 'x' }
    expect(read({ id: 'a', timestamp, metadata, extra: 1 })).toEqual({
      id: 'a',
      timestamp,
      metadata: [{ parsed: [{}] }],
    })
    expect(unknown).toEqual([
      'metadata.parsed.colour',
      'metadata.parsed.__proto__',
      'metadata.constructor',
      'extra',
    ])
  })

  test('keeps integers of 64 bits', () => {
    const metadata = (query_id: Json) => ({ parsed: { query_id } })
    const { read } = reader('postgres.logs')
    const kept = (value: Json) => read({ id: 'a', timestamp, metadata: metadata(value) }).metadata
    expect(kept(-9223372036854775808n)).toEqual([{ parsed: [{ query_id: '-9223372036854775808' }] }])
    expect(kept('12')).toEqual([{ parsed: [{ query_id: '12' }] }])
    expect(() => kept(9223372036854775808n)).toThrow(BadEntry)
  })

  test('without half surrogate pairs: they become U+FFFD', () => {
    expect(reader('postgres.logs').read({ id: 'a', timestamp, event_message: 'a\ud800' }).event_message).toBe(
      'a\ufffd',
    )
  })

  test.each<[string, Json, string]>([
    ['is no object', [1], 'the entry must be an object, not a list'],
    ['has no time', { id: 'a' }, 'timestamp is missing'],
    [
      'has another time',
      { timestamp: 'noon' },
      'timestamp must be an ISO 8601 time or a time since 1970, not the string "noon"',
    ],
    ['has a number for a text', { timestamp, event_message: 5 }, 'event_message must be a string, not 5'],
    [
      'has a text for an object',
      { timestamp, metadata: { parsed: 'x' } },
      'metadata.parsed must be an object, not the string "x"',
    ],
    [
      'has a fraction for an integer',
      { timestamp, metadata: { parsed: { process_id: 1.5 } } },
      'metadata.parsed.process_id must be a 64-bit integer, not 1.5',
    ],
    [
      'has a list for a text',
      { timestamp, metadata: { host: ['x'] } },
      'metadata.host must be a string, not a list',
    ],
  ])('is bad when it %s', (_what, value, message) => {
    expect(() => reader('postgres.logs').read(value)).toThrow(new BadEntry(message))
  })

  test('without an id gets one made of its content and line', () => {
    const { read } = reader('postgres.logs')
    const entry = { timestamp, event_message: 'm' }
    const { id } = read(entry, 3)
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(read({ ...entry, id: '' }, 3).id).not.toBe('')
    expect(read(entry, 3).id).toBe(id)
    expect(read(entry, 4).id).not.toBe(id)
    expect(read({ ...entry, event_message: 'n' }, 3).id).not.toBe(id)
  })
})

test('a table with a column of a type that no log has is refused by name', () => {
  const columns: Column[] = [{ name: 'price', type: { kind: 'NUMERIC' } }]
  expect(() => entryReader(columns, () => {})).toThrow(CommandError)
  expect(() => entryReader(columns, () => {})).toThrow('price has the type NUMERIC')
})

describe('a line of JSON', () => {
  test('keeps the digits of integers that a double cannot hold', () => {
    expect(
      parseJson('{"a":9223372036854775807,"b":[-9007199254740993,1.5,12],"c":"9223372036854775807"}'),
    ).toEqual({
      a: 9223372036854775807n,
      b: [-9007199254740993n, 1.5, 12],
      c: '9223372036854775807',
    })
  })

  test('may be any JSON', () => {
    const written = (value: unknown) =>
      JSON.stringify(value, (_name, item: unknown) => (typeof item === 'bigint' ? Number(item) : item))
    fc.assert(
      fc.property(fc.json(), text => expect(written(parseJson(text))).toBe(written(JSON.parse(text)))),
    )
  })

  test.each([
    '',
    '{',
    '{"a":}',
    'nope',
    '[1,]',
    '{"a":1}{"b":2}',
    '['.repeat(200_000),
    '['.repeat(200_000) + '1234567890123456',
  ])('is bad where it is malformed', text => expect(() => parseJson(text)).toThrow(BadEntry))
})

describe('the time of an entry without a timestamp', () => {
  const columns: Column[] = [
    { name: 'id', type: { kind: 'STRING' } },
    { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
    { name: 'created_at', type: { kind: 'TIMESTAMP' } },
  ]
  const read = (value: Json, time: string | null = null) => entryReader(columns, () => {}, time)(value, 1)

  test.each<[Json]>([
    [{ time: timestamp }],
    [{ ts: timestamp, time: timestamp }],
    [{ '@timestamp': timestamp }],
    [{ Time: 1769860800, created_at: 0 }],
  ])('%j is in a field of a usual name that is no column', value => {
    expect(read(value).timestamp).toBe(timestamp)
  })

  test('is not that of a column', () => {
    expect(() => read({ created_at: timestamp })).toThrow('timestamp is missing')
  })

  test('is in the field that is named', () => {
    expect(read({ when: timestamp, timestamp: 0 }, 'when').timestamp).toBe(timestamp)
    expect(() => read({ timestamp }, 'when')).toThrow('when is missing')
  })
})

describe('a field', () => {
  const columns = (...types: [string, Column['type']][]): Column[] => [
    { name: 'timestamp', type: { kind: 'TIMESTAMP' } },
    ...types.map(([name, type]) => ({ name, type })),
  ]

  test.each([
    ['@level', 'level'],
    ['http.status', 'http_status'],
    ['x-real-ip', 'x_real_ip'],
    ['5xx', '_5xx'],
    ['größe', 'größe'],
    ['_private', '_private'],
    ['$', ''],
    ['_TABLE_SUFFIX', 'TABLE_SUFFIX'],
    ['_file_name', 'file_name'],
    ['@_PartitionTime', 'PartitionTime'],
    ['_ROW_TIMESTAMP', 'ROW_TIMESTAMP'],
    ['__ROOT__x', 'ROOT__x'],
    ['_COLIDENTIFIER_1', 'COLIDENTIFIER_1'],
    ['_CHANGE_SEQUENCE_NUMBER', 'CHANGE_SEQUENCE_NUMBER'],
    ['_CHANGE_TYPE', 'CHANGE_TYPE'],
    ['_CHANGE_TIMESTAMP', 'CHANGE_TIMESTAMP'],
    ['_table', '_table'],
    ['x'.repeat(301), 'x'.repeat(300)],
    [`5${'x'.repeat(300)}`, `_5${'x'.repeat(298)}`],
  ])('%s has the column "%s"', (field, column) => expect(columnName(field)).toBe(column))

  test('goes into the column of its name', () => {
    const read = entryReader(columns(['http_status', { kind: 'INT64' }]), () => {})
    expect(read({ timestamp, 'http.status': 200 }, 1)).toMatchObject({ http_status: 200 })
  })

  test('__proto__ is one like any other, and gives the entry no id', () => {
    const fields = [{ name: 'id', type: { kind: 'STRING' } as const }]
    const table = columns(['id', { kind: 'STRING' }], ['__proto__', { kind: 'STRUCT', fields }])
    const row = entryReader(table, () => {})(
      parseJson(`{"timestamp":"${timestamp}","__proto__":{"id":"a"}}`),
      1,
    )
    expect(JSON.stringify(row)).toContain('"__proto__":{"id":"a"}')
    expect(row.id).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('of JSON keeps its value, with all digits', () => {
    const read = entryReader(columns(['any', { kind: 'JSON' }]), () => {})
    const texts = [1, 'a\ud800', [1, null], { a: { b: 2n ** 62n } }].map(any =>
      JSON.stringify(read({ timestamp, any }, 1)['any' as 'id']),
    )
    expect(texts).toEqual(['1', '"a\ufffd"', '[1,null]', '{"a":{"b":4611686018427387904}}'])
  })

  test('id may be a number', () => {
    const read = entryReader(columns(['id', { kind: 'STRING' }]), () => {})
    expect(read({ timestamp, id: 7 }, 1).id).toBe('7')
  })
})
