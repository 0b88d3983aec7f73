import { test } from '@jest/globals'
import { SqlError } from '../../../../sql/error.ts'
import { rewrite } from '../rewrite.ts'
import { functions } from './calls.ts'

const values = [`'a'`, '1', 'NULL', `['a', NULL]`, 'STRUCT(1 AS a)', `TIMESTAMP '2026-01-01'`]

/** Lists of up to four arguments, of one kind each, and of two kinds by turns. */
const argumentLists = ['', '*', ...[1, 2, 3, 4].flatMap(listsOf)]

function listsOf(count: number): string[] {
  const lists = values.flatMap(one =>
    values.map(other => Array.from({ length: count }, (_, at) => (at % 2 ? other : one)).join(', ')),
  )
  return [...new Set(lists)]
}

test.each(Object.keys(functions))('%s takes or refuses any arguments, and fails at none', name => {
  for (const list of argumentLists)
    try {
      rewrite(`SELECT ${name}(${list}) AS x`, new Map(), new Map())
    } catch (error) {
      if (!(error instanceof SqlError)) throw new Error(`${name}(${list})`, { cause: error })
    }
})
