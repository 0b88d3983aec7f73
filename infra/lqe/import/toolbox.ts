/**
 * Tools of MCP Toolbox for Databases, from its `tools.yaml`: a map under `tools`, or documents with `kind: tool`.
 * The fields are those of its `docs/en/resources/tools` and of `internal/util/parameters/parameters.go`.
 */
import { type Place, SqlError } from '../../../shared/sql/error.ts'
import { tokenize } from '../../../shared/sql/tokens.ts'
import { QueriesError, readYamlDocuments, type YamlDocument } from '../apply/yaml.ts'
import { uuidFor } from '../logs/entries.ts'
import {
  type Around,
  assertFields,
  collect,
  type Draft,
  type FieldType,
  type Reading,
  Refusal,
  refusalOfSql,
  sqlPlaces,
  type WithFields,
} from './draft.ts'

const toolFields = {
  name: 'any',
  kind: 'any',
  type: 'any',
  source: 'string',
  description: 'string',
  statement: 'string',
  parameters: 'list',
  templateParameters: 'list',
  authRequired: 'list',
  annotations: 'any',
} as const satisfies Record<string, FieldType>

const parameterFields = {
  name: 'string',
  type: 'string',
  description: 'string',
  required: 'boolean',
  default: 'any',
  allowedValues: 'list',
  minValue: 'number',
  maxValue: 'number',
} as const satisfies Record<string, FieldType>

type Parameter = WithFields<typeof parameterFields> & { name: string; type: string }
type Tool = WithFields<typeof toolFields>

interface FoundTool {
  name: string
  type: unknown
  tool: Tool
  pointer: string
  document: YamlDocument
}

interface Source {
  useClientOAuth?: boolean | string
  impersonateServiceAccount?: string
  maximumBytesBilled?: number
  maxQueryResultRows?: number
}

/**
 * Its tools may read sources of the other files.
 * @throws QueriesError for a text that is not YAML
 */
export function readToolbox(file: string, given: string, { texts, environment }: Around): Reading {
  const text = inEnvironment(given, environment)
  const tools = readYamlDocuments(file, text).flatMap(toolsIn)
  const sources = new Map(texts.flatMap(each => sourcesOf(inEnvironment(each, environment))))
  return collect(file, tools, found => draftOf(found, sources, text))
}

/**
 * Toolbox replaces `${NAME}` and `${NAME:default}` in its file by variables of its environment (`parseEnv` in its
 * `cmd/internal/config.go`). One that is not set stays, and is refused where it matters.
 */
const variables = /\$\{(\w+)(?::([^}]*))?\}/g

function inEnvironment(text: string, environment: NodeJS.ProcessEnv): string {
  return text.replace(
    variables,
    (mark, name: string, otherwise?: string) => environment[name] ?? otherwise ?? mark,
  )
}

/** Of a text that is not YAML: none. Its own reading says so. */
function sourcesOf(text: string): [string, Source][] {
  const documents = QueriesError.gather([], () => readYamlDocuments('', text)) ?? []
  return documents.flatMap(({ content }) => sourcesIn(content as Content))
}

type Content = Record<string, unknown> | null

const toolKinds: unknown[] = ['tool', 'tools']
const sourceKinds: unknown[] = ['source', 'sources']

function sourcesIn(content: Content): [string, Source][] {
  if (sourceKinds.includes(content?.['kind'])) return [[String(content!['name']), content as Source]]
  return entriesOf(content?.['sources'])
}

/** Of a document with a `kind` that is no tool's, such as a toolset: none. */
function toolsIn(document: YamlDocument): FoundTool[] {
  const content = document.content as Content
  const kind = content?.['kind']
  if (toolKinds.includes(kind)) {
    const { name, type } = content!
    return [{ name: String(name), type, tool: content as Tool, pointer: '', document }]
  }
  const tools = kind === undefined ? entriesOf(content?.['tools']) : []
  return tools.map(([name, tool]) => {
    const type = tool['kind'] ?? tool['type']
    return { name, type, tool, pointer: `/tools/${name}`, document }
  })
}

