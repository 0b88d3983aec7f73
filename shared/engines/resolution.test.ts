/**
 * The resolver names and types the columns of the corpus's questions as the rewriting for DuckDB does, which the recorded answers
 * judge (`reference.test.ts`), and refuses what it refuses in the same words. Here for every third question, for all of them in its soak.
 */
import { describe, expect, test } from '@jest/globals'
import { SqlError } from '../sql/error.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { resolve } from '../sql/resolve/resolve.ts'
import { firm, type Type, typeName } from '../sql/resolve/types.ts'
import type { Query } from '../sql/tree.ts'
import type { Column } from '../sql/types.ts'
import { rounds } from '../testing/rounds.ts'
import { UnsupportedError } from './duckdb/rewrite/context.ts'
import { rewrite } from './duckdb/rewrite/rewrite.ts'
import { type Question, questionsOf, subjects } from './testing/reference/corpus.ts'
import { tables } from './testing/reference/tables.ts'

const oneOf = rounds(3, 1)

const columns = new Map(Object.entries(tables).map(([name, table]) => [name, table.columns]))
const catalog = {
  columnsOf: (table: string) => columns.get(table),
  tables: [...columns.keys()],
  parameters: new Map(),
}

/** What only the text of a literal says, or the answer as a whole, which the printer looks at. */
const ofTexts =
  /Invalid \w+ literal|Could not cast this literal|regular expression|does not support this date part|date part for a|FORMAT|INTERVAL|NORMALIZE|Duplicate column names/

interface Verdict {
  /** With its place. */
  problem: string | null
  columns: string
}

function shown(columns: readonly { name: string | null; type: Column['type'] }[]): string {
  let unnamed = 0
  return columns.map(({ name, type }) => `${name ?? `f${unnamed++}_`} ${typeName(type)}`).join(', ')
}

function told({ message, place }: SqlError): string {
  return `${place?.line}:${place?.column} ${message}`
}

function resolved(sql: string, tree: Query): Verdict {
  const { problem, rows } = resolve(sql, tree, catalog)
  const { columns, isValue } = rows.get(tree)!
  const all = columns.map(({ name, type }) => ({ name, type: firm(type) as Column['type'] }))
  const [only] = all
  const fields = isValue && only?.type.kind === 'STRUCT' ? only.type.fields : all
  return { problem: problem && told(problem), columns: shown(fields) }
}

/** `null` for what DuckDB cannot run. */
function rewritten(sql: string): Verdict | null {
  try {
    return { problem: null, columns: shown(rewrite(sql, columns, new Map()).columns) }
  } catch (error) {
    if (error instanceof UnsupportedError) return null
    if (error instanceof SqlError) return { problem: told(error), columns: '' }
    throw error
  }
}

/** `null` for text that does not parse. */
function treeOf(sql: string): Query | null {
  try {
    return parse(sql, statementLimits)
  } catch {
    return null
  }
}

/** What the resolver makes of a question beside what it should. */
function difference({ sql: text, grid }: Question): [found: Verdict, wanted: Verdict] | null {
  const sql = grid ? `SELECT ${text} AS value FROM ${grid}` : text
  const tree = treeOf(sql)
  const wanted = tree && rewritten(sql)
  if (!tree || !wanted) return null
  const found = resolved(sql, tree)
  if (wanted.problem !== null && ofTexts.test(wanted.problem)) return null
  const isSame = wanted.problem !== null || found.columns === wanted.columns
  return found.problem === wanted.problem && isSame ? null : [found, wanted]
}

describe('the resolver', () => {
  test.each(subjects)(
    'names and types the columns of %s, and refuses in the same words what is wrong',
    subject => {
      const asked = questionsOf(subject).filter((_, at) => at % oneOf === 0)
      const differences = asked.flatMap(
        question => difference(question)?.map(each => ({ ...each, ...question })) ?? [],
      )
      expect(differences).toEqual([])
    },
  )

  test.each(subjects)('says nothing else of %s where it does not know types or columns', subject => {
    const asked = questionsOf(subject).filter((_, at) => at % oneOf === 0)
    expect(asked.flatMap(question => lessKnown(question))).toEqual([])
  })
})

/** What the resolver says of a question that is wrong, as it knows no types, or no columns. */
function lessKnown({ sql: text, grid }: Question): object[] {
  const sql = grid ? `SELECT ${text} AS value FROM ${grid}` : text
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
