/** A tool for each endpoint that the key may call, and one that takes SQL for each with a sandbox. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { columnsIfKnown } from '../../shared/endpoints/columns.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { someOf, takes } from '../../shared/endpoints/parameters.ts'
import { assertSingleValues, queryText } from '../../shared/endpoints/query-string.ts'
import { fieldName } from '../../shared/engines/values.ts'
import { ApiError, tablesText } from '../../shared/errors.ts'
import { canCall, type Caller } from '../../shared/keys/authenticate.ts'
import { sha256, withoutKeys } from '../../shared/key-text.ts'
import { insufficientScope } from '../../shared/keys/claims.ts'
import { cursorAfter } from '../../shared/pages/page.ts'
import { tableQueries } from '../../shared/sandbox/offered-tables.ts'
import { nameHint, nearestName } from '../../shared/sql/hints.ts'
import { beginning } from '../../shared/visible-text.ts'
import { answersSql } from '../query/statement.ts'
import { withTimesAsText } from '../../shared/answers/times.ts'
import { parameterSchema } from '../query/openapi.ts'
import type { JsonSchema } from '../query/openapi-schemas.ts'
import { ask, briefly, echo, invalidParams, type McpCall } from './protocol-errors.ts'
import { patternsOf, patternsName, patternsTool } from './patterns.ts'
import { type ContextRows, contextRows, rowsText } from './rows.ts'

/** The arguments that are no parameters of the endpoint. */
const own = {
  format: {
    type: 'string',
    enum: ['csv', 'json'],
    description: 'How rows are written; csv where they are flat',
  },
  cursor: { type: 'string', description: '`next` of the answer before: the rows after it' },
}

const sqlSchema = {
  type: 'string',
  description: 'One GoogleSQL SELECT (BigQuery) over the tables; give it a LIMIT',
}

/** Tools that belong to no single endpoint: each takes the name of one that accepts SQL. */
const toolsOverTables = new Map([[patternsName, { describe: patternsTool, answer: patternsOf }]])

interface ToolTarget {
  endpoint: Endpoint
  takesSql: boolean
}

/** The tools of the endpoints that the key may call. */
export async function listTools({ call, caller }: McpCall): Promise<Tool[]> {
  const targets = targetsFor(caller, await call.services.endpoints.all())
  const tools = await Promise.all(
    [...targets].map(async ([name, { endpoint, takesSql }]): Promise<Tool> => {
      const schema = inputSchema(endpoint, takesSql, caller.pins)
      const columns = takesSql ? null : await columnsFor(call, endpoint)
      return {
        name,
        description: takesSql ? aboutSql(endpoint) : endpoint.description,
        inputSchema: schema as Tool['inputSchema'],
        ...(columns ? { outputSchema: outputSchema(columns) } : {}),
        annotations: { readOnlyHint: true, openWorldHint: false },
      }
    }),
  )
  const withTables = [...targets.values()].flatMap(({ endpoint, takesSql }) => (takesSql ? endpoint : []))
  const others = withTables.length > 0 ? [...toolsOverTables.values()] : []
  return [...tools, ...others.map(({ describe }) => describe(withTables))]
}

/**
 * Names of letters, digits and underscores, which every client takes: `logs.all` -> `logs_all` and `query_logs_all`. Names that
 * would be equal get a hash each, so that no name changes its endpoint.
 */
function targetsOf(caller: Caller, all: Endpoint[]): Map<string, ToolTarget> {
  const targets = all
    .filter(endpoint => canCall(caller, endpoint))
    .flatMap(endpoint => [
      { endpoint, takesSql: false },
      ...(answersSql(endpoint, caller) ? [{ endpoint, takesSql: true }] : []),
    ])
  const short = ({ endpoint, takesSql }: ToolTarget) =>
    `${takesSql ? 'query_' : ''}${endpoint.name}`.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 55)
  const alike = Map.groupBy(targets, short)
  const nameOf = (target: ToolTarget) => {
    const name = short(target)
    const { endpoint, takesSql } = target
    return alike.get(name)!.length === 1 && !toolsOverTables.has(name)
      ? name
      : `${name}_${sha256(`${endpoint.id} ${takesSql}`).slice(0, 8)}`
  }
  return new Map(targets.map(target => [nameOf(target), target]))
}

