/**
 * The resolver names and types the columns of the corpus's questions as the rewriting for DuckDB does, which the recorded answers
 * judge (`reference.test.ts`), and refuses what it refuses. Here for every third question, for all of them in its soak.
 */
import { describe, expect, test } from '@jest/globals'
import { SqlError } from '../sql/error.ts'
import { statementLimits } from '../sql/limits.ts'
import { parse } from '../sql/parser.ts'
import { resolve } from '../sql/resolve/resolve.ts'
import { firm } from '../sql/resolve/types.ts'
import type { Query } from '../sql/tree.ts'
import type { Column } from '../sql/types.ts'
import { rounds } from '../testing/rounds.ts'
import { UnsupportedError } from './duckdb/rewrite/context.ts'
import { rewrite } from './duckdb/rewrite/rewrite.ts'
import { type Question, questionsOf, subjects } from './testing/reference/corpus.ts'
import { tables } from './testing/reference/tables.ts'
import { typeName } from './values.ts'

const oneOf = rounds(3, 1)

const columns = new Map(Object.entries(tables).map(([name, table]) => [name, table.columns]))
const catalog = {
  columnsOf: (table: string) => columns.get(table),
  tables: [...columns.keys()],
  parameters: new Map(),
}

/** What only the text of a literal or the place of a call says, which the rewriting looks at. */
const ofTexts =
  /literal|JSONPath|regular expression|does not support|FORMAT|does not step|of one name|The (share|number|default|delimiter) of|(needs|takes no) (ORDER BY|frame)|takes no frame|DISTINCT (does not go|can only)|with DISTINCT|RANGE with|reads? itself|An expression of GROUP BY|the part last|JSON_OBJECT|RANGE_BUCKET|ARRAY_CONCAT|Duplicate column names/

interface Verdict {
  problem: string | null
  columns: string
}

function shown(columns: readonly { name: string | null; type: Column['type'] }[]): string {
  let unnamed = 0
  return columns.map(({ name, type }) => `${name ?? `f${unnamed++}_`} ${typeName(type)}`).join(', ')
}

function resolved(sql: string, tree: Query): Verdict {
  const { problem, rows } = resolve(sql, tree, catalog)
  const { columns, isValue } = rows.get(tree)!
  const all = columns.map(({ name, type }) => ({ name, type: firm(type) as Column['type'] }))
  const [only] = all
  const fields = isValue && only?.type.kind === 'STRUCT' ? only.type.fields : all
  return { problem: problem?.message ?? null, columns: shown(fields) }
}

/** `null` for what DuckDB cannot run. */
function rewritten(sql: string): Verdict | null {
  try {
    return { problem: null, columns: shown(rewrite(sql, columns, new Map()).columns) }
  } catch (error) {
    if (error instanceof UnsupportedError) return null
    if (error instanceof SqlError) return { problem: error.message, columns: '' }
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
  if (wanted.problem !== null && (found.problem !== null || ofTexts.test(wanted.problem))) return null
  return found.problem === wanted.problem && found.columns === wanted.columns ? null : [found, wanted]
}

describe('the resolver', () => {
  test.each(subjects)('names and types the columns of %s, and refuses what is wrong', subject => {
    const asked = questionsOf(subject).filter((_, at) => at % oneOf === 0)
    const differences = asked.flatMap(
      question => difference(question)?.map(each => ({ ...each, ...question })) ?? [],
    )
    expect(differences).toEqual([])
  })
})
