/** The roll-ups of endpoints: what is checked of them, which ones the engine has to make, and which nothing refers to after. */
import { basename } from 'node:path'
import { emptyBindings, type Endpoint } from '../../../shared/endpoints/definition.ts'
import { type SavedQuery, statementOf } from '../../../shared/endpoints/saved-query.ts'
import { EngineError, type QueryEngine, type Rollup } from '../../../shared/engines/engine.ts'
import { rollupShape } from '../../../shared/engines/rollup-rules.ts'
import { placeOf, SqlError } from '../../../shared/sql/error.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { printType } from '../../../shared/sql/printer.ts'
import type { QueryBody } from '../../../shared/sql/tree.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { parameterNames } from '../../../shared/sql/walk.ts'
import type { EndpointSource } from './read.ts'
import { type FileProblem, problemOf, QueriesError } from './yaml.ts'

export interface RollupPlan {
  missing: Rollup[]
  unused: Rollup[]
}

/**
 * @param stored the endpoints as they are before
 * @throws EngineError
 */
export async function planRollups(
  engine: QueryEngine,
  wanted: Endpoint[],
  stored: Endpoint[],
): Promise<RollupPlan> {
  const [after, before] = [rollupsOf(wanted), rollupsOf(stored)]
  const missing: Rollup[] = []
  for (const rollup of after.values()) if (!(await engine.rollups.has(rollup))) missing.push(rollup)
  const unused = [...before].filter(([key]) => !after.has(key)).map(([, rollup]) => rollup)
  return { missing, unused }
}

/** By all that makes them: a changed one is another one. */
function rollupsOf(endpoints: Endpoint[]): Map<string, Rollup> {
  return new Map(endpoints.flatMap(({ rollups }) => rollups.map(rollup => [JSON.stringify(rollup), rollup])))
}

/** @throws QueriesError where the engine refuses one, naming its file */
export async function createMissing(
  { missing }: RollupPlan,
  engine: QueryEngine,
  sources: EndpointSource[],
): Promise<void> {
  for (const rollup of missing)
    try {
      await engine.rollups.create(rollup)
    } catch (error) {
      if (!(error instanceof EngineError)) throw error
      const source = sources.find(({ endpoint }) => endpoint.rollups.includes(rollup))!
      const files = [...source.queryFiles.values()]
      const file = files.find(path => basename(path) === `${rollup.name}.sql`) ?? source.yamlFile
      throw new QueriesError([problemOf(file, `${rollup.name} cannot be made: ${error.message}`)])
    }
}

/**
 * A process that remembers a definition of before reads the log table for some seconds instead.
 * @throws EngineError
 */
export async function removeUnused({ unused }: RollupPlan, engine: QueryEngine): Promise<void> {
  for (const rollup of unused) await engine.rollups.remove(rollup)
}

// ---- checks

/**
 * The roll-up holds what an engine can keep up to date, and has the columns that its layout names.
 * @param pointer of its query in the YAML
 * @throws SqlError and EngineError of the roll-up's query
 */
export async function checkRollup(
  { problem }: EndpointSource,
  { sql, partition, cluster }: Rollup,
  pointer: string,
  engine: QueryEngine,
): Promise<FileProblem[]> {
  const shape = rollupShape(sql)
  const { columns } = await engine.describe({ sql, bindings: [] })
  const groups = new Map(
    columns.filter((_, i) => shape.columns[i]!.adds === null).map(({ name, type }) => [name, type.kind]),
  )
  const refuse = (column: number, detail: string) =>
    new SqlError(detail, placeOf(sql, placeOfColumn(parse(sql).body, column)))
  if (groups.get(partition) !== 'TIMESTAMP')
    throw refuse(
      columns.findIndex(({ name }) => name === partition),
      `the first column that a roll-up is grouped by is its time: ${partition} is no TIMESTAMP`,
    )
  const inexact = columns.findIndex(
    ({ type }, i) => type.kind === 'FLOAT64' && shape.columns[i]!.adds === 'SUM',
  )
  if (inexact >= 0)
    throw refuse(inexact, 'a sum of FLOAT64 depends on the order of rows; take NUMERIC or INT64')
  return cluster
    .filter(name => !groups.has(name))
    .map(name =>
      problem(pointer.replace('query', 'cluster'), `names ${name}, by which the roll-up does not group`),
    )
}

/**
 * A query over the roll-ups takes declared parameters, and gives the endpoint's columns.
 * @param own the columns of the endpoint's own query
 * @throws SqlError and EngineError of the query
 */
export async function checkAnswer(
  endpoint: Endpoint,
  query: SavedQuery,
  file: string,
  own: Column[],
  engine: QueryEngine,
): Promise<FileProblem[]> {
  const { sql } = query
  const tree = parse(sql)
  const problem = (at: number, detail: string): FileProblem => ({ file, ...placeOf(sql, at), detail })
  const strangers = [...parameterNames(tree)].filter(([name]) => !Object.hasOwn(endpoint.parameters, name))
  if (strangers.length > 0) return strangers.map(([name, at]) => problem(at, `@${name} is not declared`))
  const { columns } = await engine.describe(statementOf(query, emptyBindings(endpoint)))
  const mismatch = mismatchOf(columns, own)
  return mismatch ? [problem(placeOfColumn(tree.body, mismatch.column), mismatch.detail)] : []
}

/** The endpoint's columns, in their order. */
function mismatchOf(columns: Column[], own: Column[]) {
  for (let column = 0; column < Math.max(columns.length, own.length); column++) {
    const [found, expected] = [nameAndType(columns[column]), nameAndType(own[column])]
    if (found !== expected)
      return { column, detail: `column ${column + 1} must be ${expected}, and is ${found}` }
  }
  return null
}

export function nameAndType(column: Column | undefined): string {
  return column ? `${column.name} ${printType(column.type)}` : 'nothing'
}

function placeOfColumn(body: QueryBody, column: number): number {
  if (body.kind === 'Select') return body.items[column]?.at ?? body.at
  return placeOfColumn(body.kind === 'SetOperation' ? body.left : body.query.body, column)
}
