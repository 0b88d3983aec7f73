/** `GET /openapi.json`: an OpenAPI 3.1 document of the endpoints that a key may call. */
import { columnsWithJsonText } from '../../shared/answers/answer.ts'
import { columnsIfKnown, type ColumnsOf } from '../../shared/endpoints/columns.ts'
import { type Endpoint, pageParameters, type ParameterDefinition } from '../../shared/endpoints/definition.ts'
import { keyFromHeaders } from '../../shared/keys/authenticate.ts'
import { sha256 } from '../../shared/key-text.ts'
import type { Column } from '../../shared/sql/types.ts'
import { type Address, addresses, endpointPath, gatewayPath } from '../http/addresses.ts'
import type { Call } from '../http/call.ts'
import { accessibleEndpoints } from './access.ts'
import { formats, mediaTypes } from './formats.ts'
import {
  type JsonSchema,
  metaSchema,
  objectOf,
  problemResponses,
  problemSchema,
  rowSchema,
} from './openapi-schemas.ts'

/** Without a key: the general part. */
export async function describeApi(call: Call): Promise<void> {
  const { req, res, services } = call
  res.setHeader('Cache-Control', 'private, no-cache')
  res.vary('X-API-KEY, Authorization')
  const endpoints =
    keyFromHeaders(req.headers) === undefined ? [] : (await accessibleEndpoints(call)).endpoints
  res.status(200).json(await openApiOf(endpoints, services.columnsOf))
}

/** The document of these endpoints. */
export async function openApiOf(endpoints: Endpoint[], columnsOf: ColumnsOf): Promise<object> {
  const described = endpoints.map(async endpoint => ({
    endpoint,
    columns: await columnsIfKnown(columnsOf, endpoint),
  }))
  return openApiDocument(await Promise.all(described))
}

type Operation = NonNullable<Address['operation']>

/** An endpoint with the columns of its own query; `null` where the dry run failed. */
interface Described {
  endpoint: Endpoint
  columns: Column[] | null
}

/** @param endpoints none = the general part, which needs no key */
function openApiDocument(endpoints: Described[]): object {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Log query endpoints',
      version: '1',
      description: 'Saved, parameterised log queries over HTTP. A key sees the endpoints that it may call.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers,
    security: [{ apiKey: [] }, { bearer: [] }],
    paths: { ...generalPaths(), ...Object.fromEntries(endpoints.map(pathOf)) },
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-KEY' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
      schemas: { Problem: problemSchema, Meta: metaSchema },
      headers: answerHeaders,
    },
  }
}

/**
 * Relative to the address of this document (OpenAPI 3.1.0, "Relative References in URLs"). A deployed function has two
 * addresses: the root of its run.app host, and https://REGION-PROJECT.cloudfunctions.net/query, where the service sees
 * neither the last part of the address nor a header that names it
 * (https://cloud.google.com/functions/docs/reference/headers).
 */
const servers = [
  { url: '.', description: 'Where this document is served' },
  { url: `.${gatewayPath}`, description: 'As behind the gateway of a self-hosted Supabase' },
]

const text = { type: 'string' }

const header = (description: string) => ({ description, schema: text })

const answerHeaders = {
  'X-Request-Id': header('Names this call in the log'),
  'Cache-Status': header('How the answer came about (RFC 9211)'),
  Age: header('Seconds since the engine ran'),
  'Last-Modified': header('When the engine ran'),
  ETag: header('For If-None-Match'),
  'Server-Timing': header('Milliseconds for the key, the cache, the engine, redaction'),
  'X-Bytes-Read': header('Bytes that the engine read for this answer, where it ran and says so'),
  'SVC-ENDPOINT-VERSION': header('The version of the endpoint that answered'),
  'RateLimit-Policy': header(
    'The limits of the key, where it has some (draft-ietf-httpapi-ratelimit-headers)',
  ),
  RateLimit: header('What is left of them'),
  'X-Ignored-Parameters': header('Parameters that were sent and are not declared'),
  'X-Resolved-Times': header('What relative times among the parameters stand for'),
  Link: header('The next page, where there is one: rel="next" (RFC 8288)'),
  'X-Result-Truncated': header('true where rows were cut at the limit'),
}

const json = (schema: JsonSchema) => ({ 'application/json': { schema } })

const object = { type: 'object' }

const ok = (description: string) => ({ '200': { description, content: json(object) } })

const pathParameters = (path: string) =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({ name, in: 'path', required: true, schema: text }))

function generalOperation({ path, key, handler }: Address, { id, summary, result }: Operation) {
  const parameters = [...pathParameters(path), ...(handler === 'answer' ? projectParameters : [])]
  const example = path.replace('{ref}', 'qhzvnxwtrkdplmcoyaeb').replace('{name}', 'logs.all')
  return {
    operationId: id,
    summary,
    ...(key ? {} : { security: [] }),
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: { ...ok(result), ...(key ? problemResponses(example) : {}) },
  }
}

