/**
 * Pipes of Tinybird: datafiles with nodes of ClickHouse's SQL, one of which is an endpoint, and with templates
 * (https://www.tinybird.co/docs/forward/dev-reference/datafiles/pipe-files).
 */
import { basename } from 'node:path'
import { type Place, SqlError } from '../../../shared/sql/error.ts'
import { nearestName } from '../../../shared/sql/nearest.ts'
import { parse } from '../../../shared/sql/parser.ts'
import { nameKey, tablesOf } from '../../../shared/sql/relations.ts'
import { descendants } from '../../../shared/sql/walk.ts'
import { googleSqlOf } from './clickhouse.ts'
import { collect, type Draft, idFor, parametersIn, type Reading, Refusal } from './draft.ts'
import { type Parameters, withoutTemplates } from './templates.ts'

/** A directive, such as `NODE name` or `SQL >` with its indented lines. */
interface Directive {
  word: string
  /** What stands behind it, or below. */
  text: string
  /** The line of the text's first line. */
  line: number
  /** How far its lines are indented. */
  indent: number
}

interface PipeNode {
  name: string
  /** What is said of it. */
  description: string
  sql: Directive
  isEndpoint: boolean
}

/** @param file names the endpoint @returns the draft of its one endpoint, or why there is none */
export function readTinybird(file: string, text: string): Reading {
  const name = basename(file).replace(/\.pipe$/, '')
  return collect(file, [{ name }], () => draftOf(name, directivesIn(text)))
}

/** Directives that are part of an endpoint, and what else there is. */
const known = new Set(['NODE', 'DESCRIPTION', 'SQL', 'TYPE', 'TOKEN', 'TAGS', 'VERSION'])

function directivesIn(text: string): Directive[] {
  const lines = text.split(/\r?\n/)
  const starts = lines.flatMap((line, at) => (/^[A-Z_]+\b/.test(line) ? [at] : []))
  return starts.map((start, i) => {
    const [word = '', ...rest] = lines[start]!.split(/\s+/)
    const below = lines.slice(start + 1, starts[i + 1])
    if (rest[0] !== '>')
      return { word, text: rest.join(' ').trim(), line: start + 1, indent: word.length + 1 }
    const indents = below.filter(line => line.trim() !== '').map(line => /^\s*/.exec(line)![0].length)
    const indent = Math.min(...indents, 80)
    return { word, text: below.map(line => line.slice(indent)).join('\n'), line: start + 2, indent }
  })
}

function draftOf(name: string, directives: Directive[]): Draft {
  const nodes = nodesIn(directives)
  // A pipe of one node has no other rows to answer.
  const endpoints = nodes.length === 1 ? nodes : nodes.filter(({ isEndpoint }) => isEndpoint)
  if (endpoints.length !== 1)
    throw new Refusal(
      { line: 1, column: 1 },
      `has ${endpoints.length} nodes of the TYPE endpoint: one has to be, the one whose rows are the answer`,
    )
  const [endpoint] = endpoints as [PipeNode]
  const parameters: Parameters = new Map()
  const translated = nodes.map(node => ({ ...node, ...translate(node, parameters) }))
  const used = neededFor(endpoint.name, translated)
  const { sql, places } = compose(used)
  const placeOfSql = (place: Place) => ({ place: places(place), within: null })
  const named = parametersIn(sql, placeOfSql)
  for (const limit of limitsIn(sql)) notNegative(parameters, limit)
  const declared = [...parameters].filter(([parameter]) => named.includes(parameter))
  const required = declared.filter(([, { required }]) => required).map(([parameter]) => parameter)
  const first = directives.findIndex(({ word }) => word === 'NODE')
  const description = directives
    .slice(0, first)
    .find(({ word }) => word === 'DESCRIPTION')
    ?.text.trim()
  const tokens = directives.filter(({ word }) => word === 'TOKEN').map(({ text }) => text.split(/\s+/)[0])
  return {
    name,
    definition: {
      id: idFor('tinybird', name),
      description: description || endpoint.description || 'From Tinybird, where it has no description.',
      parameters: {
        type: 'object',
        ...(required.length > 0 ? { required } : {}),
        properties: Object.fromEntries(
          declared.map(([parameter, { definition }]) => [parameter, definition]),
        ),
      },
    },
    sql,
    place: { line: endpoint.sql.line, column: 1 },
    placeOf: pointer =>
      parameters.get(pointer.split('/')[3] ?? '')?.place ?? { line: endpoint.sql.line, column: 1 },
    placeOfSql,
    origins: likeNodes(sql, nodes),
    notes: [
      ...(tokens.length === 0
        ? []
        : [`was read by the tokens ${[...new Set(tokens)].join(', ')}; here by keys`]),
      ...translated
        .filter(node => !used.includes(node))
        .map(node => `has the node ${node.name}, which is left out: ${endpoint.name} does not read it`),
    ],
  }
}

