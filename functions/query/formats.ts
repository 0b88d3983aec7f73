/** The formats of an answer. JSON is stored; the others are made from it. */
import type { Request } from '@google-cloud/functions-framework'
import type { Row } from '../../shared/engines/engine.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { ApiError } from '../../shared/errors.ts'
import { readSingle } from '../../shared/endpoints/query-string.ts'
import type { Answer } from '../../shared/answers/answer.ts'
import { csv, spreadsheet } from '../../shared/answers/csv.ts'
import { prometheus } from './prometheus.ts'

export interface Format {
  name: 'json' | 'csv' | 'ndjson' | 'spreadsheet' | 'prometheus'
  mediaType: string
  /** `null` = the stored body as it is. */
  write: Writer | null
}

/** From the rows of an answer to its text. May throw ApiError. */
type Writer = (rows: Row[], columns: string[]) => string

export const formats: Format[] = [
  { name: 'json', mediaType: 'application/json', write: null },
  { name: 'csv', mediaType: 'text/csv', write: csv },
  { name: 'ndjson', mediaType: 'application/x-ndjson', write: ndjson },
  // For `?format=` alone, as `Accept: text/csv` is CSV.
  { name: 'spreadsheet', mediaType: 'text/csv', write: spreadsheet },
  { name: 'prometheus', mediaType: 'text/plain; version=0.0.4', write: prometheus },
]

/** What `Accept` chooses from. */
export const mediaTypes = [...new Set(formats.map(({ mediaType }) => mediaType))]

/**
 * The format that the caller names: `?format=`, unless the endpoint has a parameter of that name, else `Accept`.
 * @throws ApiError `invalid_parameter`, `not_acceptable`
 */
export function formatFor(req: Request, query: string, endpoint: Endpoint): Format {
  const named = Object.hasOwn(endpoint.parameters, 'format') ? null : readSingle(query, 'format')
  if (named !== null) return byName(named)
  const { accept = '*/*' } = req.headers
  if (accept === '*/*') return formats[0]!
  req.headers.accept = accept.replaceAll(/;\s*(?!\s|q\s*=)[^,;]*/gi, '') // a charset or an indent chooses nothing here
  // Plain text without a version is what clients ask for that take anything.
  const mediaType = req.accepts(mediaTypes.filter(type => accept.includes(type.split('; ')[1] ?? '')))
  const format = formats.find(known => known.mediaType === mediaType)
  if (format) return format
  throw new ApiError('not_acceptable', `An answer can be had as ${mediaTypes.join(', ')}.`)
}

function byName(name: string): Format {
  const format = formats.find(known => known.name === name.toLowerCase())
  if (format) return format
  const detail = `must be one of ${formats.map(known => known.name).join(', ')}`
  throw ApiError.of('invalid_parameter', { parameter: 'format', detail })
}

/** An answer in another format than JSON, in UTF-8, before any Content-Encoding. */
export async function inFormat(answer: Answer, write: Writer): Promise<Buffer> {
  return Buffer.from(write(await answer.rows(), answer.summary.columns))
}

function ndjson(rows: Row[]): string {
  return rows.map(row => `${JSON.stringify(row)}\n`).join('')
}
