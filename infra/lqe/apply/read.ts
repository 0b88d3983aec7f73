/** Reads `queries/`: each endpoint is `<name>.yaml` beside `<name>.sql`, with other queries where the YAML names them. */
import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type AlertCase, alertFrom } from '../../../shared/alerts/alert-file.ts'
import type { Alert, Endpoint } from '../../../shared/endpoints/definition.ts'
import { endpointFrom, faultOfName, missingQuery } from '../../../shared/endpoints/definition-file.ts'
import { nameHint } from '../../../shared/sql/hints.ts'
import { atPlaces, type FileProblem, type PlaceInYaml, type ProblemAt } from './yaml.ts'
import { problemOf, QueriesError, readYaml, textOf } from './yaml.ts'

/** Of the channels of alerts (`channels.ts`), which is no endpoint's. */
export const channelsFile = 'channels.yaml'

/** Of a file of tests (`../endpoint-tests/read.ts`), behind its endpoint's name. */
export const testsEnding = '.test.yaml'

/** Of an alert's file, behind its name; it is stored with the endpoint whose rows it looks at. */
export const alertEnding = '.alert.yaml'

/** Whether a file of the folder is the `<name>.yaml` of an endpoint. */
export function isDefinition(file: string): boolean {
  const isOther = file === channelsFile || [testsEnding, alertEnding].some(ending => file.endsWith(ending))
  return file.endsWith('.yaml') && !isOther
}

/** An endpoint with its files, and places in them. */
export interface EndpointSource {
  endpoint: Endpoint
  sqlFile: string
  yamlFile: string
  /** The other queries' files, by the JSON pointer at which the YAML names each: `/rollup/query`. */
  queryFiles: ReadonlyMap<string, string>
  /** Of the queries over roll-ups; one that is made of another has the other's. */
  answerFiles: string[]
  /** Those of the endpoint, by name. */
  alerts: AlertSource[]
  placeInYaml: PlaceInYaml
  /** Of the YAML. */
  problem: ProblemAt
}

/** An alert with its file. */
export interface AlertSource {
  alert: Alert
  /** Name of its endpoint. */
  endpoint: string
  tests: AlertCase[]
  file: string
  problem: ProblemAt
}

/** @throws QueriesError */
export function readAlert(file: string): AlertSource {
  const { content, problem } = readYaml(file)
  return { ...atPlaces(problem, () => alertFrom(basename(file, alertEnding), content)), file, problem }
}

/**
 * Reads every endpoint of a folder, by name.
 * @throws QueriesError with every problem of every file
 */
export function readQueries(folder: string): EndpointSource[] {
  if (!existsSync(folder))
    throw new QueriesError([problemOf(folder, 'is not there: name the folder of endpoints with --queries')])
  const files = new Set(readdirSync(folder).toSorted())
  const problems = [...files]
    .filter(file => file.endsWith('.yml'))
    .map(file => problemOf(join(folder, file), 'is not read: definitions end in .yaml'))
  const sources: EndpointSource[] = []
  const alerts: AlertSource[] = []
  const unread: string[] = []
  for (const file of files) {
    const name = file.slice(0, -'.yaml'.length)
    const isRead = QueriesError.gather(problems, () => {
      if (file.endsWith(alertEnding)) alerts.push(readAlert(join(folder, file)))
      else if (isDefinition(file)) sources.push(readOne(folder, name, files))
      return true
    })
    if (!isRead) unread.push(`${name}.`)
  }
  problems.push(...giveAlerts(sources, alerts, unread))
  problems.push(
    ...sharedIds(sources),
    ...takenAliases(sources),
    ...sharedQueries(sources),
    ...unusedQueries(folder, files, sources, unread),
  )
  QueriesError.assertNone(problems)
  return sources
}

/**
 * Each alert to its endpoint.
 * @param unread how the files begin of which it is said already what is wrong
 */
function giveAlerts(sources: EndpointSource[], alerts: AlertSource[], unread: string[]): FileProblem[] {
  const byName = new Map(sources.map(source => [source.endpoint.name, source]))
  return alerts.flatMap(one => {
    const source = byName.get(one.endpoint)
    if (source) {
      source.alerts.push(one)
      source.endpoint.alerts = source.alerts.map(({ alert }) => alert)
    }
    if (source || unread.includes(`${one.endpoint}.`)) return []
    const hint = nameHint(one.endpoint, byName.keys())
    return [one.problem('/endpoint', `names ${one.endpoint}, which is not there; ${hint}`)]
  })
}

