import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import type { Column } from '../../../shared/sql/types.ts'
import { BadEntry, entryReader, entryTimestamp, type Json, parseJson } from './entries.ts'
import { fromMicros } from '../../../shared/endpoints/timestamps.ts'
import { LogsError } from './error.ts'
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
  expect(() => entryReader(columns, () => {})).toThrow(LogsError)
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

/** Microseconds since 1970 of a canonical text. */
function toMicros(timestamp: string): bigint {
  return BigInt(Date.parse(`${timestamp.slice(0, 23)}Z`)) * 1000n + BigInt(timestamp.slice(23, 26))
}

describe('the time of an entry', () => {
  test.each([
    ['2026-01-31T12:00:00.123456Z', '2026-01-31T12:00:00.123456Z'],
    ['2026-01-31T12:00:00+02:00', '2026-01-31T10:00:00.000000Z'],
    ['2026-01-31', '2026-01-31T00:00:00.000000Z'],
    ['2026-01-31 12:00:00.5 UTC', '2026-01-31T12:00:00.500000Z'],
    [1769860800123456, '2026-01-31T12:00:00.123456Z'],
    ['1769860800123456', '2026-01-31T12:00:00.123456Z'],
    [1769860800, '2026-01-31T12:00:00.000000Z'],
    ['1769860800', '2026-01-31T12:00:00.000000Z'],
    [1769860800.123, '2026-01-31T12:00:00.123000Z'],
    ['1769860800.1234567', '2026-01-31T12:00:00.123456Z'],
    [1769860800123, '2026-01-31T12:00:00.123000Z'],
    [1769860800123.25, '2026-01-31T12:00:00.123250Z'],
    [1769860800123456789n, '2026-01-31T12:00:00.123456Z'],
    [0, '1970-01-01T00:00:00.000000Z'],
    [-1.5, '1969-12-31T23:59:58.500000Z'],
    [99_999_999_999, '5138-11-16T09:46:39.000000Z'],
    [100_000_000_000, '1973-03-03T09:46:40.000000Z'],
    [99_999_999_999_999, '5138-11-16T09:46:39.999000Z'],
    [100_000_000_000_000, '1973-03-03T09:46:40.000000Z'],
    [253402300800000000n, '1978-01-11T21:31:40.800000Z'],
    [253402300799999999n, '9999-12-31T23:59:59.999999Z'],
    ['-62135596800000000', '0001-01-01T00:00:00.000000Z'],
  ])('%s is %s', (value, expected) => expect(entryTimestamp(value)).toBe(expected))

  test.each([
    null,
    true,
    '',
    'yesterday',
    '2026-02-30',
    1e21,
    9n ** 30n,
    '9'.repeat(30),
    '1.',
    '.5',
    '1769860800s',
    {},
    [],
  ])('%p is no time', value => expect(entryTimestamp(value)).toBeNull())

  test('is the same in seconds, milliseconds, microseconds and nanoseconds, from 1978 on', () => {
    const seconds = fc.bigInt({ min: 260_000_000n, max: 9_223_372_035n })
    fc.assert(
      fc.property(seconds, value => {
        const expected = fromMicros(value * 1_000_000n)
        for (const unit of [1n, 1_000n, 1_000_000n, 1_000_000_000n])
          expect(entryTimestamp(value * unit)).toBe(expected)
        expect(entryTimestamp(Number(value))).toBe(expected)
      }),
    )
  })

  test('keeps every microsecond, there and back', () => {
    const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    fc.assert(fc.property(micros, value => toMicros(fromMicros(value)!) === value))
  })

  test('earlier is a smaller text', () => {
    const micros = fc.bigInt({ min: -62_135_596_800_000_000n, max: 253_402_300_799_999_999n })
    fc.assert(fc.property(micros, micros, (a, b) => a < b === fromMicros(a)! < fromMicros(b)!))
  })
})
