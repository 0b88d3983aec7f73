import { describe, expect, test } from '@jest/globals'
import type { Row } from '../engines/engine.ts'
import type { Condition } from '../endpoints/definition.ts'
import { evaluate } from './condition.ts'
import { fillText } from './state.ts'

const rows = (...values: Row['string'][]): Row[] => values.map(n => ({ n: n! }))

describe('a condition', () => {
  test.each<[string, Condition, Row[], string, number | null]>([
    ['rows above', { value: 'rows', above: 0 }, rows(1), 'firing', 1],
    ['no rows', { value: 'rows', above: 0 }, [], 'calm', 0],
    ['nothing came', { value: 'rows', below: 1 }, [], 'firing', 0],
    ['the greatest of a column', { value: 'n', above: 5 }, rows(3, 7, 6), 'firing', 7],
    ['strictly', { value: 'n', above: 7 }, rows(3, 7), 'calm', 7],
    ['the least of a column', { value: 'n', below: 5 }, rows(8, 6, 7), 'calm', 6],
    [
      'decimals and large integers, which are text',
      { value: 'n', above: 5 },
      rows('9007199254740993', '5.5'),
      'firing',
      2 ** 53,
    ],
    ['infinity', { value: 'n', above: 5 }, rows('Infinity'), 'firing', Infinity],
    ['a column without a number', { value: 'n', above: 5 }, rows(null, 'NaN', ''), 'no data', null],
    ['a column without a row', { value: 'n', below: 5 }, [], 'no data', null],
    [
      'a share',
      { value: 'n', of: 'm', above: 0.1 },
      [
        { n: 1, m: 100 },
        { n: 2, m: 10 },
      ],
      'firing',
      0.2,
    ],
    ['a share of nothing', { value: 'n', of: 'm', above: 0.1 }, [{ n: 0, m: 0 }], 'calm', null],
    [
      'a share of what is no number',
      { value: 'n', of: 'm', above: 0.1 },
      [{ n: 0, m: null }],
      'no data',
      null,
    ],
  ])('%s', (_, condition, found, finding, value) => {
    expect(evaluate(condition, found)).toMatchObject({ finding, value })
  })

  test.each<[string, Condition, Row[], Row[], string, number | null]>([
    ['twice as much', { value: 'n', beforeMs: 1, above: 1.5 }, rows(3, 5), rows(4), 'firing', 2],
    ['half as many rows', { value: 'rows', beforeMs: 1, below: 0.6 }, rows(1), rows(1, 1), 'firing', 0.5],
    ['something after nothing', { value: 'n', beforeMs: 1, above: 9 }, rows(3), [], 'firing', Infinity],
    ['nothing after nothing', { value: 'n', beforeMs: 1, below: 9 }, [], [], 'calm', null],
    [
      'a share',
      { value: 'n', of: 'm', beforeMs: 1, above: 1 },
      [{ n: 2, m: 10 }],
      [{ n: 1, m: 10 }],
      'firing',
      2,
    ],
  ])('against the window before: %s', (_, condition, found, before, finding, value) => {
    expect(evaluate(condition, found, before)).toMatchObject({ finding, value })
  })

  test('tells the rows that set it off, furthest first', () => {
    expect(evaluate({ value: 'n', above: 5 }, rows(6, 3, 8)).rows).toEqual(rows(8, 6))
    expect(evaluate({ value: 'n', below: 5 }, rows(6, 3, 1)).rows).toEqual(rows(1, 3))
  })
})

describe('what is told', () => {
  const evaluation = { value: 1 / 3, count: 12, rows: [{ who: 'tom@example.com', 'a b': null, n: 1234567 }] }
  const text = '{{ value }} {{rows}} {{ who }} {{ a b }} {{ n }} {{ project }}'

  test('has values in place of names, without personal data', () => {
    expect(fillText({ text, redact: true }, { project: 'from 10.1.2.3' }, evaluation)).toEqual({
      text: '0.333333 12 REDACTED null 1234567 from REDACTED',
      rows: [{ who: 'REDACTED', 'a b': null, n: 1234567 }],
    })
    expect(fillText({ text, redact: false }, { project: 'p' }, evaluation).text).toContain('tom@example.com')
  })

  test('has ten rows at most, and few bytes of them', () => {
    const many = { ...evaluation, rows: Array.from({ length: 20 }, () => ({ n: 1 })) }
    expect(fillText({ text, redact: true }, {}, many).rows).toHaveLength(10)
    const large = { ...evaluation, rows: Array.from({ length: 5 }, () => ({ n: 'x'.repeat(9_000) })) }
    expect(fillText({ text, redact: false }, {}, large).rows).toHaveLength(2)
  })

  test('fills no name in that a value has', () => {
    const rows = [{ who: '{{ secret }}', secret: 'x' }]
    expect(fillText({ text: '{{ who }}', redact: false }, {}, { ...evaluation, rows }).text).toBe(
      '{{ secret }}',
    )
  })
})
