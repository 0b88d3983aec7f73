/**
 * Checks before endpoints are applied: SQL parses, parameters agree with it, its newest rows can be read first where that is
 * wanted, dry runs succeed, and a batch query takes `@sets` and gives the parameters and the endpoint's columns.
 */
import { EngineError, type QueryEngine } from '../../../shared/engines/engine.ts'
import { emptyBindings, type Endpoint, parameterColumns } from '../../../shared/endpoints/definition.ts'
import { placeOf, SqlError } from '../../../shared/sql/error.ts'
import { newestRows } from '../../../shared/sql/newest-rows.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { printType } from '../../../shared/sql/printer.ts'
import type { QueryBody } from '../../../shared/sql/tree.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { parameterNames } from '../../../shared/sql/walk.ts'
import { batchStatement } from '../../../shared/warm/batch.ts'
import type { EndpointSource, FileProblem } from './read.ts'

/** @returns every problem, by file, line and column; an empty list where all may be applied */
export async function check(sources: EndpointSource[], engine: QueryEngine): Promise<FileProblem[]> {
  const problems = await Promise.all(sources.map(source => checkOne(source, engine)))
  return problems.flat()
}

async function checkOne(source: EndpointSource, engine: QueryEngine): Promise<FileProblem[]> {
  const { endpoint, sqlFile, warmFile } = source
  return pointing(sqlFile, async () => {
    const problems = parametersAgree(source)
    if (problems.length > 0) return problems
    if (endpoint.newestFirst) newestRows(endpoint.sql, parse(endpoint.sql), endpoint.newestFirst.start)
    const { columns } = await engine.describe({ sql: endpoint.sql, bindings: emptyBindings(endpoint) })
    if (warmFile === null) return []
    return pointing(warmFile, () => checkBatchQuery(endpoint, warmFile, columns, engine))
  })
}

/** An error of the SQL front end or the engine becomes a problem of the file. */
async function pointing(file: string, look: () => Promise<FileProblem[]>): Promise<FileProblem[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof SqlError || error instanceof EngineError)) throw error
    return [{ file, ...(error.place ?? { line: 1, column: 1 }), detail: error.message }]
  }
}

/** Each `@name` in the SQL is declared, and each declared parameter is used. */
function parametersAgree({ endpoint, sqlFile, yamlFile, placeInYaml }: EndpointSource): FileProblem[] {
  const used = parameterNames(parse(endpoint.sql))
  const problems: FileProblem[] = []
  for (const [name, at] of used) {
    const detail = `@${name} is not declared in ${yamlFile}`
    if (!Object.hasOwn(endpoint.parameters, name))
      problems.push({ file: sqlFile, ...placeOf(endpoint.sql, at), detail })
  }
  for (const name of Object.keys(endpoint.parameters)) {
    const detail = `${name} is declared, but @${name} is not in the SQL`
    const place = placeInYaml(`/parameters/properties/${name}`)
    if (!used.has(name)) problems.push({ file: yamlFile, ...place, detail })
  }
  return problems
}

/**
 * @param own the columns of the endpoint's own query
 * @throws SqlError and EngineError of the batch query
 */
async function checkBatchQuery(
  endpoint: Endpoint,
  file: string,
  own: Column[],
  engine: QueryEngine,
): Promise<FileProblem[]> {
  const sql = endpoint.warm!.sql!
  const query = parse(sql)
  const problem = (at: number, detail: string): FileProblem => ({ file, ...placeOf(sql, at), detail })
  const used = parameterNames(query)
  const strangers = [...used].filter(([name]) => name.toLowerCase() !== 'sets')
  if (strangers.length > 0)
    return strangers.map(([name, at]) => problem(at, `@${name} is not known: a batch query takes @sets`))
  if (used.size === 0) return [problem(0, 'takes no @sets')]
  const shared = parameterColumns(endpoint).filter(({ name }) => own.some(column => column.name === name))
  const clash = `${shared[0]?.name} is a parameter and a column, so its two values would have one name`
  if (shared.length > 0) return [problem(0, clash)]
  const { columns } = await engine.describe(batchStatement(endpoint, sql, null))
  const mismatch = mismatchOf(columns, parameterColumns(endpoint), own)
  return mismatch ? [problem(placeOfColumn(query.body, mismatch.column), mismatch.detail)] : []
}

/** First the parameters, in any order, then the endpoint's columns, in theirs. */
function mismatchOf(columns: Column[], parameters: Column[], own: Column[]) {
  const left = new Set(parameters.map(parameter => inWords(parameter)))
  for (let column = 0; column < Math.max(columns.length, parameters.length + own.length); column++) {
    const found = inWords(columns[column])
    const expected = column < parameters.length ? [...left] : [inWords(own[column - parameters.length])]
    if (!expected.includes(found))
      return { column, detail: `column ${column + 1} must be ${expected.join(' or ')}, and is ${found}` }
    left.delete(found)
  }
  return null
}

function inWords(column: Column | undefined): string {
  return column ? `${column.name} ${printType(column.type)}` : 'nothing'
}

function placeOfColumn(body: QueryBody, column: number): number {
  if (body.kind === 'Select') return body.items[column]?.at ?? body.at
  return placeOfColumn(body.kind === 'SetOperation' ? body.left : body.query.body, column)
}
