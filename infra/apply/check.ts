/** What must hold before an endpoint is applied: its SQL parses, its parameters agree, its dry run succeeds. */
import { EngineError, type QueryEngine } from '../../shared/engine.ts'
import { type Endpoint, typeOf } from '../../shared/endpoint.ts'
import { placeOf, SqlError } from '../../shared/sql/error.ts'
import { parse } from '../../shared/sql/parser.ts'
import { parameterNames } from '../../shared/sql/walk.ts'
import type { EndpointSource, FileProblem } from './read.ts'

/** @returns every problem found, by file, line and column; an empty list = may be applied */
export async function check(sources: EndpointSource[], engine: QueryEngine): Promise<FileProblem[]> {
  const problems = await Promise.all(sources.map(source => checkOne(source, engine)))
  return problems.flat()
}

async function checkOne(source: EndpointSource, engine: QueryEngine): Promise<FileProblem[]> {
  const { endpoint, sqlFile } = source
  try {
    const problems = parametersAgree(source)
    if (problems.length > 0) return problems
    await engine.describe({ sql: endpoint.sql, bindings: emptyBindings(endpoint) })
    return []
  } catch (error) {
    if (!(error instanceof SqlError || error instanceof EngineError)) throw error
    return [{ file: sqlFile, ...(error.place ?? { line: 1, column: 1 }), detail: error.message }]
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

/** A dry run needs the types of the parameters only. */
function emptyBindings(endpoint: Endpoint) {
  return Object.entries(endpoint.parameters).map(([name, definition]) => ({
    name,
    type: typeOf(definition),
    value: null,
  }))
}
