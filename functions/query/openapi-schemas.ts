/** The JSON Schemas of the OpenAPI document: rows by their GoogleSQL types, `meta`, and problems with an example each. */
import { fieldName } from '../../shared/engines/values.ts'
import { ApiError, errorCodes, type ErrorCode, type Problem } from '../../shared/errors.ts'
import type { ScalarName, SqlType } from '../../shared/sql/types.ts'
import { problemDocument } from '../http/problem.ts'
import { mediaTypes } from './formats.ts'

export type JsonSchema = { [keyword: string]: unknown }

/** The value forms that every engine gives; `shared/engines/engines.values.test.ts` holds them to these. */
const scalars: Record<ScalarName, JsonSchema> = {
  BIGNUMERIC: { type: ['string', 'null'], description: 'A decimal number' },
  BOOL: { type: ['boolean', 'null'] },
  BYTES: { type: ['string', 'null'], contentEncoding: 'base64' },
  DATE: { type: ['string', 'null'], format: 'date' },
  DATETIME: { type: ['string', 'null'], description: 'Date and time without a zone: 2026-01-31T12:00:00' },
  FLOAT64: { type: ['number', 'string', 'null'], description: 'Text for NaN, Infinity and -Infinity' },
  INT64: { type: ['integer', 'string', 'null'], description: 'Text beyond +-(2^53 - 1)' },
  INTERVAL: { type: ['string', 'null'] },
  JSON: { description: 'Any JSON value' },
  NUMERIC: { type: ['string', 'null'], description: 'A decimal number' },
  STRING: { type: ['string', 'null'] },
  TIME: { type: ['string', 'null'] },
  TIMESTAMP: { type: ['integer', 'null'], description: 'Microseconds since 1970, UTC' },
}

function schemaOf(type: SqlType): JsonSchema {
  if (type.kind === 'ARRAY') return { type: 'array', items: schemaOf(type.element) }
  if (type.kind === 'STRUCT') return { ...rowSchema(type.fields), type: ['object', 'null'] }
  return scalars[type.kind]
}

/** The schema of a row or a STRUCT. */
export function rowSchema(fields: { name: string | null; type: SqlType }[]): JsonSchema {
  const named = fields.map(({ name, type }, i) => [fieldName(name, i), schemaOf(type)] as const)
  return { ...objectOf(Object.fromEntries(named)), additionalProperties: false }
}

/** An object whose members are all there. */
export function objectOf(properties: Record<string, JsonSchema>): JsonSchema {
  return { type: 'object', properties, required: Object.keys(properties) }
}

const text = { type: 'string' }
const position = { type: 'integer', description: 'In the SQL, from 1' }

const meta = objectOf({
  endpoint: text,
  version: { type: 'string', description: 'Changes with the definition' },
  rows: { type: 'integer' },
  truncated: { type: 'boolean', description: 'Whether rows were cut at the limit' },
  redacted: { type: 'boolean' },
})

const marks = {
  next: {
    type: 'string',
    description: 'For `cursor`: the rows that come after these; absent on the last page',
  },
  newest: { type: 'string', description: 'For `follow`: rows newer than these, as they come' },
}

const ignored = {
  type: 'array',
  items: text,
  description: 'Parameters that were sent and are not declared; absent where there are none',
}

const didYouMean = {
  type: 'object',
  additionalProperties: text,
  description: 'Of those, such as are near a declared parameter, with its name; absent where there are none',
}

/** The marks are those of an endpoint with pages. */
export const metaSchema: JsonSchema = {
  ...meta,
  properties: { ...(meta['properties'] as JsonSchema), ...marks, ignored, didYouMean },
}

const ofIntervals = 'must be one of minutely, hourly, daily, 15min, 30min, 3hr, 1day, 3day, 1hr, 7day'

