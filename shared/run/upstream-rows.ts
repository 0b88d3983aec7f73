/** The rows of other endpoints, which a query reads as tables: asked for, and put into its statement as bound values. */
import type { Endpoint } from '../endpoints/definition.ts'
import { fromMicros } from '../endpoints/timestamps.ts'
import type { Row, Value } from '../engines/engine.ts'
import { mapScalars } from '../engines/values.ts'
import { ApiError } from '../errors.ts'
import { describeError, type Log } from '../log.ts'
import { replacement } from '../redact/personal-class.ts'
import type { Column, SqlType } from '../sql/types.ts'
import type { AnswerResult, QueryRequest } from './query-request.ts'

/** JSON of the rows that a statement reads as tables. As parameters, which BigQuery bounds at 10 MB, it is up to 9 times as long. */
const maxUpstreamBytes = 1_000_000

/**
 * Asks for the rows that the statement reads as tables, as their endpoints' callers would, and puts them into it.
 * @param ask answers a request (`get-answer.ts`)
 * @returns their bytes of JSON, and the store's time of the oldest, or Infinity
 * @throws ApiError that names the endpoint
 */
export async function withUpstream(
  request: QueryRequest,
  ask: (request: QueryRequest) => Promise<AnswerResult>,
  log: Log,
): Promise<{ request: QueryRequest; bytes: number; oldest: number }> {
  const { statement, timing, upstream = [] } = request
  const read = upstream.filter(({ table }) => statement.bindings.some(({ name }) => name === table))
  if (read.length === 0) return { request, bytes: 0, oldest: Infinity }
  const asked = read.map(async ({ table, columns, request: inner }) => {
    const result = await ask(inner).catch((error: unknown) => {
      throw error instanceof ApiError ? within(inner.endpoint, error) : error
    })
    return { table, columns, inner, ...result }
  })
  const answers = await timing.measure('upstream', () => Promise.all(asked))
  const bytes = answers.reduce((sum, { answer }) => sum + answer.rawBytes, 0)
  for (const { inner, answer, failure } of answers) {
    const { endpoint } = inner
    const fault = answer.summary.truncated
      ? `has more than ${endpoint.maxRows.toLocaleString('en')} rows`
      : null
    const most = `its rows and others that are read here pass ${maxUpstreamBytes.toLocaleString('en')} bytes of JSON`
    const refused = fault ?? (bytes > maxUpstreamBytes ? most : null)
    if (refused)
      throw within(endpoint, new ApiError('result_too_large', `Too much to read as a table: ${refused}`))
    if (failure)
      log('WARNING', 'older rows were read', { endpoint: endpoint.name, ...describeError(failure) })
  }
  const values = new Map<string, Value>()
  for (const { table, columns, answer } of answers)
    values.set(table, rowsAsTable(columns, await answer.rows(), answer.summary.redacted))
  const bindings = statement.bindings.map(one => ({ ...one, value: values.get(one.name) ?? one.value }))
  const oldest = Math.min(...answers.map(({ madeAt }) => madeAt))
  return { request: { ...request, statement: { ...statement, bindings } }, bytes, oldest }
}

/** Places are those in the other endpoint's SQL, which its caller does not see. */
function within({ name }: Endpoint, error: ApiError): ApiError {
  if (error.problems.some(problem => problem.endpoint !== undefined)) return error
  const { message } = error
  const detail = `${message.replace(/\.$/, '')} (in ${name}, which this endpoint reads).`
  return error.with({ detail, problems: [{ endpoint: name, detail: message }] })
}

/**
 * An array of structs with a field for each column. The values are those of the answer, each in the form that bindings have.
 * @param redacted whether personal data was taken out: it leaves a text, which is NULL where the column holds none
 */
export function rowsAsTable(columns: Column[], rows: Row[], redacted: boolean): Value {
  const element = { kind: 'STRUCT', fields: columns } as const
  const bound = (type: SqlType, value: Value) => boundScalar(type, value, redacted)
  return rows.map(row => mapScalars(element, row, bound))
}

function boundScalar({ kind }: SqlType, value: Value, redacted: boolean): Value {
  if (kind === 'STRING' || kind === 'JSON') return value
  if (redacted && typeof value === 'string' && value.includes(replacement)) return null
  return kind === 'TIMESTAMP' ? fromMicros(BigInt(value as number | string)) : value
}
