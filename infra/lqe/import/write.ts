/** Writes imported endpoints as pairs of files, with the alert on each, after the checks of `lqe apply`. */
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { Document, isMap, parseDocument, visit } from 'yaml'
import { asUsual } from '../../../shared/data-folder.ts'
import type { Endpoint } from '../../../shared/endpoints/definition.ts'
import { DefinitionError, endpointFrom } from '../../../shared/endpoints/definition-file.ts'
import { readTableSchemas } from '../../../shared/engines/duckdb/tables.ts'
import type { QueryEngine } from '../../../shared/engines/engine.ts'
import { packageFolder } from '../../../shared/package-folder.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { tablesOf } from '../../../shared/sql/tables.ts'
import { visible } from '../../../shared/visible-text.ts'
import { check } from '../apply/check.ts'
import { alertEnding, channelsFile, isDefinition } from '../apply/read.ts'
import { endpointAsTable } from '../apply/upstream.ts'
import { dotted, type FileProblem, problemsIn, yamlText } from '../apply/yaml.ts'
import { sameTable } from '../tables/add.ts'
import { type Draft, fileName, Refusal, refusalOfSql } from './draft.ts'

export interface Target {
  engine: QueryEngine
  /** The endpoints in force. */
  stored: { name: string; id: string }[]
  /** Folder of `<name>.sql` and `<name>.yaml`. */
  queries: string
  /** Schema files of the log tables. */
  tablesFolder: string
  /** Whether files that are there are replaced. */
  force: boolean
  /** Whether the files are shown instead. */
  dryRun: boolean
  environment: NodeJS.ProcessEnv
  /** Gets what was done, line by line. */
  out: (line: string) => void
}

/** Names of endpoints with their ids, and the files of queries that their definitions name. */
type Known = Map<string, { id: string; queries: string[] }>

/** A target with what is there. */
interface Surroundings extends Target {
  /** Of the folder, and what is written before an endpoint. */
  files: Known
  /** Of those too that the store has, or that are in the imported files. */
  names: Set<string>
}

/** The endpoints of a folder, whatever else its files hold. */
export function endpointsIn(folder: string): Known {
  const files = existsSync(folder) ? readdirSync(folder) : []
  return new Map(
    files
      .filter(isDefinition)
      .filter(file => statSync(join(folder, file), { throwIfNoEntry: false })?.isFile())
      .map(file => {
        const text = readFileSync(join(folder, file), 'utf8')
        const queries = [...text.matchAll(/[\w.-]+\.sql\b/g)].map(([name]) => name)
        return [file.slice(0, -'.yaml'.length), { id: String(parseDocument(text).get('id')), queries }]
      }),
  )
}

/**
 * Checks and writes one endpoint.
 * @param file the imported file
 * @returns why it was not written, or `null`
 */
export async function write(file: string, given: Draft, target: Surroundings): Promise<FileProblem | null> {
  const draft = withName(given)
  try {
    const notes = [...(await checked(draft, target)), ...renamed(draft, target), ...hiding(draft)]
    assertOwnId(draft, target.files)
    assertOwnQuery(draft, target.files)
    const own = await filesOf(draft, target.queries)
    // A link that leads nowhere is there as well: a write would follow it.
    const existing = own.find(([path]) => lstatSync(path, { throwIfNoEntry: false }))?.[0]
    if (existing !== undefined && !target.force)
      throw new Refusal(draft.place, `would replace ${existing}: --force does`)
    const shared = draft.alert ? await channelsWith(draft, target.queries) : []
    const { out, dryRun } = target
    out(`+ ${draft.name} from ${file}:${draft.place.line}`)
    for (const note of notes) out(`! ${draft.name} ${note}`)
    if (dryRun) for (const [path, text] of [...own, ...shared]) out(`\n${path}\n${text}`)
    else
      asUsual(() => {
        mkdirSync(target.queries, { recursive: true })
        const flag = target.force ? 'w' : 'wx'
        for (const [path, text] of own) writeFileSync(path, text, { flag })
        for (const [path, text] of shared) writeFileSync(path, text)
      })
    return null
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    return { file, ...error.place, detail: `${draft.name}: ${error.message}` }
  }
}

/** Two endpoints with one id are refused by `apply`. */
function assertOwnId({ name, definition, placeOf }: Draft, files: Known): void {
  const id = String(definition['id'])
  const other = [...files].find(([other, known]) => known.id === id && other !== name)?.[0]
  if (other !== undefined)
    throw new Refusal(placeOf('/id'), `has the id of ${other}, ${id}: of two, apply takes neither`)
}

/** --force would replace a query of another endpoint. */
function assertOwnQuery({ name, place }: Draft, files: Known): void {
  const file = `${name}.sql`
  for (const [other, { queries }] of files)
    if (other !== name && queries.some(query => query.toLowerCase() === file))
      throw new Refusal(place, `has the name of a query of ${other}, ${file}: rename one of them`)
}

function renamed({ name, definition }: Draft, { stored }: Target): string[] {
  const before = stored.find(({ id }) => id === definition['id'])?.name ?? name
  return before === name ? [] : [`has the id of ${before}, which is in force: apply renames that`]
}