/**
 * A query that no YAML names would never run.
 * @param unread how the files of YAML begin that could not be read, which may name them
 */
function unusedQueries(
  folder: string,
  files: Set<string>,
  sources: EndpointSource[],
  unread: string[],
): FileProblem[] {
  const used = new Set(sources.flatMap(({ sqlFile, queryFiles }) => [sqlFile, ...queryFiles.values()]))
  return [...files]
    .filter(file => file.endsWith('.sql') && !used.has(join(folder, file)))
    .filter(file => !unread.some(beginning => file.startsWith(beginning)))
    .map(file => problemOf(join(folder, file), whyUnused(file.slice(0, -'.sql'.length), files)))
}

function whyUnused(name: string, files: Set<string>): string {
  const fault = files.has(`${name}.yaml`) ? faultOfName(name) : null
  return fault ?? 'has no .yaml beside it, and no other .yaml names it'
}

function readOne(folder: string, name: string, files: Set<string>): EndpointSource {
  const [yamlFile, sqlFile] = [join(folder, `${name}.yaml`), join(folder, `${name}.sql`)]
  if (!files.has(`${name}.sql`)) throw new QueriesError([problemOf(yamlFile, 'has no .sql beside it')])
  const { content, placeIn: placeInYaml, problem } = readYaml(yamlFile)
  return atPlaces(problem, () => {
    const queryFiles = new Map<string, string>()
    const bySql = new Map<string, string>()
    const readQuery = (file: string, pointer: string) => {
      if (!files.has(file)) throw missingQuery(file, pointer)
      queryFiles.set(pointer, join(folder, file))
      const sql = textOf(join(folder, file))
      bySql.set(sql, join(folder, file))
      return sql
    }
    const endpoint = endpointFrom(name, content, textOf(sqlFile), readQuery)
    const answerFiles = endpoint.answers.map((_, at, answers) =>
      bySql.get(answers.slice(at).find(({ sql }) => bySql.has(sql))!.sql)!,
    )
    return { endpoint, sqlFile, yamlFile, queryFiles, answerFiles, alerts: [], placeInYaml, problem }
  })
}

/** A change of one would change the other. Disks differ in whether letters have a case. */
function sharedQueries(sources: EndpointSource[]): FileProblem[] {
  const owners = new Map(sources.map(({ endpoint, sqlFile }) => [sqlFile.toLowerCase(), endpoint.name]))
  return sources.flatMap(({ queryFiles, problem }) =>
    [...queryFiles].flatMap(([pointer, file]) => {
      const owner = owners.get(file.toLowerCase())
      return owner
        ? problem(pointer, `names ${basename(file)}, which is the query of the endpoint ${owner}`)
        : []
    }),
  )
}

/** An alias stands for one endpoint. */
function takenAliases(sources: EndpointSource[]): FileProblem[] {
  const ids = new Map(sources.map(({ endpoint: { id, name } }) => [id, `the id of ${name}`]))
  const owners = new Map(sources.map(({ endpoint: { name } }) => [name, `the name of ${name}`]))
  return sources.flatMap(({ endpoint, problem }) =>
    (endpoint.aliases ?? []).flatMap((alias, at) => {
      const owner = owners.get(alias) ?? ids.get(alias.toLowerCase())
      owners.set(alias, owner ?? `an alias of ${endpoint.name}`)
      return owner
        ? problem(`/aliases/${at}`, `${JSON.stringify(alias)} is ${owner}: take it out of one of the two`)
        : []
    }),
  )
}

/** The file that was written last is the copy, as far as a folder can tell. */
function sharedIds(sources: EndpointSource[]): FileProblem[] {
  const age = ({ yamlFile }: EndpointSource) => statSync(yamlFile).mtimeMs
  const shared = [...Map.groupBy(sources, ({ endpoint }) => endpoint.id).values()]
  return shared.flatMap(all => {
    const [first, ...copies] = all.toSorted((a, b) => age(a) - age(b))
    const detail = () =>
      `is also that of ${first!.yamlFile}: the new one of the two needs its own, such as ${randomUUID()}`
    return copies.map(({ problem }) => problem('/id', detail()))
  })
}
