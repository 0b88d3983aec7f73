/** Cells as BigQuery sends them, where they differ from those of the local server. */
import { describe, expect, test } from '@jest/globals'
import type { Value } from '../engine.ts'
import type { FieldSchema } from '../schema.ts'
import type { Wire } from './client.ts'
import { resultColumns, rowReader } from './values.ts'

const read = (field: Omit<FieldSchema, 'name'>, v: Wire): Value => {
  const columns = resultColumns([{ name: 'a', ...field }])
  return rowReader(columns)({ f: [{ v }] })['a']!
}

describe('a cell', () => {
  test.each<[type: string, cell: string, value: Value]>([
    ['FLOAT', '1.5E10', 15_000_000_000],
    ['FLOAT', 'Infinity', 'Infinity'],
    ['FLOAT', '-inf', '-Infinity'],
    ['FLOAT64', 'NaN', 'NaN'],
    ['BOOLEAN', 'true', true],
    ['BOOL', 'FALSE', false],
    ['DATETIME', '2026-01-31T12:00:00.120000', '2026-01-31T12:00:00.12'],
    ['DATETIME', '2026-01-31T12:00:00', '2026-01-31T12:00:00'],
    ['TIME', '12:00:00.500000', '12:00:00.5'],
    ['INTERVAL', '0-0 3 4:5:6.500', '0-0 3 4:5:6.500'],
    ['NUMERIC', '100', '100'],
    ['BIGNUMERIC', '1.50', '1.5'],
    ['TIMESTAMP', '1767225600000000', 1767225600000000],
    ['JSON', '{"n":12345678901234567890}', { n: '12345678901234567890' }],
  ])('of type %s that holds %s is %j', (type, cell, value) => {
    expect(read({ type }, cell)).toEqual(value)
  })

  test('of an array that is NULL is an empty array', () => {
    expect(read({ type: 'STRING', mode: 'REPEATED' }, null)).toEqual([])
  })

  test('of a record holds cells', () => {
    const fields: FieldSchema[] = [
      { name: 'b', type: 'INTEGER' },
      { name: 'c', type: 'RECORD', mode: 'REPEATED', fields: [{ name: 'd', type: 'DATE' }] },
    ]
    const wire: Wire = { f: [{ v: '1' }, { v: [{ v: { f: [{ v: '2026-01-31' }] } }] }] }
    expect(read({ type: 'RECORD', fields }, wire)).toEqual({ b: 1, c: [{ d: '2026-01-31' }] })
  })

  test('of a type that the service has no form for is not guessed at', () => {
    expect(() => read({ type: 'GEOGRAPHY' }, 'POINT(1 2)')).toThrow(/GEOGRAPHY/)
  })
})
