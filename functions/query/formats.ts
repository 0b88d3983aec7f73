/** The formats an answer can be had in. JSON is what is stored; the others are made of it. */
import type { Request } from '@google-cloud/functions-framework'
import type { Row } from '../../shared/engines/engine.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import { readSingle } from '../../shared/endpoints/query-string.ts'
import type { Answer } from '../../shared/answers/answer.ts'
import { csv } from './csv.ts'

export interface Format {
  name: 'json' | 'csv' | 'ndjson'
  mediaType: string
  /** From the rows of an answer to its text; `null` = the stored body as it is. */
  write: ((rows: Row[], columns: string[]) => string) | null
}

const json: Format = { name: 'json', mediaType: 'application/json', write: null }

export const formats: Format[] = [
  json,
  { name: 'csv', mediaType: 'text/csv', write: csv },
  { name: 'ndjson', mediaType: 'application/x-ndjson', write: ndjson },
]

/**
 * What the caller wants: `?format=`, unless the endpoint has a parameter of that name, else `Accept`.
 * @throws ApiError `invalid_parameter`, `not_acceptable`
 */
export function formatFor(req: Request, query: string, endpoint: Endpoint): Format {
  const named = Object.hasOwn(endpoint.parameters, 'format') ? null : readSingle(query, 'format')
  if (named !== null) return byName(named)
  if (req.headers.accept === undefined || req.headers.accept === '*/*') return json
  const mediaType = req.accepts(formats.map(format => format.mediaType))
  const format = formats.find(known => known.mediaType === mediaType)
  if (format) return format
  throw new ApiError(
    'not_acceptable',
    `An answer can be had as ${formats.map(known => known.mediaType).join(', ')}.`,
  )
}

function byName(name: string): Format {
  const format = formats.find(known => known.name === name.toLowerCase())
  if (format) return format
  const detail = `must be one of ${formats.map(known => known.name).join(', ')}`
  throw new ApiError('invalid_parameter', `format ${detail}`, { problems: [{ parameter: 'format', detail }] })
}

/** The whole answer as bytes in a format, before any Content-Encoding. */
export async function inFormat(answer: Answer, format: Format): Promise<Buffer> {
  const body = await answer.bytes('identity')
  if (!format.write) return body
  const { result } = JSON.parse(body.toString()) as { result: Row[] }
  return Buffer.from(format.write(result, answer.summary.columns))
}

function ndjson(rows: Row[]): string {
  return rows.map(row => `${JSON.stringify(row)}\n`).join('')
}
