/** A caller's SQL as an endpoint of its own: the two files of `queries/`, over the tables of the endpoint that it was written for. */
import { type Endpoint, type ParameterDefinition, passedOn, type Scalar } from '../endpoints/definition.ts'
import { DefinitionError, endpointFrom, refusalOf } from '../endpoints/definition-file.ts'
import { misfitOf } from '../endpoints/parameters.ts'
import { booleans } from '../endpoints/query-string.ts'
import { unreadUpstream } from '../endpoints/upstream-tables.ts'
import { ApiError } from '../errors.ts'
import { format } from '../sql/format.ts'
import { parse } from '../sql/parser.ts'
import { print } from '../sql/printer.ts'
import type { Columns } from '../sql/resolve/resolution.ts'
import type { Query } from '../sql/tree.ts'
import { yamlOf } from '../yaml-of.ts'
import { sandbox } from './sandbox.ts'

/** What a caller wants to be an endpoint. */
export interface Wish {
  /** Of the new endpoint. */
  name: string
  description: string
  /** As the sandbox takes it. It may read parameters of the endpoint that it is for, and those here. */
  sql: string
  parameters: Record<string, ParameterDefinition>
  /** Values of the endpoint's own parameters: defaults of the new one's, or examples where one is required. */
  values: Record<string, string>
  redact: boolean
}

export interface Draft {
  endpoint: Endpoint
  sql: string
  yaml: string
}

/**
 * Real tables stand where the endpoint's own WITH has them. Of its settings the new one has those of cache, redaction, limits and
 * jobs; it takes no SQL.
 * @param id of the new endpoint
 * @param known as of `sandbox`
 * @throws ApiError as `sandbox` does, and `invalid_parameter` for a name, a parameter or a value that no endpoint can have
 */
export function draftOf(from: Endpoint, wish: Wish, id: string, known?: ReadonlyMap<string, Columns>): Draft {
  for (const name of Object.keys(wish.parameters))
    if (Object.hasOwn(from.parameters, name))
      throw ApiError.of('invalid_parameter', {
        parameter: name,
        detail: `is a parameter of ${from.name} already`,
      })
  const declared = { ...from.parameters, ...wish.parameters }
  const composed = sandbox({ sql: from.sql, parameters: declared }, wish.sql, known)
  const sql = `-- Made on the page, of ${from.name}.\n${format(print(plainest(parse(composed.sql))))}\n`
  const upstream = upstreamRead(from, sql)
  const used = new Set([...composed.parameters, ...passedBy(upstream)])
  const own = Object.entries(declared).filter(([name]) => used.has(name))
  const required = from.required.filter(name => used.has(name))
  const definition = {
    id,
    description: wish.description,
    ...(from.jsonAsText ? { json: 'text' } : {}),
    parameters: {
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      properties: Object.fromEntries(
        own.map(([name, one]) => [name, withValue(name, one, from, wish.values)]),
      ),
    },
    ...settingsOf(from),
    ...(Object.keys(upstream).length > 0 ? { upstream } : {}),
    redact: from.redact || wish.redact,
  }
  const endpoint = check(wish.name, definition, sql)
  return { endpoint, sql, yaml: yamlOf(definition) }
}

/** A query without a WITH of its own needs no parentheses behind the endpoint's, which would hide its LIMIT. */
function plainest(query: Query): Query {
  const { with: tables, body } = query
  const isPlain = tables !== null && body.kind === 'QueryInParentheses' && body.query.with === null
  return isPlain ? { ...body.query, with: tables } : query
}

function settingsOf(from: Endpoint): object {
  const { maxRows, maxResultBytes, timeoutSeconds, cacheSeconds, labels, callerLabels, reservation } = from
  return {
    maxRows,
    ...(maxResultBytes === null ? {} : { maxResultBytes }),
    timeoutSeconds,
    cache: { seconds: cacheSeconds },
    ...(Object.keys(labels).length > 0 ? { labels } : {}),
    ...(callerLabels.length > 0 ? { callerLabels } : {}),
    ...(reservation === null ? {} : { reservation }),
  }
}

function upstreamRead({ upstream = {} }: Endpoint, sql: string): NonNullable<Endpoint['upstream']> {
  const unread = new Set(unreadUpstream({ sql, upstream }))
  return Object.fromEntries(Object.entries(upstream).filter(([name]) => !unread.has(name)))
}

function passedBy(upstream: NonNullable<Endpoint['upstream']>): (string | null)[] {
  return Object.values(upstream).flatMap(({ parameters }) => Object.values(parameters).map(passedOn))
}

/** @throws ApiError `invalid_parameter` */
function withValue(
  name: string,
  definition: ParameterDefinition,
  { parameters, required }: Endpoint,
  values: Record<string, string>,
): ParameterDefinition {
  const isGiven = Object.hasOwn(parameters, name) && Object.hasOwn(values, name)
  const text = isGiven ? values[name]! : ''
  if (text === '') return definition
  const detail = misfitOf(definition, { text })
  if (detail !== null) throw ApiError.of('invalid_parameter', { parameter: name, detail })
  const value = parseValue(definition, text)
  return required.includes(name) ? { ...definition, examples: [value] } : { ...definition, default: value }
}

/** @param text that fits the definition */
function parseValue({ type }: ParameterDefinition, text: string): Scalar {
  if (type === 'boolean') return booleans.get(text.toLowerCase())!
  return type === 'string' ? text : Number(text)
}

function check(name: string, definition: object, sql: string): Endpoint {
  try {
    const endpoint = endpointFrom(name, definition, sql)
    for (const [parameter, one] of Object.entries(endpoint.parameters)) {
      const detail = one.default === undefined ? null : misfitOf(one, { json: one.default })
      if (detail !== null) throw ApiError.of('invalid_parameter', { parameter, detail })
    }
    return endpoint
  } catch (error) {
    if (!(error instanceof DefinitionError)) throw error
    throw refusalOf(error, 'name')
  }
}
