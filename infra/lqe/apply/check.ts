/**
 * Checks before endpoints are applied: SQL parses, parameters agree with it, defaults and examples fit them, its newest rows can be read first where that is
 * wanted, dry runs succeed, `explore` and alerts name columns that are there, and an engine can keep the roll-ups up to date.
 */
import { basename } from 'node:path'
import { EngineError, type QueryEngine } from '../../../shared/engines/engine.ts'
import {
  emptyBindings,
  type Endpoint,
  type ParameterDefinition,
  passedOn,
  type Scalar,
} from '../../../shared/endpoints/definition.ts'
import { alertFaults } from '../../../shared/alerts/faults.ts'
import { misfitOf } from '../../../shared/endpoints/parameters.ts'
import { rollupQueries } from '../../../shared/endpoints/saved-query.ts'
import { type FindUpstream, placeInDeclared } from '../../../shared/endpoints/upstream-tables.ts'
import { tablesOfEndpoint } from '../../../shared/sandbox/offered-tables.ts'
import { pagedSelection } from '../../../shared/pages/statement.ts'
import { type Place, placeOf, SqlError } from '../../../shared/sql/error.ts'
import { nearestName } from '../../../shared/sql/hints.ts'
import { newestRows } from '../../../shared/sql/newest-rows.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { nameKey } from '../../../shared/sql/relations.ts'
import { tablesOf } from '../../../shared/sql/tables.ts'
import type { TableReference } from '../../../shared/sql/tree.ts'
import type { Column } from '../../../shared/sql/types.ts'
import { parameterNames } from '../../../shared/sql/walk.ts'
import { checkExplore } from './explore.ts'
import type { EndpointSource } from './read.ts'
import { checkAnswer, checkRollup, nameAndType } from './rollups.ts'
import { columnFaults, endpointAsTable, type Fault, findAmong, upstreamFaults } from './upstream.ts'
import type { FileProblem } from './yaml.ts'

/** @returns every problem, by file, line and column; an empty list where all may be applied */
export async function check(sources: EndpointSource[], engine: QueryEngine): Promise<FileProblem[]> {
  const endpoints = sources.map(({ endpoint }) => endpoint)
  const find = findAmong(endpoints, engine)
  const problems = sources.map(async source => {
    const { endpoint, sqlFile } = source
    const faults = await pointing(sqlFile, async () => inYaml(source, upstreamFaults(endpoint, endpoints)))
    const found = faults.length > 0 ? faults : await checkOne(source, engine, find)
    const others = sources.filter(other => other !== source)
    return found.map(problem => ({ ...problem, detail: withRemedy(problem.detail, others) }))
  })
  return (await Promise.all(problems)).flat()
}

/** A table that is missing may be an endpoint, stand inside one, or is to be made. */
function withRemedy(detail: string, others: EndpointSource[]): string {
  const name = /^(?:Table not found: |The table )([^\s;]+)(?=$|;| is missing)/
    .exec(detail)?.[1]
    ?.toLowerCase()
  if (name === undefined) return detail
  if (others.some(({ endpoint }) => endpoint.name === name)) return `${name} ${endpointAsTable(name)}`
  const inside = Map.groupBy(others.flatMap(tablesInside), ({ key }) => key)
  if (inside.has(name)) return `${name} is ${insideText(inside.get(name)!)}`
  if (detail.includes(';')) return detail
  const near = nearestName(name, inside.keys())
  if (near !== null)
    return `Table not found: ${name}; did you mean ${near}? That is ${insideText(inside.get(near)!)}`
  return /^Table not found: [^;]*$/.test(detail)
    ? `${detail}; npx lqe table add <file> makes a table of logs`
    : detail
}

/** A table that an endpoint's WITH makes, and the file and the tables that it is made of. */
interface TableInside {
  key: string
  name: string
  endpoint: string
  sqlFile: string
  real: Set<string>
}

/** Which endpoints make tables of a name, each with what to write in another one. */
function insideText(tables: TableInside[]): string {
  const endpoints = tables.map(({ endpoint }) => endpoint).join(', ')
  const ways = tables.map(({ name, sqlFile, real }) => {
    const instead = real.size > 0 ? `, or read FROM ${[...real].join(' and ')}` : ''
    return `copy ${name} from the WITH of ${sqlFile}${instead}`
  })
  const [which, choice] =
    tables.length > 1 ? ['each of the endpoints', 'of the one that you mean '] : ['the endpoint', '']
  return `a table inside ${which} ${endpoints}, which others do not see: ${choice}${ways.join('; ')}`
}

function tablesInside({ endpoint, sqlFile }: EndpointSource): TableInside[] {
  if (!isReadable(endpoint)) return []
  const { byKey } = tablesOfEndpoint(endpoint)
  const isReal = ({ path }: TableReference) => path.length > 1 || !byKey.has(nameKey(path[0]!.name))
  return [...byKey].map(([key, { name, cte }]) => {
    const real = tablesOf(cte.query).filter(isReal)
    const names = new Set(real.map(({ path }) => `\`${path.map(part => part.name).join('.')}\``))
    return { key, name, endpoint: endpoint.name, sqlFile, real: names }
  })
}

function isReadable({ sql }: Endpoint): boolean {
  try {
    return parse(sql) !== null
  } catch {
    return false
  }
}

function inYaml({ problem }: EndpointSource, faults: Fault[]): FileProblem[] {
  return faults.map(({ pointer, detail }) => problem(pointer, detail))
}