/** Of `logs.all`, which these clients ask. */
const projectParameters = ['sql', 'iso_timestamp_start', 'iso_timestamp_end'].map(name => ({
  name,
  in: 'query',
  schema: text,
}))

/** Made with each document and not at start: redacting the examples of problems would slow down the first request. */
const generalPaths = () =>
  Object.fromEntries(
    addresses.flatMap(address =>
      address.operation ? [[address.path, { get: generalOperation(address, address.operation) }]] : [],
    ),
  )
const generalIds: ReadonlySet<string> = new Set(addresses.flatMap(({ operation }) => operation?.id ?? []))

/**
 * A path of the document. GET describes the rows of the endpoint's own query, POST those of a caller's SQL, whose columns are
 * not known.
 */
function pathOf({ endpoint, columns }: Described): [path: string, item: object] {
  const path = endpointPath.replace('{name}', endpoint.name)
  const operation = (rows: JsonSchema) => ({
    summary: endpoint.description,
    parameters: parametersOf(endpoint),
    responses: {
      '200': answerOf(rows),
      '304': { description: 'The tag in If-None-Match is current' },
      ...problemResponses(path),
    },
  })
  const id = operationIdOf(endpoint.name)
  const shown = columns && endpoint.jsonAsText ? columnsWithJsonText(columns) : columns
  const own = operation(shown ? rowSchema(shown) : object)
  if (!endpoint.sandbox) return [path, { get: { operationId: id, ...own } }]
  const get = { operationId: id, ...own, parameters: [...own.parameters, sqlParameter] }
  const sql = { ...text, description: 'A query over the endpoint’s tables' }
  const requestBody = { required: true, content: json(objectOf({ sql })) }
  return [path, { get, post: { operationId: `${id}Sql`, requestBody, ...operation(object) } }]
}

/** Names of the form in which Logflare's are: `usage.api-counts`. No two have the same words. */
const usualName = /^[a-z][a-z0-9]*(?:\.[a-z][a-z0-9]*(?:-[a-z][a-z0-9]*)*)?$/

/**
 * The name of the function in generated clients. It must not depend on other endpoints, so unusual names get a hash:
 * `my-errors` and `my.errors` have the same words.
 */
function operationIdOf(name: string): string {
  const words = name.replaceAll(/[^A-Za-z0-9]+(\w)/g, (_, letter: string) => letter.toUpperCase())
  const isOwn = usualName.test(name) && !words.endsWith('Sql') && !generalIds.has(words)
  return isOwn ? words : `${words}_${sha256(name).slice(0, 8)}`
}

const sqlParameter = {
  name: 'sql',
  in: 'query',
  description: 'A query over the endpoint’s tables. The rows have its columns then, as those of POST',
  schema: text,
}

function parametersOf(endpoint: Endpoint): object[] {
  const declared = Object.entries(endpoint.parameters).map(([name, definition]) => ({
    name,
    in: 'query',
    required: endpoint.required.includes(name),
    ...(definition.description === undefined ? {} : { description: definition.description }),
    schema: parameterSchema(definition),
  }))
  const format = { name: 'format', in: 'query', schema: { enum: formats.map(({ name }) => name) } }
  const redaction = { name: 'SVC-ENDPOINT-REDACT-PII', in: 'header', schema: { enum: ['true', 'false'] } }
  const version = {
    name: 'SVC-ENDPOINT-VERSION',
    in: 'header',
    description: 'A version that was applied before, as meta.version had it; absent: the current one',
    schema: { type: 'string', pattern: '^[0-9a-f]{16}$' },
  }
  const named = Object.hasOwn(endpoint.parameters, 'format') ? [] : [format]
  const pages = endpoint.page ? pageParameters.map(name => ({ name, in: 'query', ...pageWords[name] })) : []
  return [...declared, ...pages, ...named, redaction, version]
}

/** The JSON Schema of a parameter's value; the description is of its format alone. */
export function parameterSchema({ format, description: _, ...schema }: ParameterDefinition): JsonSchema {
  return format === undefined ? schema : { ...schema, description: formatWords[format] }
}

const pageWords = {
  cursor: { description: 'meta.next of a page: the rows after it, with the same parameters', schema: text },
  follow: { description: 'meta.newest of an answer: newer rows, oldest first', schema: text },
}

const formatWords = {
  'iso-timestamp':
    'ISO 8601, UTC where it has no zone; or 16 digits, microseconds since 1970; or relative: now, -1h, now-15m',
  'regular-expression': 'RE2 syntax',
}

function answerOf(rows: JsonSchema): object {
  const meta = { $ref: '#/components/schemas/Meta' }
  const schema = objectOf({ result: { type: 'array', items: rows }, meta })
  const names = Object.keys(answerHeaders)
  return {
    description: 'The rows',
    headers: Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }])),
    content: { ...Object.fromEntries(mediaTypes.map(type => [type, { schema: text }])), ...json(schema) },
  }
}
