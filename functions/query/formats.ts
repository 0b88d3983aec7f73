/** The formats of an answer. JSON is stored; the others are made from it. */
import type { Request } from '@google-cloud/functions-framework'
import type { Answer } from '../../shared/answers/answer.ts'
import { csv, spreadsheet } from '../../shared/answers/csv.ts'
import { millisOf } from '../../shared/answers/times.ts'
import type { Endpoint } from '../../shared/endpoints/definition.ts'
import { readSingle } from '../../shared/endpoints/query-string.ts'
import type { Row, Value } from '../../shared/engines/engine.ts'
import { ApiError } from '../../shared/errors.ts'

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
  // `text/plain` without a version comes from clients that take anything, not from Prometheus.
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

// Rows as Prometheus scrapes them, a sample each (https://prometheus.io/docs/instrumenting/exposition_formats/, version
// 0.0.4). One bad line costs a whole scrape, and of two for one series either may count, so all of it is checked.

const takenColumns = ['name', 'value', 'labels', 'help', 'type', 'timestamp']

/**
 * Not histogram and summary, which have several series for each metric; a gauge with a label `le` works in
 * `histogram_quantile`.
 */
const types = ['gauge', 'counter', 'untyped']

/** Of one metric: its comments, and its lines by series, with the number of their row. */
interface Metric {
  head: string
  lines: Map<string, { at: number; text: string }>
}

/** Refuses a value of a row. */
type Refuse = (column: string, reason: string) => never

/**
 * Lines of a metric are grouped, in any order of the rows. A row whose value is NULL is left out.
 * @throws ApiError `invalid_parameter` that names the column, and what it has to hold
 */
export function prometheus(rows: Row[], columns: string[]): string {
  assertColumns(columns)
  const metrics = new Map<string, Metric>()
  for (const [index, row] of rows.entries()) if (row['value'] !== null) addRow(metrics, row, index + 1)
  return [...metrics.values()]
    .map(({ head, lines }) => head + [...lines.values()].map(({ text }) => text).join(''))
    .join('')
}

function assertColumns(columns: string[]): void {
  for (const name of ['name', 'value'])
    if (!columns.includes(name))
      throw refusal(
        `needs a column ${name}, and the answer has ${columns.join(', ')}: name one so, AS ${name}`,
      )
  const other = columns.find(name => !takenColumns.includes(name))
  if (other !== undefined)
    throw refusal(`takes no column ${other}: make it a label, STRUCT(${other}) AS labels, or leave it out`)
}

/** Errors name the column and the row, and never a value. */
function addRow(metrics: Map<string, Metric>, row: Row, at: number): void {
  const refuse: Refuse = (column, reason) => {
    throw refusal(`cannot write column ${column} of row ${at}: it ${reason}`)
  }
  const { name, value, labels = null, help = null, type = null, timestamp = null } = row
  if (typeof name !== 'string' || !/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(name))
    return refuse('name', 'must be text of letters, digits, _ and :, not beginning with a digit')
  if (help !== null && typeof help !== 'string') return refuse('help', 'must be text')
  if (type !== null && (typeof type !== 'string' || !types.includes(type)))
    return refuse('type', `must be one of ${types.join(', ')}`)
  const head =
    (help === null ? '' : `# HELP ${name} ${escapeText(help)}\n`) +
    (type === null ? '' : `# TYPE ${name} ${type}\n`)
  const series = `${name}${labelsText(labels, refuse)}`
  const text = `${series} ${numberText(value!, refuse)}${timeText(timestamp, refuse)}\n`
  const metric = metrics.get(name) ?? { head, lines: new Map() }
  if (metric.head !== head) refuse('type or help', 'must be the same in all rows of a metric')
  const same = metric.lines.get(series)
  if (same) refuse('labels', `must differ from those of row ${same.at}: group by them, or add one`)
  metric.lines.set(series, { at, text })
  metrics.set(name, metric)
}

/** A label that is NULL or empty is one that is not there. */
function labelsText(labels: Value, refuse: Refuse): string {
  if (labels === null) return ''
  if (typeof labels !== 'object' || Array.isArray(labels))
    return refuse('labels', 'must be a STRUCT or an object of JSON')
  const texts = Object.entries(labels).flatMap(([name, value]) => {
    if (value === null || value === '') return []
    if (!/^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/.test(name))
      return refuse('labels', 'must have names of letters, digits and _, not beginning with a digit or __')
    if (typeof value === 'object') return refuse(`labels.${name}`, 'must be text, a number or a BOOL')
    return `${name}="${escapeText(String(value)).replaceAll('"', String.raw`\"`)}"`
  })
  return texts.length === 0 ? '' : `{${texts.toSorted().join(',')}}`
}

/** NUMERIC, and INT64 beyond 2^53, come as decimal text. */
function numberText(value: Value, refuse: Refuse): string {
  const text = typeof value === 'object' || typeof value === 'boolean' ? '' : String(value)
  if (!/^(?:NaN|-?Infinity|[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?)$/i.test(text))
    return refuse('value', 'must be a number: CAST it AS FLOAT64')
  return text.replace(/^(-?)Infinity$/, (_, sign: string) => `${sign || '+'}Inf`)
}

function timeText(timestamp: Value, refuse: Refuse): string {
  if (timestamp === null) return ''
  const millis = millisOf(timestamp)
  return millis === null ? refuse('timestamp', 'must be a TIMESTAMP') : ` ${Math.floor(millis)}`
}

function escapeText(text: string): string {
  return text.replaceAll('\\', String.raw`\\`).replaceAll('\n', String.raw`\n`)
}

function refusal(detail: string): ApiError {
  return ApiError.of('invalid_parameter', { parameter: 'format', detail: `prometheus ${detail}` })
}