function aboutSql(endpoint: Endpoint): string {
  const tables = tableQueries(endpoint).map(({ name }) => name)
  return (
    `Runs your own SQL over ${tables.join(', ')}. Their columns are in the resources lqe://${endpoint.name}/<table>. ` +
    "Times in rows are ISO 8601 in UTC, which SQL takes as TIMESTAMP '2026-01-31T12:00:00Z'."
  )
}

function inputSchema(endpoint: Endpoint, takesSql: boolean, pins: Record<string, string>): JsonSchema {
  const free = Object.entries(endpoint.parameters).filter(([name]) => !Object.hasOwn(pins, name))
  const declared = free.map(([name, definition]) => [name, describeParameter(definition)])
  const cursor = endpoint.page && !takesSql ? { cursor: own.cursor } : {}
  const properties = {
    ...(takesSql ? { sql: sqlSchema } : {}),
    ...Object.fromEntries(declared),
    ...cursor,
    ...(Object.hasOwn(endpoint.parameters, 'format') ? {} : { format: own.format }),
  }
  const required = [
    ...(takesSql ? ['sql'] : []),
    ...endpoint.required.filter(name => free.some(([each]) => each === name)),
  ]
  return { type: 'object', properties, required, additionalProperties: false }
}

function describeParameter(definition: Endpoint['parameters'][string]): JsonSchema {
  const { description: form, ...schema } = parameterSchema(definition)
  const description = [definition.description, form].filter(Boolean).join(' ')
  return { ...schema, ...(description ? { description } : {}) }
}

/** `null` where the engine cannot describe them at the moment. */
async function columnsFor({ services }: McpCall['call'], endpoint: Endpoint): Promise<string[] | null> {
  const columns = await columnsIfKnown(services.columnsOf, endpoint)
  return columns && columns.map(({ name }, at) => fieldName(name, at))
}

/** Names of columns without their types, with which the list of tools would fill a context. */
function outputSchema(columns: string[]): JsonSchema {
  const row = { type: 'object', properties: Object.fromEntries(columns.map(name => [name, {}])) }
  return {
    type: 'object',
    properties: {
      rows: { type: 'array', items: row },
      total: { type: 'integer', description: 'Rows of the answer, shown or not' },
      next: { type: 'string' },
    },
    required: ['rows', 'total'],
  }
}

/** An error that the caller can correct is a result of the tool; an unknown tool is an error of the protocol. */
export async function callTool(
  mcpCall: McpCall,
  { name, arguments: args = {} }: { name: string; arguments?: Record<string, unknown> | undefined },
): Promise<CallToolResult> {
  const other = toolsOverTables.get(name)
  const target = other ? null : await findTarget(mcpCall, name)
  const targets = target ? null : targetsFor(mcpCall.caller, await mcpCall.call.services.endpoints.all())
  const withTables = [...(targets?.values() ?? [])].flatMap(each => (each.takesSql ? each.endpoint : []))
  if (!target && (!other || withTables.length === 0))
    throw invalidParams(`There is no tool ${echo(name)}; ${nameHint(name, targets!.keys())}`)
  try {
    return target ? await resultOf(mcpCall, target, args) : await other!.answer(mcpCall, withTables, args)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    mcpCall.call.notes.error = error.code
    return { content: [{ type: 'text', text: errorText(error) }], isError: true }
  }
}

/** Names depend on each other, so this reads all endpoints; it reads again for one that was just added. */
async function findTarget({ call, caller }: McpCall, name: string): Promise<ToolTarget | null> {
  const { endpoints } = call.services
  const among = (all: Endpoint[]) => targetsFor(caller, all).get(name)
  return among(await endpoints.remembered()) ?? among(await endpoints.all()) ?? null
}

/**
 * Checked before the protocol answers, as clients ask for a scope only after HTTP's status 403. @throws ApiError
 * `insufficient_scope`
 */
export async function assertToolScope({ call, caller }: McpCall): Promise<void> {
  if (!caller.lacking) return
  const { method, params } = (call.req.body ?? {}) as { method?: unknown; params?: { name?: unknown } }
  if (method !== 'tools/call') return
  const behind = { ...caller, endpoints: Object.values(caller.lacking).flat() }
  const tool = targetsOf(behind, await call.services.endpoints.remembered()).get(String(params?.name))
  const refusal = tool && !canCall(caller, tool.endpoint) && insufficientScope(caller, tool.endpoint.name)
  if (refusal) throw refusal
}

