/**
 * Beside the tools: as resources the tables that an agent reads before it writes SQL, and the alerts; as prompts usual
 * investigations.
 */
import type { GetPromptResult, Prompt, ReadResourceResult, Resource } from '@modelcontextprotocol/server'
import { echo, invalidParams, type McpCall, shorten } from './protocol-errors.ts'
import { alertsFor } from '../query/alerts.ts'
import { type ColumnDescription, type TableDescription, tablesOf } from '../query/endpoints.ts'
import { answersSql } from '../query/statement.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { canCall } from '../../shared/keys/authenticate.ts'
import { tableQueries } from '../../shared/sandbox/offered-tables.ts'

const alertsUri = 'lqe://alerts'

/** The tables of the endpoints that the key may call and that take SQL; before them the alerts, where there are any. */
export async function listResources(mcpCall: McpCall): Promise<Resource[]> {
  const callable = await callableEndpoints(mcpCall)
  const tables = callable
    .filter(endpoint => answersSql(endpoint, mcpCall.caller))
    .flatMap(endpoint =>
      tableQueries(endpoint).map(({ name }) => ({
        uri: `lqe://${endpoint.name}/${name}`,
        name: `${endpoint.name}/${name}`,
        description: `Columns of ${name}, with a worked query`,
        mimeType: 'text/plain',
      })),
    )
  const alerts = {
    uri: alertsUri,
    name: 'alerts',
    description:
      'What alerts on the endpoints found: their state, since when, the last value, and what was told',
    mimeType: 'application/json',
  }
  return [...(callable.some(({ alerts = [] }) => alerts.length > 0) ? [alerts] : []), ...tables]
}

async function callableEndpoints({ call, caller }: McpCall): Promise<Endpoint[]> {
  return (await call.services.endpoints.all()).filter(endpoint => canCall(caller, endpoint))
}

/** A table's columns with an example, or the alerts. @throws ProtocolError for an unknown one, and ApiError */
export async function readResource(mcpCall: McpCall, uri: string): Promise<ReadResourceResult> {
  const callable = await callableEndpoints(mcpCall)
  if (uri === alertsUri) {
    const alerts = await alertsFor(mcpCall.call.services.store, mcpCall.caller, callable)
    return { contents: [{ uri, mimeType: 'application/json', text: JSON.stringify(alerts) }] }
  }
  const [, name, table] = /^lqe:\/\/([^/]+)\/([^/]+)$/.exec(uri) ?? []
  const endpoint = callable.find(each => each.name === name && answersSql(each, mcpCall.caller))
  const described = endpoint && (await tablesOf(endpoint, mcpCall.call.services))
  const found = described?.find(each => each.name === table)
  if (!found) throw invalidParams(`There is no resource ${echo(uri)}.`, { uri: echo(uri) })
  return { contents: [{ uri, mimeType: 'text/plain', text: textOf(found) }] }
}

function textOf({ name, columns }: TableDescription): string {
  return [
    `Table ${name}`,
    ...columns.flatMap(column => linesOf(column, 1)),
    '',
    'Example:',
    exampleOf({ name, columns }),
  ].join('\n')
}

function linesOf({ name, type, repeated, fields = [] }: ColumnDescription, depth: number): string[] {
  const line = `${'  '.repeat(depth)}${name ?? '(unnamed)'} ${repeated ? `ARRAY<${type}>` : type}`
  return [line, ...fields.flatMap(field => linesOf(field, depth + 1))]
}

/** With UNNEST for each record on the way to the first one that has something to show. */
function exampleOf({ name, columns }: TableDescription): string {
  const nested = columns.find(isRecord)
  const hasTime = columns.some(column => column.name === 'timestamp')
  const order = hasTime ? ' ORDER BY t.timestamp DESC' : ''
  if (!nested) return `SELECT ${plainFields('t', columns).join(', ')} FROM ${name} AS t${order} LIMIT 20`
  const { joins, fields } = chain(nested)
  const shown = [...(hasTime ? ['t.timestamp'] : []), ...fields]
  return `SELECT ${shown.join(', ')} FROM ${name} AS t ${joins.join(' ')}${order} LIMIT 20`
}

