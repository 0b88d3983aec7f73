/** The tool `patterns`: messages grouped by their shape, and which shapes are new. The page's tab of that name asks the same. */
import type { CallToolResult, Tool } from '@modelcontextprotocol/server'
import { assertSingleValues, queryText } from '../../shared/endpoints/query-string.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import type { Row } from '../../shared/engines/engine.ts'
import { ApiError } from '../../shared/errors.ts'
import { nameHint } from '../../shared/sql/hints.ts'
import { type Periods, periodsOf } from '../explorer/logs/compare.ts'
import { type Pattern, patternsIn, patternsSql } from '../explorer/logs/patterns.ts'
import { momentOf } from '../explorer/logs/range.ts'
import { allOf, filterIn, type Shape, shapeOf } from '../explorer/logs/shape.ts'
import { initial } from '../explorer/logs/state.ts'
import { tablesOf } from '../query/endpoints.ts'
import { ask, echo, type McpCall } from './protocol-errors.ts'
import { contextRows, rowsText } from './rows.ts'

export const patternsName = 'patterns'

const time = (description: string) => ({ type: 'string', description })

const properties = {
  table: { type: 'string', description: 'One table; all tables by default' },
  from: time('ISO 8601 in UTC, or now-1h, which is the default'),
  to: time('By default now'),
  since: time('Lists only patterns that begin here: none of their messages is between from and this'),
  filter: {
    type: 'string',
    description: 'Text of messages, /regular expression/, or field:value such as status_code:500',
  },
  limit: { type: 'integer', description: 'At most 200; by default 40' },
  parameters: { type: 'object', description: 'Parameters of the endpoint, such as {"project": "..."}' },
}

/** @param endpoints those that take SQL of the caller */
export function patternsTool(endpoints: Endpoint[]): Tool {
  const endpoint = { type: 'string', enum: endpoints.map(({ name }) => name) }
  return {
    name: patternsName,
    description:
      'Groups log messages by shape (numbers, versions, ids, addresses, times, clients and quoted texts masked), exactly, with counts, share, ' +
      'the count of the period before (as long, right before), first and last time: what happens most, and what is new.',
    inputSchema: {
      type: 'object',
      properties: { endpoint, ...properties },
      required: ['endpoint'],
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }
}

/** @throws ApiError */
export async function patternsOf(
  mcpCall: McpCall,
  endpoints: Endpoint[],
  { parameters = {}, ...args }: Record<string, unknown>,
): Promise<CallToolResult> {
  assertSingleValues(args, () => true)
  const asked = new Map(Object.entries(args).map(([name, value]) => [name, String(value as string | number)]))
  const names = ['endpoint', ...Object.keys(properties)]
  const unknown = [...asked.keys()].find(name => !names.includes(name))
  if (unknown !== undefined) throw wrong(echo(unknown), `is no argument; ${nameHint(unknown, names)}`)
  const endpoint = findByName('endpoint', asked, new Map(endpoints.map(each => [each.name, each])))
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
    throw wrong('parameters', 'must be an object of names and values')
  assertSingleValues(parameters, () => true)
  const known = Object.keys(endpoint.parameters)
  const strange = Object.keys(parameters).find(name => !known.includes(name))
  if (strange !== undefined)
    throw wrong('parameters', `may not hold ${echo(strange)}; ${nameHint(strange, known)}`)
  const shape = await shapeFor(mcpCall, endpoint, asked)
  const { frozenNow } = mcpCall.call.config
  const periods = periodsFor(asked, new Date(frozenNow ?? Date.now()).valueOf() * 1000)
  const options = { limit: limitOf(asked), parts: 0, isNew: asked.has('since') }
  const sql = patternsSql({ ...initial, ...searchOf(asked, shape) }, shape, periods.range, periods, options)
  const { result } = await ask(mcpCall, endpoint, queryText(parameters), sql)
  const found = patternsIn(await result.answer.rows())
  const rows = found.list.map(pattern => rowOf(pattern, found.entries))
  const shown = contextRows(rows, Object.keys(rows[0] ?? {}), 'csv')
  const { range, before } = periods
  const [present, earlier] = [range, before].map(({ from, to }) => `from ${iso(from)} to ${iso(to)}`)
  const said =
    rows.length === 0
      ? `No pattern ${present}${options.isNew ? ` that has no entry ${earlier}` : ''}.`
      : `${found.count} patterns of ${found.entries} entries ${present}; ${found.fresh} of them new: without an entry ${earlier}.`
  return { content: [{ type: 'text', text: `${said}\n${rowsText(shown, endpoint.name, null)}` }] }
}

function wrong(parameter: string, detail: string): ApiError {
  return ApiError.of('invalid_parameter', { parameter, detail })
}

type Arguments = Map<string, string>

function findByName<T>(parameter: string, asked: Arguments, all: Map<string, T>): T {
  const name = asked.get(parameter) ?? ''
  const one = all.get(name)
  if (one === undefined)
    throw wrong(parameter, `may not be ${echo(name) || 'empty'}; ${nameHint(name, all.keys())}`)
  return one
}

/** Of the table, or of all that have a time and a message. */
async function shapeFor({ call }: McpCall, endpoint: Endpoint, asked: Arguments): Promise<Shape> {
  const shapes = (await tablesOf(endpoint, call.services)).flatMap(each => shapeOf(each) ?? [])
  const [first, ...others] = shapes
  if (!first) throw wrong('endpoint', `${endpoint.name} has no table with a time and a message`)
  if (asked.has('table')) return findByName('table', asked, new Map(shapes.map(each => [each.table, each])))
  return others.length > 0 ? allOf([first, ...others]) : first
}

/** `since` divides the time: what is before it is the period before. */
function periodsFor(asked: Arguments, now: number): Periods {
  const momentIn = (name: string) => {
    const moment = asked.has(name) ? momentOf(asked.get(name)!, now) : undefined
    if (asked.has(name) && typeof moment !== 'number')
      throw wrong(name, 'must be a time such as 2026-11-14T12:00:00Z or now-15m')
    return moment ?? undefined
  }
  const [from, to = now, since] = ['from', 'to', 'since'].map(momentIn)
  const start = since ?? from ?? now - 3.6e9
  if (start >= to) throw wrong(since === undefined ? 'from' : 'since', 'must be before to')
  if (since === undefined || from === undefined) return periodsOf({ from: start, to }, 'before', now)!
  if (from >= since) throw wrong('from', 'must be before since')
  return { range: { from: since, to }, before: { from, to: since } }
}

function searchOf(asked: Arguments, shape: Shape) {
  const text = asked.get('filter') ?? ''
  const filter = filterIn(text, shape)
  return filter ? { filters: [filter] } : { search: text }
}

function limitOf(asked: Arguments): number {
  const number = Number(asked.get('limit') ?? 40)
  if (!Number.isInteger(number) || number < 1 || number > 200)
    throw wrong('limit', 'must be a whole number from 1 to 200')
  return number
}

function rowOf({ shape, severity, entries, before, first, last }: Pattern, all: number): Row {
  return {
    entries,
    share_percent: Number(((100 * entries) / all).toFixed(1)),
    before,
    first: iso(first),
    last: iso(last),
    ...(severity === null ? {} : { severity }),
    pattern: shape,
  }
}

function iso(micros: number): string {
  return new Date(micros / 1000).toISOString()
}
