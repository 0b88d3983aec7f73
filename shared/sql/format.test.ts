import { describe, expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
import { parse } from './parser.ts'
import { print } from './printer.ts'
import { format } from './format.ts'

const examples = [...readFileSync('queries/README.md', 'utf8').matchAll(/```sql\n(.*?)\n```/gs)].map(
  ([, sql]) => sql!,
)

describe('format', () => {
  test('gives each clause a line', () => {
    const sql =
      "select a, COUNT(*) as n from (select x.a from t as x where x.b = 'from  it' and x.c > 1) group by a order by n"
    expect(format(sql).split('\n')).toEqual([
      'select a, COUNT(*) as n',
      'from (',
      '  select x.a',
      '  from t as x',
      "  where x.b = 'from  it'",
      '    and x.c > 1',
      ')',
      'group by a',
      'order by n',
    ])
  })

  test('never changes what a query says, and formats what is formatted to itself', () => {
    expect(examples.length).toBeGreaterThan(5)
    for (const sql of examples) {
      const flat = sql.replaceAll(/--[^\n]*/g, '').replaceAll(/\s+/g, ' ')
      for (const text of [sql, flat]) {
        expect(print(parse(format(text)))).toBe(print(parse(text)))
        expect(format(format(text))).toBe(format(text))
      }
    }
  })

  test('keeps comments and strings', () => {
    expect(format('SELECT 1 -- FROM here\nFROM t /* WHERE */ LIMIT 1')).toBe(
      'SELECT 1 -- FROM here\nFROM t /* WHERE */\nLIMIT 1',
    )
  })
})
