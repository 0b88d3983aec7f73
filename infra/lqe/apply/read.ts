/** Reads `queries/`: each endpoint is `<name>.yaml` beside `<name>.sql`, with other queries where the YAML names them. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Document, isAlias, isMap, isNode, LineCounter, type Node, parseDocument, visit } from 'yaml'
import {
  DefinitionError,
  type Endpoint,
  endpointFrom,
  missingQuery,
} from '../../../shared/endpoints/definition.ts'

/** A problem in a file, as compilers print it. */
export interface FileProblem {
  file: string
  line: number
  column: number
  detail: string
}

export class QueriesError extends Error {
  override readonly name = 'QueriesError'
  readonly problems: FileProblem[]

  constructor(problems: FileProblem[]) {
    super(problems.map(({ file, line, column, detail }) => `${file}:${line}:${column} ${detail}`).join('\n'))
    this.problems = problems
  }
}

/** An endpoint with its files, and places in them. */
export interface EndpointSource {
  endpoint: Endpoint
  sqlFile: string
  yamlFile: string
  /** The other queries' files, by the JSON pointer at which the YAML names each: `/warm/query`. */
  queryFiles: ReadonlyMap<string, string>
  /** Line and column of the value at a JSON pointer in the YAML, or of its name, or of the nearest thing around it. */
  placeInYaml(pointer: string, ofName?: boolean): { line: number; column: number }
}

/**
 * Reads every endpoint of a folder, by name.
 * @throws QueriesError with every problem of every file
 */
export function readQueries(folder: string): EndpointSource[] {
  const files = new Set(readdirSync(folder).toSorted())
  const problems: FileProblem[] = []
  const sources: EndpointSource[] = []
  const unread: string[] = []
  for (const file of files) {
    if (!file.endsWith('.yaml')) continue
    const name = file.slice(0, -'.yaml'.length)
    try {
      sources.push(readOne(folder, name, files))
    } catch (error) {
      if (!(error instanceof QueriesError)) throw error
      problems.push(...error.problems)
      unread.push(`${name}.`)
    }
  }
  problems.push(...sharedIds(sources), ...unusedQueries(folder, files, sources, unread))
  if (problems.length > 0) throw new QueriesError(problems)
  return sources
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
    .map(file => problemOf(join(folder, file), 'has no .yaml beside it, and no other .yaml names it'))
}

function problemOf(file: string, detail: string): FileProblem {
  return { file, line: 1, column: 1, detail }
}

function readOne(folder: string, name: string, files: Set<string>): EndpointSource {
  const [yamlFile, sqlFile] = [join(folder, `${name}.yaml`), join(folder, `${name}.sql`)]
  if (!files.has(`${name}.sql`)) throw new QueriesError([problemOf(yamlFile, 'has no .sql beside it')])
  const lines = new LineCounter()
  const document = parseDocument(readFileSync(yamlFile, 'utf8'), { lineCounter: lines })
  const unreadable = [...document.errors, ...unknownAliases(document)].map(({ message, pos }) => {
    const { line, col: column } = lines.linePos(pos[0])
    const detail = message.split('\n', 1)[0]!.replace(/ at line \d+, column \d+:$/, '')
    return { file: yamlFile, line, column, detail }
  })
  if (unreadable.length > 0) throw new QueriesError(unreadable)
  const placeInYaml = (pointer: string, ofName = false) => {
    const { line, col: column } = lines.linePos(offsetIn(document, pointer, ofName))
    return { line, column }
  }
  try {
    const queryFiles = new Map<string, string>()
    const readQuery = (file: string, pointer: string) => {
      if (!files.has(file)) throw missingQuery(file, pointer)
      queryFiles.set(pointer, join(folder, file))
      return readFileSync(join(folder, file), 'utf8')
    }
    const endpoint = endpointFrom(name, document.toJS(), readFileSync(sqlFile, 'utf8'), readQuery)
    return { endpoint, sqlFile, yamlFile, queryFiles, placeInYaml }
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    const named = error.problems.map(({ pointer, ofName, detail: words }) => {
      const detail = `${pointer.slice(1).replaceAll('/', '.')} ${words}`.trim()
      return { file: yamlFile, ...placeInYaml(pointer, ofName), detail }
    })
    throw new QueriesError(named)
  }
}

function offsetIn(document: Document, pointer: string, ofName: boolean): number {
  const keys = pointer.split('/').slice(1)
  for (let named = ofName; keys.length > 0; keys.pop(), named = false) {
    const node = named ? nameNode(document, keys) : document.getIn(keys, true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return document.contents?.range?.[0] ?? 0
}

function nameNode(document: Document, keys: string[]): Node | null {
  const map = keys.length === 1 ? document.contents : document.getIn(keys.slice(0, -1), true)
  const pair = isMap<Node>(map) ? map.items.find(({ key }) => String(key) === keys.at(-1)) : undefined
  return pair?.key ?? null
}

/** Aliases without an anchor, which the parser lets pass. */
function unknownAliases(document: Document): { message: string; pos: [number] }[] {
  const found: { message: string; pos: [number] }[] = []
  visit(document, (_, node) => {
    if (!isAlias(node) || node.resolve(document)) return
    found.push({ message: `there is no anchor &${node.source}`, pos: [node.range?.[0] ?? 0] })
  })
  return found
}

function sharedIds(sources: EndpointSource[]): FileProblem[] {
  const owner = new Map<string, string>()
  return sources.flatMap(({ endpoint, yamlFile, placeInYaml }) => {
    const first = owner.get(endpoint.id)
    owner.set(endpoint.id, first ?? yamlFile)
    return first ? [{ file: yamlFile, ...placeInYaml('/id'), detail: `has the id of ${first}` }] : []
  })
}
