import { describe, expect, test } from '@jest/globals'
import type { Column } from '../../../shared/sql/types.ts'
import { entryReader, type Json } from './entries.ts'
import { BadEntry, LogsError } from './error.ts'
import { tableColumns } from './tables.ts'

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

  test('loses fields that the table has not, and their full names are told', () => {
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
      'timestamp must be an ISO 8601 time or microseconds since 1970, not the string "noon"',
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