/** Values that are no maps have no fields. */
function entriesOf(map: unknown): [string, Record<string, unknown>][] {
  if (typeof map !== 'object' || map === null || Array.isArray(map)) return []
  return Object.entries(map).map(([name, value]) => [name, Object(value) as Record<string, unknown>])
}

function draftOf(found: FoundTool, sources: Map<string, Source>, text: string): Draft {
  const { name, tool, pointer, document } = found
  const at = (field: string, ofName = false) => document.placeIn(`${pointer}/${field}`, ofName)
  assertKind(found)
  assertFields(tool, toolFields, 'which an endpoint has no equal of', at)
  if ((tool.templateParameters?.length ?? 0) > 0)
    throw new Refusal(
      at('templateParameters', true),
      'pastes templateParameters into its SQL: write a tool for each text, or use parameters',
    )
  if (typeof tool.statement !== 'string') throw new Refusal(document.placeIn(pointer), 'has no statement')
  assertNoVariables(tool, field => at(field))
  const source = tool.source == null ? {} : sources.get(tool.source)
  if (!source)
    throw new Refusal(
      at('source'),
      `reads the source ${tool.source}, which no file has: it may limit the rows, so import the file that has it too`,
    )
  if (!['false', ''].includes(String(source.useClientOAuth ?? '').toLowerCase()))
    throw new Refusal(
      at('source'),
      `reads ${tool.source} as its caller (useClientOAuth); here the service’s account reads for all: take it out if all keys may read that`,
    )
  const placeOfSql = sqlPlaces(document, `${pointer}/statement`, text)
  const parameters = (tool.parameters ?? []) as Parameter[]
  const properties = parameters.map((parameter, i) => [
    parameter?.name,
    parameterOf(parameter, (field, ofName) => at(`parameters/${i}/${field}`, ofName)),
  ])
  const required = parameters.filter(each => each.default === undefined && each.required !== false)
  return {
    name,
    definition: {
      id: uuidFor(`toolbox/${name}`),
      description: tool.description,
      parameters: {
        type: 'object',
        ...(required.length > 0 ? { required: required.map(each => each.name) } : {}),
        properties: Object.fromEntries(properties) as object,
      },
      maxRows: source.maxQueryResultRows || defaultRows,
    },
    sql: named(tool.statement, parameters, placeOfSql),
    place: document.placeIn(pointer, pointer !== ''),
    placeOf: place => placeOfDefinition(place, parameters, at),
    placeOfSql,
    origins: new Map(),
    notes: notesOf(tool, source),
  }
}

/** `maxQueryResultRows` of a source that has none, or 0: Toolbox's `internal/sources/bigquery/bigquery.go`. */
const defaultRows = 50

const aboutTables =
  'tells of tables: GET /api/endpoints/NAME/tables does, for an endpoint with a sandbox, and MCP’s resources'
const ofModel = 'is a model of BigQuery: save what that gives in a table, and write an endpoint over it'

/** What the tools without a statement do, and what does it here. */
const instead = new Map(
  Object.entries({
    'bigquery-execute-sql':
      'takes any SQL: write an endpoint with sandbox: true, whose WITH names the tables',
    'bigquery-list-dataset-ids': aboutTables,
    'bigquery-get-dataset-info': aboutTables,
    'bigquery-list-table-ids': aboutTables,
    'bigquery-get-table-info': aboutTables,
    'bigquery-search-catalog': aboutTables,
    'bigquery-conversational-analytics':
      'answers in words: an agent does, with endpoints as its tools over MCP',
    'bigquery-forecast': ofModel,
    'bigquery-analyze-contribution': ofModel,
  }),
)

function assertKind({ type, document, pointer }: FoundTool): void {
  if (type === 'bigquery-sql') return
  const [kind, field] = ['kind', 'type'].map(name => document.placeIn(`${pointer}/${name}`))
  const what = instead.get(String(type)) ?? 'is no saved query over BigQuery; bigquery-sql is'
  const at =
    pointer === '' || document.document.hasIn([...pointer.split('/').slice(1), 'type']) ? field : kind
  throw new Refusal(at!, `is of the kind ${String(type)}, and ${what}`)
}

