import { describe, expect, test } from '@jest/globals'
import fc from 'fast-check'
import { columnsOf, type FieldSchema } from '../../../shared/engines/schema.ts'
import { entryReader, type Json } from '../logs/entries.ts'
import { columnLines } from './add.ts'
import { Guess } from './guess.ts'

function guessed(entries: { [name: string]: Json }[]) {
  const guess = new Guess()
  for (const entry of entries) guess.add(entry)
  const leftOut: string[] = []
  const columns = guess.columns(guess.timeField ?? '', field => leftOut.push(field))
  return { guess, columns, leftOut }
}

/** The type of a field that had these values. */
function typeOf(name: string, ...values: Json[]): string {
  const { columns } = guessed(values.map(value => ({ time: '2026-01-31T12:00:00Z', [name]: value })))
  return columnLines(columns, '')
    .map(line => line.replaceAll(/ +/g, ' ').trim())
    .join(', ')
}

describe('the type of a field', () => {
  test.each<[string, Json[], string]>([
    ['texts', ['a', null, ''], 'x STRING'],
    ['booleans', [true, false], 'x BOOL'],
    ['whole numbers', [1, -2, 9007199254740993n], 'x INT64'],
    ['numbers', [1, 0.5], 'x FLOAT64'],
    ['numbers past 64 bits', [2n ** 64n], 'x FLOAT64'],
    ['times', ['2026-01-31T12:00:00Z', '31/Jan/2026:12:00:00 +0000'], 'x TIMESTAMP'],
    ['texts, some of them times', ['2026-01-31T12:00:00Z', 'soon'], 'x STRING'],
    ['dates alone', ['2026-01-31'], 'x STRING'],
    ['numbers and texts', [1, 'a'], 'x JSON'],
    ['objects and texts', [{ a: 1 }, 'a'], 'x JSON'],
    ['nothing but nulls', [null], 'x JSON'],
    ['lists', [['a'], []], 'x STRING REPEATED'],
    ['lists of numbers and texts', [['a', 1]], 'x JSON'],
    ['lists of lists', [[[1]]], 'x JSON'],
    ['empty lists', [[]], 'x JSON'],
    ['objects', [{ a: 1 }, { b: { 'c-d': true } }], 'x RECORD, a INT64, b RECORD, c_d BOOL'],
    ['lists of objects', [[{ a: 1 }], []], 'x RECORD REPEATED, a INT64'],
    ['empty objects', [{}], 'x JSON'],
    ['objects whose keys have one column name', [{ 'a.b': 1, a_b: 2 }], 'x JSON'],
    [
      'objects with many keys',
      [Object.fromEntries(Array.from({ length: 200 }, (_, at) => [`k${at}`, at]))],
      'x JSON',
    ],
  ])('of %s', (_, values, expected) => expect(typeOf('x', ...values)).toBe(expected))

  test.each<[string, Json[], string]>([
    ['created_at', [1769860800], 'TIMESTAMP'],
    ['createdAt', [1769860800123], 'TIMESTAMP'],
    ['ts', [1769860800.5, 1769860801], 'TIMESTAMP'],
    ['time_us', [1769860800123456], 'TIMESTAMP'],
    ['start_date', ['2026-01-31'], 'TIMESTAMP'],
    ['response_time', [12, 1769860800], 'INT64'],
    ['response_time', [0.25], 'FLOAT64'],
    ['status', [1769860800], 'INT64'],
    ['format', [1769860800], 'INT64'],
  ])('%s of %j is %3$s', (name, values, expected) =>
    expect(typeOf(name, ...values)).toBe(`${name} ${expected}`),
  )
})

test.each([
  [['ts', 'time', 'created_at'], 'time'],
  [['created_at', '@timestamp'], '@timestamp'],
  [['Timestamp'], 'Timestamp'],
  [['started'], undefined],
])('the time of entries with %j is %s', (names, expected) => {
  const entry = Object.fromEntries(names.map(name => [name, '2026-01-31T12:00:00Z']))
  expect(guessed([entry, entry, { ...entry, [names[0]!]: 'soon' }]).guess.timeField).toBe(expected)
})

test('fields whose columns would have one name are left out, but for the first by name', () => {
  const { columns, leftOut } = guessed([{ time: 1769860800, Level: 'a', level: 'b', '?': 1, timestamp: 'x' }])
  expect(columns.map(({ name }) => name)).toEqual(['Level'])
  expect(leftOut).toEqual(['level', '?', 'timestamp'])
})

test('every entry that a schema is guessed from fits it', () => {
  const value = fc.letrec<{ any: Json }>(tie => ({
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom<Json>(
        null,
        true,
        1,
        0.5,
        2n ** 63n,
        'a',
        '2026-01-31T12:00:00Z',
        1769860800,
        12,
        '\ud800',
      ),
      fc.array(tie('any'), { maxLength: 3 }),
      fc.dictionary(fc.constantFrom('a', 'b', 'a-b', 'a_b', 'ts', '9', '@'), tie('any'), { maxKeys: 4 }),
    ),
  })).any
  const entry = fc.dictionary(fc.constantFrom('a', 'b', 'at', 'B', 'a-b', 'a b', 'a_b', '@id'), value, {
    maxKeys: 5,
  })
  fc.assert(
    fc.property(fc.array(entry, { minLength: 1, maxLength: 5 }), entries => {
      const all = entries.map(each => ({ ...each, time: '2026-01-31T12:00:00Z' }))
      const { columns, leftOut } = guessed(all)
      const common: FieldSchema[] = [
        { name: 'id', type: 'STRING' },
        { name: 'timestamp', type: 'TIMESTAMP' },
      ]
      const unknown: string[] = []
      const types = columnsOf([...common, ...columns], ({ type }) => new TypeError(type))
      const read = entryReader(types, field => unknown.push(field))
      for (const each of all) expect(JSON.stringify(read(each, 1))).toContain('2026-01-31T12:00:00.000000Z')
      expect([...new Set(unknown)].filter(field => !leftOut.includes(field))).toEqual([])
    }),
    { numRuns: 300 },
  )
})