/** Examples; `openapi.test.ts` reproduces those that need neither a failing engine nor a limit. */
const details: Record<ErrorCode, string | [detail: string, problem: Problem]> = {
  invalid_parameter: [`interval ${ofIntervals}`, { parameter: 'interval', detail: ofIntervals }],
  invalid_query: [
    'project: Bad regular expression: missing )',
    { parameter: 'project', detail: 'Bad regular expression: missing )' },
  ],
  invalid_request: 'The body is not valid JSON in UTF-8.',
  sandbox_disabled: [
    'This endpoint takes no SQL; leave sql out.',
    { parameter: 'sql', detail: 'is not taken by this endpoint' },
  ],
  unauthenticated: 'Send a valid API key, as X-API-KEY or as Authorization: Bearer.',
  insufficient_scope: ['The token needs the scope logs:read.', { claim: 'scope', detail: 'needs logs:read' }],
  forbidden_origin: 'Pages of this origin may not call: CORS_ORIGIN names the one that may.',
  sandbox_violation: [
    '"edge_logs" is not a table of this endpoint.',
    {
      parameter: 'sql',
      line: 1,
      column: 18,
      tables: ['requests'],
      detail: '"edge_logs" is not a table of this endpoint',
    },
  ],
  pinned_parameter: [
    'project is fixed by the API key; leave it out',
    { parameter: 'project', detail: 'is fixed by the API key; leave it out' },
  ],
  right_missing: 'The SQL of endpoints is for API keys with the right definitions:read.',
  redaction_locked: [
    'Personal data is redacted here, and this API key may not lift that.',
    { header: 'svc-endpoint-redact-pii', detail: 'false needs the right pii:read' },
  ],
  not_found: 'There is no such endpoint, or this API key may not call it.',
  method_not_allowed: 'This address takes GET, HEAD, POST, OPTIONS.',
  not_acceptable: `An answer can be had as ${mediaTypes.join(', ')}.`,
  conflict: 'There is a view “Errors” already, by console: take another name, or save over that one.',
  payload_too_large: 'The body may hold at most 262144 bytes.',
  uri_too_long: 'The path and query string may hold at most 32768 bytes; send long SQL by POST.',
  bytes_limit_exceeded:
    'The query would read up to 87,960,930,222 bytes, and may read 50,000,000,000; ask for less.',
  result_too_large: 'The result passes 10,000,000 bytes of JSON with row 212; ask for fewer rows or columns.',
  rate_limited: 'This API key may be used 60 times a minute; come back later.',
  budget_exhausted:
    'The runs for this API key have read what they may in a day (UTC). Answers that are cached can still be had.',
  client_closed_request: 'The client has gone.',
  internal: 'An internal error.',
  engine_error: 'The query engine failed.',
  overloaded: 'The service is busy with other large results; come back in a few seconds.',
  engine_unavailable: 'The query engine is not available at the moment.',
  issuer_unavailable: 'The keys of this token’s issuer cannot be read at the moment.',
  store_unavailable: 'API keys cannot be checked at the moment.',
  query_timeout: 'The query did not finish within 30 s.',
}

export const problemSchema: JsonSchema = {
  description: 'RFC 9457',
  ...objectOf({
    type: { type: 'string', format: 'uri' },
    title: text,
    status: { type: 'integer' },
    detail: text,
    instance: text,
    code: { type: 'string', enum: Object.keys(errorCodes) },
    requestId: text,
    errors: {
      type: 'array',
      items: {
        type: 'object',
        required: ['detail'],
        properties: {
          parameter: text,
          header: text,
          claim: text,
          line: position,
          column: position,
          endpoint: text,
          tables: { type: 'array', items: text },
          detail: text,
        },
      },
    },
    error: objectOf({ code: text, message: text }),
    message: text,
  }),
}

/** By status, with one example for each code. */
export function problemResponses(path: string): Record<string, object> {
  const codes = Object.keys(errorCodes) as ErrorCode[]
  const statuses = [...new Set(codes.map(code => errorCodes[code].status))]
  return Object.fromEntries(statuses.map(status => [String(status), response(status, codes, path)]))
}

function response(status: number, codes: ErrorCode[], path: string): object {
  const own = codes.filter(code => errorCodes[code].status === status)
  const examples = own.map(code => [code, { summary: errorCodes[code].title, value: example(code, path) }])
  const body = { schema: { $ref: '#/components/schemas/Problem' }, examples: Object.fromEntries(examples) }
  const description = own.map(code => errorCodes[code].title).join('; ')
  return { description, content: { 'application/problem+json': body } }
}

function example(code: ErrorCode, path: string): object {
  const [detail, ...problems] = [details[code]].flat() as [string, ...Problem[]]
  const context = { path, requestId: '4d65c8fb-19e1-46bc-a206-33780695ecbc' }
  return problemDocument(new ApiError(code, detail, { problems }), context)
}