function assertNoVariables(tool: Tool, at: (field: string) => Place): void {
  for (const [field, value] of Object.entries(tool)) {
    const [variable] = JSON.stringify(value).match(variables) ?? []
    if (variable)
      throw new Refusal(
        at(field),
        `has the variable ${variable} in its ${field}, which is not set: set it, as for Toolbox, or write its value`,
      )
  }
}

const types = new Map(
  Object.entries({ string: 'string', integer: 'integer', float: 'number', boolean: 'boolean' }),
)

/** A field that is undefined is not written. */
function parameterOf(parameter: Parameter, at: (field: string, ofName?: boolean) => Place): object {
  if (typeof parameter?.name !== 'string') throw new Refusal(at(''), 'has a parameter without a name')
  const { name, description, minValue, maxValue } = parameter
  const type = types.get(parameter.type)
  if (type === undefined) {
    const known = [...types.keys()].join(', ')
    throw new Refusal(
      at('type'),
      `has the parameter ${name} of type ${parameter.type}; a parameter is one ${known}`,
    )
  }
  assertFields(parameter, parameterFields, `at ${name}, which a parameter has no equal of`, at)
  return {
    type,
    description,
    default: parameter.default,
    ...(parameter.allowedValues ? choices(parameter, at('allowedValues')) : {}),
    minimum: minValue,
    maximum: maxValue,
  }
}

/** What RE2 and JavaScript read alike. */
const sharedSyntax = /^(?:[\w ,:;/@^$|()[\]*+?.-]|\\[dw.])*$/

/** Toolbox searches a value for each of them as a regular expression: `day` allows `daily` too, unless it is `^day$`. */
function choices({ name, type, allowedValues }: Parameter, at: Place): object {
  const values = allowedValues ?? []
  const words = values.filter(value => typeof value === 'string')
  if (type !== 'string' || words.length < values.length)
    throw new Refusal(at, `has allowedValues at ${name} that are no strings: write minValue and maxValue`)
  if (words.some(word => !sharedSyntax.test(word) || word.includes('(?')))
    throw new Refusal(at, `has allowedValues at ${name} in a syntax of regular expressions that differs here`)
  const whole = words.map(word => /^\^([\w -]+)\$$/.exec(word)?.[1])
  return whole.every(word => word !== undefined) ? { enum: whole } : { pattern: words.join('|') }
}

/** The SQL with names in place of `?`, which stand for the parameters in their order. */
function named(sql: string, parameters: Parameter[], placeOfSql: Draft['placeOfSql']): string {
  try {
    const marks = tokenize(sql).filter(({ kind, text }) => kind === 'symbol' && text === '?')
    if (marks.length === 0) return sql
    if (marks.length !== parameters.length)
      throw new SqlError(`has ${marks.length} marks (?) for ${parameters.length} parameters`)
    return marks.reduceRight(
      (text, { at, end }, i) => `${text.slice(0, at)}@${parameters[i]!.name}${text.slice(end)}`,
      sql,
    )
  } catch (error) {
    if (!(error instanceof SqlError)) throw error
    throw refusalOfSql(error, placeOfSql)
  }
}

function placeOfDefinition(pointer: string, parameters: Parameter[], at: (field: string) => Place): Place {
  const [, first, , name] = pointer.split('/')
  if (first === 'description') return at('description')
  if (first === 'maxRows') return at('source')
  if (first !== 'parameters') return at('')
  const i = parameters.findIndex(parameter => parameter.name === name)
  return at(i < 0 ? 'parameters' : `parameters/${i}`)
}

function notesOf(tool: Tool, source: Source): string[] {
  const { impersonateServiceAccount: account, maximumBytesBilled: bytes } = source
  const authRequired = tool.authRequired ?? []
  return [
    authRequired.length > 0 && `wanted a login of ${authRequired.join(', ')}; here it wants a key`,
    account && `read as ${account}; here the service’s account does`,
    bytes && `had maximumBytesBilled ${bytes}; here the setting MAX_BYTES_BILLED is for all`,
  ].filter(note => typeof note === 'string' && note !== '') as string[]
}
