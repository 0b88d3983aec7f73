/** What must hold before an endpoint is applied: its SQL parses, its parameters agree, its dry runs succeed. */
import { EngineError, type QueryEngine } from '../../../shared/engines/engine.ts'
import { emptyBindings } from '../../../shared/endpoints/definition.ts'
import { placeOf, SqlError } from '../../../shared/sql/error.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { parameterNames } from '../../../shared/sql/walk.ts'
import { checkCompanion } from './companion.ts'
import type { EndpointSource, FileProblem } from './read.ts'

/** @returns every problem found, by file, line and column; an empty list = may be applied */
export async function check(sources: EndpointSource[], engine: QueryEngine): Promise<FileProblem[]> {
  const problems = await Promise.all(sources.map(source => checkOne(source, engine)))
  return problems.flat()
}

async function checkOne(source: EndpointSource, engine: QueryEngine): Promise<FileProblem[]> {
  const { endpoint, sqlFile, warmFile } = source
  return pointing(sqlFile, async () => {
    const problems = parametersAgree(source)
    if (problems.length > 0) return problems
    const { columns } = await engine.describe({ sql: endpoint.sql, bindings: emptyBindings(endpoint) })
    if (warmFile === null) return []
    const companion = { file: warmFile, sql: endpoint.warm!.sql! }
    return pointing(warmFile, () => checkCompanion(endpoint, companion, columns, engine))
  })
}

/** What the front end and the engine refuse, as a problem of the file. */
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
  const undeclared = [...used]
    .filter(([name]) => !Object.hasOwn(endpoint.parameters, name))
    .map(([name, at]) => ({
      file: sqlFile,
      ...placeOf(endpoint.sql, at),
      detail: `@${name} is not declared in ${yamlFile}`,
    }))
  const unused = Object.keys(endpoint.parameters)
    .filter(name => !used.has(name))
    .map(name => ({
      file: yamlFile,
      ...placeInYaml(`/parameters/properties/${name}`),
      detail: `${name} is declared, but @${name} is not in the SQL`,
    }))
  return [...undeclared, ...unused]
}