/** The SQL stays as it is: an escape means something else there in a raw string, and in a comment. */
function hiding({ sql }: Draft): string[] {
  const at = sql.split(/\r?\n/).findIndex(line => visible(line) !== line)
  return at < 0
    ? []
    : [`has characters in line ${at + 1} of its SQL that are not seen: look at it before you apply it`]
}

function withName(draft: Draft): Draft {
  const name = fileName(draft.name)
  if (name === draft.name) return draft
  const kept = draft.definition['aliases'] ? ', and callers may go on with that (aliases)' : ''
  return { ...draft, name, notes: [...draft.notes, `was ${draft.name}${kept}`] }
}

/** The engines' words for a table that is missing; BigQuery names the first alone. */
const missing = /^Table not found|is missing, or may not be used/

/**
 * The checks of `apply`; tables that are missing here are no reason to refuse.
 * @returns what the operator has to know
 * @throws Refusal
 */
async function checked(draft: Draft, { engine, tablesFolder, names }: Surroundings): Promise<string[]> {
  const endpoint = endpointOf(draft)
  const [sqlFile, yamlFile] = ['sql', 'yaml']
  const problem = problemsIn(yamlFile, draft.placeOf)
  const files = { sqlFile, yamlFile, queryFiles: new Map(), answerFiles: [], alerts: [] }
  const source = { endpoint, ...files, placeInYaml: draft.placeOf, problem }
  const problems = await check([source], engine)
  const isMissing = ({ detail }: FileProblem) => missing.test(detail)
  for (const problem of problems.filter(problem => !isMissing(problem))) {
    const { line, column, detail } = problem
    if (problem.file !== sqlFile) throw new Refusal({ line, column }, detail)
    throw refusalOfSql({ message: detail, place: { line, column } }, draft.placeOfSql)
  }
  if (problems.length === 0) return draft.notes
  const local = problems.some(({ detail }) => detail.startsWith('Table not found'))
  const found = local
    ? missingTables(draft, readTableSchemas(tablesFolder), names)
    : problems.map(({ detail }) => `waits for apply: ${detail}`)
  return [...draft.notes, ...found]
}

function missingTables(
  { name: own, sql, origins }: Draft,
  here: ReadonlyMap<string, unknown>,
  endpoints: Set<string>,
): string[] {
  const names = tablesOf(parse(sql)).map(({ path }) => path.map(({ name }) => name).join('.'))
  return [...new Set(names)]
    .filter(name => !here.has(name))
    .map(name => {
      if (endpoints.has(fileName(name)) && fileName(name) !== own)
        return `reads ${name}, which ${endpointAsTable(fileName(name))}`
      const same = sameTable(name, here.keys())
      if (same !== undefined) return `reads ${name}, which is ${same} here: write that name in its SQL`
      const origin = origins.get(name)
      const from = origin === undefined ? '' : ` (${origin})`
      return `reads ${name}${from}, which is not here: before apply, lqe table add makes it, or BIGQUERY_TABLES names it`
    })
}

function endpointOf({ name, definition, sql, place, placeOf }: Draft): Endpoint {
  try {
    return endpointFrom(name, definition, sql)
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    const { pointer, detail } = error.problems[0]!
    throw new Refusal(pointer === '' ? place : placeOf(pointer), `${dotted(pointer)} ${detail}`.trim())
  }
}

type Files = [path: string, text: string][]

/** The draft's own files. */
async function filesOf({ name, definition, sql, alert }: Draft, queries: string): Promise<Files> {
  const own = (ending: string) => join(queries, `${name}${ending}`)
  const first = (schema: string) => {
    const file = join(packageFolder, `shared/${schema}.schema.json`)
    return `# yaml-language-server: $schema=${relative(queries, file)}\n`
  }
  const files: Files = [
    [own('.yaml'), await formatted(new Document(definition), first('endpoints/definition'))],
    [own('.sql'), `${sql.trimEnd()}\n`],
  ]
  if (!alert) return files
  const content = new Document({ endpoint: name, ...alert.content })
  return [...files, [own(alertEnding), await formatted(content, first('alerts/alert'))]]
}

/** `channels.yaml` with the alert's channels too; those that are there stay as they are. @throws Refusal */
async function channelsWith({ alert, place }: Draft, queries: string): Promise<Files> {
  const path = join(queries, channelsFile)
  const document: Document = parseDocument(existsSync(path) ? readFileSync(path, 'utf8') : '')
  document.contents ??= document.createNode({})
  if (document.errors.length > 0 || !isMap(document.contents))
    throw new Refusal(place, `needs a channel in ${path}, which cannot be read: correct that file first`)
  const missing = Object.entries(alert!.channels).filter(([name]) => !document.has(name))
  for (const [name, channel] of missing) document.set(name, document.createNode(channel, { flow: true }))
  return missing.length > 0 ? [[path, await formatted(document)]] : []
}

/** As the files of queries/ are formatted. */
async function formatted(document: Document, first = ''): Promise<string> {
  const [{ format }, yaml] = await Promise.all([
    import('prettier/standalone'),
    import('prettier/plugins/yaml'),
  ])
  visit(document, { Seq: (_, list) => void (list.flow = true) })
  return format(first + yamlText(document, { lineWidth: 118 }), {
    parser: 'yaml',
    plugins: [yaml],
    printWidth: 110,
    singleQuote: true,
  })
}