/** The names of the parameters that are counts of rows. */
function limitsIn(sql: string): string[] {
  return [...descendants(parse(sql))].flatMap(node =>
    node.kind === 'Query'
      ? [node.limit, node.offset].flatMap(count => (count?.kind === 'ParameterReference' ? [count.name] : []))
      : [],
  )
}

function notNegative(parameters: Parameters, name: string): void {
  const definition = parameters.get(name)?.definition
  if (definition?.type === 'integer') definition.minimum = Math.max(0, definition.minimum ?? 0)
}

/** Tables whose name is near that of a node, in words. */
function likeNodes(sql: string, nodes: PipeNode[]): Map<string, string> {
  const names = tablesOf(parse(sql)).map(({ path }) => path.map(({ name }) => name).join('.'))
  return new Map(
    names.flatMap(name => {
      const near = nearestName(
        name,
        nodes.map(node => node.name),
      )
      return near === null ? [] : [[name, `did you mean the node ${near}?`]]
    }),
  )
}

function nodesIn(directives: Directive[]): PipeNode[] {
  const nodes: PipeNode[] = []
  for (const { word, text, line, indent } of directives) {
    const node = nodes.at(-1)
    if (!known.has(word))
      throw new Refusal({ line, column: 1 }, `has ${word}, which is no part of an endpoint`)
    if (word === 'NODE')
      nodes.push({ name: text, description: '', sql: { word, text: '', line, indent }, isEndpoint: false })
    else if (node && word === 'SQL') node.sql = { word, text, line, indent }
    else if (node && word === 'DESCRIPTION') node.description = text.trim()
    else if (word === 'TYPE') {
      if (text.toLowerCase() !== 'endpoint')
        throw new Refusal({ line, column: 6 }, `is of the TYPE ${text}: only an endpoint answers calls`)
      if (node) node.isEndpoint = true
    }
  }
  return nodes
}

/** The node's SQL in GoogleSQL, line by line as it was. */
function translate(node: PipeNode, parameters: Parameters): { text: string; reads: Set<string> } {
  const { text, line, indent } = node.sql
  const placeIn = (place: Place): Place => ({ line: line + place.line - 1, column: place.column + indent })
  try {
    const plain = /^\s*%/.test(text) ? withoutTemplates(text.replace('%', ' '), parameters, placeIn) : text
    const sql = googleSqlOf(plain.replace(/;\s*$/, ''))
    const reads = tablesOf(parse(sql)).map(({ path }) => nameKey(path.map(({ name }) => name).join('.')))
    return { text: sql, reads: new Set(reads) }
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    throw new Refusal(placeIn(error.place ?? { line: 1, column: 1 }), `${error.message} (node ${node.name})`)
  }
}

type Translated = PipeNode & ReturnType<typeof translate>

/** The nodes that the endpoint reads, before those that read them. */
function neededFor(name: string, nodes: Translated[], readers: string[] = []): Translated[] {
  const node = nodes.find(each => nameKey(each.name) === nameKey(name))
  if (!node) return []
  const [line, column] = [node.sql.line, 1]
  if (readers.includes(name)) throw new Refusal({ line, column }, `reads itself by its node ${name}`)
  const before = [...node.reads].flatMap(read =>
    neededFor(
      read,
      nodes.filter(each => each !== node || read !== nameKey(name)),
      [...readers, name],
    ),
  )
  return [...new Set([...before, node])]
}

/** One query: each node but the last is a common table. */
function compose(nodes: Translated[]): { sql: string; places: (place: Place) => Place } {
  const lines: { text: string; of?: Place; indent: number }[] = []
  const add = (node: Translated) => {
    const all = node.text.split('\n')
    const [first, last] = [
      all.findIndex(line => line.trim() !== ''),
      all.findLastIndex(line => line.trim() !== ''),
    ]
    for (let at = first; at <= last; at++)
      lines.push({ text: all[at]!, of: { line: node.sql.line + at, column: 1 }, indent: node.sql.indent })
  }
  const last = nodes.at(-1)!
  nodes.slice(0, -1).forEach((node, at) => {
    lines.push({ text: `${at === 0 ? 'WITH ' : ''}\`${node.name}\` AS (`, indent: 0 })
    add(node)
    lines.push({ text: at < nodes.length - 2 ? '),' : ')', indent: 0 })
  })
  const isNested = nodes.length > 1 && /^\s*WITH\b/i.test(last.text)
  if (isNested) lines.push({ text: '(', indent: 0 })
  add(last)
  if (isNested) lines.push({ text: ')', indent: 0 })
  const places = ({ line, column }: Place): Place => {
    const { of = { line: last.sql.line, column: 1 }, indent = 0 } = lines[line - 1] ?? {}
    return { line: of.line, column: column + indent }
  }
  return { sql: lines.map(({ text }) => text).join('\n'), places }
}
