/**
 * Against the recorded verdicts of Google's reference parser: the front end accepts no query that the reference
 * refuses, and finds the same tables. `shared/sql/README.md`, "The reference".
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { SqlError } from '../sql/error.ts'
import { parse } from '../sql/parser.ts'
import { tablesOf } from '../sql/tables.ts'
import type { Query } from '../sql/tree.ts'
import { statementLimits } from '../sql/limits.ts'
import { composed, judgedAttacks, type Judged, type Verdict } from './testing/reference/corpus.ts'

const verdicts = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testing/reference/verdicts.json'), 'utf8'),
) as Record<string, Verdict>

function verdictOn({ title, hash }: Judged): Verdict {
  const verdict = verdicts[title]
  if (verdict?.hash !== hash) throw new Error(`no verdict on ${title}: see testing/reference/record.ts`)
  return verdict
}

function parsed(sql: string): Query | null {
  try {
    return parse(sql, statementLimits)
  } catch (error) {
    if (error instanceof SqlError) return null
    throw error
  }
}

function tablesRead(query: Query): string[] {
  const names = tablesOf(query).map(({ path }) => path.map(({ name }) => name).join('.'))
  return [...new Set(names.map(name => name.toLowerCase()))].toSorted()
}

describe('a statement that the sandbox composed', () => {
  test.each(composed)('from $title is one to the reference, which reads the same tables', query => {
    expect(verdictOn(query)).toEqual({ hash: query.hash, tables: tablesRead(parsed(query.sql)!) })
  })
})

describe('an attack that the front end reads as a query', () => {
  const readable = judgedAttacks
    .map(query => ({ ...query, tree: parsed(query.sql) }))
    .filter(({ tree }) => tree)

  // The reference's search for tables skips QUALIFY and WINDOW, where ours must find more.
  test.each(readable)('$title: is one to the reference, and no table is missed', ({ tree, ...query }) => {
    const { tables, error } = verdictOn(query)
    expect(error).toBeUndefined()
    expect(tablesRead(tree!)).toEqual(expect.arrayContaining(tables!))
  })
})

describe('the attacks', () => {
  test('are real: most of them are queries to the reference, over tables that they must not read', () => {
    const real = judgedAttacks
      .map(verdictOn)
      .filter(({ tables }) => tables?.some(name => !/^\w+_logs$/.test(name)))
    expect(real.length).toBeGreaterThan(150)
  })
})