async function checkOne(
  declared: EndpointSource,
  engine: QueryEngine,
  find: FindUpstream,
): Promise<FileProblem[]> {
  const { sqlFile, queryFiles, answerFiles } = declared
  let endpoint = declared.endpoint
  const look = async () => {
    const problems = [...parametersAgree(declared), ...(await valuesFit(declared, engine))]
    if (problems.length > 0) return problems
    endpoint = await find(endpoint)
    const source = { ...declared, endpoint }
    problems.push(...inYaml(source, columnFaults(endpoint)))
    if (problems.length > 0) return problems
    if (endpoint.newestFirst) newestRows(endpoint.sql, parse(endpoint.sql), endpoint.newestFirst.start)
    if (endpoint.page) pagedSelection(endpoint.sql, parse(endpoint.sql), endpoint.page)
    const { columns } = await engine.describe({ sql: endpoint.sql, bindings: emptyBindings(endpoint) })
    problems.push(...pageColumns(source, columns), ...(await checkExplore(source, engine)))
    problems.push(...source.alerts.flatMap(alert => alertFaults(alert, endpoint, columns)))
    for (const [pointer, file] of queryFiles) {
      const rollup = endpoint.rollups.find(({ name }) => `${name}.sql` === basename(file))
      if (rollup) problems.push(...(await pointing(file, () => checkRollup(source, rollup, pointer, engine))))
    }
    if (problems.length > 0) return problems
    for (const [i, query] of rollupQueries(endpoint).entries()) {
      const file = answerFiles[i]!
      problems.push(...(await pointing(file, () => checkAnswer(endpoint, query, file, columns, engine))))
    }
    return problems
  }
  return pointing(sqlFile, look, place => placeInDeclared(declared.endpoint, endpoint, place))
}

/** An error of the SQL front end or the engine becomes a problem of the file. */
async function pointing(
  file: string,
  look: () => Promise<FileProblem[]>,
  inFile = (place: Place) => place,
): Promise<FileProblem[]> {
  try {
    return await look()
  } catch (error) {
    if (!(error instanceof SqlError || error instanceof EngineError)) throw error
    const place = error.place ? inFile(error.place) : { line: 1, column: 1 }
    return [{ file, ...place, detail: detailOf(error) }]
  }
}

/** What is missing, or may not be used, is for operators alone to know. */
function detailOf(error: SqlError | EngineError): string {
  const isHidden =
    error instanceof EngineError && error.reason === 'misconfigured' && error.cause instanceof Error
  return isHidden ? `${error.message}: ${(error.cause as Error).message}` : error.message
}

/** Each value in the definition is one that its own parameter takes. */
async function valuesFit({ endpoint, problem }: EndpointSource, engine: QueryEngine): Promise<FileProblem[]> {
  const problems: FileProblem[] = []
  for (const [name, definition] of Object.entries(endpoint.parameters))
    for (const [pointer, value] of valuesFor(name, endpoint)) {
      const detail = misfitOf(definition, { json: value }) ?? (await patternFault(definition, value, engine))
      if (detail !== null) problems.push(problem(pointer, detail))
    }
  return problems
}

/** The values of a parameter in the definition, each with its JSON pointer. */
function valuesFor(name: string, { parameters, chart }: Endpoint): [pointer: string, value: Scalar][] {
  const { type, default: preset, enum: choices, examples } = parameters[name]!
  const listed = (pointer: string, values: Scalar[] = []) =>
    values.map((value, at): [string, Scalar] => [`${pointer}/${at}`, value])
  const at = `/parameters/properties/${name}`
  return [
    ...(preset === undefined ? [] : [[`${at}/default`, preset] as [string, Scalar]]),
    ...listed(`${at}/enum`, choices),
    ...listed(`${at}/examples`, examples),
    ...Object.keys(chart[name] ?? {}).map((key): [string, Scalar] => [
      `/chart/${name}/${key}`,
      type === 'string' ? key : Number(key),
    ]),
  ]
}

/** The engine alone knows its regular expressions. */
async function patternFault(
  { format }: ParameterDefinition,
  value: Scalar,
  engine: QueryEngine,
): Promise<string | null> {
  if (format !== 'regular-expression') return null
  const bindings = [{ name: 'pattern', type: { kind: 'STRING' } as const, value }]
  const sql = "SELECT REGEXP_CONTAINS('', @pattern) AS found"
  return engine.run({ sql, bindings }, { maxRows: 1, timeoutMs: 30_000 }).then(
    () => null,
    (error: unknown) => {
      if (!(error instanceof EngineError && error.reason === 'rejected')) throw error
      return `is refused: ${error.message}`
    },
  )
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
  const values = Object.values(endpoint.upstream ?? {}).flatMap(({ parameters }) => Object.values(parameters))
  const passed = values.map(passedOn)
  for (const name of Object.keys(endpoint.parameters)) {
    const detail = `${name} is declared, but @${name} is not in the SQL`
    const place = placeInYaml(`/parameters/properties/${name}`)
    if (!used.has(name) && !passed.includes(name)) problems.push({ file: yamlFile, ...place, detail })
  }
  return problems
}

/** Pages go by a time and a text. */
function pageColumns({ endpoint, problem }: EndpointSource, columns: Column[]): FileProblem[] {
  const types = ['TIMESTAMP', 'STRING']
  return (endpoint.page?.by ?? []).flatMap((name, at) => {
    const column = columns.find(column => column.name === name)
    const detail = `must be a ${types[at]}, and is ${nameAndType(column)}`
    return column?.type.kind === types[at] ? [] : problem(`/page/by/${at}`, detail)
  })
}