function isRecord({ fields, repeated }: ColumnDescription): boolean {
  return repeated && fields !== undefined
}

function chain(column: ColumnDescription, parent = 't', depth = 1): { joins: string[]; fields: string[] } {
  const alias = `f${depth}`
  const join = `LEFT JOIN UNNEST(${parent}.${column.name}) AS ${alias}`
  const fields = plainFields(alias, column.fields!)
  const sizeOf = (record: ColumnDescription) => plainFields('', record.fields!).length
  const inner = column.fields!.filter(isRecord).toSorted((a, b) => sizeOf(b) - sizeOf(a))[0]
  if (fields.length >= 3 || !inner) return { joins: [join], fields }
  const below = chain(inner, alias, depth + 1)
  return { joins: [join, ...below.joins], fields: below.fields }
}

/** Some of them, by their paths. */
function plainFields(alias: string, columns: ColumnDescription[]): string[] {
  const plain = columns.filter(({ name, fields }) => name !== null && !fields)
  return plain.slice(0, 5).map(({ name }) => `${alias}.${name}`)
}

const since = { name: 'since', description: 'From when: ISO 8601, or -1h', required: false }
const project = { name: 'project', description: 'Which project', required: true }

interface Investigation extends Prompt {
  /** What the model is asked, with the arguments in braces. */
  steps: string
}

const investigations: Investigation[] = [
  {
    name: 'find_failures',
    description: 'Find what fails, since when, and why',
    arguments: [project, since],
    steps:
      'Something fails in project {project} since {since}. Count errors by status and path over time with SQL on the edge logs; ' +
      'find when they began; then read the entries of the database, auth and function logs around that time. ' +
      'Say the cause, the first failing entry and the evidence, each with its time.',
  },
  {
    name: 'find_slow_requests',
    description: 'Find what is slow, and what changed',
    arguments: [project, since],
    steps:
      'Requests of project {project} are slow since {since}. Find the paths with the highest 95th percentile of their time, ' +
      'compare it with the hours before, and look for slow statements in the database log at the same times. ' +
      'Say which path, since when, and the likely cause.',
  },
  {
    name: 'follow_one_caller',
    description: 'Follow one user, address or request through all logs',
    arguments: [
      project,
      { name: 'who', description: 'A user id, request id or path', required: true },
      since,
    ],
    steps:
      'Collect the entries of {who} in project {project} since {since} from all tables, in order of time, and tell what happened.',
  },
]

/** Without the arguments that the key fixes, as with tools. */
export function listPrompts({ caller }: McpCall): Prompt[] {
  return investigations.map(({ steps: _, ...prompt }) => ({
    ...prompt,
    arguments: prompt.arguments!.filter(({ name }) => !Object.hasOwn(caller.pins, name)),
  }))
}

/** A prompt with its arguments filled in; a pin wins. @throws ProtocolError */
export function getPrompt(
  { caller }: McpCall,
  { name, arguments: sent = {} }: { name: string; arguments?: Record<string, string> | undefined },
): GetPromptResult {
  const args = { ...sent, ...caller.pins }
  const found = investigations.find(prompt => prompt.name === name)
  if (!found) throw invalidParams(`There is no prompt ${echo(name)}.`)
  const absent = found.arguments!.find(({ name: argument, required }) => required && !args[argument])
  if (absent) throw invalidParams(`The prompt ${name} needs ${absent.name}.`)
  const shown = caller.redacted ? echo : shorten
  const text = found.steps.replaceAll(/\{(\w+)\}/g, (_, argument: string) => shown(args[argument] ?? '-1h'))
  return { description: found.description!, messages: [{ role: 'user', content: { type: 'text', text } }] }
}