/** By the object of the caller, which is the same for as long as its key is remembered. */
const lastTargets = new WeakMap<Caller, { all: Endpoint[]; targets: Map<string, ToolTarget> }>()

function targetsFor(caller: Caller, all: Endpoint[]): Map<string, ToolTarget> {
  const last = lastTargets.get(caller)
  if (last?.all === all) return last.targets
  const targets = targetsOf(caller, all)
  lastTargets.set(caller, { all, targets })
  return targets
}

async function resultOf(
  mcpCall: McpCall,
  { endpoint, takesSql }: ToolTarget,
  args: Record<string, unknown>,
): Promise<CallToolResult> {
  const { call } = mcpCall
  const { format = 'csv', sql, cursor, ...parameters } = args
  assertSingleValues(args, name => takes(endpoint, name))
  if (format !== 'csv' && format !== 'json')
    throw ApiError.of('invalid_parameter', { parameter: 'format', detail: 'must be one of csv, json' })
  if (takesSql && typeof sql !== 'string')
    throw new ApiError('invalid_parameter', 'sql is required: one SELECT statement')
  const query = queryText({ ...parameters, cursor })
  const { result, parameters: read } = await ask(mcpCall, endpoint, query, takesSql ? (sql as string) : null)
  const { answer } = result
  const remembered = await answer.form(`for a model, ${format}`, async () => {
    const rows = await answer.rows()
    const { columns, times = [] } = answer.summary
    const readable = rows.map(row => withTimesAsText(row, times))
    const shown = contextRows(readable, columns, format)
    const { next = null, newest = null } = answer.summary.page ?? {}
    const last = rows[shown.rows.length - 1]
    const known = newest ?? next ?? (typeof cursor === 'string' ? cursor : null)
    const isCut = shown.rows.length < rows.length
    const more =
      isCut && last && known ? await cursorAfter(call.services.cursors, endpoint, last, known) : null
    const following = isCut && last ? more : next // where no row fits, the page after this one
    return Buffer.from(JSON.stringify([shown, following]))
  })
  const [shown, next] = JSON.parse(remembered.toString()) as [ContextRows, string | null]
  const toolResult = resultFor(shown, { endpoint, takesSql }, next)
  const ignored = [...(takesSql || sql === undefined ? [] : ['sql']), ...read.undeclared]
  return ignored.length > 0 ? withNote(toolResult, ignored, endpoint) : toolResult
}

/** @param next the cursor of the rows after those that are shown */
function resultFor(
  shown: ContextRows,
  { endpoint, takesSql }: ToolTarget,
  next: string | null,
): CallToolResult {
  const { rows, total } = shown
  return {
    content: [{ type: 'text', text: rowsText(shown, endpoint.name, next) }],
    ...(takesSql ? {} : { structuredContent: { rows, total, ...(next === null ? {} : { next }) } }),
  }
}

function withNote(result: CallToolResult, ignored: string[], { parameters }: Endpoint): CallToolResult {
  const known = Object.keys(parameters)
  const hintOf = (name: string) => {
    const near = nearestName(name, known)
    return near === null ? name : `${name} (did you mean ${near}?)`
  }
  const [names, all] = [someOf(ignored).map(hintOf), someOf(known)].map(list => list.join(', '))
  const text = beginning(
    `There is no parameter ${names}: left out. The parameters are ${all || 'none'}.`,
    2_000,
  )
  return { ...result, content: [{ type: 'text', text }, ...result.content] }
}

/** The message, with the places that it does not say itself. */
function errorText({ message, problems, headers }: ApiError): string {
  const lines = [message]
  for (const problem of problems) {
    const { parameter, line, column, detail } = problem
    const at = line === undefined ? (parameter ?? '') : `line ${line}, column ${column}`
    const place = at ? `${at}: ${detail}` : detail
    if (lettersOf(place).endsWith(lettersOf(message))) lines[0] = place
    else if (!lettersOf(message).includes(lettersOf(place))) lines.push(place)
    if (problem.tables) lines.push(tablesText(problem))
  }
  if (headers['Retry-After']) lines.push(`Try again after ${headers['Retry-After']} s.`)
  return briefly(withoutKeys(lines.join('\n')))
}

function lettersOf(text: string): string {
  return text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '')
}
