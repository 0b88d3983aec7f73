/**
 * The resolver refuses what the printer of DuckDB SQL would, but for what only the text of a literal says, and says nothing else where it
 * knows less. What it says of names and types the recorded answers judge (`reference.test.ts`), as they are printed by it.
 * Here for every sixth question, for all of them in its soak.
 */
import { describe, expect, test } from '@jest/globals'
import { SqlError } from '../sql/error.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { resolve } from '../sql/resolve/resolve.ts'
import { type Type, typeName } from '../sql/resolve/types.ts'
import type { Query } from '../sql/tree.ts'
import { rounds } from '../testing/rounds.ts'
import { UnsupportedError } from './duckdb/rewrite/context.ts'
import { rewrite } from './duckdb/rewrite/rewrite.ts'
import { type Question, questionsOf, subjects } from './testing/reference/corpus.ts'
import { tables } from './testing/reference/tables.ts'

const oneOf = rounds(6, 1)

const columns = new Map(Object.entries(tables).map(([name, table]) => [name, table.columns]))
const catalog = {
  columnsOf: (table: string) => columns.get(table),
  tables: [...columns.keys()],
  parameters: new Map(),
}

/** What only the text of a literal says, or the answer as a whole. */
const ofTexts =
  /Invalid \w+ literal|Could not cast this literal|regular expression|FORMAT|INTERVAL|Duplicate column names/

/** A fault that the resolver leaves to the printer. */
function leftOver(sql: string): string[] {
  try {
    rewrite(sql, columns, new Map())
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    if (!(error instanceof UnsupportedError) && !ofTexts.test(error.message)) return [error.message]
  }
  return []
}

/** `null` for text that does not parse. */
function treeOf(sql: string): Query | null {
  try {
    return parse(sql, statementLimits)
  } catch {
    return null
  }
}

describe('the resolver', () => {
  test.each(subjects)('leaves no fault of %s to the printer', subject => {
    const asked = questionsOf(subject).filter((_, at) => at % oneOf === 0)
    const right = asked.map(textOf).filter(sql => {
      const tree = treeOf(sql)
      return tree && !resolve(sql, tree, catalog).problem
    })
    expect(right.flatMap(leftOver)).toEqual([])
  })

  test.each(subjects)('says nothing else of %s where it does not know types or columns', subject => {
    const asked = questionsOf(subject).filter((_, at) => at % oneOf === 0)
    expect(asked.flatMap(question => lessKnown(question))).toEqual([])
  })
})

function textOf({ sql, grid }: Question): string {
  return grid ? `SELECT ${sql} AS value FROM ${grid}` : sql
}

/** What the resolver says of a question that is wrong, as it knows no types, or no columns. */
function lessKnown(question: Question): object[] {
  const sql = textOf(question)
  const tree = treeOf(sql)
  const whole = tree && resolve(sql, tree, catalog)
  if (!whole || whole.problem) return []
  const typed = (isTyped: (at: number) => boolean) => (table: string) =>
    columns.get(table)?.map(({ name, type }, at) => (isTyped(at) ? { name, type } : { name }))
  const open = (table: string) => (columns.has(table) ? { unknown: 'not known' } : undefined)
  const less = [typed(() => false), typed(at => at % 2 === 0), typed(at => at % 2 === 1), open]
  return less.flatMap(columnsOf => {
    const { problem, values } = resolve(sql, tree, { ...catalog, columnsOf })
    const wrong = [...values].filter(([node, { type }]) => !agrees(type, whole.values.get(node)?.type))
    const told = wrong.map(([{ kind, at }, { type }]) => ({ sql, kind, at, found: typeName(type) }))
    return problem ? [{ sql, problem: problem.message }, ...told] : told
  })
}

function agrees(type: Type | null, whole: Type | null | undefined): boolean {
  if (whole === undefined || type === null || whole === null) return type === whole || whole === undefined
  if (type.kind === 'UNKNOWN') return !type.scalar || (whole.kind !== 'ARRAY' && whole.kind !== 'STRUCT')
  if (type.kind === 'ARRAY' && whole.kind === 'ARRAY') return agrees(type.element, whole.element)
  if (type.kind === 'STRUCT' && whole.kind === 'STRUCT')
    return type.fields.every((field, at) => agrees(field.type, whole.fields[at]?.type))
  return type.kind === whole.kind
}
